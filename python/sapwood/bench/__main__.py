"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import sys
from pathlib import Path
from types import ModuleType

from sapwood._files import check_place, write_whole
from sapwood.bench import (
    batch,
    clutter,
    contact,
    deformables,
    dynamics,
    gpu,
    imitation,
    inverse_kinematics,
    longest,
    machine,
    models,
    motion,
    page,
    schemes,
    starts,
    step,
    strangers,
)
from sapwood.bench.cases import MissingPackageError
from sapwood.bench.peer_sources import BuildError
from sapwood.bench.tree_table import UnsuitableModelError

SUITES: dict[str, ModuleType] = {
    "batch": batch,
    "clutter": clutter,
    "contact": contact,
    "deformables": deformables,
    "dynamics": dynamics,
    "gpu": gpu,
    "imitation": imitation,
    "inverse-kinematics": inverse_kinematics,
    "longest": longest,
    "models": models,
    "motion": motion,
    "schemes": schemes,
    "starts": starts,
    "step": step,
    "strangers": strangers,
}
"""Modules with CASES, PEERS and run(peers, cases, repetitions, ...); OPTIONS names what else run takes."""
PACKAGES = {"pinocchio": ["pin"], "rapier": [], "host": [], "mjx": ["mujoco-mjx"]}
"""Packages of peers that are called otherwise; Rapier is none of Python's, and the kernels on the host are ours."""
IN_THE_PROGRAM = ("spd", "characters")
"""Suites that compare with no other engine."""


def main(arguments: list[str] | None = None) -> int:
    """Runs a suite and prints its table; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m sapwood.bench",
        description="Sapwood beside other engines: one run, one thread, CPU time, medians of interleaved runs.",
        epilog=f"The suites {' and '.join(IN_THE_PROGRAM)} are in the program, sapwood bench, which runs these too. "
        "page writes docs/benchmarks.md.",
    )
    commands = parser.add_subparsers(dest="suite", metavar="SUITE", required=True)
    for name, suite in SUITES.items():
        title = (suite.__doc__ or "").splitlines()[0]
        add_options(commands.add_parser(name, help=title, description=suite.__doc__), suite)
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] == "page":
        return page.main(arguments[1:])
    if arguments and arguments[0] in IN_THE_PROGRAM:
        parser.error(f"{arguments[0]} is in the program: sapwood bench {' '.join(arguments)}")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error(f"--repetitions {options.repetitions}: expected at least 1")
    suite = SUITES[options.suite]
    peers = [peer for peer in options.peers.split(",") if peer]
    for name, given, known in [("peers", peers, suite.PEERS), ("case", options.case or [], suite.CASES)]:
        for word in given:
            if word not in known:
                near = difflib.get_close_matches(word, known, n=3)
                hint = f"did you mean {' or '.join(near)}? " if near else ""
                parser.error(f"--{name} {word}: {hint}expected one of {', '.join(known)}")

    if options.json:
        try:
            # Not at the end of a measurement.
            check_place(options.json)
        except OSError as error:
            parser.error(f"--json {options.json}: cannot be written ({error.strerror})")

    try:
        return measure(options, suite, peers)
    except KeyboardInterrupt:
        print(f"error: interrupted: bench {options.suite} has written nothing", file=sys.stderr)
        return 130


def measure(options: argparse.Namespace, suite: ModuleType, peers: list[str]) -> int:
    """Runs a suite with the options that were read; returns the exit code."""
    # Rows on standard output have it for themselves.
    to_stdout = options.json == Path("-")
    tables = sys.stderr if to_stdout else sys.stdout
    names = [flag.removeprefix("--") for flag in getattr(suite, "OPTIONS", {})]
    extra = {name: getattr(options, name) for name in names}
    try:
        with contextlib.redirect_stdout(tables):
            print(machine.describe([package for peer in peers for package in PACKAGES.get(peer, [peer])]))
            rows = suite.run(peers, options.case or list(suite.CASES), options.repetitions, **extra)
    except (MissingPackageError, BuildError, UnsuitableModelError, dynamics.DisagreementError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if to_stdout:
        print(json.dumps(rows, indent=1))
    elif options.json:
        try:
            write_whole(options.json, json.dumps(rows, indent=1) + "\n")
        except OSError as error:
            print(f"error: {options.json}: cannot be written ({error}): a file that was there is kept", file=sys.stderr)
            return 2
        print(f"{len(rows)} rows in {options.json}")
    return 0


def add_options(parser: argparse.ArgumentParser, suite: ModuleType) -> None:
    """The options of a suite."""
    peers = ",".join(suite.PEERS)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--peers", default=peers, help="engines to compare with, by comma (default: %(default)s)")
    parser.add_argument("--case", action="append", metavar="NAME", help="run only this case (may be repeated)")
    parser.add_argument("--repetitions", type=int, default=7, help="turns of each engine (default: %(default)s)")
    parser.add_argument(
        "--json",
        type=Path,
        nargs="?",
        const=Path("-"),
        metavar="FILE",
        help="write the rows to this file, or without one to standard output (tables then go to standard error)",
    )
    for flag, keywords in getattr(suite, "OPTIONS", {}).items():
        parser.add_argument(flag, **keywords)


if __name__ == "__main__":
    sys.exit(main())
