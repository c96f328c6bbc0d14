"""Scenes: piles, towers and masonry that are hard on contact solvers, blocks whose motion is known, linkages.

Everything that moves has a name; loose bodies are cubes or spheres of 0.1 m (in towers and stacks 0.2 m) and 1 kg
unless a scene says otherwise. The same arguments give the same scene, random placements included. ``NAMES`` are the
names that :func:`mjcf` takes, such as ``tower-50``; capitals in them stand for numbers.
"""

from typing import Literal

from numpy import format_float_positional

from sapwood._sapwood import SCENES as NAMES
from sapwood._sapwood import Model
from sapwood._sapwood import scene as _scene
from sapwood._sapwood import scene_mjcf as mjcf

__all__ = [
    "NAMES",
    "arch",
    "arm7",
    "cards",
    "clutter",
    "four_bar",
    "incline",
    "mass_ratio",
    "mjcf",
    "slider",
    "stacks",
    "stewart",
    "tower",
]


def _number(x: float) -> str:
    """All digits, no exponent: a minus sign in it would end the number."""
    return format_float_positional(x, trim="-")


def clutter(shape: Literal["box", "sphere"], count: int) -> Model:
    """Bodies in a jittered grid, boxes turned at random, above a bin with walls; friction 0.5.

    Raises:
        ValueError: When there is no such scene.
    """
    return _scene(f"clutter-{shape}-{count}")


def tower(count: int) -> Model:
    """Cubes one upon the other, friction 1.

    Raises:
        ValueError: When the count makes no sense.
    """
    return _scene(f"tower-{count}")


def stacks(count: int, height: int = 5) -> Model:
    """Towers of this height that do not touch each other, side by side.

    Raises:
        ValueError: When a number makes no sense.
    """
    return _scene(f"stacks-{count}-{height}")


def mass_ratio(ratio: float = 1000.0) -> Model:
    """A cube of this mass (kg) upon one of 1 kg, both of 0.1 m.

    Raises:
        ValueError: When the mass makes no sense.
    """
    return _scene(f"mass-ratio-{_number(ratio)}")


def arch(blocks: int = 11) -> Model:
    """A semicircular arch of equal wedges, held by its weight and friction 0.7; radii 0.8 and 1 m.

    Raises:
        ValueError: When the number makes no sense.
    """
    return _scene(f"arch-{blocks}")


def cards(storeys: int = 3) -> Model:
    """A house of cards: pairs that lean against each other, flat ones upon them.

    Raises:
        ValueError: When the number makes no sense.
    """
    return _scene(f"cards-{storeys}")


def incline(degrees: float, friction: float) -> Model:
    """A cube at rest on a slope that falls towards +x.

    Raises:
        ValueError: When a number makes no sense.
    """
    return _scene(f"incline-{_number(degrees)}-{_number(friction)}")


def slider(speed: float, friction: float) -> Model:
    """A cube on a level ground; the keyframe ``sliding`` has it move along x with this speed (m/s).

    Raises:
        ValueError: When a number makes no sense.
    """
    return _scene(f"slider-{_number(speed)}-{_number(friction)}")


def four_bar() -> Model:
    """A crank and a rocker joined by a coupler: one degree of freedom, a motor at the crank."""
    return _scene("four-bar")


def stewart() -> Model:
    """A platform on six legs that lengthen, each with a position servo of limited force."""
    return _scene("stewart")


def arm7() -> Model:
    """An arm of seven hinges with position servos of limited force; nothing touches."""
    return _scene("arm7")
