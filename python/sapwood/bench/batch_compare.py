"""Many worlds of all engines, in turns."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench import batch_mjx
from sapwood.bench.batch_cases import CHUNK, Driver, Vector, control_ranges
from sapwood.bench.batch_engines import Counts, LoneSimulations, MujocoBatch, MujocoRollout, SapwoodBatch, Worlds
from sapwood.bench.batch_rows import Row, rows_of

REFERENCE = "mujoco-pyramidal"
"""The engine whose time the speed-ups refer to."""
STATES = ("motion", "rest")
COLUMNS = (
    "case",
    "engine",
    "ns/step",
    "speed-up",
    "quartiles",
    "left %",
    "unsettled",
    "iterations",
    "deepest mm",
    "lost",
)
HEADER = "{:20} {:23} {:>8} {:>8} {:>13} {:>7} {:>9} {:>10} {:>10} {:>5}".format(*COLUMNS)


class Setting(NamedTuple):
    """What is measured, and how long."""

    peers: list[str]
    worlds: int
    seconds: float
    settle: float
    threads: int
    turns: int
    """The least number."""
    variants: list[tuple[str, int]]
    """Precisions and lanes of ours."""
    states: tuple[str, ...] = STATES


class Measured:
    """An engine and what its turns took."""

    def __init__(self, engine: Worlds) -> None:
        self.engine = engine
        self.name = engine.name
        self.deepest = 0.0
        self.nanoseconds: list[float] = []
        """Of a step of a world, turn by turn."""
        self._before, self._lost = engine.counts(), engine.lost

    def turn(self, clock: str) -> None:
        """Makes the steps of a turn."""
        read = time.process_time if clock == "cpu" else time.perf_counter
        start = read()
        self.engine.advance()
        self.nanoseconds.append(1e9 * (read() - start) / (self.engine.n * CHUNK))
        self.engine.mend()

    def counts(self) -> Counts:
        """What was done in the turns."""
        now = self.engine.counts()
        return Counts(*[None if a is None or b is None else a - b for a, b in zip(now, self._before, strict=True)])  # type: ignore[arg-type]

    def lost(self) -> int:
        """Worlds that failed in the turns."""
        return self.engine.lost - self._lost


def measure(case: str, path: Path, setting: Setting) -> list[Row]:
    """One case in motion and at rest."""
    rows: list[Row] = []
    model = sw.load(path)
    ranges = control_ranges(path, model.nu)
    for state in setting.states:
        engines = load(path, model, setting)
        if state == setting.states[0]:
            say_alone(case, engines)
        driver = Driver(ranges)
        for engine in engines:
            driver.start(engine)
            if state == "rest":
                engine.settle(round(setting.settle / model.timestep))
        turns = max(setting.turns, round(setting.seconds / (CHUNK * model.timestep)))
        clock = "cpu" if setting.threads == 1 else "wall"
        measured = take_turns(engines, model, driver if state == "motion" else Driver(0.0 * ranges), turns, clock)
        rows += report(f"{case} {state}", measured)
    return rows


def load(path: Path, model: sw.Model, setting: Setting) -> list[Worlds]:
    """All engines."""
    n, threads = setting.worlds, setting.threads
    engines: list[Worlds] = []
    if "mujoco" in setting.peers:
        pyramidal = MujocoRollout(path, n, "pyramidal", threads)
        assert pyramidal.timestep == model.timestep, "the engines read different time steps"
        engines += [pyramidal, MujocoRollout(path, n, "elliptic", threads), MujocoBatch(path, n, threads)]
    if "mjx" in setting.peers:
        mjx = batch_mjx.load(path, n)
        engines += [] if mjx is None else [mjx]
    engines.append(LoneSimulations(model, n))
    ours = [SapwoodBatch(model, n, precision, lanes, threads) for precision, lanes in setting.variants]
    # Where worlds are stepped one by one, those of all lanes are the same.
    return engines + list({engine.name: engine for engine in ours}.values())


def say_alone(case: str, engines: list[Worlds]) -> None:
    """Says which model lanes cannot step."""
    for reason in {engine.batch.alone for engine in engines if isinstance(engine, SapwoodBatch)} - {None}:
        print(f"{case:20} one by one: {reason}")


def take_turns(engines: list[Worlds], model: sw.Model, driver: Driver, turns: int, clock: str) -> list[Measured]:
    """Turns of all engines, the first of a turn being another one every time."""
    measured = [Measured(engine) for engine in engines]
    geometry = Geometry(model)
    for turn in range(turns):
        first = turn % len(measured)
        for one in measured[first:] + measured[:first]:
            driver.drive(one.engine, turn)
            one.turn(clock)
            one.deepest = max(one.deepest, geometry.deepest(one.engine.position(turn % one.engine.n)))
    return measured


class Geometry:
    """Penetrations as this package sees them."""

    def __init__(self, model: sw.Model) -> None:
        # A step too short to move anything finds the contacts.
        self._simulation = sw.Simulation(model, timestep=1e-9)

    def deepest(self, q: Vector) -> float:
        """The deepest penetration of a pose, m."""
        self._simulation.reset()
        self._simulation.q = q
        # A pose that cannot be stepped tells nothing.
        with contextlib.suppress(sw.SimulationError):
            self._simulation.step()
        return float(self._simulation.stats.penetration)


def report(case: str, measured: list[Measured]) -> list[Row]:
    """Prints the lines of a case and returns its rows."""
    rows: list[Row] = []
    reference = next((one.nanoseconds for one in measured if one.name == REFERENCE), None)
    for one in measured:
        median = float(np.median(one.nanoseconds))
        speed, low, high = None, None, None
        if reference is not None:
            speed = float(np.median(reference)) / median
            low, high = np.quantile(np.array(reference) / np.array(one.nanoseconds), [0.25, 0.75]).tolist()
        counts = one.counts()
        steps = counts.steps
        left, unsettled = (None if n is None else n / steps for n in (counts.left, counts.unsettled))
        iterations = None if counts.iterations is None else counts.iterations / steps
        quartiles = "–" if low is None else f"{low:.2f} … {high:.2f}"
        print(
            f"{case:20} {one.name:23} {median:8.0f} {cell(speed, 2):>8} {quartiles:>13} "
            f"{cell(None if left is None else 100 * left, 3):>7} {cell(unsettled, 6):>9} {cell(iterations, 2):>10} "
            f"{1e3 * one.deepest:10.3f} {one.lost():5}",
            flush=True,
        )
        values: dict[tuple[str, str], float | None] = {
            ("time", "ns/step"): median,
            ("speed-up", "1"): speed,
            ("speed-up, lower quartile", "1"): low,
            ("speed-up, upper quartile", "1"): high,
            ("left", "1"): left,
            ("unsettled", "1"): unsettled,
            ("iterations", "1/step"): iterations,
            ("penetration", "m"): one.deepest,
            ("lost worlds", "1"): one.lost(),
        }
        rows += rows_of("batch", case, one.name, values)
    return rows


def cell(value: float | None, digits: int) -> str:
    """A number, or a dash."""
    return "–" if value is None else f"{value:.{digits}f}"
