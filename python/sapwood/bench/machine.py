"""What figures must be read with: the machine and the versions."""

from __future__ import annotations

import os
import platform
from importlib import metadata
from pathlib import Path


def describe(packages: list[str]) -> str:
    """One line: processor, cores, load, versions of sapwood, Python and the peers."""
    versions = [f"{package} {version(package)}" for package in ["sapwood", "numpy", *packages]]
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return f"{processor()}, {os.cpu_count()} CPUs{load}; Python {platform.python_version()}, {', '.join(versions)}"


def version(package: str) -> str:
    """The installed version of a package, or a note that there is none."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """The name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
