"""Many worlds together: views, agreement with one world, masks, failures by index, rollouts, states, derivatives."""

from __future__ import annotations

import copy
import gc
import importlib.util
import threading
import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from batches import WALKER, bits, make, scatter
from numpy.typing import NDArray

import sapwood as sw

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(WALKER)


# --- views -----------------------------------------------------------------------------------------------------------


def test_a_lone_world_shares_no_register(model: sw.Model) -> None:
    assert sw.Batch(model, 1, threads=1).lanes == 1
    assert sw.Batch(model, 64, threads=1).lanes in (4, 8)


def test_a_batch_describes_itself(model: sw.Model) -> None:
    batch = sw.Batch(model, 5, threads=2)
    assert (len(batch), batch.n, batch.threads, batch.timestep) == (5, 5, 2, 0.004)
    assert batch.model is model
    assert batch.alone is None
    assert batch.lanes in (4, 8)
    assert batch.q.shape == (5, 11)
    assert batch.v.shape == (5, 10)
    assert batch.ctrl.shape == (5, 4)
    assert batch.time.shape == (5,)
    np.testing.assert_array_equal(batch.q, [model.keyframe().q] * 5)
    assert "5 worlds" in repr(batch)
    assert not batch.failed.any()
    assert batch.errors == {}


def test_views_show_what_a_step_does_and_act(model: sw.Model) -> None:
    written, assigned = sw.Batch(model, 3), sw.Batch(model, 3)
    q, v, time = written.q, written.v, written.time
    written.q[1, 2], written.v[2, 0], written.ctrl[0] = 1.5, 0.3, 0.5
    assigned.q = q.copy()
    assigned.v = np.asfortranarray(v)
    assigned.ctrl = np.array([[0.5] * 4, [0] * 4, [0] * 4])
    for batch in (written, assigned):
        batch.step(5)
    assert bits(written) == bits(assigned)
    np.testing.assert_array_equal(q, written.q)
    np.testing.assert_array_equal(v, written.v)
    np.testing.assert_allclose(time, 0.02)
    assert q[1, 2] > 1.4
    written.time = [1.0, 2.0, 3.0]
    written.step()
    np.testing.assert_allclose(time, [1.004, 2.004, 3.004])


def test_assignment_takes_what_numpy_takes(model: sw.Model) -> None:
    batch = sw.Batch(model, 2)
    view = batch.ctrl
    base = np.arange(16.0).reshape(2, 8)
    others: list[Any] = [base[:, ::2].astype(np.float32), base[:, ::2], base[:, ::2].astype(int).tolist()]
    for other in others:
        batch.ctrl = other
        np.testing.assert_array_equal(view, base[:, ::2])


def test_views_outlive_their_batch(model: sw.Model) -> None:
    batch = sw.Batch(model, 2)
    views = [batch.q, batch.v, batch.ctrl, batch.time]
    batch.step(3)
    values = [view.copy() for view in views]
    del batch
    gc.collect()
    for view, value in zip(views, values, strict=True):
        np.testing.assert_array_equal(view, value)
        view[...] = 1.0
        assert not isinstance(view.base, np.ndarray)


# --- agreement with one world ----------------------------------------------------------------------------------------


def models() -> list[Any]:
    found = [pytest.param(WALKER, id="walker")]
    spec = importlib.util.find_spec("gymnasium")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent / "envs" / "mujoco" / "assets"
        found += [pytest.param(str(folder / f"{name}.xml"), id=name) for name in ("ant", "humanoid", "half_cheetah")]
    return found


