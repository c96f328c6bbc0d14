"""Programs of MuJoCo on Sapwood's step: models from compiled arrays, steps in an ``MjData``, functions replaced."""

from __future__ import annotations

import copy
import gc
import os
import pickle
import sys
import threading
import types
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from agreement import Array, Worst, brief
from conftest import Recorder

import sapwood as sw

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")
_carry = pytest.importorskip("sapwood.mujoco._carry")

pytestmark = pytest.mark.usefixtures("mujoco_as_before")

mujoco.set_mju_user_warning(lambda message: None)

PACKAGES = ("dm_control", "gymnasium", "mujoco")
ROOTS = {name: Path(pytest.importorskip(name).__file__).parent for name in PACKAGES}
FILES = [(name, path) for name, root in ROOTS.items() for path in sorted(root.rglob("*.xml"))]

STATES = 2
STEPS = (1e-6, 1e-7, 1e-8, 1e-9)
"""Time steps from which accelerations are taken, s."""

PARTS = """
<mujoco>
  <option timestep="0.002"/>
  <asset>
    <mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/>
    <hfield name="hills" nrow="3" ncol="4" size="1 1 .2 .1" elevation="0 1 2 3 4 5 6 7 8 9 10 11"/>
    <material name="red" rgba="1 0 0 1"/>
  </asset>
  <worldbody>
    <geom type="hfield" hfield="hills" pos="0 0 -2"/>
    <geom name="floor" type="plane" size="5 5 1"/>
    <body name="hand" mocap="true" pos="0 0 2"/>
    <replicate count="2" offset="1 0 0">
      <body pos="0 0 1"><freejoint/><geom type="mesh" mesh="wedge" material="red"/><site pos="0 0 .1"/></body>
    </replicate>
    <body name="arm" pos="0 2 1" gravcomp=".5">
      <joint name="turn" axis="0 1 0" ref=".3" springref=".1" stiffness="3" damping=".2" range="-90 90" armature=".1"/>
      <joint name="slide" type="slide" axis="1 0 0" frictionloss=".1" range="-.5 .5"/>
      <geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/><site name="tip" pos=".4 0 0"/>
      <body pos=".4 0 0"><joint name="ball" type="ball" damping=".1"/><geom size=".08" name="knob"/>
        <site name="end" pos=".2 0 0"/></body>
    </body>
    <site name="out" pos="0 2.5 1.2"/>
  </worldbody>
  <tendon>
    <fixed name="sum"><joint joint="turn" coef="2"/><joint joint="slide" coef="-1"/></fixed>
    <spatial name="string" stiffness="4" springlength=".1">
      <site site="out"/><geom geom="knob"/><site site="end"/></spatial>
  </tendon>
  <equality>
    <weld body1="hand" body2="arm" active="false"/><connect body1="arm" anchor="0 0 0" active="false"/>
    <tendon tendon1="sum" active="false"/>
  </equality>
  <actuator>
    <position joint="turn" kp="20" kv="1"/>
    <general name="filtered" tendon="string" dyntype="filterexact" dynprm=".1" gainprm="3" ctrlrange="-1 1"/>
    <motor site="end" refsite="tip" gear="0 0 0 1 0 0"/>
  </actuator>
  <sensor>
    <jointpos joint="turn"/><framequat objtype="body" objname="arm"/><accelerometer site="end"/><touch site="end"/>
    <force site="tip"/><contact geom1="floor" data="found force" num="2"/><user dim="2"/><jointlimitfrc joint="turn"/>
  </sensor>
  <keyframe><key name="up" time="2" act=".5"/></keyframe>
</mujoco>
"""
"""Something of every kind, unnamed where MuJoCo lets it be."""

BALL = """<mujoco><option cone="{}"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .1"><freejoint/><geom size=".1" mass="2" friction=".6"/><site name="s" size=".2"/></body></worldbody>
<sensor><touch site="s"/></sensor></mujoco>"""


