"""Models, simulations, batches and errors can be copied, pickled and sent to other processes."""

from __future__ import annotations

import copy
import multiprocessing
import pickle
from typing import Any

import numpy as np
import pytest

import sapwood as sw

SCENE = """<mujoco><option timestep="0.004"/>
  <asset><mesh name="wedge" vertex="0 0 0 .3 0 0 0 .3 0 0 0 .2"/></asset>
  <worldbody><geom type="plane" size="0 0 1"/>
  <body name="box" pos="0 0 0.3"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/>
    <body pos="0.1 0 0"><joint name="arm" axis="0 1 0" range="-60 60" damping="0.1" frictionloss="0.01"/>
      <geom type="capsule" size=".03" fromto="0 0 0 .2 0 0" mass="0.3"/></body></body>
  <body name="ball" pos="0.6 0 0.5"><freejoint/>
    <geom size=".08" mass="0.5" condim="6" friction="0.7 0.01 0.002"/></body>
  <body name="wedge" pos="-0.6 0 0.4"><freejoint/><geom type="mesh" mesh="wedge"/></body></worldbody>
  <actuator><position joint="arm" kp="4" kv="0.1"/></actuator></mujoco>"""


def run(sim: sw.Simulation, steps: int = 100) -> bytes:
    """The state after so many steps."""
    sim.step(steps)
    return sim.state()


def run_model(model: sw.Model) -> bytes:
    sim = sw.Simulation(model)
    sim.ctrl[:] = 0.3
    return run(sim)


def busy(**options: Any) -> sw.Simulation:
    """A simulation in the middle of contact with everything that a step may depend on."""
    sim = sw.Simulation(sw.load(SCENE), **options)
    sim.ctrl[:] = 0.4
    sim.step(80)
    sim.applied_force[6] = 0.05
    sim.applied_wrench[3] = [0, 0, 0.01, 0.2, 0, 0]
    sim.surface_velocity[0] = [0.1, 0, 0]
    sim.pd(0, np.r_[np.zeros(7), np.full(12, 0.1)], sim.q)
    sim.parameters.masses[1] *= 1.5
    sim.parameters.frictions[:] = 0.4
    sim.step(20)
    assert sim.stats.contacts > 3
    return sim


@pytest.mark.parametrize("method", ["spawn", "fork"])
def test_other_processes_make_the_same_bits(method: str) -> None:
    model = sw.load(SCENE)
    sims = [busy(), busy(scheme="midpoint"), busy(sleep_after=0.1, contact="sap")]
    with multiprocessing.get_context(method).Pool(2) as pool:
        there = pool.map_async(run, sims)
        of_model = pool.apply_async(run_model, (model,))
        here = [run(copy.copy(sim)) for sim in sims]
        assert there.get(60) == here
        assert of_model.get(60) == run_model(model)


def test_a_pickled_model_is_the_model() -> None:
    without_end = sw.load('<mujoco><worldbody><geom type="plane" size="-1 -2 .1"/></worldbody></mujoco>')
    for model in [sw.load(SCENE), sw.characters.humanoid(), sw.scenes.tower(5), sw.load("<mujoco/>"), without_end]:
        again = pickle.loads(pickle.dumps(model))
        assert again.to_bytes() == model.to_bytes()
        assert repr(again) == repr(model)
        assert again.warnings == model.warnings
        assert copy.copy(model) is model
        assert copy.deepcopy([model])[0] is model


def test_simulations_of_one_model_share_it_in_a_pickle() -> None:
    model = sw.load(SCENE)
    sims = [sw.Simulation(model), sw.Simulation(model, timestep=0.001)]
    first, second = pickle.loads(pickle.dumps(sims))
    assert first.model is second.model
    assert second.timestep == 0.001
    assert second.options == sims[1].options


def test_copies_are_independent() -> None:
    sim = busy()
    before = sim.state()
    for duplicate in (copy.copy(sim), copy.deepcopy(sim), pickle.loads(pickle.dumps(sim))):
        assert duplicate.state() == before
        assert duplicate.model.to_bytes() == sim.model.to_bytes()
        duplicate.q[2] += 1
        duplicate.parameters.gravity[:] = 0
        duplicate.step(5)
    assert sim.state() == before
    assert sim.parameters.gravity[2] == -9.81


def test_sleepers_go_on_sleeping() -> None:
    sim = sw.Simulation(sw.load(SCENE), sleep_after=0.05)
    while sim.stats.asleep == 0:
        sim.step()
    again = pickle.loads(pickle.dumps(sim))
    sim.step(3)
    again.step(3)
    assert again.state() == sim.state()
    assert again.stats.asleep > 0


