"""Actuators with states of their own, against MuJoCo."""

from __future__ import annotations

from typing import Literal

import mujoco
import numpy as np
import pytest

import sapwood as sw

MODEL = """<mujoco><option timestep="0.004" gravity="0 0 0"><flag contact="disable"/></option>
<worldbody><body><joint name="slider" type="slide" axis="1 0 0"/><geom size="0.1" mass="2"/>
<body pos="0.3 0 0"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.2 0 0" mass="1"/></body></body>
</worldbody>
<tendon><fixed name="both"><joint joint="slider" coef="2"/><joint joint="hinge" coef="-0.5"/></fixed></tendon>
<actuator>
<general name="integrator" joint="hinge" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0.1 0 0"
         ctrlrange="-2 2" ctrllimited="true" actlimited="true" actrange="-0.05 0.05"/>
<motor name="motor" joint="slider"/>
<general name="filter" tendon="both" dyntype="filter" dynprm="0.05" gainprm="4" gear="1.5"/>
<general name="exact" joint="slider" dyntype="filterexact" dynprm="0.03" gainprm="5" actearly="true"/>
<intvelocity name="velocity" joint="hinge" kp="0" kv="0" actrange="-1 1"/>
<general name="fast" joint="slider" dyntype="filter" dynprm="0.004" gainprm="2"/>
</actuator>
<keyframe><key name="begun" act="0.01 0.2 -0.3 0.4 0.1" qpos="0.1 -0.2" qvel="0.3 0.5"/></keyframe></mujoco>"""


def pair(
    xml: str, scheme: Literal["symplectic-euler", "bilinear", "midpoint"] = "symplectic-euler"
) -> tuple[sw.Simulation, mujoco.MjModel, mujoco.MjData]:
    """One model in both, at its keyframe."""
    simulation = sw.Simulation(sw.load(xml), scheme=scheme)
    simulation.reset("begun")
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    return simulation, model, data


