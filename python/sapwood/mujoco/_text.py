"""The MJCF text of a compiled ``MjModel``: all its numbers, in its order, without defaults, files or frames.

What MuJoCo's compiler has made of a file is said in the words of that file's format, so that one reader serves both.
"""

# MuJoCo's classes have no types.
# ruff: noqa: ANN401

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import mujoco
import numpy as np
from mujoco import (
    mjtBias,
    mjtCamLight,
    mjtCone,
    mjtDisableBit,
    mjtDyn,
    mjtEnableBit,
    mjtEq,
    mjtGain,
    mjtGeom,
    mjtJoint,
    mjtObj,
    mjtSensor,
    mjtTrn,
    mjtWrap,
)

__all__ = ["Text", "text_of"]

SENSORS = {
    mjtSensor.mjSENS_JOINTACTFRC: "jointactuatorfrc",
    mjtSensor.mjSENS_TENDONACTFRC: "tendonactuatorfrc",
    mjtSensor.mjSENS_GEOMDIST: "distance",
    mjtSensor.mjSENS_GEOMNORMAL: "normal",
    mjtSensor.mjSENS_GEOMFROMTO: "fromto",
}
"""Elements whose names are not those of the enumeration."""

CONTACT_FIELDS = ("found", "force", "torque", "dist", "pos", "normal", "tangent", "linvel", "angvel")
RAY_FIELDS = ("dist", "dir", "origin", "point", "normal", "depth")
REDUCTIONS = ("none", "mindist", "maxforce", "netforce")
FRAMES = {mjtObj.mjOBJ_BODY: "body", mjtObj.mjOBJ_XBODY: "xbody", mjtObj.mjOBJ_GEOM: "geom", mjtObj.mjOBJ_SITE: "site"}
FLAGS = (
    "constraint equality frictionloss limit contact spring damper gravity clampctrl filterparent actuation".split()  # noqa: SIM905
)
MIN_SIZE = 1e-9
"""Programs make geoms vanish by sizes of 0, m, which files cannot have."""

DYNAMICS = {
    mjtDyn.mjDYN_NONE: "none",
    mjtDyn.mjDYN_INTEGRATOR: "integrator",
    mjtDyn.mjDYN_FILTER: "filter",
    mjtDyn.mjDYN_FILTEREXACT: "filterexact",
    mjtDyn.mjDYN_MUSCLE: "muscle",
}
GAINS = {mjtGain.mjGAIN_FIXED: "fixed", mjtGain.mjGAIN_AFFINE: "affine", mjtGain.mjGAIN_MUSCLE: "muscle"}
BIASES = {mjtBias.mjBIAS_NONE: "none", mjtBias.mjBIAS_AFFINE: "affine", mjtBias.mjBIAS_MUSCLE: "muscle"}


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


def text_of(model: Any, *, near_rigid: bool = False) -> Text:
    """The text of a compiled model. What cannot be said is a ``UserWarning`` that names the element."""
    return _Writer(model, near_rigid).write()


