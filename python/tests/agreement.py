"""Comparison of arrays with those of another engine."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

TOLERANCE = 1e-9
"""Relative to the largest entry: far above round-off (1e-13 for 100 bodies), far below any error of modelling."""


class Worst:
    """The largest relative difference of each quantity over many states."""

    def __init__(self) -> None:
        self.errors: dict[str, float] = {}

    def compare(self, quantity: str, ours: Array, theirs: Array) -> None:
        """Notes the difference, relative to the largest entry."""
        assert ours.shape == theirs.shape, f"{quantity}: shape {ours.shape} against {theirs.shape}"
        if theirs.size == 0:
            return
        scale = float(np.abs(theirs).max())
        error = float(np.abs(ours - theirs).max())
        relative = error / scale if scale > 1e-12 else error
        self.errors[quantity] = max(self.errors.get(quantity, 0.0), relative)

    def compare_quaternions(self, quantity: str, ours: Array, theirs: Array) -> None:
        """Notes the difference of rotations; q and −q are the same."""
        sign = np.where(np.sum(ours * theirs, axis=1, keepdims=True) < 0, -1.0, 1.0)
        self.compare(quantity, ours * sign, theirs)

    def check(self, tolerance: float = TOLERANCE) -> None:
        """Fails when a quantity differs."""
        wrong = {quantity: error for quantity, error in self.errors.items() if not error <= tolerance}
        assert not wrong, f"relative differences: {wrong}"

    def __str__(self) -> str:
        return ", ".join(f"{quantity} {error:.0e}" for quantity, error in self.errors.items())


class State(NamedTuple):
    """A configuration and its velocity."""

    q: Array
    v: Array


def random_quaternion(rng: np.random.Generator) -> Array:
    """Uniform over rotations, w x y z."""
    q = rng.normal(size=4)
    return np.asarray(q / np.linalg.norm(q))


def brief(error: Exception) -> str:
    """A failure in one line of a table."""
    return " ".join(str(error).split())[:150]
