"""Every MJCF in dm_control (suite) and gymnasium against MuJoCo: layout, names, masses, motion, constraints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import Array, State, Worst, brief, random_quaternion
from conftest import Recorder

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
dm_control = pytest.importorskip("dm_control")
gymnasium = pytest.importorskip("gymnasium")

# It would write MUJOCO_LOG.TXT into the present folder.
mujoco.set_mju_user_warning(lambda message: None)

STATES = 20
FOLDERS = {
    "dm_control": Path(dm_control.__file__).parent / "suite",
    "gymnasium": Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets",
}
FILES = [(package, path) for package, folder in FOLDERS.items() for path in sorted(folder.rglob("*.xml"))]


def label(package: str, path: Path) -> str:
    return f"{package}/{path.relative_to(FOLDERS[package])}"


def compile_mujoco(path: Path) -> Any:
    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"MuJoCo itself does not compile it: {error}")


@pytest.mark.parametrize(("package", "path"), FILES, ids=[label(*file) for file in FILES])
def test_model_agrees(package: str, path: Path, record: Recorder) -> None:
    theirs = compile_mujoco(path)
    worst = Worst()
    try:
        ours = sw.load(path)
        check_layout(ours, theirs)
        worst.compare("mass", ours.body_masses, np.array(theirs.body_mass))
        compare_dynamics(ours, theirs, worst)
        worst.check()
    except (AssertionError, sw.ModelError) as error:
        record("mujoco", label(package, path), f"FAILS: {brief(error)}")
        raise
    record("mujoco", label(package, path), f"agrees: {worst}")


def check_layout(ours: sw.Model, theirs: Any) -> None:
    assert (ours.nq, ours.nv, ours.nu, ours.nbody) == (theirs.nq, theirs.nv, theirs.nu, theirs.nbody)
    assert ours.body_names == [theirs.body(i).name for i in range(theirs.nbody)]
    assert ours.joint_names == [theirs.joint(i).name for i in range(theirs.njnt)]
    assert ours.actuator_names == [theirs.actuator(i).name for i in range(theirs.nu)]
    assert ours.equality_names == [theirs.equality(i).name for i in range(theirs.neq)]
    assert ours.tendon_names == [theirs.tendon(i).name for i in range(theirs.ntendon)]
    assert ours.body_parents == theirs.body_parentid.tolist()
    assert ours.timestep == theirs.opt.timestep
    weightless = theirs.opt.disableflags & mujoco.mjtDisableBit.mjDSBL_GRAVITY
    np.testing.assert_array_equal(ours.gravity, np.zeros(3) if weightless else theirs.opt.gravity)


def compare_dynamics(ours: sw.Model, theirs: Any, worst: Worst) -> None:
    data = mujoco.MjData(theirs)
    worst.compare("qpos0", ours.keyframe().q, np.array(theirs.qpos0))
    mass_matrix = np.zeros((theirs.nv, theirs.nv))
    rng = np.random.default_rng(2)
    for _ in range(STATES):
        state = random_state(theirs, rng)
        data.qpos[:], data.qvel[:] = state.q, state.v
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, mass_matrix)
        poses = ours.forward_kinematics(state.q)
        worst.compare("position", poses.positions, np.array(data.xpos))
        worst.compare_quaternions("orientation", poses.quaternions, np.array(data.xquat))
        worst.compare("mass matrix", ours.mass_matrix(state.q), mass_matrix)
        worst.compare("bias", ours.bias_forces(state.q, state.v), np.array(data.qfrc_bias))
        worst.compare("tendons", ours.tendon_lengths(state.q), np.array(data.ten_length))
        rows = np.array(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY])
        worst.compare("equalities", as_in_mujoco(ours.equality_residuals(state.q), rows, theirs), rows)


def as_in_mujoco(ours: Array, theirs: Array, model: Any) -> Array:
    """Residuals of the active constraints.

    MuJoCo's of a turn by t is sin(t/2) along its axis, or minus that, as the quaternion comes.
    """
    sizes = {int(mujoco.mjtEq.mjEQ_CONNECT): 3, int(mujoco.mjtEq.mjEQ_WELD): 6}
    kept = []
    for kind, active in zip(model.eq_type.tolist(), model.eq_active0, strict=True):
        row, ours = np.split(ours, [sizes.get(kind, 1)])
        if not active:
            continue
        reference, theirs = np.split(theirs, [len(row)])
        if kind == mujoco.mjtEq.mjEQ_WELD:
            angle = float(np.linalg.norm(row[3:]))
            row[3:] *= np.sin(angle / 2) / angle * np.sign(row[3:] @ reference[3:])
        kept.append(row)
    assert (ours.size, theirs.size) == (0, 0)
    return np.concatenate(kept) if kept else ours


LINKAGE = """
<mujoco>
  <compiler angle="radian"/>
  <worldbody>
    <site name="out" pos="1 2 3" euler="0.1 0.2 0.3"/>
    <body name="a" pos="0 0 1" euler="0.3 0 0">
      <freejoint/><geom size="0.1"/><site name="on a" pos="0.1 0.2 0.3" euler="0.5 0 0"/>
      <body name="b" pos="0.3 0 0" euler="0.1 0.2 0.7">
        <joint name="turn" ref="0.4" springref="0.9" pos="0.1 0.1 0.1" axis="1 2 3"/><geom size="0.1"/>
        <site name="on b" pos="0 0 0.1" euler="1 2 3"/>
        <body name="c" pos="0.3 0 0"><joint name="shift" type="slide" ref="0.2"/><geom size="0.1"/></body>
      </body>
    </body>
    <body name="d" pos="2 0 1" euler="0 0.5 0"><joint type="ball" pos="0.1 0.2 0.3"/><geom size="0.1"/></body>
    <body name="fixed" pos="0 1 0" euler="1 0 0"><geom size="0.1"/></body>
  </worldbody>
  <tendon>
    <fixed name="one"><joint joint="turn" coef="2"/></fixed>
    <fixed name="two"><joint joint="turn" coef="-1"/><joint joint="shift" coef="2"/></fixed>
  </tendon>
  <equality>
    <connect body1="a" anchor="1 2 3"/>
    <connect body1="a" body2="d" anchor="1 2 3"/>
    <connect body1="world" body2="c" anchor="0.1 0.2 0.3"/>
    <connect site1="on a" site2="on b"/>
    <connect site1="out" site2="on b" active="false"/>
    <weld body1="a"/>
    <weld body1="c" body2="d" anchor="1 2 3"/>
    <weld body1="a" body2="d" anchor="1 2 3" relpose="1 1 1 1 2 3 4"/>
    <weld body1="b" body2="d" anchor="0.3 0.3 0.3" relpose="0.1 0.2 0.3 0 0 0 0"/>
    <weld name="sites" site1="on a" site2="on b"/>
    <weld body1="fixed" body2="c"/>
    <joint joint1="turn" polycoef="1 2 3"/>
    <joint joint1="shift" joint2="turn" polycoef="1 2 3 4 5"/>
    <tendon tendon1="one" polycoef="0.5"/>
    <tendon tendon1="one" tendon2="two" polycoef="0 1 2"/>
  </equality>
