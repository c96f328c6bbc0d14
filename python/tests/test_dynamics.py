"""The algorithms of a model against each other: what must hold whatever the model."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import sapwood as sw

ARM = """
<mujoco model="arm">
  <worldbody>
    <body name="torso" pos="0 0 1">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.2 0.3"/>
      <body name="upper" pos="0 0.2 0.3">
        <joint name="shoulder" type="ball" armature="0.02"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.04"/>
        <body name="lower" pos="0.3 0 0">
          <joint name="elbow" axis="0 1 0" armature="0.01"/>
          <joint name="slide" type="slide" axis="1 0 0"/>
          <geom type="capsule" fromto="0 0 0 0.25 0 0" size="0.03"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(ARM)


def random_q(model: sw.Model, rng: np.random.Generator) -> np.ndarray:
    """A random configuration by ⊞ from the default one."""
    return model.integrate(model.keyframe().q, rng.normal(size=model.nv))


def test_mass_matrix_is_symmetric_positive_definite(model: sw.Model) -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        m = model.mass_matrix(random_q(model, rng))
        np.testing.assert_array_equal(m, m.T)
        assert np.linalg.eigvalsh(m).min() > 0


def test_inverse_dynamics_is_mass_times_acceleration_plus_bias(model: sw.Model) -> None:
    rng = np.random.default_rng(1)
    q, v, a = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    tau = model.mass_matrix(q) @ a + model.bias_forces(q, v)
    np.testing.assert_allclose(model.inverse_dynamics(q, v, a), tau, rtol=0, atol=1e-12 * np.abs(tau).max())


def test_forward_dynamics_inverts_inverse_dynamics(model: sw.Model) -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        q, v, a = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
        tau = model.inverse_dynamics(q, v, a)
        np.testing.assert_allclose(model.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-10)


def test_difference_inverts_integrate(model: sw.Model) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        q, dv = random_q(model, rng), 0.9 * rng.normal(size=model.nv)
        there = model.integrate(q, dv)
        np.testing.assert_allclose(model.difference(q, there), dv, rtol=0, atol=1e-12)
        for joint in model.joints:
            if joint.kind in ("ball", "free"):
                assert np.linalg.norm(there[joint.q][-4:]) == pytest.approx(1, abs=1e-15)


def test_bias_force_is_power_consistent(model: sw.Model) -> None:
    """With no forces the energy stays: v·(M a + C − g) = d/dt kinetic energy, checked by central differences."""
    rng = np.random.default_rng(4)
    q, v = random_q(model, rng), rng.normal(size=model.nv)
    a = model.forward_dynamics(q, v, np.zeros(model.nv))
    h = 1e-5

    def kinetic(t: float) -> float:
        at, velocity = model.integrate(q, t * v), v + t * a
        return 0.5 * float(velocity @ model.mass_matrix(at) @ velocity)

    power = (kinetic(h) - kinetic(-h)) / (2 * h)
    gravity_power = -float(v @ model.bias_forces(q, np.zeros(model.nv)))
    assert power == pytest.approx(gravity_power, rel=1e-7)


def test_armature_of_tendons_counts_everywhere() -> None:
    text = ARM.replace(
        "</worldbody>",
        """</worldbody><tendon>
        <fixed armature="0.3"><joint joint="elbow" coef="2"/><joint joint="slide" coef="-0.5"/></fixed>
        <fixed armature="0.05"><joint joint="slide" coef="3"/></fixed></tendon>""",
    )
    model, peer = sw.load(text), mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(peer), np.random.default_rng(5)
    q, v, a = random_q(model, rng), rng.normal(size=model.nv), rng.normal(size=model.nv)
    data.qpos, expected = q, np.zeros((model.nv, model.nv))
    mujoco.mj_forward(peer, data)
    mujoco.mj_fullM(peer, data, expected)
    np.testing.assert_allclose(model.mass_matrix(q), expected, rtol=0, atol=1e-12 * np.abs(expected).max())
    tau = model.inverse_dynamics(q, v, a)
    np.testing.assert_allclose(tau, expected @ a + model.bias_forces(q, v), rtol=0, atol=1e-12 * np.abs(tau).max())
    np.testing.assert_allclose(model.forward_dynamics(q, v, tau), a, rtol=0, atol=1e-10)
    sim = sw.Simulation(model, timestep=1e-5, tolerance=1e-12)
    sim.q[:], sim.v[:], sim.applied_force[:] = q, v, tau
    sim.step()
    np.testing.assert_allclose((sim.v - v) / 1e-5, a, rtol=0, atol=1e-6)
