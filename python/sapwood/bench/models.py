"""The models suite: every robot, hand, muscle and gadget that installed packages bring, a step of each beside MuJoCo's.

A case is a package; all of its MJCF and URDF files that both engines load, and in which something moves, are run from
their first key frame (or the default pose) under random controls over their full range. Both engines go their own way
under the same controls, in turns of a few steps, so that other work on the machine weighs on both. A file's ratio is
MuJoCo's CPU time over ours: above 1 this engine is faster.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sapwood as sw
from sapwood.bench.cases import MissingPackageError, folder_of
from sapwood.bench.engines import Engine, Mujoco, Sapwood

__all__ = ["CASES", "OPTIONS", "PEERS", "run"]

PEERS = ("mujoco",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--folders": {"default": "", "help": "folders of other models, by comma, in place of the packages"},
    "--steps": {"type": int, "default": 600, "help": "steps of each engine (default: %(default)s)"},
    "--limit": {"type": float, "default": 10.0, "help": "CPU time of an engine for a file, s (default: %(default)s)"},
}
CHUNK = 25
"""Steps of a turn, and between two changes of the controls."""
WARM = 2
"""Turns that are not counted: arrays still grow."""
LOST = 1e4
"""The speed from which on a run is lost, m/s or rad/s."""
SLOWEST = 25
"""How many files are named at the end."""

Row = dict[str, str | float]


CASES: dict[str, Callable[[], Path]] = {
    name: partial(folder_of, name)
    for name in ("dm_control", "gymnasium", "gymnasium_robotics", "metaworld", "robosuite", "mujoco")
}
"""Name to a function that returns the folder where the models are."""


class Compared(NamedTuple):
    """A file that was run."""

    name: str
    ours: float
    """CPU time of a step, µs."""
    theirs: float
    contacts: float
    """Points that push here, mean over the run."""
    lost: str
    """The engines whose run was lost, by comma."""

    @property
    def ratio(self) -> float:
        """MuJoCo's time over ours."""
        return self.theirs / self.ours


def run(peers: list[str], cases: list[str], repetitions: int, folders: str, steps: int, limit: float) -> list[Row]:
    """Runs all files once (``repetitions`` are the seeds: medians count), prints a table, returns the rows."""
    if "mujoco" not in peers:
        return []
    places = [(Path(folder).name, Path(folder)) for folder in folders.split(",") if folder]
    print(f"{'file':64} {'ours µs':>9} {'MuJoCo µs':>9} {'ratio':>6} {'contacts':>8}  lost")
    all_files: list[Compared] = []
    for name, place in places or list(_installed(cases)):
        for path in sorted([*place.rglob("*.xml"), *place.rglob("*.urdf")]):
            engines = load(path)
            if engines is None:
                continue
            title = f"{name}/{path.relative_to(place)}"
            runs = [drive(title, engines, seed, steps, limit) for seed in range(repetitions)]
            all_files.append(sorted(runs, key=lambda run: run.ratio)[len(runs) // 2])
            print(_line(all_files[-1]), flush=True)
    return summary(all_files)


def _installed(cases: list[str]) -> Iterator[tuple[str, Path]]:
    for name in cases:
        try:
            yield name, CASES[name]()
        except MissingPackageError as error:
            print(f"{name} left out: {error}")


def load(path: Path) -> tuple[Sapwood, Mujoco] | None:
    """The file in both engines, where both load it and something moves."""
    try:
        theirs = Mujoco(path, "pyramidal")
        ours = Sapwood(path)
    except (sw.ModelError, ValueError, OSError):
        return None
    model = ours.simulation.model
    if model.nv == 0 or model.nv != theirs.model.nv or model.nu != theirs.model.nu:
        return None
    return ours, theirs


def drive(name: str, engines: tuple[Sapwood, Mujoco], seed: int, steps: int, limit: float) -> Compared:
    """Both engines in turns from the start."""
    from mujoco import FatalError

    ours, theirs = engines
    rng = np.random.default_rng(seed)
    low, high = theirs.controls.T
    for engine in engines:
        engine.reset()
    if theirs.model.nkey:
        for engine in engines:
            engine.place(theirs.model.key_qpos[0], theirs.model.key_qvel[0])
    elapsed: dict[Engine, list[float]] = {engine: [] for engine in engines}
    contacts: list[int] = []
    lost: list[str] = []
    turns = max(WARM + 1, round(steps / CHUNK))
    for _ in range(turns):
        ctrl = rng.uniform(low, high)
        for engine in engines:
            if engine.name in lost or sum(elapsed[engine]) > limit:
                continue
            engine.control(ctrl)
            start = time.process_time()
            try:
                engine.step(CHUNK)
            except (sw.SimulationError, FatalError):
                lost.append(engine.name)
                continue
            elapsed[engine].append(time.process_time() - start)
            v = engine.v
            if not (np.isfinite(v).all() and np.abs(v).max() < LOST):
                lost.append(engine.name)
        contacts.append(ours.sample().contacts)
    turns_of = [elapsed[engine][WARM:] or elapsed[engine] or [np.nan] for engine in engines]
    ours_each, theirs_each = (1e6 * statistics.fmean(of_engine) / CHUNK for of_engine in turns_of)
    return Compared(name, ours_each, theirs_each, statistics.fmean(contacts), ",".join(lost))


def _line(file: Compared) -> str:
    return (
        f"{file.name[-64:]:64} {file.ours:9.1f} {file.theirs:9.1f} {file.ratio:6.2f} {file.contacts:8.1f}  {file.lost}"
    )


def summary(files: list[Compared]) -> list[Row]:
    """Prints what all files say together; the rows."""
    # Of a run that MuJoCo lost the rest is steps of numbers that are none.
    counted = [file for file in files if not file.lost]
    if not counted:
        print("no file that both engines load")
        return []
    ratios = [file.ratio for file in counted]
    print(
        f"{len(files)} files, {len(files) - len(counted)} lost by an engine and not counted; "
        f"median {statistics.median(ratios):.2f} times MuJoCo's speed, {sum(r < 1 for r in ratios)} below 1"
    )
    print("slowest:")
    for file in sorted(counted, key=lambda file: file.ratio)[:SLOWEST]:
        print(_line(file))
    rows: list[Row] = []
    for file in files:
        for engine, value in (("sapwood", file.ours), ("mujoco", file.theirs)):
            rows.append(
                {"suite": "models", "case": file.name, "engine": engine, "metric": "time", "value": value, "unit": "µs"}
            )
    return rows
