"""Many worlds together: views, agreement with one world, masks, failures by index, rollouts, states, derivatives."""

from __future__ import annotations

import gc
import importlib.util
import re
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sapwood as sw

Array = NDArray[np.float64]

WALKER = """
<mujoco model="walker"><compiler autolimits="true"/><option timestep="0.004"/>
  <default><joint damping="0.5" armature="0.01"/><geom friction="0.8"/></default>
  <worldbody><geom type="plane" size="0 0 1"/>
    <body name="torso" pos="0 0 0.75"><freejoint/><geom type="capsule" fromto="0 0 0 0 0 0.3" size="0.1"/>
      <body pos="0 0.1 -0.1"><joint name="hip1" axis="0 1 0" range="-80 80"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body pos="0 0 -0.3"><joint name="knee1" axis="0 1 0" range="-120 2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/></body></body>
      <body pos="0 -0.1 -0.1"><joint name="hip2" axis="0 1 0" range="-80 80"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.05"/>
        <body pos="0 0 -0.3"><joint name="knee2" axis="0 1 0" range="-120 2"/>
          <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/></body></body>
    </body></worldbody>
  <actuator><motor joint="hip1" gear="20"/><motor joint="knee1" gear="20"/>
    <motor joint="hip2" gear="20"/><motor joint="knee2" gear="20"/></actuator>
  <keyframe><key name="high" time="2" qpos="0 0 2 1 0 0 0 0.1 0.2 -0.1 -0.2" ctrl="0.1 0.2 0.3 0.4"/></keyframe>
</mujoco>"""


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(WALKER)


def make(model: sw.Model, n: int, **options: Any) -> sw.Batch:
    """A batch that is quiet about how it is stepped."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        return sw.Batch(model, n, **options)


def scatter(batch: sw.Batch, seed: int = 0) -> Array:
    """Sets worlds going, each in its own way, world i the same in every batch; returns 100 controls, (n, 100, nu)."""
    n, nv, nu = len(batch), batch.model.nv, batch.model.nu
    rngs = [np.random.default_rng([seed, i]) for i in range(n)]
    batch.v[:] = [rng.uniform(-1, 1, nv) for rng in rngs]
    return np.array([rng.uniform(-1, 1, (100, nu)) for rng in rngs])


def bits(batch: sw.Batch, worlds: Any = slice(None)) -> tuple[bytes, bytes]:
    return batch.q[worlds].tobytes(), batch.v[worlds].tobytes()


# --- views -----------------------------------------------------------------------------------------------------------


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
    for k in range(300):
        batch.ctrl = controls[:, k // 5]
        for i, sim in enumerate(sims):
            sim.q, sim.v, sim.ctrl = batch.q[i], batch.v[i], batch.ctrl[i]
        batch.step()
        for i, sim in enumerate(sims):
            sim.step()
            assert sim.time == batch.time[i]
            # In the kinetic norm, relative to the momentum, or to what gravity adds in a step.
            M, dv = model.mass_matrix(sim.q), sim.v - batch.v[i]
            scale = max(sim.v @ M @ sim.v, model.mass * (9.81 * sim.timestep) ** 2)
            errors.append(np.sqrt(dv @ M @ dv / scale))
    # Not all to the tolerance: a step that is left to a simulation forgets the one before.
    assert np.median(errors) < 1e-9
    assert np.mean(np.array(errors) > 1e-6) < 0.05
    assert max(errors) < 0.05
    assert batch.stats.steps == 300 * 6


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


# --- failures --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"scheme": "midpoint"}, {"lanes": 1, "threads": 2}])
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


# --- parameters ------------------------------------------------------------------------------------------------------


def quietly(batch: sw.Batch, *worlds: Any, **parameters: Any) -> None:
    """Sets parameters; that worlds are then stepped one by one is no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        batch.set_parameters(*worlds, **parameters)


