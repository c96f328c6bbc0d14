"""Tasks of dm_control's suite judge states as dm_control does."""

from __future__ import annotations

import math
import pickle
import warnings
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
suite = pytest.importorskip("dm_control.suite")
mujoco = pytest.importorskip("mujoco")

import dm_control.suite.quadruped  # noqa: E402
from dm_control.mujoco.wrapper.mjbindings import sizes  # noqa: E402
from gymnasium.utils.env_checker import check_env  # noqa: E402
from gymnasium.vector import AutoresetMode, SyncVectorEnv  # noqa: E402

import sapwood as sw  # noqa: E402
import sapwood.gym  # noqa: E402
from sapwood.gym import SUITE  # noqa: E402

# dm_control names fields that newer versions of MuJoCo do not have.
for struct, kind in (("mjmodel", mujoco.MjModel), ("mjdata", mujoco.MjData)):
    for field in [field for field in sizes.array_sizes[struct] if not hasattr(kind, field)]:
        del sizes.array_sizes[struct][field]

# A new terrain would be drawn by OpenGL, which there need not be.
dm_control.suite.quadruped.Physics.contexts = None

NAMES = sorted(SUITE)


def ours(task: str, **options: Any) -> Any:
    return gymnasium.make(f"sapwood/dm-{task}-v0", **options).unwrapped


def goal_of(domain: str, physics: Any) -> Any:
    """Where dm_control has put the target."""
    model = physics.named.model
    if domain == "point_mass":
        return physics.model.wrap_prm[:4]
    if domain == "quadruped":
        return np.zeros(900)  # bumps: sensors alone see them
    if domain in ("reacher", "swimmer"):
        return model.geom_pos["target", :2]
    if domain == "fish":
        return model.geom_pos["target"]
    if domain == "finger":
        return model.site_pos["target", [0, 2]]
    if domain == "stacker":
        return model.body_pos["target", [0, 2]]
    name = next(name for name in ("target_ball", "target_peg") if name in physics.named.data.xpos.axes.row.names)
    w, y = model.body_quat[name, [0, 2]]
    return [*model.body_pos[name, [0, 2]], 2 * math.atan2(y, w)]


@pytest.mark.parametrize("task", NAMES)
def test_judges_as_dm_control_does(task: str) -> None:
    domain, name = task.split("-")
    reference = suite.load(domain, name, task_kwargs={"random": 1})
    env = ours(task)
    spec, physics = reference.action_spec(), reference.physics
    assert env.dt == pytest.approx(reference.control_timestep(), rel=1e-12)
    # What has no limits has those of 1e10 in dm_control.
    low, high = (np.where(np.abs(end) >= 1e10, np.inf * end, end) for end in (spec.minimum, spec.maximum))
    np.testing.assert_array_equal(env.action_space.low, low.astype(np.float32))
    np.testing.assert_array_equal(env.action_space.high, high.astype(np.float32))
    widths = {name: math.prod(part.shape) for name, part in reference.observation_spec().items()}
    parts = env.observation_parts
    assert {name: part.stop - part.start for name, part in parts.items()} == widths
    assert list(parts) == list(widths)
    episodes = env._worlds.episodes
    has_goal = episodes.next_goal.shape[1] > 0
    rng = np.random.default_rng(2)
    rewards = []
    for episode in range(2):
        now = reference.reset()
        for step in range(4):
            goals = [goal_of(domain, physics)] if has_goal else None
            q, v, ctrl = physics.data.qpos, physics.data.qvel, physics.data.ctrl
            own = {"act": [physics.data.act], "sensordata": [physics.data.sensordata]}
            if env.model.nsensordata != physics.model.nsensordata:
                own.pop("sensordata")  # sensors that observations here do without
            observations, reward, _, _ = episodes.evaluate([q], [q], [v], [ctrl], goals, **own)
            for part, where in parts.items():
                if part == "touch":
                    continue  # forces of contact are another engine's: see below
                expected = np.ravel(now.observation[part])
                np.testing.assert_allclose(observations[0][where], expected, rtol=1e-9, atol=1e-9, err_msg=part)
            if step > 0:
                np.testing.assert_allclose(reward[0], now.reward, rtol=1e-9, atol=1e-9)
                rewards.append(now.reward)
            action = rng.uniform(np.maximum(spec.minimum, -10.0), np.minimum(spec.maximum, 10.0))
            for _ in range(1 + 5 * episode):
                now = reference.step(action)


