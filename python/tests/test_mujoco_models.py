"""Every MJCF in dm_control (suite) and gymnasium against MuJoCo: layout, names, masses, kinematics, dynamics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import State, Worst, brief, random_quaternion
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


def random_state(model: Any, rng: np.random.Generator) -> State:
    q = rng.normal(size=model.nq)
    for kind, start in zip(model.jnt_type, model.jnt_qposadr, strict=True):
        if kind == mujoco.mjtJoint.mjJNT_BALL:
            q[start : start + 4] = random_quaternion(rng)
        elif kind == mujoco.mjtJoint.mjJNT_FREE:
            q[start + 3 : start + 7] = random_quaternion(rng)
    return State(q, rng.normal(size=model.nv))
