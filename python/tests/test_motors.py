"""Motors with a controller on board, servos of balls and what joints limit of actuators, against MuJoCo."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

ARM = """<mujoco><compiler angle="radian"/><option timestep="2e-5" gravity="0 0 -3">
  <flag contact="disable" constraint="disable"/></option>
<worldbody>
  <body><joint name="a" type="slide" axis="1 0 0" damping=".1"/><geom size=".1" mass="1"/>
    <body pos="0 0 .3"><joint name="b" axis="0 1 0" armature=".01"/><geom size=".05" pos=".2 0 .1" mass=".5"/>
      <body pos=".2 0 0"><joint name="c" axis="0 0 1" armature=".01" damping=".05"/>
        <geom size=".05" pos=".1 .1 0" mass=".3"/></body></body></body>
  <body pos="1 0 1"><joint name="ball" type="ball"/><geom type="box" size=".05 .1 .2" pos=".1 0 0" mass="1"/></body>
</worldbody>
<tendon><fixed name="t"><joint joint="a" coef="2"/><joint joint="c" coef="-.5"/></fixed></tendon>
<actuator>ACTUATORS</actuator></mujoco>"""

PIDS = """
  <pid name="both" joint="a" kp="40" kv="3" gear="2"/>
  <pid name="integral" joint="b" kp="5" kv=".3" ki="9" imax=".01" posrange="-.3 .3"/>
  <pid name="slew" joint="c" kp="2" kv=".1" ki="3" slewmax="5" input="pos vel ff" ffrange="-.1 .1" velrange="-1 1"
    forcerange="-.3 .4"/>
  <pid name="plain" tendon="t" kp="3" kv=".2" input="pos"/>
  <pid name="damped" joint="b" kp="7" dampratio=".5" input="vel ff"/>
  <motor joint="a"/>"""

MOTORS = """
  <dcmotor name="plain" joint="a" motorconst="2" resistance=".5" gear="3"/>
  <dcmotor name="servo" joint="b" motorconst=".5" resistance="1" input="pos vel" controller="4 6 .2 8 .02 2"/>
  <dcmotor name="inductance" joint="c" motorconst=".2 .3" resistance="2" inductance=".004" saturation=".05"/>
  <dcmotor name="warm" tendon="t" motorconst=".4" resistance="1" inductance="0 .003" input="pos voltage" controller="5"
    thermal="2 .05 0 .004 20 30" saturation="0 0 40"/>
  <dcmotor name="friction" joint="c" motorconst=".1" resistance="2" lugre="30 .5 .02 .03 .1" cogging=".02 6 .4"/>
  <dcmotor name="nominal" joint="b" nominal="12 .5 60" damping=".001"/>
  <dcmotor name="hot" joint="a" motorconst=".1" resistance="3" thermal="3 .01 0 .01 20 25" input="vel ff"
    controller="0 0 .3"/>"""

BALL = """
  <orientation name="turn" joint="ball" kp="3" kv=".4"/>
  <motor joint="b"/>
  <orientation name="quaternion" joint="ball" input="quat" kp="2" dampratio="1" forcerange="0 .5"/>"""


def both(text: str) -> tuple[Any, Any, sw.Model]:
    theirs = mujoco.MjModel.from_xml_string(text)
    model = sw.load(text)
    assert model.warnings == [], model.warnings
    assert (model.nu, len(sw.Simulation(model).act)) == (theirs.nu, theirs.na)
    return theirs, mujoco.MjData(theirs), model


def at_random(theirs: Any, data: Any, rng: Any) -> None:
    mujoco.mj_resetData(theirs, data)
    mujoco.mj_integratePos(theirs, data.qpos, 0.5 * rng.normal(size=theirs.nv), 1.0)
    data.qvel[:] = rng.normal(size=theirs.nv)
    data.ctrl[:] = rng.normal(size=theirs.nu)
    data.act[:] = 0.01 * rng.uniform(-1, 1, size=theirs.na)


def assert_forces_agree(sim: sw.Simulation, theirs: Any, data: Any, rng: Any) -> None:
    of_actuators = zip(theirs.actuator_ctrladr, theirs.actuator_outnum, strict=True)
    outputs = [first + k for first, count in of_actuators for k in range(count)]
    for _ in range(20):
        at_random(theirs, data, rng)
        sim.q[:], sim.v[:], sim.ctrl[:], sim.act[:] = data.qpos, data.qvel, data.ctrl, data.act
        mujoco.mj_forward(theirs, data)
        sim.forward()
        np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-5, atol=1e-5)
        # An actuator's forces stand at the first of its controls.
        np.testing.assert_allclose(sim.actuator_forces[outputs], data.actuator_force, rtol=1e-5, atol=1e-5)
        assert not np.delete(sim.actuator_forces, outputs).any()


ALL = {"pid": PIDS, "dcmotor": MOTORS, "orientation": BALL}


@pytest.mark.parametrize("kind", ALL)
def test_forces_are_those_of_mujoco(kind: str) -> None:
    theirs, data, model = both(ARM.replace("ACTUATORS", ALL[kind]))
    rng = np.random.default_rng(2)
    # The time step is a millionth of the least time constant: what is implicit differs by as much.
    theirs.opt.timestep = 1e-9
    for made in (model, sw.Model.from_mujoco(theirs), sw.load(model.to_mjcf())):
        sim = sw.Simulation(made, timestep=1e-9)
        assert_forces_agree(sim, theirs, data, rng)


@pytest.mark.parametrize("kind", ALL)
def test_motion_follows_as_in_mujoco(kind: str) -> None:
    theirs, data, model = both(ARM.replace("ACTUATORS", ALL[kind]))
    rng = np.random.default_rng(5)
    at_random(theirs, data, rng)
    sim = sw.Simulation(model, scheme="symplectic-euler")
    sim.q[:], sim.v[:], sim.act[:] = data.qpos, data.qvel, data.act
    for step in range(1000):
        if step % 50 == 0:
            data.ctrl[:] = sim.ctrl[:] = rng.normal(size=theirs.nu)
        mujoco.mj_step(theirs, data)
        sim.step()
    # Both are of first order in steps of 20 µs, over 20 ms in which velocities change by up to 10 rad/s.
    np.testing.assert_allclose(sim.act, data.act, rtol=2e-3, atol=2e-4)
    np.testing.assert_allclose(sim.q, data.qpos, rtol=2e-3, atol=2e-4)


@pytest.mark.parametrize("kind", ALL)
def test_inside_mujoco(kind: str) -> None:
    import sapwood.mujoco as guest

    theirs = mujoco.MjModel.from_xml_string(ARM.replace("ACTUATORS", ALL[kind]))
    theirs.opt.timestep = 1e-9
    own, data = mujoco.MjData(theirs), mujoco.MjData(theirs)
    rng = np.random.default_rng(7)
    for _ in range(20):
        at_random(theirs, own, rng)
        data.qpos[:], data.qvel[:], data.ctrl[:], data.act[:] = own.qpos, own.qvel, own.ctrl, own.act
        mujoco.mj_forward(theirs, own)
        guest.forward(theirs, data)
        np.testing.assert_allclose(data.actuator_force, own.actuator_force, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(data.qfrc_actuator, own.qfrc_actuator, rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(data.act_dot, own.act_dot)
    before = data.act.copy()
    guest.step(theirs, data)
    np.testing.assert_allclose(data.act, before + 1e-9 * data.act_dot, rtol=1e-9, atol=1e-12)


def test_stiff_servos_are_stable_at_long_steps() -> None:
    stiff = """<pid joint="b" kp="1e6" kv="1e4" ki="1"/><orientation joint="ball" kp="1e6" kv="1e4"/>
      <dcmotor joint="c" motorconst="5" resistance=".001" inductance="0 1e-5" lugre="1e6 10 .02 .03 .1"/>"""
    text = ARM.replace("ACTUATORS", stiff).replace('timestep="2e-5"', 'timestep="0.01"')
    sim = sw.Simulation(sw.load(text))
    sim.v[:] = 1.0
    sim.ctrl[2:5] = 0.3, -0.5, 1.0
    for _ in range(200):
        sim.step()
    turn, angle = np.array([0.3, -0.5, 1.0]), np.linalg.norm([0.3, -0.5, 1.0])
    aim = [np.cos(angle / 2), *np.sin(angle / 2) / angle * turn]
    np.testing.assert_allclose(sim.q[3:7] * np.sign(sim.q[3]), aim, atol=1e-3)
    assert abs(sim.joint("b").q) < 1e-3
    assert abs(sim.joint("c").v) < 1e-2


def test_states_belong_to_the_state_of_a_simulation() -> None:
    model = sw.load(ARM.replace("ACTUATORS", MOTORS))
    sim, other, batch = sw.Simulation(model), sw.Simulation(model), sw.Batch(model, 2)
    assert "motor" in (batch.alone or "")
    rng = np.random.default_rng(1)
    for k in range(40):
        sim.ctrl[:] = batch.ctrl[:] = rng.normal(size=model.nu)
        sim.step()
        batch.step()
        if k == 20:
            other.restore(pickle.loads(pickle.dumps(sim.state())))
        if k > 20:
            other.ctrl[:] = sim.ctrl
            other.step()
    np.testing.assert_array_equal(other.act, sim.act)
    np.testing.assert_array_equal(batch.act, np.tile(sim.act, (2, 1)))
    np.testing.assert_array_equal(batch.q, np.tile(sim.q, (2, 1)))


PLUGIN = """<mujoco><option timestep="1e-7"/><extension><plugin plugin="mujoco.pid">
  <instance name="i"><config key="kp" value="4"/><config key="ki" value="40"/><config key="kd" value=".4"/>
    <config key="imax" value=".5"/></instance></plugin></extension>
