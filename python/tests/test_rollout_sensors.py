"""Rollouts that return what sensors show: the bits of steps, and NaN from where a world failed."""

from __future__ import annotations

import numpy as np

import sapwood as sw

TEXT = """
<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .3"><joint name="slide" type="slide" axis="0 0 1"/>
  <geom size=".1" mass="1"/><site name="s"/></body></worldbody>
  <actuator><motor joint="slide" ctrlrange="-50 50"/></actuator>
  <sensor><jointpos joint="slide"/><accelerometer site="s"/><touch site="s"/></sensor></mujoco>"""


def test_sensors_are_those_after_each_control() -> None:
    model = sw.load(TEXT)
    one, other = sw.Batch(model, 3), sw.Batch(model, 3)
    ctrl = np.random.default_rng(3).uniform(-20, 20, (3, 40, 1))
    q, v, sensors = one.rollout(None, None, ctrl, skip=4, sensors=True)
    assert sensors.shape == (3, 40, 5)
    for t in range(40):
        other.ctrl = ctrl[:, t]
        other.step(4)
        assert (other.q == q[:, t]).all()
        assert (other.v == v[:, t]).all()
        assert (other.sensordata == sensors[:, t]).all()
    plain = sw.Batch(model, 3).rollout(None, None, ctrl, skip=4)
    assert len(plain) == 2
    assert (plain[0] == q).all()


def test_a_world_that_fails_stays_where_it_was() -> None:
    model = sw.load(TEXT)
    ctrl = np.zeros((2, 10, 1))
    v = np.array([[0.0], [np.finfo(float).max / 2]])
    with_sensors, without = sw.Batch(model, 2), sw.Batch(model, 2)
    q, _, sensors = with_sensors.rollout(np.zeros((2, 1)), v, ctrl, sensors=True)
    same, _ = without.rollout(np.zeros((2, 1)), v, ctrl)
    assert np.isfinite(sensors[0]).all()
    assert with_sensors.failed.tolist() == without.failed.tolist() == [False, True]
    assert np.isnan(sensors[1, -1]).all()
    np.testing.assert_array_equal(q, same)
    np.testing.assert_array_equal(with_sensors.q, without.q)
    np.testing.assert_array_equal(with_sensors.v, without.v)
