"""Equations of motion in continuous time, by other hands or in the few lines that theory needs, and their solution.

A system speaks of positions and velocities in MuJoCo's layout. Trees of joints are Pinocchio's articulated bodies, from
MuJoCo's reading of the scene; the others are written out. SciPy's DOP853 solves them.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from sapwood.bench.engines import Vector

TOLERANCE = 1e-13
"""Relative, of the solver; the absolute one is a tenth of it."""


class System(Protocol):
    """A mechanical system without input; ``evaluations`` counts the calls of ``acceleration``."""

    evaluations: int

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (nv,)."""

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (nq,)."""

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential, J."""


def solve(
    system: System, q: Vector, v: Vector, times: list[float], tolerance: float = TOLERANCE, longest: float = math.inf
) -> list[tuple[Vector, Vector]]:
    """The states at times above 0, in order, from q and v at 0; no step of the solver is above ``longest``, s."""
    from scipy.integrate import solve_ivp

    n = len(q)

    def rate(_: float, x: Vector) -> Vector:
        return np.concatenate([system.velocity(x[:n], x[n:]), system.acceleration(x[:n], x[n:])])

    start, span = np.concatenate([q, v]), (0.0, times[-1])
    options = {"rtol": tolerance, "atol": 0.1 * tolerance, "max_step": longest}
    solution = solve_ivp(rate, span, start, method="DOP853", t_eval=times, **options)
    if not solution.success:
        raise ArithmeticError(f"DOP853: {solution.message}")
    return [(x[:n], x[n:]) for x in solution.y.T]


def halving_rk4(system: System, q: Vector, v: Vector, duration: float, accuracy: float) -> tuple[Vector, Vector]:
    """The state after ``duration``, s, by the classical Runge–Kutta method with steps that are halved to see the error.

    A step is taken twice, at once and in two halves, which share their first evaluation: 11 in all. A fifteenth of the
    difference, the error of the halves, is kept below ``accuracy`` in every coordinate per step, and added to the
    result (Press and others, *Numerical Recipes*).
    """
    n = len(q)

    def rate(x: Vector) -> Vector:
        return np.concatenate([system.velocity(x[:n], x[n:]), system.acceleration(x[:n], x[n:])])

    def step(x: Vector, k1: Vector, h: float) -> Vector:
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        return np.asarray(x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4))

    x, t, h = np.concatenate([q, v]), 0.0, min(duration, 1e-3)
    while t < duration:
        h = min(h, duration - t)
        first = rate(x)
        middle = step(x, first, h / 2)
        fine = step(middle, rate(middle), h / 2)
        correction = (fine - step(x, first, h)) / 15
        error = float(np.abs(correction).max()) / accuracy
        if error <= 1:
            t, x = t + h, fine + correction
        if math.isfinite(error):
            h *= min(5.0, max(0.2, 0.9 * max(error, 1e-10) ** -0.2))
        else:
            h *= 0.2
    return x[:n], x[n:]