@pytest.mark.filterwarnings("ignore::sapwood.PerformanceWarning")
def test_batches() -> None:
    model = sw.characters.humanoid()
    batch = sw.Batch(model, 5, timestep=0.004, contacts=True, threads=2)
    batch.pd(100, 10, model.keyframe().q)
    batch.pd_target[:] += np.linspace(0, 0.1, 5)[:, None]
    batch.set_parameters([1, 3], masses=model.body_masses * [[1.1], [1.3]], gravity=[[0, 0, -5], [0, 0, -8]])
    batch.step(30)
    for duplicate in (copy.copy(batch), pickle.loads(pickle.dumps(batch))):
        assert duplicate.options == batch.options
        np.testing.assert_array_equal(duplicate.pd_target, batch.pd_target)
        assert duplicate.parameters(3).masses.tolist() == batch.parameters(3).masses.tolist()
        duplicate.step(5)
        reference = copy.deepcopy(batch)
        reference.step(5)
        np.testing.assert_array_equal(duplicate.q, reference.q)
    # Worlds that are stepped one by one have complete states.
    batch = sw.Batch(model, 3, scheme="midpoint")
    batch.set_parameters([1], gravity=[[0, 0, -5]])
    batch.step(30)
    duplicate = copy.copy(batch)
    batch.step(20)
    duplicate.step(20)
    np.testing.assert_array_equal(duplicate.q, batch.q)
    np.testing.assert_array_equal(duplicate.v, batch.v)


def test_errors_keep_what_they_say() -> None:
    with pytest.raises(sw.ModelError) as model_error:
        sw.load("<mujoco><worldbody><geom type='cube'/></worldbody></mujoco>")
    sim = sw.Simulation(sw.load(SCENE))
    sim.v[6] = 1e9
    with pytest.raises(sw.SimulationError) as simulation_error:
        sim.step(50)
    batch_error = sw.SimulationError("2 worlds", 0.1, 7, [3, 4])
    for error in (model_error.value, simulation_error.value, batch_error):
        for again in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
            assert type(again) is type(error)
            assert str(again) == str(error)
            assert vars(again) == vars(error)
    assert model_error.value.line == 1
    assert simulation_error.value.time is not None


def test_wrong_bytes() -> None:
    data = sw.load(SCENE).to_bytes()
    for wrong in (b"", b"nonsense", data[:-1], data[:40] + b"\0" + data[41:], data + b"\0"):
        with pytest.raises(ValueError, match="data: the bytes"):
            sw.Model.from_bytes(wrong)
    sim = busy()
    state = sim.state()
    assert state.startswith(b"sapparam")
    for wrong in (state[:50], state[:-1], state + b"\x05", state[:8] + b"\xff" * 8 + state[16:]):
        with pytest.raises(ValueError, match="state"):
            sim.restore(wrong)
    assert sim.state() == state


@pytest.mark.parametrize("name", ["body_masses", "gravity", "armature"])
def test_copies_cannot_be_written_to(name: str) -> None:
    array = getattr(sw.load(SCENE), name)
    with pytest.raises(ValueError, match="read-only"):
        array *= 2
    contacts = busy().contacts
    with pytest.raises(ValueError, match="read-only"):
        contacts["gap"] = 0


def test_copies_of_builders_are_independent() -> None:
    builder = sw.ModelBuilder.from_model(sw.load(SCENE))
    twin, joint = copy.deepcopy((builder, builder.joint("arm")))
    joint.damping = 7
    assert twin.joint("arm").damping == 7
    assert builder.joint("arm").damping == 0.1
    copy.copy(builder).name = "other"
    assert builder.name != "other"


def test_a_batch_that_restores_its_own_states_goes_on_as_its_pickle_does() -> None:
    model = sw.characters.humanoid()
    batch = sw.Batch(model, 4)
    batch.v[:] = np.random.default_rng(0).normal(scale=0.3, size=batch.v.shape)
    batch.step(300)
    assert batch.stats.active > 0
    for world in range(batch.n):
        batch.set_state(world, batch.state(world))
    again = pickle.loads(pickle.dumps(batch))
    batch.step(50)
    again.step(50)
    assert [batch.state(world) for world in range(4)] == [again.state(world) for world in range(4)]


def named(name: str, joint: str = "hinge") -> sw.Model:
    return sw.load(f"""<mujoco model="{name}"><worldbody><body name="{name}">
    <joint name="j" type="{joint}"/><geom size=".1"/></body></worldbody></mujoco>""")


def test_states_of_other_models_are_refused() -> None:
    """Their numbers may fit: those of an arm with other names, of a slide in the place of a hinge."""
    sim = sw.Simulation(named("ours"))
    batch = sw.Batch(named("ours"), 2)
    for other in (named("theirs"), named("ours", "slide"), sw.load(sw.scenes.mjcf("tower-2"))):
        state = sw.Simulation(other).state()
        before = sim.state()
        with pytest.raises(ValueError, match=r'state of "ours": it is of another model'):
            sim.restore(state)
        assert sim.state() == before
        with pytest.raises(ValueError, match="of another model"):
            batch.set_state(0, state)
    # The same model, read again, or with other numbers.
    sim.restore(sw.Simulation(named("ours")).state())
    heavy = sw.Simulation(named("ours"))
    heavy.parameters.masses = heavy.parameters.masses * 2
    sim.restore(heavy.state())


@pytest.mark.parametrize("cut", [0, 7, 8, 12, 16, 50, -1])
def test_damaged_states_are_refused(cut: int) -> None:
    sim = sw.Simulation(named("ours"))
    state = sim.state()
    with pytest.raises(ValueError, match='state of "ours"'):
        sim.restore(state[:cut])
    assert sim.state() == state