def compiled(text: str = PARTS) -> tuple[Any, Any]:
    model = mujoco.MjModel.from_xml_string(text)
    return model, mujoco.MjData(model)


def from_mujoco(model: Any) -> sw.Model:
    with warnings.catch_warnings(action="ignore"):
        return sw.Model.from_mujoco(model)


@pytest.mark.parametrize(("package", "path"), FILES, ids=[f"{n}/{p.relative_to(ROOTS[n])}" for n, p in FILES])
def test_compiled_model_agrees(package: str, path: Path, record: Recorder) -> None:
    try:
        theirs = mujoco.MjModel.from_xml_path(str(path))
    except ValueError as error:
        pytest.skip(f"MuJoCo itself does not compile it: {error}")
    worst = Worst()
    name = f"compiled {package}/{path.relative_to(ROOTS[package])}"
    try:
        ours = from_mujoco(theirs)
        check_layout(ours, theirs)
        compare(ours, theirs, worst)
        worst.check(1e-6)
    except (AssertionError, sw.ModelError) as error:
        record("mujoco", name, f"FAILS: {brief(error)}")
        raise
    record("mujoco", name, f"agrees: {worst}")


def check_layout(ours: sw.Model, theirs: Any) -> None:
    counts = ("nq", "nv", "nu", "nbody", "ngeom", "nsite", "nsensor", "nsensordata")
    assert {c: getattr(ours, c) for c in counts} == {c: getattr(theirs, c) for c in counts}
    assert ours.sensor_addresses == theirs.sensor_adr.tolist()
    assert ours.body_parents == theirs.body_parentid.tolist()
    assert ours.geom_bodies == theirs.geom_bodyid.tolist()
    for joint, name in zip(ours.joints, [theirs.joint(i).name for i in range(theirs.njnt)], strict=True):
        # What is referred to has a name, made up where the file gives none.
        assert joint.name == name or not name


def compare(ours: sw.Model, theirs: Any, worst: Worst) -> None:
    """Without contacts and constraints, from random states."""
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    theirs.actuator_actearly[:] = False  # goes with the time step
    if (theirs.geom_fluid[:, 0] > 0).any():
        theirs.opt.density = theirs.opt.viscosity = 0  # ellipsoids in a medium are approximated, with a warning
    data, rng = mujoco.MjData(theirs), np.random.default_rng(3)
    worst.compare("mass", ours.body_masses, np.array(theirs.body_mass))
    mass_matrix = np.zeros((theirs.nv, theirs.nv))
    by_step = {step: Worst() for step in STEPS}
    free = sw.Simulation(from_mujoco(theirs))
    acts = theirs.actuator_trntype != mujoco.mjtTrn.mjTRN_BODY
    for _ in range(STATES):
        mujoco.mj_resetData(theirs, data)
        mujoco.mj_integratePos(theirs, data.qpos, 0.3 * rng.normal(size=theirs.nv), 1)
        data.qvel[:] = rng.normal(size=theirs.nv)
        data.ctrl[acts] = 0.3 * rng.normal(size=acts.sum())
        mujoco.mj_forward(theirs, data)
        mujoco.mj_fullM(theirs, data, mass_matrix)
        worst.compare("mass matrix", ours.mass_matrix(data.qpos), mass_matrix)
        worst.compare("bias", ours.bias_forces(data.qpos, data.qvel), np.array(data.qfrc_bias))
        worst.compare("tendons", ours.tendon_lengths(data.qpos), np.array(data.ten_length))
        for step, found in by_step.items():
            # What is implicit goes with the time step: from two of them to none.
            one, two = (first_step(free, data, timestep) for timestep in (step, 2 * step))
            found.compare("actuators", 2 * one[0] - two[0], np.array(data.actuator_force))
            found.compare("accelerations", 2 * one[1] - two[1], np.array(data.qacc))
    # Long steps leave what is implicit, short ones round-off; what is modelled otherwise is in both.
    for quantity in set().union(*(found.errors for found in by_step.values())):
        worst.errors[quantity] = min(found.errors[quantity] for found in by_step.values())


