"""Things to draw that a model does not have."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from sapwood._sapwood import Simulation

_RED, _GREEN, _BLUE = (0.85, 0.2, 0.2), (0.2, 0.7, 0.25), (0.2, 0.35, 0.9)
_ORANGE = (0.95, 0.55, 0.1)
# The head of an arrow: its length as a part of the arrow's, but no more than so many radii; its radius in radii.
_HEAD, _HEAD_RADII, _HEAD_RADIUS, _HEAD_STEPS = 0.3, 6.0, 2.5, 5


class Markers:
    """What pictures (``sim.render``, ``sw.Renderer``) and the viewer (``sw.view``) show beside the model.

    They stay until :meth:`clear`, wherever the simulation goes, and are no part of its state: copies have none.
    Recordings (``sim.record()``) show at each frame what there was.

    Example::

        sim.markers.sphere((0, 0, 1), 0.05, color=(1, 0, 0))
        sim.markers.line(path)                                  # (n, 3): where the hand was
        sim.markers.arrow(hand, hand + 0.01 * force)
        sim.markers.text(hand, "hand", 0.04)
        sim.markers.trail("hand", places=500)                   # grows with each step
        rgb = sim.render()
        sim.markers.clear()
    """

    def __init__(self, sim: Simulation) -> None:
        self._sim = sim

    def __len__(self) -> int:
        """How many primitives are drawn; a text and a trail are one."""
        return self._sim._marker_count

    def __repr__(self) -> str:
        return f"<sapwood.Markers: {len(self)} primitives>"

    def sphere(self, position: ArrayLike, radius: float = 0.02, *, color: ArrayLike = _ORANGE) -> None:
        """Add a sphere, or one at each of several points.

        Args:
            position: Where, (3,) or (n, 3), m.
            radius: Its radius, m.
            color: Red, green, blue, and opacity if it is said, from 0 to 1.
        """
        self._sim._add_markers("ball", np.atleast_2d(np.asarray(position, float)), radius, color)

    def line(self, points: ArrayLike, radius: float = 0.005, *, color: ArrayLike = _ORANGE) -> None:
        """Add a line through points, (n, 3), m, as thick as ``radius``: a path, a ray."""
        self._sim._add_markers("line", np.asarray(points, float), radius, color)

    def arrow(self, start: ArrayLike, end: ArrayLike, radius: float = 0.008, *, color: ArrayLike = _ORANGE) -> None:
        """Add an arrow from one point to another, (3,), m: a force, a velocity. One without length is not drawn."""
        tail, tip = np.asarray(start, float), np.asarray(end, float)
        length = float(np.linalg.norm(tip - tail))
        if length == 0.0:
            return
        head = min(_HEAD * length, _HEAD_RADII * radius)
        neck = tip - head / length * (tip - tail)
        self._sim._add_markers("line", [tail, neck], radius, color)
        for k in range(_HEAD_STEPS):
            ends = [neck + (tip - neck) * part for part in (k / _HEAD_STEPS, (k + 1) / _HEAD_STEPS)]
            self._sim._add_markers("line", ends, _HEAD_RADIUS * radius * (1 - k / _HEAD_STEPS), color)

    def frame(self, position: ArrayLike, rotation: ArrayLike | None = None, length: float = 0.1) -> None:
        """Add axes at a point: x red, y green, z blue.

        Args:
            position: The origin, (3,), m.
            rotation: A matrix (3, 3), whose columns are the axes, such as ``sim.body(name).rotation``; the world's when
                None.
            length: Of each axis, m.
        """
        origin = np.asarray(position, float)
        axes = np.eye(3) if rotation is None else np.asarray(rotation, float)
        if axes.shape != (3, 3):
            raise ValueError(f"rotation has shape {axes.shape}: expected (3, 3), such as sim.body(name).rotation")
        for axis, color in zip(axes.T, (_RED, _GREEN, _BLUE), strict=True):
            self._sim._add_markers("line", [origin, origin + length * axis], 0.05 * length, color)

    def text(self, position: ArrayLike, text: str, height: float = 0.05, *, color: ArrayLike = (0.1, 0.1, 0.1)) -> None:
        """Add a text, upright, towards whoever looks at it, over all else.

        Args:
            position: Where its middle is, (3,), m.
            text: What it says, in one line or in several.
            height: Of capital letters, m.
            color: Red, green, blue, and opacity if it is said, from 0 to 1.
        """
        self._sim._add_label(text, np.asarray(position, float), height, color)

    def trail(
        self,
        body: str | int | None = None,
        *,
        site: str | int | None = None,
        places: int = 1000,
        radius: float = 0.004,
        color: ArrayLike = _ORANGE,
    ) -> None:
        """Add a line through the last places of a body or a site, which grows with each step.

        It begins anew where the simulation is reset or put into another state.

        Args:
            body: Whose frame it follows, by name or index.
            site: Which site it follows, in the place of a body.
            places: How many it keeps. Those that are closer than ``radius`` are one.
            radius: Of the line, m.
            color: Red, green, blue, and opacity if it is said, from 0 to 1.
        """
        if (body is None) == (site is None):
            raise TypeError('trail: expected either a body or a site, such as trail("hand") or trail(site="tip")')
        if site is not None:
            self._sim._add_trail("site", self._sim.site(site).index, places, radius, color)
        elif body is not None:
            self._sim._add_trail("body", self._sim.body(body).index, places, radius, color)

    def clear(self) -> None:
        """Take all of them away."""
        self._sim._clear_markers()