@pytest.mark.parametrize("task", ["quadruped-walk", "dog-walk"])
def test_observes_its_own_sensors_and_activations(task: str) -> None:
    """After resets, steps, and resets within a step."""
    envs = gymnasium.make_vec(f"sapwood/dm-{task}-v0", num_envs=2, max_episode_steps=2, autoreset_mode="SameStep")
    episodes, batch, parts = envs.unwrapped._worlds.episodes, envs.unwrapped.batch, envs.unwrapped._worlds.parts()
    observations, _ = envs.reset(seed=3)
    actions = np.zeros(envs.action_space.shape)
    for _ in range(3):
        act = [batch.simulation(i).act for i in range(2)]
        expected, *_ = episodes.evaluate(batch.q, batch.q, batch.v, actions, act=act, sensordata=batch.sensordata)
        np.testing.assert_allclose(observations, expected, rtol=1e-12, atol=1e-12)
        if task == "dog-walk":
            state = observations[:, parts["actuator_state"]]
            low, high = batch.model.ctrl_range.T
            assert ((low <= state) & (state <= high)).all()
            assert np.ptp(state[0] - state[1]) > 0.0
        actions = envs.action_space.sample()
        observations, *_ = envs.step(actions)


NEAR = {  # Positions near what is rewarded, by joints; all else is as the model has it.
    "acrobot": {},
    "cartpole": {},
    "humanoid": {},
    "humanoid_CMU": {},
    "walker": {},
    "hopper": {},
    "pendulum": {"hinge": 0.1},
    "point_mass": {"root_x": 0.01},
}


@pytest.mark.parametrize("task", [name for name in NAMES if name.split("-")[0] in NEAR])
def test_rewards_are_those_of_dm_control_where_there_are_some(task: str) -> None:
    domain, name = task.split("-")
    reference = suite.load(domain, name, task_kwargs={"random": 1})
    physics, rng = reference.physics, np.random.default_rng(3)
    episodes = ours(task)._worlds.episodes
    rewards = []
    for scale in (0.0, 0.02, 0.1, 0.5):
        reference.reset()
        with physics.reset_context():
            for joint, position in NEAR[domain].items():
                physics.named.data.qpos[joint] = position
            physics.data.qvel[:] = scale * 10 * rng.standard_normal(physics.model.nv)
        physics.data.ctrl[:] = scale * rng.uniform(-1, 1, size=physics.model.nu)
        q, v, ctrl = physics.data.qpos, physics.data.qvel, physics.data.ctrl
        _, reward, _, _ = episodes.evaluate([q], [q], [v], [ctrl])
        expected = reference.task.get_reward(physics)
        np.testing.assert_allclose(reward[0], expected, rtol=1e-9, atol=1e-9)
        rewards.append(expected)
    assert max(rewards) > 0.0


def test_lqr_ends_at_rest() -> None:
    domain = suite.load("lqr", "lqr_2_1")
    episodes = ours("lqr-lqr_2_1")._worlds.episodes
    for distance, ends in ((0.99e-6, True), (1.01e-6, False)):
        q, v = np.zeros(2), np.zeros(2)
        q[1], v[0] = distance * 0.6, distance * 0.8
        with domain.physics.reset_context():
            domain.physics.data.qpos[:], domain.physics.data.qvel[:] = q, v
        assert (domain.task.get_termination(domain.physics) == 0.0) == ends
        assert episodes.evaluate([q], [q], [v], [[0.0]])[2] == [ends]