@pytest.mark.parametrize("scheme", ["symplectic-euler", "bilinear"])
@pytest.mark.parametrize("source", models())
def test_a_step_agrees_with_that_of_one_world(source: str, scheme: Any) -> None:
    model = sw.load(source)
    batch = make(model, 6, scheme=scheme)
    # Each remembers its own last step, as the batch does: by that, what rests is told from what is pressed in.
    sims = [sw.Simulation(model, scheme=scheme) for _ in range(6)]
    controls = scatter(batch)
    errors = []
    jammed = 0

    def error(sim: sw.Simulation, i: int) -> float:
        # In the kinetic norm, relative to the momentum, or to what gravity adds in a step.
        M, dv = model.mass_matrix(sim.q), sim.v - batch.v[i]
        scale = max(sim.v @ M @ sim.v, model.mass * (9.81 * sim.timestep) ** 2)
        return float(np.sqrt(dv @ M @ dv / scale))

    for k in range(300):
        batch.ctrl = controls[:, k // 5]
        states = [batch.state(i) for i in range(6)]
        for i, sim in enumerate(sims):
            sim.q, sim.v, sim.ctrl = batch.q[i], batch.v[i], batch.ctrl[i]
        batch.step()
        for i, sim in enumerate(sims):
            sim.step()
            assert sim.time == batch.time[i]
            errors.append(error(sim, i))
            if errors[-1] > 0.05:
                # Coulomb's law may have several solutions where contacts jam: what is remembered decides which one.
                jammed += 1
                assert sim.stats.friction_residual < 1e-4
                again = sw.Simulation(model, scheme=scheme)
                again.restore(states[i])
                again.step()
                assert error(again, i) < 1e-6
    # Not all to the tolerance: a step that is left to a simulation forgets the one before.
    assert np.median(errors) < 1e-9
    assert np.mean(np.array(errors) > 1e-6) < 0.05
    assert jammed <= 2
    assert batch.stats.steps == 300 * 6


def test_worlds_go_where_lone_ones_go() -> None:
    # Legs that touch down: of several solutions of Coulomb's law both find the same one, step after step.
    gymnasium = pytest.importorskip("gymnasium")
    model = sw.load(Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "ant.xml")
    batch = make(model, 8)
    sims = [sw.Simulation(model) for _ in range(8)]
    controls = scatter(batch)
    for sim, v in zip(sims, batch.v, strict=True):
        sim.v = v
    touching = 0
    for k in range(60):
        batch.ctrl = controls[:, k]
        batch.step()
        for sim, ctrl in zip(sims, controls[:, k], strict=True):
            sim.ctrl = ctrl
            sim.step()
            touching += sim.stats.active_contacts > 0
        np.testing.assert_allclose(batch.v, [sim.v for sim in sims], rtol=0, atol=1e-6)
    assert touching > 100


def test_a_world_becomes_a_simulation_and_back(model: sw.Model) -> None:
    batch = sw.Batch(model, 4)
    controls = scatter(batch)
    for k in range(20):
        batch.ctrl = controls[:, k]
        batch.step(5)
    sim = batch.simulation(2)
    assert sim.state() == batch.state(2)
    assert sim.time == batch.time[2]
    np.testing.assert_array_equal(sim.q, batch.q[2])
    np.testing.assert_array_equal(sim.ctrl, batch.ctrl[2])
    batch.set_state(-1, sim)
    batch.set_state(0, sim.state())
    np.testing.assert_array_equal(batch.q[[0, 3]], batch.q[[2, 2]])
    np.testing.assert_array_equal(batch.time, [batch.time[2]] * 4)
    before = bits(batch, 1)
    batch.set_state(0, sw.Simulation(model))
    assert bits(batch, 1) == before
    assert batch.time[0] == 0


def test_worlds_one_by_one_go_on_with_the_same_bits(model: sw.Model) -> None:
    batch = make(model, 3, scheme="midpoint")
    assert batch.lanes == 1
    assert "implicit" in str(batch.alone)
    scatter(batch)
    sims = [batch.simulation(i) for i in range(3)]
    batch.step(100)
    for i, sim in enumerate(sims):
        sim.step(100)
        assert batch.state(i) == sim.state()
    again = make(model, 1, scheme="midpoint")
    again.set_state(0, sims[1])
    again.step(20)
    sims[1].step(20)
    assert again.state(0) == sims[1].state()


def test_what_lanes_cannot_do_is_a_warning(model: sw.Model) -> None:
    with pytest.warns(sw.PerformanceWarning, match="'walker'|\"walker\".*one by one.*implicit") as caught:
        sw.Batch(model, 2, scheme="midpoint")
    assert caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sw.Batch(model, 2)
        with pytest.raises(sw.PerformanceWarning):
            sw.Batch(model, 2, scheme="midpoint")


# --- bits ------------------------------------------------------------------------------------------------------------


def test_bits_do_not_depend_on_neighbours_lanes_or_threads(model: sw.Model) -> None:
    def run(n: int, **options: Any) -> Array:
        batch = sw.Batch(model, n, **options)
        controls = scatter(batch)
        for k in range(40):
            batch.ctrl = controls[:, k]
            batch.step(5)
        return np.hstack([batch.q, batch.v])

    all_of_them = run(13, threads=1)
    assert np.isfinite(all_of_them).all()
    for n, options in [(13, {"threads": 3}), (13, {"lanes": 1}), (6, {"threads": 2}), (1, {}), (13, {"lanes": 4})]:
        assert run(n, **options).tobytes() == all_of_them[:n].tobytes(), (n, options)


def test_one_call_or_many(model: sw.Model) -> None:
    once, often = sw.Batch(model, 5), sw.Batch(model, 5)
    for batch in (once, often):
        scatter(batch)
    once.step(150)
    for _ in range(50):
        often.step()
        often.step(2)
    assert bits(once) == bits(often)
    assert once.time.tobytes() == often.time.tobytes()


def test_steps_of_32_bits(model: sw.Model) -> None:
    double = sw.Batch(model, 9, threads=2)
    single, again = (sw.Batch(model, 9, threads=2, precision="f32") for _ in range(2))
    assert single.lanes in (8, 16)
    controls = scatter(double)
    errors = []
    for k in range(60):
        double.ctrl = controls[:, k]
        double.step(5)
        single.q, single.v, single.ctrl = double.q, double.v, double.ctrl
        double.step()
        single.step()
        errors.append(np.abs(single.v - double.v).max(axis=1) / (1 + np.abs(double.v).max(axis=1)))
    assert np.median(errors) < 1e-5
    assert np.mean(np.array(errors) > 1e-3) < 0.05
    assert bits(single) != bits(double)
    q, v = again.rollout(double.q, double.v, controls, skip=2)
    single.reset(states=(double.q, double.v))
    for k in range(100):
        single.ctrl = controls[:, k]
        single.step(2)
    assert q[:, -1].tobytes() == single.q.tobytes()
    assert v[:, -1].tobytes() == single.v.tobytes()


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"scheme": "midpoint"}, {"lanes": 1, "threads": 2}, {"precision": "f32"}])
@pytest.mark.parametrize("name", ["q", "v", "ctrl"])
def test_nan_in_one_world_is_reported_by_index(model: sw.Model, name: str, options: dict[str, Any]) -> None:
    batch, clean = make(model, 6, **options), make(model, 6, **options)
    for each in (batch, clean):
        scatter(each)
        each.step(50)
    getattr(batch, name)[2, 3] = np.nan
    before = bits(batch, 2)
    clean.step(20)
    with pytest.raises(
        sw.SimulationError, match=rf"1 of 6 worlds failed \(2\); world 2: .*{name}\[3\] is NaN"
    ) as caught:
        batch.step(20)
    assert caught.value.worlds == [2]
    assert caught.value.time == pytest.approx(0.2)
    assert caught.value.step == 50
    assert batch.failed.tolist() == [False, False, True, False, False, False]
    assert list(batch.errors) == [2]
    others = [0, 1, 3, 4, 5]
    assert bits(batch, others) == bits(clean, others)
    assert bits(batch, 2) == before
    np.testing.assert_allclose(batch.time, [0.28, 0.28, 0.2, 0.28, 0.28, 0.28])
    # What is reset goes on; what is not fails again.
    batch.reset(batch.failed)
    assert not batch.failed.any()
    batch.step(20)
    clean.step(20)
    assert bits(batch, others) == bits(clean, others)
    fresh = make(model, 1, **options)
    fresh.step(20)
    assert bits(batch, [2]) == bits(fresh)


