"""Runs whose accuracy is asked in place of a time step: what was asked, what came, and what it took."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.schemes_engines import TOLERANCE
from sapwood.bench.schemes_fit import Point
from sapwood.bench.schemes_runs import FAILURES, PATIENCE, Start, distance
from sapwood.bench.schemes_systems import System, halving_rk4, solve

ASKED = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Errors that may be made, per second."""
FRAMES = 20
"""Times at which poses are compared, most of them within steps."""
PART = 4
"""Frames of a run between looks at the clock."""
HALVING = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
"""Accuracies of a step of the Runge–Kutta method that counts its evaluations."""


class Answer(NamedTuple):
    """What came of a run."""

    pose: float
    """Largest error of a coordinate in all frames over what was asked by the horizon."""
    velocity: float
    """The same of velocities, relative to 1 m/s or rad/s and to themselves."""
    error: float
    """Of the pose at the horizon, rad or m."""
    steps: int
    rejected: int
    evaluations: int
    cost: float
    """CPU time, s."""


class Frames(NamedTuple):
    """The reference at some times."""

    times: list[float]
    states: list[tuple[np.ndarray, np.ndarray]]


def frames(begin: Start, system: System) -> Frames:
    """Solves a case, frame by frame."""
    times = [begin.case.horizon * (k + 1) / FRAMES for k in range(FRAMES)]
    return Frames(times, solve(system, begin.q, begin.v, times, longest=begin.case.longest))


def simulation(begin: Start, accuracy: float) -> sw.Simulation:
    """At the start."""
    sim = sw.Simulation(begin.model, scheme="midpoint", accuracy=accuracy, tolerance=TOLERANCE)
    sim.q, sim.v = begin.q, begin.v
    return sim


def ask(begin: Start, reference: Frames, accuracy: float) -> Answer | str:
    """Runs a case with this accuracy; what the engine says where it fails, and where it had got when patience ended."""
    sim = simulation(begin, accuracy)
    qs, vs, counts, before = [], [], np.zeros(3, dtype=int), time.process_time()
    try:
        for k in range(0, FRAMES, PART):
            q, v = sim.trajectory(reference.times[k : k + PART])
            qs.append(q)
            vs.append(v)
            counts += [sim.stats.substeps, sim.stats.rejected, sim.stats.force_evaluations]
            if time.process_time() - before > PATIENCE:
                return f"{PATIENCE:g} s of CPU time and {counts[0]} steps led to {sim.time:g} s"
    except FAILURES as failure:
        return str(failure)
    cost = time.process_time() - before
    pairs = list(zip(reference.states, np.concatenate(qs), np.concatenate(vs), strict=True))
    allowed = accuracy * begin.case.horizon
    pose = max(distance(begin.model, q, at) for (q, _), at, _ in pairs)
    velocity = max(float(np.max(np.abs(rate - v) / (1 + np.abs(v)))) for (_, v), _, rate in pairs)
    error = distance(begin.model, reference.states[-1][0], sim.q)
    steps, rejected, evaluations = map(int, counts)
    return Answer(pose / allowed, velocity / allowed, error, steps, rejected, evaluations, cost)


def halving(begin: Start, reference: Frames, system: System) -> list[Point]:
    """Step-halving Runge–Kutta at several accuracies; the cost of a point is its number of evaluations."""
    points = []
    for accuracy in HALVING:
        system.evaluations = 0
        with np.errstate(all="ignore"):
            q, _ = halving_rk4(system, begin.q, begin.v, begin.case.horizon, accuracy)
        error = distance(begin.model, reference.states[-1][0], q)
        points.append(Point(accuracy, system.evaluations, error))
    return points
