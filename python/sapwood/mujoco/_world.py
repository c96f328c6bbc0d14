"""The ``Simulation`` of an ``MjData``: what it is made of, where it reads and writes."""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sapwood._sapwood import Simulation, _MujocoNumbers, _MujocoWorld, _MujocoWorlds, load
from sapwood.mujoco._carry import Watched, watch
from sapwood.mujoco._layout import DATA, OPTION, STEPS, check
from sapwood.mujoco._native import Native, native

__all__ = ["configure", "configured", "worlds"]

MIN_FRICTION = 1e-5
"""Coefficients are at least this in MuJoCo."""

LIMIT_SENSORS = [int(mujoco.mjtSensor.mjSENS_JOINTLIMITFRC), int(mujoco.mjtSensor.mjSENS_TENDONLIMITFRC)]

WRENCHES = [int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)]
"""Equalities whose forces go into those between bodies."""

NAMES = (
    *("time", "ncon", "nefc", "narena", "parena", "contact", "efc_force"),
    *("ne", "nf", "nl", "efc_J", "efc_J_rownnz", "efc_J_rowadr", "efc_J_colind"),
    *("flg_energypos", "flg_energyvel", "flg_subtreevel", "flg_rnepost"),
)
FIELDS = {**{name: DATA[name] for name in NAMES}, "duration": DATA["timer"], "steps": STEPS}
"""What a step reads and writes of an ``MjData`` itself: where it begins, bytes."""

SIZES = ("nq", "nv", "na", "nu", "nout", "nbody", "njnt", "ngeom", "nmocap", "neq", "nsensordata", "narena")

OFF = mujoco.mjtDisableBit.mjDSBL_EQUALITY | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT


class _Options:
    """How guests are simulated, from now on."""

    near_rigid = False
    of_simulation: dict[str, Any] = {}  # noqa: RUF012  replaced as a whole


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
    worlds.forget()


def configured() -> dict[str, Any]:
    """The arguments of :func:`configure` that are in force."""
    return {"near_rigid": _Options.near_rigid, **_Options.of_simulation}


class _Tendons(NamedTuple):
    """The tendons of an ``MjModel``."""

    starts: list[int]
    counts: list[int]
    """Of each tendon where its way begins in the lists below, and what it passes."""
    kinds: list[int]
    objects: list[int]
    row_starts: list[int]
    row_lengths: list[int]
    """Of each tendon where its row begins among the entries of all, and its length."""
    columns: list[int]
    """The degrees of freedom of all entries."""


class _Parts(NamedTuple):
    """What a world in Rust is made of."""

    simulation: Simulation
    model: Callable[[], Any]
    """A weak reference to the ``MjModel``."""
    numbers: _MujocoNumbers
    version: int
    """Of the numbers that it was made of."""
    fields: dict[str, int]
    """Addresses."""
    addresses: tuple[int, int]
    """Those of the ``MjModel`` and the ``MjData``."""
    native: Native | None
    """MuJoCo's functions at their addresses."""
    activations: list[int]
    equalities: list[int]
    """MuJoCo's address of each activation, and its index of each equality that is in force when it says so."""
    histories: list[int]
    """MuJoCo's address of the past controls of each actuator with a delay."""
    readings: list[int]
    """MuJoCo's address of the past readings of each sensor that shows them later."""
    mocap: list[int]
    """MuJoCo's number of each body that is moved from outside."""
    outputs: list[list[int]]
    """Where MuJoCo has each force of an actuator, and the control with that force."""
    surfaces: list[list[float]]
    """Of each geom: condim, priority, five coefficients of friction, solref, solimp, margin."""
    pairs: list[list[int]]
    """The geoms of each explicit pair, the lower number first."""
    pair_surfaces: list[list[float]]
    """The same numbers of each explicit pair."""
    is_pyramidal: bool
    reads_rows: bool
    """Whether something asks for the forces of rows that are none of contacts."""
    is_sparse: bool
    """Whether the rows are."""
    tendons: _Tendons | None
    """The tendons, where some are strings that Sapwood places for both."""
    checks: list[Callable[..., None]]
    """Functions of MuJoCo: what is done about a state that is not finite."""
    actuate: Callable[..., None]
    """Says of controls that they are not finite, and finds rates of activations."""
    kinematics: Callable[..., None]
    """Places, masses and tendons."""
    bodies: list[Callable[..., None]]
    """The parts of that without tendons."""
    stages: list[Callable[..., None]]
    """All else that follows from a state but contact and constraints."""
    collide: Callable[..., None]
    """MuJoCo's own contacts."""
    make_rows: Callable[..., None]
    """Rows of the constraints."""
    add_wrenches: Callable[..., None]
    """Adds the forces on bodies to ``qfrc_inverse``."""
    sensors: Callable[..., None] | None
    """Sensors of accelerations and forces."""
    get_control: Callable[[], Any]
    get_passive: Callable[[], Any]


