"""Environments judge states as Gymnasium's v5 ones do, and the vector environment does what many single ones do."""

from __future__ import annotations

import contextlib
import copy
import pickle
import sys
import types
import warnings
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
pytest.importorskip("mujoco")
# Gymnasium's MuJoCo environments import it for videos, which nothing here makes.
if find_spec("imageio") is None:
    sys.modules["imageio"] = types.ModuleType("imageio")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import sapwood as sw  # noqa: E402
import sapwood.gym  # noqa: E402
from sapwood.gym import TASKS  # noqa: E402

NAMES = sorted(TASKS)


def ours(task: str, **options: Any) -> Any:
    return gymnasium.make(f"sapwood/{task}-v0", **options).unwrapped


def theirs(task: str, **options: Any) -> Any:
    return gymnasium.make(f"{task}-v5", **options).unwrapped


def random_state(env: Any, rng: np.random.Generator) -> tuple[Any, Any]:
    scale = 0.1 if env.spec.id.startswith("Hopper") else 0.3
    q = env.init_qpos + rng.normal(scale=scale, size=env.model.nq)
    if env.spec.id.startswith("InvertedDouble"):
        q[0] = rng.uniform(-0.9, 0.9)  # at the ends of the rail a constraint acts
    return q, rng.normal(scale=3.0, size=env.model.nv)


