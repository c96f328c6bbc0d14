"""The page of benchmarks: tables made from the figures in the repository.

Figures are kept as one CSV file for each machine, a row for each value, as the suites report them with ``--json``:

    python -m sapwood.bench page --add out/step.json --machine zen4
    python -m sapwood.bench page

The first takes the rows of a run into ``docs/benchmarks/zen4.csv``, in place of those of the same suite and case; the
second writes ``docs/benchmarks.md``, and ``docs/benchmarks/batch.md``, which leads to a page of many worlds for each
machine.
"""

from __future__ import annotations

import argparse
import csv
import io
import json
import sys
from pathlib import Path
from typing import NamedTuple

from sapwood._files import write_whole
from sapwood.bench import page_batch

COLUMNS = ("suite", "case", "engine", "metric", "value", "unit")
FOLDER = Path("docs/benchmarks")
PAGE = Path("docs/benchmarks.md")
MAX_LINES = 200
"""A longer page is not read to its end."""

Row = dict[str, str]


class Table(NamedTuple):
    """One table of the page: a row for each case and engine, or for each case."""

    suite: str
    title: str
    command: str
    metrics: tuple[str, ...]
    note: str


TABLES = (
    Table(
        "motion",
        "Robots in motion",
        "sapwood bench motion",
        ("time", "time over sapwood's", "contacts", "iterations", "penetration", "residual"),
        "Random controls over their full range, changed every 25 steps; every turn is another world. "
        "5 s from the default pose. MuJoCo runs its Newton solver and Euler integrator. Medians of turns.",
    ),
    Table(
        "step",
        "Models that fall and lie",
        "sapwood bench step",
        ("time", "time over sapwood's", "contacts", "iterations", "penetration", "residual"),
        "As above, with controls of a tenth of their range: the models fall, then lie.",
    ),
    Table(
        "longest",
        "Longest steps",
        "sapwood bench longest",
        ("longest step", "mean step", "steps with the budget spent", "contacts", "penetration"),
        "Falling piles, starts inside each other and bodies over height fields, with the defaults of every engine.",
    ),
    Table(
        "contact",
        "Friction laws",
        "sapwood bench contact",
        (),
        "What each law gets wrong, by closed forms.",
    ),
    Table(
        "clutter",
        "Piles",
        "sapwood bench clutter",
        ("time", "time over sapwood's", "iterations", "penetration", "residual"),
        "Settled piles and towers.",
    ),
)


def read(folder: Path) -> dict[str, list[Row]]:
    """The rows of every machine, by its name."""
    machines = {}
    for path in sorted(folder.glob("*.csv")):
        rows = list(csv.DictReader(io.StringIO(path.read_text())))
        for line, row in enumerate(rows, start=2):
            if set(row) != set(COLUMNS) or None in row.values():
                raise ValueError(f"{path}:{line}: expected the columns {', '.join(COLUMNS)}")
        machines[path.stem] = rows
    return machines


def merged(old: list[Row], new: list[Row]) -> list[Row]:
    """The old rows with the new ones in place of those of the same suite and case."""
    measured = {(row["suite"], row["case"]) for row in new}
    return [row for row in old if (row["suite"], row["case"]) not in measured] + new


def render(machines: dict[str, list[Row]], about: dict[str, str]) -> str:
    """The page."""
    lines = [
        "# Benchmarks",
        "",
        "What was measured, on which machine, by which command. Absolute times drift with the machine; the ratios are",
        "what to compare. A ratio above 1 says that the peer takes longer. `python -m sapwood.bench page` makes this",
        "page from the figures in [benchmarks/](benchmarks), a file for each machine; what was tried on the way is in",
        "[design/](design). Dynamics of a tree alone: Pinocchio's forward dynamics takes 2.9 to 3.3 times as long,",
        "from [design/dynamics.md](design/dynamics.md) (`sapwood bench dynamics`).",
    ]
    for machine, rows in machines.items():
        lines += ["", f"# {machine}", "", about.get(machine, "")]
        for table in TABLES:
            of_suite = [row for row in rows if row["suite"] == table.suite]
            if of_suite:
                lines += [
                    "",
                    f"## {table.title}",
                    "",
                    f"`{table.command}`",
                    "",
                    table.note,
                    "",
                    *pivot(table, of_suite),
                ]
        lines += page_batch.summary(rows)
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def pivot(table: Table, rows: list[Row]) -> list[str]:
    """A row for each case and engine, a column for each metric."""
    metrics = table.metrics or tuple(dict.fromkeys(row["metric"] for row in rows))
    units = {row["metric"]: row["unit"] for row in rows}
    heads = [metric if units.get(metric, "1") == "1" else f"{metric}, {units[metric]}" for metric in metrics]
    lines = [f"| case | engine | {' | '.join(heads)} |", "| --- | --- |" + " --- |" * len(metrics)]
    values = {(row["case"], row["engine"], row["metric"]): row["value"] for row in rows}
    for case, engine in dict.fromkeys((row["case"], row["engine"]) for row in rows):
        cells = [shown(values.get((case, engine, metric))) for metric in metrics]
        lines.append(f"| {case} | {engine} | {' | '.join(cells)} |")
    return lines


def shown(value: str | None) -> str:
    """Three digits of a number."""
    if value is None:
        return "–"
    try:
        number = float(value)
    except ValueError:
        return value
    return f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"


def text_of(rows: list[Row]) -> str:
    """Rows as a CSV file."""
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def main(arguments: list[str]) -> int:
    """Takes rows in, or writes the page; returns the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m sapwood.bench page", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--add", type=Path, metavar="JSON", help="take the rows of a run in")
    parser.add_argument("--machine", help="the machine that it was made on")
    options = parser.parse_args(arguments)
    if (options.add is None) != (options.machine is None):
        parser.error("--add and --machine: expected both or none")
    try:
        if options.add is not None:
            path = FOLDER / f"{options.machine}.csv"
            old = read(FOLDER).get(options.machine, [])
            new = [{column: str(row[column]) for column in COLUMNS} for row in json.loads(options.add.read_text())]
            write_whole(path, text_of(merged(old, new)))
            print(f"{len(new)} rows in {path}")
        for name, text in pages(FOLDER).items():
            write_whole(name, text)
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def pages(folder: Path) -> dict[Path, str]:
    """The pages of the figures in a folder; a text file beside a CSV file describes the machine."""
    about = {path.stem: path.read_text().strip() for path in folder.glob("*.txt")}
    machines = read(folder)
    return {PAGE: render(machines, about), **page_batch.pages(machines, about)}