BODIES: list[Callable[..., None]] = [mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight, mujoco.mj_flex]
"""What ``mj_fwdKinematics`` does beside ``mj_tendon`` where nothing sleeps."""

STRINGS = [int(mujoco.mjtWrap.mjWRAP_SITE), int(mujoco.mjtWrap.mjWRAP_SPHERE), int(mujoco.mjtWrap.mjWRAP_CYLINDER)]


def _tendons(m: Any) -> _Tendons | None:
    """The tendons, where some are strings; none where MuJoCo's may sleep, and keep what they had."""
    if not np.isin(m.wrap_type, STRINGS).any() or m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_SLEEP:
        return None
    of_tendons = m.tendon_adr, m.tendon_num, m.wrap_type, m.wrap_objid
    return _Tendons(*(of.tolist() for of in (*of_tendons, m.ten_J_rowadr, m.ten_J_rownnz, m.ten_J_colind)))


def _stages(m: Any) -> list[Callable[..., None]]:
    """The functions of MuJoCo by which all follows from a state and its kinematics but contact and constraints."""
    stages = [mujoco.mj_makeM, mujoco.mj_factorM]
    if m.nactuator:
        stages.append(mujoco.mj_transmission)
    if m.nsensor:
        stages.append(mujoco.mj_sensorPos)
    stages.append(mujoco.mj_fwdVelocity)
    if m.nsensor:
        stages.append(mujoco.mj_sensorVel)
    if m.opt.enableflags & mujoco.mjtEnableBit.mjENBL_ENERGY:
        stages += [mujoco.mj_energyPos, mujoco.mj_energyVel]
    return stages


def _softness(m: Any) -> dict[str, float]:
    """How much friction gives way, as options of ``Simulation``.

    MuJoCo's friction is a damper, f = (−b v − v̇)/R: it brakes what slides in the time 1/b, and what sticks under a
    force f creeps with R f/b, where R = (1 − d)/d Â of the impedance d and the inverse weight Â, over ``impratio``,
    and b is the damping of ``solref``. Grasps and pushes count on it: the option ``impratio``. What spins and rolls
    creeps with σ W f dt, with one σ for all geoms: the median of those that they would have.
    """
    collides = (m.geom_contype | m.geom_conaffinity) != 0
    yields = {"impratio": float(m.opt.impratio)}
    if not collides.any():
        return yields
    (time, ratio), (least, greatest) = m.geom_solref[collides].T, np.clip(m.geom_solimp[collides, :2].T, 1e-4, 0.9999)
    dt = m.opt.timestep
    damping = np.where(time > 0, 2 / (greatest * np.maximum(time, 2 * dt)), -ratio / greatest)
    # Sapwood's W of a contact is its mean over √3.
    creep = np.sqrt(3) * (1 - least) / (least * np.maximum(damping, 1e-6) * dt * m.opt.impratio)
    return {**yields, "sigma": float(np.clip(np.median(creep), 1e-5, 1.0))}


def _surfaces(m: Any, kind: str, dims: Any, priorities: Any, friction: Any) -> list[list[float]]:
    """The numbers of the surfaces of all things of a kind."""
    others = [getattr(m, f"{kind}_{name}") for name in ("solref", "solimp", "margin")]
    numbers: list[list[float]] = np.column_stack(
        [dims, priorities, np.maximum(friction, MIN_FRICTION), *others]
    ).tolist()
    return numbers


