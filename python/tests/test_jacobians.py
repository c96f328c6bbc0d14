"""The derivative of a step: against differences of steps, and put to use."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray
from scenes import RAGDOLL

import sapwood as sw

BALLS = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>
  <body pos="0 0 .1"><joint name="x" type="slide" axis="1 0 0"/><joint name="z" type="slide" axis="0 0 1"/>
    <joint name="turn" axis="0 1 0"/><geom type="sphere" size=".1" mass="2"/></body></worldbody>
  <actuator><motor joint="turn"/><position joint="x" kp="30" kv="3"/></actuator></mujoco>"""


def after(sim: sw.Simulation, x: NDArray[np.float64]) -> NDArray[np.float64]:
    """(q, v) after a step from (q, v, ctrl) = x, for models without quaternions."""
    state, nv = sim.state(), sim.model.nv
    sim.q[:], sim.v[:], sim.ctrl[:] = x[:nv], x[nv : 2 * nv], x[2 * nv :]
    sim.step()
    end = np.concatenate([sim.q, sim.v])
    sim.restore(state)
    return end


@pytest.mark.parametrize("contact", ["sap", "lagged", "coulomb"])
def test_a_driven_wheel_against_differences(contact: str) -> None:
    sim = sw.Simulation(sw.load(BALLS), contact=contact, tolerance=1e-12)  # type: ignore[arg-type]
    sim.ctrl[:] = [0.3, 0.5]
    sim.step(100)
    before = sim.state()
    A, B = sim.step_jacobians()
    assert sim.state() == before
    assert A.shape == (6, 6)
    assert B.shape == (6, 2)
    x, h = np.concatenate([sim.q, sim.v, sim.ctrl]), 1e-5
    columns = [(after(sim, x + h * e) - after(sim, x - h * e)) / (2 * h) for e in np.eye(8)]
    scale = np.abs(columns).max(axis=1, keepdims=True)
    np.testing.assert_allclose(np.hstack([A, B]).T / scale, columns / scale, atol=1e-5)


def test_quaternions_count_three() -> None:
    sim = sw.Simulation(sw.load(RAGDOLL))
    sim.step(20)
    jacobians = sim.step_jacobians()
    nv, nu = sim.model.nv, sim.model.nu
    assert jacobians.A.shape == (2 * nv, 2 * nv)
    assert jacobians.B.shape == (2 * nv, nu)
    assert np.isfinite(jacobians.A).all()


def test_a_state_that_is_not_finite() -> None:
    sim = sw.Simulation(sw.load(BALLS))
    sim.v[0] = np.nan
    with pytest.raises(ValueError, match="v"):
        sim.step_jacobians()