@pytest.mark.parametrize(
    "task", ["finger-turn_hard", "fish-swim", "manipulator-bring_peg", "reacher-hard", "swimmer-swimmer6"]
)
def test_rewards_at_the_goal_are_those_of_dm_control(task: str) -> None:
    domain, name = task.split("-")
    reference = suite.load(domain, name, task_kwargs={"random": 1})
    physics, rng = reference.physics, np.random.default_rng(3)
    episodes = ours(task)._worlds.episodes
    reference.reset()
    model, data, rewards = physics.named.model, physics.named.data, []
    for distance in (0.0, 0.005, 0.02, 0.08):
        offset = distance * rng.standard_normal(2)
        if domain == "finger":
            model.site_pos["target", [0, 2]] = data.site_xpos["tip", [0, 2]] + offset
        elif domain == "manipulator":
            x, z = data.xpos["peg", [0, 2]] + 0.1 * offset
            model.body_pos["target_peg", [0, 2]] = x, z
            model.body_quat["target_peg"] = data.xquat["peg"]
        else:
            tip = {"fish": "mouth", "reacher": "finger", "swimmer": "nose"}[domain]
            model.geom_pos["target", :2] = data.geom_xpos[tip, :2] + offset
            if domain == "fish":
                model.geom_pos["target", 2] = data.geom_xpos[tip, 2]
        physics.forward()
        q, v, ctrl = physics.data.qpos, physics.data.qvel, physics.data.ctrl
        _, reward, _, _ = episodes.evaluate([q], [q], [v], [ctrl], [goal_of(domain, physics)])
        expected = reference.task.get_reward(physics)
        np.testing.assert_allclose(reward[0], expected, rtol=1e-9, atol=1e-9)
        rewards.append(expected)
    assert rewards[0] > 0.8
    assert rewards[-1] < rewards[0]


# Dogs differ in a speed.
@pytest.mark.parametrize("task", [task for task in NAMES if task not in ("dog-trot", "dog-walk")])
def test_is_an_environment(task: str) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # spaces without bounds
        check_env(ours(task), skip_render_check=True)


@pytest.mark.parametrize("task", ["cheetah-run", "finger-turn_easy", "point_mass-hard", "reacher-easy"])
def test_is_as_many_single_environments(task: str) -> None:
    name, n = f"sapwood/dm-{task}-v0", 3
    mode = AutoresetMode.SAME_STEP
    envs = gymnasium.make_vec(name, num_envs=n, max_episode_steps=4, autoreset_mode=mode, threads=2)
    assert isinstance(envs, sapwood.gym.SuiteVectorEnv)
    reference = SyncVectorEnv(
        [lambda: gymnasium.make(name, max_episode_steps=4) for _ in range(n)], autoreset_mode=mode
    )
    np.testing.assert_array_equal(envs.reset(seed=3)[0], reference.reset(seed=3)[0])
    envs.action_space.seed(0)
    for _ in range(10):
        actions = envs.action_space.sample()
        step, expected = envs.step(actions), reference.step(actions)
        for mine, its in zip(step[:4], expected[:4], strict=True):
            np.testing.assert_array_equal(mine, its)


def reset_of(task: str) -> tuple[Any, Any, sw.Simulation]:
    """dm_control's physics after a reset, its goal, and a simulation of such an episode in the same state."""
    domain, name = task.split("-")
    physics = (reference := suite.load(domain, name, task_kwargs={"random": 7})).physics
    reference.reset()
    bumps = np.random.RandomState(7).uniform(0.15, 1.0, (30, 30))
    goal = np.ravel(bumps) if task == "quadruped-escape" else goal_of(domain, physics)
    simulation = sw.Simulation(ours(task)._worlds.episodes.model_of(goal))
    simulation.q, simulation.v = physics.data.qpos, physics.data.qvel
    return physics, goal, simulation


