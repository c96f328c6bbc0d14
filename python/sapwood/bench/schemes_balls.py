"""Balls in contact, in continuous time: equations for :mod:`sapwood.bench.schemes_systems` and laws of impact."""

from __future__ import annotations

import math

import numpy as np

from sapwood.bench.engines import Vector
from sapwood.bench.schemes_systems import cross, turned

GRAVITY = 9.81


class LopsidedBall:
    """A ball that rolls along x without slipping, its mass 1 kg off its middle; q and v as those of the free body.

    One coordinate does: the angle θ by which it has turned from where the mass is lowest. From the energy
    ½ J(θ) θ'² − m g e cos θ with J the inertia about the point of contact, J θ'' = −½ J' θ'² − m g e sin θ. With no
    offset it rolls on evenly.
    """

    def __init__(self, radius: float, offset: float, inertia: float, gravity: float = GRAVITY) -> None:
        self.evaluations = 0
        self._gravity = gravity
        self._radius, self._offset, self._inertia = radius, offset, inertia

    def _about_contact(self, angle: float) -> float:
        r, e = self._radius, self._offset
        return self._inertia + r * r + e * e - 2 * r * e * math.cos(angle)

    def _angle(self, q: Vector) -> float:
        return float(q[0] / self._radius)

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (6,)."""
        self.evaluations += 1
        angle, rate = self._angle(q), v[4]
        r, e = self._radius, self._offset
        slope = 2 * r * e * math.sin(angle)
        spin = (-0.5 * slope * rate * rate - self._gravity * e * math.sin(angle)) / self._about_contact(angle)
        return np.array([r * spin, 0.0, 0.0, 0.0, spin, 0.0])

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (7,)."""
        w, _, y, _ = q[3:]
        return np.array([v[0], 0.0, 0.0, -0.5 * y * v[4], 0.0, 0.5 * w * v[4], 0.0])

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential of any motion of the free body, rolling or not, J."""
        # The mass hangs at −offset along the body's z axis, and moves with v + ω × r.
        lever = np.array([0.0, 0.0, -self._offset])
        height = q[2] + turned(q[3:], lever)[2]
        speed = v[:3] + turned(q[3:], cross(v[3:], lever))
        return float(0.5 * speed @ speed + 0.5 * self._inertia * v[3:] @ v[3:] + self._gravity * height)


class BouncingBall:
    """A ball of 1 kg that falls and is thrown back by a spring and damper which only push (Kelvin–Voigt)."""

    def __init__(self, radius: float, stiffness: float, damping: float, weight: float = GRAVITY) -> None:
        """``weight`` is what acts during contact, N: MuJoCo lets hardly any of it act there."""
        self.evaluations = 0
        self._radius, self._stiffness, self._damping, self._weight = radius, stiffness, damping, weight

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (6,)."""
        self.evaluations += 1
        push = spring_and_damper(self._radius - q[2], -v[2], self._stiffness, self._damping)
        return np.array([0.0, 0.0, push - self._weight if push > 0 else -GRAVITY, 0.0, 0.0, 0.0])

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (7,): it does not turn."""
        del q
        return np.concatenate([v[:3], np.zeros(4)])

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential, of the spring as well, J."""
        depth = max(self._radius - q[2], 0.0)
        return float(0.5 * v[:3] @ v[:3] + GRAVITY * q[2] + 0.5 * self._stiffness * depth**2)


class Billiards:
    """Two equal smooth balls that meet without gravity; stiffness and damping are per effective mass, half of one's."""

    def __init__(self, mass: float, radius: float, stiffness: float, damping: float) -> None:
        self.evaluations = 0
        self._mass, self._radius, self._stiffness, self._damping = mass, radius, stiffness, damping

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (12,)."""
        self.evaluations += 1
        between, closing = q[7:10] - q[:3], v[6:9] - v[:3]
        distance = math.sqrt(between @ between)
        normal = between / distance
        depth = 2 * self._radius - distance
        # Relative acceleration, shared by both.
        push = 0.5 * spring_and_damper(depth, -float(closing @ normal), self._stiffness, self._damping) * normal
        return np.concatenate([-push, np.zeros(3), push, np.zeros(3)])

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (14,): they do not turn."""
        del q
        return np.concatenate([v[:3], np.zeros(4), v[6:9], np.zeros(4)])

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic, and of the spring between them, J."""
        between = q[7:10] - q[:3]
        depth = max(2 * self._radius - math.sqrt(between @ between), 0.0)
        kinetic = 0.5 * self._mass * float(v[:3] @ v[:3] + v[6:9] @ v[6:9])
        return kinetic + 0.25 * self._mass * self._stiffness * depth**2

    def momentum(self, v: Vector) -> Vector:
        """Linear, N·s."""
        return np.asarray(self._mass * (v[:3] + v[6:9]))


def spring_and_damper(depth: float, speed: float, stiffness: float, damping: float) -> float:
    """Push at this depth that grows with this speed; nothing pulls, nothing acts from afar."""
    return max(stiffness * depth + damping * speed, 0.0) if depth > 0 else 0.0
