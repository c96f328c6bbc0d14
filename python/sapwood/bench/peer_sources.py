"""Peers that are built on the spot: where their sources are and where programs are kept."""

from __future__ import annotations

import os
from pathlib import Path

from sapwood.bench.cases import MissingPackageError


class BuildError(Exception):
    """A compiler or its program failed."""


def folder_of(peer: str) -> Path:
    """The folder ``benches/PEER`` of the repository: the one that holds this package, or the present folder."""
    for root in (Path(__file__).parents[3], Path.cwd()):
        if (root / "benches" / peer).is_dir():
            return root / "benches" / peer
    raise MissingPackageError(f"there is no benches/{peer} here: run this in a clone of the repository")


def cache_folder() -> Path:
    """Where programs are kept between runs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "sapwood"
