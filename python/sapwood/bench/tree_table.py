"""A tree as the plain text that ``benches/pinocchio`` reads, and states of it in Pinocchio's coordinates.

Ours and MuJoCo's coordinates differ from Pinocchio's in quaternions (w first, there last) and in the free joint, whose
linear velocity is in the world's axes here and in the body's there: v' = Rᵀ v, and so a' = Rᵀ a − ω × v'.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

KINDS = {0: "free", 1: "ball", 3: "revolute"}
"""MuJoCo's joint types that a table can hold."""


class UnsuitableModelError(Exception):
    """A model that is not a tree of bodies with one free, ball or hinge joint each."""


class State(NamedTuple):
    """One state in our coordinates."""

    q: Array
    v: Array
    tau: Array


class Tree:
    """A tree read from MJCF by MuJoCo."""

    def __init__(self, xml: str) -> None:
        import mujoco

        # Any: it has no types to check against.
        self._model: Any = mujoco.MjModel.from_xml_string(xml)
        self._bodies = [self._body(body) for body in range(1, self._model.nbody)]
        self._kinds = [int(kind) for kind in self._model.jnt_type]
        self.nv = int(self._model.nv)

    def _body(self, body: int) -> str:
        """The line of a body."""
        model = self._model
        if model.body_jntnum[body] != 1:
            raise UnsuitableModelError(f"{model.body(body).name}: {model.body_jntnum[body]} joints, expected one")
        joint = int(model.body_jntadr[body])
        kind = KINDS.get(int(model.jnt_type[joint]))
        if kind is None or model.jnt_pos[joint].any():
            raise UnsuitableModelError(f"{model.body(body).name}: expected a free, ball or hinge joint at its origin")
        principal = _rotation(model.body_iquat[body])
        inertia = principal @ np.diag(model.body_inertia[body]) @ principal.T
        free = kind == "free"  # its coordinates are the pose in the world
        numbers = [
            model.jnt_axis[joint] if kind == "revolute" else np.zeros(3),
            np.zeros(3) if free else model.body_pos[body],
            np.array([1.0, 0.0, 0.0, 0.0]) if free else model.body_quat[body],
            model.body_mass[body : body + 1],
            model.body_ipos[body],
            inertia[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]],
        ]
        return f"body {model.body_parentid[body]} {kind} {_text(np.concatenate(numbers))}"

    def random_states(self, count: int, seed: int = 7) -> list[State]:
        """States with positions, velocities and forces of order one, orientations uniform."""
        rng = np.random.default_rng(seed)
        states = []
        for _ in range(count):
            q = rng.normal(size=self._model.nq)
            for joint, kind in enumerate(self._kinds):
                if KINDS[kind] != "revolute":
                    quaternion = q[self._quaternion(joint)]
                    quaternion /= np.linalg.norm(quaternion)
            states.append(State(q, rng.normal(size=self.nv), rng.normal(size=self.nv)))
        return states

    def table(self, states: Iterable[State], accelerations: Iterable[Array]) -> str:
        """The text of the tree, of these states and of what they accelerate with."""
        lines = [
            f"gravity {_text(self._model.opt.gravity)}",
            *self._bodies,
            f"armature {_text(self._model.dof_armature)}",
        ]
        for state, acceleration in zip(states, accelerations, strict=True):
            q, v, tau, a = state.q.copy(), state.v.copy(), state.tau.copy(), acceleration.copy()
            for joint, kind in enumerate(self._kinds):
                if KINDS[kind] != "revolute":
                    at = self._quaternion(joint)
                    q[at] = np.roll(q[at], -1)
            for linear, angular, rotation in self._free_joints(state.q):
                v[linear] = rotation.T @ v[linear]
                tau[linear] = rotation.T @ tau[linear]
                a[linear] = rotation.T @ a[linear] - np.cross(v[angular], v[linear])
            lines.append(f"state {_text(np.concatenate([q, v, tau, a]))}")
        return "\n".join(lines) + "\n"

    def _quaternion(self, joint: int) -> slice:
        start = int(self._model.jnt_qposadr[joint]) + (3 if KINDS[self._kinds[joint]] == "free" else 0)
        return slice(start, start + 4)

    def _free_joints(self, q: Array) -> Iterable[tuple[slice, slice, Array]]:
        """For every free joint: where its linear and angular velocities are, and the rotation R of its body."""
        for joint, kind in enumerate(self._kinds):
            if KINDS[kind] == "free":
                at = int(self._model.jnt_dofadr[joint])
                yield slice(at, at + 3), slice(at + 3, at + 6), _rotation(q[self._quaternion(joint)])


def _rotation(quaternion: Array) -> Array:
    """The matrix of a unit quaternion w x y z: (w² − |u|²) 1 + 2 u uᵀ + 2 w [u]×."""
    w, u = quaternion[0], quaternion[1:]
    cross = np.array([[0.0, -u[2], u[1]], [u[2], 0.0, -u[0]], [-u[1], u[0], 0.0]])
    matrix: Array = (w * w - u @ u) * np.eye(3) + 2.0 * np.outer(u, u) + 2.0 * w * cross
    return matrix


def _text(numbers: Array) -> str:
    """Numbers that read back as the same."""
    return " ".join(repr(float(x)) for x in numbers)
