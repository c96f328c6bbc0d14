"""Rows of the batch suite."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

from sapwood._files import write_whole

Row = dict[str, str | float]


def rows_of(suite: str, case: str, engine: str, values: dict[tuple[str, str], float | None]) -> list[Row]:
    """A row for each value, by metric and unit; None has no row."""
    where = {"suite": suite, "case": case, "engine": engine}
    return [
        {**where, "metric": metric, "value": value, "unit": unit}
        for (metric, unit), value in values.items()
        if value is not None
    ]


def write(folder: Path, name: str, rows: list[Row]) -> None:
    """The rows so far as CSV and JSON."""
    folder.mkdir(parents=True, exist_ok=True)
    table = io.StringIO()
    writer = csv.DictWriter(table, ["suite", "case", "engine", "metric", "value", "unit"], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    for ending, text in [("csv", table.getvalue()), ("json", json.dumps(rows, indent=1) + "\n")]:
        write_whole(folder / f"{name}.{ending}", text)