def test_models_of_episodes_are_those_of_dm_control() -> None:
    physics, _, simulation = reset_of("quadruped-escape")
    model = physics.model
    finders = [
        model.id2name(k, "sensor") for k in np.flatnonzero(model.sensor_type == mujoco.mjtSensor.mjSENS_RANGEFINDER)
    ]
    shown = np.concatenate([simulation.sensor(name).value for name in finders])
    # MuJoCo has heights of up to 5 m in 32 bits.
    np.testing.assert_allclose(shown, physics.named.data.sensordata[finders], atol=1e-5)
    assert np.ptp(shown) > 0.1

    for task, parts in (("manipulator-insert_ball", "cup"), ("manipulator-insert_peg", "slot")):
        physics, goal, simulation = reset_of(task)
        np.testing.assert_allclose(simulation.body(parts).position[[0, 2]], goal[:2], atol=1e-12)
        names = [name for name in physics.named.data.geom_xpos.axes.row.names if name.startswith(f"{parts}_")]
        assert len(names) > 2
        for name in names:
            np.testing.assert_allclose(simulation.geom(name).position, physics.named.data.geom_xpos[name], atol=1e-9)

    physics, _, simulation = reset_of("point_mass-hard")
    physics.data.qpos[:] = simulation.q = np.zeros(2)
    physics.data.ctrl[:] = simulation.ctrl = np.array([0.7, -0.4])
    physics.forward()
    simulation.step()
    # With mass 0.3 kg and damping 1 N·s/m, implicit, from rest: v = h F / (m + h c).
    force, h = physics.data.qfrc_actuator, simulation.timestep
    np.testing.assert_allclose(simulation.v, h * force / (0.3 + h * 1.0), rtol=0.04)
    direction = simulation.v / np.linalg.norm(simulation.v)
    np.testing.assert_allclose(direction, force / np.linalg.norm(force), atol=1e-9)


def test_worlds_have_the_models_of_their_episodes() -> None:
    """After resets, in a step and by a state, in which each goes on with its own."""
    name = "sapwood/dm-point_mass-hard-v0"
    envs, twin = (gymnasium.make_vec(name, num_envs=2, max_episode_steps=3).unwrapped for _ in range(2))
    envs.reset(seed=5)
    twin.reset(seed=6)
    goals, actions = [], np.ones((2, 2))
    for step in range(8):
        goals.append(envs._worlds.episodes.goal)
        v = envs.batch.v.copy()
        if step == 5:
            envs.restore(state := envs.state())
            twin.restore(state)
        observations, *_ = envs.step(actions)
        if step >= 5:
            np.testing.assert_array_equal(twin.step(actions)[0], observations)
        if step % 4 < 3:
            pull = envs.batch.v - v * np.exp(-envs.dt / 0.3)
            expected = np.einsum("nki,nk->ni", goals[-1].reshape(2, 2, 2), actions)
            cosines = np.einsum("ni,ni->n", pull, expected) / np.linalg.norm(pull, axis=1)
            np.testing.assert_allclose(cosines, np.linalg.norm(expected, axis=1), rtol=0.05)
    assert np.ptp([goal[0, 0] for goal in goals]) > 0.1


def test_touch_is_what_the_sensors_show() -> None:
    env = ours("hopper-stand")
    simulation = sw.Simulation(env.model)
    q = np.zeros(7)
    q[5] = math.radians(5.0)
    observation = env.set_state(q, np.zeros(7))
    touch = env.observation_parts["touch"]
    assert (observation[touch] == 0.0).all()
    simulation.q = q
    touched = 0
    for _ in range(60):
        observation, *_ = env.step(np.zeros(4))
        simulation.step(env.frame_skip)
        expected = [simulation.sensor(name).value[0] for name in ("touch_toe", "touch_heel")]
        np.testing.assert_allclose(observation[touch], np.log1p(expected), rtol=1e-6, atol=1e-6)
        touched += int(max(expected) > 1.0)
    assert touched > 10


