"""Scenes: piles, towers, masonry, blocks whose motion is known, linkages, motions that tell time steppers apart.

Everything that moves has a name; loose bodies are cubes or spheres of 0.1 m (in towers and stacks 0.2 m) and 1 kg
unless a scene says otherwise. The same arguments give the same scene, random placements included. ``NAMES`` are the
names that :func:`mjcf` takes, such as ``tower-50``; capitals in them stand for numbers.
"""

from typing import Literal

from numpy import format_float_positional, integer

from sapwood._sapwood import SCENES as NAMES
from sapwood._sapwood import Model
from sapwood._sapwood import scene as _scene
from sapwood._sapwood import scene_mjcf as mjcf

__all__ = [
    "NAMES",
    "arch",
    "arm7",
    "billiard_balls",
    "bouncing_ball",
    "cards",
    "clutter",
    "double_pendulum",
    "flung_arm",
    "four_bar",
    "incline",
    "lopsided_ball",
    "mass_ratio",
    "mjcf",
    "rolling_ball",
    "slider",
    "soft_gripper",
    "soft_pile",
    "spinning_top",
    "spring_chain",
    "sprung_arm",
    "stacks",
    "stewart",
    "tower",
    "tumbling_body",
]


def _text(part: str | int) -> str:
    """A word or a count in a name."""
    if not isinstance(part, (str, int, integer)):
        raise TypeError(f"{type(part).__name__} in the name of a scene: expected a word or a whole number")
    return str(part)


def _number(x: float) -> str:
    """All digits, no exponent: a minus sign in it would end the number."""
    return format_float_positional(x, trim="-")


def clutter(shape: Literal["box", "sphere"], count: int) -> Model:
    """Bodies in a jittered grid, boxes turned at random, above a bin with walls; friction 0.5.

    Raises:
        ValueError: When there is no such scene.
    """
    return _scene(f"clutter-{_text(shape)}-{_text(count)}")


def tower(count: int) -> Model:
    """Cubes one upon the other, friction 1.

    Raises:
        ValueError: When the count makes no sense.
    """
    return _scene(f"tower-{_text(count)}")


def stacks(count: int, height: int = 5) -> Model:
    """Towers of this height that do not touch each other, side by side.

    Raises:
        ValueError: When a number makes no sense.
    """
    return _scene(f"stacks-{_text(count)}-{_text(height)}")


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
    return _scene(f"arch-{_text(blocks)}")


def cards(storeys: int = 3) -> Model:
    """A house of cards: pairs that lean against each other, flat ones upon them.

    Raises:
        ValueError: When the number makes no sense.
    """
    return _scene(f"cards-{_text(storeys)}")


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


def flung_arm() -> Model:
    """A thicker arm without servos and limits; the keyframe ``flung`` has it fall from near the top, turning."""
    return _scene("flung-arm")


def sprung_arm() -> Model:
    """The thicker arm with a spring and a damper at every hinge; the keyframe ``bent`` has it lean."""
    return _scene("sprung-arm")


def tumbling_body() -> Model:
    """A free box without gravity; the keyframe ``tumbling`` has it turn about its middle axis, the unstable one."""
    return _scene("tumbling-body")


def double_pendulum() -> Model:
    """Two thin rods of 1 m and 1 kg; the keyframe ``raised`` has them at 1 and 1.5 rad from hanging."""
    return _scene("double-pendulum")


def spring_chain(links: int = 10) -> Model:
    """Thin rods of 0.1 m and 0.1 kg joined by springs of 1000 N·m/rad, without damping and gravity.

    The keyframe ``bent`` has every joint bent by 0.05 rad.

    Raises:
        ValueError: When the number makes no sense.
    """
    return _scene(f"spring-chain-{_text(links)}")


def spinning_top() -> Model:
    """A top whose tip stays where it is; the keyframe ``spinning`` has it spin at 150 rad/s, leaning by 0.3 rad."""
    return _scene("spinning-top")


def rolling_ball() -> Model:
    """A ball on a level ground; the keyframe ``rolling`` has it roll along x at 1 m/s without slipping."""
    return _scene("rolling-ball")


def lopsided_ball() -> Model:
    """The same with its centre of mass 2 cm off the middle."""
    return _scene("lopsided-ball")


def billiard_balls() -> Model:
    """Two smooth, somewhat elastic balls without gravity.

    The keyframe ``struck`` has one run into the other off its middle.
    """
    return _scene("billiard-balls")


def bouncing_ball() -> Model:
    """An elastic ball that falls on a level ground."""
    return _scene("bouncing-ball")


def soft_gripper() -> Model:
    """A hand with two fingers, on servos of limited force, and a soft ball.

    Under the controls of the keyframe ``lift`` it closes on the ball and lifts it.
    """
    return _scene("soft-gripper")


def soft_pile() -> Model:
    """A soft ball that falls among 27 cubes in a bin."""
    return _scene("soft-pile")
