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
