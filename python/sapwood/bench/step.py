"""The step suite: how long a step takes while a model falls and then lies in contact.

All engines simulate the same file with the same time step over the same time, under the same small pseudo-random
controls, in one process and one thread. What is reported is the CPU time of a step: the whole run's over its steps, the
median of repetitions that alternate between the engines.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sapwood.bench.cases import CASES, MissingPackageError
from sapwood.bench.engines import Engine, Mujoco, Sapwood

__all__ = ["CASES", "PEERS", "run"]

PEERS = ("mujoco",)
TIME = 5.0
"""Simulated time, s."""
CHUNK = 25
"""Steps between two changes of the controls."""
CONTROL = 0.1
"""Size of the controls, as a share of their range."""

Row = dict[str, str | float]


class Run(NamedTuple):
    """One run of one engine."""

    microseconds: float
    """CPU time of a step."""
    contacts: float
    """Mean over the run."""
    iterations: float
    """Mean over the run."""
    penetration: float
    """Deepest of the run, m."""
    residual: float
    """Greatest of the steps looked at, relative; 0 where the engine does not say."""


class Driving(NamedTuple):
    """How the models of a suite are driven."""

    suite: str
    share: float
    """Size of the controls, as a share of their range."""
    has_many_worlds: bool
    """Whether each turn has its own controls, else all have the same."""


def run(peers: list[str], cases: list[str], repetitions: int) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    driving = Driving("step", CONTROL, has_many_worlds=False)
    return run_driven(driving, {case: CASES[case] for case in cases}, peers, repetitions)


def run_driven(
    driving: Driving, cases: dict[str, Callable[[Path], Path]], peers: list[str], repetitions: int
) -> list[Row]:
    """Runs the cases under these controls, prints a table, returns the rows."""
    header = ("case", "engine", "µs/step", "spread", "contacts", "iterations", "deepest mm", "residual", "ratio")
    print("{:12} {:18} {:>9} {:>7} {:>9} {:>11} {:>11} {:>9} {:>6}".format(*header))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as folder:
        for case, write in cases.items():
            try:
                engines = load(write(Path(folder)), peers)
            except (ImportError, MissingPackageError) as error:
                print(f"{case:12} left out: {error}")
                continue
            rows += compare(driving, case, engines, repetitions)
    return rows


def load(path: Path, peers: list[str]) -> list[Engine]:
    """The file in every engine, ours first."""
    others: list[Engine] = [Mujoco(path, cone) for cone in ("elliptic", "pyramidal")] if "mujoco" in peers else []
    ours = Sapwood(path)
    if others:
        # Ours does not tell ranges of controls.
        ours.controls = others[0].controls
    return [ours, *others]


def compare(driving: Driving, case: str, engines: list[Engine], repetitions: int) -> list[Row]:
    """Alternating runs of the engines on one case."""
    for engine in engines:
        assert engine.timestep == engines[0].timestep, "the engines read different time steps"
        measure(engine, driving.share, seed=0)  # warm-up
    runs: dict[str, list[Run]] = {engine.name: [] for engine in engines}
    for turn in range(repetitions):
        for engine in engines:
            runs[engine.name].append(measure(engine, driving.share, seed=turn if driving.has_many_worlds else 0))
    rows: list[Row] = []
    ours = statistics.median(r.microseconds for r in runs["sapwood"])
    for name, of_engine in runs.items():
        times = [r.microseconds for r in of_engine]
        median, spread = statistics.median(times), max(times) - min(times)
        contacts, iterations = (statistics.fmean(values) for values in zip(*[r[1:3] for r in of_engine], strict=True))
        penetration, residual = max(r.penetration for r in of_engine), max(r.residual for r in of_engine)
        ratio = median / ours
        print(
            f"{case:12} {name:18} {median:9.1f} {spread:7.1f} {contacts:9.1f} {iterations:11.2f} "
            f"{1e3 * penetration:11.4f} {residual:9.1e} {ratio:6.2f}"
        )
        metrics = [
            ("time", median, "µs/step"),
            ("contacts", contacts, "1"),
            ("iterations", iterations, "1/step"),
            ("penetration", penetration, "m"),
            ("residual", residual, "1"),
            ("time over sapwood's", ratio, "1"),
        ]
        for metric, value, unit in metrics:
            row: Row = {
                "suite": driving.suite,
                "case": case,
                "engine": name,
                "metric": metric,
                "value": value,
                "unit": unit,
            }
            rows.append(row)
    return rows


def measure(engine: Engine, share: float, seed: int) -> Run:
    """One run from the default pose under controls of this share of their range."""
    rng = np.random.default_rng(7 + seed)
    chunks = max(1, round(TIME / engine.timestep / CHUNK))
    low, high = engine.controls[:, 0], engine.controls[:, 1]
    samples = []
    elapsed = 0.0
    engine.reset()
    for _ in range(chunks):
        engine.control(share * rng.uniform(low, high))
        start = time.process_time()
        engine.step(CHUNK)
        elapsed += time.process_time() - start
        samples.append(engine.sample())
    contacts, iterations, penetrations, residuals = zip(*samples, strict=True)
    return Run(
        1e6 * elapsed / (chunks * CHUNK),
        float(np.mean(contacts)),
        float(np.mean(iterations)),
        float(np.max(penetrations)),
        max((residual for residual in residuals if residual is not None), default=0.0),
    )