@pytest.mark.parametrize("task", NAMES)
def test_is_an_environment(task: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaces without bounds, which v5 has, too
        check_env(ours(task))


@pytest.mark.skipif(not hasattr(sw, "Renderer"), reason="this version draws no pictures")
@pytest.mark.parametrize("task", ["Ant", "Pusher"])
def test_draws_pictures(task: str) -> None:
    env = ours(task, render_mode="rgb_array", width=64, height=48)
    env.reset(seed=0)
    first = env.render()
    assert first.shape == (48, 64, 3)
    assert first.std() > 5.0
    env.step(np.ones(env.action_space.shape))
    assert (env.render() != first).any()
    envs = gymnasium.make_vec(f"sapwood/{task}-v0", num_envs=2, render_mode="rgb_array", width=64, height=48)
    envs.reset(seed=[1, 0])
    np.testing.assert_array_equal(envs.render()[1], first)


@pytest.mark.parametrize("task", NAMES)
def test_begins_as_gymnasium_does(task: str) -> None:
    env, reference = gymnasium.make(f"sapwood/{task}-v0"), gymnasium.make(f"{task}-v5")
    assert env.observation_space == reference.observation_space
    assert env.action_space == reference.action_space
    assert env.spec.max_episode_steps == reference.spec.max_episode_steps
    assert env.spec.reward_threshold == reference.spec.reward_threshold
    assert env.unwrapped.dt == reference.unwrapped.dt
    assert env.metadata["render_fps"] == reference.metadata["render_fps"]
    for seed in (0, None, 5):
        observation, info = env.reset(seed=seed)
        expected, expected_info = reference.reset(seed=seed)
        np.testing.assert_allclose(observation, expected, rtol=0, atol=1e-12)
        assert info.keys() == expected_info.keys()
        for name, value in expected_info.items():
            np.testing.assert_allclose(info[name], value, atol=1e-12)


@pytest.mark.parametrize("task", NAMES)
def test_judges_as_gymnasium_does(task: str) -> None:
    rng = np.random.default_rng(1)
    env, reference = ours(task), theirs(task)
    episodes = env._worlds.episodes
    env.reset(seed=0)
    ends = []
    for _ in range(30):
        reference.reset(seed=0)
        (q0, v0), (q, v) = random_state(reference, rng), random_state(reference, rng)
        action = rng.uniform(-1.5, 1.5, size=reference.model.nu)  # beyond the ranges of most controls
        reference.set_state(q0, v0)

        def jump(ctrl: Any, frames: int, q: Any = q, v: Any = v) -> None:
            assert frames == env.frame_skip
            reference.data.ctrl[:] = ctrl
            reference.set_state(q, v)

        reference.do_simulation = jump
        expected, reward, terminated, _, info = reference.step(action)
        observations, rewards, ended, infos = episodes.evaluate([q0], [q], [v], [action])
        scale = np.abs(expected).max()
        np.testing.assert_allclose(observations[0], expected, rtol=0, atol=1e-12 * scale)
        np.testing.assert_allclose(rewards[0], reward, rtol=1e-12, atol=1e-12)
        assert ended[0] == terminated
        ends.append(terminated)
        columns = {name: infos[0][where] for name, where, _ in env._worlds.columns}
        assert columns.keys() == info.keys()
        for name, value in info.items():
            np.testing.assert_allclose(columns[name], value, rtol=1e-11, atol=1e-11, err_msg=name)
    if task in ("Ant", "Hopper", "Humanoid", "InvertedDoublePendulum", "InvertedPendulum", "Walker2d"):
        assert any(ends)
        assert not all(ends)


@pytest.mark.parametrize(
    ("task", "options"),
    [
        (
            "Ant",
            {
                "exclude_current_positions_from_observation": False,
                "main_body": 3,
                "include_cfrc_ext_in_observation": False,
            },
        ),
        ("Ant", {"healthy_z_range": (0.5, 0.9), "terminate_when_unhealthy": False, "forward_reward_weight": 2.0}),
        ("Humanoid", {"include_cinert_in_observation": False, "healthy_z_range": (1.3, 1.5), "healthy_reward": 2.0}),
        ("HumanoidStandup", {"include_cvel_in_observation": False, "include_qfrc_actuator_in_observation": False}),
        ("Hopper", {"healthy_angle_range": (-1.0, 1.0), "healthy_state_range": (-4.0, 4.0), "ctrl_cost_weight": 0.5}),
        ("Pusher", {"reward_near_weight": 2.0, "reward_control_weight": 3.0}),
    ],
)
def test_options_mean_what_they_mean_there(task: str, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(2)
    env, reference = ours(task, **options), theirs(task, **options)
    assert env.observation_space == reference.observation_space
    for _ in range(5):
        reference.reset(seed=0)
        (q0, v0), (q, v) = random_state(reference, rng), random_state(reference, rng)
        action = rng.uniform(-1, 1, size=reference.model.nu)
        reference.set_state(q0, v0)
        reference.do_simulation = lambda ctrl, _, q=q, v=v: (
            reference.data.ctrl.__setitem__(slice(None), ctrl),
            reference.set_state(q, v),
        )
        expected, reward, terminated, _, _ = reference.step(action)
        observations, rewards, ended, _ = env._worlds.episodes.evaluate([q0], [q], [v], [action])
        np.testing.assert_allclose(observations[0], expected, rtol=0, atol=1e-12 * np.abs(expected).max())
        np.testing.assert_allclose(rewards[0], reward, rtol=1e-12)
        assert ended[0] == terminated


def test_contact_forces_carry_the_weight() -> None:
    env = ours("Ant", contact_force_range=(-np.inf, np.inf), terminate_when_unhealthy=False)
    env.reset(seed=0)
    for _ in range(200):
        observation, *_ = env.step(np.zeros(8))
    forces = observation[-6 * 13 :].reshape(13, 6)
    weight = 9.81 * sum(env.model.body_masses)
    np.testing.assert_allclose(forces[:, 3:].sum(axis=0), [0.0, 0.0, weight], atol=1e-3 * weight)
    # At rest they have no moment about the centre of mass.
    np.testing.assert_allclose(forces[:, :3].sum(axis=0), 0.0, atol=1e-3 * weight)


def test_constraint_force_is_that_of_the_rail() -> None:
    env = ours("InvertedDoublePendulum")
    env.reset(seed=0)
    assert env.step([0.3])[0][-1] == 0.0
    for end in (1.0, -1.0):
        env.set_state([0.99 * end, 0.0, 0.0], [3.0 * end, 0.0, 0.0])
        assert env.step([end])[0][-1] == -10.0 * end  # cut to ±10 N


MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP, AutoresetMode.DISABLED]


def assert_same(ours: Any, expected: Any, path: str = "") -> None:
    if isinstance(expected, tuple):
        for a, b in zip(ours, expected, strict=True):
            assert_same(a, b, path)
    elif isinstance(expected, dict):
        assert ours.keys() == expected.keys(), path
        for name in expected:
            assert_same(ours[name], expected[name], f"{path}/{name}")
    elif isinstance(expected, np.ndarray) and expected.dtype.hasobject:
        for a, b in zip(ours, expected, strict=True):
            assert (a is None) == (b is None), path
            if b is not None:
                np.testing.assert_array_equal(a, b, err_msg=path)
    else:
        np.testing.assert_array_equal(ours, expected, err_msg=path)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("task", ["Hopper", "Humanoid"])
def test_is_as_many_single_environments(task: str, mode: AutoresetMode) -> None:
    n, limit = 5, 7
    name = f"sapwood/{task}-v0"
    # Some episodes end by themselves, some at the limit.
    options = {"healthy_z_range": (1.24, 1.3)} if task == "Hopper" else {"healthy_z_range": (1.36, 1.5)}
    envs = gymnasium.make_vec(name, num_envs=n, max_episode_steps=limit, autoreset_mode=mode, threads=2, **options)
    assert isinstance(envs, sapwood.gym.SapwoodVectorEnv)
    reference = SyncVectorEnv(
        [lambda: gymnasium.make(name, max_episode_steps=limit, **options) for _ in range(n)], autoreset_mode=mode
    )
    assert envs.metadata["autoreset_mode"] == reference.metadata["autoreset_mode"]
    assert envs.observation_space == reference.observation_space
    assert envs.action_space == reference.action_space
    assert_same(envs.reset(seed=3), reference.reset(seed=3))
    envs.action_space.seed(0)
    count = np.zeros(2)
    for _ in range(25):
        actions = envs.action_space.sample()
        step, expected = envs.step(actions), reference.step(actions)
        assert_same(step, expected)
        count += [step[2].sum(), step[3].sum()]
        ended = step[2] | step[3]
        if mode == AutoresetMode.DISABLED and ended.any():
            with pytest.raises(gymnasium.error.ResetNeeded, match="reset_mask"):
                envs.step(actions)
            again = [{"reset_mask": ended}, {"reset_mask": ended.copy()}]
            observation, info = envs.reset(options=again[0])
            expected_observation, expected_info = reference.reset(options=again[1])
            assert_same(observation, expected_observation)
            assert_same(info, expected_info)
    assert count.all(), count
    # Half of the worlds get seeds of their own.
    seeds = [1, None, 7, None, None]
    assert_same(envs.reset(seed=seeds), reference.reset(seed=seeds))


def test_threads_and_neighbours_do_not_matter() -> None:
    def run(n: int, threads: int) -> Any:
        envs = gymnasium.make_vec("sapwood/Ant-v0", num_envs=n, threads=threads)
        rng = np.random.default_rng(0)
        envs.reset(seed=11)
        return [envs.step(rng.uniform(-1, 1, (16, 8))[:n])[0][:6] for _ in range(20)]

    expected = run(16, 1)
    np.testing.assert_array_equal(run(16, 3), expected)
    np.testing.assert_array_equal(run(6, 1), expected)


def test_without_copies_observations_are_one_array() -> None:
    envs = gymnasium.make_vec("sapwood/Ant-v0", num_envs=3, copy=False)
    first, _ = envs.reset(seed=0)
    shared = np.from_dlpack(first)
    second, *_ = envs.step(np.ones((3, 8), dtype=np.float32))
    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(shared, second)
    copies = gymnasium.make_vec("sapwood/Ant-v0", num_envs=3)
    assert not np.shares_memory(copies.reset()[0], copies.step(np.zeros((3, 8)))[0])


def test_a_world_that_fails_ends_its_episode() -> None:
    envs = gymnasium.make_vec("sapwood/HalfCheetah-v0", num_envs=4)
    envs.reset(seed=0)
    envs.unwrapped.batch.v[2, 4] = np.nan
    with pytest.warns(RuntimeWarning, match="1 of 4 worlds"):
        _, _, terminated, _, info = envs.step(np.zeros((4, 6)))
    np.testing.assert_array_equal(terminated, [False, False, True, False])
    assert "v[4]" in info["simulation_error"][2]
    observation, reward, terminated, *_ = envs.step(np.zeros((4, 6)))
    assert np.isfinite(observation).all()
    assert reward[2] == 0.0
    assert not terminated.any()


def test_environments_pickle() -> None:
    env = ours("Walker2d", healthy_z_range=(0.5, 3.0))
    twin = pickle.loads(pickle.dumps(env))
    np.testing.assert_array_equal(env.reset(seed=4)[0], twin.reset(seed=4)[0])
    np.testing.assert_array_equal(env.step(np.ones(6))[0], twin.step(np.ones(6))[0])


@pytest.mark.parametrize("again", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))])
def test_copies_go_on_from_where_it_is(again: Callable[[Any], Any]) -> None:
    env = ours("Walker2d")
    env.unwrapped.batch.parameters.masses[:] *= 1.5
    env.reset(seed=4)
    for _ in range(5):
        env.step(0.3 * np.ones(6))
    twin = again(env)
    np.testing.assert_array_equal(twin.unwrapped.batch.parameters.masses, env.unwrapped.batch.parameters.masses)
    np.testing.assert_array_equal(twin.unwrapped.state_vector(), env.unwrapped.state_vector())
    for _ in range(3):
        of_env, of_twin = env.step(np.zeros(6)), twin.step(np.zeros(6))
        np.testing.assert_allclose(of_twin[0], of_env[0], rtol=0, atol=1e-9)
        assert of_twin[1] == pytest.approx(of_env[1], abs=1e-9)
    np.testing.assert_array_equal(env.reset()[0], twin.reset()[0])


