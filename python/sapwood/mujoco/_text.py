"""The MJCF text of a compiled ``MjModel``: all its numbers, in its order, without defaults, files or frames.

What MuJoCo's compiler has made of a file is said in the words of that file's format, so that one reader serves both.
"""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco import (
    mjtCamLight,
    mjtCone,
    mjtDisableBit,
    mjtEnableBit,
    mjtEq,
    mjtGeom,
    mjtJoint,
    mjtObj,
    mjtProjection,
    mjtSleepPolicy,
    mjtWrap,
)
from numpy.typing import NDArray

from sapwood.mujoco._actuation import Actuation
from sapwood.mujoco._flex import Flexes
from sapwood.mujoco._words import element, kind_of

__all__ = ["Text", "text_of"]

FLAGS = (
    "constraint equality frictionloss limit contact spring damper gravity clampctrl filterparent actuation".split()  # noqa: SIM905
)
SLEEP = {
    int(mjtSleepPolicy.mjSLEEP_AUTO_NEVER): "never",
    int(mjtSleepPolicy.mjSLEEP_NEVER): "never",
    int(mjtSleepPolicy.mjSLEEP_ALLOWED): "allowed",
    int(mjtSleepPolicy.mjSLEEP_INIT): "init",
}
"""Words for what trees may do; they may sleep otherwise."""
MIN_SIZE = 1e-9
"""Programs make geoms vanish by sizes of 0, m, which files cannot have."""


class Text(NamedTuple):
    """A model as text, and where its parts are in the model that it comes from."""

    text: str
    """The MJCF."""
    assets: dict[str, bytes]
    """Files that it refers to."""
    equalities: list[int]
    """MuJoCo's index of each equality constraint."""
    activations: list[int]
    """MuJoCo's address of each activation, the state that an actuator has of its own."""
    histories: list[int]
    """MuJoCo's address of the past controls of each actuator with a delay."""
    readings: list[int]
    """MuJoCo's address of the past readings of each sensor that shows them later."""
    mocap: list[int]
    """MuJoCo's number of each body that is moved from outside."""
    meshes: frozenset[int]
    """MuJoCo's index of each mesh."""
    arrays: frozenset[str]
    """The model's arrays that it was made of."""


def text_of(model: Any, *, near_rigid: bool = False, known: frozenset[int] = frozenset()) -> Text:
    """The text of a compiled model, without files of known meshes. What cannot be said is a ``UserWarning``."""
    return _Writer(model, near_rigid, known).write()


def _by_body(bodies: Any) -> dict[int, list[int]]:
    """The things in each body."""
    found: dict[int, list[int]] = {}
    for index, body in enumerate(bodies.tolist()):
        found.setdefault(body, []).append(index)
    return found


