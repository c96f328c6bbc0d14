"""Stable PD control, alone and within the step."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sapwood as sw

DT = 1 / 60


def state(model: sw.Model, seed: int) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    q0 = model.keyframe().q
    q, target = (model.integrate(q0, rng.uniform(-0.5, 0.5, model.nv)) for _ in range(2))
    return q, rng.uniform(-1, 1, model.nv), target


@pytest.fixture(scope="module")
def dog() -> sw.Model:
    return sw.characters.dog()


@pytest.mark.parametrize("method", ["maba", "dense", "sparse", "sparse-blocks", "pcg"])
def test_the_equation_of_stable_pd_holds(dog: sw.Model, method: str) -> None:
    # (M + dt K_d) a = Q − C, with M and C asked from the model and Q by numpy.
    q, v, target = state(dog, 1)
    rng = np.random.default_rng(2)
    kp, kd = rng.uniform(0, 1e4, dog.nv), rng.uniform(0, 500, dog.nv)
    error = dog.difference(target, dog.integrate(q, DT * v))
    force = -kp * error - kd * v
    matrix = dog.mass_matrix(q) + DT * np.diag(kd)
    expected = np.linalg.solve(matrix, force - dog.bias_forces(q, v))
    found = sw.spd.solve(dog, q, v, target, kp, kd, DT, method=method)  # type: ignore[arg-type]
    tolerance = 1e-3 if method == "pcg" else 1e-10
    assert np.linalg.norm(found.acceleration - expected) < tolerance * np.linalg.norm(expected)
    assert np.allclose(found.torque, force - DT * kd * found.acceleration, rtol=0, atol=tolerance * np.abs(force).max())
    assert (found.residual > 0) == (method == "pcg")


def test_limits_and_target_velocity(dog: sw.Model) -> None:
    q, v, target = state(dog, 3)
    free = sw.spd.solve(dog, q, v, target, 1e4, 1e2, DT, target_velocity=v)
    limited = sw.spd.solve(dog, q, v, target, 1e4, 1e2, DT, target_velocity=v, effort_limit=50)
    assert np.abs(free.torque).max() > 50
    assert np.allclose(limited.torque, np.clip(free.torque, -50, 50))
    assert np.array_equal(limited.acceleration, free.acceleration)


def test_the_step_takes_the_same_acceleration(dog: sw.Model) -> None:
    """Where the method is stable, kd ≥ 1.5 dt kp; with less damping the step has more of kp implicit.

    Coriolis forces are those at the beginning of the step.
    """
    q, v, target = state(dog, 4)
    q[:3] = target[:3] = [0, 0, 5]
    sim = sw.Simulation(dog, timestep=DT, scheme="symplectic-euler")
    sim.q, sim.v = q, v
    sim.pd(1e5, 4e3, target)
    sim.step()
    expected = sw.spd.solve(dog, q, v, target, 1e5, 4e3, DT).acceleration
    assert np.allclose(sim.v, v + DT * expected, rtol=1e-9, atol=1e-9)


def test_a_controller_is_part_of_the_state(dog: sw.Model) -> None:
    sim = sw.Simulation(dog, timestep=DT)
    sim.pd(75_000, 4_000, dog.keyframe().q, effort_limit=300)
    sim.step(20)
    middle = sim.state()
    sim.step(20)
    end = sim.state()
    again = sw.Simulation(dog, timestep=DT)
    again.restore(middle)
    again.step(20)
    assert again.state() == end
    again.reset()
    again.step()
    assert np.linalg.norm(again.v) > 0


def test_bad_arguments(dog: sw.Model) -> None:
    q, v, target = state(dog, 5)
    sim = sw.Simulation(dog)
    with pytest.raises(ValueError, match="kp"):
        sim.pd(np.ones(3), 1, target)
    with pytest.raises(ValueError, match=r"kd\[0\] = -1"):
        sim.pd(1, -1, target)
    with pytest.raises(ValueError, match="target"):
        sim.pd(1, 1, target[:-1])
    with pytest.raises(ValueError, match="effort_limit"):
        sim.pd(1, 1, target, effort_limit=float("nan"))
    with pytest.raises(ValueError, match="method"):
        sw.spd.solve(dog, q, v, target, 1, 1, DT, method="magic")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="dt"):
        sw.spd.solve(dog, q, v, target, 1, 1, 0.0)
    with pytest.raises(ValueError, match="kp"):
        sw.spd.solve(dog, q, v, target, float("inf"), 1, DT)
