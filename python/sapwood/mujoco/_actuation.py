"""Actuators and sensors of a compiled ``MjModel`` in the words of MJCF."""

# MuJoCo's classes have no types.

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any, NamedTuple

import mujoco
import numpy as np
from mujoco import mjtBias, mjtCamLight, mjtDisableBit, mjtDyn, mjtGain, mjtJoint, mjtObj, mjtSensor, mjtTrn, mjtWrap

from sapwood.mujoco._words import Names, element, kind_of

__all__ = ["Actuation"]

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
FRAMES = {
    mjtObj.mjOBJ_BODY: "body",
    mjtObj.mjOBJ_XBODY: "xbody",
    mjtObj.mjOBJ_GEOM: "geom",
    mjtObj.mjOBJ_SITE: "site",
    mjtObj.mjOBJ_CAMERA: "camera",
}
DYNAMICS = {
    mjtDyn.mjDYN_NONE: "none",
    mjtDyn.mjDYN_INTEGRATOR: "integrator",
    mjtDyn.mjDYN_FILTER: "filter",
    mjtDyn.mjDYN_FILTEREXACT: "filterexact",
    mjtDyn.mjDYN_MUSCLE: "muscle",
}
GAINS = {mjtGain.mjGAIN_FIXED: "fixed", mjtGain.mjGAIN_AFFINE: "affine", mjtGain.mjGAIN_MUSCLE: "muscle"}
BIASES = {mjtBias.mjBIAS_NONE: "none", mjtBias.mjBIAS_AFFINE: "affine", mjtBias.mjBIAS_MUSCLE: "muscle"}
MOTORS = (mjtGain.mjGAIN_PID, mjtGain.mjGAIN_DCMOTOR, mjtGain.mjGAIN_SO3)
INPUTS = ("pos", "vel", "ff", "voltage")
"""Of motors, by their bits."""
INTERPOLATIONS = ("zoh", "linear", "cubic")


@functools.cache
def _slot_of_pid() -> int:
    """The number that MuJoCo has given the plugin ``mujoco.pid``; -1 where it is not there."""
    actuator = '<plugin plugin="mujoco.pid" joint="j"/>'
    text = f"""<mujoco><extension><plugin plugin="mujoco.pid"/></extension><worldbody><body><joint name="j"/>
      <geom size="1"/></body></worldbody><actuator>{actuator}</actuator></mujoco>"""
    try:
        return int(mujoco.MjModel.from_xml_string(text).plugin[0])
    except ValueError:
        return -1


class Actuators(NamedTuple):
    """What becomes of a model's actuators."""

    elements: list[str]
    activations: list[int]
    """MuJoCo's address of the activation of each that has one here."""
    histories: list[int]
    """MuJoCo's address of the past controls of each that has a delay here."""


