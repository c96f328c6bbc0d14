"""Proximal policy optimisation (Schulman et al. 2017) with generalised advantages, after CleanRL's ``ppo_continuous_action``.

One file, to be read and changed. It runs on any vector environment of Gymnasium with actions in a box, so that engines are compared under
the same program: names that begin with ``sapwood/`` make one batch, others a ``SyncVectorEnv``.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import torch
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray
from torch import Tensor, nn

Array = NDArray[np.float64]


def setting(default: Any, meaning: str) -> Any:
    """A field with its meaning."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Settings:
    """What may be chosen. The defaults are for robots that run, on a few processor cores."""

    seconds: float = setting(600.0, "time to train, s")
    samples: int = setting(10**12, "steps of environments after which training ends, if time allows")
    seed: int = setting(0, "of environments, policy and sampling")
    num_envs: int = setting(64, "environments side by side")
    num_steps: int = setting(64, "steps of each between updates")
    epochs: int = setting(8, "passes over the samples of an update")
    minibatch: int = setting(512, "samples of a gradient step")
    learning_rate: float = setting(3e-4, "of Adam, falling to zero over the time")
    gamma: float = setting(0.99, "discount")
    gae_lambda: float = setting(0.95, "of generalised advantages")
    clip: float = setting(0.2, "range of the ratio of probabilities")
    entropy: float = setting(0.0, "weight of the entropy")
    value_weight: float = setting(0.5, "weight of the loss of the value")
    max_gradient: float = setting(0.5, "norm at which gradients are cut")
    target_kl: float = setting(0.03, "divergence from the old policy at which an update ends early")
    hidden: int = setting(64, "width of the two hidden layers")
    threads: int = setting(1, "threads of torch, whose networks are small here; 0 for all")
    episodes: int = setting(16, "episodes by which the policy is judged at the end")


