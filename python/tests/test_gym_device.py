"""Environments on a GPU do what those on the processor do: here on its host back end, by NumPy and by PyTorch."""

from __future__ import annotations

import io
import os
import shutil
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
if shutil.which(os.environ.get("CXX", "c++")) is None:
    pytest.skip("no C++ compiler for the kernels", allow_module_level=True)

from device_pairs import MODULES, Pair  # noqa: E402
from gymnasium.error import ResetNeeded  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import sapwood as sw  # noqa: E402
from sapwood.gym import DeviceVectorEnv  # noqa: E402

WITHOUT_FORCES: dict[str, dict[str, Any]] = {
    "Ant": {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0},
    "Humanoid": {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0},
    "HumanoidStandup": {"include_cfrc_ext_in_observation": False, "impact_cost_weight": 0.0},
}
TASKS = [
    "Ant",
    "HalfCheetah",
    "Hopper",
    "Humanoid",
    "HumanoidStandup",
    "InvertedPendulum",
    "Pusher",
    "Reacher",
    "Walker2d",
]
ROWS = {"HumanoidStandup": 60}
"""Of what begins on its back the device has no room for all contacts by default, and counts such steps."""


def make(task: str, n: int = 3, **options: Any) -> Any:
    envs: Any = gymnasium.make_vec(f"sapwood/{task}-v0", num_envs=n, **WITHOUT_FORCES.get(task, {}), **options)
    return envs


@pytest.mark.parametrize("module", MODULES, indirect=True)
@pytest.mark.parametrize("mode", list(AutoresetMode))
@pytest.mark.parametrize("task", TASKS)
def test_is_the_environment_of_the_processor(task: str, mode: AutoresetMode, module: str) -> None:
    options: dict[str, Any] = {"autoreset_mode": mode, "max_episode_steps": 20}
    ours = make(task, device="host", precision="f64", rows=ROWS.get(task), **options)
    pair = Pair(ours, make(task, **options), mode)
    assert isinstance(pair.ours, DeviceVectorEnv)
    assert pair.ours.single_action_space == pair.theirs.single_action_space
    assert pair.ours.single_observation_space.shape == pair.theirs.single_observation_space.shape
    pair.reset(seed=3)
    rng = np.random.default_rng(0)
    for _ in range(45):
        pair.step(rng.uniform(-0.4, 0.4, pair.theirs.action_space.shape).astype(np.float32))
    assert pair.ends >= 2 * pair.theirs.num_envs
    assert pair.compared > 0.8 * pair.steps
    observation, *_ = pair.ours.step(np.zeros(pair.theirs.action_space.shape))
    assert type(observation).__module__ == module


@pytest.mark.parametrize("task", ["Ant", "HalfCheetah", "Humanoid"])
def test_steps_of_32_bits_are_near(task: str) -> None:
    """Steps from the same states, without a warm start: to 1e-3 of the change of velocity in 99 % of them.

    Friction has the regularisation that 32 bits have at least.
    """
    lead = make(task, 64).unwrapped.batch
    theirs, ours = sw.Batch(lead.model, 64, sigma=1e-3), make(task, 64, device="host").unwrapped.batch
    assert ours.precision == "f32"
    rng = np.random.default_rng(0)
    lead.v[:] = rng.uniform(-1, 1, lead.v.shape)
    misses = []
    for _ in range(20):
        lead.ctrl[:] = rng.uniform(-0.4, 0.4, lead.ctrl.shape)
        lead.step(12)
        for batch in (theirs, ours):
            batch.reset(states=(lead.q, lead.v))
            batch.ctrl = np.array(lead.ctrl)
            batch.step()
        error = np.linalg.norm(ours.v.numpy() - theirs.v, axis=1)
        misses.append(error > 1e-3 * np.linalg.norm(theirs.v - lead.v, axis=1))
    assert np.mean(misses) <= 0.01