def first_step(sim: sw.Simulation, data: Any, timestep: float) -> tuple[Array, Array]:
    """Forces of the actuators, and the acceleration."""
    sim.reset()
    sim.timestep = timestep
    sim.q, sim.v, sim.ctrl = data.qpos, data.qvel, data.ctrl
    sim.step()
    return sim.actuator_forces, sim.acceleration


def test_every_part_comes_over() -> None:
    theirs, _ = compiled()
    with pytest.warns(UserWarning, match="not simulated: its numbers are zero"):
        ours = sw.Model.from_mujoco(theirs)
    check_layout(ours, theirs)
    of_file = sw.load(PARTS)
    worst, q = Worst(), ours.keyframe("up").q
    worst.compare("mass matrix", ours.mass_matrix(q), of_file.mass_matrix(q))
    worst.compare("equalities", ours.equality_residuals(q), of_file.equality_residuals(q))
    compare(ours, theirs, worst)
    worst.check(1e-6)
    assert ours.keyframe_names == ["up"]


def test_a_flex_is_named_and_its_nodes_move() -> None:
    cloth = '<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" radius=".01" mass="1" dim="2"/>'
    m, d = compiled(f"<mujoco><worldbody><body name='b' pos='0 0 1'>{cloth}</body></worldbody></mujoco>")
    with pytest.warns(UserWarning, match="flex cloth: its nodes are bodies that touch nothing"):
        guest.step(m, d)
    np.testing.assert_allclose(d.qacc[2], -9.81)


def test_a_step_is_that_of_a_simulation() -> None:
    m, d = compiled()
    guest.configure(sigma=1e-5, impratio=None)
    sim = sw.Simulation(from_mujoco(m))
    rng = np.random.default_rng(1)
    for k in range(200):
        d.ctrl[:] = sim.ctrl[:] = rng.normal(size=m.nu)
        before = np.array(d.qpos)
        guest.step(m, d)
        sim.step()
        if k == 100:
            d.mocap_pos[0, 0] = sim.mocap_positions[0, 0] = 0.2
            d.eq_active[0] = sim.equality_active[0] = 1
    for ours, theirs in ((d.qpos, sim.q), (d.qvel, sim.v), (d.act, sim.act), (d.qacc, sim.acceleration)):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
    assert d.time == sim.time
    np.testing.assert_allclose(d.actuator_force, sim.actuator_forces, rtol=0, atol=1e-12)
    # As MuJoCo leaves them, positions are those of the state before.
    other = mujoco.MjData(m)
    other.qpos, other.mocap_pos = before, d.mocap_pos
    mujoco.mj_kinematics(m, other)
    np.testing.assert_array_equal(d.xpos, other.xpos)


def test_several_steps_are_as_many_single_ones() -> None:
    m, d = compiled()
    other = copy.copy(d)
    guest.step(m, d, 5)
    for _ in range(5):
        guest.step(m, other)
    for name in ("qpos", "qvel", "qacc", "xpos", "sensordata", "time"):
        np.testing.assert_array_equal(getattr(d, name), getattr(other, name), err_msg=name)


@pytest.mark.parametrize("cone", ["pyramidal", "elliptic"])
def test_contacts_have_their_forces(cone: str) -> None:
    m, d = compiled(BALL.format(cone))
    d.qfrc_applied[0] = 4
    for _ in range(500):
        guest.step(m, d)
    assert d.ncon == 1
    force = np.zeros(6)
    mujoco.mj_contactForce(m, d, 0, force)
    frame = d.contact[0].frame.reshape(3, 3)
    weight = 2 * 9.81
    np.testing.assert_allclose(force[0], weight, rtol=1e-3)
    # In the frame of the contact, on the second geom: the ball, which rolls as it is pulled.
    np.testing.assert_allclose(frame.T @ force[:3], d.qfrc_constraint[:3], atol=1e-6)
    np.testing.assert_allclose(d.sensordata, weight, rtol=1e-3)
    mujoco.mj_rnePostConstraint(m, d)
    np.testing.assert_allclose(d.cfrc_ext[1, 5], weight, rtol=1e-3)