class Articulated:
    """A tree of joints with springs and dampers: Pinocchio's articulated-body algorithm.

    Joints are one at a body, at its origin; MuJoCo compiles the text, so that inertias of geoms are its own.
    """

    def __init__(self, text: str) -> None:
        import mujoco
        import pinocchio

        self.evaluations = 0
        self._pin = pinocchio
        compiled = mujoco.MjModel.from_xml_string(text)
        self._model = pinocchio.Model()
        self._model.gravity.linear = np.array(compiled.opt.gravity)
        nodes = [0] * compiled.nbody
        for body in range(1, compiled.nbody):
            nodes[body] = self._add(compiled, body, nodes[compiled.body_parentid[body]])
        self._data = self._model.createData()
        self._model.armature = np.array(compiled.dof_armature)
        self._joints = [(int(kind), int(q), int(v)) for kind, q, v in joint_rows(compiled)]
        self._stiffness = np.array(compiled.jnt_stiffness).reshape(compiled.njnt, -1)[:, 0]
        self._damping = np.array(compiled.dof_damping).reshape(compiled.nv, -1)[:, 0]
        self._rest = np.array(compiled.qpos_spring)

    def _add(self, compiled: Any, body: int, parent: int) -> int:  # noqa: ANN401
        pin = self._pin
        if compiled.body_jntnum[body] != 1:
            raise ValueError(f"body {body}: expected one joint, found {compiled.body_jntnum[body]}")
        joint = int(compiled.body_jntadr[body])
        if np.any(compiled.jnt_pos[joint]):
            raise ValueError(f"joint {joint}: expected it at the origin of its body")
        kind = compiled.jnt_type[joint]
        place = pin.SE3(pin.Quaternion(*compiled.body_quat[body]).matrix(), np.array(compiled.body_pos[body]))
        models = {
            FREE: pin.JointModelFreeFlyer,
            BALL: pin.JointModelSpherical,
            HINGE: lambda: pin.JointModelRevoluteUnaligned(np.array(compiled.jnt_axis[joint])),
        }
        # The coordinates of a free joint are those of the world.
        node = self._model.addJoint(parent, models[kind](), pin.SE3.Identity() if kind == FREE else place, f"{joint}")
        axes = pin.Quaternion(*compiled.body_iquat[body]).matrix()
        inertia = axes @ np.diag(compiled.body_inertia[body]) @ axes.T
        inertia = pin.Inertia(float(compiled.body_mass[body]), np.array(compiled.body_ipos[body]), inertia)
        self._model.appendBodyToJoint(node, inertia, pin.SE3.Identity())
        return int(node)

    def _their(self, q: Vector, v: Vector) -> tuple[Vector, Vector]:
        """Quaternions with w last, of length 1; the velocity of a free body in its own axes."""
        their_q, their_v = q.copy(), v.copy()
        for kind, iq, iv in self._joints:
            if kind != HINGE:
                at = iq + 3 * (kind == FREE)
                w, x, y, z = q[at : at + 4] / math.sqrt(q[at : at + 4] @ q[at : at + 4])
                their_q[at : at + 4] = x, y, z, w
            if kind == FREE:
                their_v[iv : iv + 3] = turned(q[iq + 3 : iq + 7] * BACK, v[iv : iv + 3])
        return their_q, their_v

    def _springs(self, q: Vector) -> list[tuple[slice, Vector]]:
        """Stiffness times how far every joint is from rest: where it acts, N·m."""
        found = []
        for (kind, iq, iv), stiffness in zip(self._joints, self._stiffness, strict=True):
            if stiffness and kind == HINGE:
                found.append((slice(iv, iv + 1), stiffness * (q[iq : iq + 1] - self._rest[iq : iq + 1])))
            elif stiffness and kind == BALL:
                away = rotation_vector(product(self._rest[iq : iq + 4] * BACK, q[iq : iq + 4]))
                found.append((slice(iv, iv + 3), stiffness * away))
        return found

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (nv,)."""
        self.evaluations += 1
        torque = -self._damping * v
        for where, force in self._springs(q):
            torque[where] -= force
        acceleration = np.array(self._pin.aba(self._model, self._data, *self._their(q, v), torque))
        for kind, iq, iv in self._joints:
            if kind == FREE:
                quaternion, spin = q[iq + 3 : iq + 7], v[iv + 3 : iv + 6]
                own = acceleration[iv : iv + 3] + cross(spin, turned(quaternion * BACK, v[iv : iv + 3]))
                acceleration[iv : iv + 3] = turned(quaternion, own)
        return acceleration

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (nq,)."""
        rate = np.empty_like(q)
        for kind, iq, iv in self._joints:
            if kind == HINGE:
                rate[iq] = v[iv]
                continue
            if kind == FREE:
                rate[iq : iq + 3] = v[iv : iv + 3]
                iq, iv = iq + 3, iv + 3
            rate[iq : iq + 4] = quaternion_rate(q[iq : iq + 4], v[iv : iv + 3])
        return rate

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential, J."""
        their_q, their_v = self._their(q, v)
        kinetic = self._pin.computeKineticEnergy(self._model, self._data, their_q, their_v)
        potential = self._pin.computePotentialEnergy(self._model, self._data, their_q)
        stiffness = dict(zip((joint[2] for joint in self._joints), self._stiffness, strict=True))
        springs = sum(0.5 * float(force @ force) / stiffness[where.start] for where, force in self._springs(q))
        return float(kinetic + potential + springs)


class FreeBody:
    """Euler's equations of a free rigid body without gravity, whose principal axes are its own."""

    def __init__(self, mass: float, inertia: tuple[float, float, float]) -> None:
        self.evaluations = 0
        self.mass, self.inertia = mass, np.array(inertia)

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (6,)."""
        del q
        self.evaluations += 1
        spin = v[3:]
        return np.concatenate([np.zeros(3), -cross(spin, self.inertia * spin) / self.inertia])

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (7,)."""
        return np.concatenate([v[:3], quaternion_rate(q[3:], v[3:])])

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic, J."""
        del q
        return 0.5 * float(self.mass * v[:3] @ v[:3] + v[3:] @ (self.inertia * v[3:]))

    def angular_momentum(self, q: Vector, v: Vector) -> Vector:
        """About the centre of mass, in world axes, N·m·s."""
        return turned(q[3:], self.inertia * v[3:])


class DoublePendulum:
    """Two equal thin rods; q are the angle of the first and that of the second against the first."""

    GRAVITY, LENGTH, MASS = 9.81, 1.0, 1.0

    def __init__(self) -> None:
        self.evaluations = 0

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (2,)."""
        self.evaluations += 1
        # Lagrange's equations in the angles from the vertical, over m L².
        a, b = q[0], q[0] + q[1]
        rate_a, rate_b = v[0], v[0] + v[1]
        couple, pull = 0.5 * math.cos(a - b), self.GRAVITY / self.LENGTH
        right_a = -0.5 * math.sin(a - b) * rate_b**2 - 1.5 * pull * math.sin(a)
        right_b = 0.5 * math.sin(a - b) * rate_a**2 - 0.5 * pull * math.sin(b)
        matrix = np.array([[4 / 3, couple], [couple, 1 / 3]])
        first, second = np.linalg.solve(matrix, [right_a, right_b])
        return np.array([first, second - first])

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (2,)."""
        del q
        return v

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential, J."""
        a, b = q[0], q[0] + q[1]
        rate_a, rate_b = v[0], v[0] + v[1]
        kinetic = 2 / 3 * rate_a**2 + rate_b**2 / 6 + 0.5 * math.cos(a - b) * rate_a * rate_b
        potential = -self.GRAVITY / self.LENGTH * (1.5 * math.cos(a) + 0.5 * math.cos(b))
        return float(self.MASS * self.LENGTH**2 * (kinetic + potential))


