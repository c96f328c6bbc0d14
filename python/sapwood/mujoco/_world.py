"""The ``Simulation`` of an ``MjData``: what it reads of it, what it leaves in it."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from typing import Any

import mujoco
import numpy as np
from numpy.typing import NDArray

from sapwood._sapwood import Simulation, load
from sapwood.mujoco._carry import Watched, memcmp, watch

__all__ = ["configure", "world_of"]

Array = NDArray[np.float64]

MIN_FRICTION = 1e-5
"""Coefficients are at least this in MuJoCo."""

LIMIT_SENSORS = [int(mujoco.mjtSensor.mjSENS_JOINTLIMITFRC), int(mujoco.mjtSensor.mjSENS_TENDONLIMITFRC)]

FIRST_CONTACT = int(mujoco.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)
"""Kinds of rows from here on are contacts."""

CONTACT = {
    "pos": 8,
    "frame": 32,
    "friction": 112,
    "solref": 152,
    "solimp": 184,
    "dim": 552,
    "geom": 564,
    "efc_address": 600,
}
"""Where parts of an ``mjContact`` lie, bytes."""

CONTACT_SIZE = 608

SIZES = ("nq", "nv", "na", "nu", "nout", "nbody", "njnt", "ngeom", "nmocap", "neq", "nsensordata", "narena")

OFF = mujoco.mjtDisableBit.mjDSBL_EQUALITY | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT


class _Options:
    """How guests are simulated, from now on."""

    near_rigid = False
    of_simulation: dict[str, Any] = {}  # noqa: RUF012  replaced as a whole, so that worlds see a change


def configure(*, near_rigid: bool = False, **options: Any) -> None:
    """Sets how models are simulated from now on.

    Args:
        near_rigid: Whether contacts, limits and equalities are as rigid as the time step allows, instead of what
            ``solref`` and ``solimp`` of the model say.
        **options: Options of ``sapwood.Simulation``, such as ``contact`` and ``scheme``.

    Raises:
        TypeError: When ``Simulation`` has no such option.
    """
    known = Simulation(_EMPTY).options
    for name in options:
        if name not in known or name == "timestep":
            raise TypeError(f"{name}: expected near_rigid, or an option of sapwood.Simulation but its timestep")
    _Options.near_rigid, _Options.of_simulation = near_rigid, options


def _at(array: Any) -> NDArray[Any]:
    """The same numbers, without keeping what owns them alive."""
    kind = np.ctypeslib.as_ctypes_type(array.dtype)
    if array.size == 0:
        return np.empty(array.shape, array.dtype)
    return np.ctypeslib.as_array((kind * array.size).from_address(array.ctypes.data)).reshape(array.shape)


def _contacts_of(d: Any) -> NDArray[np.uint64]:
    """The memory of the contacts of an ``MjData``, as many as there is room for, in words of 8 bytes."""
    count, d.ncon = d.ncon, 1
    fields = {name: getattr(d.contact, name) for name in ("dist", *CONTACT)}
    d.ncon = count
    start, size = fields["dist"].ctypes.data, fields["dist"].strides[0]
    layout = [(array.ctypes.data - start) for name, array in fields.items() if name != "dist"]
    if layout != list(CONTACT.values()) or size != CONTACT_SIZE:
        raise ImportError(
            f"the contacts of MuJoCo {mujoco.__version__} have another layout than those of 4.0: use that"
        )
    capacity = d.narena // size // 2
    memory = (ctypes.c_uint64 * (capacity * size // 8)).from_address(start)
    return np.ctypeslib.as_array(memory).reshape(capacity, size // 8)


class World:
    """One world: a simulation, and the memory of the ``MjData`` that it belongs to."""

    def __init__(self, d: Any) -> None:
        self.options = _Options.of_simulation
        self.near_rigid = _Options.near_rigid
        self.qpos, self.qvel, self.act, self.ctrl = _at(d.qpos), _at(d.qvel), _at(d.act), _at(d.ctrl)
        self.force, self.wrench = _at(d.qfrc_applied), _at(d.xfrc_applied)
        self.mocap = _at(d.mocap_pos), _at(d.mocap_quat)
        self.eq_active = _at(d.eq_active)
        self.contacts = _contacts_of(d)
        self.qacc, self.warmstart, self.act_dot = _at(d.qacc), _at(d.qacc_warmstart), _at(d.act_dot)
        self.constraint, self.actuation = _at(d.qfrc_constraint), _at(d.qfrc_actuator)
        self.actuator_force = _at(d.actuator_force)
        self.left = [array.copy() for array in (self.qpos, self.qvel, self.act)]
        pairs = zip((self.qpos, self.qvel, self.act), self.left, strict=True)
        self.state = [(now.ctypes.data, left.ctypes.data, now.nbytes) for now, left in pairs if now.nbytes]
        self.m: Callable[[], Any] = lambda: None
        self.version, self.timestep = 0, 0.0
        self.sim: Simulation

    def prepare(self, m: Any) -> None:
        """Sees what has changed in the model."""
        if self.m() is not m:
            self.watched: Watched = watch(m, self.near_rigid)
            self.m, self.version = weakref.ref(m), 0
        self.watched.update(m)
        if self.version != self.watched.version:
            self.make(m)
        elif self.timestep != m.opt.timestep:
            # In this order: a time step that is refused is refused again.
            self.sim.timestep = m.opt.timestep
            self.timestep = m.opt.timestep

    def make(self, m: Any) -> None:
        """Makes the simulation of the present model."""
        carried, version = self.watched.carried, self.watched.version
        timestep = m.opt.timestep
        self.sim = sim = Simulation(carried.model, timestep=timestep, **self.options)
        self.q, self.v, self.u, self.a = sim.q, sim.v, sim.ctrl, sim.act
        self.f, self.w = sim.applied_force, sim.applied_wrench
        self.mocap_of_sim = (sim.mocap_positions, sim.mocap_quaternions) if m.nmocap else ()
        self.activations = np.array(carried.activations, int)
        self.equalities = np.array(carried.equalities, int)
        self.active = sim.equality_active if len(self.equalities) and not m.opt.disableflags & OFF else None
        # Where each actuator has its force, and its control; those of several are not simulated.
        one = (m.actuator_ctrlnum == 1) & (m.actuator_outnum == 1)
        self.controls, self.outputs = m.actuator_ctrladr[one], m.actuator_outadr[one]
        friction = np.maximum(m.geom_friction[:, [0, 0, 1, 2, 2]], MIN_FRICTION)
        self.surfaces = np.hstack([m.geom_condim[:, None].astype(float), friction, m.geom_solref, m.geom_solimp])
        self.is_pyramidal = bool(m.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL)
        self.has_readers = bool(m.neq) or bool(np.isin(m.sensor_type, LIMIT_SENSORS).any())
        self.version, self.timestep = version, timestep

    def is_set(self) -> bool:
        """Whether the state is another one than that of the last step."""
        for now, left, size in self.state:  # noqa: SIM110  any() takes twice as long
            if memcmp(now, left, size):
                return True
        return False

    def read(self, d: Any) -> None:
        """Takes over the state and the inputs."""
        sim = self.sim
        if sim.time != d.time or self.is_set():
            # Someone has set the state: what the simulation remembers of the last one has no part in what follows.
            sim.reset()
            sim.time = d.time
        self.q[:] = self.qpos
        self.v[:] = self.qvel
        if len(self.a):
            self.a[:] = self.act[self.activations]
        self.u[:] = self.ctrl
        self.f[:] = self.force
        self.w[:, :3] = self.wrench[:, 3:]
        self.w[:, 3:] = self.wrench[:, :3]
        for ours, theirs in zip(self.mocap_of_sim, self.mocap, strict=False):
            ours[:] = theirs
        if self.active is not None:
            self.active[:] = self.eq_active[self.equalities]

    def step(self, m: Any, d: Any, nstep: int) -> None:
        """Makes steps. As of MuJoCo's, positions and all that follows from them are then those before the last."""
        if nstep < 1:
            return
        mujoco.mj_checkPos(m, d)
        mujoco.mj_checkVel(m, d)
        self.prepare(m)
        if mujoco.get_mjcb_control() or mujoco.get_mjcb_passive():
            # These are asked at every step, in the midst of MuJoCo's stages.
            for _ in range(nstep):
                self.stages(m, d)
                self.evaluate(m, d)
                self.write(d)
            return
        self.read(d)
        if nstep > 1:
            try:
                self.sim.step(nstep - 1)
            finally:
                self.write(d)
        self.stages(m, d)
        self.sim.step()
        self.write_forces(m, d)
        self.write(d)

    def forward(self, m: Any, d: Any) -> None:
        """What a step would leave, but for the motion."""
        self.prepare(m)
        self.stages(m, d)
        self.read(d)
        if not len(self.a) and not mujoco.get_mjcb_passive():
            self.sim.forward()
            self.write_forces(m, d)
            return
        # What changes activations, and forces of a callback, are only seen in a step.
        before = self.sim.state()
        self.evaluate(m, d)
        self.sim.restore(before)

    def evaluate(self, m: Any, d: Any) -> None:
        """Moves the simulation by a step, and writes the accelerations and forces of that step."""
        self.read(d)
        if mujoco.get_mjcb_passive():
            self.f += d.qfrc_passive - d.qfrc_spring - d.qfrc_damper - d.qfrc_gravcomp - d.qfrc_fluid
        self.sim.step()
        self.write_forces(m, d)

    def write(self, d: Any) -> None:
        """Hands the state over, and notes it."""
        self.qpos[:] = self.q
        self.qvel[:] = self.v
        if len(self.a):
            self.act[self.activations] = self.a
        d.time = self.sim.time
        for now, left in zip((self.qpos, self.qvel, self.act), self.left, strict=True):
            left[:] = now

    @staticmethod
    def stages(m: Any, d: Any) -> None:
        """What MuJoCo computes of a state: all but contact and constraints."""
        d.ncon = d.nefc = 0
        d.flg_energypos = d.flg_energyvel = d.flg_subtreevel = d.flg_rnepost = 0
        mujoco.mj_fwdKinematics(m, d)
        mujoco.mj_makeM(m, d)
        mujoco.mj_factorM(m, d)
        mujoco.mj_transmission(m, d)
        mujoco.mj_sensorPos(m, d)
        mujoco.mj_fwdVelocity(m, d)
        mujoco.mj_sensorVel(m, d)
        if m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_ENERGY:
            mujoco.mj_energyPos(m, d)
            mujoco.mj_energyVel(m, d)
        control = mujoco.get_mjcb_control()
        if control:
            control(m, d)

    def write_forces(self, m: Any, d: Any) -> None:
        """What the last step has found: accelerations, forces, contacts; then the sensors of these."""
        sim = self.sim
        self.qacc[:] = sim.acceleration
        self.warmstart[:] = self.qacc
        self.constraint[:] = sim.constraint_forces
        if len(self.u):
            self.actuation[:] = sim.actuation_forces
            self.actuator_force[self.outputs] = sim.actuator_forces[self.controls]
        if len(self.a):
            self.act_dot[self.activations] = (self.a - self.act[self.activations]) / self.timestep
        count = d.ncon = sim._write_mj_contacts(self.surfaces, self.contacts)
        d.parena = count * self.contacts.shape[1] * 8
        if count or self.has_readers:
            mujoco.mj_makeConstraint(m, d)
            if d.nefc:
                self.write_rows(m, d, count)
        mujoco.mj_sensorAcc(m, d)

    def write_rows(self, m: Any, d: Any, count: int) -> None:
        """The forces of the rows of MuJoCo's constraints: of contacts, of the others where something asks for them."""
        force = d.efc_force
        force[:] = 0
        self.sim._write_mj_rows(self.contacts[:count], self.is_pyramidal, self.timestep, force)
        if self.has_readers:
            # Contacts come after all others.
            first = np.flatnonzero(d.efc_type >= FIRST_CONTACT)
            others = int(first[0]) if len(first) else d.nefc
            if others:
                self.write_others(m, d, others)

    def write_others(self, m: Any, d: Any, count: int) -> None:
        """Forces of equalities, dry friction and limits, by least squares: they make up the rest of ``constraint``."""
        rest = np.empty(m.nv)
        mujoco.mj_mulJacTVec(m, d, rest, d.efc_force)
        np.subtract(self.constraint, rest, out=rest)
        if mujoco.mj_isSparse(m):
            jacobian = np.zeros((d.nefc, m.nv))
            mujoco.mju_sparse2dense(jacobian, d.efc_J.ravel(), d.efc_J_rownnz, d.efc_J_rowadr, d.efc_J_colind.ravel())
        else:
            jacobian = d.efc_J.reshape(d.nefc, m.nv)
        d.efc_force[:count] = np.linalg.lstsq(jacobian[:count].T, rest, rcond=1e-10)[0]


_EMPTY = load("<mujoco/>")
_worlds: dict[int, World] = {}


def check_pair(m: Any, d: Any) -> None:
    """Refuses what is no model, no data, or data of another model."""
    if not isinstance(m, mujoco.MjModel) or not isinstance(d, mujoco.MjData):
        raise TypeError(f"expected an MjModel and an MjData, not {type(m).__name__} and {type(d).__name__}")
    # Copies of an MjData that are made with its model have another signature.
    if m.signature != d.signature and any(getattr(m, size) != getattr(d.model, size) for size in SIZES):
        raise ValueError("the MjData belongs to another MjModel: expected one that was made for this model")


def world_of(m: Any, d: Any) -> World:
    """The world of an ``MjData``, made at its first step and released with it."""
    world = _worlds.get(id(d))
    if world is not None and world.options is _Options.of_simulation:
        if world.m() is not m:
            check_pair(m, d)
        return world
    check_pair(m, d)
    key = id(d)
    if key not in _worlds:
        weakref.finalize(d, _worlds.pop, key, None)
    world = _worlds[key] = World(d)
    return world
