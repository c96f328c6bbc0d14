"""Where episodes of dm_control's suite begin: a model on which beginnings are tried, and what is drawn at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

import sapwood as sw
from sapwood.gym._tasks import Array

Rng = np.random.Generator

Start = tuple[Array, Array, ArrayLike]
"""Positions, velocities, goal."""


class Stage:
    """A model on which beginnings of episodes are tried.

    Args:
        model: The model.
        model_of: The model of an episode with a goal, where it is another in every episode.
    """

    def __init__(self, model: sw.Model, model_of: Callable[[ArrayLike], sw.Model] | None = None) -> None:
        self.model = model
        self.q0: Array = np.asarray(model.keyframe().q)
        self._model_of = model_of

    def of(self, goal: ArrayLike) -> Stage:
        """The stage of an episode with a goal."""
        return Stage(self._model_of(goal)) if self._model_of else self

    @cached_property
    def simulation(self) -> sw.Simulation:
        """A world of the model."""
        return sw.Simulation(self.model)

    def index(self, joint: str) -> int:
        """Index of the first coordinate of a joint."""
        return int(self.model.joints[self.model.joint_index(joint)].q.start)

    def at(self, q: ArrayLike) -> sw.Simulation:
        """The world, at rest at a configuration."""
        self.simulation.reset()
        self.simulation.q = q
        self.simulation.v = np.zeros(self.model.nv)
        return self.simulation

    def is_free(self, q: Array) -> bool:
        """Whether nothing penetrates."""
        try:
            self.at(q).step()
        except sw.SimulationError:
            return False
        return bool((self.simulation.contacts["gap"] >= 0.0).all())

    def draw_free(self, draw: Callable[[], Start]) -> Start:
        """Draw until nothing penetrates.

        Raises:
            RuntimeError: When that does not happen.
        """
        for _ in range(1000):
            start = draw()
            if self.of(start[2]).is_free(start[0]):
                return start
        message = "no configuration without penetration in 1000 draws: expected a model whose joints have such"
        raise RuntimeError(message)

    def lifted(self, q: Array) -> Array:
        """A configuration with its third coordinate raised until nothing penetrates.

        Raises:
            RuntimeError: When that does not happen.
        """
        for _ in range(10_000):
            if self.is_free(q):
                return q
            q[2] += 0.01
        message = "no configuration without penetration 100 m higher: expected a model that has such"
        raise RuntimeError(message)

    def randomized(self, rng: Rng) -> Array:
        """Limited joints anywhere within their limits, hinges and orientations anywhere; as dm_control draws them."""
        q = self.q0.copy()
        for joint in self.model.joints:
            if joint.kind in ("revolute", "prismatic"):
                if joint.range is not None:
                    q[joint.q] = rng.uniform(*joint.range)
                elif joint.kind == "revolute":
                    q[joint.q] = rng.uniform(-math.pi, math.pi)
            elif joint.kind == "ball":
                q[joint.q] = ball(rng, joint.range)
            elif joint.kind == "free":
                # Not uniform: the quaternions of dm_control have no negative entry.
                q[joint.q][3:] = unit(rng.random(4))
        return q


def unit(vector: Array) -> Array:
    """A vector over its length."""
    scaled: Array = vector / np.linalg.norm(vector)
    return scaled


def turned(rng: Rng) -> Array:
    """The quaternion of any turn about the vertical."""
    half = 0.5 * rng.uniform(0.0, 2 * math.pi)
    return np.array([math.cos(half), 0.0, 0.0, math.sin(half)])


def ball(rng: Rng, limit: tuple[float, float] | None) -> Array:
    """Any quaternion within the limit of a ball joint."""
    if limit is None:
        return unit(rng.standard_normal(4))
    half = 0.5 * limit[1] * rng.random()
    return np.array([math.cos(half), *(math.sin(half) * unit(rng.standard_normal(3)))])
