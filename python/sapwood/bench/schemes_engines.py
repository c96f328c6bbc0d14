"""The engines of the schemes suite: ours under every scheme, MuJoCo's integrators, Drake's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import sapwood as sw
from sapwood.bench.cases import installed
from sapwood.bench.engines import Engine, Mujoco, Sapwood

SCHEMES = ("symplectic-euler", "midpoint", "implicit-euler", "explicit-euler")
INTEGRATORS = ("euler", "implicitfast", "implicit", "discrete", "rk4")
"""MuJoCo's."""
ACCURACIES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8)
"""Asked of engines that choose their steps."""
TOLERANCE = 1e-12
"""Of our contact solver, whose default of 1e-6 would hide how a scheme converges."""


class Maker(NamedTuple):
    """An engine with a scheme, and how to have it simulate a text, or ours a model, in steps of so many seconds."""

    name: str
    family: str
    make: Callable[[Any, float], Engine]
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
CHOOSES = "2 3"
"""Dashes of engines that choose their steps."""


def makers(peers: list[str], touching: bool) -> list[Maker]:
    """All that take steps of a given length; what is not installed is left out with a note.

    Args:
        peers: Engines to compare with.
        touching: Whether contact laws matter; without contact Drake's are the same.
    """
    found = [ours(scheme) for scheme in SCHEMES]
    found.insert(2, ours("midpoint", conserve=False))
    if "mujoco" in peers and installed("mujoco", "mujoco"):
        found += [mujocos(integrator) for integrator in INTEGRATORS]
    if "drake" in peers and installed("pydrake", "drake"):
        found += [drakes(law, touching) for law in (("sap", "lagged") if touching else ("sap",))]
    return found


ALONE = " alone"
"""What is named so mends neither energy nor momentum."""
ALONE_COLOR = "#a78bfa"
"""Seen on the curve of the same scheme, which it often follows."""


def ours(scheme: str, *, conserve: bool = True) -> Maker:
    """Our engine under a scheme.

    Args:
        scheme: Its name.
        conserve: Whether the midpoint rule mends energy and momentum.
    """
    name = f"sapwood {scheme}{'' if conserve else ALONE}"
    return Maker(
        name,
        "sapwood",
        lambda text, dt: Sapwood(text, name, dt, scheme=scheme, conserve=conserve, tolerance=TOLERANCE),
        COLORS[scheme] if conserve else ALONE_COLOR,
        "5 4" if scheme == "explicit-euler" or not conserve else "",
    )


def scheme_of(maker: Maker) -> str:
    """Which of our schemes it is."""
    return maker.name.removeprefix("sapwood ").removesuffix(ALONE)


def conserves(maker: Maker) -> bool:
    """Whether it mends energy and momentum."""
    return not maker.name.endswith(ALONE)


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


def controlled(peers: list[str], touching: bool, span: float) -> list[Maker]:
    """Engines that choose their steps: made with an accuracy, not a time step, they advance by ``span`` at a time.

    Args:
        peers: Engines to compare with.
        touching: Whether something touches: in continuous time Drake's contacts are soft, another problem.
        span: s.
    """

    def ours(model: sw.Model, accuracy: float) -> Engine:
        return Sapwood(model, "sapwood", span, scheme="midpoint", accuracy=accuracy, tolerance=TOLERANCE)

    found = [Maker("sapwood accuracy", "sapwood", ours, "#6d28d9", CHOOSES)]
    if "drake" in peers and not touching and installed("pydrake", "drake"):
        from sapwood.bench.drake import Drake

        def drakes(text: str, accuracy: float) -> Engine:
            return Drake(text, "sap", span, "runge_kutta3", accuracy)

        found.append(Maker("drake runge_kutta3", "drake", drakes, "#14532d", CHOOSES))
    return found
