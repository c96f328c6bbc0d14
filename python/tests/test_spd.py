"""Stable PD control, alone and within the step."""

from __future__ import annotations

import concurrent.futures
import copy
import pickle
import threading

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


@pytest.mark.parametrize("method", ["maba", "dense", "sparse", "pcg"])
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


@pytest.mark.parametrize("method", ["maba", "dense", "sparse", "pcg"])
def test_a_solver_remembers_nothing(dog: sw.Model, method: str) -> None:
    """Its bits are those of a new one, whatever it solved before, errors included."""
    solver = sw.spd.Solver(dog, method=method)  # type: ignore[arg-type]
    acceleration, torque = solver.acceleration, solver.torque
    twin = pickle.loads(pickle.dumps(copy.copy(solver)))
    assert (twin.method, twin.model.nv) == (method, dog.nv)
    for seed in range(3):
        q, v, target = state(dog, seed)
        kp = np.random.default_rng(seed).uniform(0, 1e4, dog.nv)
        for limits in ({}, {"effort_limit": 50, "target_velocity": list(v)}):
            arguments = (q, v, target, kp, 100, DT)
            expected = sw.spd.solve(dog, *arguments, method=method, **limits)  # type: ignore[arg-type]
            for found in (solver.solve(*arguments, **limits), twin.solve(*arguments, **limits)):  # type: ignore[arg-type]
                assert np.array_equal(found.acceleration, expected.acceleration)
                assert np.array_equal(found.torque, expected.torque)
            solver.compute(*arguments, **limits)  # type: ignore[arg-type]
            assert np.array_equal(acceleration, expected.acceleration)
            assert np.array_equal(torque, expected.torque)
            assert (solver.iterations, solver.residual) == (expected.iterations, expected.residual)
        with pytest.raises(ValueError, match=r"v\[1\] = NaN"):
            solver.compute(q, np.where(np.arange(dog.nv) == 1, np.nan, v), target, kp, 100, DT)
        assert np.array_equal(torque, expected.torque)
    assert solver.acceleration is acceleration
    with pytest.raises(ValueError, match="read-only"):
        torque[0] = 1.0


def test_what_solvers_take(dog: sw.Model) -> None:
    """Any array of numbers, in any layout; an array of another shape is an error."""
    q, v, target = state(dog, 6)
    solver = sw.spd.Solver(dog)
    expected = solver.solve(q, v, target, 1e3, 10, DT).torque
    wide = np.zeros((dog.nv, 2))
    wide[:, 1] = v
    assert np.array_equal(
        solver.solve(list(q), wide[:, 1], target, np.full(dog.nv, 1000), np.float32(10), DT).torque, expected
    )
    for kp in (np.ones((dog.nv, 1)), np.ones(dog.nv + 1), np.ones(1), np.ones(0), "stiff", None, 1j, [[1.0]]):
        with pytest.raises(ValueError, match="kp"):
            solver.solve(q, v, target, kp, 10, DT)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"q\[3:7\]"):
        solver.solve(np.zeros(dog.nq), v, target, 1, 1, DT)
    with pytest.raises(ValueError, match=r"target has shape \(3,\): expected"):
        solver.solve(q, v, target[:3], 1, 1, DT)
    with pytest.raises(ValueError, match="dt is -1"):
        solver.solve(q, v, target, 1, 1, -1)
    with pytest.raises(ValueError, match='method="magic"'):
        sw.spd.Solver(dog, method="magic")  # type: ignore[arg-type]


def test_a_solver_in_use_says_so() -> None:
    snake = sw.characters.snake(195)
    q, v, target = state(snake, 7)
    solver = sw.spd.Solver(snake, method="dense")
    expected, done = solver.solve(q, v, target, 10, 1, DT), threading.Event()
    messages: list[str] = []

    def work(solver: sw.spd.Solver) -> None:
        while not done.is_set():
            try:
                assert np.array_equal(solver.solve(q, v, target, 10, 1, DT).torque, expected.torque)
            except RuntimeError as error:
                messages.append(str(error))
                done.set()

    with concurrent.futures.ThreadPoolExecutor() as pool:
        solvers = [solver, solver, copy.copy(solver)]
        working = [pool.submit(work, one) for one in solvers]
        assert done.wait(20), "no solve ever met another: the lock is not released"
        for one in working:
            one.result()
    assert all("copy.copy(solver)" in message for message in messages)


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