class Top:
    """A symmetric top whose tip is fixed: Euler's equations about the tip in the body's axes."""

    def __init__(self, mass: float, height: float, across: float, along: float) -> None:
        self.evaluations = 0
        self._weight, self._height = 9.81 * mass, height
        self.inertia = np.array([across, across, along])

    def acceleration(self, q: Vector, v: Vector) -> Vector:
        """dv/dt, (3,)."""
        self.evaluations += 1
        x, y, _ = self._weight * self._height * turned(q * BACK, np.array([0.0, 0.0, 1.0]))
        # h e_z × (−weight) in the body's axes.
        torque = np.array([y, -x, 0.0])
        return np.asarray((torque - cross(v, self.inertia * v)) / self.inertia)

    def velocity(self, q: Vector, v: Vector) -> Vector:
        """dq/dt, (4,)."""
        return quaternion_rate(q, v)

    def energy(self, q: Vector, v: Vector) -> float:
        """Kinetic and potential, J."""
        up = turned(q, np.array([0.0, 0.0, 1.0]))[2]
        return float(0.5 * v @ (self.inertia * v) + self._weight * self._height * up)


FREE, BALL, HINGE = 0, 1, 3
"""MuJoCo's numbers of the joints."""
BACK = np.array([1.0, -1.0, -1.0, -1.0])
"""Times this, a unit quaternion is its inverse."""


def joint_rows(compiled: Any) -> zip[tuple[int, int, int]]:  # noqa: ANN401
    """Kind, first position and first velocity of every joint of a model of MuJoCo."""
    return zip(compiled.jnt_type, compiled.jnt_qposadr, compiled.jnt_dofadr, strict=True)


def product(a: Vector, b: Vector) -> Vector:
    """Of quaternions w x y z."""
    (w, x, y, z), (s, i, j, k) = a, b
    return np.array(
        [
            w * s - x * i - y * j - z * k,
            w * i + x * s + y * k - z * j,
            w * j - x * k + y * s + z * i,
            w * k + x * j - y * i + z * s,
        ]
    )


def cross(a: Vector, b: Vector) -> Vector:
    """a × b; NumPy's own takes ten times as long."""
    (x, y, z), (i, j, k) = a, b
    return np.array([y * k - z * j, z * i - x * k, x * j - y * i])


def turned(quaternion: Vector, vector: Vector) -> Vector:
    """The vector turned by a quaternion of any length."""
    w, xyz = quaternion[0], quaternion[1:]
    across = cross(xyz, vector)
    return np.asarray(vector + 2 * (w * across + cross(xyz, across)) / (quaternion @ quaternion))


def quaternion_rate(quaternion: Vector, spin: Vector) -> Vector:
    """dq/dt of a body that turns with ``spin`` in its own axes, rad/s."""
    return 0.5 * product(quaternion, np.array([0.0, *spin]))


def rotation_vector(quaternion: Vector) -> Vector:
    """Axis times angle, the angle at most π, rad."""
    w, xyz = quaternion[0], quaternion[1:]
    sine = math.sqrt(xyz @ xyz)
    if sine == 0:
        return np.zeros(3)
    angle = 2 * math.atan2(sine, abs(w))
    return np.asarray(math.copysign(angle / sine, w) * xyz)
