"""MuJoCo's programs on Sapwood's step: ``MjModel`` and ``MjData`` stay, with MuJoCo's compiler, viewer and renderer.

::

    import sapwood.mujoco

    sapwood.mujoco.install()        # at the top of a program; nothing else is changed

or, of a program that nobody edits, ``python -m sapwood.mujoco program.py``. One step, without that::

    sapwood.mujoco.step(m, d)       # as mujoco.mj_step(m, d)

Needs MuJoCo 4: ``pip install 'sapwood[mujoco]'``. ``docs/inside-mujoco.md`` says what is whose after a step.
"""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import mujoco as _mujoco
except ModuleNotFoundError as error:
    if error.name != "mujoco":
        raise
    raise ImportError("sapwood.mujoco needs MuJoCo's package: pip install 'sapwood[mujoco]'") from error
if not _mujoco.__version__.startswith("4."):
    raise ImportError(
        f"sapwood.mujoco knows the structures of MuJoCo 4, not of {_mujoco.__version__}: pip install 'mujoco>=4,<5'"
    )

from sapwood.mujoco._carry import carry
from sapwood.mujoco._install import install, physics, uninstall
from sapwood.mujoco._world import configure, worlds

if TYPE_CHECKING:
    from sapwood._sapwood import Model

__all__ = ["configure", "forward", "install", "inverse", "physics", "step", "uninstall"]


def model_of(mj_model: Any, near_rigid: bool) -> Model:
    """``sapwood.Model.from_mujoco``."""
    if not isinstance(mj_model, _mujoco.MjModel):
        raise TypeError(f"mj_model: expected a mujoco.MjModel, not {type(mj_model).__name__}")
    return carry(mj_model, near_rigid=near_rigid).model


def step(m: Any, d: Any, nstep: int = 1) -> None:
    """Sapwood's step in the place of ``mujoco.mj_step``.

    It reads state, controls and applied forces of ``d``, and leaves in it what MuJoCo's step does, with MuJoCo's
    meaning: positions of bodies, velocities and sensors are those of the state before the last step.

    Args:
        m: The ``MjModel``. What has changed in it since the last step is seen,
            but for the vertices of meshes.
        d: The ``MjData``. It has a ``sapwood.Simulation`` of its own, from its first step to its end.
        nstep: How many steps are made.

    Raises:
        SimulationError: When a step fails; the state is the one before that step.
        ValueError: When ``d`` was made for another model, or an input is not finite.
        ModelError: When Sapwood cannot simulate the model; it names the element.
    """
    worlds.step(m, d, nstep)


def forward(m: Any, d: Any) -> None:
    """Sapwood's accelerations and forces in the place of ``mujoco.mj_forward``'s: of the step that would follow."""
    worlds.forward(m, d)


def inverse(m: Any, d: Any) -> None:
    """The forces of ``d.qacc`` in the place of ``mujoco.mj_inverse``'s, contacts and other constraints being Sapwood's.

    ``d.qfrc_inverse`` is what actuators and applied forces have to add up to for the step from ``qpos`` and ``qvel`` to
    have this acceleration, (v − v₀)/dt: after ``step`` or ``forward`` it is ``qfrc_actuator`` + ``qfrc_applied`` + what
    ``xfrc_applied`` does. ``qfrc_constraint``, contacts and ``sensordata`` are those of that step. Springs, dampers and
    limits of actuators act as they do at its end.

    Args:
        m: The ``MjModel``.
        d: The ``MjData``; its state stays.

    Raises:
        SimulationError: When no forces are found, and with options under which ``Simulation.inverse_dynamics`` finds
            none.
        ValueError: When ``d`` was made for another model, or an input is not finite.
        ModelError: When Sapwood cannot simulate the model; it names the element.
    """
    worlds.inverse(m, d)
