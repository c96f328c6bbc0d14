"""Inverse kinematics within joint limits: bounded least squares by scipy, on Jacobians by Sapwood.

    min ‖p(q) − p*‖² + L² ‖2 u(q)‖²,   lower ≤ q ≤ upper

u is the vector part of the quaternion from the target's orientation to the hand's, 2u the rotation vector for small
angles; L, m, says how many metres a radian is worth.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares
from shared import HAND, READY, Array, out_folder, panda, staged

import sapwood as sw

LENGTH = 0.3
ARM = slice(0, 7)


def quaternion_between(target: Array, quaternion: Array) -> Array:
    """The turn that leads from one orientation to another, quaternion · target⁻¹, with a positive w."""
    (w, u), (v, x) = (quaternion[0], quaternion[1:]), (target[0], -target[1:])
    turn = np.concatenate([[w * v - u @ x], w * x + v * u + np.cross(u, x)])
    return turn if turn[0] >= 0 else -turn


def skew(u: Array) -> Array:
    """The matrix of u ×."""
    return np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])


@dataclass
class Solution:
    """A configuration that brings the hand to a pose, as near as it can."""

    q: Array
    error: float
    """‖p − p*‖, m."""
    angle: float
    """Between the orientations, rad."""
    evaluations: int


def solve(sim: sw.Simulation, position: Array, quaternion: Array, start: Array, *, limits: bool = True) -> Solution:
    """Brings the hand to a pose.

    Args:
        sim: The arm; its positions are overwritten.
        position: Where to, (3,), m.
        quaternion: How oriented, (4,).
        start: Where the search starts, (nq,).
        limits: Whether the joints' limits count.
    """
    hand = sim.body(HAND)
    ranges = np.array([joint.range or (-np.inf, np.inf) for joint in sim.joints])[ARM]

    def residual(q: Array) -> Array:
        sim.q[ARM] = q
        turn = quaternion_between(quaternion, hand.quaternion)
        return np.concatenate([hand.position - position, LENGTH * 2 * turn[1:]])

    def jacobian(q: Array) -> Array:
        sim.q[ARM] = q
        J = sim.jacobian(hand)[:, ARM]
        turn = quaternion_between(quaternion, hand.quaternion)
        # The quaternion turns by ½ ω turn, so its vector part by ½ (w ω − u × ω).
        return np.vstack([J[3:], LENGTH * (turn[0] * np.eye(3) - skew(turn[1:])) @ J[:3]])

    bounds = ranges.T if limits else np.full((2, 7), [[-np.inf], [np.inf]])
    sim.q = start
    found = least_squares(residual, np.clip(start[ARM], *bounds), jacobian, bounds, xtol=1e-14, ftol=1e-14, gtol=1e-12)
    sim.q[ARM] = found.x
    turn = quaternion_between(quaternion, hand.quaternion)
    return Solution(
        q=sim.q.copy(),
        error=float(np.linalg.norm(hand.position - position)),
        angle=float(2 * np.arctan2(np.linalg.norm(turn[1:]), turn[0])),
        evaluations=int(found.nfev),
    )


def grasp(x: float, y: float, z: float, tilt: float = 0.0) -> tuple[Array, Array]:
    """A pose of a hand that grasps from above, tilted about the world's y axis, rad."""
    down, lean = np.array([0.0, 1.0, 0.0, 0.0]), np.array([np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0])
    w, u = lean[0], lean[1:]
    return np.array([x, y, z]), np.concatenate([[-u @ down[1:]], w * down[1:] + np.cross(u, down[1:])])


POSES = [
    grasp(0.5, 0.0, 0.2),
    grasp(0.3, -0.45, 0.5, -0.8),
    grasp(0.65, 0.25, 0.05, -0.5),
    grasp(-0.42, 0.38, 0.51, 0.69),
]
"""Poses within reach."""


def run(out: Path | None = None) -> tuple[list[Solution], list[Solution], Solution]:
    """Solutions for the poses with limits and without, and one for a pose out of reach; a picture into a folder."""
    sim = sw.Simulation(panda())
    bounded = [solve(sim, *pose, READY) for pose in POSES]
    free = [solve(sim, *pose, READY, limits=False) for pose in POSES]
    far = solve(sim, *grasp(1.2, 0.0, 0.3), READY)
    if out is not None:
        renderer = sw.Renderer(staged(sim.model, [position for position, _ in POSES]), 200, 210)
        camera = sw.Camera(lookat=[0.15, 0, 0.35], distance=1.8, azimuth=np.deg2rad(150), elevation=np.deg2rad(-25))
        tiles = [renderer.render(solution.q, camera) for solution in bounded]
        sw.write_png(out / "inverse_kinematics.png", np.hstack(tiles))
    return bounded, free, far


if __name__ == "__main__":
    bounded, free, far = run(out_folder(__doc__))
    ranges = np.array([joint.range for joint in sw.Simulation(panda()).joints])
    for solution, other in zip(bounded, free, strict=True):
        print(f"{solution.evaluations} evaluations: off by {solution.error:.0e} m, {solution.angle:.0e} rad", end="")
        beyond = float(np.max(np.maximum(ranges[:, 0] - other.q, other.q - ranges[:, 1])))
        print(f"; without limits a joint would go {beyond:.2f} rad beyond its own" if beyond > 0 else "")
    print(f"out of reach: {far.error:.3f} m remain")