class Running:
    """Mean and variance of all rows so far, by the parallel formula of Chan et al."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean = np.zeros(shape)
        self.variance = np.ones(shape)
        self.count = 1e-4

    def update(self, rows: Array) -> None:
        """Take rows in."""
        mean, variance, count = rows.mean(axis=0), rows.var(axis=0), len(rows)
        delta, total = mean - self.mean, self.count + count
        self.mean = self.mean + delta * count / total
        spread = self.variance * self.count + variance * count + delta**2 * self.count * count / total
        self.variance, self.count = spread / total, total

    def normalise(self, rows: Array) -> Tensor:
        """Rows of mean 0 and variance 1, cut at 10."""
        scaled = (rows - self.mean) / np.sqrt(self.variance + 1e-8)
        return torch.from_numpy(np.clip(scaled, -10.0, 10.0).astype(np.float32))


class Policy(nn.Module):
    """A normal distribution over actions, and the value of an observation."""

    def __init__(self, observations: int, actions: int, hidden: int) -> None:
        super().__init__()

        def network(outputs: int, gain: float) -> nn.Sequential:
            layers = [nn.Linear(observations, hidden), nn.Linear(hidden, hidden), nn.Linear(hidden, outputs)]
            for layer, own in zip(layers, (2**0.5, 2**0.5, gain), strict=True):
                nn.init.orthogonal_(layer.weight, own)
                nn.init.zeros_(layer.bias)
            return nn.Sequential(layers[0], nn.Tanh(), layers[1], nn.Tanh(), layers[2])

        self.actor = network(actions, 0.01)
        self.critic = network(1, 1.0)
        self.log_std = nn.Parameter(torch.zeros(actions))

    def distribution(self, observation: Tensor) -> torch.distributions.Normal:
        """Of actions, (n, actions)."""
        mean = self.actor(observation)
        return torch.distributions.Normal(mean, self.log_std.exp().expand_as(mean), validate_args=False)

    def value(self, observation: Tensor) -> Tensor:
        """The expected return, (n,)."""
        value: Tensor = self.critic(observation).squeeze(-1)
        return value


def make(environment: str, n: int) -> gymnasium.vector.VectorEnv[Any, Any, Any]:
    """A vector environment that begins again in the step that ends an episode."""
    mode = AutoresetMode.SAME_STEP
    if environment.startswith("sapwood/"):
        import sapwood.gym  # noqa: F401

        return gymnasium.make_vec(environment, num_envs=n, autoreset_mode=mode)
    return gymnasium.make_vec(
        environment, num_envs=n, vectorization_mode="sync", vector_kwargs={"autoreset_mode": mode}
    )


class Collector:
    """Collects samples under a policy, and keeps the books: normalisation, returns of episodes."""

    def __init__(self, environment: str, settings: Settings) -> None:
        self.settings = settings
        self.envs = make(environment, settings.num_envs)
        self.low: Array = self.envs.single_action_space.low  # type: ignore[attr-defined]
        self.high: Array = self.envs.single_action_space.high  # type: ignore[attr-defined]
        n = settings.num_envs
        raw, _ = self.envs.reset(seed=settings.seed)
        self.observations, self.scale = Running(raw.shape[1:]), Running(())
        self.observations.update(raw)
        self.now = self.observations.normalise(raw)
        self.discounted, self.returns, self.finished = np.zeros(n), np.zeros(n), list[float]()
        self.simulating = 0.0

    @torch.no_grad()
    def collect(self, policy: Policy) -> dict[str, Tensor]:
        """Samples of `num_steps` steps, with advantages: each (steps, n, …)."""
        s = self.settings
        rows: dict[str, list[Tensor]] = {
            name: [] for name in ("observation", "action", "log_prob", "value", "reward", "ended")
        }
        for _ in range(s.num_steps):
            distribution = policy.distribution(self.now)
            action = distribution.sample()
            rows["observation"].append(self.now)
            rows["action"].append(action)
            rows["log_prob"].append(distribution.log_prob(action).sum(-1))
            rows["value"].append(policy.value(self.now))
            reward, ended = self.step(action, policy)
            rows["reward"].append(torch.from_numpy(reward.astype(np.float32)))
            rows["ended"].append(torch.from_numpy(ended))
        samples = {name: torch.stack(of) for name, of in rows.items()}
        samples["advantage"] = self.advantages(samples, policy.value(self.now))
        samples["target"] = samples["advantage"] + samples["value"]
        return samples

    def step(self, action: Tensor, policy: Policy) -> tuple[Array, NDArray[np.bool_]]:
        """A step: scaled rewards, and which episodes ended. Of those that were cut, the reward has the value of where they were."""
        began = time.perf_counter()
        raw, reward, terminated, truncated, info = self.envs.step(np.clip(action.numpy(), self.low, self.high))
        self.simulating += time.perf_counter() - began
        ended = terminated | truncated
        self.returns += reward
        self.finished += self.returns[ended].tolist()
        self.discounted = self.discounted * self.settings.gamma + reward
        self.scale.update(self.discounted)
        self.returns[ended] = self.discounted[ended] = 0.0
        reward = np.clip(reward / np.sqrt(self.scale.variance + 1e-8), -10.0, 10.0)
        cut = np.flatnonzero(truncated & ~terminated)
        if len(cut):
            last = self.observations.normalise(np.stack([info["final_obs"][k] for k in cut]))
            reward[cut] += self.settings.gamma * policy.value(last).numpy()
        self.observations.update(raw)
        self.now = self.observations.normalise(raw)
        return reward, ended

    def advantages(self, samples: dict[str, Tensor], last_value: Tensor) -> Tensor:
        """Generalised advantages, (steps, n)."""
        s = self.settings
        advantages, next_value, later = torch.zeros_like(samples["reward"]), last_value, torch.zeros_like(last_value)
        for k in reversed(range(s.num_steps)):
            goes_on = (~samples["ended"][k]).float()
            delta = samples["reward"][k] + s.gamma * goes_on * next_value - samples["value"][k]
            later = delta + s.gamma * s.gae_lambda * goes_on * later
            advantages[k], next_value = later, samples["value"][k]
        return advantages


def update(policy: Policy, optimiser: torch.optim.Optimizer, samples: dict[str, Tensor], s: Settings) -> None:
    """Improve a policy by samples of the one before."""
    flat = {name: of.flatten(0, 1) for name, of in samples.items()}
    count = len(flat["reward"])
    for _ in range(s.epochs):
        order = torch.randperm(count)
        for first in range(0, count, s.minibatch):
            batch = {name: of[order[first : first + s.minibatch]] for name, of in flat.items()}
            distribution = policy.distribution(batch["observation"])
            log_ratio = distribution.log_prob(batch["action"]).sum(-1) - batch["log_prob"]
            ratio = log_ratio.exp()
            advantage = batch["advantage"]
            advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
            gain = torch.min(advantage * ratio, advantage * ratio.clamp(1 - s.clip, 1 + s.clip)).mean()
            error = 0.5 * (policy.value(batch["observation"]) - batch["target"]).square().mean()
            loss = s.value_weight * error - gain - s.entropy * distribution.entropy().sum(-1).mean()
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(policy.parameters(), s.max_gradient)
            optimiser.step()
        with torch.no_grad():
            divergence = float(((ratio - 1) - log_ratio).mean())
        if divergence > s.target_kl:
            break


@torch.no_grad()
def judge(environment: str, policy: Policy, observations: Running, s: Settings) -> list[float]:
    """Returns of whole episodes under the mean of the policy."""
    envs = make(environment, s.episodes)
    low, high = envs.single_action_space.low, envs.single_action_space.high  # type: ignore[attr-defined]
    raw, _ = envs.reset(seed=s.seed + 10_000)
    returns, running = np.zeros(s.episodes), np.ones(s.episodes, dtype=bool)
    while running.any():
        action = policy.actor(observations.normalise(raw)).numpy()
        raw, reward, terminated, truncated, _ = envs.step(np.clip(action, low, high))
        returns += reward * running
        running &= ~(terminated | truncated)
    envs.close()
    return [float(x) for x in returns]


def train(environment: str, settings: Settings, out: Path) -> dict[str, Any]:
    """Train a policy, and write ``result.json`` and ``policy.pt`` under `out`.

    Args:
        environment: A name of Gymnasium's registry.
        settings: What may be chosen.
        out: A folder, which is made.

    Returns:
        What ``result.json`` has: "curve" lists seconds, samples and the mean return of the last 100 episodes.
    """
    out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(settings.seed)
    if settings.threads > 0:
        torch.set_num_threads(settings.threads)
    collector = Collector(environment, settings)
    actions = len(collector.low)
    policy = Policy(collector.now.shape[1], actions, settings.hidden)
    optimiser = torch.optim.Adam(policy.parameters(), lr=settings.learning_rate, eps=1e-5)
    began, samples, shown = time.perf_counter(), 0, 0.0
    curve: list[dict[str, float]] = []
    while True:
        seconds = time.perf_counter() - began
        done = max(seconds / settings.seconds, samples / settings.samples)
        if done >= 1.0:
            break
        optimiser.param_groups[0]["lr"] = settings.learning_rate * (1.0 - done)
        update(policy, optimiser, collector.collect(policy), settings)
        samples += settings.num_envs * settings.num_steps
        seconds = time.perf_counter() - began
        mean = float(np.mean(collector.finished[-100:])) if collector.finished else float("nan")
        curve.append({"seconds": seconds, "samples": samples, "return": mean})
        if seconds - shown > 10.0:
            shown = seconds
            print(
                f"{seconds:6.0f} s  {samples:9d} samples  {samples / seconds:7.0f} /s  return {mean:8.1f}", flush=True
            )
    seconds = time.perf_counter() - began
    collector.envs.close()
    returns = judge(environment, policy, collector.observations, settings)
    result = {
        "environment": environment,
        "samples": samples,
        "seconds": seconds,
        "samples_per_second": samples / seconds,
        "seconds_simulating": collector.simulating,
        "return": float(np.mean(returns)),
        "return_std": float(np.std(returns)),
        "episodes_finished": len(collector.finished),
        "settings": asdict(settings),
        "curve": curve,
    }
    # NaN, before an episode has ended, is no JSON.
    text = json.dumps(result, indent=1).replace("NaN", "null")
    (out / "result.json").write_text(text)
    normalisation = {"mean": collector.observations.mean, "variance": collector.observations.variance}
    torch.save(
        {"policy": policy.state_dict(), **{k: torch.from_numpy(v) for k, v in normalisation.items()}}, out / "policy.pt"
    )
    return result
