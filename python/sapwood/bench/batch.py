"""The batch suite: what a step of one of many worlds takes, beside MuJoCo's rollout and batch.

Every world has its own random controls over their full range, held for 25 steps, and begins a different number of steps
apart from its neighbours; all engines get the same controls. A turn is 25 steps of all worlds. Engines take turns in
one process, so that a noisy machine hits all of them; reported are medians of turns. The speed-up is the median time of
mujoco.rollout with pyramidal cones over that of the engine; its quartiles are over turns.

``motion`` is this; ``rest`` is without controls after 20 s of settling. ``left`` is the share of steps that lanes left
to the solver of one world, ``deepest`` the penetration that this package's geometry sees in sampled poses.

--scaling measures instead what worlds, lanes, threads, resets and divergence cost (of the gymnasium humanoid, unless
cases are named); --million makes a million steps of worlds and tells what went wrong in them.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import sapwood as sw
from sapwood.bench import batch_compare, batch_million, batch_scaling
from sapwood.bench.batch_cases import CASES
from sapwood.bench.batch_compare import Setting
from sapwood.bench.batch_engines import LANES, SapwoodBatch
from sapwood.bench.batch_rows import Row, write
from sapwood.bench.cases import MissingPackageError, installed

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco", "mjx")
OPTIONS: dict[str, dict[str, Any]] = {
    "--worlds": {"type": int, "default": 64, "help": "worlds of every engine (default: %(default)s)"},
    "--seconds": {
        "type": float,
        "default": 2.0,
        "help": "simulated time that is measured, in turns of 25 steps, at least --repetitions (default: %(default)s)",
    },
    "--state": {"choices": batch_compare.STATES, "help": "in motion or at rest (default: both)"},
    "--settle": {"type": float, "default": 20.0, "help": "simulated time before rest, s (default: %(default)s)"},
    "--threads": {"type": int, "default": 1, "help": "threads of every engine (default: %(default)s)"},
    "--precision": {"choices": ["f64", "f32", "both"], "default": "both", "help": "numbers (default: %(default)s)"},
    "--lanes": {"metavar": "N,N", "help": "worlds in a register, by comma (default: 4 and 8, of f32 8 and 16)"},
    "--most": {"type": int, "default": 16384, "help": "the most worlds of --scaling (default: %(default)s)"},
    "--scaling": {"action": "store_true", "help": "worlds, lanes, threads, memory, resets, divergence instead"},
    "--million": {"action": "store_true", "help": "a million steps of worlds, and what went wrong in them, instead"},
    "--out": {"type": Path, "metavar": "DIR", "help": "write the rows into this folder, as CSV and JSON"},
}


def run(
    peers: list[str],
    cases: list[str],
    repetitions: int,
    worlds: int = 64,
    seconds: float = 2.0,
    state: str | None = None,
    settle: float = 20.0,
    threads: int = 1,
    precision: str = "both",
    lanes: str | None = None,
    most: int = 16384,
    scaling: bool = False,
    million: bool = False,
    out: Path | None = None,
) -> list[Row]:
    """Runs the cases, prints tables, returns the rows."""
    ours = variants(precision, lanes)
    measure: Callable[[str, Path], list[Row]]
    if scaling:
        cases = ["humanoid"] if cases == list(CASES) else cases
        measure = partial(batch_scaling.measure, variants=ours, turns=repetitions, most=most, worlds=worlds)
    elif million:
        measure = partial(batch_million.measure, variants=ours, worlds=worlds, threads=threads)
        print(batch_million.HEADER)
    else:
        peers = [peer for peer in peers if peer != "mjx" or installed("jax", "mujoco-mjx")]
        states = batch_compare.STATES if state is None else (state,)
        setting = Setting(peers, worlds, seconds, settle, threads, repetitions, ours, states)
        measure = partial(batch_compare.measure, setting=setting)
        print(batch_compare.HEADER)
    rows: list[Row] = []
    name = "batch-scaling" if scaling else "batch-million" if million else "batch"
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            try:
                path = CASES[case](Path(folder))
                if not path.exists():
                    raise MissingPackageError(f"there is no {path.name}")
                rows += measure(case, path)
            except (ImportError, MissingPackageError, sw.ModelError) as error:
                print(f"{case:13} left out: {error}")
            if out is not None:
                # After each case: a run takes long, and what it has found should not be lost.
                write(out, name, rows)
    if out is not None:
        print(f"{len(rows)} rows in {out / name}.csv and .json")
    return rows


def variants(precision: str, lanes: str | None) -> list[tuple[str, int]]:
    """Precisions and lanes of ours, without those that this processor does not have."""
    precisions = ("f64", "f32") if precision == "both" else (precision,)
    model = sw.load('<mujoco><worldbody><body><joint/><geom size=".1"/></body></worldbody></mujoco>')
    found = []
    for name in precisions:
        for width in LANES[name] if lanes is None else [int(word) for word in lanes.split(",")]:
            try:
                SapwoodBatch(model, 1, name, width, 1)
            except ValueError as error:
                print(f"{name} x {width} left out: {error}")
                continue
            found.append((name, width))
    return found