def test_worlds_with_parameters_are_those_of_such_a_model() -> None:
    """Of a falling, sliding, driven model: the same as the file that has these numbers."""

    def text(gravity: float, mass: float, friction: float, radius: float, damping: float, kp: float) -> str:
        return f"""<mujoco><option timestep="0.005" gravity="1 0 {gravity}"/>
          <worldbody><geom type="plane" size="0 0 1" friction="{min(friction, 0.1)}"/>
            <body pos="0 0 0.5"><freejoint/><inertial pos="0.01 0 0" mass="{mass}"
              diaginertia="{0.01 * mass} {0.02 * mass} {0.02 * mass}"/>
              <geom type="capsule" size="{radius} 0.2" euler="0 90 0" friction="{friction}"/>
              <body pos="0.2 0 0"><joint name="tail" axis="0 1 0" damping="{damping}" armature="0.01" stiffness="1"/>
                <geom type="box" size="0.1 0.05 0.02" pos="0.1 0 0" mass="0.5" friction="{friction}"/></body></body>
          </worldbody><actuator><position joint="tail" kp="{kp}" kv="0.2"/></actuator></mujoco>"""

    before, after = (-9.81, 2.0, 0.6, 0.08, 0.1, 5.0), (-3.0, 3.0, 0.9, 0.12, 0.4, 9.0)
    batch = make(sw.load(text(*before)), 3)
    gravity, mass, friction, radius, damping, kp = after
    size = batch.parameters(1).geom_size
    size[1, 0] = radius
    dofs = np.array([0.0] * 6 + [damping])
    quietly(batch, [1], gravity=[1, 0, gravity], body_mass=[[0, mass, 0.5]], friction=[0.1, friction, friction])
    quietly(batch, [False, True, False], geom_size=[size], damping=dofs, actuator_gain=[[kp]])
    lone = [sw.Simulation(sw.load(text(*numbers))) for numbers in (before, after)]
    for sim in lone:
        sim.ctrl[:] = 0.5
    batch.ctrl[:] = 0.5
    for _ in range(30):
        batch.step(5)
        for sim in lone:
            sim.step(5)
    np.testing.assert_allclose(batch.q[0], lone[0].q, atol=1e-9)
    np.testing.assert_allclose(batch.q[1], lone[1].q, atol=1e-6)
    assert np.abs(lone[0].q - lone[1].q).max() > 0.1
    assert batch.q[2].tobytes() == batch.q[0].tobytes()
    parameters = batch.parameters(1)
    assert parameters.body_mass.tolist() == [0, mass, 0.5]
    assert parameters.friction.tolist() == [0.1, friction, friction]
    assert parameters.gravity.tolist() == [1, 0, gravity]
    assert parameters.actuator_gain.tolist() == [kp]
    assert parameters.actuator_damping.tolist() == [0.2]
    assert parameters.damping[6] == damping
    assert parameters.geom_size[1].tolist() == [radius, 0.2, 0]
    assert batch.parameters(0).body_mass.tolist() == [0, 2, 0.5]
    # Such a world as a simulation, and back to the model's.
    sim = batch.simulation(1)
    assert sim.model.mass == mass + 0.5
    batch.step(3)
    sim.step(3)
    assert sim.state() == batch.state(1)
    A, _ = sim.step_jacobians()
    np.testing.assert_array_equal(batch.step_jacobians().A[1], A)
    batch.reset_parameters()
    batch.reset()
    batch.step(50)
    assert len({q.tobytes() for q in batch.q}) == 1
    assert batch.parameters(1).body_mass.tolist() == [0, 2, 0.5]


def test_a_row_for_every_world(model: sw.Model) -> None:
    batch = make(model, 4)
    masses = np.outer([1.0, 2, 3, 4], model.body_masses)
    quietly(batch, None, body_mass=masses, body_inertia_scale=np.full((4, 6), 1.5))
    for i in range(4):
        np.testing.assert_array_equal(batch.parameters(i).body_mass, masses[i])
        M = batch.simulation(i).model.mass_matrix(model.keyframe().q)
        assert M[0, 0] == pytest.approx((i + 1) * model.mass)
    quietly(batch, [-1, 0], gravity=np.zeros(3))
    batch.q[:, 2] = 5
    batch.step(10)
    assert (np.abs(batch.v[[0, 3]]) < 1e-9).all()
    assert (batch.v[[1, 2], 2] < -0.3).all()


