"""The table of ARCHITECTURE.md leads to files that are there and to names that these have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PATH = re.compile(r"[\w./#\[\]-]*(?:\.(?:rs|py|pyi|ts|md|h)|/)")


def places() -> Iterator[tuple[str, list[Path], list[str]]]:
    """Of each path in the table: what is written, where it may be, and the names that are said to be there."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").split("## Where a change goes")[1]
    for row in filter(lambda line: line.startswith("|"), text.splitlines()):
        beside = ROOT
        for written in re.findall(r"`([^`]+)`", row):
            path, _, names = written.partition(":")
            if not PATH.fullmatch(path):
                continue
            folders = [ROOT / "crates", ROOT] if "/" in path else []
            kernels = [ROOT / "crates/gpu/kernels"] if path.endswith(".h") else []
            all_places = [folder / path for folder in [*folders, beside, beside.parent, *kernels]]
            found = next((place for place in all_places if place.exists()), None)
            if found is not None and not path.endswith(".h"):
                beside = found.parent
            yield written, all_places, [name.strip().split("::")[-1] for name in names.split(",") if name.strip()]


def test_what_the_table_names_is_there() -> None:
    seen = list(places())
    lost = [written for written, where, _ in seen if not any(place.exists() for place in where)]
    assert not lost
    assert len(seen) > 150
    for written, where, names in seen:
        file = next(place for place in where if place.exists())
        if names and file.is_file():
            text = file.read_text(encoding="utf-8")
            unknown = [name for name in names if not re.search(rf"\b{re.escape(name)}\b", text)]
            assert not unknown, f"{written}: {file.relative_to(ROOT)} has no {unknown}"
