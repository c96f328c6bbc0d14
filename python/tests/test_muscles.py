"""Muscles against MuJoCo: force over length, velocity and activation, peak force from inertia, ranges of lengths."""

from __future__ import annotations

import numpy as np
import pytest

import sapwood as sw

mujoco = pytest.importorskip("mujoco")

ARM = """
<mujoco><option timestep="{timestep}" gravity="0 0 0"/><compiler angle="radian"/>
  <worldbody><site name="high" pos="0.05 0 0.3"/><site name="low" pos="-0.05 0 0.3"/>
    <body pos="0 0 0.2"><joint name="shoulder" axis="0 1 0" range="-1 1" damping="0.1"/>
      <geom type="capsule" fromto="0 0 0 0 0 -.3" size=".02" mass="1"/><site name="front" pos=".03 0 -.1"/>
      <site name="back" pos="-.03 0 -.1"/>
      <body pos="0 0 -.3"><joint name="elbow" axis="0 1 0" range="0 2"/><joint name="twist" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -.25" size=".02" mass=".5"/><site name="hand" pos=".02 0 -.2"/></body>
    </body></worldbody>
  <tendon><spatial name="flexor"><site site="high"/><site site="front"/><site site="hand"/></spatial>
    <spatial name="extensor"><site site="low"/><site site="back"/></spatial>
    <fixed name="both"><joint joint="shoulder" coef="0.03"/><joint joint="elbow" coef="-0.02"/></fixed></tendon>
  <default><default class="strong"><muscle force="300" lmin="0.4"/></default></default>
  <actuator>
    <muscle name="flexor" tendon="flexor" {flexor} ctrlrange="0 1"/>
    <muscle name="extensor" class="strong" tendon="extensor" lengthrange="0.15 0.3" timeconst="0.02 0.05" vmax="4"/>
    <muscle name="joint" joint="elbow" gear="-0.04" lengthrange="-0.08 0" scale="100" tausmooth="0.3" fpmax="0.8"/>
    <general name="general" tendon="both" dyntype="muscle" gaintype="muscle" biastype="muscle" lengthrange="-0.07 0.03"
      gainprm="0.8 1.2 50 1 0.5 1.5 2 1 1.4" biasprm="0.8 1.2 50 1 0.5 1.5 2 1 1.4" dynprm="0.01 0.04"/>
    <general name="plain" joint="shoulder" dyntype="filter" dynprm="0.05" gaintype="muscle"
      gainprm="0.75 1.05 40 1 0.5 1.6 1.5 1.3 1.2" lengthrange="-1 1"/>
  </actuator>
</mujoco>
"""


def arm(timestep: float = 1e-9, flexor: str = 'lengthrange="0.3 0.75"') -> str:
    return ARM.format(timestep=timestep, flexor=flexor)


def test_forces_as_in_mujoco() -> None:
    """At random states, of a step so short that what is implicit in it does not count."""
    theirs, sim = mujoco.MjModel.from_xml_string(arm()), sw.Simulation(sw.load(arm()), scheme="symplectic-euler")
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(4)
    largest = np.zeros(theirs.nu)
    for _ in range(50):
        data.qpos[:] = sim.q = rng.uniform([-1, 0, -3], [1, 2, 3])
        data.qvel[:] = sim.v = 10.0 * rng.standard_normal(3)
        data.act[:] = sim.act = rng.uniform(0, 1, theirs.na)
        mujoco.mj_forward(theirs, data)
        sim.step()
        np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-6, atol=1e-6)
        largest = np.maximum(largest, np.abs(data.actuator_force))
    assert (largest > 5.0).all()


def test_activations_as_in_mujoco() -> None:
    text = arm(0.002)
    theirs, sim = mujoco.MjModel.from_xml_string(text), sw.Simulation(sw.load(text), scheme="symplectic-euler")
    data = mujoco.MjData(theirs)
    rng = np.random.default_rng(5)
    for _ in range(300):
        data.ctrl[:] = sim.ctrl[:] = rng.uniform(-0.2, 1.2, theirs.nu)
        data.qpos[:], data.qvel[:] = sim.q, sim.v
        mujoco.mj_step(theirs, data)
        sim.step()
        np.testing.assert_allclose(sim.act, data.act, rtol=0, atol=1e-12)
    assert np.ptp(data.act) > 0.1


def test_range_of_lengths_that_the_file_does_not_give() -> None:
    """MuJoCo finds it by a simulation of a pull, with limits that yield."""
    text = arm(flexor="")
    theirs, ours = mujoco.MjModel.from_xml_string(text), sw.load(text)
    expected = theirs.actuator_lengthrange[0]
    written = ours.to_mjcf()
    found = [float(x) for x in written.split('lengthrange="')[1].split('"')[0].split()]
    np.testing.assert_allclose(found, expected, atol=0.02 * np.ptp(expected))
    assert any("lengthrange" in str(warning) for warning in ours.warnings)


def test_a_limited_tendon_bounds_the_range_of_lengths() -> None:
    """A slide without a range, which an ascent within the ranges of joints would leave where it is."""
    text = """<mujoco><worldbody><site name="hook" pos="0 0 .2"/><body pos="0 0 .1"><joint type="slide" axis="0 0 1"/>
      <geom size=".01" mass="1"/><site name="load"/></body></worldbody>
      <tendon><spatial name="t" limited="true" range=".075 .105"><site site="hook"/><site site="load"/></spatial>
      </tendon>
      <actuator><muscle tendon="t"/></actuator></mujoco>"""
    expected = mujoco.MjModel.from_xml_string(text).actuator_lengthrange[0]
    found = [float(x) for x in sw.load(text).to_mjcf().split('lengthrange="')[1].split('"')[0].split()]
    np.testing.assert_allclose(found, expected, atol=0.02 * np.ptp(expected))


def test_written_models_have_the_same_muscles() -> None:
    first = sw.Simulation(sw.load(arm(0.002)))
    again = sw.Simulation(sw.load(first.model.to_mjcf()))
    twin = sw.Simulation(sw.Model.from_bytes(first.model.to_bytes()))
    for sim in (first, again, twin):
        sim.ctrl[:] = 0.6
        sim.step(100)
    assert np.abs(first.v).max() > 0.1
    np.testing.assert_array_equal(first.q, twin.q)
    np.testing.assert_allclose(first.q, again.q, rtol=0, atol=1e-9)


def test_long_steps_of_strong_muscles_are_stable() -> None:
    sim = sw.Simulation(sw.load(arm(0.01)))
    sim.ctrl[:] = 1.0
    sim.step(500)
    assert np.abs(sim.v).max() < 1e-3


def test_batch_steps_them_one_by_one() -> None:
    model = sw.load(arm(0.002))
    batch, sim = sw.Batch(model, 3), sw.Simulation(model)
    batch.ctrl[:] = sim.ctrl[:] = 0.5
    batch.step(20)
    sim.step(20)
    assert batch.alone is not None
    np.testing.assert_array_equal(batch.q[1], sim.q)
