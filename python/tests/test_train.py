"""The command that trains policies: it learns, repeats itself, goes on after a kill, and does not depend on workers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'sapwood[train]'")

PENDULUM = ["ppo", "--env", "sapwood/InvertedPendulum-v0", "--num-envs", "16", "--seconds", "300"]
# Every kind of state: means that move, a schedule with memory, episodes that go on over updates, two shards.
SHORT = [*PENDULUM, "--samples", "4096", "--num-steps", "32", "--shards", "2", "--minibatch", "128", "--epochs", "2"]
ADAPTIVE = ["--schedule", "adaptive", "--seed", "3"]


def command(out: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "sapwood.train", *options, "--out", str(out)]


def run(out: Path, *options: str) -> dict[str, Any]:
    done = subprocess.run(command(out, *options), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads((out / "result.json").read_text())
    return result


def bits(result: dict[str, Any]) -> list[dict[str, float]]:
    """All of a curve that is no time: texts of JSON give numbers back bit for bit."""
    return [{name: value for name, value in row.items() if "seconds" not in name} for row in result["curve"]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A training without interruption, in one process."""
    return run(tmp_path_factory.mktemp("whole"), *SHORT, *ADAPTIVE)


def test_ppo_learns_to_balance(tmp_path: Path) -> None:
    options = ["--samples", "32768", "--num-steps", "128", "--minibatch", "256"]
    result = run(tmp_path, *PENDULUM, *options)
    assert result["samples"] == 32768
    first = next(row["return"] for row in result["curve"] if row["return"] is not None)
    # A policy at random balances for a few steps, the limit is 1000.
    assert first < 30.0
    assert result["return"] > 150.0


