"""The clutter suite: how long a step takes of piles and other contacts after they have settled.

Every engine simulates the same text with the same time step until it has settled, then goes on from there in turns, all
from their own settled states. Reported is the CPU time of a step, the median of the turns; where threads are compared,
the wall time. Beside it, of one more turn: contact points with an impulse, solver iterations a step, the largest
momentum residual (relative, of the solver's own problem, where the engine tells it), and at its end the deepest
penetration in all engines' poses by this package's geometry, and the number of bodies that fell through the ground or
left the bin. The ratio is the engine's time over ours with the default friction law.
"""

from __future__ import annotations

import math
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from xml.etree import ElementTree

import numpy as np

import sapwood as sw
from sapwood.bench import rapier
from sapwood.bench.cases import MissingPackageError, installed
from sapwood.bench.clutter_cases import CASES, Case
from sapwood.bench.engines import Engine, Mujoco, Sapwood, State, Vector
from sapwood.bench.friction_laws import LAWS, default
from sapwood.bench.peer_sources import BuildError

__all__ = ["CASES", "PEERS", "run"]

RATIO = "time over sapwood's"
PEERS = ("mujoco", "drake", "rapier")
STEPS = 50
"""Steps of a turn."""

Row = dict[str, str | float]


class Outcome(NamedTuple):
    """How a turn ends; None where the engine does not say."""

    contacts: float
    iterations: float | None
    residual: float | None
    q: Vector


class Runner(Protocol):
    """An engine that takes turns."""

    name: str

    def turn(self) -> float:
        """Seconds of a step, of one turn from the settled state."""

    def outcome(self) -> Outcome:
        """One more turn, looked at."""


class EngineRunner:
    """An engine of this process."""

    def __init__(self, engine: Engine, case: Case, clock: str) -> None:
        self.name = engine.name
        self._engine = engine
        self._clock = time.process_time if clock == "cpu" else time.perf_counter
        engine.control(case.controls(len(engine.controls), 0))
        engine.step(round(case.settle / engine.timestep))
        self._settled: State = engine.state()
        self._controls = case.controls(len(engine.controls), 1)

    def _start(self) -> None:
        self._engine.restore(self._settled)
        self._engine.control(self._controls)

    def turn(self) -> float:
        """Seconds of a step, of one turn from the settled state."""
        self._start()
        start = self._clock()
        self._engine.step(STEPS)
        return (self._clock() - start) / STEPS

    def outcome(self) -> Outcome:
        """One more turn, looked at."""
        self._start()
        samples = []
        for _ in range(STEPS):
            self._engine.step(1)
            samples.append(self._engine.sample())
        iterations = [s.iterations for s in samples if s.iterations is not None]
        residuals = [s.residual for s in samples if s.residual is not None]
        return Outcome(
            statistics.mean(s.contacts for s in samples),
            statistics.mean(iterations) if iterations else None,
            max(residuals) if residuals else None,
            self._engine.q,
        )


class RapierRunner:
    """Rapier, which settles anew in every turn."""

    name = "rapier"

    def __init__(self, case: Case) -> None:
        self._binary, self._case = rapier.build(), case

    def _run(self) -> rapier.Answer:
        settle = round(self._case.settle / self._case.timestep)
        return rapier.run(self._binary, str(self._case.source()), self._case.timestep, settle, STEPS, 1)

    def turn(self) -> float:
        """Seconds of a step, of one turn from the settled state."""
        return self._run().times[0]

    def outcome(self) -> Outcome:
        """One more turn, looked at."""
        answer = self._run()
        return Outcome(answer.contacts, None, None, answer.q)


def run(peers: list[str], cases: list[str], repetitions: int) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    present = [peer for peer in peers if peer == "rapier" or installed({"drake": "pydrake"}.get(peer, peer), peer)]
    header = ("case", "engine", "ms/step", "least", "contacts", "iterations", "residual", "deepest mm", "lost", "ratio")
    print("{:12} {:28} {:>9} {:>9} {:>9} {:>10} {:>9} {:>10} {:>5} {:>7}".format(*header))
    rows: list[Row] = []
    for name in cases:
        try:
            rows += compare(name, CASES[name], present, repetitions)
        except MissingPackageError as error:
            print(f"{name:12} left out: {error}")
    return rows


def compare(name: str, case: Case, peers: list[str], repetitions: int) -> list[Row]:
    """Turns of the engines on one case."""
    runners = settled(name, case, peers)
    times: dict[str, list[float]] = {runner.name: [] for runner in runners}
    for _ in range(repetitions):
        for runner in runners:
            times[runner.name].append(runner.turn())
    # Without ours (its default law failed), there is nothing to compare with.
    ours = statistics.median(times.get("sapwood", [math.nan]))
    ruler = Ruler(case.source())
    rows: list[Row] = []
    for runner in runners:
        metrics = measures(times[runner.name], runner.outcome(), ruler, ours, case.bodies)
        print(line(name, runner.name, {metric: value for metric, value, _ in metrics}), flush=True)
        for metric, value, unit in metrics:
            if value is not None and math.isfinite(value):
                row: Row = {"suite": "clutter", "case": name, "engine": runner.name, "metric": metric}
                rows.append({**row, "value": value, "unit": unit})
    return rows


