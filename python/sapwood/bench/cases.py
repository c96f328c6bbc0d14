"""The models of the step suite, from the packages that ship them."""

from __future__ import annotations

from collections.abc import Callable
from importlib import util
from pathlib import Path


class MissingPackageError(Exception):
    """A package that ships a case is not installed."""


def _folder(package: str) -> Path:
    spec = util.find_spec(package)
    if spec is None or spec.origin is None:
        raise MissingPackageError(f"{package} is not installed: pip install {package}")
    return Path(spec.origin).parent


def _gymnasium(name: str) -> Callable[[Path], Path]:
    return lambda _: _folder("gymnasium") / "envs" / "mujoco" / "assets" / f"{name}.xml"


def _dm_control(name: str) -> Callable[[Path], Path]:
    return lambda _: _folder("dm_control") / "suite" / f"{name}.xml"


def tower(folder: Path, count: int = 10) -> Path:
    """Writes a tower of cubes of 0.2 m and 1 kg, one upon the other, time step 5 ms."""
    boxes = "\n".join(
        f'    <body name="box{i}" pos="0 0 {0.1 + 0.2 * i}"><freejoint/>'
        '<geom type="box" size="0.1 0.1 0.1" mass="1"/></body>'
        for i in range(count)
    )
    path = folder / f"tower-{count}.xml"
    path.write_text(f"""<mujoco model="tower of {count} boxes">
  <option timestep="0.005"/>
  <worldbody>
    <geom name="ground" type="plane" size="5 5 1"/>
{boxes}
  </worldbody>
</mujoco>
""")
    return path


CASES: dict[str, Callable[[Path], Path]] = {
    "ant": _gymnasium("ant"),
    "humanoid": _gymnasium("humanoid"),
    "dm_humanoid": _dm_control("humanoid"),
    "tower-10": tower,
}
"""Name to a function that takes a scratch folder and returns the MJCF file."""
