"""Actuators on sites, as those of drones, against MuJoCo."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

DRONE = """
<mujoco><option timestep="{timestep}"/>
  <worldbody><site name="pad" pos="0 0 0.1"/>
    <body name="hull" pos="0 0 1" euler="10 20 30"><freejoint/><geom type="box" size=".1 .08 .02" mass=".5"/>
      <site name="left" pos="0 .1 .02" euler="10 0 0"/><site name="right" pos="0 -.1 .02" euler="-10 0 0"/>
      <body pos=".1 0 0"><joint name="boom" axis="0 1 0" damping=".01"/><geom size=".03" pos=".2 0 0" mass=".1"/>
        <site name="tip" pos=".2 0 .05" euler="30 40 50"/></body></body></worldbody>
  <actuator>
    <motor name="left" site="left" gear="0 0 1 0 0 .02" ctrlrange="0 10"/>
    <motor name="right" site="right" gear="0 0 1 0 0 -.02" ctrlrange="0 10"/>
    <general name="vane" site="tip" gear="1 2 0 0.1 0 0.3" dyntype="filter" dynprm="0.03" gainprm="2"/>
    <general name="drag" site="tip" gear="0.5 0 1 0 0 0" biastype="affine" biasprm="0 0 -0.4" forcerange="-0.3 0.3"/>
    <motor name="fixed" site="pad"/>
  </actuator>
  <sensor><actuatorfrc actuator="drag"/><actuatorvel actuator="left"/><actuatorpos actuator="left"/></sensor>
</mujoco>
"""
Scheme = Literal["bilinear", "symplectic-euler", "midpoint"]


def test_forces_and_accelerations_as_in_mujoco() -> None:
    text = DRONE.format(timestep=1e-8)
    theirs, sim = mujoco.MjModel.from_xml_string(text), sw.Simulation(sw.load(text), scheme="symplectic-euler")
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(1)
    start = sim.q.copy()
    for _ in range(20):
        data.qpos[:] = sim.q = sim.model.integrate(start, rng.standard_normal(7))
        data.qvel[:] = sim.v = rng.standard_normal(7)
        data.act[:] = sim.act = rng.standard_normal(1)
        data.ctrl[:] = sim.ctrl[:] = rng.uniform(-2, 12, theirs.nu)
        before = sim.v.copy()
        mujoco.mj_forward(theirs, data)
        np.testing.assert_allclose(sim.sensordata[1:], data.sensordata[1:], rtol=0, atol=1e-12)
        sim.step()
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose((sim.v - before) / 1e-8, data.qacc, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "midpoint"])
def test_a_climb(scheme: Scheme) -> None:
    """The motion is MuJoCo's of short steps."""
    text = DRONE.format(timestep=1e-5)
    theirs = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(theirs)
    data.ctrl[:] = [3.0, 3.1, 0.01, 0.0, 1.0]
    mujoco.mj_step(theirs, data, 30000)
    sim = sw.Simulation(sw.load(text), scheme=scheme, timestep=5e-4)
    sim.ctrl[:] = data.ctrl
    sim.step(600)
    np.testing.assert_allclose(sim.q, data.qpos, rtol=0, atol=3e-3)


def test_views_files_batches_and_sleep() -> None:
    model = sw.load(DRONE.format(timestep=0.002))
    assert model.warnings == []
    sim = sw.Simulation(model, sleep_after=0.01)
    target = sim.actuator("left").target
    assert target is not None
    assert target.name == "left"
    assert "site" in repr(sim.actuator("left"))
    again = sw.Simulation(sw.load(model.to_mjcf()))
    batch = sw.Batch(model, 2)
    assert "site" in (batch.alone or "")
    for of in (sim, again, batch):
        of.ctrl[:] = [3.0, 3.0, 0.0, 0.0, 0.0]
        of.step(50)
    np.testing.assert_allclose(sim.q, again.q, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(sim.q, batch.q[1])


TURNS = """
<mujoco><option timestep="1e-8"/>
  <worldbody><site name="base"/>
    <body pos="0 0 1"><joint name="ball" type="ball"/><geom type="box" size=".1 .08 .02"/>
      <site name="tip" euler="10 0 0"/></body>
    <body pos="1 0 1"><joint name="other" type="ball"/><geom type="box" size=".1 .08 .02"/></body>
    <body pos="2 0 1"><freejoint name="free"/><geom size=".1"/></body></worldbody>
  <actuator>
    <position joint="ball" gear="2 0 0" kp="5"/>
    <position joint="other" gear="0 1 1" kp="5" ctrlrange="-9 9"/>
    <position site="tip" refsite="base" gear="0 0 0 0 0 .1" kp="50"/>
    <position site="tip" refsite="base" gear="0 0 1 0 0 .1" kp="5"/>
    <intvelocity joint="other" gear="0 0 1" kp="5" actrange="-20 20"/>
    <general joint="other" gear="1 0 0" gainprm="3" biastype="affine" biasprm="0 -2 0"/>
    <general joint="other" gear="1 0 0" dyntype="filter" dynprm="1" gainprm="3" biastype="affine" biasprm="0 -3 0"/>
    <position joint="free" gear="0 0 1 0 0 0" kp="5"/>
  </actuator>
</mujoco>
"""


def test_setpoints_that_are_whole_turns_apart_are_one() -> None:
    theirs = mujoco.MjModel.from_xml_string(TURNS)
    data = mujoco.MjData(theirs)
    sim = sw.Simulation(sw.load(TURNS), scheme="symplectic-euler")
    rng, start = np.random.default_rng(2), sim.q.copy()
    for _ in range(50):
        data.qpos[:] = sim.q = sim.model.integrate(start, 2 * rng.standard_normal(theirs.nv))
        data.ctrl[:] = sim.ctrl[:] = rng.uniform(-15, 15, theirs.nu)
        data.act[:] = sim.act = rng.uniform(-15, 15, theirs.na)
        sim.v = np.zeros(theirs.nv)
        data.qvel[:] = 0
        mujoco.mj_forward(theirs, data)
        sim.step()
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-6, atol=1e-5)