def test_points_that_are_near_are_no_contacts() -> None:
    m, d = compiled(BALL.format("elliptic"))
    d.qpos[2], d.qvel[2] = 0.105, -1
    guest.step(m, d)
    assert d.ncon == 0
    guest.step(m, d, 3)
    assert d.ncon == 1
    d.qpos[2], d.qvel[2] = 0.099, 1  # still in the ground, and on its way out
    guest.step(m, d)
    assert d.ncon == 1


def test_halves_of_a_step() -> None:
    """``mj_step1`` finds no contacts anew where a step has left the state, and asks a program's controls once."""
    m, d = compiled(BALL.format("elliptic"))
    whole, force, asked = mujoco.MjData(m), np.zeros((2, 6)), []
    guest.step(m, whole, nstep=50)
    guest.step(m, whole)
    with guest.physics():
        mujoco.mj_step1(m, d)
        assert d.ncon == 1, "MuJoCo's own, of a state that no step has left"
        mujoco.set_mjcb_control(lambda m, d: asked.append(d.time))
        for _ in range(51):
            mujoco.mj_step1(m, d)
            mujoco.mj_step2(m, d)
        assert len(asked) == 51
        mujoco.set_mjcb_control(None)
        np.testing.assert_array_equal(d.qpos, whole.qpos)
        np.testing.assert_array_equal(d.xpos, whole.xpos)
        mujoco.mj_contactForce(m, d, 0, force[0])
        mujoco.mj_step1(m, d)
        mujoco.mj_contactForce(m, d, 0, force[1])
        assert force[0, 0] > 0
        np.testing.assert_array_equal(*force)
        np.testing.assert_array_equal(d.xpos[1], d.qpos[:3])
        d.qpos[2] += 1
        mujoco.mj_step1(m, d)
        assert d.ncon == d.nefc == 0


def test_what_changes_in_a_model_is_seen() -> None:
    m, d = compiled(BALL.format("elliptic"))
    guest.step(m, d)
    m.opt.gravity[:] = 0, 0, 5
    guest.step(m, d)
    np.testing.assert_allclose(d.qacc[2], 5)
    m.body_mass[1] = 4
    d.xfrc_applied[1, 2] = 8
    guest.step(m, d)
    np.testing.assert_allclose(d.qacc[2], 7)
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_GRAVITY
    guest.step(m, d)
    np.testing.assert_allclose(d.qacc[2], 2)
    m.opt.timestep = 0.01
    time = d.time
    guest.step(m, d)
    assert d.time == time + 0.01


def test_sites_count_where_forces_act_at_them() -> None:
    from sapwood.mujoco import _carry

    def moved(actuator: str) -> int:
        m = mujoco.MjModel.from_xml_string(f"""<mujoco><worldbody><body><joint/><geom size=".1"/>
          <site name="at"/></body></worldbody><actuator>{actuator}</actuator>
          <sensor><framepos objtype="site" objname="at"/></sensor></mujoco>""")
        d = mujoco.MjData(m)
        d.ctrl[:] = 1
        guest.step(m, d)
        m.site_pos[0, 0] = 0.5
        guest.step(m, d)
        np.testing.assert_allclose(d.sensordata, d.site_xpos[0], atol=1e-12)
        return _carry.watch(m, False).version

    assert moved("") == 1
    assert moved('<motor site="at" gear="0 1 0 0 0 0"/>') == 2


def test_a_geom_that_has_vanished() -> None:
    m, d = compiled(BALL.format("elliptic"))
    m.geom_size[1] = 0
    guest.step(m, d)
    np.testing.assert_allclose(d.qacc[2], -9.81)


