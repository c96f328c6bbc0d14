"""The cases of the clutter suite."""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.cases import MissingPackageError
from sapwood.bench.engines import Vector

ELLIPTIC = {"cone": "elliptic"}
PYRAMIDAL = {"cone": "pyramidal"}
CG = {"cone": "elliptic", "solver": "cg"}
CG_EXACT = {**CG, "tolerance": 1e-12}
"""Conjugate gradients until their residual is about ours; by default they stop earlier."""


class Case(NamedTuple):
    """What is simulated, by whom."""

    source: Callable[[], str | Path]
    """MJCF text, or a file; only text for engines that are no MJCF readers."""
    timestep: float = 0.005
    settle: float = 3.0
    """Simulated time before anything is timed, s."""
    bodies: int = 0
    """By how many the time is also divided; 0: by none."""
    threads: tuple[int, ...] = (1,)
    """Numbers of threads that ours is run with."""
    laws: bool = False
    """Whether all our friction laws are run besides the default."""
    mujoco: tuple[dict[str, Any], ...] = (ELLIPTIC,)
    """Options of MuJoCo's variants."""
    peers: tuple[str, ...] = ()
    """Others that can simulate it."""
    amplitude: float = 0.0
    """Of the controls; another posture in every phase."""

    def controls(self, nu: int, phase: int) -> Vector:
        """Controls: zero or, in radians, a posture."""
        posture: Vector = np.cos(np.arange(nu) + 2.0 * phase)
        return self.amplitude * posture


def scene(name: str) -> Callable[[], str]:
    """A scene of this package."""
    return lambda: sw.scenes.mjcf(name)


def pile(shape: str, count: int) -> Case:
    """A pile in a bin, by everybody."""
    solvers = (ELLIPTIC, PYRAMIDAL, CG, CG_EXACT)
    return Case(scene(f"clutter-{shape}-{count}"), laws=True, mujoco=solvers, peers=("drake", "rapier"))


def islands(count: int) -> Case:
    """Stacks of five."""
    return Case(scene(f"stacks-{count}-5"), settle=1.0, bodies=5 * count)


def dm_humanoid() -> Path:
    """The humanoid of dm_control's suite."""
    spec = util.find_spec("dm_control")
    if spec is None or spec.origin is None:
        raise MissingPackageError("dm_control is not installed: pip install dm_control")
    return Path(spec.origin).parent / "suite" / "humanoid.xml"


ARM_SOLVERS = ({**ELLIPTIC, "integrator": "implicitfast"}, {**ELLIPTIC, "integrator": "discrete"})

CASES: dict[str, Case] = {
    **{f"{shape}-{count}": pile(shape, count) for shape in ("box", "sphere") for count in (27, 64, 125)},
    "tower-10": Case(scene("tower-10"), laws=True, mujoco=(ELLIPTIC, PYRAMIDAL), peers=("drake", "rapier")),
    "stacks-100": Case(scene("stacks-100-5"), settle=1.0, threads=(1, 2), peers=("rapier",)),
    "islands-10": islands(2),
    "islands-100": islands(20),
    "islands-1000": islands(200),
    "arm7": Case(scene("arm7"), timestep=0.001, mujoco=ARM_SOLVERS, peers=("drake",), amplitude=0.5),
    "dm_humanoid": Case(dm_humanoid, laws=True, mujoco=(ELLIPTIC, PYRAMIDAL)),
    "dm_humanoid_at_rest": Case(dm_humanoid, settle=10.0, mujoco=(ELLIPTIC, PYRAMIDAL)),
    **{name: Case(lambda name=name: sw.characters.mjcf(name)) for name in ("snake36", "snake72", "snake195")},  # type: ignore[misc]
}