PUSHED = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".15 .1 .1" mass="2" friction="0.4"/>
    <body pos="0 0 .1"><joint name="arm" axis="0 1 0" damping="0.3" stiffness="2" armature="0.01"/>
      <geom type="capsule" fromto="0 0 0 0 0 .3" size=".03" mass="0.4"/></body></body>
  <body pos="1 0 2"><joint axis="0 1 0"/><geom type="box" size=".05 .05 .2" pos="0 0 -.2" mass="1"/></body></worldbody>
  <actuator><position joint="arm" kp="8" kv="0.4"/></actuator></mujoco>"""


#: From 0 they can be moved up alone.
NOT_NEGATIVE = {"armature", "damping", "stiffness", "kv"}


@pytest.mark.parametrize("name", ["gravity", "masses", "coms", "inertias", "inertia_scales", "armature", "damping",
                                  "stiffness", "kp", "kv", "geom_sizes", "geom_positions"])  # fmt: skip
@pytest.mark.parametrize("sliding", [False, True])
def test_parameters_against_differences(name: str, sliding: bool) -> None:
    """A box at rest or sliding, an arm that is driven, and a pendulum in the air."""
    sim = sw.Simulation(sw.load(PUSHED), tolerance=1e-12)
    sim.parameters.masses[1] = 2.5
    sim.ctrl[:] = 0.2
    sim.q[-1], sim.v[-1] = 0.7, 1.5
    sim.step(60)
    if sliding:
        sim.v[0] += 1.0
        sim.step(5)
    found = sim.step_jacobians(parameters=[name]).parameters[name]
    array = getattr(sim.parameters, name)
    assert found.shape == (2 * sim.model.nv, *array.shape)
    state = sim.state()

    def end(index: tuple[int, ...], by: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        array[index] += by
        sim.step()
        q, v = sim.q.copy(), sim.v.copy()
        sim.restore(state)
        return q, v

    differences = np.zeros_like(found)
    h = 1e-6 if name.startswith("geom") else 1e-5
    for index in np.ndindex(*array.shape):
        is_world = name in {"masses", "inertias"} and index[0] == 0
        if is_world or (name == "geom_sizes" and array[index] == 0):
            continue
        # Of second order, and beyond 0 where nothing may be below it.
        is_at_end = array[index] == 0 and name in NOT_NEGATIVE
        weights = {h: -2.5, 2 * h: 4.0, 3 * h: -1.5} if is_at_end else {h: 0.5, -h: -0.5}
        for by, weight in weights.items():
            q, v = end(index, by)
            differences[(slice(None), *index)] += weight / h * np.r_[sim.model.difference(sim.q, q), v]
    scale = np.abs(differences).max()
    assert scale > 1e-6
    np.testing.assert_allclose(found / scale, differences / scale, atol=1e-5)
    assert sim.state() == state


RUBBED = """
<mujoco><option timestep="0.005"/><worldbody><geom type="plane" size="9 9 1" friction=".2"/>
  <body pos="0 0 .1"><freejoint/><geom type="box" size=".15 .1 .1" mass="2" friction="0.4"/></body>
  <body pos="0 1 .1"><freejoint/><geom size=".1" mass="1" friction=".9 .02 .01" condim="6"/></body>
  <body pos="1 0 1"><joint axis="0 1 .1" frictionloss=".3"/><geom size=".05" pos=".2 0 0" mass="1"/>
    <body pos=".2 0 0"><joint axis="0 1 0"/><geom size=".04" pos=".2 0 0" mass=".3"/></body></body>
  <body pos="2 0 .6"><joint type="slide" axis="0 0 1"/><joint axis="1 0 0"/>
    <geom type="capsule" size=".05" fromto="0 0 0 0 .3 -.57" mass=".5"/></body>
  </worldbody></mujoco>"""


@pytest.mark.parametrize("name", ["frictions", "torsional_frictions", "rolling_frictions", "frictionloss",
                                  "joint_axes", "joint_anchors", "body_positions"])  # fmt: skip
@pytest.mark.parametrize("contact", ["sap", "lagged", "coulomb"])
def test_friction_and_axes_against_differences(name: str, contact: Literal["sap", "lagged", "coulomb"]) -> None:
    """A box that slides, a ball that rolls and spins, an arm whose joint rubs, and a stick that slips on the ground."""
    sim = sw.Simulation(sw.load(RUBBED), contact=contact, tolerance=1e-12)
    sim.step(40)
    # Under the cone what slides fast takes off.
    sim.v[:2] = np.array([1, 0.5]) * (0.3 if contact == "sap" else 1)
    sim.v[6:12] = [0.5, 0.1, 0, -1, 5, 3]
    sim.step(5)
    found = sim.step_jacobians(parameters=[name]).parameters[name]
    array = getattr(sim.parameters, name)
    assert found.shape == (2 * sim.model.nv, *array.shape)
    state = sim.state()
    sim.step()
    q = sim.q.copy()
    sim.restore(state)
    h = 1e-6 if name in {"joint_axes", "joint_anchors", "body_positions"} else 1e-5
    differences = np.zeros_like(found)
    for index in np.ndindex(*array.shape):
        if array[index] == 0 and name.endswith(("frictions", "loss")):
            continue
        for by in (h, -h):
            array[index] += by
            try:
                sim.step()
            except ValueError:  # of a joint without an axis, of what is free
                sim.restore(state)
                continue
            differences[(slice(None), *index)] += np.r_[sim.model.difference(q, sim.q), sim.v] / (2 * by)
            sim.restore(state)
    scale = np.abs(differences).max()
    assert scale > 1e-4
    np.testing.assert_allclose(found / scale, differences / scale, atol=2e-5)


def test_friction_of_two_geoms_alike_is_half_of_each() -> None:
    """The greater counts: each of two that are alike has half of the derivative."""
    text = """<mujoco><worldbody><geom type="plane" size="9 9 .1" friction=".3"/><body pos="0 0 .1"><freejoint/>
        <geom type="box" size=".1 .1 .1" friction=".3"/></body></worldbody></mujoco>"""
    sim = sw.Simulation(sw.load(text))
    sim.step(20)
    sim.v[0] = 1
    found = sim.step_jacobians(parameters=["frictions"]).parameters["frictions"]
    # v⁺ = v − dt μ g
    np.testing.assert_allclose(found[6, :, 0] if found.ndim == 3 else found[6], [-0.002 * 9.81 / 2] * 2, rtol=1e-3)


def test_parameters_without_a_derivative() -> None:
    sim = sw.Simulation(sw.load(PUSHED))
    with pytest.raises(ValueError, match='parameters has "solref": expected some of gravity, masses'):
        sim.step_jacobians(parameters=["solref"])
    A, B = sim.step_jacobians()
    assert sim.step_jacobians(parameters=[]).parameters == {}
    np.testing.assert_array_equal(sim.step_jacobians(parameters=["gravity"]).A, A)
    assert B.shape == (16, 1)
