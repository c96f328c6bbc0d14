"""`<attach>` in files: bodies of other models, beside MuJoCo compiling the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import mujoco
import numpy as np
import pytest

import sapwood as sw

if TYPE_CHECKING:
    from pathlib import Path

CHILD = """
<mujoco model="kid"><compiler angle="radian" autolimits="true"/><option timestep="0.002"/>
<default><geom density="500" friction=".3"/><joint damping=".7"/><default class="big"><geom size=".2"/></default>
    </default>
<asset><model name="hand" file="hand.xml"/></asset>
<worldbody>
  <body name="base" pos="1 0 0" euler="0 0 1"><joint name="j" range="-1 1" ref=".1"/><geom name="g" class="big"/>
    <site name="s"/>
    <body name="tip" pos="0 0 .5"><joint name="k" type="ball"/><geom name="h" size=".1"/>
      <frame pos="0 0 .2"><attach model="hand" body="palm" prefix="hand_"/></frame></body></body>
  <body name="other" pos="0 2 0"><freejoint name="f"/><geom size=".1" name="o"/></body></worldbody>
<contact><exclude name="ex" body1="base" body2="tip"/><exclude body1="base" body2="other"/>
  <pair geom1="g" geom2="h" friction=".9 .9 .1 .1 .1"/></contact>
<equality><connect name="c" body1="tip" body2="other" anchor="0 0 0"/>
    <joint name="eq" joint1="j" polycoef=".1 1 0 0 0"/>
  <weld name="w" body1="hand_palm" body2="base"/></equality>
<tendon><fixed name="t" range="-1 1"><joint joint="j" coef="2"/></fixed></tendon>
<actuator><motor name="m" joint="j" gear="3"/><motor name="mt" tendon="t"/>
  <motor name="mf" joint="f" gear="1 0 0 0 0 0"/><position name="mh" joint="hand_thumb" kp="4"/></actuator>
<sensor><jointpos name="sj" joint="j" noise=".1"/><gyro name="gy" site="s"/>
    <framepos name="fo" objtype="xbody" objname="other"/>
  <framepos name="fb" objtype="xbody" objname="tip" reftype="site" refname="s"/><tendonpos tendon="t" name="tp"/>
    </sensor>
<keyframe><key name="key" qpos=".3 1 0 0 0 .2 5 5 5 1 0 0 0" ctrl=".1 .2 .3 .4 .5"/></keyframe></mujoco>"""

HAND = """
<mujoco model="grip"><default><geom type="box" size=".03 .04 .05"/><joint type="slide"/></default>
<worldbody><body name="palm" pos="0 0 .1"><geom/><body name="finger" pos=".1 0 0">
    <joint name="thumb" range="0 30"/><geom/></body></body>
</worldbody><actuator><motor name="pull" joint="thumb"/></actuator>
<sensor><jointvel joint="thumb" name="speed"/></sensor></mujoco>"""

PARENT = """
<mujoco><compiler angle="degree"/><asset><model name="kid" file="child.xml"/></asset><default><geom size=".05"/>
    </default>
<worldbody><geom name="floor" type="plane" size="1 1 1"/>
  <body name="a" pos="0 0 3"><joint name="aj" range="-90 90"/><geom/>
    <frame pos="0 1 0" euler="0 0 90"><attach model="kid" body="base" prefix="p_"/></frame>
    <body name="z"><geom name="zg"/><joint name="zj"/></body></body>
  <frame pos="3 0 0"><attach model="kid" body="tip" prefix="q_"/></frame></worldbody>