class Actuation(Names):
    """Elements of actuators and sensors."""

    def actuators(self) -> Actuators:
        """The elements, and where MuJoCo has what they remember."""
        m = self.m
        elements: list[str] = []
        activations: list[int] = []
        histories: list[int] = []
        is_off = bool(m.opt.disableflags & mjtDisableBit.mjDSBL_ACTUATION)
        for a in range(m.nactuator):
            if m.actuator_plugin[a] >= 0:
                made = self.plugin(a)
            else:
                made = self.motor(a) if mjtGain(m.actuator_gaintype[a]) in MOTORS else self.general(a)
            group = int(m.actuator_group[a])
            is_disabled = is_off or (0 <= group < 31 and m.opt.disableactuator >> group & 1)
            if made is None:
                self.leave_out(mjtObj.mjOBJ_ACTUATOR, a, "not simulated: it takes controls, but has no force")
                # Something that takes as many controls and does nothing.
                idle = {"body": "world", "group": group, "ctrllimited": False, "forcelimited": False}
                name = self.name(mjtObj.mjOBJ_ACTUATOR, a)
                elements += [element("general", name=None if k else name, **idle) for k in range(m.actuator_ctrlnum[a])]
                continue
            if not is_disabled:
                first = int(m.actuator_actadr[a])
                activations += range(first, first + int(m.actuator_actnum[a]))
            if m.actuator_delay[a] > 0:
                histories.append(int(m.actuator_historyadr[a]))
            elements.append(made)
        return Actuators(elements, activations, histories)

    def general(self, a: int) -> str | None:
        """An actuator with one control; None of one that is not simulated."""
        m = self.m
        gain, bias = GAINS.get(mjtGain(m.actuator_gaintype[a])), BIASES.get(mjtBias(m.actuator_biastype[a]))
        dynamics, transmission = DYNAMICS.get(mjtDyn(m.actuator_dyntype[a])), mjtTrn(m.actuator_trntype[a])
        target = self.transmission(a, transmission)
        is_simulated = None not in (gain, bias, dynamics, target)
        if gain == "muscle":
            acts = self.has_length(a) or transmission == mjtTrn.mjTRN_TENDON
            is_simulated = is_simulated and acts and bias != "affine"
        if not is_simulated:
            return None
        laws = {"gainprm": m.actuator_gainprm[a], "biasprm": m.actuator_biasprm[a], "dynprm": m.actuator_dynprm[a]}
        kinds = {"gaintype": gain, "biastype": bias, "dyntype": dynamics}
        return self.actuator(a, "general", {**kinds, **(target or {}), **laws, **self.limits(a)})

    def motor(self, a: int) -> str | None:
        """A motor with a controller on board, or a servo of a ball; None of one that is not simulated."""
        m = self.m
        kind, transmission = mjtGain(m.actuator_gaintype[a]), mjtTrn(m.actuator_trntype[a])
        if kind == mjtGain.mjGAIN_SO3:
            joint, site = m.actuator_trnid[a].tolist()
            if site >= 0 or m.actuator_dyntype[a] != mjtDyn.mjDYN_NONE:
                return None
            gain, bias = m.actuator_gainprm[a], m.actuator_biasprm[a]
            servo = {"joint": self.ref(mjtObj.mjOBJ_JOINT, joint), "kp": gain[0], "kv": -bias[2]}
            chart = "quat" if m.actuator_ctrlnum[a] == 4 else "expmap"
            limits = self.limits(a)
            limited = {"ctrlrange": limits["ctrlrange"], "ctrllimited": limits["ctrllimited"]}
            forces = {"forcerange": limits["forcerange"], "forcelimited": limits["forcelimited"]}
            return None if bias[0] else self.actuator(a, "orientation", {**servo, "input": chart, **limited, **forces})
        target = self.transmission(a, transmission)
        if target is None or m.actuator_ctrlnum[a] == 0 or not self.has_length(a):
            return None
        spec = int(m.actuator_ctrlspec[a])
        words = " ".join(word for bit, word in enumerate(INPUTS) if spec >> bit & 1)
        own = self.pid(a, words) if kind == mjtGain.mjGAIN_PID else self.dcmotor(a)
        tag = "pid" if kind == mjtGain.mjGAIN_PID else "dcmotor"
        return None if own is None else self.actuator(a, tag, {**target, "input": words, **own})

    def plugin(self, a: int) -> str | None:
        """An actuator of MuJoCo's plugin ``mujoco.pid``; None of another one."""
        m = self.m
        instance = int(m.actuator_plugin[a])
        target = self.transmission(a, mjtTrn(m.actuator_trntype[a]))
        if m.plugin[instance] != _slot_of_pid() or target is None or not self.has_length(a):
            return None
        # Five texts, each with a zero behind it.
        texts = bytes(m.plugin_attr[m.plugin_attradr[instance] :].tobytes()).split(b"\0")[:5]
        kp, ki, kd, imax, slew = (float(text) if text else None for text in texts)
        if slew is not None or imax == 0 or m.actuator_dyntype[a] != mjtDyn.mjDYN_NONE or (ki or 0.0) < 0:
            return None
        # The plugin limits the force of the integral.
        most = imax / ki if imax and ki else 0.0
        gains = {"kp": kp or 0.0, "kv": kd or 0.0, "ki": ki or 0.0, "imax": most, "actearly": True}
        limits = self.limits(a)
        forces = {"forcerange": limits["forcerange"], "forcelimited": limits["forcelimited"]}
        range_ = limits["ctrlrange"] if limits["ctrllimited"] else (0.0, 0.0)
        return self.actuator(a, "pid", {**target, "input": "pos", **gains, "posrange": range_, **forces})

    def pid(self, a: int, words: str) -> dict[str, Any] | None:
        m = self.m
        constant, kp, kv = m.actuator_biasprm[a, :3].tolist()
        if constant:
            return None
        has_states = m.actuator_dyntype[a] == mjtDyn.mjDYN_PID
        imax, slew = m.actuator_dynprm[a, :2].tolist() if has_states else (0.0, 0.0)
        ranges = {}
        for k, word in enumerate(words.split()):
            control = m.actuator_ctrladr[a] + k
            limited = bool(m.actuator_ctrllimited[control])
            ranges[f"{word}range"] = m.actuator_ctrlrange[control] if limited else (0.0, 0.0)
        limits = self.limits(a)
        forces = {"forcerange": limits["forcerange"], "forcelimited": limits["forcelimited"]}
        gains = {"kp": -kp, "kv": -kv, "ki": max(m.actuator_gainprm[a, 0], 0.0) if has_states else 0.0}
        return {**gains, "imax": imax, "slewmax": slew, **ranges, **forces, "actearly": m.actuator_actearly[a]}

    def dcmotor(self, a: int) -> dict[str, Any] | None:
        m = self.m
        resistance, constant, coefficient, reference, kp, ki, kd, voltage = m.actuator_gainprm[a, :8].tolist()
        time, rate, thermal, capacity, ambient, stiffness, damping, slew, imax = m.actuator_dynprm[a, :9].tolist()
        bias = m.actuator_biasprm[a].tolist()
        limits, (low, high) = self.limits(a), m.actuator_forcerange[a]
        most = high if limits["forcelimited"] else 0.0
        if most and low != -high:
            return None
        return {
            **{name: limits[name] for name in ("ctrlrange", "ctrllimited")},
            "motorconst": constant,
            "resistance": resistance,
            "saturation": (most, 0.0, rate),
            "inductance": (0.0, time),
            "controller": (kp, ki, kd, slew, imax, voltage),
            "thermal": (thermal, capacity, 0.0, coefficient, reference, ambient) if thermal else None,
            "cogging": bias[:3],
            "lugre": (stiffness, damping, *bias[3:6]),
        }

    def has_length(self, a: int) -> bool:
        """Whether it acts along one length: of a hinge, a slide or a fixed tendon."""
        m, kind, target = self.m, mjtTrn(self.m.actuator_trntype[a]), int(self.m.actuator_trnid[a, 0])
        if kind == mjtTrn.mjTRN_TENDON:
            return bool(m.wrap_type[m.tendon_adr[target]] == mjtWrap.mjWRAP_JOINT)
        is_joint = kind in (mjtTrn.mjTRN_JOINT, mjtTrn.mjTRN_JOINTINPARENT)
        return is_joint and mjtJoint(m.jnt_type[target]) in (mjtJoint.mjJNT_HINGE, mjtJoint.mjJNT_SLIDE)

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
        if kind == mjtTrn.mjTRN_BODY:  # adhesion
            return {"body": self.ref(mjtObj.mjOBJ_BODY, first)}
        return None

    def limits(self, a: int) -> dict[str, Any]:
        """Ranges of its first control, its force and its activation."""
        m = self.m
        on = {
            "ctrl": (m.actuator_ctrllimited, m.actuator_ctrlrange, m.actuator_ctrladr[a]),
            "force": (m.actuator_forcelimited, m.actuator_forcerange, a),
            "act": (m.actuator_actlimited, m.actuator_actrange, a),
        }
        limits: dict[str, Any] = {}
        for word, (limited, ranges, index) in on.items():
            is_limited = bool(limited[min(index, len(limited) - 1)])
            limits |= {f"{word}limited": is_limited, f"{word}range": ranges[index] if is_limited else None}
        return limits

    def actuator(self, a: int, tag: str, words: dict[str, Any]) -> str:
        """Its element, with what all kinds have."""
        m, out = self.m, self.m.actuator_outadr[a]
        common = {
            "gear": m.actuator_gear[out],
            "lengthrange": m.actuator_lengthrange[out],
            "actearly": m.actuator_actearly[a],
            "armature": m.actuator_armature[a] or None,
            "damping": m.actuator_damping[a] or None,
            **self.delay(a),
            "group": m.actuator_group[a],
        }
        return element(tag, name=self.name(mjtObj.mjOBJ_ACTUATOR, a), **{**common, **words})

    def delay(self, a: int) -> dict[str, Any]:
        """How long controls take to act."""
        m = self.m
        samples, interpolation = m.actuator_history[a].tolist()
        if m.actuator_delay[a] == 0:
            return {}
        return {"delay": m.actuator_delay[a], "nsample": samples, "interp": INTERPOLATIONS[interpolation]}

    def sensors(self) -> Iterator[str]:
        m, delayed = self.m, self.delayed_sensors()
        for s in range(m.nsensor):
            kind = mjtSensor(m.sensor_type[s])
            words = self.measured(s, kind)
            tag = SENSORS.get(kind, kind_of(kind, mjtSensor))
            if words is None:
                self.leave_out(mjtObj.mjOBJ_SENSOR, s, "not simulated: its numbers are zero")
                tag, words = "user", {"dim": m.sensor_dim[s]}
            elif s in delayed:
                samples, interpolation = m.sensor_history[s].tolist()
                words |= {"delay": m.sensor_delay[s], "interval": m.sensor_interval[s]}
                words |= {"nsample": samples, "interp": INTERPOLATIONS[interpolation]}
            cutoff, noise = m.sensor_cutoff[s] or None, m.sensor_noise[s] or None
            yield element(tag, name=self.name(mjtObj.mjOBJ_SENSOR, s), **words, cutoff=cutoff, noise=noise)

    def delayed_sensors(self) -> list[int]:
        """Those that show later what they measure; of the ones that are not simulated the kinds say so."""
        m = self.m
        is_delayed = (m.sensor_history[:, 0] > 0) & ((m.sensor_delay > 0) | (m.sensor_interval[:, 0] > 0))
        found: list[int] = np.flatnonzero(is_delayed).tolist()
        return [s for s in found if self.measured(s, mjtSensor(m.sensor_type[s])) is not None]

    def measured(self, s: int, kind: mjtSensor) -> dict[str, Any] | None:
        """What a sensor measures; None of one that has no counterpart."""
        m = self.m
        of, index = mjtObj(m.sensor_objtype[s]), int(m.sensor_objid[s])
        to, other = mjtObj(m.sensor_reftype[s]), int(m.sensor_refid[s])
        cameras = [which for what, which in ((of, index), (to, other)) if what == mjtObj.mjOBJ_CAMERA and which >= 0]
        moves = any(m.cam_mode[camera] != mjtCamLight.mjCAMLIGHT_FIXED for camera in cameras)
        if moves or kind in (mjtSensor.mjSENS_TACTILE, mjtSensor.mjSENS_PLUGIN, mjtSensor.mjSENS_USER):
            return None
        data = m.sensor_intprm[s].tolist()
        if kind == mjtSensor.mjSENS_CONTACT:
            ends = {}
            for number, end, which in ((1, of, index), (2, to, other)):
                if which >= 0 and end != mjtObj.mjOBJ_UNKNOWN:
                    word = {mjtObj.mjOBJ_XBODY: "subtree", mjtObj.mjOBJ_SITE: "site"}.get(end, kind_of(end, mjtObj))
                    ends[word if word == "site" else f"{word}{number}"] = self.ref(self.plain(end), which)
            fields = [name for bit, name in enumerate(CONTACT_FIELDS) if data[0] >> bit & 1]
            return {**ends, "data": " ".join(fields), "reduce": REDUCTIONS[data[1]], "num": data[2]}
        if kind in (mjtSensor.mjSENS_GEOMDIST, mjtSensor.mjSENS_GEOMNORMAL, mjtSensor.mjSENS_GEOMFROMTO):
            first = {f"{kind_of(of, mjtObj)}1": self.ref(of, index)}
            return {**first, f"{kind_of(to, mjtObj)}2": self.ref(to, other)}
        if kind == mjtSensor.mjSENS_CAMPROJECTION:
            return {"site": self.ref(of, index), "camera": self.ref(to, other)}
        if kind == mjtSensor.mjSENS_INSIDESITE:
            inside = {"objtype": FRAMES[of], "objname": self.ref(self.plain(of), index)}
            return {**inside, "site": self.ref(mjtObj.mjOBJ_SITE, other)}
        word = kind_of(kind, mjtSensor)
        if word.startswith("frame"):
            frame = {"objtype": FRAMES[of], "objname": self.ref(self.plain(of), index)}
            if other >= 0:
                frame |= {"reftype": FRAMES[to], "refname": self.ref(self.plain(to), other)}
            return frame
        if of == mjtObj.mjOBJ_UNKNOWN:
            return {}
        words = {kind_of(of, mjtObj): self.ref(of, index)}
        if kind == mjtSensor.mjSENS_RANGEFINDER:
            words["data"] = " ".join(name for bit, name in enumerate(RAY_FIELDS) if data[0] >> bit & 1)
        return words
