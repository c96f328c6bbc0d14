"""The command line of the benchmarks."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from sapwood.bench import machine, step

SUITES = {"step": step}


def main(arguments: list[str] | None = None) -> int:
    """Runs a suite and prints its table; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m sapwood.bench",
        description="Sapwood beside other engines: one process, one thread, CPU time, medians of interleaved runs.",
    )
    parser.add_argument("suite", choices=sorted(SUITES), help="step: time of a simulation step, contacts, iterations")
    parser.add_argument("--peers", default="mujoco", help="engines to compare with, by comma (default: mujoco)")
    parser.add_argument("--case", action="append", metavar="NAME", help="run only this case (may be repeated)")
    parser.add_argument("--repetitions", type=int, default=7, help="runs of each engine (default: 7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows to this file")
    options = parser.parse_args(arguments)
    if options.repetitions < 1:
        parser.error(f"--repetitions {options.repetitions}: expected at least 1")
    suite = SUITES[options.suite]
    peers = [peer for peer in options.peers.split(",") if peer]
    for name, given, known in [("peers", peers, suite.PEERS), ("case", options.case or [], suite.CASES)]:
        for word in given:
            if word not in known:
                parser.error(f"--{name} {word}: expected one of {', '.join(known)}")

    print(machine.describe(peers))
    rows = suite.run(peers, options.case or list(suite.CASES), options.repetitions)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")
        print(f"{len(rows)} rows in {options.json}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
