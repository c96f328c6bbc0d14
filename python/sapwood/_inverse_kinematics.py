"""What ``inverse_kinematics`` is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from sapwood._first_words import with_advice

if TYPE_CHECKING:
    from sapwood._sapwood import BodyView, SiteView


@with_advice
@dataclass(frozen=True)
class PoseTarget:
    """Where a frame of a body or a site should be in the world."""

    body: str | int | BodyView | None = None
    """The body, by name, index or view; this or ``site``."""
    site: str | int | SiteView | None = None
    """The site."""
    position: ArrayLike | None = None
    """Where the frame's origin should be, (3,) or, for each of n solutions, (n, 3), m; None leaves it free."""
    quaternion: ArrayLike | None = None
    """How it should be oriented, w x y z, (4,) or (n, 4); None leaves it free."""
    position_weight: ArrayLike = 1.0
    """Factor on the position's error, 1/m, one or (3,) along the world's axes; 0 leaves a direction free."""
    orientation_weight: ArrayLike = 1.0
    """Factor on the angle, 1/rad, one or (3,) about the target's axes; 0 leaves an axis free."""
    frame_position: ArrayLike | None = None
    """The frame's origin in the body or the site, (3,), m; None: their own."""
    frame_quaternion: ArrayLike | None = None
    """The frame's orientation in the body or the site, (4,), w x y z; None: theirs."""
