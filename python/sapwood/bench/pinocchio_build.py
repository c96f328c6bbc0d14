"""Builds ``benches/pinocchio`` from the headers that the ``pin`` wheel brings, and runs it."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import tempfile
from importlib import metadata
from pathlib import Path
from typing import Any

from sapwood.bench.cases import MissingPackageError
from sapwood.bench.machine import processor
from sapwood.bench.peer_sources import BuildError, cache_folder, folder_of

FLAGS = [
    "-std=c++17",
    "-O3",
    "-march=native",
    "-DNDEBUG",
    # Pinocchio's list of joint types is longer than Boost's lists are by default.
    "-DBOOST_MPL_LIMIT_LIST_SIZE=30",
    "-DBOOST_MPL_LIMIT_VECTOR_SIZE=30",
    "-DBOOST_MPL_CFG_NO_PREPROCESSED_HEADERS",
    "-DBOOST_FUSION_INVOKE_MAX_ARITY=12",
]


def headers() -> Path:
    """The include folder that holds Pinocchio, Boost and Eigen."""
    try:
        folder = Path(str(metadata.distribution("libpinocchio").locate_file("cmeel.prefix/include")))
    except metadata.PackageNotFoundError:
        raise MissingPackageError("pinocchio's headers are not installed: pip install pin") from None
    for name, package in [("pinocchio", "pin"), ("boost", "cmeel-boost"), ("eigen3", "cmeel-eigen")]:
        if not (folder / name).is_dir():
            raise MissingPackageError(f"no {name} in {folder}: pip install {package}")
    return folder


def build(compiler: str) -> Path | None:
    """The program, built by this compiler now or before; none where there is no such compiler.

    Kept in the user's cache folder under a hash of the sources, the compiler, the packages and the processor.
    """
    path = shutil.which(compiler)
    if path is None:
        return None
    sources = folder_of("pinocchio")
    include = headers()
    command = [path, *FLAGS, "-isystem", str(include), "-isystem", str(include / "eigen3")]
    binary = cache_folder() / f"pinocchio-{Path(path).name}-{_key(path, command, sources)}"
    if not binary.exists():
        print(f"building benches/pinocchio with {compiler}: a minute or two", flush=True)
        binary.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=binary.parent) as folder:
            fresh = Path(folder) / "dynamics"
            done = subprocess.run(
                [*command, str(sources / "dynamics.cpp"), "-o", str(fresh)], capture_output=True, text=True, check=False
            )
            if done.returncode != 0:
                raise BuildError(f"{compiler} failed:\n{done.stderr[-2000:]}")
            fresh.replace(binary)
    return binary


def run(binary: Path, table: str, batches: int) -> dict[str, Any]:
    """What the program says about a tree; see ``dynamics.cpp``."""
    done = subprocess.run([str(binary), str(batches)], input=table, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildError(f"{binary.name} failed: {done.stderr.strip()}")
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def _key(compiler: str, command: list[str], sources: Path) -> str:
    """A hash of all that the program depends on."""
    digest = hashlib.sha256()
    version = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True).stdout
    packages = [f"{name} {metadata.version(name)}" for name in ("libpinocchio", "cmeel-boost", "cmeel-eigen")]
    for text in [*command, version, *packages, processor()]:
        digest.update(text.encode() + b"\0")
    for source in sorted(sources.iterdir()):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:16]
