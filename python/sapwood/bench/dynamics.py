"""The dynamics suite: nanoseconds of forward and inverse dynamics of a tree, beside Pinocchio's.

Pinocchio is compiled for this machine by every compiler given; ours is compared with the faster of its builds and
conventions. Our side is a command that takes the model files as arguments and prints JSON, one object a line or a list
of them: case, kernel, ns, and median where ns is the least. The sides take turns. Reported are the median of the
turns' medians and the least of all batches. The two agree on a quiet machine. Where others share its cores they do not,
and then the ratio of the leasts is the one to read.

Before anything is timed, this package's accelerations of random states are put into Pinocchio's inverse dynamics, which
must give back the forces, and compared with what its forward dynamics and factorisations say. Its ABA is only noted,
not held to a tolerance: on long chains of ball joints it loses digits, all of them on ``snake195``.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import statistics
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import sapwood as sw
from sapwood.bench import pinocchio_build
from sapwood.bench.cases import MissingPackageError
from sapwood.bench.tree_table import Tree

__all__ = ["CASES", "OPTIONS", "PEERS", "DisagreementError", "run"]

CASES = ("humanoid", "dog", "snake36", "snake72", "snake195")
PEERS = ("pinocchio",)
OPTIONS: dict[str, dict[str, Any]] = {
    "--ours": {
        "metavar": "COMMAND",
        "default": "cargo run --release --quiet --package sapwood-multibody --example dynamics_time --",
        "help": "prints our times of the models whose files it is given (default: %(default)s)",
    },
    "--models": {
        "metavar": "FOLDER",
        "type": Path,
        "help": "take the cases from files CASE.xml here, digits after CASE allowed (default: our own characters)",
    },
    "--compilers": {
        "metavar": "NAMES",
        "default": "clang++,g++",
        "help": "what to build Pinocchio with, by comma (default: %(default)s)",
    },
}
OVER = {"maba": ("aba",), "pd+maba": ("pd+aba", "aba"), "pd+aba": ("aba",)}
"""Which kernels each is compared with for what driving the joints costs. ``pd+aba`` has armature and an explicit PD
force, ``pd+maba`` the force of stable PD and its impedance: both compute it, ``aba`` and ``maba`` are given one."""
BUSY = 1.1
"""Median over least from which the machine is called busy."""
STATES = 8
"""Random states that the calls go through in turn."""
BATCHES = 15
"""Batches of 2 ms of every kernel in a turn."""
RESIDUAL = 1e-10
"""Most that Pinocchio's inverse dynamics of our accelerations may leave, relative to the forces and the bias."""
DIFFERENCE = 1e-8
"""Most that accelerations by Pinocchio's factorisations may differ from ours, relative to the largest of a state: eps
times a condition number of 1e7 (snake195), and a margin of 5."""

Row = dict[str, str | float]


class DisagreementError(Exception):
    """The sides compute different things: their times say nothing."""


class Times(NamedTuple):
    """Nanoseconds of one kernel."""

    median: float
    least: float


def run(
    peers: list[str],
    cases: list[str],
    repetitions: int,
    ours: str = "",
    models: Path | None = None,
    compilers: str = "clang++,g++",
) -> list[Row]:
    """Runs the cases, prints a table, returns the rows."""
    binaries = build(compilers.split(",")) if "pinocchio" in peers else {}
    trees = {case: read(case, models) for case in cases}
    rows: list[Row] = []
    tables = {}
    for case, (xml, tree) in trees.items():
        states = tree.random_states(STATES)
        model = sw.load(xml)
        tables[case] = tree.table(states, [model.forward_dynamics(*state) for state in states])
        for engine, binary in binaries.items():
            answer = pinocchio_build.run(binary, tables[case], 1)
            if case == cases[0]:
                print(f"{engine}: {answer['compiler']}, {answer['simd']}")
            rows += check(case, engine, answer)

    samples: dict[tuple[str, str, str], list[Times]] = {}
    with tempfile.TemporaryDirectory() as folder:
        files = [write(Path(folder) / f"{case}.xml", xml) for case, (xml, _) in trees.items()]
        for _ in range(repetitions):
            for case, table in tables.items():
                for engine, binary in binaries.items():
                    for kernel, batches in pinocchio_build.run(binary, table, BATCHES)["times"].items():
                        sample = Times(statistics.median(batches), min(batches))
                        samples.setdefault((case, engine, kernel), []).append(sample)
            if ours:
                for case, kernel, times in our_times(ours, files):
                    samples.setdefault((case, "sapwood", kernel), []).append(times)
    return rows + report(cases, samples)


def build(compilers: list[str]) -> dict[str, Path]:
    """Engine to program, of those compilers that there are."""
    binaries = {}
    for compiler in compilers:
        binary = pinocchio_build.build(compiler)
        if binary is None:
            print(f"no {compiler}: left out")
        else:
            binaries[f"pinocchio {compiler}"] = binary
    return binaries


def read(case: str, folder: Path | None) -> tuple[str, Tree]:
    """The MJCF text of a case and its tree."""
    if folder is None:
        mjcf: Callable[[str], str] | None = getattr(getattr(sw, "characters", None), "mjcf", None)
        if mjcf is None:
            raise MissingPackageError(
                f"this package writes no characters: `sapwood write @{case} FOLDER/{case}.xml`, then --models FOLDER"
            )
        xml = mjcf(case)
    else:
        found = [path for path in sorted(folder.glob("*.xml")) if re.fullmatch(rf"{case}\d*", path.stem)]
        if len(found) != 1:
            raise MissingPackageError(f"{folder}: {len(found)} files {case}.xml (digits after {case}), expected one")
        xml = found[0].read_text()
    return xml, Tree(xml)