def _add_wrenches(m: Any, d: Any) -> None:
    """Adds what ``xfrc_applied`` does to the degrees of freedom to ``qfrc_inverse``."""
    for body in np.flatnonzero(d.xfrc_applied.any(axis=1)).tolist():
        force, torque = d.xfrc_applied[body, :3], d.xfrc_applied[body, 3:]
        mujoco.mj_applyFT(m, d, force, torque, d.xipos[body], body, d.qfrc_inverse)


def _world(m: Any, d: Any, watched: Watched) -> _MujocoWorld:
    """The world of an ``MjData``, of the present model."""
    version, carried = watched.version, watched.carried  # in this order, as another thread may make the model again
    controls = zip(m.actuator_outadr.tolist(), m.actuator_ctrladr.tolist(), strict=True)
    counts = np.minimum(m.actuator_outnum, m.actuator_ctrlnum).tolist()
    has_readers = bool(np.isin(m.eq_type, WRENCHES).any() or np.isin(m.sensor_type, LIMIT_SENSORS).any())
    options = m.opt.gravity.ctypes.data - OPTION["gravity"]
    stages = _stages(m)
    softness = {} if _Options.near_rigid else _softness(m)
    parts = _Parts(
        simulation=Simulation(carried.model, timestep=m.opt.timestep, **{**softness, **_Options.of_simulation}),
        model=weakref.ref(m),
        numbers=watched.numbers,
        version=version,
        fields={
            **{name: options + OPTION[name] for name in ("timestep", "enableflags")},
            **{name: d._address + at for name, at in FIELDS.items()},
        },
        addresses=(m._address, d._address),
        native=native(mujoco.mj_fwdKinematics, BODIES, stages),
        activations=carried.activations,
        histories=carried.histories,
        readings=carried.readings,
        equalities=[] if m.opt.disableflags & OFF else carried.equalities,
        mocap=carried.mocap,
        outputs=[[out + k, ctrl + k] for (out, ctrl), n in zip(controls, counts, strict=True) for k in range(n)],
        surfaces=_surfaces(m, "geom", m.geom_condim, m.geom_priority, m.geom_friction[:, [0, 0, 1, 2, 2]]),
        pairs=np.sort(np.column_stack([m.pair_geom1, m.pair_geom2]), axis=1).tolist(),
        pair_surfaces=_surfaces(m, "pair", m.pair_dim, np.zeros(m.npair), m.pair_friction),
        is_pyramidal=m.opt.cone == mujoco.mjtCone.mjCONE_PYRAMIDAL,
        reads_rows=has_readers,
        is_sparse=bool(mujoco.mj_isSparse(m)),
        tendons=_tendons(m),
        checks=[mujoco.mj_checkPos, mujoco.mj_checkVel],
        actuate=mujoco.mj_fwdActuation,
        kinematics=mujoco.mj_fwdKinematics,
        bodies=BODIES,
        stages=stages,
        collide=mujoco.mj_collision,
        make_rows=mujoco.mj_makeConstraint,
        add_wrenches=_add_wrenches,
        sensors=mujoco.mj_sensorAcc if m.nsensor else None,
        get_control=mujoco.get_mjcb_control,
        get_passive=mujoco.get_mjcb_passive,
    )
    return _MujocoWorld(parts, d)


_EMPTY = load("<mujoco/>")


def check_pair(m: Any, d: Any) -> None:
    """Refuses what is no model, no data, or data of another model."""
    if not isinstance(m, mujoco.MjModel) or not isinstance(d, mujoco.MjData):
        raise TypeError(f"expected an MjModel and an MjData, not {type(m).__name__} and {type(d).__name__}")
    # Copies of an MjData that are made with its model have another signature.
    if m.signature != d.signature and any(getattr(m, size) != getattr(d.model, size) for size in SIZES):
        raise ValueError("the MjData belongs to another MjModel: expected one that was made for this model")


def _make(m: Any, d: Any) -> _MujocoWorld:
    """Makes the world of an ``MjData``, with the numbers that the model has now and the options in force."""
    check_pair(m, d)
    check()
    watched = watch(m, _Options.near_rigid)
    watched.update(m)
    world = _world(m, d, watched)
    if worlds.put(d, world):
        weakref.finalize(d, worlds.remove, id(d))
    return world


worlds = _MujocoWorlds(_make)
"""Those of all ``MjData``: each is made at its first step, and again when its model or the options change."""