<worldbody><body><joint name="a" type="slide"/><geom size=".1" mass="1"/><body><joint name="b"/>
  <geom size=".1" pos=".1 0 0" mass="1"/></body></body></worldbody>
<actuator><plugin joint="a" plugin="mujoco.pid" instance="i" ctrlrange="-1 1" actdim="1" gear="2"/>
  <plugin joint="b" plugin="mujoco.pid" forcerange="-1 1"><config key="kp" value="3"/></plugin></actuator></mujoco>"""


def test_the_plugin_pid() -> None:
    import sapwood.mujoco as guest

    theirs, data, model = both(PLUGIN)
    rng = np.random.default_rng(6)
    for made in (model, sw.Model.from_mujoco(theirs)):
        sim = sw.Simulation(made)
        assert_forces_agree(sim, theirs, data, rng)
    own = mujoco.MjData(theirs)
    data.ctrl[:] = own.ctrl[:] = 0.8, -0.4
    own.qpos[:], own.qvel[:], own.act[:] = data.qpos, data.qvel, data.act
    for _ in range(1000):
        guest.step(theirs, data)
        mujoco.mj_step(theirs, own)
    np.testing.assert_allclose(data.act, own.act, rtol=1e-5, atol=1e-9)


LIFTED = """<mujoco><compiler angle="radian"/><option timestep="1e-9">
  <flag contact="disable" constraint="disable"/></option>
