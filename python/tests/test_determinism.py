"""The same input gives the same bits: again, with more threads, after a restore, through a pickle."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scenes import CLUTTER, RAGDOLL

import sapwood as sw

SCENES = {"clutter": CLUTTER, "ragdoll": RAGDOLL}


@pytest.fixture(scope="module", params=SCENES, name="model")
def load_model(request: pytest.FixtureRequest) -> sw.Model:
    return sw.load(SCENES[request.param])


def start(model: sw.Model, threads: int = 1) -> sw.Simulation:
    sim = sw.Simulation(model, timestep=0.005, threads=threads)
    sim.v = 0.3 * np.random.default_rng(5).normal(size=model.nv)
    return sim


def test_same_run_twice(model: sw.Model) -> None:
    first, second = start(model), start(model)
    for _ in range(20):
        first.step(10)
        second.step(10)
        assert first.state() == second.state()
    assert first.stats.contacts > 0, "a run without contact shows nothing"


def test_threads_do_not_change_bits(model: sw.Model) -> None:
    one, two = start(model, threads=1), start(model, threads=2)
    for _ in range(20):
        one.step(10)
        two.step(10)
        assert one.state() == two.state()


def test_one_call_or_many(model: sw.Model) -> None:
    once, often = start(model), start(model)
    once.step(150)
    for _ in range(150):
        often.step()
    assert once.state() == often.state()


def test_restore_goes_on_with_the_same_bits(model: sw.Model) -> None:
    sim = start(model)
    sim.step(60)
    middle = pickle.loads(pickle.dumps(sim.state()))
    sim.step(60)
    end, contacts = sim.state(), sim.contacts
    fresh = sw.Simulation(model, timestep=0.005)
    for again in (sim, fresh):
        again.restore(middle)
        again.step(60)
        assert again.state() == end
        np.testing.assert_array_equal(again.contacts, contacts)


def test_state_holds_every_input(model: sw.Model) -> None:
    """Controls and applied forces are state as well."""
    sim = start(model)
    sim.applied_force[-1] = 0.5
    sim.applied_wrench[-1] = [0.1, 0, 0, 0, 2.0, 0]
    sim.step(20)
    middle = sim.state()
    sim.step(20)
    end = sim.state()
    fresh = sw.Simulation(model, timestep=0.005)
    fresh.restore(middle)
    assert fresh.time == pytest.approx(0.1)
    assert fresh.applied_force[-1] == 0.5
    assert fresh.applied_wrench[-1, 4] == 2.0
    fresh.step(20)
    assert fresh.state() == end


def test_reset_forgets_the_past(model: sw.Model) -> None:
    sim, fresh = start(model), sw.Simulation(model, timestep=0.005)
    sim.step(50)
    sim.reset()
    assert sim.state() == fresh.state()
    sim.step(100)
    fresh.step(100)
    assert sim.state() == fresh.state()


def test_order_of_geoms_does_not_matter() -> None:
    """The same table with its legs listed in reverse stands on the same forces, to the solver's tolerance."""
    legs = [f'<geom type="sphere" size="0.05" pos="{x} {y} -0.2"/>' for x in (-0.3, 0.3) for y in (-0.2, 0.2)]
    runs = []
    for order in (legs, legs[::-1]):
        text = f"""
        <mujoco><worldbody><geom type="plane" size="1 1 1"/>
          <body pos="0 0 0.2501"><freejoint/><inertial pos="0.05 0.02 0" mass="8" diaginertia="0.3 0.4 0.5"/>
          {"".join(order)}</body></worldbody></mujoco>"""
        sim = sw.Simulation(sw.load(text), timestep=0.005, tolerance=1e-10)
        sim.v[:2] = [0.2, 0.1]
        sim.step(200)
        runs.append(sim)
    np.testing.assert_allclose(runs[0].q, runs[1].q, rtol=0, atol=1e-9)
    forces = [np.sort(sim.contacts["impulse"][:, 2]) for sim in runs]
    np.testing.assert_allclose(forces[0], forces[1], rtol=1e-5)