def test_worlds_that_diverge_keep_their_state(model: sw.Model) -> None:
    batch = sw.Batch(model, 20)
    batch.v[4:18, 0] = 1e200
    with pytest.raises(
        sw.SimulationError, match=r"14 of 20 worlds failed \(4, 5, 6, 7, 8, 9, 10, 11, 12, 13, …\)"
    ) as caught:
        batch.step(3)
    assert caught.value.worlds == list(range(4, 18))
    assert np.isfinite(batch.q).all()
    assert (batch.v[4:18, 0] == 1e200).all()
    assert (batch.time[[0, 19]] > 0.011).all()


# --- resets ----------------------------------------------------------------------------------------------------------


def test_reset_of_some(model: sw.Model) -> None:
    batch = sw.Batch(model, 6)
    scatter(batch)
    batch.ctrl[:] = 0.3
    batch.step(100)
    q, v = batch.q.copy(), batch.v.copy()
    mask = np.arange(6) % 2 == 1
    batch.reset(mask)
    np.testing.assert_array_equal(batch.q[mask], [model.keyframe().q] * 3)
    assert not batch.v[mask].any()
    assert not batch.ctrl[mask].any()
    assert not batch.time[mask].any()
    np.testing.assert_array_equal(batch.q[~mask], q[~mask])
    np.testing.assert_array_equal(batch.v[~mask], v[~mask])
    assert (batch.ctrl[~mask] == 0.3).all()
    # What was reset has forgotten the past, what was not remembers.
    fresh = sw.Batch(model, 1)
    fresh.step(50)
    batch.step(50)
    for i in (1, 3, 5):
        assert bits(batch, [i]) == bits(fresh)


