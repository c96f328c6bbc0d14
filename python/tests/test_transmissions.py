"""Actuators between sites, in the frame of a parent, and within limits that differ by direction, against MuJoCo."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

Scheme = Literal["bilinear", "symplectic-euler", "implicit-euler"]
SITES = """
<mujoco><option timestep="{timestep}"/>
  <worldbody><site name="pad" pos="0 .1 .1" euler="20 30 40"/>
    <body name="arm" pos=".1 .2 .3" euler="10 20 30"><joint type="ball" damping=".1"/><geom size=".1" mass="1"/>
      <site name="base" pos=".01 .02 .03" euler="30 0 40"/>
      <body pos=".2 0 0"><joint axis="0 1 0" armature=".01"/><geom size=".05" pos=".1 0 0" mass=".4"/>
        <site name="wrist" pos=".1 .02 0" euler="0 70 0"/></body></body>
    <body pos=".5 .4 .1" euler="50 10 80"><freejoint/><geom type="box" size=".05 .06 .07" mass="1"/>
      <site name="hand" pos=".1 0 0" euler="0 0 20"/></body>
  </worldbody>
  <actuator>{actuators}</actuator>
  <sensor>{sensors}</sensor>
</mujoco>
"""
SERVO = '<position name="{}" kp="7" kv=".3" {}/>'
TARGETS = (
    'site="hand" refsite="base" gear="1 0 0 0 0 0"',
    'site="hand" refsite="pad" gear="0 2 0 0 0 0"',
    'site="hand" refsite="base" gear="0 0 0 0 1 0"',
    'site="wrist" refsite="base" gear="1 2 3 .1 .2 .3"',
    'site="base" refsite="wrist" gear="0 0 1 0 .5 0"',
    'site="pad" refsite="hand" gear=".1 .2 .3 .4 .5 .6"',
    'cranksite="wrist" slidersite="base" cranklength=".4" gear="3"',
    'cranksite="hand" slidersite="pad" cranklength="5"',
    'cranksite="base" slidersite="hand" cranklength=".01"',
    'jointinparent="ball" gear="1 2 3"',
    'joint="ball" gear="3 -2 1"',
    'jointinparent="free" gear="1 2 3 .1 .2 .3"',
)


def text(timestep: float) -> str:
    actuators = "".join(SERVO.format(f"a{k}", target) for k, target in enumerate(TARGETS))
    sensors = "".join(f'<actuatorpos actuator="a{k}"/><actuatorvel actuator="a{k}"/>' for k in range(len(TARGETS)))
    whole = SITES.format(timestep=timestep, actuators=actuators, sensors=sensors)
    return whole.replace('type="ball"', 'name="ball" type="ball"').replace("<freejoint/>", '<freejoint name="free"/>')


def test_lengths_forces_and_accelerations_as_in_mujoco() -> None:
    theirs, model = mujoco.MjModel.from_xml_string(text(1e-9)), sw.load(text(1e-9))
    assert model.warnings == []
    data, rng = mujoco.MjData(theirs), np.random.default_rng(2)
    for sim in (
        sw.Simulation(model, scheme="symplectic-euler", tolerance=1e-12),
        sw.Simulation(sw.load(model.to_mjcf()), tolerance=1e-12),
    ):
        start = sim.q.copy()
        for _ in range(20):
            data.qpos[:] = sim.q = sim.model.integrate(start, 0.6 * rng.standard_normal(10))
            data.qvel[:] = sim.v = rng.standard_normal(10)
            data.ctrl[:] = sim.ctrl[:] = rng.uniform(-2, 2, theirs.nu)
            before = sim.v.copy()
            mujoco.mj_forward(theirs, data)
            np.testing.assert_allclose(sim.sensordata, data.sensordata, rtol=0, atol=1e-12)
            sim.step()
            np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose(sim.actuation_forces, data.qfrc_actuator, rtol=1e-5, atol=1e-5)
            np.testing.assert_allclose((sim.v - before) / 1e-9, data.qacc, rtol=1e-4, atol=1e-3)


CARTESIAN = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><site name="base" euler="0 0 90"/>
<body><joint axis="1 0 0" type="slide" damping="2"/><joint axis="0 0 1" type="slide" damping="2"/>
<geom size=".05" mass="1"/><site name="hand"/></body></worldbody>
<actuator><position site="hand" refsite="base" gear="0 1 0 0 0 0" kp="{kp}"/>
<position site="hand" refsite="base" gear="0 0 1 0 0 0" kp="{kp}"/></actuator></mujoco>"""


