"""Contact points of a batch: flat and padded arrays, agreement with one world, which worlds have them."""

from __future__ import annotations

import numpy as np
import pytest
from batches import WALKER, make, scatter

import sapwood as sw

BOX = """
<mujoco><option timestep="0.004"/><worldbody><geom type="plane" size="0 0 1"/>
  <body pos="0 0 0.1"><freejoint/><geom type="box" size="0.2 0.15 0.1" mass="3"/></body></worldbody></mujoco>"""


def test_a_box_presses_by_its_weight() -> None:
    batch = sw.Batch(sw.load(BOX), 3, contacts=True)
    assert batch.contacts.world.shape == (0,)
    batch.step(100)
    contacts = batch.contacts
    assert contacts.n == 3
    np.testing.assert_array_equal(contacts.counts, [4, 4, 4])
    np.testing.assert_array_equal(contacts.world, np.repeat([0, 1, 2], 4))
    np.testing.assert_array_equal(contacts.geoms, [[0, 1]] * 12)
    np.testing.assert_array_equal(contacts.normal, [[0, 0, 1]] * 12)
    np.testing.assert_allclose(contacts.gap, 0, atol=1e-4)
    np.testing.assert_allclose(np.abs(contacts.position), [[0.2, 0.15, 0]] * 12, atol=1e-4)
    force = contacts.padded().force.sum(axis=1)
    np.testing.assert_allclose(force, [[0, 0, 3 * 9.81]] * 3, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scheme", ["bilinear", "midpoint"])
def test_points_are_those_of_a_simulation(scheme: str) -> None:
    model = sw.load(WALKER)
    batch = make(model, 5, contacts=True, scheme=scheme, tolerance=1e-11)
    batch.ctrl = scatter(batch)[:, 0]
    batch.step(150)
    # From here on both know as little of the steps before.
    for world in range(5):
        batch.set_state(world, batch.state(world))
    simulations = [batch.simulation(world) for world in range(5)]
    batch.step()
    contacts = batch.contacts
    assert len(contacts.world) >= 5
    for world, simulation in enumerate(simulations):
        simulation.step()
        expected = simulation.contacts
        force = (expected["tangents"] * expected["impulse"][:, :2, None]).sum(axis=1)
        force = (force + expected["normal"] * expected["impulse"][:, 2:]) / 0.004
        mine = contacts.world == world
        for i, point in enumerate(expected):
            near = (contacts.geoms == point["geoms"]).all(axis=1) & mine
            near &= np.linalg.norm(contacts.position - point["position"], axis=1) < 1e-6
            if force[i].any():
                (same,) = np.flatnonzero(near)
                np.testing.assert_allclose(contacts.gap[same], point["gap"], atol=1e-9)
                np.testing.assert_allclose(contacts.normal[same], point["normal"], atol=1e-9)
                np.testing.assert_allclose(contacts.force[same], force[i], atol=1e-4)
        np.testing.assert_allclose(contacts.force[mine].sum(axis=0), force.sum(axis=0), atol=1e-4)


def test_padded_arrays_hold_the_points_of_each_world() -> None:
    batch = sw.Batch(sw.load(BOX), 4, contacts=True)
    batch.q[1, 2] = 5.0  # in the air
    batch.q[3, 3:] = [np.cos(0.2), np.sin(0.2), 0, 0]  # on an edge
    batch.q[3, 2] = 0.15 * np.sin(0.4) + 0.1 * np.cos(0.4)
    batch.step(2)
    contacts, padded = batch.contacts, batch.contacts.padded()
    assert contacts.counts[1] == 0
    assert 0 < contacts.counts[3] < 4
    assert padded.mask.shape == (4, 4)
    assert padded.geoms.shape == (4, 4, 2)
    np.testing.assert_array_equal(padded.mask.sum(axis=1), contacts.counts)
    for name in ("geoms", "position", "normal", "gap", "force"):
        np.testing.assert_array_equal(getattr(padded, name)[padded.mask], getattr(contacts, name))
    assert not padded.force[~padded.mask].any()
    assert (padded.geoms[~padded.mask] == -1).all()


def test_padding_to_a_size_keeps_what_pushes_most() -> None:
    batch = sw.Batch(sw.load(BOX), 2, contacts=True)
    batch.q[:, 2] -= 1e-5
    batch.v[:, 3:] = [0.3, -0.2, 0]
    batch.step()
    contacts = batch.contacts
    pushes = np.linalg.norm(contacts.force[contacts.world == 1], axis=1)
    padded = contacts.padded(max=2)
    assert padded.mask.all()
    assert padded.position.shape == (2, 2, 3)
    np.testing.assert_allclose(np.linalg.norm(padded.force[1], axis=1).sum(), np.sort(pushes)[-2:].sum())
    wide = contacts.padded(7)
    assert wide.gap.shape == (2, 7)
    np.testing.assert_array_equal(wide.mask.sum(axis=1), contacts.counts)
    assert contacts.padded(0).mask.shape == (2, 0)
    with pytest.raises(ValueError, match=r"max is -1: expected 0 or more"):
        contacts.padded(-1)


def test_worlds_that_failed_or_were_reset_have_none() -> None:
    batch = sw.Batch(sw.load(BOX), 4, contacts=True)
    batch.v[2] = np.nan
    with pytest.raises(sw.SimulationError):
        batch.step()
    np.testing.assert_array_equal(batch.contacts.counts, [4, 4, 0, 4])
    batch.reset(np.array([True, False, False, False]))
    np.testing.assert_array_equal(batch.contacts.counts, [0, 4, 0, 4])


def test_contacts_are_recorded_on_request() -> None:
    batch = sw.Batch(sw.load(BOX), 1)
    with pytest.raises(RuntimeError, match=r"contacts are not recorded: make the batch with contacts=True"):
        _ = batch.contacts