def test_bad_parameters(model: sw.Model) -> None:
    batch = make(model, 3)
    bad: list[tuple[Any, dict[str, Any], str]] = [
        (None, {"gravity": np.zeros((2, 3))}, r"gravity has shape \(2, 3\): expected \(3, 3\) or \(3,\)"),
        ([0], {"gravity": [0, 0, np.nan]}, "gravity"),
        ([0], {"body_mass": np.zeros(6)}, r"world 0: body_mass\[1\] is 0: expected above 0"),
        ([0], {"body_mass": np.ones(6)}, r"body_mass\[0\] is 1: expected 0"),
        ([0], {"friction": -np.ones(6)}, "friction"),
        ([0], {"geom_size": np.zeros((6, 3))}, "geom_size"),
        ([0], {"geom_size": np.zeros((2, 6, 3))}, "geom_size has shape"),
        ([0], {"damping": np.full(10, -1.0)}, "damping"),
        ([0], {"actuator_gain": "much"}, "actuator_gain"),
        ([3], {"gravity": np.zeros(3)}, "worlds has 3: expected indices below 3"),
        ([-4], {"gravity": np.zeros(3)}, "worlds has -4"),
        ([True], {"gravity": np.zeros(3)}, "worlds has shape"),
        ([0.5], {"gravity": np.zeros(3)}, "worlds has dtype"),
        ([[0]], {"gravity": np.zeros(3)}, "worlds"),
    ]
    for worlds, parameters, message in bad:
        with pytest.raises(ValueError, match=message):
            batch.set_parameters(worlds, **parameters)
    assert batch.alone is None


# --- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "options", "message"),
    [
        (0, {}, "n is 0"),
        (-3, {}, "n is -3"),
        (2, {"threads": 0}, "threads"),
        (2, {"threads": 5000}, "threads"),
        (2, {"lanes": 3}, "lanes"),
        (2, {"lanes": -1}, "lanes"),
        (2, {"precision": "f16"}, "precision"),
        (2, {"timestep": -1.0}, "timestep"),
        (2, {"scheme": "sideways"}, "scheme"),
        (2, {"tolerance": float("nan")}, "tolerance"),
    ],
)
def test_bad_options(model: sw.Model, n: int, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sw.Batch(model, n, **options)


@pytest.mark.parametrize("n", [10**12, 10**15, 2**62])
def test_more_worlds_than_memory_holds(model: sw.Model, n: int) -> None:
    with pytest.raises(MemoryError, match="worlds take about"):
        sw.Batch(model, n)


@pytest.mark.parametrize("n", [1.5, None, "2"])
def test_n_is_a_number(model: sw.Model, n: Any) -> None:
    with pytest.raises(TypeError):
        sw.Batch(model, n)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("q", np.zeros((4, 11))),
        ("q", np.zeros((2, 11))),
        ("q", np.ones((3, 10))),
        ("q", np.ones((3, 11)) * np.nan),
        ("v", np.zeros(30)),
        ("v", None),
        ("v", "fast"),
        ("v", np.zeros((3, 10), complex)),
        ("ctrl", np.zeros((4, 3))),
        ("ctrl", 0.0),
        ("ctrl", [[0] * 4, [0] * 4, [0] * 3]),
        ("ctrl", np.full((3, 4), np.inf)),
        ("time", np.zeros((3, 1))),
    ],
)
def test_bad_assignments(model: sw.Model, name: str, value: Any) -> None:
    batch = sw.Batch(model, 3)
    batch.step(2)
    before = bits(batch), batch.ctrl.tobytes(), batch.time.tobytes()
    with pytest.raises(ValueError, match=name):
        setattr(batch, name, value)
    assert (bits(batch), batch.ctrl.tobytes(), batch.time.tobytes()) == before


