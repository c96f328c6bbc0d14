"""What is asked of a state without a step, of many configurations at once, and sums of contact forces by body."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import sapwood as sw

BOX = """<mujoco><option timestep="0.002"/><worldbody><geom type="plane" size="0 0 1"/>
  <body name="box" pos="0 0 .1"><freejoint/>
    <geom name="box" type="box" size=".1 .1 .1" mass="2"/><site name="imu"/></body>
  <body name="arm" pos="1 0 1"><joint name="hinge" axis="0 1 0" range="-90 10"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass="1"/>
    <body pos=".4 0 0"><joint name="ball" type="ball"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02" mass=".5"/>
      <site name="tip" pos=".2 .03 0"/></body></body>
  </worldbody><actuator><motor joint="hinge"/></actuator>
  <sensor><accelerometer site="imu"/><touch site="imu"/><jointlimitfrc joint="hinge"/></sensor></mujoco>"""


def test_forward_is_the_step_that_comes_next_and_leaves_the_state() -> None:
    model = sw.load(BOX)
    for options in ({}, {"scheme": "implicit-euler"}, {"accuracy": 1e-4}):
        sim, twin = sw.Simulation(model, **options), sw.Simulation(model, **options)
        sim.ctrl[0] = twin.ctrl[0] = 30
        for _ in range(30):
            before, time = sim.q.copy(), sim.time
            sim.forward()
            np.testing.assert_array_equal(sim.q, before)
            assert sim.time == time
            asked = sim.acceleration.copy()
            limit = sim.sensor(2).value.copy()
            sim.step()
            twin.step()
            np.testing.assert_array_equal(sim.q, twin.q)
            if "accuracy" not in options:
                np.testing.assert_array_equal(sim.acceleration, asked)
                np.testing.assert_allclose(sim.sensor(2).value, limit, rtol=1e-9, atol=1e-9)


def test_forward_gives_the_forces_of_a_configuration() -> None:
    sim = sw.Simulation(sw.load(BOX))
    assert len(sim.contacts) == 0
    sim.forward()
    assert len(sim.contacts) == 4
    np.testing.assert_allclose(sim.body("box").contact_force, [0, 0, 2 * 9.81], rtol=1e-3, atol=1e-6)
    np.testing.assert_allclose(sim.sensor(0).value, [0, 0, 9.81], atol=1e-2)
    sim.q[2] = 1.0
    sim.forward()
    assert len(sim.contacts) == 0
    np.testing.assert_array_equal(sim.body("box").contact_force, 0)
    np.testing.assert_allclose(sim.acceleration[2], -9.81, rtol=1e-9)


def test_bias_acceleration_is_mujocos_jacobian_rate_times_v() -> None:
    model = sw.load(BOX)
    m = mujoco.MjModel.from_xml_string(BOX)
    d = mujoco.MjData(m)
    rng = np.random.default_rng(0)
    sim = sw.Simulation(model)
    for _ in range(20):
        sim.q = model.integrate(sim.q, rng.normal(size=model.nv))
        sim.v = rng.normal(size=model.nv)
        d.qpos, d.qvel = sim.q, sim.v
        # MuJoCo's angular velocities of free and ball joints are in the body's axes, as ours.
        mujoco.mj_forward(m, d)
        lin, ang = np.zeros((3, m.nv)), np.zeros((3, m.nv))
        site = m.site("tip")
        mujoco.mj_jacDot(m, d, lin, ang, d.site("tip").xpos, site.bodyid[0])
        expected = np.r_[ang @ d.qvel, lin @ d.qvel]
        np.testing.assert_allclose(sim.bias_acceleration(site="tip"), expected, atol=1e-9)
        point = sim.site("tip").position
        np.testing.assert_allclose(sim.bias_acceleration(int(site.bodyid[0]), point=point), expected, atol=1e-9)
    np.testing.assert_array_equal(sim.bias_acceleration(0), 0)


def test_many_configurations_at_once_are_each_of_them() -> None:
    model = sw.load(BOX)
    rng = np.random.default_rng(1)
    dv = rng.normal(size=(7, model.nv))
    q0 = model.keyframe().q
    q = model.integrate(q0, dv)
    assert q.shape == (7, model.nq)
    poses, jacobians = model.forward_kinematics(q), model.jacobian(q, site="tip")
    back = model.difference(q0, q)
    assert (poses.positions.shape, jacobians.shape, back.shape) == (
        (7, model.nbody, 3),
        (7, 6, model.nv),
        (7, model.nv),
    )
    sim = sw.Simulation(model)
    for k in range(7):
        np.testing.assert_array_equal(q[k], model.integrate(q0, dv[k]))
        np.testing.assert_array_equal(back[k], model.difference(q0, q[k]))
        np.testing.assert_array_equal(poses.quaternions[k], model.forward_kinematics(q[k]).quaternions)
        sim.q = q[k]
        np.testing.assert_allclose(jacobians[k], sim.jacobian(site="tip"), atol=1e-13)
        np.testing.assert_allclose(model.jacobian(q[k], "box"), sim.jacobian("box"), atol=1e-13)
    with pytest.raises(ValueError, match="dv has 3 rows"):
        model.integrate(q, dv[:3])
    with pytest.raises(ValueError, match=r"q\[2\]"):
        model.forward_kinematics(np.where(np.arange(7)[:, None] == 2, 0.0, q))


def test_batches_have_sites_and_contact_forces_by_body() -> None:
    model = sw.load(BOX)
    batch = sw.Batch(model, 3, contacts=True)
    batch.q[1, 2] = 2.0
    batch.step(200)
    forces = batch.body_contact_forces
    assert forces.shape == (3, model.nbody, 3)
    box = model.body_index("box")
    np.testing.assert_allclose(forces[[0, 2], box], [[0, 0, 2 * 9.81]] * 2, atol=1e-2)
    np.testing.assert_array_equal(forces[1], 0)
    np.testing.assert_allclose(forces[0, 0], -forces[0, box], atol=1e-9)
    world = batch.simulation(0)
    np.testing.assert_allclose(batch.site_positions[0], world.site_positions, atol=1e-12)
    np.testing.assert_allclose(batch.site_quaternions[0], world.site_quaternions, atol=1e-12)
    with pytest.raises(RuntimeError, match="contacts=True"):
        _ = sw.Batch(model, 2).body_contact_forces


def test_rollouts_follow_targets_of_pd_control() -> None:
    model = sw.load(BOX)
    rng = np.random.default_rng(2)
    kp = np.r_[np.zeros(6), np.full(4, 20.0)]
    targets = model.integrate(model.keyframe().q, rng.normal(size=(2 * 5, model.nv)) * (kp > 0)).reshape(2, 5, model.nq)
    batch, other = sw.Batch(model, 2), sw.Batch(model, 2)
    for each in (batch, other):
        each.pd(kp, 0.1 * kp, model.keyframe().q)
    q, _ = batch.rollout(None, None, np.zeros((2, 5, 1)), skip=3, targets=targets)
    for t in range(5):
        other.pd_target = targets[:, t]
        other.step(3)
        np.testing.assert_array_equal(other.q, q[:, t])
    np.testing.assert_array_equal(batch.pd_target, targets[:, -1])
    with pytest.raises(ValueError, match="pd"):
        sw.Batch(model, 2).rollout(None, None, np.zeros((2, 5, 1)), targets=targets)


def test_states_as_arrays_are_positions_velocities_and_inputs() -> None:
    sim = sw.Simulation(sw.load(BOX))
    sim.ctrl[0] = 3
    sim.step(10)
    numbers = sim.state(as_array=True)
    np.testing.assert_array_equal(numbers, np.r_[sim.time, sim.q, sim.v, sim.act, sim.ctrl])
    other = sw.Simulation(sim.model)
    other.restore(numbers)
    np.testing.assert_array_equal(other.state(as_array=True), numbers)
    other.step()
    sim.step()
    np.testing.assert_allclose(other.q, sim.q, atol=1e-7)
    with pytest.raises(ValueError, match="state"):
        other.restore(numbers[:-1])


LIMITED = """<mujoco><option timestep="1e-5"/><default><geom condim="1" solref=".02 1" solimp=".9 .95 .001 .5 2"/>
  <joint solreflimit=".02 1" solimplimit=".9 .95 .001 .5 2"/></default>
  <worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 .0995"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <geom type="sphere" size=".1" mass="2"/></body>
  <body pos="1 0 1"><joint name="hinge" axis="0 1 0" range="-90 10" damping=".3" stiffness="2"/>
    <geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass="1"/></body>
  </worldbody></mujoco>"""


def test_inverse_dynamics_are_mujocos_where_steps_are_short() -> None:
    m = mujoco.MjModel.from_xml_string(LIMITED)
    d = mujoco.MjData(m)
    sim = sw.Simulation(sw.load(LIMITED))
    rng = np.random.default_rng(1)
    for _ in range(10):
        d.qpos[:] = sim.q[:] = [0.3, rng.uniform(-1e-3, 1e-3), 0.1745 + rng.uniform(-0.01, 0.01)]
        d.qvel[:] = sim.v[:] = rng.uniform(-0.05, 0.05, 3)
        d.qacc[:] = a = rng.uniform(-2, 2, 3)
        mujoco.mj_inverse(m, d)
        np.testing.assert_allclose(sim.inverse_dynamics(a), d.qfrc_inverse, rtol=2e-3, atol=2e-3)


def test_inverse_dynamics_lead_to_the_acceleration() -> None:
    sim = sw.Simulation(sw.load(BOX), tolerance=1e-12)
    sim.ctrl[0] = 30
    sim.step(50)
    a = np.zeros(sim.model.nv)
    a[[0, 2, 6]] = [1.0, 0.5, -20.0]
    forces = sim.inverse_dynamics(a)
    np.testing.assert_allclose(forces[:3], [2.0, 0, 2 * (9.81 + 0.5)], atol=1e-6)  # it lifts off: nothing holds it
    sim.applied_force[:] += forces
    sim.step()
    np.testing.assert_allclose(sim.acceleration, a, atol=1e-5)
    with pytest.raises(ValueError, match="acceleration has shape"):
        sim.inverse_dynamics([1.0])
    with pytest.raises(TypeError, match=r"expected one array, or model.inverse_dynamics\(q, v, a\) of any state"):
        sim.inverse_dynamics(sim.q, sim.v, a)  # type: ignore[call-arg]


SENSORS = """<mujoco><option timestep="1e-4"/><worldbody>
  <body pos="0 0 1"><joint name="a" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".02" mass="1"/>
    <body pos=".4 0 0"><joint name="b" axis="0 1 .3"/><geom type="capsule" fromto="0 0 0 .2 .1 0" size=".02" mass=".5"/>
      <site name="tip" pos=".2 .03 0"/></body></body>
  </worldbody><actuator><motor name="push" joint="a" gear="2"/><motor joint="b"/></actuator>
  <sensor><jointpos joint="a"/><jointvel joint="b"/><framepos objtype="site" objname="tip"/><gyro site="tip"/>
  <accelerometer site="tip"/><actuatorfrc actuator="push"/></sensor></mujoco>"""


def test_sensor_jacobians_are_mujocos() -> None:
    m = mujoco.MjModel.from_xml_string(SENSORS)
    d = mujoco.MjData(m)
    sim = sw.Simulation(sw.load(SENSORS))
    d.qpos[:] = sim.q[:] = [0.4, -0.7]
    d.qvel[:] = sim.v[:] = [0.5, 1.2]
    d.ctrl[:] = sim.ctrl[:] = [1.0, -0.5]
    n = m.nsensordata
    c, e = np.zeros((n, 4)), np.zeros((n, 2))
    mujoco.mjd_transitionFD(m, d, 1e-6, True, None, None, c, e)
    before = sim.state()
    jacobians = sim.sensor_jacobians()
    assert sim.state() == before
    np.testing.assert_allclose(jacobians.C, c, atol=1e-3 * np.abs(c).max())
    np.testing.assert_allclose(jacobians.D, e, atol=1e-3 * np.abs(e).max())


def test_a_touch_sensor_shows_what_a_motor_presses() -> None:
    sim = sw.Simulation(
        sw.load("""<mujoco><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 .1"><joint name="z" type="slide" axis="0 0 1"/><geom type="box" size=".1 .1 .1" mass="2"/>
  <site name="foot" type="box" size=".2 .2 .2"/></body></worldbody>
  <actuator><motor joint="z" gear="-3"/></actuator><sensor><touch site="foot"/></sensor></mujoco>""")
    )
    sim.step(100)
    np.testing.assert_allclose(sim.sensor_jacobians().D, [[3.0]], rtol=1e-4)  # the ground yields