@pytest.mark.parametrize("kp", [100, 1e5])
@pytest.mark.parametrize("scheme", ["bilinear", "symplectic-euler", "implicit-euler"])
def test_a_cartesian_servo_holds_its_place(kp: float, scheme: Scheme) -> None:
    sim = sw.Simulation(sw.load(CARTESIAN.format(kp=kp)), scheme=scheme)
    # The base's y is the world's −x.
    sim.ctrl[:] = [0.2, 0.1]
    sim.step(5000)
    np.testing.assert_allclose(sim.q, [-0.2, 0.1], rtol=0, atol=1e-2 if kp < 1e3 else 1e-6)


LIMITED = """<mujoco><option timestep="0.002" gravity="0 0 0"/><worldbody><body>
<joint name="j" axis="0 0 1" {joint}/><geom type="box" size=".2 .05 .05" mass="3"/></body></worldbody>
<tendon><fixed name="t" {tendon}><joint joint="j" coef="2"/></fixed></tendon>
<actuator><motor {target}/></actuator></mujoco>"""
RANGE = 'actuatorfrcrange="-20 5"'


@pytest.mark.parametrize(
    "limits",
    [
        {"joint": RANGE, "tendon": "", "target": 'joint="j"'},
        {"joint": "", "tendon": RANGE, "target": 'tendon="t" gear="3"'},
        {"joint": "", "tendon": RANGE, "target": 'tendon="t" forcerange="-9 30"'},
    ],
)
@pytest.mark.parametrize("control", [30.0, -30.0, 3.0])
def test_limits_of_effort_by_direction(limits: dict[str, str], control: float) -> None:
    of = LIMITED.format(**limits)
    theirs = mujoco.MjModel.from_xml_string(of)
    data = mujoco.MjData(theirs)
    data.ctrl[0] = control
    mujoco.mj_step(theirs, data, 100)
    model = sw.load(of)
    assert model.warnings == []
    batch, again = sw.Batch(model, 3), sw.Simulation(sw.load(model.to_mjcf()))
    sim = sw.Simulation(model, scheme="midpoint")
    for run in (batch, again, sim):
        run.ctrl[:] = control
        run.step(100)
        np.testing.assert_allclose(np.ravel(run.v), data.qvel[0], rtol=1e-9)


INERTIA_OF_DRIVES = """
<mujoco><option actuatorgroupdisable="3"/>
  <worldbody>
    <body><joint name="a" armature=".01" damping=".3"/><geom size=".1" pos=".2 0 0"/>
      <body pos=".4 0 0"><joint name="b"/><geom size=".1" pos=".2 0 0"/></body></body>
    <body pos="0 0 1"><joint name="ball" type="ball"/><geom size=".1" pos=".1 .1 0"/></body></worldbody>
  <tendon><fixed name="both"><joint joint="a" coef="1"/><joint joint="b" coef="-2"/></fixed></tendon>
  <actuator>
    <motor joint="a" gear="3" armature=".02" damping=".05"/><motor joint="a" gear="2" armature=".01" group="3"/>
    <position joint="b" kp="5" armature=".03"/><motor tendon="both" gear="2" armature=".04" damping=".1"/>
    <motor joint="ball" gear="2 0 0" armature=".01" damping=".2"/></actuator></mujoco>
"""


def test_inertia_and_damping_of_drives_as_in_mujoco() -> None:
    theirs = mujoco.MjModel.from_xml_string(INERTIA_OF_DRIVES)
    model = sw.load(INERTIA_OF_DRIVES)
    assert model.warnings == []
    theirs.opt.timestep = 1e-7
    data, rng = mujoco.MjData(theirs), np.random.default_rng(4)
    for of in (model, sw.load(model.to_mjcf()), sw.Model.from_mujoco(theirs)):
        sim = sw.Simulation(of, timestep=1e-7)
        start = sim.q.copy()
        for _ in range(5):
            data.qpos[:] = sim.q = of.integrate(start, rng.normal(size=theirs.nv))
            data.qvel[:] = sim.v = rng.normal(size=theirs.nv)
            data.ctrl[:] = sim.ctrl[:] = rng.normal(size=theirs.nu)
            mujoco.mj_forward(theirs, data)
            sim.forward()
            np.testing.assert_allclose(sim.acceleration, data.qacc, rtol=1e-4, atol=1e-4)