def test_beginnings_are_drawn_as_there() -> None:
    def states(make: Any, count: int) -> Any:
        return np.array([make(seed) for seed in range(count)])

    env = ours("walker-walk")
    reference = suite.load("walker", "walk", task_kwargs={"random": 0})
    mine = states(lambda seed: (env.reset(seed=seed), env.batch.q[0].copy())[1], 400)
    its = states(lambda _: (reference.reset(), reference.physics.data.qpos.copy())[1], 400)
    # Standard errors of means and deviations of 400 uniform draws are below 5 % of the deviation.
    scale = its.std(axis=0) + 1e-12
    np.testing.assert_allclose(mine.mean(axis=0) / scale, its.mean(axis=0) / scale, atol=0.3)
    np.testing.assert_allclose(mine.std(axis=0) / scale, its.std(axis=0) / scale, atol=0.2)


def test_pictures_show_the_goal() -> None:
    env = ours("reacher-easy", render_mode="rgb_array", width=96, height=96)
    pictures = []
    for goal in ((0.1, 0.1), (-0.1, -0.1)):
        env.reset(seed=0)
        env._worlds.episodes.next_goal[0] = goal
        env._worlds.episodes.reset(np.array([True]))
        np.testing.assert_array_equal(env.goal, goal)
        pictures.append(env.render())
    assert (pictures[0] != pictures[1]).any()


def test_environments_pickle_and_errors_say_what_to_do(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    env = ours("reacher-easy")
    twin = pickle.loads(pickle.dumps(env))
    np.testing.assert_array_equal(env.reset(seed=4)[0], twin.reset(seed=4)[0])
    np.testing.assert_array_equal(env.step(np.ones(2))[0], twin.step(np.ones(2))[0])
    with pytest.raises(ValueError, match="task is 'dog-sit': expected one of .*walker-run"):
        sapwood.gym.SuiteEnv("dog-sit")
    with pytest.raises(TypeError, match="cheetah-run has no option noise: expected some of .*frame_skip"):
        ours("cheetah-run", noise=1.0)
    path = tmp_path / "ball.xml"
    path.write_text("<mujoco><worldbody><body><joint/><geom size='.1'/></body></worldbody></mujoco>")
    with pytest.raises(ValueError, match=r'reacher-easy: the model has no geom "finger": expected that of the task'):
        ours("reacher-easy", xml_file=str(path))
    monkeypatch.setattr("sapwood.gym._suite.find_spec", lambda _: None)
    with pytest.raises(ModuleNotFoundError, match="pip install dm_control"):
        ours("reacher-easy")


def test_stable_baselines_gets_what_it_wants() -> None:
    pytest.importorskip("stable_baselines3")
    from sapwood.gym.sb3 import VecEnv, make_vec_env

    worlds = make_vec_env("sapwood/dm-pendulum-swingup-v0", 3, max_episode_steps=5)
    worlds.seed(3)
    first = worlds.reset()
    expected, _ = gymnasium.make_vec("sapwood/dm-pendulum-swingup-v0", num_envs=3).reset(seed=3)
    np.testing.assert_array_equal(first, expected)
    for step in range(1, 11):
        observations, rewards, done, infos = worlds.step(np.zeros((3, 1), dtype=np.float32))
        assert observations.shape == (3, 3)
        assert rewards.shape == done.shape == (3,)
        assert done.all() == (step % 5 == 0)
        for info in infos:
            assert info.get("TimeLimit.truncated", False) == (step % 5 == 0)
            assert ("terminal_observation" in info) == (step % 5 == 0)
    assert worlds.env_is_wrapped(object) == [False] * 3
    with pytest.raises(ValueError, match="expected AutoresetMode.SAME_STEP"):
        VecEnv(gymnasium.make_vec("sapwood/dm-pendulum-swingup-v0", num_envs=3))
