"""How pickled models, simulations and batches are put together again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sapwood._sapwood import Batch, Model, SapProblem, Simulation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sapwood._sap import CompressedRows

    Gains = tuple[
        NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]
    ]


def model(data: bytes) -> Model:
    """The model of these bytes."""
    return Model.from_bytes(data)


def simulation(of: Model, options: dict[str, Any], state: bytes) -> Simulation:
    """A simulation with these options in this state."""
    sim = Simulation(of, **options)
    sim.restore(state)
    return sim


def batch(
    of: Model,
    n: int,
    options: dict[str, Any],
    pd: Gains | None,
    states: list[bytes],
    parameters: dict[int, dict[str, NDArray[np.float64]]],
) -> Batch:
    """A batch with these options, whose worlds are in these states."""
    worlds = Batch(of, n, **options)
    if pd is not None:
        worlds.pd(*pd)
    for world, own in parameters.items():
        worlds.set_parameters([world], **{name: values[None] for name, values in own.items()})
    for world, state in enumerate(states):
        worlds.set_state(world, state)
    return worlds


def problem(A: CompressedRows, v_star: NDArray[np.float64], calls: list[tuple[str, dict[str, Any]]]) -> SapProblem:
    """The contact problem that these calls make."""
    made = SapProblem(A, v_star)
    for name, arguments in calls:
        getattr(made, name)(**arguments)
    return made