def test_a_state_that_is_set_leads_to_the_same_motion() -> None:
    m, d = compiled()
    guest.step(m, d, 50)
    results = []
    for steps in (7, 30):
        guest.step(m, d, steps)
        mujoco.mj_resetData(m, d)
        guest.step(m, d, 50)
        results.append(np.array(d.qpos))
    np.testing.assert_array_equal(results[0], results[1])


def test_forward_leaves_the_state() -> None:
    m, d = compiled()
    guest.step(m, d, 100)
    state = [np.array(a) for a in (d.qpos, d.qvel, d.act)]
    guest.forward(m, d)
    for before, after in zip(state, (d.qpos, d.qvel, d.act), strict=True):
        np.testing.assert_array_equal(before, after)
    acceleration = np.array(d.qacc)
    guest.step(m, d)
    np.testing.assert_array_equal(d.qacc, acceleration)


def test_inverse_finds_the_forces_of_a_step() -> None:
    m, d = compiled()
    guest.step(m, d, 100)
    d.ctrl[:] = 0.3, 0.5, -0.2
    d.qfrc_applied[:] = np.random.default_rng(4).normal(size=m.nv)
    d.xfrc_applied[-1] = 0.3, -0.2, 0.4, 0.02, 0.01, -0.03
    guest.forward(m, d)
    applied = d.qfrc_applied + d.qfrc_actuator
    mujoco.mj_applyFT(m, d, d.xfrc_applied[-1, :3], d.xfrc_applied[-1, 3:], d.xipos[-1], m.nbody - 1, applied)
    constraint, state = np.array(d.qfrc_constraint), [np.array(a) for a in (d.qpos, d.qvel, d.act, d.qacc)]
    d.qfrc_constraint[:] = 0
    guest.inverse(m, d)
    np.testing.assert_allclose(d.qfrc_inverse, applied, rtol=0, atol=1e-9)
    np.testing.assert_allclose(d.qfrc_constraint, constraint, rtol=0, atol=1e-9)
    for before, after in zip(state, (d.qpos, d.qvel, d.act, d.qacc), strict=True):
        np.testing.assert_array_equal(before, after)
    d.qacc[0] = np.nan
    with pytest.raises(ValueError, match="qacc"):
        guest.inverse(m, d)


def test_forces_of_inverse_lead_to_the_acceleration() -> None:
    m, d = compiled(BALL.format("elliptic"))
    guest.step(m, d, 300)
    assert d.ncon == 1
    d.qacc[:] = wanted = np.array([0.5, 0, 1e-3, 0, 3, 0.1])
    guest.inverse(m, d)
    assert d.qfrc_constraint[2] > 10
    d.qfrc_applied = d.qfrc_inverse
    guest.step(m, d)
    np.testing.assert_allclose(d.qacc, wanted, rtol=0, atol=1e-9)


def test_inverse_agrees_with_mujoco() -> None:
    """Without constraints, as the step goes to 0; ``install`` replaces it where that is asked for."""
    m, d = compiled()
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    m.opt.timestep = 1e-7
    rng = np.random.default_rng(6)
    d.qpos[-6:] += 0.1 * rng.normal(size=6)
    mujoco.mj_normalizeQuat(m, d.qpos)
    d.qvel[:] = rng.normal(size=m.nv)
    d.qacc[:] = rng.normal(size=m.nv)
    theirs = mujoco.mj_inverse
    theirs(m, d)
    expected = np.array(d.qfrc_inverse)
    with guest.physics(inverse=True):
        assert mujoco.mj_inverse is not theirs
        mujoco.mj_inverse(m, d)
    assert mujoco.mj_inverse is theirs
    np.testing.assert_allclose(d.qfrc_inverse, expected, rtol=1e-5, atol=1e-5)


