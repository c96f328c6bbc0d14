"""Imitation on a GPU is that of the processor: here on its host back end, by NumPy and by PyTorch."""

from __future__ import annotations

import os
import shutil
from typing import Any

import numpy as np
import pytest

gymnasium = pytest.importorskip("gymnasium")
if shutil.which(os.environ.get("CXX", "c++")) is None:
    pytest.skip("no C++ compiler for the kernels", allow_module_level=True)

from device_pairs import MODULES, Pair  # noqa: E402
from gymnasium.vector import AutoresetMode  # noqa: E402

import sapwood as sw  # noqa: E402
from sapwood.gym import DeviceImitationVectorEnv  # noqa: E402

HUMANOID: dict[str, Any] = {"character": "humanoid", "clip": "walk"}
DOG: dict[str, Any] = {"character": "dog", "clip": "trot"}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("next-step", {**HUMANOID, "action": "lead", "observe_root": True, "scheme": "symplectic-euler"}),
    ("same-step", {**HUMANOID, "action": "residual", "reward": "code", "observe_root": True}),
    ("disabled", {**HUMANOID, "action": "target", "cycle_sync": False, "max_episode_steps": 25}),
    (
        "same-step",
        {
            **DOG,
            "action": "lead",
            "rotations": "6d",
            "observe_root": True,
            "physics_hz": 480.0,
            "max_episode_steps": 12,
        },
    ),
]
MODES = {
    "next-step": AutoresetMode.NEXT_STEP,
    "same-step": AutoresetMode.SAME_STEP,
    "disabled": AutoresetMode.DISABLED,
}


def make(n: int = 3, **options: Any) -> Any:
    return gymnasium.make_vec("sapwood/Imitation-v0", num_envs=n, **options).unwrapped


@pytest.mark.parametrize("module", MODULES, indirect=True)
@pytest.mark.parametrize(("mode", "options"), CASES)
def test_is_the_environment_of_the_processor(mode: str, options: dict[str, Any], module: str) -> None:
    options = {"max_episode_steps": 40, **options, "autoreset_mode": MODES[mode]}
    pair = Pair(make(device="host", precision="f64", **options), make(**options), MODES[mode])
    assert isinstance(pair.ours, DeviceImitationVectorEnv)
    assert pair.ours.single_action_space == pair.theirs.single_action_space
    assert pair.ours.single_observation_space.shape == pair.theirs.single_observation_space.shape
    assert pair.ours.observation_parts == pair.theirs.observation_parts
    np.testing.assert_array_equal(pair.ours.mean_action, pair.theirs.mean_action)
    pair.reset(seed=3)
    rng, best = np.random.default_rng(0), 0.0
    for _ in range(90):
        action = pair.theirs.mean_action + rng.normal(scale=0.05, size=pair.theirs.action_space.shape)
        pair.step(action.astype(np.float32))
        best = max(best, float(pair.theirs.episodes.reward.max()))
    # Some fall, some are cut; rewards are worth something.
    assert pair.ends >= 2 * pair.theirs.num_envs
    assert best > 0.3
    assert pair.compared > 0.8 * pair.steps
    observation, *_ = pair.ours.step(np.zeros(pair.theirs.action_space.shape))
    assert type(observation).__module__ == module


def test_a_motion_that_ends_ends_the_episode(tmp_path: Any) -> None:
    ball, leg_or_arm = [1, 0, 0, 0], [1, 0, 0, 0, 0]
    pose = [*ball, *ball, *ball, *leg_or_arm, *ball, *leg_or_arm, *leg_or_arm, *ball, *leg_or_arm]
    clip = tmp_path / "clip.txt"
    clip.write_text(f'{{"Loop": "none", "Frames": {[[0.1, 0, 0.9, 0, *pose]] * 5}}}')
    options: dict[str, Any] = {"clip": str(clip), "autoreset_mode": AutoresetMode.SAME_STEP, "max_episode_steps": None}
    pair = Pair(make(device="host", precision="f64", **options), make(**options), AutoresetMode.SAME_STEP)
    pair.reset(seed=1)
    for _ in range(25):
        pair.step(np.zeros(pair.theirs.action_space.shape, dtype=np.float32))
    assert pair.ends >= 2 * pair.theirs.num_envs
    assert pair.compared > 0.8 * pair.steps


def test_seeds_give_the_same_bits_and_states_go_on() -> None:
    """In the 32 bits of a GPU."""
    options = {**HUMANOID, "device": "host", "action": "lead", "autoreset_mode": AutoresetMode.SAME_STEP}
    one, other = make(**options), make(**options)
    assert one.batch.precision == "f32"
    np.testing.assert_array_equal(one.reset(seed=[7, 2**40, 9])[0], other.reset(seed=[7, 2**40, 9])[0])
    rng, ended = np.random.default_rng(1), 0
    for k in range(60):
        if k == 20:
            state = one.state()
            np.testing.assert_array_equal(one.restore(state)[0], other.restore(state)[0])
        action = rng.normal(scale=0.3, size=one.action_space.shape)
        ours, theirs = one.step(action), other.step(action)
        for mine, its in zip(ours[:4], theirs[:4], strict=True):
            np.testing.assert_array_equal(mine, its)
        ended += int(np.asarray(ours[2]).sum())
    assert ended >= 3
    with pytest.raises(ValueError, match="this environment"):
        make(4, **options).restore(state)


def test_what_the_gpu_does_not_do_says_so() -> None:
    touching = sw.characters.humanoid(self_collision=True)
    cases: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"spd": "dense"}, NotImplementedError, "spd='maba', or device='cpu'"),
        ({"conserve": False}, NotImplementedError, "conserve=True"),
        ({"threads": 2}, ValueError, "device='cpu'"),
        ({"device": "gpu"}, ValueError, 'expected "cpu", "cuda"'),
        ({"precision": "half"}, ValueError, "precision"),
        ({"clip": "trto"}, ValueError, "trot"),
        ({"character": touching}, NotImplementedError, "early_termination=False"),
    ]
    for options, error, words in cases:
        with pytest.raises(error, match=words):
            make(**{"device": "host", **options})
