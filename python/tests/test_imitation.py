"""Characters imitate motions: the environment repeats itself and goes on, and the trainer leaves what it says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402

from sapwood.gym import ImitationVectorEnv  # noqa: E402

SAME_STEP = gymnasium.vector.AutoresetMode.SAME_STEP


def make(n: int = 5, **options: Any) -> ImitationVectorEnv:
    return ImitationVectorEnv(num_envs=n, autoreset_mode=SAME_STEP, **options)


def actions(env: ImitationVectorEnv, steps: int) -> Any:
    noise = np.random.default_rng(3).normal(scale=0.2, size=(steps, env.num_envs, len(env.mean_action)))
    return env.mean_action + noise


@pytest.mark.parametrize("spd", ["maba", "sparse"])
def test_threads_and_states_leave_the_bits(spd: str) -> None:
    one, two = make(threads=1, spd=spd, observe_root=True), make(threads=2, spd=spd, observe_root=True)
    for env in (one, two):
        env.reset(seed=7)
    given, ended = actions(one, 40), 0
    for k in range(40):
        if k == 20:
            # Both go on from the state of the first.
            state = one.state()
            np.testing.assert_array_equal(one.restore(state)[0], two.restore(state)[0])
        ours, theirs = one.step(given[k]), two.step(given[k])
        for mine, its in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(mine, its)
        ended += int(ours[2].sum())
        assert (ours[1] >= 0.0).all()
        assert (ours[1] <= 1.0).all()
    # Random targets make it fall, in all worlds within a second.
    assert ended >= 5
    with pytest.raises(ValueError, match="5 worlds: expected 4"):
        make(4, spd=spd).restore(state)


@pytest.mark.parametrize(("character", "clip"), [("humanoid", "walk"), ("dog", "trot")])
def test_it_is_seen_where_the_motion_is(character: str, clip: str) -> None:
    env = make(16, character=character, clip=clip, action="residual", observe_root=True, early_termination=False)
    seen, _ = env.reset(seed=0)
    where = env.observation_parts["reference_root"]
    # Every episode begins on the motion: its root is here, and has the same heading.
    np.testing.assert_allclose(seen[:, where], np.tile([0.0, 0.0, 1.0, 0.0], (16, 1)), atol=1e-9)
    for _ in range(15):
        seen, *_ = env.step(np.zeros((16, len(env.mean_action))))
    for world in range(16):
        time, *offset = env.episodes.motion_time[world]
        reference, q = env.episodes.reference(float(time)), env.batch.q[world]
        away = reference[:2] + offset - q[:2]
        assert np.linalg.norm(seen[world, where][:2]) == pytest.approx(np.linalg.norm(away), abs=1e-9)
    assert np.abs(seen[:, where][:, :2]).max() > 0.01


def test_it_is_in_the_registry_and_ends_are_in_info() -> None:
    check_env(gymnasium.make("sapwood/Imitation-v0", character="dog", clip="trot").unwrapped, skip_render_check=True)
    options = {"clip": "run", "action": "lead", "max_episode_steps": 7, "reference_state_init": False}
    envs = gymnasium.make_vec("sapwood/Imitation-v0", num_envs=3, autoreset_mode=SAME_STEP, **options)
    alone = gymnasium.make("sapwood/Imitation-v0", **options)
    np.testing.assert_array_equal(envs.reset(seed=4)[0][0], alone.reset(seed=4)[0])
    action, total = 0.05 * np.ones(envs.single_action_space.shape, dtype=np.float32), np.zeros(3)
    for step in range(7):
        seen, reward, _, truncated, infos = envs.step(np.tile(action, (3, 1)))
        _, its_reward, *_, its_info = alone.step(action)
        # A batch of one world has no lanes: equal to round-off.
        np.testing.assert_allclose(reward, its_reward, rtol=1e-9)
        total += reward
        assert truncated.all() == (step == 6) == ("final_info" in infos)
    last = infos["final_info"]
    np.testing.assert_allclose(last["episode_return"], total, rtol=1e-12)
    np.testing.assert_allclose(last["normalized_return"], total / 7, rtol=1e-12)
    assert its_info["episode_return"] == pytest.approx(total[0], rel=1e-9)
    # Info itself is of the episode that begins, as the observation.
    assert not infos["_episode_return"].any()
    assert np.abs(np.stack(infos["final_obs"]) - seen).max() > 0.1


def test_bad_options_are_errors() -> None:
    with pytest.raises(ValueError, match="maba"):
        make(spd="maab")
    with pytest.raises(ValueError, match="trot"):
        make(clip="trto")
    with pytest.raises(ValueError, match="control_hz|whole number"):
        make(physics_hz=100.0)
    with pytest.raises(ValueError, match="seed has 2 entries: expected one number, or 5"):
        make().reset(seed=[1, 2])


def test_a_training_leaves_policy_and_replay(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'sapwood[train]'")
    sizes = ["--num-envs", "8", "--num-steps", "8", "--minibatch", "64", "--samples", "128", "--episodes", "2"]
    command = [sys.executable, "-m", "sapwood.train", "imitation", "--out", str(tmp_path), *sizes, "--hidden", "16"]
    done = subprocess.run([*command, "--spd", "dense"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["samples"] == 128
    assert 0.0 < result["return"] < 0.2
    assert "<html" in (tmp_path / "replay.html").read_text()[:2000].lower()

    program = """
