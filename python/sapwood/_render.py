"""Cameras and video."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


@dataclass(frozen=True)
class Camera:
    """A camera for ``Simulation.render`` and ``Renderer.render``. What is None is as in the model's default view.

    It looks at a point from a distance, in a direction. With ``position`` it stands there instead, and looks along the −z axis of
    its frame, with x to the right and y up.

    Args:
        lookat: The point looked at in the world, (3,), m; with ``track`` in world axes from the origin of that body.
        distance: Distance of the camera from that point, m.
        azimuth: Direction of looking about the vertical, from x, rad.
        elevation: Direction of looking above the horizon, rad: negative looks down.
        fovy: Vertical field of view, rad.
        track: A body that the camera moves with, by name or index; it does not turn.
        position: Where the camera is in the world, (3,), m.
        quaternion: Its orientation there, (4,), w x y z; None: looking straight down.
    """

    lookat: ArrayLike | None = None
    distance: float | None = None
    azimuth: float | None = None
    elevation: float | None = None
    fovy: float | None = None
    track: str | int | None = None
    position: ArrayLike | None = None
    quaternion: ArrayLike | None = None
