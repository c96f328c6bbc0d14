"""A character learns to walk by imitation: PPO in one file, after CleanRL, to be read and changed.

    pip install 'sapwood[train]'
    python imitation_ppo.py --clip walk --seconds 600 --out out

The trainer of the package, ``python -m sapwood.train imitation``, is this with checkpoints, logs and workers.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from torch import Tensor, nn

import sapwood as sw
from sapwood.gym import ImitationVectorEnv

parser = argparse.ArgumentParser()
parser.add_argument("--character", default="humanoid")
parser.add_argument("--clip", default="walk")
parser.add_argument("--seconds", type=float, default=600.0)
parser.add_argument("--samples", type=int, default=10**12)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--num-envs", type=int, default=64)
parser.add_argument("--threads", type=int, default=1, help="of torch; that of all cores helps where nobody else is")
parser.add_argument("--out", type=Path, default=Path("out"))
args = parser.parse_args()

STEPS, EPOCHS, MINIBATCH = 32, 5, 256  # samples of an update: STEPS of each world
GAMMA, LAMBDA, CLIP = 0.95, 0.95, 0.2  # DeepMimic's
STD = 0.075  # of the noise in targets, rad
SCALE = 0.25  # change of a target by an output of the network, rad
TARGET_KL = 0.06  # divergence of an update that the learning rate is adapted to
EPISODE = 600  # control steps, 20 s

torch.manual_seed(args.seed)
torch.set_num_threads(args.threads)


def make(num_envs: int, **changes: Any) -> ImitationVectorEnv:  # noqa: ANN401 - texts, numbers, flags
    """Worlds that begin again in the step that ends an episode."""
    mode = AutoresetMode.SAME_STEP
    # Targets depart from where damping needs them for the motion; its root is seen. DeepMimic has neither.
    options: dict[str, Any] = {"action": "lead", "observe_root": True, "max_episode_steps": EPISODE, **changes}
    return ImitationVectorEnv(args.character, args.clip, num_envs, autoreset_mode=mode, **options)


def network(inputs: int, outputs: int, gain: float) -> nn.Sequential:
    """Two hidden layers."""
    layers = [nn.Linear(inputs, 256), nn.Linear(256, 128), nn.Linear(128, outputs)]
    for layer, own in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
        nn.init.orthogonal_(layer.weight, own)
        nn.init.zeros_(layer.bias)
    return nn.Sequential(layers[0], nn.ReLU(), layers[1], nn.ReLU(), layers[2])


class Normaliser:
    """Mean and variance of all observations so far."""

    def __init__(self, columns: int) -> None:
        self.count, self.mean, self.m2 = 1e-4, np.zeros(columns), np.full(columns, 1e-4)

    def update(self, rows: Any) -> None:  # noqa: ANN401 - an array
        """Take rows in (Chan et al.)."""
        delta, total = rows.mean(axis=0) - self.mean, self.count + len(rows)
        self.mean += delta * len(rows) / total
        self.m2 += rows.var(axis=0) * len(rows) + delta**2 * self.count * len(rows) / total
        self.count = total

    def __call__(self, rows: Any) -> Tensor:  # noqa: ANN401 - an array
        """Rows of mean 0 and variance 1."""
        scaled = (rows - self.mean) / np.sqrt(self.m2 / self.count + 1e-8)
        return torch.tensor(np.clip(scaled, -10.0, 10.0), dtype=torch.float32)


envs = make(args.num_envs)
raw = envs.reset(seed=args.seed)[0]
(n, columns), actions = raw.shape, len(envs.mean_action)
bound = 2.0 * np.pi  # of targets, rad
offset = envs.mean_action
actor, critic = network(columns, actions, 0.01), network(columns, 1, 1.0)
rate = 3e-4
optimiser = torch.optim.Adam([{"params": [*of.parameters()]} for of in (actor, critic)], lr=rate, eps=1e-5)
normalise = Normaliser(columns)
normalise.update(raw)
noise_std = STD / SCALE


def act(outputs: Tensor) -> Any:  # noqa: ANN401 - an array
    """Targets of the joints from outputs of the network."""
    return np.clip(offset + SCALE * outputs.numpy(), -bound, bound)


def log_prob(distance: Tensor) -> Tensor:
    """Of a normal distribution, at distances in standard deviations."""
    return (-0.5 * distance.square() - math.log(noise_std) - 0.5 * math.log(2.0 * math.pi)).sum(-1)


def judge(path: Path) -> float:
    """The normalised return of an episode from the start of the motion, and its replay."""
    own = make(1, reference_state_init=False)
    seen, _ = own.reset(seed=0)
    frames, total = [own.batch.q[0].copy()], 0.0
    for _ in range(EPISODE):
        with torch.no_grad():
            seen, reward, terminated, truncated, _ = own.step(act(actor(normalise(seen))))
        total += float(reward[0])
        if terminated[0] or truncated[0]:
            break
        frames.append(own.batch.q[0].copy())
    sw.Replay.from_trajectory(own.model, np.stack(frames), own.dt).save(path)
    return total / EPISODE


args.out.mkdir(parents=True, exist_ok=True)
began, samples, shown = time.perf_counter(), 0, 0.0
while (seconds := time.perf_counter() - began) < args.seconds and samples < args.samples:
    # Collect.
    observation, action = torch.zeros(STEPS, n, columns), torch.zeros(STEPS, n, actions)
    distance, reward, goes_on = torch.zeros_like(action), torch.zeros(STEPS, n), torch.zeros(STEPS, n)
    seen = np.zeros((STEPS, n, columns))
    with torch.no_grad():
        for k in range(STEPS):
            observation[k], seen[k] = normalise(raw), raw
            distance[k] = torch.randn(n, actions)
            action[k] = actor(observation[k]) + noise_std * distance[k]
            raw, gained, terminated, truncated, info = envs.step(act(action[k]))
            reward[k], goes_on[k] = torch.tensor(gained), torch.tensor(~(terminated | truncated))
            cut = np.flatnonzero(truncated & ~terminated)
            if len(cut):  # the episode could have gone on
                last = normalise(np.stack([info["final_obs"][world] for world in cut]))
                reward[k, cut] += GAMMA * critic(last).squeeze(-1)
        # Generalised advantages.
        value = critic(torch.cat([observation.flatten(0, 1), normalise(raw)])).reshape(STEPS + 1, n)
        advantage, later = torch.zeros(STEPS, n), torch.zeros(n)
        for k in reversed(range(STEPS)):
            delta = reward[k] + GAMMA * goes_on[k] * value[k + 1] - value[k]
            advantage[k] = later = delta + GAMMA * LAMBDA * goes_on[k] * later
    normalise.update(seen.reshape(-1, columns))
    samples += STEPS * n
    # Learn.
    old, target = log_prob(distance), advantage + value[:-1]
    flat = [of.flatten(0, 1) for of in (observation, action, old, advantage, target)]
    for _ in range(EPOCHS):
        order, divergences = torch.randperm(STEPS * n), []
        for first in range(0, STEPS * n, MINIBATCH):
            seen_b, action_b, old_b, gain_b, target_b = (of[order[first : first + MINIBATCH]] for of in flat)
            log_ratio = log_prob((action_b - actor(seen_b)) / noise_std) - old_b
            ratio, gain_b = log_ratio.exp(), (gain_b - gain_b.mean()) / (gain_b.std() + 1e-8)
            gain = torch.min(gain_b * ratio, gain_b * ratio.clamp(1 - CLIP, 1 + CLIP)).mean()
            error = (critic(seen_b).squeeze(-1) - target_b).square().mean()
            optimiser.zero_grad()
            (0.5 * error - gain).backward()
            for group in optimiser.param_groups:
                nn.utils.clip_grad_norm_(group["params"], 1.0)
            optimiser.step()
            divergences.append(float((ratio - 1 - log_ratio).detach().mean()))
    divergence = sum(divergences) / len(divergences)
    faster = divergence < TARGET_KL / 1.5
    rate *= 1 / 1.5 if divergence > 1.5 * TARGET_KL else 1.5 if faster else 1.0
    rate = min(max(rate, 1e-5), 1e-2)
    optimiser.param_groups[0]["lr"] = rate
    if seconds - shown > 10.0:
        shown = seconds
        print(f"{seconds:5.0f} s  {samples:9d} samples  {samples / seconds:6.0f} /s  reward {reward.mean():.3f}")
print(f"normalised return {judge(args.out / 'replay.html'):.3f}")
