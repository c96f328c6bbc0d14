"""A spring between a point of a body and the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from sapwood._sapwood import Simulation
    from sapwood.viewer._shapes import Scene

Point = NDArray[np.float64]

# Without an obstacle the tree that is pulled swings about the pointer at this rate, rad/s.
RATE = 9.0
# Part of what an explicit spring and damper may be on the point alone before they are unstable.
STABLE = 0.1


def rotate(quaternion: Point, vector: Point) -> Point:
    """The vector turned by a unit quaternion (w, x, y, z)."""
    w, u = quaternion[0], quaternion[1:]
    twice: Point = 2.0 * np.asarray(np.cross(u, vector), dtype=np.float64)
    return np.asarray(vector + w * twice + np.cross(u, twice), dtype=np.float64)


class Drag:
    """Pulls a point of a body towards a target by ``Simulation.applied_wrench``.

    Attributes:
        body: Index of the body.
        target: Where the point is pulled to, world, m.
        point: Where it is, world, m.
        force: The pull of the last step, world, N.
        strength: Factor on the stiffness.
    """

    sim: Simulation
    scene: Scene
    body: int
    strength: float
    point: Point
    target: Point
    force: Point

    def __init__(self, sim: Simulation, scene: Scene, body: int, point: Point, strength: float = 1.0) -> None:
        self.sim, self.scene, self.body, self.strength = sim, scene, body, strength
        position, quaternion = self._pose()
        conjugate = quaternion * [1, -1, -1, -1]
        self._local = rotate(conjugate, np.asarray(point, float) - position)
        self.point = self.target = np.asarray(point, float)
        self.force = np.zeros(3)
        self._previous: Point | None = None
        # What the user applies to the body stays.
        self._before = sim.applied_wrench[body].copy()
        self._mass, self._point_mass = self._tree_mass(), self._least_mass()

    def _pose(self) -> tuple[Point, Point]:
        poses = self.sim.model.forward_kinematics(self.sim.q)
        quaternion = poses.quaternions[self.body]
        return poses.positions[self.body], quaternion / np.linalg.norm(quaternion)

    def _tree_mass(self) -> float:
        """Mass of all that hangs together with the body."""
        parents = self.sim.model.body_parents
        roots = list(range(len(parents)))
        for body, parent in enumerate(parents[1:], start=1):
            roots[body] = body if parent == 0 else roots[parent]
        return float(sum(m for m, root in zip(self.scene.masses, roots, strict=True) if root == roots[self.body]))

    def _least_mass(self, epsilon: float = 1e-6) -> float:
        """What the point weighs in the direction in which it gives way most: 1 / λ_max(J M⁻¹ Jᵀ), kg."""
        model, q = self.sim.model, self.sim.q
        if model.nv == 0:
            return np.inf
        jacobian = np.zeros((3, model.nv))
        for i, direction in enumerate(np.eye(model.nv)):
            poses = model.forward_kinematics(model.integrate(q, epsilon * direction))
            moved = poses.positions[self.body] + rotate(poses.quaternions[self.body], self._local)
            jacobian[:, i] = (moved - self.point) / epsilon
        mobility = jacobian @ np.linalg.solve(model.mass_matrix(q), jacobian.T)
        return float(1 / max(np.linalg.eigvalsh(mobility)[-1], 1e-9))

    def apply(self) -> None:
        """Sets the wrench for the next step, of the present state."""
        sim, dt = self.sim, self.sim.timestep
        position, quaternion = self._pose()
        self.point = position + rotate(quaternion, self._local)
        velocity = np.zeros(3) if self._previous is None else (self.point - self._previous) / dt
        self._previous = self.point
        stiffness = min(self.strength * self._mass * RATE**2, STABLE * self._point_mass / dt**2)
        damping = min(1.4 * np.sqrt(stiffness * self._mass), STABLE * self._point_mass / dt)
        self.force = stiffness * (self.target - self.point) - damping * velocity
        arm = self.point - (position + rotate(quaternion, self.scene.coms[self.body]))
        sim.applied_wrench[self.body] = self._before + np.concatenate([np.cross(arm, self.force), self.force])

    def release(self) -> None:
        """Takes the pull away."""
        self.sim.applied_wrench[self.body] = self._before
