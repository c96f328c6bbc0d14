"""Worlds of a batch through live arrays: parameters, applied forces, and what sensors show."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import sapwood as sw

FIGURE = """
<mujoco><option timestep="0.004"/><default><joint damping="0.3" armature="0.01"/></default>
<worldbody><geom type="plane" size="0 0 1"/>
  <body name="trunk" pos="0 0 0.4"><freejoint/><site name="imu" pos="0.02 0 0.05"/>
    <geom type="capsule" size="0.08" fromto="0 0 -.1 0 0 .1"/>
    <body pos="0.05 0 -0.12"><joint name="hip" axis="0 1 0" limited="true" range="-60 60"/><site name="mount"/>
      <geom type="capsule" size="0.04" fromto="0 0 0 0 0 -0.2"/>
      <site name="sole" pos="0 0 -0.2" size="0.1"/></body></body>
</worldbody><actuator><position name="hip" joint="hip" kp="20" kv="1"/></actuator>
<sensor><framequat objtype="xbody" objname="trunk"/><gyro site="imu"/><velocimeter site="imu"/>
  <subtreecom body="trunk"/>
  <jointpos joint="hip"/><accelerometer site="imu"/><touch site="sole"/><force site="mount"/><torque site="mount"/>
  <actuatorfrc actuator="hip"/><jointlimitfrc joint="hip"/></sensor></mujoco>"""
PRESENT = slice(0, 14)


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(FIGURE)


def moving(model: sw.Model, n: int) -> sw.Batch:
    batch = sw.Batch(model, n, tolerance=1e-11)
    rng = np.random.default_rng(1)
    batch.v[:] = rng.normal(scale=0.5, size=batch.v.shape)
    batch.ctrl[:] = rng.uniform(-1, 1, size=batch.ctrl.shape)
    return batch


def test_sensors_are_those_of_simulations(model: sw.Model) -> None:
    batch = moving(model, 6)
    # Before the first step what has no forces shows none, and an accelerometer rests against gravity.
    first = batch.sensordata
    np.testing.assert_array_equal(first, [batch.simulation(i).sensordata for i in range(6)])
    batch.step(100)
    scale = np.zeros(model.nsensordata)
    for _ in range(20):
        sims = [batch.simulation(i) for i in range(6)]
        for i, sim in enumerate(sims):
            # What the solver remembers of the step before is left out on both sides.
            batch.set_state(i, sim.state())
            sim.step()
        batch.step()
        shown, expected = batch.sensordata, np.array([sim.sensordata for sim in sims])
        scale = np.maximum(scale, np.abs(expected).max(axis=0))
        np.testing.assert_allclose(shown, expected, atol=1e-6 * max(1, scale.max()), rtol=1e-6)
        # The present state alone: the same bits as a simulation there.
        here = [batch.simulation(i).sensordata for i in range(6)]
        np.testing.assert_array_equal(shown[:, PRESENT], np.array(here)[:, PRESENT])
    assert (scale[:-1] > 1e-3).all(), scale
    assert not shown.flags.writeable
    batch.reset([True, *[False] * 5])
    np.testing.assert_array_equal(batch.sensordata[0], batch.simulation(0).sensordata)


def test_applied_forces_are_those_of_simulations(model: sw.Model) -> None:
    batch = moving(model, 5)
    sims = [batch.simulation(i) for i in range(5)]
    rng = np.random.default_rng(2)
    for _ in range(10):
        batch.applied_force[:] = rng.normal(scale=2, size=(5, model.nv))
        batch.applied_wrench[:, 1:] = rng.normal(scale=5, size=(5, len(model.body_names) - 1, 6))
        batch.applied_wrench[3] = 0
        for i, sim in enumerate(sims):
            batch.set_state(i, sim.state())
            sim.applied_force[:] = batch.applied_force[i]
            sim.applied_wrench[:] = batch.applied_wrench[i]
            batch.set_state(i, sim)
        batch.step()
        for i, sim in enumerate(sims):
            sim.step()
            np.testing.assert_allclose(batch.v[i], sim.v, atol=1e-7)
    # A state brings its forces along, and a reset ends them.
    batch.reset()
    assert not batch.applied_force.any()
    assert not batch.applied_wrench.any()
    batch.set_state(2, sims[0])
    np.testing.assert_array_equal(batch.applied_wrench[2], sims[0].applied_wrench)
    batch.applied_force[1, 0] = np.nan
    with pytest.raises(sw.SimulationError, match="applied_force"):
        batch.step()
    with pytest.raises(ValueError, match="applied_wrench has shape"):
        batch.applied_wrench = np.zeros((5, 6))


def test_parameters_are_live_and_stay_in_lanes(model: sw.Model) -> None:
    batch, plain = moving(model, 6), moving(model, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        batch.parameters.masses[3, 1] *= 2
        batch.parameters["frictions"][2] = 0.1
        batch.parameters.gravity[4, 2] = -3
        batch.parameters.kp[4] = 35
        batch.step(30)
    plain.step(30)
    for i in (0, 1, 5):
        assert batch.q[i].tobytes() == plain.q[i].tobytes()
    sim = moving(model, 6).simulation(4)
    sim.parameters.gravity[2] = -3
    sim.parameters.kp = [35]
    sim.step(30)
    np.testing.assert_allclose(batch.q[4], sim.q, atol=1e-6)
    assert batch.parameters(3).masses[1] == 2 * model.body_masses[1]
    assert batch.simulation(3).model.mass == pytest.approx(model.mass + model.body_masses[1])
    assert list(batch.parameters) == list(sim.parameters)
    assert batch.parameters.joint_ranges.shape == (6, 2, 2)
    # Set by name they show in the arrays, and a copy has them.
    batch.set_parameters([1], damping=np.full(model.nv, 0.7))
    assert (batch.parameters.damping[1] == 0.7).all()
    batch.parameters.damping[0] = 0.9
    assert (sw.Batch.__copy__(batch).parameters.damping[[0, 1], 6] == [0.9, 0.7]).all()
    batch.parameters.masses[5, 1] = -1
    with pytest.raises(ValueError, match=r"world 5: parameters.masses\[1\] is -1: expected"):
        batch.step()
    assert batch.parameters.masses[5, 1] == model.body_masses[1]  # what the worlds have
    batch.step()
    batch.parameters.reset()
    assert (batch.parameters.masses == model.body_masses).all()
    batch.parameters.geom_sizes[2, 1, 0] = 0.09
    with pytest.warns(sw.PerformanceWarning, match="1 of 6 worlds .* world 2 has geom_sizes of its own"):
        batch.step()
