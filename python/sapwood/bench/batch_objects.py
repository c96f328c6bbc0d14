"""Models of the batch suite in which robots meet more than a level ground: uneven ground, a box, a cube in a hand."""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib import util
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sapwood.bench.cases import MissingPackageError

if TYPE_CHECKING:
    import mujoco

BOX = 0.06
"""Half the edge of the box that an arm pushes, m."""
SAMPLES = 81
"""Samples of the uneven ground along each side: squares of 0.1 m."""
UNEVEN = 0.06
"""Height between the deepest and the highest sample, m."""
FIELD = 4.0
"""Half its side, m."""
WALLS = 3.8
"""Where its walls are, m."""


def add_ground(spec: mujoco.MjSpec, height: float) -> None:
    """A level ground that robots alone touch."""
    import mujoco

    ground = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0, conaffinity=3)
    ground.pos[2] = height


def add_uneven_ground(spec: mujoco.MjSpec, _: float) -> None:
    """A height field of smooth noise in the place of the ground, between walls: what leaves it falls for ever."""
    import mujoco

    rng = np.random.default_rng(5)
    noise = rng.uniform(size=(SAMPLES, SAMPLES))
    for _ in range(2):
        noise = np.mean([np.roll(np.roll(noise, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1)], axis=0)
    noise = (noise - noise.min()) / np.ptp(noise)
    spec.add_hfield(
        name="ground", nrow=SAMPLES, ncol=SAMPLES, size=[FIELD, FIELD, UNEVEN, 0.5], userdata=noise.ravel().tolist()
    )
    spec.worldbody.add_geom(
        type=mujoco.mjtGeom.mjGEOM_HFIELD, hfieldname="ground", pos=[0.0, 0.0, -UNEVEN / 2], contype=0, conaffinity=3
    )
    for x, y in ((1, 0), (-1, 0), (0, 1), (0, -1)):
        # Its normal, the z axis, points inwards.
        wall = spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], contype=0, conaffinity=3)
        wall.pos = [WALLS * x, WALLS * y, 0.0]
        wall.quat = [math.sqrt(0.5), math.sqrt(0.5) * y, -math.sqrt(0.5) * x, 0.0]


def add_box(spec: mujoco.MjSpec, height: float) -> None:
    """A level ground, and a box on it within reach of an arm, which both touch."""
    import mujoco

    add_ground(spec, height)
    body = spec.worldbody.add_body(name="box", pos=[0.45, 0.0, height + BOX])
    body.add_freejoint()
    body.add_geom(type=mujoco.mjtGeom.mjGEOM_BOX, size=[BOX] * 3, mass=0.5, contype=2, conaffinity=1)


def hand_with_cube(folder: Path) -> Path:
    """The Shadow hand and a cube above its palm, of gymnasium-robotics, without the picture of the cube's goal."""
    import mujoco

    package = util.find_spec("gymnasium_robotics")
    if package is None or package.origin is None:
        raise MissingPackageError("gymnasium-robotics is not installed: pip install gymnasium-robotics")
    assets = Path(package.origin).parent / "envs" / "assets"
    spec = mujoco.MjSpec.from_file(str(assets / "hand" / "manipulate_block.xml"))
    spec.delete(spec.body("target"))
    spec.meshdir = str(assets / "stls" / "hand")
    spec.texturedir = str(assets / "textures")
    spec.compile()
    path = folder / "hand_with_cube.xml"
    path.write_text(str(spec.to_xml()))
    return path


Ground = Callable[["mujoco.MjSpec", float], None]
"""Adds what a robot stands on, at this height."""