def test_reset_to_a_keyframe_and_to_states(model: sw.Model) -> None:
    batch = sw.Batch(model, 4)
    batch.step(3)
    batch.reset(keyframe="high")
    key = model.keyframe("high")
    np.testing.assert_array_equal(batch.q, [key.q] * 4)
    np.testing.assert_array_equal(batch.ctrl, [key.ctrl] * 4)
    np.testing.assert_array_equal(batch.time, [2.0] * 4)
    for index in (0, -1):
        batch.reset()
        batch.reset(keyframe=index)
        np.testing.assert_array_equal(batch.q, [key.q] * 4)
    q, v = np.array([key.q, model.keyframe().q]), np.arange(20.0).reshape(2, 10)
    mask = [False, True, False, True]
    batch.reset(mask, states=(q, v))
    np.testing.assert_array_equal(batch.q[mask], q)
    np.testing.assert_array_equal(batch.v[mask], v)
    np.testing.assert_array_equal(batch.time, [2, 0, 2, 0])
    batch.reset(mask, states=(key.q, v[1]))
    np.testing.assert_array_equal(batch.v[mask], [v[1], v[1]])
    batch.reset(np.zeros(4, bool), states=(np.zeros((0, 11)), np.zeros((0, 10))))
    np.testing.assert_array_equal(batch.v[mask], [v[1], v[1]])
    # By index, rows in the order of the indices.
    batch.reset([-1, 0], states=(q, v))
    np.testing.assert_array_equal(batch.q[[3, 0]], q)
    np.testing.assert_array_equal(batch.v[[3, 0]], v)
    np.testing.assert_array_equal(batch.v[1], v[1])
    batch.reset(np.array([1]), "high")
    np.testing.assert_array_equal(batch.time, [0, 2, 2, 0])


# --- rollouts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("skip", [1, 5])
def test_rollout_has_the_bits_of_steps(model: sw.Model, skip: int) -> None:
    one, other = sw.Batch(model, 5, threads=2), sw.Batch(model, 5)
    controls = scatter(one)[:, :30]
    one.step(10)
    q0, v0 = one.q.copy(), one.v.copy()
    q, v = other.rollout(q0, v0, controls, skip=skip)
    assert q.shape == (5, 30, 11)
    assert v.shape == (5, 30, 10)
    one.reset(states=(q0, v0))
    for k in range(30):
        one.ctrl = controls[:, k]
        one.step(skip)
        assert one.q.tobytes() == q[:, k].tobytes()
        assert one.v.tobytes() == v[:, k].tobytes()
    assert bits(one) == bits(other)
    np.testing.assert_array_equal(other.ctrl, controls[:, -1])
    # The same once more, from one state for all.
    again = other.rollout(q0, v0, controls, skip=skip)
    np.testing.assert_array_equal(again[0], q)
    same, _ = other.rollout(q0[0], v0[0], controls[[0] * 5], skip=skip)
    np.testing.assert_array_equal(same, [q[0]] * 5)


