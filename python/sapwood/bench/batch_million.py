"""A million steps of worlds under random controls, and what went wrong in them."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import sapwood as sw
from sapwood.bench.batch_cases import CHUNK, Driver, control_ranges
from sapwood.bench.batch_engines import SapwoodBatch
from sapwood.bench.batch_rows import Row, rows_of

STEPS = 1_000_000
HEADER = "{:13} {:16} {:>6} {:>10} {:>10} {:>9} {:>9} {:>6} {:>5} {:>7}".format(
    "case", "engine", "worlds", "steps", "unsettled", "left", "left %", "failed", "NaN", "s"
)


def measure(
    case: str, path: Path, variants: list[tuple[str, int]], worlds: int, threads: int, steps: int | None = None
) -> list[Row]:
    """One case; of each precision only the widest lanes."""
    model = sw.load(path)
    rows: list[Row] = []
    for precision, lanes in dict(variants).items():
        engine = SapwoodBatch(model, worlds, precision, lanes, threads)
        driver = Driver(control_ranges(path, model.nu))
        rows += million(case, engine, driver, STEPS if steps is None else steps)
    return rows


def million(case: str, engine: SapwoodBatch, driver: Driver, steps: int) -> list[Row]:
    """So many steps of worlds; worlds that fail begin again."""
    driver.start(engine)
    before, not_finite = engine.counts(), 0
    clock = time.process_time if engine.batch.threads == 1 else time.perf_counter
    start = clock()
    for chunk in range(-(-steps // (CHUNK * engine.n))):
        driver.drive(engine, chunk)
        engine.advance()
        engine.mend()
        not_finite += engine.n - int(
            (np.isfinite(engine.batch.q).all(axis=1) & np.isfinite(engine.batch.v).all(axis=1)).sum()
        )
    elapsed = clock() - start
    now = engine.counts()
    made = now.steps - before.steps
    left, unsettled = ((a or 0) - (b or 0) for a, b in [(now.left, before.left), (now.unsettled, before.unsettled)])
    print(
        f"{case:13} {engine.name:16} {engine.n:6} {made:10,} {unsettled:10} {left:9} {100 * left / made:9.4f} "
        f"{engine.lost:6} {not_finite:5} {elapsed:7.1f}",
        flush=True,
    )
    values: dict[tuple[str, str], float | None] = {
        ("steps", "1"): made,
        ("unsettled steps", "1"): unsettled,
        ("left", "1"): left / made,
        ("failed worlds", "1"): engine.lost,
        ("worlds with NaN", "1"): not_finite,
        ("time", "s"): elapsed,
    }
    return rows_of("batch million", case, engine.name, values)