<default><joint actuatorgravcomp="true"/></default><worldbody>
  <body gravcomp="1"><joint name="a" axis="0 1 0" actuatorfrcrange="-2 1"/><geom size=".05" pos=".3 0 0" mass="1"/>
    <body pos=".3 0 0" gravcomp=".5"><joint name="b" axis="0 1 0" actuatorfrcrange="-.4 .4"/>
      <geom size=".05" pos=".2 .1 0" mass="1"/><site name="tip" pos=".3 0 0"/>
      <body pos=".3 0 0" gravcomp="1"><joint name="c" type="ball"/><geom size=".05" pos=".1 0 0" mass=".2"/></body>
    </body></body>
  <body pos="1 0 0" gravcomp=".8"><freejoint/><geom size=".05" mass="1"/></body>
  <body pos="2 0 0" gravcomp=".8"><joint name="d" type="slide" axis="0 0 1" actuatorgravcomp="false"/>
    <geom size=".1"/></body>
  <site name="base"/></worldbody>
<tendon><fixed name="t"><joint joint="a" coef="1"/><joint joint="d" coef="-2"/></fixed></tendon>
<actuator><position joint="a" kp="3" kv=".2"/><motor tendon="t" gear="2"/><motor joint="d"/>
  <position site="tip" refsite="base" gear="1 0 0 0 0 0" kp="20" kv="1"/></actuator></mujoco>"""


def test_joints_limit_all_that_actuators_do() -> None:
    theirs, data, model = both(LIFTED)
    rng = np.random.default_rng(4)
    limited = 0
    for made in (model, sw.Model.from_mujoco(theirs), sw.load(model.to_mjcf())):
        sim = sw.Simulation(made, timestep=1e-9)
        for _ in range(30):
            at_random(theirs, data, rng)
            sim.q[:], sim.v[:], sim.ctrl[:] = data.qpos, data.qvel, data.ctrl
            mujoco.mj_forward(theirs, data)
            sim.forward()
            np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(sim.passive_forces, data.qfrc_passive, rtol=1e-6, atol=1e-6)
            np.testing.assert_allclose(sim.acceleration, data.qacc, rtol=1e-5, atol=1e-5)
            limited += int(data.qfrc_actuator[0] in (-2.0, 1.0)) + int(abs(data.qfrc_actuator[1]) == 0.4)
    assert limited > 30


@pytest.mark.parametrize(
    ("element", "expected"),
    [
        ('<dcmotor joint="a"/>', "motorconst"),
        ('<dcmotor joint="a" motorconst="1"/>', "resistance"),
        ('<dcmotor joint="a" motorconst="1" resistance="1" controller="1"/>', "input"),
        ('<dcmotor joint="a" motorconst="1" resistance="1" thermal="1"/>', "thermal"),
        ('<dcmotor joint="a" motorconst="1" resistance="1" input="vel pos"/>', "in this order"),
        ('<dcmotor joint="a" motorconst="1 2 3" resistance="1"/>', "at most 2"),
        ('<pid joint="a" kp="1" input="voltage"/>', "pos, vel, ff"),
        ('<pid joint="a" kp="1" ki="1" input="vel"/>', "`pos`"),
        ('<pid joint="a" kp="1" kv="1" dampratio="1"/>', "one of them"),
        ('<orientation joint="ball" kp="1" input="euler"/>', "expmap, quat"),
    ],
)
def test_what_makes_no_sense_is_an_error(element: str, expected: str) -> None:
    with pytest.raises(sw.ModelError, match=expected):
        sw.load(ARM.replace("ACTUATORS", element))
