"""What worlds, lanes, threads, resets and divergence cost. CPU time on one thread, wall time on several."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.batch_cases import CHUNK, Driver, Vector, control_ranges
from sapwood.bench.batch_engines import SapwoodBatch
from sapwood.bench.batch_rows import Row, rows_of

WORLDS = (1, 4, 16, 64, 256, 1024, 4096, 16384)
WORLD_CHUNKS = 256
"""Chunks of worlds that a turn has at least, so that its time can be measured."""
TENTH = 10
"""One world of so many is reset in a step."""


class Run(NamedTuple):
    """What is built in a process of its own."""

    path: Path
    worlds: int
    precision: str
    lanes: int
    threads: int
    turns: int
    q: Vector
    v: Vector


class Outcome(NamedTuple):
    """What it took."""

    lanes: int
    """1 where the model cannot be stepped in lanes."""
    construction: float
    """s."""
    memory: float | None
    """Bytes of a world, by what the process grew; None where the system does not tell."""
    nanoseconds: float
    """Of a step of a world."""


def measure(case: str, path: Path, variants: list[tuple[str, int]], turns: int, most: int, worlds: int) -> list[Row]:
    """All of a case."""
    rows = sizes(case, path, variants, turns, most)
    return rows + resets(case, path, variants, worlds) + divergence(case, path, variants, turns, worlds)


def sizes(case: str, path: Path, variants: list[tuple[str, int]], turns: int, most: int) -> list[Row]:
    """Worlds by lanes and threads, each in a process of its own."""
    wide = [(precision, lanes, 1) for precision, lanes in variants]
    columns = [("f64", 1, 1), *wide, *[(*variant, 2) for variant in variants if variant[0] == "f64"][-1:]]
    starts = states(path)
    rows: list[Row] = []
    header = ("case", "engine", "threads", "worlds", "ns/step", "kB/world", "construct ms")
    print("{:13} {:18} {:>7} {:>7} {:>8} {:>9} {:>12}".format(*header))
    with multiprocessing.get_context("spawn").Pool(1, maxtasksperchild=1) as pool:
        for precision, lanes, threads in columns:
            for worlds in (n for n in WORLDS if n <= most):
                q, v = (np.resize(x, (worlds, x.shape[1])) for x in starts)
                outcome = pool.apply(build_and_step, (Run(path, worlds, precision, lanes, threads, turns, q, v),))
                engine = f"sapwood {precision} x {outcome.lanes}"
                memory = "–" if outcome.memory is None else f"{outcome.memory / 1e3:.1f}"
                print(
                    f"{case:13} {engine:18} {threads:7} {worlds:7} {outcome.nanoseconds:8.0f} {memory:>9} "
                    f"{1e3 * outcome.construction:12.2f}",
                    flush=True,
                )
                values: dict[tuple[str, str], float | None] = {
                    ("time", "ns/step"): outcome.nanoseconds,
                    ("memory", "B/world"): outcome.memory,
                    ("construction", "s"): outcome.construction,
                }
                threaded = f"{engine}, {threads} thread{'s' if threads > 1 else ''}"
                rows += rows_of("batch scaling", f"{case}, {worlds} worlds", threaded, values)
    return rows


def build_and_step(run: Run) -> Outcome:
    """Builds worlds and steps them."""
    model = sw.load(run.path)
    driver = Driver(control_ranges(run.path, model.nu))
    # What is loaded and made once is no world's.
    first = SapwoodBatch(model, 1, run.precision, run.lanes, run.threads)
    advance(first, driver, 0, 1)
    before = resident()
    start = time.perf_counter()
    engine = SapwoodBatch(model, run.worlds, run.precision, run.lanes, run.threads)
    construction = time.perf_counter() - start
    engine.batch.reset(states=(run.q, run.v))
    # The first steps make the workspaces.
    advance(engine, driver, 0, 1)
    grown = resident()
    chunks = max(1, WORLD_CHUNKS // run.worlds)
    times = [timed(partial(advance, engine, driver, turn, chunks), run.threads) for turn in range(run.turns)]
    memory = None if before is None or grown is None else (grown - before) / run.worlds
    return Outcome(engine.lanes, construction, memory, 1e9 * float(np.median(times)) / (run.worlds * CHUNK * chunks))


def advance(engine: SapwoodBatch, driver: Driver, turn: int, chunks: int) -> None:
    """Chunks of steps, each with its own controls."""
    for chunk in range(chunks):
        driver.drive(engine, 1 + turn * chunks + chunk)
        engine.advance()


def states(path: Path) -> tuple[Vector, Vector]:
    """Worlds that are out of step, fewer than most runs have: there they come again and again."""
    engine, _ = started(path, "f64", None, 64)
    return engine.batch.q.copy(), engine.batch.v.copy()


def timed(work: Callable[[], None], threads: int = 1) -> float:
    """Seconds: CPU time on one thread, wall time on several."""
    clock = time.process_time if threads == 1 else time.perf_counter
    start = clock()
    work()
    return clock() - start


def resident() -> int | None:
    """Bytes of memory that this process holds; None where the system does not tell."""
    statm = Path("/proc/self/statm")
    if not statm.exists():
        return None
    return int(statm.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def started(path: Path, precision: str, lanes: int | None, worlds: int) -> tuple[SapwoodBatch, Driver]:
    """Worlds that are out of step, on one thread."""
    model = sw.load(path)
    engine = SapwoodBatch(model, worlds, precision, lanes, 1)
    driver = Driver(control_ranges(path, model.nu))
    driver.start(engine)
    return engine, driver


def resets(case: str, path: Path, variants: list[tuple[str, int]], worlds: int, steps: int = 200) -> list[Row]:
    """Steps one by one, without resets and with a tenth of the worlds reset before each."""
    print("\none step a call, a tenth of the worlds reset before each; ns per world")
    print(
        "{:13} {:18} {:>7} {:>14} {:>10} {:>10}".format(
            "case", "engine", "worlds", "without resets", "the step", "the reset"
        )
    )
    rows: list[Row] = []
    for precision, lanes in variants:
        engine, driver = started(path, precision, lanes, worlds)
        every = np.arange(worlds) % TENTH
        without: list[float] = []
        with_them: list[float] = []
        reset: list[float] = []
        for step in range(steps):
            # Stretches of ten steps take turns, with resets and without.
            is_reset = step // TENTH % 2 == 1
            if is_reset:
                reset.append(timed(partial(engine.begin, every == step % TENTH)))
            engine.hold(driver.controls(step // CHUNK, worlds), 1)
            (with_them if is_reset else without).append(timed(engine.advance))
            engine.mend()
        three = [1e9 * float(np.mean(times)) / worlds for times in (without, with_them, reset)]
        print(f"{case:13} {engine.name:18} {worlds:7} {three[0]:14.0f} {three[1]:10.0f} {three[2]:10.1f}", flush=True)
        names = ("step without resets", "step with resets", "resets")
        values: dict[tuple[str, str], float | None] = {(name, "ns"): x for name, x in zip(names, three, strict=True)}
        rows += rows_of("batch resets", case, engine.name, values)
    return rows


def divergence(case: str, path: Path, variants: list[tuple[str, int]], turns: int, worlds: int) -> list[Row]:
    """Worlds that differ beside worlds that are all the same, one of those that differ in every turn."""
    print("\nworlds that differ, and worlds that are all the same; ns per step of a world")
    header = ("case", "engine", "worlds", "different", "same", "ratio", "iterations", "of groups")
    print("{:13} {:18} {:>7} {:>10} {:>8} {:>6} {:>10} {:>10}".format(*header))
    rows: list[Row] = []
    for precision, lanes in variants:
        different, driver = started(path, precision, lanes, worlds)
        same = SapwoodBatch(different.batch.model, worlds, precision, lanes, 1)
        times: list[tuple[float, float]] = []
        for turn in range(2 * turns):
            one = turn % worlds
            same.batch.reset(states=(different.batch.q[one].copy(), different.batch.v[one].copy()))
            controls = driver.controls(turn, worlds)
            for engine, ctrl in [(different, controls), (same, np.tile(controls[one], (worlds, 1)))]:
                engine.hold(ctrl, CHUNK)
            times.append((timed(different.advance), timed(same.advance)))
            different.mend()
            same.mend()
        apart, alike = (1e9 * float(np.mean(column)) / (worlds * CHUNK) for column in zip(*times, strict=True))
        counts = different.counts()
        mean = (counts.iterations or 0) / counts.steps
        groups = (counts.group_iterations or 0) * different.lanes / counts.steps
        print(
            f"{case:13} {different.name:18} {worlds:7} {apart:10.0f} {alike:8.0f} {apart / alike:6.2f} "
            f"{mean:10.2f} {groups:10.2f}",
            flush=True,
        )
        values: dict[tuple[str, str], float | None] = {
            ("different worlds", "ns/step"): apart,
            ("equal worlds", "ns/step"): alike,
            ("cost of divergence", "1"): apart / alike,
            ("iterations", "1/step"): mean,
            ("iterations of groups", "1/step"): groups,
        }
        rows += rows_of("batch divergence", case, different.name, values)
    return rows