</mujoco>
"""
"""Equality constraints of every kind, with what can be left out and without."""


def test_equality_constraints_agree(record: Recorder) -> None:
    ours, theirs = sw.load(LINKAGE), mujoco.MjModel.from_xml_string(LINKAGE)
    worst = Worst()
    check_layout(ours, theirs)
    compare_dynamics(ours, theirs, worst)
    worst.check()
    assert {"tendons", "equalities"} <= worst.errors.keys()
    record("mujoco", "equality constraints", f"agrees: {worst}")


def random_state(model: Any, rng: np.random.Generator) -> State:
    q = rng.normal(size=model.nq)
    for kind, start in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            q[start : start + 4] = random_quaternion(rng)
        elif kind == mujoco.mjtJoint.mjJNT_FREE:
            q[start + 3 : start + 7] = random_quaternion(rng)
    return State(q, rng.normal(size=model.nv))


LIGHT = """
<mujoco><compiler boundmass="0.1" boundinertia="0.02"/>
  <worldbody><body name="base" pos="0 0 1" euler="10 20 30"><joint name="swing" axis="1 2 0"/><geom size="0.1"/>
    <body name="bare" pos="0.3 0 -0.2" euler="40 0 10"><joint name="turn" axis="0 1 1"/></body>
    <body name="drawn" pos="0 0.2 0.1" euler="0 70 0"><geom size="0.1" pos="0 1 0" mass="0"/></body></body></worldbody>
  <sensor><framepos objtype="body" objname="bare"/><framequat objtype="body" objname="drawn"/></sensor>
</mujoco>
"""
"""Bodies of which nothing says where their mass is."""


def test_bodies_without_mass_agree(record: Recorder) -> None:
    ours, theirs = sw.load(LIGHT), mujoco.MjModel.from_xml_string(LIGHT)
    worst = Worst()
    check_layout(ours, theirs)
    worst.compare("mass", ours.body_masses, np.array(theirs.body_mass))
    compare_dynamics(ours, theirs, worst)
    data = mujoco.MjData(theirs)
    mujoco.mj_forward(theirs, data)
    worst.compare("sensors", sw.Simulation(ours).sensordata, np.array(data.sensordata))
    worst.check()
    record("mujoco", "bodies without mass", f"agrees: {worst}")


SHORT_KEYS = """
<mujoco><worldbody><body><joint name="a" ref="30"/><joint name="b" axis="1 0 0"/><geom size="1"/></body>
  <body pos="0 0 3"><joint type="ball"/><geom size="1"/></body></worldbody>
  <actuator><motor joint="a"/><motor joint="b"/></actuator>
  <keyframe><key name="q" qpos="1"/>
    <key name="v" qvel="1 2" ctrl="3"/><key name="turn" qpos="1 2 3 4"/></keyframe></mujoco>