def test_a_policy_plays_without_torch(whole: dict[str, Any], tmp_path: Path) -> None:
    run(tmp_path, *SHORT, *ADAPTIVE, "--samples", "512")
    program = """
import sys
sys.modules["torch"] = None
import numpy as np
from sapwood.train import load_policy
policy = load_policy(sys.argv[1])
envs = policy.make_env(num_envs=3)
observations, _ = envs.reset(seed=0)
actions = policy(observations)
assert actions.shape == (3, 1)
np.testing.assert_allclose(policy(observations[1]), actions[1], rtol=1e-5)
spread = np.std([policy.sample(observations, np.random.default_rng(k)) - actions for k in range(200)])
print(spread)
"""
    path = str(tmp_path / "policy.npz")
    done = subprocess.run([sys.executable, "-c", program, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    # The standard error of the deviation of 600 draws is 3 %; the network's std began at 1.
    assert float(done.stdout) == pytest.approx(1.0, rel=0.15)


def test_a_killed_training_goes_on_with_the_same_bits(whole: dict[str, Any], tmp_path: Path) -> None:
    # It would not end before it is killed.
    endless = command(tmp_path, *SHORT, *ADAPTIVE, "--samples", "1000000000", "--checkpoint-every", "0.01")
    checkpoint = tmp_path / "checkpoint.pt"
    with subprocess.Popen(endless, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 60.0
        while not checkpoint.is_file() and time.monotonic() < deadline:
            time.sleep(0.001)
        process.kill()
    assert not (tmp_path / "result.json").exists()
    begun = torch.load(checkpoint, weights_only=True)["counts"][0]
    assert begun < len(whole["curve"])
    assert bits(run(tmp_path, *SHORT, *ADAPTIVE, "--resume")) == bits(whole)


def test_bad_settings_are_errors(tmp_path: Path) -> None:
    def error(*options: str) -> str:
        done = subprocess.run(command(tmp_path, *options), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        return done.stderr

    assert "num_envs is 16: expected a multiple of shards, 3" in error(*PENDULUM, "--shards", "3")
    assert "there is no" in error(*PENDULUM, "--resume")


def test_a_state_of_environments_goes_on() -> None:
    import sapwood.gym  # noqa: F401

    def make(name: str, n: int) -> Any:
        mode = gymnasium.vector.AutoresetMode.SAME_STEP
        made = gymnasium.make_vec(f"sapwood/{name}-v0", num_envs=n, max_episode_steps=8, autoreset_mode=mode)
        return made.unwrapped

    # Reacher has goals, Swimmer's worlds are stepped one by one, Ant has contact.
    for name in ("Reacher", "Swimmer", "Ant"):
        first, second = make(name, 3), make(name, 3)
        first.reset(seed=5)
        rng = np.random.default_rng(1)
        actions = rng.uniform(-0.3, 0.3, (12, *first.action_space.shape))
        for k in range(5):
            first.step(actions[k])
        state = first.state()
        ours, _ = first.restore(state)
        theirs, _ = second.restore(state)
        np.testing.assert_array_equal(ours, theirs)
        for k in range(5, 12):
            for mine, its in zip(first.step(actions[k])[:4], second.step(actions[k])[:4], strict=True):
                np.testing.assert_array_equal(mine, its)
        with pytest.raises(ValueError, match="3 worlds: expected 2"):
            make(name, 2).restore(state)


def test_a_training_on_the_gpus_kernels_repeats_itself(tmp_path: Path) -> None:
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler for the kernels")
    options = [*SHORT, *ADAPTIVE, "--device", "host"]
    one, other = (run(tmp_path / name, *options) for name in ("one", "other"))
    assert bits(one) == bits(other)
    assert one["samples"] == 4096
    first, last = (next(row["return"] for row in rows if row["return"]) for rows in (one["curve"], one["curve"][::-1]))
    assert last > first


def test_an_imitation_on_the_gpus_kernels_repeats_itself(tmp_path: Path) -> None:
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler for the kernels")
    sizes = ["--num-envs", "8", "--num-steps", "8", "--minibatch", "64", "--samples", "192", "--episodes", "2"]
    options = ["imitation", *sizes, "--hidden", "16", "--shards", "1", "--device", "host"]
    one, other = (run(tmp_path / name, *options) for name in ("one", "other"))
    assert bits(one) == bits(other)
    assert one["samples"] == 192
    # By the motion's lead the walk is near the motion before anything is learnt.
    assert one["curve"][0]["reward"] > 0.5
    assert "<html" in (tmp_path / "one" / "replay.html").read_text()[:2000].lower()


def test_what_is_not_on_a_gpu_says_so(tmp_path: Path) -> None:
    cases = [
        ("sapwood/InvertedPendulum-v0", "gpu", 'expected "cpu", "cuda"'),
        ("sapwood/Swimmer-v0", "host", "device='cpu' does"),
        ("Pendulum-v1", "host", "expected a name with sapwood/"),
        (None, "gpu", 'expected "cpu", "cuda"'),
    ]
    for name, device, words in cases:
        options = [*(["imitation"] if name is None else [*SHORT, "--env", name]), "--device", device]
        done = subprocess.run(command(tmp_path, *options), capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert words in done.stderr
        assert "Traceback" not in done.stderr


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install 'sapwood[ray]'")
def test_rays_workers_have_the_bits_of_one_process(whole: dict[str, Any], tmp_path: Path) -> None:
    import ray

    from sapwood.train.ray_workers import RayWorkers
    from sapwood.train.run import Training
    from sapwood.train.settings import Settings
    from sapwood.train.tasks import Registered

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    given: dict[str, Any] = {
        "num_envs": 16,
        "num_steps": 32,
        "shards": 2,
        "minibatch": 128,
        "epochs": 2,
        "samples": 4096,
        "seed": 3,
    }
    try:
        for workers in (1, 2):
            settings = Settings(**given, workers=workers, schedule="adaptive")
            training = Training(Registered("sapwood/InvertedPendulum-v0"), settings, tmp_path)
            training.begin()
            assert isinstance(training.collector, RayWorkers)
            while training.done < 1.0:
                if workers == 2 and training.iteration in (2, 5):
                    # In the middle of a rollout or before it, as chance has it.
                    ray.kill(training.collector.workers[training.iteration % 2])
                training.improve()
            assert training.collector.losses == (2 if workers == 2 else 0)
            training.collector.close()
            assert bits({"curve": training.curve}) == bits(whole)
    finally:
        ray.shutdown()


@pytest.mark.skipif(find_spec("ray") is None, reason="ray is not installed: pip install 'sapwood[ray]'")
def test_rays_workers_have_the_gpus_kernels(tmp_path: Path) -> None:
    if shutil.which(os.environ.get("CXX", "c++")) is None:
        pytest.skip("no C++ compiler for the kernels")
    options = [*SHORT, *ADAPTIVE, "--samples", "2048", "--device", "host"]
    alone, workers = (run(tmp_path / n, *options, "--workers", n) for n in ("0", "2"))
    assert bits(alone) == bits(workers)
