"""What arguments of a builder have to be."""

# Values of whatever type are judged by the compiled half.
# ruff: noqa: ANN401

from __future__ import annotations

import reprlib
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood._errors import did_you_mean, listed
from sapwood._guesses import meant_arguments

JointKind: TypeAlias = Literal["revolute", "prismatic", "screw", "universal", "planar", "ball", "free"]
Shape: TypeAlias = Literal["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box"]

_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
DEFAULT_AXES: dict[str, tuple[tuple[float, float, float], ...]] = {
    "revolute": (_Z,),
    "prismatic": (_Z,),
    "screw": (_Z,),
    "universal": (_X, _Y),
    "planar": (_X, _Y, _Z),
    "ball": (),
    "free": (),
}

KINDS = {
    "continuous": "'revolute'",
    "fixed": "no joint: a body without one is fixed in its parent",
    "floating": "'free'",
    "freejoint": "'free'",
    "hinge": "'revolute'",
    "slide": "'prismatic'",
    "slider": "'prismatic'",
    "spherical": "'ball'",
}
"""What kinds of joints are called elsewhere, and here."""

SHAPES: list[str] = ["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box"]
MADE_OTHERWISE = {
    "cube": "'box', of half extents",
    "height_field": "body.add_height_field",
    "hfield": "body.add_height_field",
    "mesh": "body.add_mesh(file)",
}
"""What shapes are called elsewhere, and what makes them here."""


_REPR = reprlib.Repr()
_REPR.maxstring = _REPR.maxother = 100


def shown(value: object) -> str:
    """A value in a message: a line at most, whatever callers pass."""
    return _REPR.repr(value)


def unexpected(argument: str, known: Sequence[str]) -> str:
    """What a message says of an argument that a method does not take."""
    meant = meant_arguments(argument, known) or did_you_mean(argument, known)
    return f"there is no argument {argument!r}: {meant or f'expected one of {listed(known)}'}"


def meant(word: object, elsewhere: dict[str, str], known: Sequence[str]) -> str:
    """What a message says of a word that is none of those that are known."""
    if isinstance(word, str) and word.lower() in elsewhere:
        return f"did you mean {elsewhere[word.lower()]}?"
    near = did_you_mean(word, known) if isinstance(word, str) else None
    return near or f"expected one of {listed(known)}"


def with_context(label: str, call: Any, *arguments: Any) -> Any:
    """Call, and put what it was about before the text of an error."""
    try:
        return call(*arguments)
    except ValueError as error:
        text = str(error)
        raise ValueError(text if text.startswith(label) else f"{label}: {text}") from None
    except TypeError as error:
        # pyo3 names the argument in a note (from Python 3.11 on), which a new error would not have.
        raise TypeError(" ".join([f"{label}: {error}", *getattr(error, "__notes__", [])])) from None


def fixed(values: object) -> NDArray[np.float64]:
    """A copy that cannot be written to: an element of it is no way to change the model."""
    array = np.array(values, dtype=np.float64)
    array.flags.writeable = False
    return array


def floats(label: str, name: str, value: object) -> NDArray[np.float64]:
    try:
        array = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{label}: {name} is {shown(value)}: expected numbers") from None
    if not np.isfinite(array).all():
        raise ValueError(f"{label}: {name} is {shown(value)}: expected finite numbers")
    return array


def number_of(label: str, name: str, value: object) -> float:
    array = floats(label, name, value)
    if array.shape != ():
        raise ValueError(f"{label}: {name} has shape {array.shape}: expected one number")
    return float(array)


def at_least_zero(label: str, name: str, value: object) -> float:
    number = number_of(label, name, value)
    if number < 0:
        raise ValueError(f"{label}: {name} is {number}: expected 0 or more")
    return number


def vector_of(label: str, name: str, value: object, size: int) -> NDArray[np.float64]:
    array = floats(label, name, value)
    if array.shape != (size,):
        raise ValueError(f"{label}: {name} has shape {array.shape}: expected ({size},)")
    return array


def inertia_of(mass: object, inertia: object, com: object) -> NDArray[np.float64]:
    """Mass, centre of mass and rows of the inertia, in one array."""
    matrix = floats("inertia", "inertia", inertia)
    if matrix.shape == (3,):
        matrix = np.diag(matrix)
    if matrix.shape != (3, 3):
        raise ValueError(f"inertia has shape {matrix.shape}: expected (3,) or (3, 3)")
    if not np.allclose(matrix, matrix.T, rtol=1e-9, atol=0.0):
        raise ValueError("inertia is not symmetric: expected a symmetric matrix")
    return np.concatenate([[number_of("inertia", "mass", mass)], vector_of("inertia", "com", com, 3), matrix.ravel()])