def test_activations_and_forces_as_in_mujoco() -> None:
    """Forces of these actuators are explicit: the whole motion is MuJoCo's."""
    simulation, model, data = pair(MODEL)
    assert simulation.act.shape == (model.na,)
    rng = np.random.default_rng(1)
    for _ in range(200):
        data.ctrl[:] = simulation.ctrl[:] = rng.uniform(-3, 3, model.nu)
        mujoco.mj_step(model, data)
        simulation.step()
        np.testing.assert_allclose(simulation.act, data.act, rtol=0, atol=1e-12)
        np.testing.assert_allclose(simulation.actuator_forces, data.actuator_force, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(simulation.q, data.qpos, rtol=0, atol=1e-9)
    assert np.abs(data.act).max() > 0.1


def test_gain_that_depends_on_motion() -> None:
    """An affine gain: its force at equal states, of a step so short that what is implicit in it does not count."""
    xml = MODEL.replace('timestep="0.004"', 'timestep="1e-9"').replace(
        "</actuator>", '<general name="affine" joint="hinge" gaintype="affine" gainprm="2 -3 -0.7"/></actuator>'
    )
    simulation, model, data = pair(xml)
    data.ctrl[:] = simulation.ctrl[:] = np.linspace(0.5, 1.0, model.nu)
    mujoco.mj_step(model, data)
    simulation.step()
    np.testing.assert_allclose(simulation.actuator_forces, data.actuator_force, rtol=1e-7)


def test_state_has_activations() -> None:
    """They come with states, reset and views, and batches step them side by side as simulations do."""
    simulation, _, _ = pair(MODEL, "bilinear")
    batch = sw.Batch(simulation.model, 3)
    batch.reset(keyframe="begun")
    assert batch.alone is None
    np.testing.assert_array_equal(batch.act, np.tile(simulation.act, (3, 1)))
    simulation.ctrl[:] = 1.0
    batch.ctrl[:] = 1.0
    saved = simulation.state()
    simulation.step(20)
    batch.step(20)
    np.testing.assert_allclose(batch.q, np.tile(simulation.q, (3, 1)), rtol=0, atol=1e-12)
    np.testing.assert_allclose(batch.act, np.tile(simulation.act, (3, 1)), rtol=0, atol=1e-15)
    simulation.restore(batch.state(1))
    np.testing.assert_array_equal(simulation.act, batch.act[1])
    after = simulation.act.copy()
    simulation.restore(saved)
    assert simulation.actuator("filter").activation == 0.2
    assert simulation.actuator("motor").activation is None
    simulation.step(20)
    np.testing.assert_array_equal(simulation.act, after)
    simulation.actuator("filter").activation = 0.7
    assert simulation.act[1] == 0.7
    with pytest.raises(ValueError, match="no activation"):
        simulation.actuator("motor").activation = 1.0
    with pytest.raises(sw.SimulationError, match="states of their own"):
        simulation.step_jacobians()


def test_second_order_under_midpoint() -> None:
    """Halved steps leave a quarter of the error; but for an activation that is taken early, at the end of steps."""
    xml = MODEL.replace('actearly="true"', "")

    def end(steps: int) -> np.ndarray:
        simulation = sw.Simulation(sw.load(xml), scheme="midpoint", timestep=0.4 / steps)
        simulation.reset("begun")
        simulation.ctrl[:] = 0.02
        simulation.step(steps)
        return np.concatenate([simulation.q, simulation.v])

    exact = end(3200)
    errors = [np.abs(end(steps) - exact).max() for steps in (50, 100, 200)]
    assert errors[0] / errors[1] > 3.0
    assert errors[1] / errors[2] > 3.0


def test_long_steps_are_stable() -> None:
    """A filter that is much faster than the step reaches its goal and stays there; a stiff filtered servo, too."""
    servo = '<position name="servo" joint="slider" kp="1e5" kv="10" timeconst="0.001"/></actuator>'
    simulation = sw.Simulation(
        sw.load(
            MODEL.replace("</actuator>", servo).replace(' act="0.01', ' act="0.01 0 ').split("<keyframe>")[0]
            + "</mujoco>"
        ),
        timestep=0.05,
    )
    simulation.ctrl[5:] = 0.3
    simulation.step(200)
    assert simulation.actuator("fast").activation == pytest.approx(0.3, abs=1e-12)
    assert simulation.q[0] == pytest.approx(0.3, abs=1e-3)


def test_mjcf_keeps_activations() -> None:
    """What is written is read as the same."""
    model = sw.load(MODEL)
    again = sw.load(model.to_mjcf())
    one, two = sw.Simulation(model), sw.Simulation(again)
    for simulation in (one, two):
        simulation.reset("begun")
        simulation.ctrl[:] = 0.5
        simulation.step(50)
    np.testing.assert_allclose(one.act, two.act, rtol=0, atol=1e-14)
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)


CYLINDERS = """
<mujoco><default><default class="hydraulic"><cylinder timeconst=".3" bias="1 -2 -.5"/></default></default>
  <worldbody>
    <body><joint name="a" type="slide"/><geom size=".1"/></body>
    <body pos="1 0 0"><joint name="b"/><geom size=".1" pos=".2 0 0"/></body></worldbody>
  <actuator><cylinder joint="a" area="2" timeconst=".2"/><cylinder joint="b" class="hydraulic" diameter=".7"/>
    <cylinder joint="b" bias="3 0 0"/></actuator></mujoco>
"""


def test_cylinders_as_in_mujoco() -> None:
    theirs = mujoco.MjModel.from_xml_string(CYLINDERS)
    theirs.opt.timestep = 1e-6
    data, model = mujoco.MjData(theirs), sw.load(CYLINDERS)
    assert model.warnings == []
    sim = sw.Simulation(model, timestep=1e-6)
    data.ctrl[:] = sim.ctrl[:] = [5, -3, 2]
    data.act[:] = sim.act = [0.3, 0.7, -0.4]
    data.qpos[:] = sim.q = [0.2, 0.3]
    data.qvel[:] = sim.v = [-0.5, 0.8]
    for _ in range(100):
        mujoco.mj_step(theirs, data)
        sim.step()
    np.testing.assert_allclose(sim.act, data.act, rtol=1e-6)
    # Of a step of 1 µs, taken at its end.
    np.testing.assert_allclose(sim.actuator_forces, data.actuator_force, rtol=1e-4)
    np.testing.assert_allclose(sim.v, data.qvel, rtol=1e-8)