<contact><exclude body1="p_tip" body2="z"/></contact>
<actuator><motor name="am" joint="aj"/><motor name="pk" joint="p_hand_thumb"/></actuator>
<sensor><jointpos name="as" joint="aj"/><framepos name="x" objtype="xbody" objname="p_hand_finger"/></sensor>
    </mujoco>"""

KID = '<asset><model name="m" file="child.xml"/></asset>'

FIELDS = {
    "body_parentid": 0, "body_pos": 1e-14, "body_quat": 1e-14, "body_mass": 1e-12, "jnt_type": 0, "jnt_bodyid": 0,
    "jnt_qposadr": 0, "qpos0": 1e-14, "dof_damping": 1e-14, "actuator_trntype": 0, "actuator_trnid": 0,
    "sensor_type": 0, "sensor_adr": 0, "sensor_objtype": 0, "sensor_objid": 0, "sensor_reftype": 0, "sensor_refid": 0,
    "sensor_noise": 0, "eq_type": 0, "key_qpos": 1e-14, "key_ctrl": 1e-14, "tendon_range": 1e-14, "geom_bodyid": 0,
}  # fmt: skip


def files(folder: Path, parent: str = PARENT) -> Path:
    for name, text in (("child.xml", CHILD), ("hand.xml", HAND), ("parent.xml", parent)):
        (folder / name).write_text(text)
    return folder / "parent.xml"


def test_what_is_attached_is_what_mujoco_compiles(tmp_path: Path) -> None:
    path = files(tmp_path)
    model, theirs = sw.load(path), mujoco.MjModel.from_xml_path(str(path))
    names = {
        "body": (mujoco.mjtObj.mjOBJ_BODY, theirs.nbody, model.body_names),
        "joint": (mujoco.mjtObj.mjOBJ_JOINT, theirs.njnt, model.joint_names),
        "actuator": (mujoco.mjtObj.mjOBJ_ACTUATOR, theirs.nu, model.actuator_names),
        "sensor": (mujoco.mjtObj.mjOBJ_SENSOR, theirs.nsensor, model.sensor_names),
    }
    for kind, (number, count, ours) in names.items():
        assert ours == [mujoco.mj_id2name(theirs, number, i) or "" for i in range(count)], kind
    # Written out, it is one model, which MuJoCo compiles to the same.
    ours = mujoco.MjModel.from_xml_string(model.to_mjcf())
    for name, tolerance in FIELDS.items():
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=tolerance, err_msg=name)
    pairs = [sorted(zip(m.pair_geom1, m.pair_geom2, strict=True)) for m in (ours, theirs)]
    assert pairs[0] == pairs[1]
    assert sorted(ours.exclude_signature) == sorted(theirs.exclude_signature)
    q = np.random.default_rng(0).normal(size=model.nq)
    for key in range(theirs.nkey):
        name = theirs.key(key).name
        np.testing.assert_allclose(model.keyframe(name).q, theirs.key_qpos[key], atol=1e-14, err_msg=name)
    data = mujoco.MjData(theirs)
    data.qpos[:] = q
    mujoco.mj_normalizeQuat(theirs, data.qpos)
    mujoco.mj_kinematics(theirs, data)
    positions, _ = model.forward_kinematics(data.qpos)
    np.testing.assert_allclose(positions, data.xpos, atol=1e-12)


def test_what_cannot_be_attached(tmp_path: Path) -> None:
    bad: list[tuple[str, str, str]] = [
        (
            KID,
            '<attach model="k" body="base" prefix="p_"/>',
            "of a <model>",
        ),
        (
            KID,
            '<attach model="m" body="no" prefix="p_"/>',
            'body="no": exp',
        ),
        ('<asset><model name="m" file="none.xml"/></asset>', '<attach model="m" prefix="p_"/>', "cannot be read"),
        ('<asset><model name="m" file="parent.xml"/></asset>', '<attach model="m" prefix="p_"/>', "attaches itself"),
        (
            KID,
            '<attach model="m" body="base"/><body name="base"/>',
            "base",
        ),
        (
            KID,
            '<attach model="m" body="tip"/><attach model="m" body="tip"/>',
            "expected a prefix",
        ),
    ]
    for assets, content, message in bad:
        text = f"<mujoco>{assets}<worldbody>{content}</worldbody></mujoco>"
        with pytest.raises(sw.ModelError, match=message):
            sw.load(files(tmp_path, text))
    with pytest.raises(sw.ModelError, match="without a folder"):
        sw.load(PARENT)


def test_motors_come_with_all_their_controls(tmp_path: Path) -> None:
    part = """<mujoco model="part"><worldbody><body name="a"><joint name="j"/><geom size=".1"/></body>
      <body name="b"><joint name="k"/><geom size=".1"/></body></worldbody>
      <actuator><pid name="p" joint="j" kp="2" kv=".1"/><pid name="q" joint="k" kp="3" ki="1"/></actuator></mujoco>"""
    (tmp_path / "part.xml").write_text(part)
    whole = """<mujoco><asset><model name="part" file="part.xml"/></asset><worldbody>
      <attach model="part" body="b" prefix="x_"/></worldbody></mujoco>"""
    (tmp_path / "whole.xml").write_text(whole)
    theirs, model = mujoco.MjModel.from_xml_path(str(tmp_path / "whole.xml")), sw.load(tmp_path / "whole.xml")
    assert (theirs.nu, theirs.na) == (model.nu, len(sw.Simulation(model).act)) == (2, 1)
    assert sw.Simulation(model).actuator("x_q").index == 0
    b = sw.ModelBuilder()
    b.attach(sw.load(part))
    assert b.build().nu == 4
    b.joint("j").remove()
    assert b.build().nu == 2


FRAMES = """
<mujoco model="kid"><option gravity="0 0 -3"><flag limit="disable" equality="disable"/></option><worldbody>
  <geom name="own" size=".3"/>
  <frame name="outer" pos="0 0 10" euler="0 30 0">
    <body name="b" pos="0 0 1" euler="0 90 0"><joint name="j" range="-10 10"/><geom size=".1"/>
      <frame pos="1 2 3"><frame name="inner" pos="1 0 0" euler="0 0 90"><site name="s" pos="0 0 .3"/>
        <frame name="empty"/><frame><body name="k" pos="0 1 0"><joint name="kj"/><geom name="kg" size=".3"/></body>
          <body name="l"><joint name="lj"/><geom size=".1"/></body></frame></frame></frame>
      <body name="m"><joint name="mj"/><geom size=".1"/></body></body></frame></worldbody>
  <equality><joint joint1="kj" joint2="lj"/></equality>
  <tendon><fixed name="t"><joint joint="kj" coef="1"/><joint joint="mj" coef="1"/></fixed></tendon>
  <actuator><motor name="u" joint="kj"/><motor joint="mj"/></actuator></mujoco>"""

FRAMED = """
<mujoco><option><flag contact="disable"/></option><asset><model name="kid" file="child.xml"/></asset><worldbody>
  <body name="a" pos="0 0 5"><joint name="aj"/><geom size=".1"/>
    <frame pos="0 3 0" euler="90 0 0"><attach model="kid" frame="inner" prefix="p_"/></frame>
    <frame pos="1 0 0"><attach model="kid" body="b" prefix="q_"/></frame>
    <attach model="kid" frame="outer" prefix="r_"/></body>
  <attach model="kid" frame="inner" prefix="w_"/></worldbody></mujoco>"""

OF_ITSELF = """
<mujoco><worldbody>
  <body name="m" pos="0 0 5"><joint name="j"/><geom size=".1"/>
    <frame name="f" pos="0 0 1"><geom name="g" size=".2" contype="0"/><body name="k" pos="1 0 0"><joint name="kj"/>
      <geom size=".1"/></body></frame></body>
  <frame pos="4 0 0" euler="0 0 90"><attach frame="f" prefix="a_"/></frame>
  <frame pos="8 0 0"><attach body="m" prefix="b_"/></frame><attach frame="f" prefix="c_"/></worldbody>
  <actuator><motor name="u" joint="kj"/></actuator></mujoco>"""


@pytest.mark.parametrize("parent", [FRAMED, OF_ITSELF])
def test_frames_are_attached(tmp_path: Path, parent: str) -> None:
    """All that stands in a frame, with its own pose but none of those around it, under the main model's flags."""
    path = files(tmp_path, parent)
    (tmp_path / "child.xml").write_text(FRAMES)
    model, theirs = sw.load(path), mujoco.MjModel.from_xml_path(str(path))
    assert sorted(model.body_names) == sorted(theirs.body(i).name for i in range(theirs.nbody))
    assert sorted(model.actuator_names) == sorted(theirs.actuator(i).name for i in range(theirs.nu))
    ours = mujoco.MjModel.from_xml_string(model.to_mjcf())
    for m in (ours, theirs):
        m.opt.disableflags = 0
    assert (ours.ngeom, ours.nsite, ours.neq, ours.ntendon) == (theirs.ngeom, theirs.nsite, theirs.neq, theirs.ntendon)
    for kind, fields in {
        "body": ("pos", "quat", "mass"),
        "geom": ("pos",),
        "site": ("pos",),
        "joint": ("limited",),
    }.items():
        for k in range(getattr(theirs, f"n{kind}" if kind != "joint" else "njnt")):
            expected = getattr(theirs, kind)(k)
            for field in fields if expected.name else ():
                found = getattr(getattr(ours, kind)(expected.name), field)
                message = f"{kind} {expected.name} {field}"
                np.testing.assert_allclose(found, getattr(expected, field), atol=1e-12, err_msg=message)
    q = np.random.default_rng(1).normal(size=model.nq)
    accelerations = []
    for m in (ours, theirs):
        data = mujoco.MjData(m)
        for k in range(m.njnt):
            data.joint(theirs.joint(k).name).qpos = q[k]
        mujoco.mj_forward(m, data)
        accelerations.append([data.joint(theirs.joint(k).name).qacc[0] for k in range(m.njnt)])
    np.testing.assert_allclose(accelerations[0], accelerations[1], rtol=1e-9, atol=1e-9)


def test_what_cannot_be_attached_of_frames(tmp_path: Path) -> None:
    attach = '<attach model="m" {} prefix="p_"/>'
    bad = [
        (attach.format('frame="no"'), 'frame="no": expected the name of a frame'),
        (attach.format('frame="inner" body="b"'), "both `body` and `frame`"),
        (f'<body><joint/><geom size=".1"/>{attach.format("")}</body>', "geoms of its own"),
        ('<attach prefix="p_"/>', "`body` or `frame` of this model"),
        ('<attach frame="no" prefix="p_"/>', 'frame="no"'),
    ]
    for content, message in bad:
        path = files(tmp_path, f"<mujoco>{KID}<worldbody>{content}</worldbody></mujoco>")
        (tmp_path / "child.xml").write_text(FRAMES)
        with pytest.raises(sw.ModelError, match=message):
            sw.load(path)
