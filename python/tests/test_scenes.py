"""The scenes: MuJoCo reads the same from their text, and loops stay closed."""

from __future__ import annotations

import numpy as np
import pytest
from agreement import Worst
from conftest import Recorder

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

SCENES = {
    "clutter-box-27": sw.scenes.clutter("box", 27),
    "clutter-sphere-64": sw.scenes.clutter("sphere", 64),
    "tower-50": sw.scenes.tower(50),
    "stacks-10-3": sw.scenes.stacks(10, 3),
    "mass-ratio-1000": sw.scenes.mass_ratio(),
    "arch-11": sw.scenes.arch(),
    "cards-3": sw.scenes.cards(),
    "incline-20-0.7": sw.scenes.incline(20, 0.7),
    "slider-2-0.00001": sw.scenes.slider(2, 1e-5),
    "four-bar": sw.scenes.four_bar(),
    "stewart": sw.scenes.stewart(),
    "arm7": sw.scenes.arm7(),
    "flung-arm": sw.scenes.flung_arm(),
    "sprung-arm": sw.scenes.sprung_arm(),
    "tumbling-body": sw.scenes.tumbling_body(),
    "double-pendulum": sw.scenes.double_pendulum(),
    "spring-chain-10": sw.scenes.spring_chain(),
    "spinning-top": sw.scenes.spinning_top(),
    "rolling-ball": sw.scenes.rolling_ball(),
    "lopsided-ball": sw.scenes.lopsided_ball(),
    "billiard-balls": sw.scenes.billiard_balls(),
    "bouncing-ball": sw.scenes.bouncing_ball(),
}
BODIES = [27, 64, 50, 30, 2, 11, 15, 1, 1, 3, 13, 7, 7, 7, 1, 2, 10, 1, 1, 1, 2, 1]


def test_every_form_is_here() -> None:
    # MuJoCo has nodes of soft bodies among its coordinates: test_soft_bodies.py looks at those scenes.
    starts = [form.rstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-") for form in sw.scenes.NAMES if not form.startswith("soft-")]
    assert len(starts) == len(SCENES)
    assert all(name.startswith(start) for name, start in zip(SCENES, starts, strict=True))


@pytest.mark.parametrize(("name", "bodies"), list(zip(SCENES, BODIES, strict=True)))
def test_mujoco_reads_the_same(name: str, bodies: int, record: Recorder) -> None:
    ours, theirs = SCENES[name], mujoco.MjModel.from_xml_string(sw.scenes.mjcf(name))
    assert (ours.nq, ours.nv, ours.nu, ours.ngeom) == (theirs.nq, theirs.nv, theirs.nu, theirs.ngeom)
    assert (ours.nbody, ours.timestep) == (1 + bodies, theirs.opt.timestep)
    assert not ours.warnings
    data, worst = mujoco.MjData(theirs), Worst()
    mujoco.mj_forward(theirs, data)
    q, v = ours.keyframe().q, np.random.default_rng(3).normal(size=ours.nv)
    worst.compare("mass", ours.body_masses, np.array(theirs.body_mass))
    worst.compare("qpos0", q, np.array(data.qpos))
    data.qvel[:] = v
    mujoco.mj_forward(theirs, data)
    matrix = np.empty((theirs.nv, theirs.nv))
    mujoco.mj_fullM(theirs, data, matrix)
    worst.compare("mass matrix", ours.mass_matrix(q), matrix)
    worst.compare("bias", ours.bias_forces(q, v), np.array(data.qfrc_bias))
    if theirs.nmesh:
        # MuJoCo keeps the corners of meshes in single precision.
        worst.check(float(np.finfo(np.float32).eps))
    else:
        worst.check()
    record("MuJoCo", f"scene {name}", str(worst))


@pytest.mark.parametrize("name", ["four-bar", "stewart"])
def test_loops_are_closed_at_the_start_and_stay_so(name: str) -> None:
    """How far apart the ends of each loop are in MuJoCo's eyes, in configurations of ours."""
    theirs = mujoco.MjModel.from_xml_string(sw.scenes.mjcf(name))
    data = mujoco.MjData(theirs)
    sim = sw.Simulation(SCENES[name])
    sim.ctrl[:] = 0.05 * np.cos(np.arange(sim.ctrl.size))
    worst = []
    for _ in range(100):
        data.qpos[:] = sim.q
        mujoco.mj_forward(theirs, data)
        worst.append(float(np.abs(data.efc_pos[: data.ne]).max()))
        sim.step()
    # The anchors are written to twelve decimals.
    assert worst[0] < 1e-11
    # A step is first order in the turn of the bodies: dt² v²/r with 1 m/s and 0.1 m is 2.5e-4 m.
    assert max(worst) < 2.5e-4
    assert np.abs(sim.q - SCENES[name].keyframe().q).max() > 0.01


def test_names_of_none_are_errors() -> None:
    with pytest.raises(ValueError, match=r"no scene \"pyramid\".*clutter-box-COUNT"):
        sw.scenes.mjcf("pyramid")
    with pytest.raises(ValueError, match='"0": expected a whole number from 1'):
        sw.scenes.tower(0)
    with pytest.raises(ValueError, match='"91": expected a number from 0 to 89'):
        sw.scenes.incline(91, 0.5)
