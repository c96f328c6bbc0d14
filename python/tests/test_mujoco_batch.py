"""Rollouts and batches of MuJoCo's programs make Sapwood's steps."""

from __future__ import annotations

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
guest = pytest.importorskip("sapwood.mujoco")

from test_mujoco_guest import BALL, compiled  # noqa: E402 - it needs MuJoCo

pytestmark = pytest.mark.usefixtures("mujoco_as_before")


def test_rollouts_are_steps() -> None:
    from mujoco import rollout

    m, d = compiled()
    state = np.zeros(mujoco.mj_stateSize(m, mujoco.mjtState.mjSTATE_FULLPHYSICS))
    mujoco.mj_getState(m, d, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    control = np.random.default_rng(2).normal(size=(3, 10, m.nu))
    with guest.physics():
        states, _ = rollout.rollout(m, [mujoco.MjData(m) for _ in range(2)], np.tile(state, (3, 1)), control)
    for k in range(10):
        d.ctrl[:] = control[1, k]
        guest.step(m, d)
    np.testing.assert_array_equal(states[1, -1, 1 : 1 + m.nq], d.qpos)


def test_batches_make_the_same_steps() -> None:
    from mujoco import batch

    m, d = compiled(BALL.format("elliptic"))
    heights = np.array([0.2, 0.1, 0.5])
    with guest.physics():
        worlds = batch.Batch(m, nsim=3, nthread=2)
        q, places = worlds.bind("qpos"), worlds.bind("xpos")
        q[:, 2] = heights
        worlds.step(nstep=60)
        for k, height in enumerate(heights):
            mujoco.mj_resetData(m, d)
            d.qpos[2] = height
            mujoco.mj_step(m, d, 60)
            np.testing.assert_array_equal(q[k], d.qpos)
            np.testing.assert_array_equal(places[k], d.xpos)
        recorded = worlds.rollout(5, record=("qpos", "ncon"))
        mujoco.mj_step(m, d, 5)
        np.testing.assert_array_equal(recorded["qpos"][2, -1], d.qpos)
        # Each world with a mass of its own; the first and the last are in flight.
        worlds.body(1).mass = [[1], [2], [4]]
        worlds.bind("xfrc_applied")[:, 1, 2] = 40
        before = np.array(worlds.bind("qvel")[:, 2])
        worlds.step()
        gained = (worlds.bind("qvel")[:, 2] - before) / m.opt.timestep
    np.testing.assert_allclose(gained[[0, 2]], [40 - 9.81, 10 - 9.81])


def test_stages_are_made_of_those_that_did_not_fail() -> None:
    from mujoco import batch

    m, d = compiled(BALL.format("elliptic"))
    with guest.physics():
        worlds = batch.Batch(m, nsim=3, nthread=2)
        q, places = worlds.bind("qpos"), worlds.bind("xpos")
        q[:, 2] = 0.5
        worlds.bind("xfrc_applied")[1, 1, 2] = np.nan
        with pytest.raises(batch.SimulationError, match="simulation 1: "):
            worlds.step(stage=mujoco.mjtStage.mjSTAGE_POS)
        mujoco.mj_resetData(m, d)
        d.qpos[2] = 0.5
        mujoco.mj_step(m, d)
    mujoco.mj_kinematics(m, d)
    np.testing.assert_array_equal(q[[0, 2], 2], d.qpos[2])
    np.testing.assert_array_equal(places[[0, 2], 1], [d.xpos[1]] * 2)
