"""Sensors that show what they measure later, against MuJoCo."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

MODEL = """<mujoco><option timestep="0.002" gravity="0 0 0"><flag contact="disable"/></option>
<worldbody>
  <body name="b"><joint name="a" type="slide" damping="1"/><geom size=".1" mass="1"/><site name="s"/>
    <body name="c" pos=".3 0 0"><joint name="h" axis="0 1 0" damping=".01"/><geom size=".05" pos=".1 0 0" mass=".2"/>
    </body></body>
</worldbody>
<actuator><motor name="m" joint="a"/><motor joint="h" gear=".1"/></actuator>
<sensor>
  <jointpos joint="a"/>
  <jointpos joint="a" delay="0.01" nsample="5"/>
  <framepos objtype="xbody" objname="c" delay="0.0073" nsample="6" interp="linear"/>
  <framequat objtype="xbody" objname="c" delay="0.0051" nsample="5" interp="cubic"/>
  <jointvel joint="h" interval="0.01" nsample="3"/>
  <jointvel joint="a" interval="0.007 -0.003" nsample="4"/>
  <jointpos joint="h" delay="0.011" interval="0.004" nsample="4" interp="linear"/>
  <velocimeter site="s" delay="0.02" nsample="3"/>
  <clock delay="0.004" nsample="3"/>
  <clock nsample="3"/>
</sensor></mujoco>"""


def controls(steps: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    return np.cumsum(rng.normal(size=(steps, 2)), axis=0) * 0.3


def test_readings_are_those_of_mujoco() -> None:
    theirs = mujoco.MjModel.from_xml_string(MODEL)
    model = sw.load(MODEL)
    assert model.warnings == []
    data = mujoco.MjData(theirs)
    sims = [sw.Simulation(made) for made in (model, sw.load(model.to_mjcf()), sw.Model.from_mujoco(theirs))]
    for ctrl in controls(300):
        # MuJoCo's sensors are those before the step. Both are in the same state there.
        data.ctrl[:] = ctrl
        mujoco.mj_forward(theirs, data)
        for sim in sims:
            np.testing.assert_allclose(sim.sensordata, data.sensordata, rtol=0, atol=1e-12)
            sim.q[:], sim.v[:], sim.ctrl[:] = data.qpos, data.qvel, ctrl
            sim.step()
        mujoco.mj_step(theirs, data)
        for sim in sims:
            sim.q[:], sim.v[:] = data.qpos, data.qvel


def test_a_state_has_the_readings_that_are_yet_to_be_shown() -> None:
    model = sw.load(MODEL)
    sim, other, batch = sw.Simulation(model), sw.Simulation(model), sw.Batch(model, 3)
    assert "sensors show later" in (batch.alone or "")
    given = controls(60)
    for k, ctrl in enumerate(given):
        if k == 30:
            other.restore(pickle.loads(pickle.dumps(sim.state())))
        for one in (sim, batch) if k < 30 else (sim, batch, other):
            one.ctrl[:] = ctrl
            one.step()
        np.testing.assert_array_equal(batch.sensordata, np.tile(sim.sensordata, (3, 1)))
    np.testing.assert_array_equal(other.sensordata, sim.sensordata)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(sw.Simulation(again).sensordata, sw.Simulation(model).sensordata)
    sim.reset()
    batch.reset()
    for one in (sim, batch):
        one.step()
        assert not np.asarray(one.sensordata)[..., 1:4].any()
    with pytest.raises(sw.SimulationError, match="later"):
        sim.sensor_jacobians()


def test_inside_mujoco() -> None:
    import sapwood.mujoco as guest

    theirs = mujoco.MjModel.from_xml_string(MODEL)
    data, own = mujoco.MjData(theirs), mujoco.MjData(theirs)
    for ctrl in controls(80):
        data.ctrl[:] = own.ctrl[:] = ctrl
        guest.step(theirs, data)
        mujoco.mj_step(theirs, own)
        np.testing.assert_allclose(data.sensordata, own.sensordata, rtol=0, atol=1e-12)
        for s in range(1, theirs.nsensor - 1):
            at = theirs.sensor_historyadr[s]
            count = 2 + theirs.sensor_history[s, 0] * (1 + theirs.sensor_dim[s])
            mine, there = (np.sort(x.history[at + 2 : at + count]) for x in (data, own))
            np.testing.assert_allclose(mine, there, rtol=0, atol=1e-12)
        data.qpos[:], data.qvel[:], data.time = own.qpos, own.qvel, own.time


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ('delay="-1" nsample="3"', "0 or more"),
        ('delay="0.1"', "nsample"),
        ('interval="0.1" nsample="20000"', "10000"),
        ('interval="0.1 -0.1" nsample="2"', "phase"),
        ('interval="0.1 0.1" nsample="2"', "phase"),
        ('interval="1 2 3" nsample="2"', "period and a phase"),
        ('delay="0.1" nsample="3" interp="spline"', "zoh, linear, cubic"),
    ],
)
def test_what_makes_no_sense_is_an_error(words: str, expected: str) -> None:
    with pytest.raises(sw.ModelError, match=expected):
        sw.load(MODEL.replace("<clock nsample", f"<clock {words}/><clock nsample"))
