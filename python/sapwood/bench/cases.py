"""The models of the step suite, from the packages that ship them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from sapwood import scenes


class MissingPackageError(Exception):
    """A package that ships a case is not installed."""


def folder_of(package: str) -> Path:
    """Where an installed package is."""
    spec = util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPackageError(f"{package} is not installed: pip install {package}")
    return Path(spec.origin).parent


def packaged(package: str, place: str) -> Callable[[Path], Path]:
    """A file of a package, by its place in the package's folder."""
    return lambda _: folder_of(package) / place


def example_robots() -> Path:
    """The robots of example-robot-data."""
    try:
        found = distribution("example-robot-data").locate_file("cmeel.prefix/share/example-robot-data/robots")
    except PackageNotFoundError:
        raise MissingPackageError("example-robot-data is not installed: pip install example-robot-data") from None
    return Path(str(found))


def gymnasium(name: str) -> Callable[[Path], Path]:
    """A model of gymnasium's MuJoCo environments."""
    return packaged("gymnasium", f"envs/mujoco/assets/{name}.xml")


def dm_control(name: str) -> Callable[[Path], Path]:
    """A model of dm_control's suite."""
    return packaged("dm_control", f"suite/{name}.xml")


def installed(module: str, package: str) -> bool:
    """Whether a peer is there; says so where it is not."""
    if util.find_spec(module) is not None:
        return True
    print(f"{package} left out: pip install {package}")
    return False


def _scene(name: str) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        path = folder / f"{name}.xml"
        path.write_text(scenes.mjcf(name))
        return path

    return write


CASES: dict[str, Callable[[Path], Path]] = {
    "ant": gymnasium("ant"),
    "humanoid": gymnasium("humanoid"),
    "dm_humanoid": dm_control("humanoid"),
    "tower-10": _scene("tower-10"),
}
"""Name to a function that takes a scratch folder and returns the MJCF file."""