def axes_of(label: str, kind: str, axis: ArrayLike | None, axes: ArrayLike | None) -> list[list[float]]:
    """The axes that a kind of joint needs."""
    count = len(DEFAULT_AXES[kind])
    wanted = "axis" if count == 1 else "axes"
    for name, value in (("axis", axis), ("axes", axes)):
        if value is not None and (count == 0 or name != wanted):
            expected = f"expected {wanted} of a {kind} joint" if count else f"expected none of a {kind} joint"
            raise ValueError(f"{label}: {name} is given: {expected}")
    if axis is None and axes is None:
        return [list(default) for default in DEFAULT_AXES[kind]]
    if axis is not None:
        found = vector_of(label, "axis", axis, 3)[None]
    else:
        found = floats(label, "axes", axes)
        if found.shape != (count, 3):
            raise ValueError(f"{label}: axes has shape {found.shape}: expected ({count}, 3)")
    if (np.linalg.norm(found, axis=1) == 0).any():
        raise ValueError(f"{label}: {wanted} of zero length: expected a direction")
    return cast("list[list[float]]", found.tolist())


def turn_of(label: str, quaternion: ArrayLike | None, euler: ArrayLike | None) -> NDArray[np.float64]:
    """An orientation as a quaternion."""
    if quaternion is not None and euler is not None:
        raise ValueError(f"{label}: quaternion and euler are both given: expected one of them")
    if euler is not None:
        turn = np.array([1.0, 0.0, 0.0, 0.0])
        for k, angle in enumerate(vector_of(label, "euler", euler, 3)):
            step = np.zeros(4)
            step[0], step[1 + k] = np.cos(angle / 2), np.sin(angle / 2)
            turn = product(turn, step)
        return turn
    if quaternion is None:
        return np.array([1.0, 0.0, 0.0, 0.0])
    found = vector_of(label, "quaternion", quaternion, 4)
    if not np.any(found):
        raise ValueError(f"{label}: quaternion is zero: expected (w, x, y, z) of length 1")
    return found


def segment_of(
    label: str, shape: str, sizes: list[float], fromto: ArrayLike
) -> tuple[list[float], NDArray[np.float64], NDArray[np.float64]]:
    """Sizes, position, orientation of a shape between two points; as in MJCF, z runs from the second to the first."""
    if shape not in ("capsule", "cylinder", "ellipsoid", "box"):
        raise ValueError(f"{label}: fromto is given: expected it of a capsule, cylinder, ellipsoid or box only")
    if len(sizes) != 1:
        raise ValueError(f"{label}: size has {len(sizes)} numbers: expected the radius alone, as fromto is given")
    ends = vector_of(label, "fromto", fromto, 6)
    along = ends[:3] - ends[3:]
    length = float(np.linalg.norm(along))
    if length == 0.0:
        raise ValueError(f"{label}: fromto is {shown(fromto)}: expected two points apart from each other")
    x, y, z = along / length
    across = float(np.hypot(x, y))
    turn = np.arctan2(across, z) / 2
    axis = (-y / across, x / across, 0.0) if across > 0.0 else (1.0, 0.0, 0.0)
    quaternion = np.array([np.cos(turn), *(np.sin(turn) * component for component in axis)])
    widths = sizes if shape in ("capsule", "cylinder") else 2 * sizes
    return [*widths, length / 2], (ends[:3] + ends[3:]) / 2, quaternion


def product(a: ArrayLike, b: ArrayLike) -> NDArray[np.float64]:
    """The product of two quaternions."""
    p, q = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    vector = p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:])
    return np.concatenate([[p[0] * q[0] - p[1:] @ q[1:]], vector])


def rotated(quaternion: ArrayLike, vector: NDArray[np.float64]) -> NDArray[np.float64]:
    """A vector turned by a unit quaternion."""
    q = np.asarray(quaternion, dtype=float)
    t = 2.0 * np.cross(q[1:], vector)
    return np.asarray(vector + q[0] * t + np.cross(q[1:], t), dtype=np.float64)