def test_worlds_are_copied_by_their_state() -> None:
    envs = gymnasium.make_vec("sapwood/Hopper-v0", num_envs=2)
    with pytest.raises(TypeError, match=r"state\(\) gives bytes, and restore\(state\) of another HopperVectorEnv"):
        pickle.dumps(envs)


def test_a_batch_gives_worlds_of_their_own() -> None:
    envs = gymnasium.make_vec("sapwood/Hopper-v0", num_envs=3)
    envs.reset(seed=[0, 0, 0])
    masses = np.asarray(envs.unwrapped.model.body_masses)
    envs.unwrapped.batch.parameters.masses[2] = 2 * masses
    observations = envs.step(np.ones((3, 3)))[0]
    np.testing.assert_array_equal(observations[0], observations[1])
    assert np.abs(observations[2] - observations[0]).max() > 1e-3


@pytest.mark.filterwarnings("ignore:.*render mode")  # Gymnasium has words of its own on it
@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (
            lambda: ours("Ant", forward_weight=1.0),
            TypeError,
            "Ant has no option forward_weight: did you mean 'forward_reward_weight'",
        ),
        (lambda: ours("Ant", xml_file="cat.xml"), FileNotFoundError, "cat.xml"),
        (lambda: ours("Ant", xml_file="hopper.xml"), ValueError, "Ant: the model has .*: expected a free joint first"),
        (
            lambda: ours("Reacher", xml_file="inverted_pendulum.xml"),
            ValueError,
            "Reacher: the model has 2 positions: expected 4",
        ),
        (lambda: ours("Ant", main_body="tail"), ValueError, "main_body is 'tail': expected one of .*torso"),
        (lambda: ours("Ant", main_body=99), ValueError, "no body 99"),
        (lambda: ours("Ant", healthy_z_range=1.0), ValueError, "healthy_z_range"),
        (lambda: ours("Ant", healthy_reward=float("nan")), ValueError, "healthy_reward"),
        (lambda: ours("Ant", frame_skip=0), ValueError, "frame_skip is 0: expected 1 or more"),
        (lambda: ours("Ant", render_mode="depth_array"), ValueError, "render_mode is 'depth_array'"),
        (lambda: gymnasium.make_vec("sapwood/Ant-v0", num_envs=0), ValueError, "n is 0"),
        (lambda: gymnasium.make_vec("sapwood/Ant-v0", max_episode_steps=0), ValueError, "max_episode_steps is 0"),
        (lambda: gymnasium.make_vec("sapwood/Ant-v0").step(np.zeros((1, 8))), gymnasium.error.ResetNeeded, "reset"),
    ],
)
def test_errors_say_what_to_do(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


def test_actions_are_checked() -> None:
    env = ours("Hopper")
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"action has shape \(2,\): expected \(3,\)"):
        env.step(np.zeros(2))
    with pytest.raises(ValueError, match=r"actions\[0, 1\] is NaN"):
        env.step(np.array([0.0, np.nan, 0.0]))
    envs = gymnasium.make_vec("sapwood/Hopper-v0", num_envs=2)
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions has shape \(3, 2\): expected \(2, 3\)"):
        envs.step(np.zeros((3, 2)))
    for mask, error in (
        (np.zeros(2, dtype=bool), ValueError),
        (np.ones(3, dtype=bool), ValueError),
        ([True, True], TypeError),
    ):
        with pytest.raises(error, match="reset_mask"):
            envs.reset(options={"reset_mask": mask})
    with pytest.raises(ValueError, match="seed has 3 entries"):
        envs.reset(seed=[1, 2, 3])


def test_damaged_states_are_refused_and_change_nothing() -> None:
    envs: Any = gymnasium.make_vec("sapwood/Hopper-v0", num_envs=2).unwrapped
    envs.reset(seed=1)
    whole, q = envs.state(), envs.batch.q.copy()
    other = envs.state()
    for k in range(0, len(other), len(other) // 40):
        flipped = bytearray(other)
        flipped[k] ^= 0x55
        for damaged in (other[:k], bytes(flipped)):
            with contextlib.suppress(ValueError):
                envs.restore(damaged)
            np.testing.assert_array_equal(envs.batch.q, q)
    envs.restore(whole)
