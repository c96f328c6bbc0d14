"""The deformables suite: how long a step of a soft cube takes, free and in contact, and how far off the result is.

Every engine has the same linear tetrahedra, the same material and the same time step of 10 ms. A cube of 0.1 m falls
from 5 cm (fall), lies on the ground after a second (rest), or slides from 1 m/s until it stops (motion). Reported is
the CPU time of a step, the median of the turns, each of a scene of its own; all engines take turns. Beside it the error
in the height of the centre of mass: in the fall against closed form, at rest against a refined mesh; in motion, how far
the cube slid. The ratio is the engine's time over ours; without ours there is none.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sapwood.bench.cases import installed
from sapwood.bench.deformables_engines import EDGE, Cube, Drake, Mujoco, Sapwood, SoftEngine

__all__ = ["CASES", "PEERS", "run"]

PEERS = ("mujoco", "drake")
TIMESTEP = 0.01
GRAVITY = 9.81
FALL = 8
"""Steps of the fall that are timed; the cube is still 1.8 cm above the ground."""
SETTLE = 100
"""Steps until the cube rests."""
REST_HEIGHT = 0.049721
"""Of the centre of mass at rest above the nodes that touch, m: linear elasticity with the sole held where it was.

Another code (scipy) solved it with up to 40,000 tetrahedra; extrapolated, good to 2 µm. Friction holds the sole where
it came to rest, which makes some 20 µm.
"""

Row = dict[str, str | float]


class Case(NamedTuple):
    """What the cube does."""

    kind: str
    """``fall``, ``rest`` or ``motion``."""
    cells: int

    def cube(self) -> Cube:
        """The scene at its beginning."""
        if self.kind == "motion":
            return Cube(self.cells, 0.001, TIMESTEP, 1.0)
        return Cube(self.cells, 0.05, TIMESTEP, 0.0)

    def steps(self) -> tuple[int, int]:
        """Steps before those that are timed, and how many are."""
        return {"fall": (0, FALL), "rest": (SETTLE, 20), "motion": (2, 18)}[self.kind]


CASES = {f"{kind}-{5 * n**3}": Case(kind, n) for n in (6, 8, 10, 16) for kind in ("fall", "rest", "motion")}


def run(peers: list[str], cases: list[str], repetitions: int) -> list[Row]:
    """Prints a table for every case; returns its rows."""
    makers = engines(peers)
    rows: list[Row] = []
    for name in cases:
        rows += measure(name, CASES[name], makers, repetitions)
    return rows


def engines(peers: list[str]) -> list[Callable[[Cube], SoftEngine]]:
    """Makers of the engines that are installed, ours first."""
    makers: list[Callable[[Cube], SoftEngine]] = [Sapwood]
    # Drake fails to load some of its modules once MuJoCo is there.
    for peer in sorted(peers):
        if not installed("pydrake" if peer == "drake" else peer, peer):
            continue
        if peer == "drake":
            makers.append(Drake)
        else:
            makers += [lambda cube: Mujoco(cube, "CG"), lambda cube: Mujoco(cube, "Newton")]
    return makers


def measure(name: str, case: Case, makers: list[Callable[[Cube], SoftEngine]], repetitions: int) -> list[Row]:
    """The rows of a case."""
    times: dict[str, list[float]] = {}
    results: dict[str, tuple[float, float]] = {}
    before, timed = case.steps()
    for _ in range(repetitions):
        for make in makers:
            cube = case.cube()
            engine = make(cube)
            engine.step(before)
            start = time.process_time()
            engine.step(timed)
            times.setdefault(engine.name, []).append((time.process_time() - start) / timed)
            results[engine.name] = outcome(case, cube, engine, before + timed)
    medians = {engine: statistics.median(turns) for engine, turns in times.items()}
    print(f"\n{name}: {len(case.cube().mesh()[1])} tetrahedra")
    print(f"{'engine':<16}{'ms a step':>12}{'ratio':>8}{'height error, mm':>18}{'travel, mm':>12}")
    rows: list[Row] = []
    for of, seconds in medians.items():
        error, travel = results[of]
        row: Row = {"suite": "deformables", "case": name, "engine": of, "ms": 1e3 * seconds, "travel": travel}
        ours = medians.get("sapwood")
        if ours:
            row["ratio"] = seconds / ours
        if case.kind != "motion":
            row["height_error"] = error
        ratio = f"{seconds / ours:.2f}" if ours else "–"
        shown = "–" if case.kind == "motion" else f"{1e3 * error:+.4f}"
        print(f"{of:<16}{1e3 * seconds:>12.2f}{ratio:>8}{shown:>18}{1e3 * travel:>12.2f}")
        rows.append(row)
    return rows


def outcome(case: Case, cube: Cube, engine: SoftEngine, steps: int) -> tuple[float, float]:
    """How far the centre of mass is too high, and how far it went along x, m."""
    _, tetrahedra = cube.mesh()
    corners = engine.nodes[tetrahedra]
    edges = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(edges))
    centre = (volumes[:, None] * corners.mean(axis=1)).sum(axis=0) / volumes.sum()
    fallen = cube.height + 0.5 * EDGE - 0.5 * GRAVITY * (steps * cube.timestep) ** 2
    expected = fallen if case.kind == "fall" else engine.radius + REST_HEIGHT
    return float(centre[2] - expected), float(centre[0])