def _word(value: Any) -> str:
    """A value as an attribute has it: all digits of every number."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    return " ".join(map(repr, np.asarray(value).ravel().tolist()))


def _element(tag: str, /, *children: str, **attributes: Any) -> str:
    """An element; attributes that are None are left out."""
    said = "".join(f" {key}={quoteattr(_word(value))}" for key, value in attributes.items() if value is not None)
    return f"<{tag}{said}>{''.join(children)}</{tag}>" if children else f"<{tag}{said}/>"


def _is_kind(value: int, enumeration: Any) -> str:
    """The name of a constant in lower case, without its prefix."""
    return str(enumeration(value).name).split("_", 1)[1].lower()


def _by_body(bodies: Any) -> dict[int, list[int]]:
    """The things in each body."""
    found: dict[int, list[int]] = {}
    for index, body in enumerate(bodies.tolist()):
        found.setdefault(body, []).append(index)
    return found


class _Writer:
    def __init__(self, model: Any, near_rigid: bool) -> None:
        self.m = model
        self.near_rigid = near_rigid
        self.assets: dict[str, bytes] = {}
        self.needed: set[tuple[mjtObj, int]] = set()
        self.sites_of = _by_body(model.site_bodyid)
        self.cameras_of = _by_body(model.cam_bodyid)

    def write(self) -> Text:
        m = self.m
        self.warn()
        equality, equalities = self.equalities()
        actuators, activations = self.actuators()
        contact, tendons, sensors = self.contact(), list(self.tendons()), list(self.sensors())
        sections = [
            _element("compiler", angle="radian", autolimits="false", inertiafromgeom="false"),
            self.option(),
            _element("worldbody", *self.world()),
            _element("asset", *self.meshes(), *self.height_fields()),
            _element("contact", *contact),
            _element("tendon", *tendons),
            _element("equality", *equality),
            _element("actuator", *actuators),
            _element("sensor", *sensors),
            _element("keyframe", *self.keys(activations)),
            _element("statistic", center=m.stat.center, extent=float(m.stat.extent)),
        ]
        name = m.names.split(b"\0", 1)[0].decode()
        text = _element("mujoco", *sections, model=name)
        return Text(text, self.assets, equalities, activations)

    def own_name(self, kind: mjtObj, index: int) -> str | None:
        """The name that the model gives."""
        return mujoco.mj_id2name(self.m, int(kind), index) or None

    def ref(self, kind: mjtObj, index: int) -> str:
        """The name by which something is referred to, made up where it has none."""
        if kind == mjtObj.mjOBJ_BODY and index == 0:
            return "world"
        self.needed.add((kind, index))
        name = self.own_name(kind, index)
        if name is None:
            name = f"{_is_kind(int(kind), mjtObj)} {index}"
            while mujoco.mj_name2id(self.m, int(kind), name) >= 0:
                name += "'"
        return name

    def name(self, kind: mjtObj, index: int) -> str | None:
        """The name of an element, if it has one or something refers to it."""
        return self.ref(kind, index) if (kind, index) in self.needed else self.own_name(kind, index)

    def warn(self) -> None:
        """Names what has no words in the text."""
        m = self.m
        flexes = [(mjtObj.mjOBJ_FLEX, i, "its nodes are bodies without elasticity") for i in range(m.nflex)]
        plugins = [
            (mjtObj.mjOBJ_BODY, i, "its plugin does nothing here") for i in np.flatnonzero(m.body_plugin >= 0).tolist()
        ]
        for kind, index, message in flexes + plugins:
            name = self.own_name(kind, index) or index
            warnings.warn(f"{_is_kind(int(kind), mjtObj)} {name}: {message}", UserWarning, stacklevel=5)

    def compliance(self, solref: Any, solimp: Any, suffix: str = "") -> dict[str, Any]:
        return {} if self.near_rigid else {f"solref{suffix}": solref, f"solimp{suffix}": solimp}

    def option(self) -> str:
        o = self.m.opt
        off = [name for name in FLAGS if o.disableflags & getattr(mjtDisableBit, f"mjDSBL_{name.upper()}")]
        flags = dict.fromkeys(off, "disable")
        if o.enableflags & mjtEnableBit.mjENBL_OVERRIDE:
            flags["override"] = "enable"
        groups = [k for k in range(31) if o.disableactuator >> k & 1]
        return _element(
            "option",
            _element("flag", **flags),
            timestep=o.timestep,
            gravity=o.gravity,
            wind=o.wind,
            magnetic=o.magnetic,
            density=o.density,
            viscosity=o.viscosity,
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
        children: list[list[str]] = [[] for _ in range(m.nbody)]
        for body in range(m.nbody - 1, 0, -1):
            element = _element(
                "body",
                *self.contents(body),
                *reversed(children[body]),
                name=self.name(mjtObj.mjOBJ_BODY, body),
                pos=m.body_pos[body],
                quat=m.body_quat[body],
                mocap=True if m.body_mocapid[body] >= 0 else None,
                gravcomp=m.body_gravcomp[body] or None,
            )
            children[m.body_parentid[body]].append(element)
        return [*self.contents(0), *reversed(children[0])]

    def contents(self, body: int) -> list[str]:
        """Inertia, joints, geoms, sites and cameras of a body."""
        m = self.m
        found = []
        if body:
            place = {"pos": m.body_ipos[body], "quat": m.body_iquat[body]}
            found.append(_element("inertial", **place, mass=m.body_mass[body], diaginertia=m.body_inertia[body]))
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
        return _element(
            "joint",
            name=self.name(mjtObj.mjOBJ_JOINT, j),
            type=_is_kind(kind, mjtJoint),
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
        return _element(
            "geom",
            name=self.name(mjtObj.mjOBJ_GEOM, g),
            type=_is_kind(kind, mjtGeom),
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
            rgba=m.geom_rgba[g] if has_own_colour else m.mat_rgba[material],
            group=m.geom_group[g],
        )

    def site(self, s: int) -> str:
        m = self.m
        return _element(
            "site",
            name=self.name(mjtObj.mjOBJ_SITE, s),
            type=_is_kind(m.site_type[s], mjtGeom),
            pos=m.site_pos[s],
            quat=m.site_quat[s],
            size=np.maximum(m.site_size[s], MIN_SIZE),
        )

    def camera(self, c: int) -> str:
        m = self.m
        mode, target = mjtCamLight(m.cam_mode[c]), m.cam_targetbodyid[c]
        return _element(
            "camera",
            name=self.name(mjtObj.mjOBJ_CAMERA, c),
            mode=_is_kind(mode, mjtCamLight),
            target=self.ref(mjtObj.mjOBJ_BODY, target) if target >= 0 else None,
            pos=m.cam_pos[c],
            quat=m.cam_quat[c],
            fovy=m.cam_fovy[c],
            resolution=m.cam_resolution[c],
        )

    def meshes(self) -> Iterator[str]:
        """Meshes as files of MuJoCo's binary format, which holds their numbers bit for bit."""
        m = self.m
        is_solid = np.isin(m.geom_type, [mjtGeom.mjGEOM_MESH, mjtGeom.mjGEOM_SDF])
        for k in sorted({int(k) for k in m.geom_dataid[is_solid]}):
            vertices = m.mesh_vert[m.mesh_vertadr[k] :][: m.mesh_vertnum[k]]
            faces = m.mesh_face[m.mesh_faceadr[k] :][: m.mesh_facenum[k]]
            counts = np.array([len(vertices), 0, 0, len(faces)], np.int32)
            self.assets[f"mesh{k}.msh"] = counts.tobytes() + vertices.tobytes() + faces.tobytes()
            # Bodies have their inertia already, so that a mesh need not enclose a volume.
            yield _element("mesh", name=f"mesh {k}", file=f"mesh{k}.msh", inertia="shell")

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
            yield _element("hfield", name=f"field {k}", file=f"field{k}.bin", size=size)

    def contact(self) -> list[str]:
        m = self.m
        body, geom = mjtObj.mjOBJ_BODY, mjtObj.mjOBJ_GEOM
        elements = [
            _element("exclude", body1=self.ref(body, key >> 16), body2=self.ref(body, key & 0xFFFF))
            for key in m.exclude_signature.tolist()
        ]
        for k in range(m.npair):
            elements.append(
                _element(
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
            yield _element(
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
            return _element("joint", joint=self.ref(mjtObj.mjOBJ_JOINT, index), coef=number)
        if kind == mjtWrap.mjWRAP_PULLEY:
            return _element("pulley", divisor=number)
        if kind == mjtWrap.mjWRAP_SITE:
            return _element("site", site=self.ref(mjtObj.mjOBJ_SITE, index))
        side = self.ref(mjtObj.mjOBJ_SITE, round(number)) if number >= 0 else None
        return _element("geom", geom=self.ref(mjtObj.mjOBJ_GEOM, index), sidesite=side)

    def equalities(self) -> tuple[list[str], list[int]]:
        """The elements, and MuJoCo's index of each."""
        elements, indices = [], []
        for e in range(self.m.neq):
            element = self.equality(e)
            if isinstance(element, str):
                elements.append(element)
                indices.append(e)
        return elements, indices

    def equality(self, e: int) -> str | None:
        """An equality constraint; None of one without a counterpart, and of one that joins what moves as one."""
        m = self.m
        kind, first, second = mjtEq(m.eq_type[e]), int(m.eq_obj1id[e]), int(m.eq_obj2id[e])
        data, of = m.eq_data[e], mjtObj(m.eq_objtype[e])
        if kind in (mjtEq.mjEQ_JOINT, mjtEq.mjEQ_TENDON):
            word, of = _is_kind(kind, mjtEq), mjtObj.mjOBJ_JOINT if kind == mjtEq.mjEQ_JOINT else mjtObj.mjOBJ_TENDON
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
            self.leave_out(mjtObj.mjOBJ_EQUALITY, e, "a constraint of a flex: not simulated")
            return None
        compliance = self.compliance(m.eq_solref[e], m.eq_solimp[e])
        name, active = self.name(mjtObj.mjOBJ_EQUALITY, e), m.eq_active0[e]
        return _element(_is_kind(kind, mjtEq), name=name, active=active, **ends, **compliance)

    def leave_out(self, kind: mjtObj, index: int, message: str) -> None:
        name = self.own_name(kind, index) or index
        warnings.warn(f"{_is_kind(int(kind), mjtObj)} {name}: {message}", UserWarning, stacklevel=2)

    def actuators(self) -> tuple[list[str], list[int]]:
        """The elements, and MuJoCo's address of the activation of each that has one here."""
        m = self.m
        elements, activations = [], []
        is_off = bool(m.opt.disableflags & mjtDisableBit.mjDSBL_ACTUATION)
        for a in range(m.nactuator):
            gain, bias = GAINS.get(mjtGain(m.actuator_gaintype[a])), BIASES.get(mjtBias(m.actuator_biastype[a]))
            dynamics, transmission = DYNAMICS.get(mjtDyn(m.actuator_dyntype[a])), mjtTrn(m.actuator_trntype[a])
            target = self.transmission(a, transmission)
            is_simulated = None not in (gain, bias, dynamics, target) and m.actuator_plugin[a] < 0
            if gain == "muscle":
                of_joint = transmission in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)
                scalar = (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE)
                acts = (
                    of_joint and mjtJoint(m.jnt_type[m.actuator_trnid[a, 0]]) in scalar
                ) or transmission == mjtTrn.mjTRN_TENDON
                is_simulated = is_simulated and acts and bias != "affine"
            group = int(m.actuator_group[a])
            is_disabled = is_off or (0 <= group < 31 and m.opt.disableactuator >> group & 1)
            if not is_simulated:
                self.leave_out(mjtObj.mjOBJ_ACTUATOR, a, "not simulated: it takes controls, but has no force")
                # Something that takes as many controls and does nothing.
                idle = {"body": "world", "group": group, "ctrllimited": False, "forcelimited": False}
                name = self.name(mjtObj.mjOBJ_ACTUATOR, a)
                elements += [
                    _element("general", name=None if k else name, **idle) for k in range(m.actuator_ctrlnum[a])
                ]
                continue
            if m.actuator_actnum[a] and not is_disabled:
                activations.append(int(m.actuator_actadr[a]))
            elements.append(
                self.actuator(a, {"gaintype": gain, "biastype": bias, "dyntype": dynamics, **(target or {})})
            )
        return elements, activations

    def transmission(self, a: int, kind: mjtTrn) -> dict[str, Any] | None:
        """What an actuator acts on; None where it is not simulated."""
        first, second = self.m.actuator_trnid[a].tolist()
        joint, site = mjtObj.mjOBJ_JOINT, mjtObj.mjOBJ_SITE
        if kind == mjtTrn.mjTRN_JOINT:
            return {"joint": self.ref(joint, first)}
        if kind == mjtTrn.mjTRN_JOINTINPARENT:
            return {"jointinparent": self.ref(joint, first)}
        if kind == mjtTrn.mjTRN_TENDON:
            return {"tendon": self.ref(mjtObj.mjOBJ_TENDON, first)}
        if kind == mjtTrn.mjTRN_SITE:
            return {"site": self.ref(site, first), "refsite": self.ref(site, second) if second >= 0 else None}
        if kind == mjtTrn.mjTRN_SLIDERCRANK:
            ends = {"cranksite": self.ref(site, first), "slidersite": self.ref(site, second)}
            return {**ends, "cranklength": self.m.actuator_cranklength[a]}
        return None

    def actuator(self, a: int, words: dict[str, Any]) -> str:
        m = self.m
        control, out = m.actuator_ctrladr[a], m.actuator_outadr[a]
        on = {
            "ctrl": (m.actuator_ctrllimited, m.actuator_ctrlrange, control),
            "force": (m.actuator_forcelimited, m.actuator_forcerange, a),
            "act": (m.actuator_actlimited, m.actuator_actrange, a),
        }
        limits: dict[str, Any] = {}
        for word, (limited, ranges, index) in on.items():
            is_limited = bool(limited[min(index, len(limited) - 1)])
            limits |= {f"{word}limited": is_limited, f"{word}range": ranges[index] if is_limited else None}
        return _element(
            "general",
            name=self.name(mjtObj.mjOBJ_ACTUATOR, a),
            **words,
            gear=m.actuator_gear[out],
            gainprm=m.actuator_gainprm[a],
            biasprm=m.actuator_biasprm[a],
            dynprm=m.actuator_dynprm[a],
            **limits,
            lengthrange=m.actuator_lengthrange[out],
            actearly=m.actuator_actearly[a],
            armature=m.actuator_armature[a] or None,
            damping=m.actuator_damping[a] or None,
            delay=m.actuator_delay[a] or None,
            group=m.actuator_group[a],
        )

    def sensors(self) -> Iterator[str]:
        m = self.m
        for s in range(m.nsensor):
            kind = mjtSensor(m.sensor_type[s])
            words = self.measured(s, kind)
            tag = SENSORS.get(kind, _is_kind(kind, mjtSensor))
            if words is None:
                self.leave_out(mjtObj.mjOBJ_SENSOR, s, "not simulated: its numbers are zero")
                tag, words = "user", {"dim": m.sensor_dim[s]}
            cutoff, noise = m.sensor_cutoff[s] or None, m.sensor_noise[s] or None
            yield _element(tag, name=self.name(mjtObj.mjOBJ_SENSOR, s), **words, cutoff=cutoff, noise=noise)

    def measured(self, s: int, kind: mjtSensor) -> dict[str, Any] | None:
        """What a sensor measures; None of one that has no counterpart."""
        m = self.m
        of, index = mjtObj(m.sensor_objtype[s]), int(m.sensor_objid[s])
        to, other = mjtObj(m.sensor_reftype[s]), int(m.sensor_refid[s])
        none = (
            mjtSensor.mjSENS_TACTILE,
            mjtSensor.mjSENS_PLUGIN,
            mjtSensor.mjSENS_USER,
            mjtSensor.mjSENS_CAMPROJECTION,
        )
        if kind in none or mjtObj.mjOBJ_CAMERA in (of, to if other >= 0 else of):
            return None
        data = m.sensor_intprm[s].tolist()
        if kind == mjtSensor.mjSENS_CONTACT:
            ends = {}
            for number, end, which in ((1, of, index), (2, to, other)):
                if which >= 0 and end != mjtObj.mjOBJ_UNKNOWN:
                    word = {mjtObj.mjOBJ_XBODY: "subtree", mjtObj.mjOBJ_SITE: "site"}.get(end, _is_kind(end, mjtObj))
                    ends[word if word == "site" else f"{word}{number}"] = self.ref(self.plain(end), which)
            fields = [name for bit, name in enumerate(CONTACT_FIELDS) if data[0] >> bit & 1]
            return {**ends, "data": " ".join(fields), "reduce": REDUCTIONS[data[1]], "num": data[2]}
        if kind in (mjtSensor.mjSENS_GEOMDIST, mjtSensor.mjSENS_GEOMNORMAL, mjtSensor.mjSENS_GEOMFROMTO):
            first = {f"{_is_kind(of, mjtObj)}1": self.ref(of, index)}
            return {**first, f"{_is_kind(to, mjtObj)}2": self.ref(to, other)}
        if kind == mjtSensor.mjSENS_INSIDESITE:
            inside = {"objtype": FRAMES[of], "objname": self.ref(self.plain(of), index)}
            return {**inside, "site": self.ref(mjtObj.mjOBJ_SITE, other)}
        word = _is_kind(kind, mjtSensor)
        if word.startswith("frame"):
            frame = {"objtype": FRAMES[of], "objname": self.ref(self.plain(of), index)}
            if other >= 0:
                frame |= {"reftype": FRAMES[to], "refname": self.ref(self.plain(to), other)}
            return frame
        if of == mjtObj.mjOBJ_UNKNOWN:
            return {}
        words = {_is_kind(of, mjtObj): self.ref(of, index)}
        if kind == mjtSensor.mjSENS_RANGEFINDER:
            words["data"] = " ".join(name for bit, name in enumerate(RAY_FIELDS) if data[0] >> bit & 1)
        return words

    @staticmethod
    def plain(kind: mjtObj) -> mjtObj:
        """The kind of thing that has the name."""
        return mjtObj.mjOBJ_BODY if kind == mjtObj.mjOBJ_XBODY else kind

    def keys(self, activations: list[int]) -> Iterator[str]:
        m = self.m
        for k in range(m.nkey):
            state = {"qpos": m.key_qpos[k], "qvel": m.key_qvel[k], "ctrl": m.key_ctrl[k]}
            said = {word: values for word, values in state.items() if len(values)}
            act = m.key_act[k][activations] if activations else None
            yield _element("key", name=self.own_name(mjtObj.mjOBJ_KEY, k), time=m.key_time[k], **said, act=act)