def test_rollout_goes_on_from_where_the_batch_is(model: sw.Model) -> None:
    one, other = sw.Batch(model, 3), sw.Batch(model, 3)
    controls = scatter(one)
    scatter(other)
    first, _ = one.rollout(None, None, controls[:, :20])
    second, _ = one.rollout(None, None, controls[:, 20:40])
    whole, _ = other.rollout(None, None, controls[:, :40])
    np.testing.assert_array_equal(np.concatenate([first, second], axis=1), whole)


def test_a_rollout_that_fails_is_nan(model: sw.Model) -> None:
    batch, clean = sw.Batch(model, 3), sw.Batch(model, 3)
    v = np.zeros((3, 10))
    v[1, 0] = 1e200
    q, _ = batch.rollout(model.keyframe().q, v, np.zeros((3, 10, 4)))
    assert batch.failed.tolist() == [False, True, False]
    assert np.isnan(q[1]).all()
    expected, _ = clean.rollout(model.keyframe().q, np.zeros(10), np.zeros((3, 10, 4)))
    np.testing.assert_array_equal(q[[0, 2]], expected[[0, 2]])


# --- PD control ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["f64", "f32"])
def test_pd_with_gains_of_every_world(model: sw.Model, precision: Literal["f64", "f32"]) -> None:
    """Each is a simulation with these gains: stiff, soft, free, limited, and with another mass."""
    rng = np.random.default_rng(1)
    n = 5
    kp, kd = np.zeros((n, model.nv)), np.zeros((n, model.nv))
    kp[:, 6:] = rng.uniform(50, 600, (n, 4))
    kd[:, 6:] = rng.uniform(2, 30, (n, 4))
    kp[2], kd[2] = 0, 0
    limit = np.full((n, model.nv), np.inf)
    limit[3] = 8
    target = np.tile(model.keyframe().q, (n, 1))
    target[:, 7:] += rng.uniform(-0.3, 0.3, (n, 4))
    with warnings.catch_warnings():
        # All of them stay in lanes.
        warnings.simplefilter("error", sw.PerformanceWarning)
        batch = sw.Batch(model, n, precision=precision)
        batch.parameters.masses[4, 1:] *= 1.5
        batch.pd(kp, kd, target, effort_limit=limit)
    sims = [sw.Simulation(model) for _ in range(n)]
    sims[4].parameters.masses[1:] *= 1.5
    tolerance = 1e-9 if precision == "f64" else 2e-3
    for factor in (1.0, 0.5):
        # The gains change while it runs, as in variable impedance control.
        batch.pd(factor * kp, kd, target, effort_limit=limit)
        for i, sim in enumerate(sims):
            sim.pd(factor * kp[i], kd[i], target[i], effort_limit=limit[i])
        for _ in range(15):
            batch.step()
            for sim in sims:
                sim.step()
        np.testing.assert_allclose(batch.v, [sim.v for sim in sims], atol=tolerance)
    one = batch.simulation(3)
    one.step()
    batch.step()
    np.testing.assert_allclose(one.v, batch.v[3], atol=tolerance)
    assert np.abs(one.pd_forces).max() <= 8
    # Copies have the gains, and so do worlds that another batch of them takes over.
    again = copy.copy(batch)
    again.set_state(3, batch.simulation(3))
    with pytest.raises(ValueError, match="PD control: expected that of the batch"):
        again.set_state(2, batch.simulation(3))
    for other in (again, batch):
        other.reset()
        other.step(10)
    np.testing.assert_array_equal(again.q, batch.q)
    # One for all again.
    batch.pd(kp[0], kd[0], target)
    sims[2].reset()
    sims[2].pd(kp[0], kd[0], target[2])
    batch.reset()
    for _ in range(10):
        batch.step()
        sims[2].step()
    np.testing.assert_allclose(batch.v[2], sims[2].v, atol=tolerance)
    with pytest.raises(ValueError, match=rf"kp has shape \(2, {model.nv}\): expected \({model.nv},\), or \({n}, "):
        batch.pd(kp[:2], kd, target)
    kp[3, 6] = -1
    with pytest.raises(ValueError, match="kp"):
        batch.pd(kp, kd, target)