def test_starts_come_again_after_those_drawn_ahead(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sapwood.gym._device_episodes.STARTS", 1)
    envs = make("InvertedPendulum", 2, device="host", max_episode_steps=1, autoreset_mode=AutoresetMode.SAME_STEP)
    starts = [np.asarray(envs.reset(seed=0)[0]).copy()]
    for _ in range(8):
        starts.append(np.asarray(envs.step(np.zeros((2, 1)))[0]).copy())
    for k in range(5):
        np.testing.assert_array_equal(starts[k], starts[k + 4])
    assert len({start.tobytes() for start in starts[:4]}) == 4


@pytest.mark.parametrize("module", MODULES, indirect=True)
@pytest.mark.parametrize("task", ["Humanoid", "Hopper"])
def test_a_state_goes_on(task: str, module: str) -> None:
    del module
    options: dict[str, Any] = {"device": "host", "max_episode_steps": 8, "autoreset_mode": AutoresetMode.SAME_STEP}
    first, second = (make(task, 3, **options).unwrapped for _ in range(2))
    with pytest.raises(ResetNeeded, match="call reset before state"):
        first.state()
    last, _ = first.reset(seed=5)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-0.3, 0.3, (22, *first.action_space.shape))
    for k in range(5):
        last, *_ = first.step(actions[k])
    state = first.state()
    ours, _ = first.restore(state)
    np.testing.assert_array_equal(ours, last)
    np.testing.assert_array_equal(second.restore(state)[0], last)
    for k in range(5, 22):
        for mine, its in zip(first.step(actions[k])[:4], second.step(actions[k])[:4], strict=True):
            np.testing.assert_array_equal(mine, its)
    with pytest.raises(ValueError, match="this environment"):
        make(task, 2, **options).unwrapped.restore(state)
    with pytest.raises(ValueError, match="state is none"):
        first.restore(state[:-9])
    arrays = dict(np.load(io.BytesIO(state)))
    for name, wrong, message in (
        ("_next", -1 - arrays["_next"], "drawn ahead"),
        ("_ended", arrays["_ended"][:2], "_ended"),
    ):
        file = io.BytesIO()
        np.savez(file, **{**arrays, name: wrong})
        with pytest.raises(ValueError, match=message):
            first.restore(file.getvalue())


def test_what_is_not_there_says_what_to_type() -> None:
    cases: list[tuple[str, dict[str, Any], type[Exception], str]] = [
        ("Hopper", {"device": "gpu"}, ValueError, 'expected "cpu", "cuda"'),
        ("Hopper", {"device": 0}, ValueError, 'expected "cpu", "cuda"'),
        ("Hopper", {"device": "host", "threads": 2}, ValueError, "device='cpu'"),
        ("Hopper", {"device": "host", "render_mode": "rgb_array"}, NotImplementedError, "device='cpu'"),
        ("Hopper", {"device": "host", "max_episode_steps": "none"}, ValueError, "expected a number"),
        ("Hopper", {"device": "host", "precision": "half"}, ValueError, "precision"),
        ("Hopper", {"device": "host", "heathy_reward": 1.0}, TypeError, "healthy_reward"),
        ("Swimmer", {"device": "host"}, NotImplementedError, "device='cpu' does"),
        ("dm-walker-run", {"device": "host"}, NotImplementedError, "device='cpu' does"),
    ]
    for task, options, error, words in cases:
        with pytest.raises(error, match=words):
            make(task, 2, **options)
    with pytest.raises(NotImplementedError, match=r"include_cfrc_ext_in_observation=False, contact_cost_weight=0\.0"):
        gymnasium.make_vec("sapwood/Ant-v0", num_envs=2, device="host")
    envs = make("Hopper", 2, device="host")
    with pytest.raises(ResetNeeded, match="call reset"):
        envs.step(np.zeros((2, 3)))
    envs.reset(seed=0)
    with pytest.raises(ValueError, match=r"actions have shape \(2, 2\): expected \(2, 3\)"):
        envs.step(np.zeros((2, 2)))
    with pytest.raises(NotImplementedError, match="Renderer"):
        envs.render()