import sys
sys.modules["torch"] = None
from sapwood.train import load_policy
policy = load_policy(sys.argv[1])
env = policy.make_env(num_envs=2, reference_state_init=False)
observations, _ = env.reset(seed=0)
returns = 0.0
for _ in range(600):
    observations, reward, terminated, *_ = env.step(policy(observations))
    returns += reward[0]
    if terminated[0]:
        break
print(returns / 600)
"""
    path = str(tmp_path / "policy.npz")
    played = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert played.returncode == 0, played.stderr
    # The same policy in the same world as in the training's judgement, without torch.
    assert float(played.stdout) == pytest.approx(result["return"], rel=1e-9)


def test_curves_of_methods_are_those_of_the_trainer(tmp_path: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed: pip install 'sapwood[train]'")
    sizes = ["--num-envs", "8", "--shards", "1", "--num-steps", "8", "--minibatch", "64", "--samples", "128"]
    sizes += ["--episodes", "1", "--hidden", "16", "--physics-hz", "60"]

    def train(algorithm: str, out: Path, *options: str) -> dict[str, Any]:
        command = [sys.executable, "-m", "sapwood.train", algorithm, "--out", str(out), *sizes, *options]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        result: dict[str, Any] = json.loads((out / "result.json").read_text())
        return result

    asked = ["--spd", "maba", "sparse", "--judgements", "2"]
    both = train("compare", tmp_path, *asked, "--seeds", "3", "5")["methods"]
    alone = train("imitation", tmp_path / "alone", "--spd", "sparse", "--seed", "5")
    assert both["sparse"]["samples"] == [64, 128]
    of_seed_5 = json.loads((tmp_path / "sparse-5" / "result.json").read_text())
    assert of_seed_5["return_sampled"] == alone["return_sampled"]
    returns = both["sparse"]["return"]
    assert returns["low"][1] <= alone["return"] <= returns["high"][1]
    assert returns["low"][1] < returns["high"][1]
    assert both["maba"]["return"]["mean"] != returns["mean"]
    picture = (tmp_path / "curves.svg").read_text()
    # Three panels, each with a band for each method.
    assert picture.count("fill-opacity") == 6

    # What has ended is not made again, and one more seed is all that is new.
    before = (tmp_path / "maba-3" / "result.json").stat().st_mtime_ns
    train("compare", tmp_path, *asked, "--seeds", "3", "--resume")
    assert (tmp_path / "maba-3" / "result.json").stat().st_mtime_ns == before