class _Writer(Actuation, Flexes):
    def __init__(self, model: Any, near_rigid: bool, known: frozenset[int]) -> None:
        super().__init__(model, near_rigid)
        self.known = known
        is_solid = np.isin(model.geom_type, [mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_SDF])
        self.mesh_ids = sorted({int(k) for k in model.geom_dataid[is_solid]})
        self.assets: dict[str, bytes] = {}
        self.sites_of = _by_body(model.site_bodyid)
        self.cameras_of = _by_body(model.cam_bodyid)
        policies = zip(model.tree_bodyadr.tolist(), model.tree_sleep_policy.tolist(), strict=True)
        self.sleep = {body: SLEEP[policy] for body, policy in policies if policy in SLEEP}

    def write(self) -> Text:
        m = self.m
        self.warn()
        equality, equalities = self.equalities()
        actuators = self.actuators()
        contact, tendons, sensors = self.contact(), list(self.tendons()), list(self.sensors())
        flexes = list(self.flexes())
        sections = [
            element("compiler", angle="radian", autolimits="false", inertiafromgeom="false"),
            self.option(),
            element("worldbody", *self.world()),
            element("asset", *self.meshes(), *self.height_fields()),
            element("deformable", *flexes),
            element("contact", *contact),
            element("tendon", *tendons),
            element("equality", *equality),
            element("actuator", *actuators.elements),
            element("sensor", *sensors),
            element("keyframe", *self.keys(actuators.activations)),
            element("statistic", center=m.stat.center, extent=float(m.stat.extent)),
        ]
        name = m.names.split(b"\0", 1)[0].decode()
        text = element("mujoco", *sections, model=name)
        moved = m.body_mocapid[self.is_moved()].tolist()
        of_actuators = actuators.activations, actuators.histories
        readings = m.sensor_historyadr[self.delayed_sensors()].tolist()
        return Text(text, self.assets, equalities, *of_actuators, readings, moved, frozenset(self.mesh_ids), m.arrays())

    def warn(self) -> None:
        """Names what has no words in the text."""
        m = self.m
        self.warn_of_flexes()
        for body in np.flatnonzero(m.body_plugin >= 0).tolist():
            name = self.own_name(mjtObj.mjOBJ_BODY, body) or body
            warnings.warn(f"body {name}: its plugin does nothing here", UserWarning, stacklevel=5)

    def is_moved(self) -> NDArray[np.bool_]:
        """Of which bodies the pose is that of ``mocap_pos``."""
        is_moved: NDArray[np.bool_] = self.m.body_mocapid >= 0
        return is_moved

    def option(self) -> str:
        o = self.m.opt
        off = [name for name in FLAGS if o.disableflags & getattr(mjtDisableBit, f"mjDSBL_{name.upper()}")]
        flags = dict.fromkeys(off, "disable")
        if o.enableflags & mjtEnableBit.mjENBL_OVERRIDE:
            flags["override"] = "enable"
        if o.enableflags & mjtEnableBit.mjENBL_SLEEP:
            flags["sleep"] = "enable"
        groups = [k for k in range(31) if o.disableactuator >> k & 1]
        return element(
            "option",
            element("flag", **flags),
            timestep=o.timestep,
            gravity=o.gravity,
            wind=o.wind,
            magnetic=o.magnetic,
            density=o.density,
            viscosity=o.viscosity,
            sleep_tolerance=o.sleep_tolerance,
            impratio=o.impratio if o.impratio != 1 else None,
            cone="elliptic" if o.cone == mjtCone.mjCONE_ELLIPTIC else "pyramidal",
            actuatorgroupdisable=groups or None,
            o_margin=o.o_margin,
            o_solref=o.o_solref,
            o_solimp=o.o_solimp,
            o_friction=o.o_friction,
        )

    def world(self) -> list[str]:
        """What is in the world. Bodies are numbered depth first: from the last to the first, children are complete."""
        m = self.m
        for target in m.cam_targetbodyid[m.cam_targetbodyid >= 0].tolist():
            self.ref(mjtObj.mjOBJ_BODY, target)
        is_moved = self.is_moved()
        children: list[list[str]] = [[] for _ in range(m.nbody)]
        for body in range(m.nbody - 1, 0, -1):
            of_body = element(
                "body",
                *self.contents(body),
                *reversed(children[body]),
                name=self.name(mjtObj.mjOBJ_BODY, body),
                pos=m.body_pos[body],
                quat=m.body_quat[body],
                mocap=True if is_moved[body] else None,
                sleep=self.sleep.get(body),
                gravcomp=m.body_gravcomp[body] or None,
            )
            children[m.body_parentid[body]].append(of_body)
        return [*self.contents(0), *reversed(children[0])]

    def contents(self, body: int) -> list[str]:
        """Inertia, joints, geoms, sites and cameras of a body."""
        m = self.m
        found = []
        if body:
            place = {"pos": m.body_ipos[body], "quat": m.body_iquat[body]}
            found.append(element("inertial", **place, mass=m.body_mass[body], diaginertia=m.body_inertia[body]))
        joints = range(m.body_jntadr[body], m.body_jntadr[body] + m.body_jntnum[body])
        geoms = range(m.body_geomadr[body], m.body_geomadr[body] + m.body_geomnum[body])
        sites, cameras = self.sites_of.get(body, []), self.cameras_of.get(body, [])
        found += [*map(self.joint, joints), *map(self.geom, geoms), *map(self.site, sites), *map(self.camera, cameras)]
        return found

    def joint(self, j: int) -> str:
        m = self.m
        kind, q, v = mjtJoint(m.jnt_type[j]), m.jnt_qposadr[j], m.jnt_dofadr[j]
        is_scalar = kind in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE)
        limited, effort = bool(m.jnt_limited[j]), bool(m.jnt_actfrclimited[j])
        return element(
            "joint",
            name=self.name(mjtObj.mjOBJ_JOINT, j),
            type=kind_of(kind, mjtJoint),
            pos=m.jnt_pos[j],
            axis=m.jnt_axis[j] if is_scalar else None,
            ref=m.qpos0[q] if is_scalar else None,
            springref=m.qpos_spring[q] if is_scalar else None,
            limited=limited,
            range=m.jnt_range[j] if limited else None,
            **(self.compliance(m.jnt_solref[j], m.jnt_solimp[j], "limit") if limited else {}),
            margin=m.jnt_margin[j] or None,
            armature=m.dof_armature[v],
            frictionloss=m.dof_frictionloss[v],
            **(self.compliance(m.dof_solref[v], m.dof_solimp[v], "friction") if m.dof_frictionloss[v] else {}),
            damping=[m.dof_damping[v], *m.dof_dampingpoly[v]],
            stiffness=[m.jnt_stiffness[j], *m.jnt_stiffnesspoly[j]],
            actuatorfrclimited=effort,
            actuatorfrcrange=m.jnt_actfrcrange[j] if effort else None,
            actuatorgravcomp=True if m.jnt_actgravcomp[j] else None,
        )

    def geom(self, g: int) -> str:
        m = self.m
        kind, asset = mjtGeom(m.geom_type[g]), m.geom_dataid[g]
        pos, size, of = m.geom_pos[g], m.geom_size[g], {}
        if kind != mjtGeom.mjGEOM_PLANE:
            size = np.maximum(size, MIN_SIZE)
        if kind in (mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_SDF):
            of, size = {"mesh": f"mesh {asset}"}, None
        elif kind == mjtGeom.mjGEOM_HFIELD:
            of, size = {"hfield": f"field {asset}"}, None
            turn = np.zeros(9)
            mujoco.mju_quat2Mat(turn, m.geom_quat[g])
            pos = pos + self.field_base(asset) * turn.reshape(3, 3)[:, 2]
        material = m.geom_matid[g]
        has_own_colour = material < 0 or not np.array_equal(m.geom_rgba[g], np.array([0.5, 0.5, 0.5, 1], np.float32))
        return element(
            "geom",
            name=self.name(mjtObj.mjOBJ_GEOM, g),
            type=kind_of(kind, mjtGeom),
            pos=pos,
            quat=m.geom_quat[g],
            size=size,
            **of,
            mass=0.0,
            contype=m.geom_contype[g],
            conaffinity=m.geom_conaffinity[g],
            condim=m.geom_condim[g],
            priority=m.geom_priority[g] or None,
            friction=m.geom_friction[g],
            solmix=m.geom_solmix[g],
            **self.compliance(m.geom_solref[g], m.geom_solimp[g]),
            margin=m.geom_margin[g] or None,
            gap=m.geom_gap[g] or None,
            adhesion=m.geom_adhesion[g] or None,
            surfacevel=m.geom_surfacevel[g] if m.geom_surfacevel[g].any() else None,
            fluidshape="ellipsoid" if m.geom_fluid[g, 0] > 0 else None,
            fluidcoef=m.geom_fluid[g, 1:6] if m.geom_fluid[g, 0] > 0 else None,
            rgba=m.geom_rgba[g] if has_own_colour else m.mat_rgba[material],
            group=m.geom_group[g],
        )

    def site(self, s: int) -> str:
        m = self.m
        return element(
            "site",
            name=self.name(mjtObj.mjOBJ_SITE, s),
            type=kind_of(m.site_type[s], mjtGeom),
            pos=m.site_pos[s],
            quat=m.site_quat[s],
            size=np.maximum(m.site_size[s], MIN_SIZE),
        )

    def camera(self, c: int) -> str:
        m = self.m
        mode, target = mjtCamLight(m.cam_mode[c]), m.cam_targetbodyid[c]
        lens = {"fovy": m.cam_fovy[c]}
        if m.cam_sensorsize[c].any():
            focal, principal = np.split(m.cam_intrinsic[c], 2)
            lens = {"sensorsize": m.cam_sensorsize[c], "focal": focal, "principal": principal}
        return element(
            "camera",
            name=self.name(mjtObj.mjOBJ_CAMERA, c),
            mode=kind_of(mode, mjtCamLight),
            target=self.ref(mjtObj.mjOBJ_BODY, target) if target >= 0 else None,
            pos=m.cam_pos[c],
            quat=m.cam_quat[c],
            **lens,
            projection="orthographic" if m.cam_projection[c] == mjtProjection.mjPROJ_ORTHOGRAPHIC else None,
            resolution=m.cam_resolution[c],
        )

    def meshes(self) -> Iterator[str]:
        """Meshes as files of MuJoCo's binary format, which holds their numbers bit for bit."""
        m = self.m
        for k in self.mesh_ids:
            if k not in self.known:
                vertices = m.mesh_vert[m.mesh_vertadr[k] :][: m.mesh_vertnum[k]]
                faces = m.mesh_face[m.mesh_faceadr[k] :][: m.mesh_facenum[k]]
                counts = np.array([len(vertices), 0, 0, len(faces)], np.int32)
                self.assets[f"mesh{k}.msh"] = counts.tobytes() + vertices.tobytes() + faces.tobytes()
            # Bodies have their inertia already, so that a mesh need not enclose a volume.
            yield element("mesh", name=f"mesh {k}", file=f"mesh{k}.msh", inertia="shell")

    def field_heights(self, k: int) -> Any:
        m = self.m
        return m.hfield_data[m.hfield_adr[k] :][: m.hfield_nrow[k] * m.hfield_ncol[k]]

    def field_base(self, k: int) -> float:
        """How high the lowest sample lies: files have it at 0, programs may have written others."""
        return float(self.field_heights(k).min()) * float(self.m.hfield_size[k, 2])

    def height_fields(self) -> Iterator[str]:
        m = self.m
        for k in sorted({int(k) for k in m.geom_dataid[m.geom_type == mjtGeom.mjGEOM_HFIELD]}):
            heights, (x, y, scale, below) = self.field_heights(k), m.hfield_size[k].tolist()
            counts = np.array([m.hfield_nrow[k], m.hfield_ncol[k]], np.int32)
            self.assets[f"field{k}.bin"] = counts.tobytes() + heights.tobytes()
            height = float(heights.max() - heights.min()) * scale or scale
            size = [x, y, height, max(below + self.field_base(k), 1e-6)]
            yield element("hfield", name=f"field {k}", file=f"field{k}.bin", size=size)

    def contact(self) -> list[str]:
        m = self.m
        body, geom = mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_GEOM
        elements = [
            element("exclude", body1=self.ref(body, key >> 16), body2=self.ref(body, key & 0xFFFF))
            for key in m.exclude_signature.tolist()
        ]
        for k in range(m.npair):
            elements.append(
                element(
                    "pair",
                    geom1=self.ref(geom, m.pair_geom1[k]),
                    geom2=self.ref(geom, m.pair_geom2[k]),
                    condim=m.pair_dim[k],
                    friction=m.pair_friction[k],
                    **self.compliance(m.pair_solref[k], m.pair_solimp[k]),
                    margin=m.pair_margin[k] or None,
                    gap=m.pair_gap[k] or None,
                    adhesion=m.pair_adhesion[k] or None,
                )
            )
        return elements

    def tendons(self) -> Iterator[str]:
        m = self.m
        for t in range(m.ntendon):
            path = [self.wrap(w) for w in range(m.tendon_adr[t], m.tendon_adr[t] + m.tendon_num[t])]
            limited, effort = bool(m.tendon_limited[t]), bool(m.tendon_actfrclimited[t])
            is_fixed = mjtWrap(m.wrap_type[m.tendon_adr[t]]) == mjtWrap.mjWRAP_JOINT
            material = m.tendon_matid[t]
            yield element(
                "fixed" if is_fixed else "spatial",
                *path,
                name=self.name(mjtObj.mjOBJ_TENDON, t),
                limited=limited,
                range=m.tendon_range[t] if limited else None,
                **(self.compliance(m.tendon_solref_lim[t], m.tendon_solimp_lim[t], "limit") if limited else {}),
                margin=m.tendon_margin[t] or None,
                stiffness=[m.tendon_stiffness[t], *m.tendon_stiffnesspoly[t]],
                damping=[m.tendon_damping[t], *m.tendon_dampingpoly[t]],
                frictionloss=m.tendon_frictionloss[t],
                **(
                    self.compliance(m.tendon_solref_fri[t], m.tendon_solimp_fri[t], "friction")
                    if m.tendon_frictionloss[t]
                    else {}
                ),
                armature=m.tendon_armature[t] or None,
                springlength=m.tendon_lengthspring[t],
                actuatorfrclimited=effort,
                actuatorfrcrange=m.tendon_actfrcrange[t] if effort else None,
                width=None if is_fixed else m.tendon_width[t],
                rgba=m.tendon_rgba[t] if material < 0 else m.mat_rgba[material],
                group=m.tendon_group[t],
            )

    def wrap(self, w: int) -> str:
        """One thing that a tendon passes."""
        m = self.m
        kind, index, number = mjtWrap(m.wrap_type[w]), int(m.wrap_objid[w]), float(m.wrap_prm[w])
        if kind == mjtWrap.mjWRAP_JOINT:
            return element("joint", joint=self.ref(mjtObj.mjOBJ_JOINT, index), coef=number)
        if kind == mjtWrap.mjWRAP_PULLEY:
            return element("pulley", divisor=number)
        if kind == mjtWrap.mjWRAP_SITE:
            return element("site", site=self.ref(mjtObj.mjOBJ_SITE, index))
        side = self.ref(mjtObj.mjOBJ_SITE, round(number)) if number >= 0 else None
        return element("geom", geom=self.ref(mjtObj.mjOBJ_GEOM, index), sidesite=side)

    def equalities(self) -> tuple[list[str], list[int]]:
        """The elements, and MuJoCo's index of each."""
        elements, indices = [], []
        for e in range(self.m.neq):
            constraint = self.equality(e)
            if constraint is not None:
                elements.append(constraint)
                is_flex = mjtEq(self.m.eq_type[e]) == mjtEq.mjEQ_FLEX
                indices += [e] * (self.count_moving_edges(int(self.m.eq_obj1id[e])) if is_flex else 1)
        return elements, indices

    def equality(self, e: int) -> str | None:
        """An equality constraint; None of one without a counterpart, and of one that joins what moves as one."""
        m = self.m
        kind, first, second = mjtEq(m.eq_type[e]), int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        data, of = m.eq_data[e], mjtObj(m.eq_objtype[e])
        if kind in (mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON):
            word, of = kind_of(kind, mjtEq), mjtObj.mjOBJ_JOINT if kind == mjtEq.mjEQ_JOINT else mjtObj.mjOBJ_TENDON
            ends = {f"{word}1": self.ref(of, first), f"{word}2": self.ref(of, second) if second >= 0 else None}
            ends["polycoef"] = data[:5]
        elif kind in (mjtEq.mjEQ_CONNECT, mjtEq.mjEQ_WELD):
            word = "site" if of == mjtObj.mjOBJ_SITE else "body"
            bodies = m.site_bodyid[[first, second]] if word == "site" else np.array([first, second])
            if m.body_weldid[bodies[0]] == m.body_weldid[bodies[1]]:
                self.leave_out(mjtObj.mjOBJ_EQUALITY, e, "joins bodies that move as one: it has no effect")
                return None
            ends = {f"{word}1": self.ref(of, first), f"{word}2": self.ref(of, second)}
            if kind == mjtEq.mjEQ_WELD:
                ends["torquescale"] = data[10]
            if word == "body":
                ends["anchor"] = data[:3]
                ends["relpose"] = data[3:10] if kind == mjtEq.mjEQ_WELD else None
        else:
            of_flex = self.flex_equality(e)
            if of_flex is None:
                self.leave_out(mjtObj.mjOBJ_EQUALITY, e, "a constraint of a flex: not simulated")
                return None
            ends = of_flex
        compliance = self.compliance(m.eq_solref[e], m.eq_solimp[e])
        name, active = self.name(mjtObj.mjOBJ_EQUALITY, e), m.eq_active0[e]
        return element(kind_of(kind, mjtEq), name=name, active=active, **ends, **compliance)

    def keys(self, activations: list[int]) -> Iterator[str]:
        m = self.m
        places = m.body_mocapid[self.is_moved()]
        for k in range(m.nkey):
            state = {word: getattr(m, f"key_{word}")[k] for word in ("qpos", "qvel", "ctrl")}
            state["mpos"] = m.key_mpos[k].reshape(-1, 3)[places].ravel()
            state["mquat"] = m.key_mquat[k].reshape(-1, 4)[places].ravel()
            said = {word: values for word, values in state.items() if len(values)}
            act = m.key_act[k][activations] if activations else None
            yield element("key", name=self.own_name(mjtObj.mjOBJ_KEY, k), time=m.key_time[k], **said, act=act)
