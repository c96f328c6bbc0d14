"""A step of a batch or a simulation as a function of its start, and its derivative in coordinates."""

from __future__ import annotations

from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood._results import StepGradients
from sapwood._sapwood import Simulation

if TYPE_CHECKING:
    from sapwood._sapwood import Batch

Array = NDArray[np.float64]

LOCK = Lock()
"""Programs that differentiate may call from several threads, and a batch takes one call at a time."""


class One:
    """A simulation as a batch of one world, as far as `Steps` uses one."""

    def __init__(self, sim: Simulation) -> None:
        self.sim = sim
        self.model = sim.model

    @property
    def q(self) -> Array:
        return self.sim.q[None]

    @property
    def v(self) -> Array:
        return self.sim.v[None]

    def reset(self, states: tuple[Array, Array]) -> None:
        """Begin there; applied forces and PD control stay, what the solver remembers is forgotten."""
        numbers = self.sim.state(as_array=True)
        numbers[1 : 1 + self.model.nq + self.model.nv] = np.concatenate([x[0] for x in states])
        self.sim.restore(numbers)

    def step(self) -> None:
        self.sim.step()

    def vjp(self, q: Array, v: Array) -> StepGradients:
        jacobians, end = self.sim.step_jacobians(), np.concatenate([q[0], v[0]])
        start = end @ jacobians.A
        return StepGradients(start[None, : self.model.nv], start[None, self.model.nv :], (end @ jacobians.B)[None])


class Steps:
    """The step of a batch as a function (q, v, ctrl) ↦ (q⁺, v⁺), whatever the batch's own q, v and ctrl are."""

    def __init__(self, of: Batch | Simulation) -> None:
        """For a batch or a simulation, which the calls use as scratch."""
        self.of = of
        self.batch: Any = One(of) if isinstance(of, Simulation) else of
        model = of.model
        if of.act.size:
            raise ValueError(
                "the model's actuators have activations, for which a step has no derivative: expected a model without"
            )
        # Where quaternions are in q, their angular velocities in v, and all that is the same in both.
        self.quaternions: list[tuple[slice, slice]] = []
        plain: list[tuple[int, int]] = []
        for joint in model.joints:
            lengths = zip(range(joint.q.start, joint.q.stop), range(joint.v.start, joint.v.stop), strict=False)
            turns = {"ball": 0, "free": 3}.get(joint.kind)
            if turns is None:
                plain += lengths
            else:
                plain += list(lengths)[:turns]
                self.quaternions.append(
                    (slice(joint.q.start + turns, joint.q.stop), slice(joint.v.start + turns, joint.v.stop))
                )
        self.plain_q, self.plain_v = (list(x) for x in zip(*plain, strict=True)) if plain else ([], [])

    def begin(self, q: Array, v: Array, ctrl: Array) -> None:
        self.batch.reset(states=(q, v))
        self.of.ctrl = ctrl.reshape(self.of.ctrl.shape)

    def step(self, q: Array, v: Array, ctrl: Array) -> tuple[Array, Array]:
        """Where a step leads, (n, nq) and (n, nv); of a simulation (nq,) and (nv,)."""
        with LOCK:
            self.begin(np.atleast_2d(q), np.atleast_2d(v), ctrl)
            self.batch.step()
            return self.batch.q.reshape(q.shape).copy(), self.batch.v.reshape(v.shape).copy()

    def backward(self, q: Array, v: Array, ctrl: Array, end: Array, grad_q: Array, grad_v: Array) -> tuple[Array, ...]:
        """The gradients by q, v and ctrl of a cost whose gradients by q⁺ (which is ``end``) and v⁺ are these."""
        starts = q, v, ctrl
        q, v, end, grad_q, grad_v = (np.atleast_2d(x) for x in (q, v, end, grad_q, grad_v))
        with LOCK:
            self.begin(q, v, ctrl)
            found = self.batch.vjp(self.to_velocities(end, grad_q), grad_v)
        gradients = self.to_coordinates(q, found.q), found.v, found.ctrl
        return tuple(np.reshape(gradient, x.shape) for gradient, x in zip(gradients, starts, strict=True))

    def to_velocities(self, q: Array, grad: Array) -> Array:
        """A gradient by q as one by velocities that lead to it in unit time: dq = ½ q ∘ (0, ω) of quaternions."""
        out = np.zeros((len(q), self.batch.model.nv))
        out[:, self.plain_v] = grad[:, self.plain_q]
        for of_q, of_v in self.quaternions:
            out[:, of_v] = 0.5 * np.einsum("nij,ni->nj", turned(q[:, of_q]), grad[:, of_q])
        return out

    def to_coordinates(self, q: Array, grad: Array) -> Array:
        """The reverse: a quaternion's length does not matter to a step, so that nothing of the gradient is along it."""
        out = np.zeros((len(q), self.batch.model.nq))
        out[:, self.plain_q] = grad[:, self.plain_v]
        for of_q, of_v in self.quaternions:
            square = np.sum(q[:, of_q] ** 2, axis=1, keepdims=True)
            out[:, of_q] = 2.0 / square * np.einsum("nij,nj->ni", turned(q[:, of_q]), grad[:, of_v])
        return out


def turned(q: Array) -> Array:
    """The matrices (n, 4, 3) of ω ↦ q ∘ (0, ω)."""
    w, x, y, z = q.T
    return np.moveaxis(np.array([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]), 2, 0)