"""


def test_keys_with_fewer_numbers_than_the_model() -> None:
    ours, theirs = sw.load(SHORT_KEYS), mujoco.MjModel.from_xml_string(SHORT_KEYS)
    for index, name in enumerate(ours.keyframe_names):
        key = ours.keyframe(name)
        np.testing.assert_allclose(key.q, theirs.key_qpos[index], rtol=0, atol=1e-15)
        np.testing.assert_array_equal(key.v, theirs.key_qvel[index])
        np.testing.assert_array_equal(key.ctrl, theirs.key_ctrl[index])
    assert len(ours.warnings) == 3


def test_faces_with_four_corners_are_cut_as_in_mujoco(tmp_path: Path) -> None:
    """A box of which the corners of each face lie in no plane, and a face of two corners, which encloses nothing."""
    corners = "v 0 0 0\nv 1 0.1 0\nv 1.2 1 0.3\nv 0 1 0\nv 0 0.2 1\nv 1 0 1.1\nv 1 1 1\nv 0.1 1 1.4\n"
    faces = "f 1 4 3 2\nf 5 6 7 8\nf 1 2 6 5\nf 2 3 7 6\nf 3 4 8 7\nf 4 1 5 8\nf 1 2\n"
    (tmp_path / "skew.obj").write_text(corners + faces)
    path = tmp_path / "skew.xml"
    for inertia in ("legacy", "exact"):
        mesh = f'<asset><mesh name="skew" file="skew.obj" inertia="{inertia}"/></asset>'
        body = '<worldbody><body><freejoint/><geom type="mesh" mesh="skew"/></body></worldbody>'
        path.write_text(f"<mujoco>{mesh}{body}</mujoco>")
        theirs = mujoco.MjModel.from_xml_path(str(path))
        np.testing.assert_allclose(sw.load(path).body_masses, theirs.body_mass, rtol=1e-6)


def test_a_range_without_ends_is_none() -> None:
    text = '<mujoco><worldbody><body><joint name="a" range="-inf inf"/><geom size="1"/></body></worldbody></mujoco>'
    assert mujoco.MjModel.from_xml_string(text).njnt == 1
    assert sw.load(text).joints[0].range is None


def test_moved_bodies_with_joints_are_moved() -> None:
    m = mujoco.MjModel.from_xml_string("""<mujoco><worldbody>
        <body name="hand" mocap="true"><body pos="0 1 0"><joint type="slide"/><geom size=".1"/></body></body>
        <body name="wall" mocap="true" pos="3 0 0"><geom size=".1"/></body></worldbody>
        <keyframe><key name="far" mpos="0 0 9 4 5 6"/></keyframe></mujoco>""")
    model = sw.Model.from_mujoco(m)
    np.testing.assert_array_equal(model.keyframe("far").mocap, [[0, 0, 9, 1, 0, 0, 0], [4, 5, 6, 1, 0, 0, 0]])
    assert sw.Simulation(model).body("wall").mocap
    assert sw.Simulation(model).body("hand").mocap


def test_free_bodies_are_aligned() -> None:
    """`align`: what hangs alone on a free joint has the frame of its inertia, with a keyframe that counts on that."""
    body = """<freejoint {}/><geom type="cylinder" size=".01 .04" pos="-.00085 0 0"/>
      <geom type="cylinder" size=".004 .015" zaxis="1 0 0" pos=".01415 0 0"/><site name="s{}" pos="0 0 .1"/>"""
    free = '<joint type="free"/><geom size=".1" pos="1 0 0"/><geom size=".1" pos="1 .5 .2"/>'
    bodies = [body.format('align="true"', 0), body.format('align="false"', 1), body.format("", 2), free]
    bodies.append(body.format('align="true"', 3) + '<body pos="0 .1 0"><geom size=".02"/></body>')
    inside = "".join(f'<body pos="{k} 0 1" euler="0 30 0">{body}</body>' for k, body in enumerate(bodies))
    for compiler in ("", '<compiler alignfree="true"/>'):
        text = f"""<mujoco>{compiler}<worldbody>{inside}</worldbody>
          <sensor><framequat objtype="body" objname="world"/></sensor></mujoco>"""
        theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text)
        twin = mujoco.MjModel.from_xml_string(ours.to_mjcf())
        for name in ("body_pos", "body_ipos", "geom_pos", "site_pos", "qpos0"):
            np.testing.assert_allclose(getattr(twin, name), getattr(theirs, name), atol=1e-12, err_msg=name)
        data, sim = mujoco.MjData(theirs), sw.Simulation(ours, timestep=1e-6)
        data.qvel[:] = sim.v[:] = np.random.default_rng(0).normal(size=theirs.nv)
        mujoco.mj_forward(theirs, data)
        before = sim.v.copy()
        sim.step()
        np.testing.assert_allclose((sim.v - before) / 1e-6, data.qacc, rtol=0, atol=1e-4)
