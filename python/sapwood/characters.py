"""Five characters, shaped like the real thing: a humanoid, a dog, and snakes of three lengths.

They have a free root and otherwise bare joints, without motors, damping, armature or limits. x points forwards, y to
the left, z up; in the default configuration the frames of all bodies are parallel to the world's, and every body has
the name of the joint that moves it.

* The humanoid (34 degrees of freedom, 60 kg) stands upright with its arms hanging down. Knees and elbows are hinges,
  the others balls; a positive angle bends the shin backwards and the forearm forwards.
* The dog (72, 30 kg) stands on its toes; all joints are balls, the toes of the front legs six below the root.
* The snakes (36, 72 and 195) lie straight, the root in the head; the keyframe ``curved`` is a serpentine.

``NAMES`` are the names that :func:`mjcf` takes.
"""

from typing import Literal

from sapwood._sapwood import CHARACTERS as NAMES
from sapwood._sapwood import Model
from sapwood._sapwood import character as _character
from sapwood._sapwood import character_mjcf as mjcf

__all__ = ["NAMES", "dog", "humanoid", "mjcf", "snake"]


def humanoid(*, ground: bool = True, self_collision: bool = False) -> Model:
    """A person of 1.67 m and 60 kg with 34 degrees of freedom.

    Args:
        ground: Whether there is a level ground at z = 0.
        self_collision: Whether bodies that are no neighbours can touch each other.
    """
    return _character("humanoid", ground=ground, self_collision=self_collision)


def dog(*, ground: bool = True, self_collision: bool = False) -> Model:
    """A dog of 0.62 m at the withers and 30 kg with 72 degrees of freedom.

    Args:
        ground: Whether there is a level ground at z = 0.
        self_collision: Whether bodies that are no neighbours can touch each other.
    """
    return _character("dog", ground=ground, self_collision=self_collision)


def snake(dofs: Literal[36, 72, 195] = 36, *, ground: bool = True, self_collision: bool = False) -> Model:
    """A snake with this number of degrees of freedom.

    Args:
        dofs: 36 (1.2 m), 72 (2.3 m) or 195 (4.5 m).
        ground: Whether there is a level ground at z = 0.
        self_collision: Whether bodies that are no neighbours can touch each other.

    Raises:
        ValueError: When there is no snake of this number.
        TypeError: When it is no whole number.
    """
    if not isinstance(dofs, int):
        raise TypeError(f"dofs is of type {type(dofs).__name__}: expected 36, 72 or 195")
    return _character(f"snake{dofs}", ground=ground, self_collision=self_collision)
