"""The GPU suite: steps of many worlds a second on a GPU, beside MuJoCo Warp.

Every world has its own random controls over their full range, held for 25 steps, and begins with its own velocities.
All engines are measured after 300 steps, when worlds have fallen, over turns of 25 steps; reported are medians of them.
One kernel makes one step, five, or all 25. Of MuJoCo Warp a CUDA graph of 25 steps is launched.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sapwood as sw
from sapwood.bench.batch_cases import control_ranges
from sapwood.bench.cases import MissingPackageError, gymnasium, installed

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

TURN, SETTLE = 25, 12
"""Steps of a turn, and turns before the first that is measured."""

CASES: dict[str, Callable[[Path], Path]] = {
    name: gymnasium(name) for name in ("humanoid", "ant", "half_cheetah", "hopper", "walker2d")
}
PEERS = ("mujoco_warp",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--worlds": {"default": "1024,4096,16384,65536", "help": "numbers of worlds, by comma (default: %(default)s)"},
    "--device": {"default": "cuda", "help": "where ours are (default: %(default)s)"},
    "--precision": {"choices": ["f32", "f64"], "default": "f32", "help": "numbers of ours (default: %(default)s)"},
    "--contact": {"choices": ["coulomb", "lagged", "sap"], "default": "coulomb", "help": "law of friction of ours"},
    "--scheme": {"choices": ["bilinear", "symplectic-euler"], "default": "bilinear", "help": "scheme of ours"},
}
Row = dict[str, Any]


def run(
    peers: list[str],
    cases: list[str],
    repetitions: int,
    worlds: str = "1024",
    device: str = "cuda",
    precision: str = "f32",
    contact: str = "coulomb",
    scheme: str = "bilinear",
) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    has_warp = "mujoco_warp" in peers and installed("mujoco_warp", "mujoco-warp")
    rows: list[Row] = []
    print(f"{'case':13} {'engine':12} {'worlds':>7} {'a launch':>8} {'M steps/s':>9}  what became of the steps")
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            try:
                path = CASES[case](Path(folder))
                for n in [int(word) for word in worlds.split(",")]:
                    found = ours(path, n, repetitions, device, precision, contact, scheme)
                    found += mujoco_warp(path, n, repetitions) if has_warp else []
                    for row in found:
                        print(line({"case": case, "worlds": n, **row}), flush=True)
                        rows.append({"case": case, "worlds": n, **row})
            except (MissingPackageError, NotImplementedError) as error:
                print(f"{case:13} left out: {error}")
            except RuntimeError as error:
                # There is no GPU, or no compiler for it: so it is for all.
                raise MissingPackageError(str(error)) from error
    return rows


def line(row: Row) -> str:
    """A row of the table."""
    notes = ", ".join(f"{name} {value:.3g}" for name, value in row["notes"].items())
    return f"{row['case']:13} {row['engine']:12} {row['worlds']:7} {row['launch']:8} {row['rate'] / 1e6:9.2f}  {notes}"


def ours(path: Path, n: int, repetitions: int, device: str, precision: str, contact: str, scheme: str) -> list[Row]:
    """Rates of a batch: one step a launch, five, and all of a turn."""
    model = sw.load(path)
    options: dict[str, Any] = {"precision": precision, "contact": contact, "scheme": scheme}
    batch: Any = sw.Batch(model, n, device=device, **options)
    rng = np.random.default_rng(0)
    low, high = control_ranges(path, model.nu).T
    batch.v = rng.uniform(-1, 1, (n, model.nv))

    def turn(k: int) -> float:
        batch.ctrl = rng.uniform(low, high, (n, model.nu))
        batch.synchronize()
        start = time.perf_counter()
        for _ in range(TURN // k):
            batch.step(k)
        batch.synchronize()
        return time.perf_counter() - start

    for _ in range(SETTLE):
        turn(TURN)
    rows = []
    for k in (1, 5, TURN):
        before = counts(batch)
        seconds = statistics.median(turn(k) for _ in range(repetitions))
        _, iterations, unsettled, overflow, coarse, _, steps, _ = counts(batch) - before
        notes = {
            "iterations": iterations / steps,
            "unsettled": unsettled / steps,
            "no room": overflow / steps,
            "coarse": coarse / steps,
            "failed worlds": int(batch.status.numpy()[:, 5].sum()),
        }
        settings = {**options, "tolerance": 1e-3 if precision == "f32" else 1e-6, "bytes a world": batch.shared_memory}
        rate = n * TURN / seconds
        rows.append({"engine": f"ours {precision}", "launch": k, "rate": rate, "notes": notes, "settings": settings})
    return rows


def counts(batch: sw.DeviceBatch) -> NDArray[np.int64]:
    """Those of all worlds together."""
    total: NDArray[np.int64] = batch.status.numpy().astype(np.int64).sum(axis=0)
    return total


def mujoco_warp(path: Path, n: int, repetitions: int) -> list[Row]:
    """The rate of MuJoCo Warp with its own tolerance and cones, Newton's method and Euler's integrator."""
    import mujoco
    import mujoco_warp as mjw  # type: ignore[import-not-found]
    import warp as wp  # type: ignore[import-not-found]

    wp.config.quiet = True
    wp.init()
    model = mujoco.MjModel.from_xml_path(str(path))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.solver = mujoco.mjtSolver.mjSOL_NEWTON
    model.opt.iterations, model.opt.ls_iterations = 100, 50
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    on_gpu, worlds = mjw.put_model(model), mjw.put_data(model, data, nworld=n, nconmax=48, njmax=160)
    rng = np.random.default_rng(0)
    worlds.qvel.assign(rng.uniform(-1, 1, (n, model.nv)).astype(np.float32))
    mjw.step(on_gpu, worlds)
    with wp.ScopedCapture() as capture:
        for _ in range(TURN):
            mjw.step(on_gpu, worlds)
    low, high = model.actuator_ctrlrange.T

    def turn() -> float:
        worlds.ctrl.assign(rng.uniform(low, high, (n, model.nu)).astype(np.float32))
        wp.synchronize()
        start = time.perf_counter()
        wp.capture_launch(capture.graph)
        wp.synchronize()
        return time.perf_counter() - start

    for _ in range(SETTLE):
        turn()
    seconds = statistics.median(turn() for _ in range(repetitions))
    notes = {"tolerance": model.opt.tolerance}
    return [{"engine": "mujoco_warp", "launch": TURN, "rate": n * TURN / seconds, "notes": notes, "settings": {}}]