def measures(
    times: list[float], outcome: Outcome, ruler: Ruler, ours: float, bodies: int
) -> list[tuple[str, float | None, str]]:
    """Metric, value and unit of one engine on one case."""
    median = statistics.median(times)
    per_body = [("time per body", median / bodies, "s/step")] if bodies else []
    return [
        ("time", median, "s/step"),
        ("least time", min(times), "s/step"),
        ("contacts", outcome.contacts, "1"),
        ("iterations", outcome.iterations, "1/step"),
        ("residual", outcome.residual, "1"),
        ("penetration", ruler.penetration(outcome.q), "m"),
        ("bodies lost", ruler.lost(outcome.q), "1"),
        (RATIO, median / ours, "1"),
        *per_body,
    ]


def line(case: str, engine: str, values: dict[str, float | None]) -> str:
    """A line of the table."""

    def cell(metric: str, form: str, scale: float = 1) -> str:
        value = values[metric]
        width = form.split(".")[0]
        return f"{'-':>{width}}" if value is None or math.isnan(value) else f"{scale * value:{form}}"

    per_body = f"  {1e6 * (values['time per body'] or 0):.2f} µs a body" if "time per body" in values else ""
    return (
        f"{case:12} {engine:28} {cell('time', '9.4f', 1e3)} {cell('least time', '9.4f', 1e3)} "
        f"{cell('contacts', '9.1f')} {cell('iterations', '10.2f')} {cell('residual', '9.1e')} "
        f"{cell('penetration', '10.4f', 1e3)} {cell('bodies lost', '5.0f')} "
        f"{cell(RATIO, '7.2f')}{per_body}"
    )


def settled(name: str, case: Case, peers: list[str]) -> list[Runner]:
    """The engines of a case, ours first, each where it comes to rest; a note for those that fail."""
    runners: list[Runner] = []
    clock = "wall" if len(case.threads) > 1 else "cpu"
    for maker_name, maker in engines(case, peers):
        if sys.stderr.isatty():
            print(f"{name}: {maker_name} settles", end="\33[K\r", file=sys.stderr, flush=True)
        try:
            runners.append(EngineRunner(maker(), case, clock))
        except sw.SimulationError as error:
            print(f"{name:12} {maker_name} left out: {error}")
    if "rapier" in peers and "rapier" in case.peers:
        try:
            runners.append(RapierRunner(case))
        except (MissingPackageError, BuildError) as error:
            print(f"{name:12} rapier left out: {error}")
    return runners


def engines(case: Case, peers: list[str]) -> list[tuple[str, Any]]:
    """Names and how to make the engines that run in this process."""
    source, dt = case.source(), case.timestep
    makers: list[tuple[str, Any]] = []

    def add(maker_name: str, maker: Any) -> None:  # noqa: ANN401
        makers.append((maker_name, maker))

    for threads in case.threads:
        label = "sapwood" if threads == 1 else f"sapwood {threads} threads"
        add(label, lambda label=label, threads=threads: Sapwood(source, label, dt, threads=threads))
    if case.laws:
        for law in (law for law in LAWS if law != default()):
            add(f"sapwood {law}", lambda law=law: Sapwood(source, f"sapwood {law}", dt, law))
    if "mujoco" in peers:
        for options in case.mujoco:
            add("mujoco", lambda options=options: Mujoco(source, timestep=dt, **options))
    if "drake" in peers and "drake" in case.peers:
        from sapwood.bench.drake import Drake

        for approximation in ("sap", "lagged"):
            add(f"drake-{approximation}", lambda approximation=approximation: Drake(str(source), approximation, dt))
    return makers


class Ruler:
    """The same measure for the poses of all engines."""

    def __init__(self, source: str | Path) -> None:
        model = sw.load(source)
        self._simulation = sw.Simulation(model)
        self._free = [joint.q.start for joint in model.joints if joint.kind == "free"]
        wall = "worldbody/geom[@name='east']"
        east = ElementTree.fromstring(source).find(wall) if isinstance(source, str) else None
        self._wall = math.inf if east is None else float(east.get("pos", "").split()[0])

    def penetration(self, q: Vector) -> float:
        """The deepest, m, by this package's contact points; NaN where it cannot step from there."""
        self._simulation.reset()
        self._simulation.q = q
        try:
            self._simulation.step()
        except sw.SimulationError:
            return math.nan
        return self._simulation.stats.penetration

    def lost(self, q: Vector) -> int:
        """Free bodies whose origin is below the ground or beyond the walls."""
        places = np.array([q[start : start + 3] for start in self._free]).reshape(-1, 3)
        outside = (places[:, 2] < 0) | (np.abs(places[:, :2]) > self._wall).any(axis=1)
        return int(np.sum(outside))
