"""Controls that act with a delay, against MuJoCo."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco><option timestep="0.002" gravity="0 0 0"/>
<worldbody>
  <body><joint name="a" type="slide" damping="1"/><geom size=".1" mass="1"/></body>
  <body pos="1 0 0"><joint name="b" axis="0 1 0" damping=".1"/><geom size=".1" pos=".2 0 0" mass="1"/></body>
</worldbody>
<actuator>
  <motor name="line" joint="a" delay="0.012" nsample="6"/>
  <position name="between" joint="b" kp="3" kv=".2" delay="0.0073" nsample="5" interp="linear" ctrlrange="-1 1"/>
  <motor name="curve" joint="b" delay="0.0051" nsample="4" interp="cubic"/>
  <motor name="short" joint="a" delay="0.02" nsample="3"/>
  <general name="filtered" joint="a" dyntype="filter" dynprm=".01" delay="0.004" nsample="2"/>
  <motor name="now" joint="a" gear="2"/>
</actuator></mujoco>"""


def controls(steps: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.cumsum(rng.normal(size=(steps, 6)), axis=0) * 0.3


def test_forces_follow_as_in_mujoco() -> None:
    theirs = mujoco.MjModel.from_xml_string(MODEL)
    data, sim = mujoco.MjData(theirs), sw.Simulation(sw.load(MODEL), scheme="symplectic-euler")
    assert sim.model.warnings == []
    for ctrl in controls(400):
        data.ctrl[:] = sim.ctrl[:] = ctrl
        mujoco.mj_step(theirs, data)
        sim.step()
        # Of motors, which nothing else acts on: controls as they act.
        motors = [0, 2, 3, 5]
        np.testing.assert_allclose(sim.actuator_forces[motors], data.actuator_force[motors], rtol=0, atol=1e-9)
        np.testing.assert_allclose(sim.act, data.act, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(sim.ctrl, ctrl)
    np.testing.assert_allclose(sim.q, data.qpos, rtol=0, atol=2e-3)


def test_a_state_has_the_controls_that_are_yet_to_act() -> None:
    model = sw.load(MODEL)
    sim, other, batch = sw.Simulation(model), sw.Simulation(model), sw.Batch(model, 3)
    assert "delay" in (batch.alone or "")
    given = controls(60)
    for ctrl in given[:30]:
        sim.ctrl[:] = ctrl
        batch.ctrl[:] = ctrl
        sim.step()
        batch.step()
    state = pickle.loads(pickle.dumps(sim.state()))
    other.restore(state)
    again = sw.Simulation(sw.load(model.to_mjcf()))
    for ctrl in given[:30]:
        again.ctrl[:] = ctrl
        again.step()
    for ctrl in given[30:]:
        for one in (sim, other, again):
            one.ctrl[:] = ctrl
            one.step()
        batch.ctrl[:] = ctrl
        batch.step()
    for one in (other, again):
        np.testing.assert_array_equal(one.q, sim.q)
    np.testing.assert_array_equal(batch.q, np.tile(sim.q, (3, 1)))
    # A reset forgets them.
    sim.reset()
    sim.step()
    np.testing.assert_array_equal(sim.v, 0)
    batch.reset()
    batch.step()
    np.testing.assert_array_equal(batch.v, 0)


def test_what_is_asked_has_the_controls_that_act() -> None:
    sim = sw.Simulation(sw.load(MODEL))
    for ctrl in controls(20):
        sim.ctrl[:] = ctrl
        sim.step()
    sim.forward()
    acceleration = sim.acceleration.copy()
    before = sim.v.copy()
    np.testing.assert_allclose(sim.inverse_dynamics(acceleration), 0, atol=1e-9)
    sim.step()
    np.testing.assert_allclose((sim.v - before) / sim.timestep, acceleration, rtol=1e-12)
    direct = "\n".join(line for line in MODEL.splitlines() if "filter" not in line)
    with pytest.raises(sw.SimulationError, match="delay"):
        sw.Simulation(sw.load(direct)).step_jacobians()


def test_with_an_accuracy() -> None:
    sim, fine = sw.Simulation(sw.load(MODEL), accuracy=1e-6), sw.Simulation(sw.load(MODEL), timestep=1e-5)
    for one in (sim, fine):
        one.ctrl[0] = 1.0
        one.advance_to(0.05)
    # At first nothing, then a constant force for 38 ms.
    np.testing.assert_allclose(sim.q, fine.q, atol=1e-4)


def test_inside_mujoco() -> None:
    import sapwood.mujoco as guest

    theirs = mujoco.MjModel.from_xml_string(MODEL)
    data, own = mujoco.MjData(theirs), mujoco.MjData(theirs)
    for ctrl in controls(50):
        data.ctrl[:] = own.ctrl[:] = ctrl
        guest.step(theirs, data)
        mujoco.mj_step(theirs, own)
        np.testing.assert_allclose(data.actuator_force[[0, 2, 3, 5]], own.actuator_force[[0, 2, 3, 5]], atol=1e-9)
    # What a program has written there may be no number.
    broken = mujoco.MjData(theirs)
    broken.history[:] = np.nan
    with pytest.raises(ValueError, match="is NaN"):
        guest.step(theirs, broken)
    # What is put into MuJoCo's line of past controls acts.
    copied = mujoco.MjData(theirs)
    mujoco.mj_copyData(copied, theirs, data)
    for one in (data, copied):
        guest.step(theirs, one)
    np.testing.assert_array_equal(copied.qvel, data.qvel)
    mujoco.mj_resetData(theirs, data)
    guest.step(theirs, data)
    np.testing.assert_array_equal(data.actuator_force[[0, 2, 3]], 0)


@pytest.mark.parametrize(
    ("attributes", "message"),
    [
        ('delay="-1" nsample="2"', "delay"),
        ('delay="0.1"', "nsample"),
        ('delay="0.1" nsample="-2"', "nsample"),
        ('delay="0.1" nsample="100000000"', "nsample"),
        ('delay="nan" nsample="2"', "delay"),
        ('delay="0.1" nsample="2" interp="spline"', "interp"),
    ],
)
def test_bad_numbers(attributes: str, message: str) -> None:
    text = MODEL.replace('delay="0.012" nsample="6"', attributes)
    with pytest.raises(sw.ModelError, match=message):
        sw.load(text)


def test_a_builder_warns_of_delays_that_its_time_step_cuts() -> None:
    builder = sw.ModelBuilder("slide", gravity=(0, 0, 0))
    body = builder.add_body("b")
    body.add_joint("x", "prismatic", axis=(1, 0, 0))
    body.add_geom("sphere", 0.1, mass=1.0)
    builder.add_motor("m", "x", delay=0.02)
    builder.timestep = 0.001
    with pytest.warns(UserWarning, match="reach back 0.01 s .*not after the delay of 0.02 s: .* samples=20"):
        model = builder.build()
    sim = sw.Simulation(model)
    sim.ctrl[:] = 1.0
    sim.step(11)
    assert sim.v[0] > 0.0  # the oldest control that is kept acts, as in MuJoCo
    builder.timestep = 0.002
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        builder.build()
