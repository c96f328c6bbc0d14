"""The engines of the schemes suite: ours under every scheme, MuJoCo's integrators, Drake's."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import sapwood as sw
from sapwood.bench.cases import installed
from sapwood.bench.engines import Engine, Mujoco, Sapwood

SCHEMES = ("symplectic-euler", "midpoint", "implicit-euler", "explicit-euler")
INTEGRATORS = ("euler", "implicitfast", "implicit", "discrete", "rk4")
"""MuJoCo's."""
ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Asked of Drake's error-controlled integrator."""
TOLERANCE = 1e-12
"""Of our contact solver, whose default of 1e-6 would hide how a scheme converges."""


class Maker(NamedTuple):
    """An engine with a scheme, and how to have it simulate a text in steps of so many seconds."""

    name: str
    family: str
    make: Callable[[str, float], Engine]
    color: str
    dash: str = ""


COLORS = {
    "symplectic-euler": "#2563bf",
    "midpoint": "#0b1f4b",
    "implicit-euler": "#3ba7e0",
    "explicit-euler": "#9db4d8",
    "euler": "#b45309",
    "implicitfast": "#dc2626",
    "implicit": "#f59e0b",
    "discrete": "#be185d",
    "rk4": "#7c2d12",
    "sap": "#0f8a6c",
    "lagged": "#5ebe96",
}
RK3 = "#14532d"


def schemes() -> list[str]:
    """Those that this version has."""
    model, found = sw.load("<mujoco/>"), []
    for scheme in SCHEMES:
        try:
            sw.Simulation(model, scheme=scheme)  # type: ignore[arg-type]
        except ValueError:
            print(f"sapwood {scheme}: not in this version")
        else:
            found.append(scheme)
    return found


def makers(peers: list[str], touching: bool) -> list[Maker]:
    """All that take steps of a given length; what is not installed is left out with a note.

    Args:
        peers: Engines to compare with.
        touching: Whether contact laws matter; without contact Drake's are the same.
    """
    found = [ours(scheme) for scheme in schemes()]
    if "mujoco" in peers and installed("mujoco", "mujoco"):
        found += [mujocos(integrator) for integrator in INTEGRATORS]
    if "drake" in peers and installed("pydrake", "drake"):
        found += [drakes(law, touching) for law in (("sap", "lagged") if touching else ("sap",))]
    return found


def ours(scheme: str) -> Maker:
    """Our engine under a scheme."""
    name = f"sapwood {scheme}"
    return Maker(
        name,
        "sapwood",
        lambda text, dt: Sapwood(text, name, dt, scheme=scheme, tolerance=TOLERANCE),
        COLORS[scheme],
        "5 4" if scheme == "explicit-euler" else "",
    )


def scheme_of(maker: Maker) -> str:
    """Which of our schemes it is."""
    return maker.name.removeprefix("sapwood ")


def mujocos(integrator: str) -> Maker:
    """One of MuJoCo's integrators; its solver to its default tolerance, with which it is no less soft."""
    return Maker(
        f"mujoco {integrator}",
        "mujoco",
        lambda text, dt: Mujoco(text, "elliptic", timestep=dt, integrator=integrator),
        COLORS[integrator],
    )


def drakes(law: str, touching: bool) -> Maker:
    """Drake in discrete steps."""
    from sapwood.bench.drake import Drake

    name = f"drake {law}" if touching else "drake discrete"
    return Maker(name, "drake", lambda text, dt: Drake(text, law, dt), COLORS[law])


def controlled() -> Maker:
    """Drake's default integrator in continuous time, which chooses its steps."""
    from sapwood.bench.drake import Drake

    def make(text: str, accuracy: float) -> Engine:
        # Steps of a microsecond that ``step`` counts: it goes to the end at once.
        return Drake(text, "sap", 1e-6, "runge_kutta3", accuracy)

    return Maker("drake runge_kutta3", "drake", make, RK3, "2 3")
