"""Runs whose accuracy is asked in place of a time step: what was asked, what came, and what it took."""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.schemes_engines import TOLERANCE
from sapwood.bench.schemes_fit import Point
from sapwood.bench.schemes_runs import FAILURES, Start, distance
from sapwood.bench.schemes_systems import System, halving_rk4, solve

ASKED = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
"""Errors that may be made, per second."""
FRAMES = 20
"""Times at which poses are compared, most of them within steps."""
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
    """At the start; one step leads to the horizon, by as many as it takes."""
    sim = sw.Simulation(
        begin.model, timestep=begin.case.horizon, scheme="midpoint", accuracy=accuracy, tolerance=TOLERANCE
    )
    sim.q, sim.v = begin.q, begin.v
    return sim


def ask(begin: Start, reference: Frames, accuracy: float) -> Answer | str:
    """Runs a case with this accuracy; what the engine says where it fails."""
    allowed = accuracy * begin.case.horizon
    try:
        qs, vs = simulation(begin, accuracy).trajectory(reference.times)
        counting = simulation(begin, accuracy)
        before = time.process_time()
        counting.step()
        cost = time.process_time() - before
    except FAILURES as failure:
        return str(failure)
    pairs = list(zip(reference.states, qs, vs, strict=True))
    pose = max(distance(begin.model, q, at) for (q, _), at, _ in pairs)
    velocity = max(float(np.max(np.abs(rate - v) / (1 + np.abs(v)))) for (_, v), _, rate in pairs)
    stats = counting.stats
    error = distance(begin.model, reference.states[-1][0], counting.q)
    counts = stats.substeps, stats.rejected, stats.force_evaluations
    return Answer(pose / allowed, velocity / allowed, error, *counts, cost)


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