def test_pd_with_targets_of_every_world(model: sw.Model) -> None:
    batch = make(model, 3)
    target = np.tile(model.keyframe().q, (3, 1))
    target[:, 7:] = [[0.3, -0.5, -0.3, -0.5], [-0.3, -0.2, 0.1, -0.9], [0, -0.1, 0, -0.1]]
    kp, kd = np.array([0.0] * 6 + [400] * 4), np.array([0.0] * 6 + [20] * 4)
    with pytest.raises(ValueError, match="pd_target: there is no PD control"):
        _ = batch.pd_target
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        batch.pd(kp, kd, target, effort_limit=100)
    np.testing.assert_array_equal(batch.pd_target, target)
    sims = [sw.Simulation(model) for _ in range(3)]
    for i, sim in enumerate(sims):
        sim.pd(kp, kd, target[i], effort_limit=100)
    for _ in range(20):
        batch.step()
        for sim in sims:
            sim.step()
    for i, sim in enumerate(sims):
        np.testing.assert_allclose(batch.v[i], sim.v, atol=1e-5)
    assert np.abs(batch.q[:, 7:] - target[:, 7:]).max() < 0.5
    batch.pd_target[1, 7] = 1.0
    batch.step(50)
    assert batch.q[1, 7] > 0.5
    sim = batch.simulation(1)
    batch.step(5)
    sim.step(5)
    np.testing.assert_allclose(batch.v[1], sim.v, atol=1e-5)
    batch.reset()
    assert batch.pd_target[1, 7] == 1.0
    batch.end_pd()
    batch.step(100)
    fresh = sw.Batch(model, 1)
    fresh.step(100)
    assert bits(batch, [1]) == bits(fresh)


# --- derivatives -----------------------------------------------------------------------------------------------------


def test_step_jacobians_are_those_of_one_world(model: sw.Model) -> None:
    batch = sw.Batch(model, 5, threads=2)
    controls = scatter(batch)
    batch.ctrl = controls[:, 0]
    batch.q[:, 2] = 1.5
    batch.step(3)
    before = bits(batch)
    jacobians = batch.step_jacobians()
    assert bits(batch) == before
    assert jacobians.A.shape == (5, 20, 20)
    assert jacobians.B.shape == (5, 20, 4)
    rng = np.random.default_rng(1)
    grad_q, grad_v = rng.normal(size=(2, 5, 10))
    gradients = batch.vjp(grad_q, grad_v)
    for i in range(5):
        A, B = batch.simulation(i).step_jacobians()
        np.testing.assert_array_equal(jacobians.A[i], A)
        np.testing.assert_array_equal(jacobians.B[i], B)
        end = np.concatenate([grad_q[i], grad_v[i]])
        np.testing.assert_allclose(np.concatenate([gradients.q[i], gradients.v[i]]), A.T @ end, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(gradients.ctrl[i], B.T @ end, rtol=1e-9, atol=1e-9)


def test_no_derivative_is_nan(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    batch.q[:, 2] = 2
    batch.v[1, 0] = np.nan
    jacobians = batch.step_jacobians()
    assert np.isnan(jacobians.A[1]).all()
    assert np.isfinite(jacobians.A[[0, 2]]).all()
    assert list(batch.errors) == [1]
    gradients = batch.vjp(np.ones((3, 10)), np.ones((3, 10)))
    assert np.isnan(gradients.ctrl[1]).all()
    assert np.isfinite(gradients.ctrl[[0, 2]]).all()


# --- odds and ends --------------------------------------------------------------------------------------------------


def test_nothing_to_do(model: sw.Model) -> None:
    batch = sw.Batch(model, 2)
    batch.step(0)
    assert not batch.time.any()
    q, v = batch.rollout(None, None, np.zeros((2, 0, 4)))
    assert (q.shape, v.shape) == ((2, 0, 11), (2, 0, 10))
    empty = make(sw.load("<mujoco/>"), 3)
    empty.step(2)
    assert empty.q.shape == (3, 0)
    np.testing.assert_allclose(empty.time, 0.004)


def test_other_calls_wait_for_a_step(model: sw.Model) -> None:
    batch = sw.Batch(model, 50)
    thread = threading.Thread(target=lambda: batch.step(5000))
    thread.start()
    try:
        seen = False
        while thread.is_alive() and not seen:
            try:
                batch.reset()
            except RuntimeError as error:
                seen = "in progress" in str(error)
        assert seen
    finally:
        thread.join()
