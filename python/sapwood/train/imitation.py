"""Characters that learn to imitate motions, as in DeepMimic (Peng et al. 2018)."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import sapwood as sw
from sapwood.train.policy import Array, Policy
from sapwood.train.settings import Settings

DEFAULTS = replace(
    Settings(),
    num_envs=64,
    num_steps=32,
    shards=2,
    epochs=5,
    minibatch=256,
    schedule="adaptive",
    target_kl=0.06,
    gamma=0.95,
    gae_lambda=0.95,
    value_weight=1.0,
    max_gradient=1.0,
    hidden="256,128",
    activation="relu",
    std=0.3,
    learn_std=True,
    threads=1,
    episodes=20,
    evaluate_every=60.0,
)
"""PPO's settings. Discounts and clipping are DeepMimic's; rates, noise and sizes are for a few cores."""

SCALE = 0.25
"""Change of a target by an output of the policy, rad or m."""

EPISODE = 600
"""Steps of a judged episode where episodes have no limit."""

OPTIONS: dict[str, tuple[Any, str]] = {
    "character": ("humanoid", "the character: humanoid, dog, snake, or a model's file"),
    "clip": ("walk", "the motion: a gait's name, or a file of DeepMimic's or BVH"),
    "spd": ("maba", "the controller: maba in the step; dense, sparse, … before it"),
    "observe_root": (True, "whether the policy sees where the reference's root is"),
    "action": ("lead", "what an action is: target, residual to the reference, or lead, to where damping needs it"),
    "control_hz": (30.0, "actions a second"),
    "physics_hz": (120.0, "time steps a second"),
    "scheme": ("symplectic-euler", "the time-stepping scheme"),
    "reward": ("paper", "the reward: paper, or code as published"),
    "effort_limits": (True, "whether torques are limited"),
    "ground": ("most", "where the motion has its ground: most, or start, where its first posture stands"),
    "early_termination": (True, "whether a fall ends an episode"),
    "precision": ("auto", "numbers of time steps: f64, f32, or auto, which is f32 on a GPU and f64 elsewhere"),
}
"""Options of the environment that the command has: defaults and meanings."""


def add_arguments(
    parser: argparse.ArgumentParser, without: Sequence[str] = (), defaults: Mapping[str, Any] | None = None
) -> None:
    """Options of the environment, but for some, and with some defaults that are others."""
    for option, (usual, meaning) in OPTIONS.items():
        if option in without:
            continue
        default = (defaults or {}).get(option, usual)
        name, text = f"--{option.replace('_', '-')}", f"{meaning} (%(default)s)"
        if isinstance(default, bool):
            parser.add_argument(name, action=argparse.BooleanOptionalAction, default=default, help=text)
        else:
            parser.add_argument(name, type=type(default), default=default, help=text)


@dataclass(frozen=True)
class Imitation:
    """Imitation of a motion: options are those of :class:`sapwood.gym.ImitationVectorEnv`."""

    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, **options: Any) -> Imitation:  # noqa: ANN401 - texts, numbers, flags
        """The task with these options."""
        return cls({name: value for name, value in options.items() if (name, value) != ("precision", "auto")})

    def make(self, num_envs: int, *, threads: int | None = None, **changes: Any) -> Any:  # noqa: ANN401
        """See :class:`sapwood.train.tasks.Task`."""
        from gymnasium.vector import AutoresetMode

        from sapwood.gym import ImitationVectorEnv

        mode = changes.pop("autoreset_mode", AutoresetMode.SAME_STEP)
        return ImitationVectorEnv(
            num_envs=num_envs, threads=threads, autoreset_mode=mode, **{**self.options, **changes}
        )

    def action_scaling(self, envs: Any) -> tuple[Array, Array]:  # noqa: ANN401
        """See :class:`sapwood.train.tasks.Task`: the mean of the motion, and a part of a radian."""
        return envs.mean_action, np.full(envs.mean_action.shape, SCALE)

    def about(self) -> dict[str, Any]:
        """See :class:`sapwood.train.tasks.Task`."""
        return {"kind": "imitation", "options": self.options}

    def judge(self, policy: Policy, episodes: int, seed: int, replay: Path | None = None) -> dict[str, Any]:
        """Play episodes from the start of the motion, and write a replay of the policy's mean.

        Returns:
            "return": that of the policy's mean, normalised: the mean of the rewards of all steps that an episode can
            have, where those after a fall count 0; "length" in steps; "return_sampled" and "return_sampled_std": of
            episodes with the noise of the training.
        """
        envs = self.make(episodes + 1, reference_state_init=False)
        rng = np.random.default_rng(seed)
        raw, _ = envs.reset(seed=seed)
        most = envs.episodes.most_steps or EPISODE
        n = episodes + 1
        returns, lengths, running = np.zeros(n), np.zeros(n), np.ones(n, dtype=bool)
        frames = [envs.batch.q[0].copy()]
        for _ in range(most):
            actions = policy.sample(raw, rng)
            actions[0] = policy(raw[0])
            raw, reward, terminated, truncated, _ = envs.step(actions)
            returns += reward * running
            lengths += running
            running &= ~(terminated | truncated)
            if running[0]:
                frames.append(envs.batch.q[0].copy())
            if not running.any():
                break
        returns /= most
        if replay is not None:
            sw.Replay.from_trajectory(envs.model, np.stack(frames), envs.dt).save(replay)
        envs.close()
        return {
            "return": float(returns[0]),
            "length": float(lengths[0]),
            "return_sampled": float(returns[1:].mean()),
            "return_sampled_std": float(returns[1:].std()),
        }