def test_copies_and_pickles_go_on_alike() -> None:
    m, d = compiled()
    guest.step(m, d, 20)
    copies = [copy.copy(d), copy.deepcopy(d), pickle.loads(pickle.dumps(d))]
    ends = []
    for each in copies:
        guest.step(m, each, 20)
        ends.append(np.array(each.qpos))
    np.testing.assert_array_equal(ends[0], ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_a_world_is_released_with_its_data() -> None:
    from sapwood.mujoco import _carry, _world

    gc.collect()
    worlds, models = len(_world.worlds), len(_carry._watched)
    m, d = compiled()
    guest.step(m, d)
    assert (len(_world.worlds), len(_carry._watched)) == (worlds + 1, models + 1)
    del d, m
    gc.collect()
    assert (len(_world.worlds), len(_carry._watched)) == (worlds, models)


def test_threads_have_worlds_of_their_own() -> None:
    m, _ = compiled()
    data = [mujoco.MjData(m) for _ in range(3)]
    threads = [threading.Thread(target=guest.step, args=(m, d, 100)) for d in data]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for d in data[1:]:
        np.testing.assert_array_equal(d.qpos, data[0].qpos)


def test_installed_functions_are_reached_everywhere() -> None:
    module = types.ModuleType("a_program")
    module.step = mujoco.mj_step  # type: ignore[attr-defined]
    sys.modules["a_program"] = module
    theirs = mujoco.mj_step
    try:
        with guest.physics():
            assert mujoco.mj_step is not theirs
            assert module.step is mujoco.mj_step
            m, d = compiled()
            mujoco.mj_step1(m, d)
            mujoco.mj_step2(m, d)
            expected = mujoco.MjData(m)
            guest.step(m, expected)
            np.testing.assert_array_equal(d.qpos, expected.qpos)
        assert mujoco.mj_step is theirs
        assert module.step is theirs
    finally:
        del sys.modules["a_program"]


PRESSED = """<mujoco><option cone="elliptic"/><default><geom solref=".01 1" solimp=".99 .99 .01" condim="3"/></default>
<worldbody><geom type="box" size=".1 .1 .01" pos="0 0 -.01"/>
<body pos=".3 0 .002"><joint type="slide" axis="0 0 1" armature=".001" damping="1"/>
<inertial mass=".01" pos="0 0 .1" diaginertia=".001 .001 .001"/><geom type="box" size=".03 .03 .002" pos="-.3 0 0"/>
</body></worldbody></mujoco>"""
"""A thin plate, pressed into another by more than a tenth of its thickness."""


def test_contacts_yield_as_those_of_mujoco() -> None:
    depths = []
    for step in (mujoco.mj_step, guest.step):
        m, d = compiled(PRESSED)
        for k in range(2000):
            d.qfrc_applied[0] = -150 * min(k / 1000, 1)
            step(m, d)
        depths.append(float(d.qpos[0]))
    assert depths[0] < -1e-3
    assert depths[1] == pytest.approx(depths[0], rel=1e-3)


SLIDING = """<mujoco><option cone="elliptic" timestep=".0025"/><worldbody><geom type="plane" size="5 5 1"/>
<body pos="0 0 .0499"><joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 0 1"/>
<geom type="box" size=".1 .1 .05" mass="1" friction="1 0 0"/></body></worldbody></mujoco>"""


def test_friction_creeps_as_that_of_mujoco() -> None:
    speeds = []
    for step in (mujoco.mj_step, guest.step):
        m, d = compiled(SLIDING)
        d.qfrc_applied[0] = 4  # of 9.81 that friction bears
        for _ in range(400):
            step(m, d)
        speeds.append(float(d.qvel[0]))
    assert 1e-4 < speeds[0] < 0.1
    assert speeds[1] == pytest.approx(speeds[0], rel=0.5)
    guest.configure(near_rigid=True)
    m, d = compiled(SLIDING)
    d.qfrc_applied[0] = 4
    guest.step(m, d, 400)
    assert abs(d.qvel[0]) < 1e-5


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_friction_brakes_as_that_of_mujoco(cone: str) -> None:
    slid = []
    for step, options in ((mujoco.mj_step, {}), (guest.step, {}), (guest.step, {"impratio": None, "sigma": 1e-5})):
        guest.configure(**options)
        text = SLIDING.replace("elliptic", cone).replace('friction="1 0 0"', 'friction="5 0 0"')
        # MuJoCo's braking is of first order in the step.
        m, d = compiled(text.replace(".0025", ".0005"))
        d.qvel[0] = 0.1
        for _ in range(200):
            step(m, d)
        slid.append(float(d.qpos[0]))
    assert slid[1] == pytest.approx(slid[0], rel=0.1)
    assert slid[2] < 0.5 * slid[0]  # as Coulomb says; under a pyramid the ground takes the weight later


def test_contacts_lie_within_margins() -> None:
    places = []
    for step in (mujoco.mj_step, guest.step):
        m, d = compiled(SLIDING.replace('mass="1"', 'mass="1" margin=".002"'))
        for _ in range(400):
            step(m, d)
        mujoco.mj_step1(m, d) if step is mujoco.mj_step else step(m, d)
        places.append([d.contact.dist.mean(), d.contact.includemargin.mean()])
    np.testing.assert_allclose(places[1], places[0], atol=1e-5)


def test_a_model_that_is_made_again_has_its_meshes() -> None:
    m, d = compiled()
    guest.step(m, d)
    m.body_pos[-1, 0] += 0.1
    guest.step(m, d)
    guest.configure(sigma=1e-5, impratio=None)
    other = mujoco.MjData(m)
    guest.step(m, other)
    one = from_mujoco(m)
    np.testing.assert_array_equal(_carry._watched[id(m), False].carried.model.body_masses, one.body_masses)
    sim = sw.Simulation(one)
    sim.step()
    np.testing.assert_array_equal(other.qpos, sim.q)


def test_options_of_guests() -> None:
    m, d = compiled(BALL.format("elliptic"))
    depths: list[Array] = []
    for near_rigid in (False, True):
        guest.configure(near_rigid=near_rigid, scheme="symplectic-euler")
        mujoco.mj_resetData(m, d)
        guest.step(m, d, 500)
        depths.append(np.array(d.qpos[2]))
    assert depths[1] - depths[0] > 1e-5
    with pytest.raises(TypeError, match="no_option"):
        guest.configure(no_option=1)


def test_mistakes_are_sentences() -> None:
    m, d = compiled()
    other, _ = compiled(BALL.format("elliptic"))
    with pytest.raises(ValueError, match="another MjModel"):
        guest.step(other, d)
    with pytest.raises(TypeError, match="expected an MjModel"):
        guest.step(d, m)
    with pytest.raises(TypeError, match="mj_model: expected"):
        sw.Model.from_mujoco("humanoid.xml")
    d.qfrc_applied[0] = np.nan
    with pytest.raises(ValueError, match="applied_force"):
        guest.step(m, d)
    d.qfrc_applied[0] = 0
    d.qpos[0] = np.nan  # MuJoCo's own answer: a warning, and the default configuration
    guest.step(m, d)
    assert np.isfinite(d.qpos).all()
    other = copy.copy(d)
    d.ctrl[:], other.ctrl[:] = 5, 0
    d.ctrl[0] = np.nan  # as before: a warning, and no controls
    guest.step(m, d)
    guest.step(m, other)
    np.testing.assert_array_equal(d.qvel, other.qvel)
    assert d.warning[int(mujoco.mjtWarning.mjWARN_BADCTRL)].number == 1


@pytest.mark.skipif(sys.platform != "linux", reason="memory is asked for as Linux has it")
def test_memory_does_not_grow() -> None:
    m, d = compiled()
    sizes = []
    for _ in range(4):
        for _ in range(3000):
            guest.step(m, d)
        sizes.append(int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024)
    assert sizes[-1] - sizes[1] < 256  # KiB, of 6000 steps