def write(path: Path, text: str) -> str:
    """Writes a file and returns its path."""
    path.write_text(text)
    return str(path)


def check(case: str, engine: str, answer: dict[str, Any]) -> list[Row]:
    """Raises where our accelerations are not Pinocchio's; what was compared, otherwise."""
    found = {name: math.inf if x is None else float(x) for name, x in answer["differences"].items()}
    residual = math.inf if answer["residual"] is None else float(answer["residual"])
    factorisations = max(found["crba+cholesky"], found["crba+llt"])
    if residual > RESIDUAL or factorisations > DIFFERENCE:
        raise DisagreementError(
            f"{case}, {engine}: its inverse dynamics of our accelerations leaves {residual:.1e} of the forces "
            f"(at most {RESIDUAL:.0e} expected), its factorisations differ by {factorisations:.1e} "
            f"(at most {DIFFERENCE:.0e})"
        )
    print(
        f"{case:9} {engine:18} residual {residual:.0e}; accelerations differ from ours by "
        + ", ".join(f"{name} {x:.0e}" for name, x in found.items())
    )
    rows = [row(case, engine, f"{name}, difference from sapwood's acceleration", x, "1") for name, x in found.items()]
    return [row(case, engine, "rnea, residual of sapwood's acceleration", residual, "1"), *rows]


def our_times(command: str, files: list[str]) -> list[tuple[str, str, Times]]:
    """Case, kernel and times from our command; nothing, and a note, where it cannot run."""
    try:
        done = subprocess.run([*shlex.split(command), *files], capture_output=True, text=True, check=False)
    except OSError as error:
        print(f"sapwood left out: {error}")
        return []
    if done.returncode != 0:
        print(f"sapwood left out: {command}: {done.stderr.strip()[-500:]}")
        return []
    return parse(done.stdout)


def parse(text: str) -> list[tuple[str, str, Times]]:
    """Case, kernel and times from a JSON list, or from one JSON object a line."""
    text = text.strip()
    entries = json.loads(text) if text.startswith("[") else [json.loads(line) for line in text.splitlines()]
    times = []
    for entry in entries:
        least = float(entry["ns"])
        times.append((str(entry["case"]), str(entry["kernel"]), Times(float(entry.get("median", least)), least)))
    return times


def report(cases: list[str], samples: dict[tuple[str, str, str], list[Times]]) -> list[Row]:
    """Prints the table and returns its rows."""
    rows: list[Row] = []
    excess: list[float] = []
    header = ("case", "engine", "kernel", "median ns", "least ns", "ratio", "of leasts")
    print("{:9} {:18} {:22} {:>10} {:>10} {:>7} {:>9}".format(*header))
    for case in cases:
        pooled = {
            (engine, kernel): Times(statistics.median(t.median for t in turns), min(t.least for t in turns))
            for (of, engine, kernel), turns in samples.items()
            if of == case
        }
        excess += [times.median / times.least for times in pooled.values()]
        for (engine, kernel), times in pooled.items():
            rows.append(row(case, engine, kernel, times.median, "ns/call"))
            rows.append(row(case, engine, f"{kernel}, least", times.least, "ns/call"))
            peer = fastest_peer(pooled, kernel) if engine == "sapwood" else None
            ratios = ""
            if peer is not None:
                ratio = Times(peer.median / times.median, peer.least / times.least)
                rows.append(row(case, engine, f"pinocchio's time over {kernel}", ratio.median, "1"))
                rows.append(row(case, engine, f"pinocchio's time over {kernel}, of leasts", ratio.least, "1"))
                ratios = f"{ratio.median:7.2f} {ratio.least:9.2f}"
            print(f"{case:9} {engine:18} {kernel:22} {times.median:10.1f} {times.least:10.1f} {ratios}".rstrip())
        rows += overheads(case, pooled)
    if excess and statistics.median(excess) > BUSY:
        print(f"The machine is busy (medians {statistics.median(excess):.2f} of the leasts): read the ratio of leasts.")
    return rows


def overheads(case: str, pooled: dict[tuple[str, str], Times]) -> list[Row]:
    """What driving every joint costs: the least times of our kernels over those of others, less one."""
    rows = []
    for (engine, kernel), times in pooled.items():
        for base in OVER.get(kernel, ()) if engine == "sapwood" else ():
            other = pooled.get((engine, base))
            if other is not None:
                share = times.least / other.least - 1.0
                print(f"{case:9} {kernel} over {base}: {100.0 * share:+.1f} %")
                rows.append(row(case, engine, f"{kernel} over {base}, of leasts", share, "1"))
    return rows


def fastest_peer(pooled: dict[tuple[str, str], Times], kernel: str) -> Times | None:
    """The least times, over builds and conventions, of the kernel that does what ours does: ABA for MABA."""
    name = {"maba": "aba"}.get(kernel, kernel)
    names = (name, f"{name}-world")
    found = [times for (engine, k), times in pooled.items() if engine != "sapwood" and k in names]
    return Times(min(t.median for t in found), min(t.least for t in found)) if found else None


def row(case: str, engine: str, metric: str, value: float, unit: str) -> Row:
    """One row of the result file."""
    return {"suite": "dynamics", "case": case, "engine": engine, "metric": metric, "value": value, "unit": unit}
