"""What the examples share: a robot to control, and pictures of a motion."""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

import sapwood as sw

Array = NDArray[np.float64]

HAND = "panda_hand_tcp"
"""The body between the Panda's fingers."""
READY = np.array([0.0, -0.785, 0.0, -2.356, 0.0, 1.571, 0.785, 0.02, 0.02])
"""The Panda's usual posture: arm, rad, and fingers, m."""


def robot(file: str) -> Path:
    """A URDF file of the package example-robot-data, such as ``panda_description/urdf/panda.urdf``."""
    try:
        data = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
    except PackageNotFoundError:
        raise SystemExit("this example needs the robot's files: pip install example-robot-data") from None
    return data / "example-robot-data" / "robots" / file


def panda() -> sw.Model:
    """Franka Emika's Panda: seven joints, and two fingers."""
    return sw.load(robot("panda_description/urdf/panda.urdf"))


def staged(model: sw.Model, points: ArrayLike = (), *, height: float = 0.0) -> sw.Model:
    """The same model for pictures: links in two colours, a ground, and red balls at points (n, 3)."""
    builder = sw.ModelBuilder.from_model(model)
    for geom in builder.geoms:
        geom.color = (0.93, 0.93, 0.95) if geom.body.index % 2 else (0.25, 0.45, 0.75)
    builder.add_ground(height=height)
    for point in np.reshape(points, (-1, 3)):
        builder.world.add_geom("sphere", 0.01, position=point, color=(0.9, 0.1, 0.1), contype=0, conaffinity=0)
    return builder.build()


def out_folder(description: str | None) -> Path:
    """The folder of ``--out``, made."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", type=Path, default=Path("out/examples"), help="folder for picture and replay")
    folder: Path = parser.parse_args().out
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def strobe(
    model: sw.Model, configurations: Iterable[Array], camera: sw.Camera, size: tuple[int, int] = (400, 300)
) -> NDArray[np.uint8]:
    """One picture of several configurations, earlier ones fainter.

    Args:
        model: What moves.
        configurations: Positions (nq,), the last in full colour.
        camera: From where.
        size: Width and height, pixels.
    """
    renderer = sw.Renderer(model, *size)
    frames = list(configurations)
    picture = renderer.render(frames[-1], camera).astype(float)
    last = renderer.render(frames[-1], camera, "bodies") > 0
    for age, q in enumerate(reversed(frames[:-1]), start=1):
        drawn, bodies = renderer.render(q, camera), renderer.render(q, camera, "bodies")
        behind = (bodies > 0) & ~last
        opacity = 0.55 * (1 - age / len(frames)) + 0.1
        picture[behind] += opacity * (drawn[behind] - picture[behind])
    return picture.astype(np.uint8)
