"""Runs of the schemes suite: errors at a time, energy over time, and the CPU time that they take."""

from __future__ import annotations

import math
import statistics
import time
from typing import Any, NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.engines import Engine, Sapwood, Vector
from sapwood.bench.schemes_cases import Case
from sapwood.bench.schemes_fit import Point
from sapwood.bench.schemes_systems import System, solve

LOST = 100.0
"""Errors beyond this (rad, m, or times the energy) count as divergence."""
PATIENCE = 10.0
"""Runs that would take longer than this, in seconds of CPU time, are left out."""
TURN = 0.1
"""Runs shorter than this are repeated for their time, s."""
FAILURES = (sw.SimulationError, ValueError, RuntimeError)
"""What engines raise where the state is lost; MuJoCo goes on with numbers that are none."""
SAMPLES = 5000
"""Looks at the energy in a run."""


class Start(NamedTuple):
    """A case about to move."""

    case: Case
    text: str
    model: sw.Model
    q: Vector
    v: Vector

    def source(self, family: str) -> sw.Model | str:
        """What engines of a family take: ours the model, whose contacts are those of the case, others the text."""
        return self.model if family == "sapwood" else self.text


class Goal(NamedTuple):
    """Where a case should be in the end."""

    q: Vector
    v: Vector
    doubt: float
    """By how much the solver's answer moves when its tolerance is ten times as large."""
    energy: float
    """J."""
    system: System


class EnergyRun(NamedTuple):
    """What became of the energy."""

    point: Point
    times: list[float]
    errors: list[float]
    """Relative, signed, at the times."""
    momentum: float | None = None
    """Largest relative change of the angular momentum about the centre of mass, where it should stay."""
    iterations: float | None = None
    """Newton iterations of free motion in the steps looked at, the mean; None where the engine does not say."""
    reason: str = ""
    """What the engine said when it gave up."""

    def quarters(self) -> list[float]:
        """The largest error of each quarter of the run."""
        return [float(np.abs(part).max()) for part in np.array_split(np.array(self.errors), 4)]


def start(case: Case) -> Start:
    """Loads a case."""
    text = case.text()
    model = sw.load(text)
    if case.spring is not None:
        stiffness, damping = case.spring
        builder = sw.ModelBuilder.from_model(model)
        builder.add_pair(*builder.geoms, friction=0.0, compliance=(stiffness, damping / stiffness))
        model = builder.build()
    key = model.keyframe(case.keyframe)
    return Start(case, text, model, key.q, key.v)


def goal(begin: Start, system: System) -> Goal:
    """Solves the case."""
    case = begin.case
    (q, v), (rough, _) = (
        solve(system, begin.q, begin.v, [case.horizon], tolerance, case.longest)[0] for tolerance in (1e-13, 1e-12)
    )
    return Goal(q, v, distance(begin.model, q, rough), system.energy(q, v), system)


def distance(model: sw.Model, q: Vector, other: Vector) -> float:
    """The largest coordinate of the difference, rad or m; infinite where there is none to speak of."""
    if not np.all(np.isfinite(other)):
        return math.inf
    error = float(np.abs(model.difference(q, other)).max())
    return error if error < LOST else math.inf


def timesteps(case: Case) -> list[float]:
    """Of the runs to the horizon, s, coarsest first."""
    return [case.horizon / (case.coarsest << k) for k in range(case.runs)]


def error_run(begin: Start, end: Goal, engine: Engine, parameter: float, repetitions: int) -> tuple[Point, float]:
    """Error at the horizon, and the energy there less what it should be, over that of the start."""
    engine.place(begin.q, begin.v)
    state = engine.state()
    steps, times = round(begin.case.horizon / engine.timestep), []
    for _ in range(repetitions):
        engine.restore(state)
        try:
            times.append(stepped(engine, steps))
        except FAILURES:
            return Point(parameter, math.inf, math.inf), math.inf
        if sum(times) > TURN:
            break
    q, v = engine.q, engine.v
    error = distance(begin.model, end.q, q)
    loss = math.inf
    if error < math.inf:
        loss = (end.system.energy(q, v) - end.energy) / end.system.energy(begin.q, begin.v)
    return Point(parameter, statistics.median(times), error), loss


def step_times(engines: list[Engine], repetitions: int) -> list[float]:
    """CPU time of a step of each engine, s: medians of turns of 200 steps from where they are."""
    states = [engine.state() for engine in engines]
    times: list[list[float]] = [[] for _ in engines]
    for _ in range(repetitions):
        for engine, state, found in zip(engines, states, times, strict=True):
            # What diverged is slow, and no better the next time.
            if math.inf in found:
                continue
            engine.restore(state)
            try:
                found.append(stepped(engine, 200) / 200 if survives(engine) else math.inf)
            except FAILURES:
                found.append(math.inf)
    return [math.inf if math.inf in found else statistics.median(found) for found in times]


def survives(engine: Engine) -> bool:
    """Whether the engine still moves sensibly after a few steps; it is put back."""
    state = engine.state()
    engine.step(20)
    fine = bool(np.all(np.abs(engine.v) < 1e3))
    engine.restore(state)
    return fine


def stepped(engine: Engine, steps: int) -> float:
    """CPU time of these steps, s."""
    before = time.process_time()
    engine.step(steps)
    return time.process_time() - before


def energy_run(begin: Start, system: System, engine: Engine, parameter: float, duration: float) -> EnergyRun:
    """Energy over time, relative to that of the start above rest; it ends where it diverges."""
    energy = begin.case.energy
    assert energy is not None
    engine.place(begin.q, begin.v)
    steps = round(duration / engine.timestep)
    rest = 0.0 if energy.rest is None else system.energy(np.array(energy.rest), np.zeros(begin.model.nv))
    first = system.energy(begin.q, begin.v)
    momentum = Momentum(begin, system)
    cost, done, times, errors = 0.0, 0, [0.0], [0.0]
    newton: list[int | None] = []
    # An odd number of steps between looks: errors that change their sign with every step are seen.
    block = max(1, steps // SAMPLES) | 1
    while done < steps:
        block = min(block, steps - done)
        try:
            cost += stepped(engine, block)
        except FAILURES as failure:
            return EnergyRun(Point(parameter, math.inf, math.inf), times, errors, reason=str(failure))
        done += block
        newton.append(free_iterations(engine))
        q, v = engine.q, engine.v
        with np.errstate(all="ignore"):
            error = (system.energy(q, v) - first) / (first - rest)
        times.append(done * engine.timestep)
        if not abs(error) < LOST:
            return EnergyRun(Point(parameter, math.inf, math.inf), times, [*errors, math.inf])
        errors.append(error)
        momentum.look(q, v)
    told = [count for count in newton if count is not None]
    mean = statistics.mean(told) if told else None
    return EnergyRun(Point(parameter, cost, max(map(abs, errors))), times, errors, momentum.worst, mean)


def free_iterations(engine: Engine) -> int | None:
    """Newton iterations of free motion in the last step."""
    return engine.simulation.stats.free_iterations if isinstance(engine, Sapwood) else None


class Momentum:
    """Watches the angular momentum where the system knows of one."""

    def __init__(self, begin: Start, system: System) -> None:
        self._of: Any = getattr(system, "angular_momentum", None)
        self._first: Vector | None = None if self._of is None else self._of(begin.q, begin.v)
        self.worst = None if self._first is None else 0.0

    def look(self, q: Vector, v: Vector) -> None:
        """Compares with the start."""
        if self._first is not None and self.worst is not None:
            change = np.linalg.norm(self._of(q, v) - self._first) / np.linalg.norm(self._first)
            self.worst = max(self.worst, float(change))