def test_a_quaternion_without_direction(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    q = batch.q.copy()
    q[1, 3:7] = 0
    with pytest.raises(ValueError, match=r"q\[1\]\[3:7\]"):
        batch.q = q
    batch.q[1, 3:7] = 0
    with pytest.raises(ValueError, match=r"q\[1\]\[3:7\]"):
        batch.step()
    assert not batch.time.any()


def test_bad_calls(model: sw.Model) -> None:
    batch = sw.Batch(model, 3)
    zeros = np.zeros
    for k in (-1, -(2**40)):
        with pytest.raises(ValueError, match="k is -"):
            batch.step(k)
    with pytest.raises(TypeError):
        batch.step(1.5)  # type: ignore[arg-type]
    masks: list[Any] = [zeros(2, bool), zeros((3, 1), bool), True]
    for mask in masks:
        with pytest.raises(ValueError, match="mask has shape"):
            batch.reset(mask)
    masks = [zeros(3), [0, 1, 2], ["a", "b", "c"]]
    for mask in masks:
        with pytest.raises(ValueError, match="mask has dtype"):
            batch.reset(mask)
    with pytest.raises(ValueError, match="nobody"):
        batch.reset(keyframe="nobody")
    with pytest.raises(ValueError, match="both given"):
        batch.reset(keyframe="high", states=(model.keyframe().q, zeros(10)))
    with pytest.raises(ValueError, match=r"states\[0\] has shape \(3, 11\): expected \(1, 11\)"):
        batch.reset([True, False, False], states=(batch.q, batch.v))
    with pytest.raises(ValueError, match="states"):
        batch.reset(states=(zeros((3, 11)), zeros((3, 10))))
    q, v = batch.q.copy(), batch.v.copy()
    with pytest.raises(ValueError, match=r"ctrl has shape \(3, 4\): expected \(3, any, 4\)"):
        batch.rollout(q, v, zeros((3, 4)))
    with pytest.raises(ValueError, match="skip is 0"):
        batch.rollout(q, v, zeros((3, 5, 4)), skip=0)
    with pytest.raises(ValueError, match="q has shape"):
        batch.rollout(q[:2], v, zeros((3, 5, 4)))
    with pytest.raises(ValueError, match="ctrl"):
        batch.rollout(q, v, np.full((3, 5, 4), np.nan))
    for world in (3, -4, 2**40):
        with pytest.raises(IndexError, match="of a batch of 3"):
            batch.state(world)
    for state in (b"", b"x" * 200, sw.Simulation(sw.load("<mujoco/>")).state()):
        with pytest.raises(ValueError, match="state"):
            batch.set_state(0, state)
    with pytest.raises(ValueError, match="q has 0 entries: expected 11"):
        batch.set_state(0, sw.Simulation(sw.load("<mujoco/>")))
    pushed = sw.Simulation(model)
    pushed.applied_force[0] = 1
    with pytest.raises(ValueError, match="applied forces"):
        batch.set_state(0, pushed)
    controlled = sw.Simulation(model)
    controlled.pd(1, 1, model.keyframe().q)
    with pytest.raises(ValueError, match="PD control"):
        batch.set_state(0, controlled)
    for kp, kd in ((-1, 1), (zeros(3), 1), (1, np.nan)):
        with pytest.raises(ValueError, match="kp|kd"):
            batch.pd(kp, kd, q)
    with pytest.raises(ValueError, match="target"):
        batch.pd(1, 1, q[:2])
    with pytest.raises(ValueError, match="grad_v has shape"):
        batch.vjp(zeros((3, 10)), zeros((3, 11)))
    assert not batch.time.any()


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


def test_the_page_of_the_documentation() -> None:
    page = (Path(__file__).parents[2] / "docs" / "batch.md").read_text()
    code = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    assert len(code) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sw.PerformanceWarning)
        exec(compile("".join(code), "batch.md", "exec"), {})
