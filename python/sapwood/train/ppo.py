"""Proximal policy optimisation (Schulman et al. 2017) with generalised advantages, after CleanRL: the learner.

What collects samples is in ``rollouts.py``, what calls both in ``run.py``.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from sapwood.train.policy import OBSERVATION_LIMIT
from sapwood.train.rollouts import Moments, Rollout, Weights
from sapwood.train.settings import Settings

SLOWEST, FASTEST = 1e-5, 1e-2
"""Bounds of an adaptive learning rate."""


class Running:
    """Mean and variance of all rows so far, by the parallel formula of Chan et al."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.mean = np.zeros(shape)
        self.variance = np.ones(shape)
        self.count = 1e-4

    def merge(self, of: Moments) -> None:
        """Take the moments of more rows in."""
        delta, total = of.mean - self.mean, self.count + of.count
        self.mean = self.mean + delta * of.count / total
        spread = self.variance * self.count + of.variance * of.count + delta**2 * self.count * of.count / total
        self.variance, self.count = spread / total, total

    def state(self) -> dict[str, Any]:
        """All of it, as tensors."""
        return {"mean": torch.tensor(self.mean), "variance": torch.tensor(self.variance), "count": self.count}

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.mean, self.variance = state["mean"].numpy(), state["variance"].numpy()
        self.count = state["count"]


class ActorCritic(nn.Module):
    """A normal distribution over actions, and the value of an observation."""

    def __init__(self, observations: int, actions: int, settings: Settings) -> None:
        super().__init__()
        between = {"tanh": nn.Tanh, "relu": nn.ReLU, "elu": nn.ELU}[settings.activation]
        widths = settings.widths()

        def network(outputs: int, gain: float) -> nn.Sequential:
            layers: list[nn.Module] = []
            sizes = [observations, *widths, outputs]
            for k, (inputs, width) in enumerate(itertools.pairwise(sizes)):
                is_last = k + 1 == len(sizes) - 1
                layer = nn.Linear(inputs, width)
                nn.init.orthogonal_(layer.weight, gain if is_last else 2**0.5)
                nn.init.zeros_(layer.bias)
                layers += [layer] if is_last else [layer, between()]
            return nn.Sequential(*layers)

        self.actor = network(actions, 0.01)
        self.critic = network(1, 1.0)
        log_std = torch.full((actions,), math.log(settings.std))
        self.log_std = nn.Parameter(log_std, requires_grad=settings.learn_std)

    def log_prob(self, observation: Tensor, action: Tensor) -> Tensor:
        """Logarithms of the densities of actions, (n,)."""
        distance = (action - self.actor(observation)) * torch.exp(-self.log_std)
        return log_density(distance, self.log_std)

    def value(self, observation: Tensor) -> Tensor:
        """The expected return, (n,)."""
        value: Tensor = self.critic(observation).squeeze(-1)
        return value

    def entropy(self) -> Tensor:
        """Of the distribution, which is the same everywhere."""
        return (self.log_std + 0.5 * math.log(2.0 * math.pi * math.e)).sum()


def log_density(distance: Tensor, log_std: Tensor) -> Tensor:
    """Of a normal distribution, at distances in standard deviations (…, actions)."""
    return (-0.5 * distance.square() - log_std - 0.5 * math.log(2.0 * math.pi)).sum(-1)


class Learner:
    """Policy, optimiser and normalisers: all that learns."""

    def __init__(self, observations: int, actions: int, settings: Settings) -> None:
        self.settings = settings
        torch.manual_seed(settings.seed)
        # Weights are drawn on the processor, so that they are the same everywhere.
        self.network = ActorCritic(observations, actions, settings).to(settings.torch_device())
        self.learning_rate = settings.learning_rate
        groups = [
            {"params": [*self.network.actor.parameters(), self.network.log_std]},
            {"params": [*self.network.critic.parameters()]},
        ]
        self.optimiser = torch.optim.Adam(groups, lr=self.learning_rate, eps=1e-5)
        self.generator = torch.Generator().manual_seed(settings.seed)
        self.observations, self.returns = Running((observations,)), Running(())

    def weights(self) -> Weights:
        """What rollouts need."""
        tensors = self.network.state_dict().items()
        network = {name: tensor.detach().cpu().numpy().copy() for name, tensor in tensors}
        mean, variance = self.observations.mean, self.observations.variance
        return Weights(network, mean, variance, float(self.returns.variance))

    def learn(self, rollouts: list[Rollout], done: float) -> dict[str, float]:
        """Improve the policy by rollouts of the one before.

        Args:
            rollouts: In the order of the shards.
            done: How much of the training is done, 0 to 1.

        Returns:
            What there is to log.
        """
        for rollout in rollouts:
            self.observations.merge(rollout.observations)
            self.returns.merge(rollout.returns)
        if self.settings.schedule == "linear":
            self.learning_rate = self.settings.learning_rate * max(1.0 - done, 0.0)
        for k, group in enumerate(self.optimiser.param_groups):
            # The value's rate need not adapt.
            is_value = k == 1 and self.settings.schedule == "adaptive"
            group["lr"] = self.settings.learning_rate if is_value else self.learning_rate
        # Torch's own memory is aligned, by which sums have the same bits in every run.
        names = ("observation", "action", "log_prob", "advantage", "target")
        device = self.settings.torch_device()
        samples = {n: torch.cat([r.samples[n].to(device, copy=True) for r in rollouts]) for n in names}
        return self._update(samples)

    def _update(self, samples: dict[str, Tensor]) -> dict[str, float]:
        s, count = self.settings, len(samples["target"])
        errors, divergences = [], [0.0]
        for _ in range(s.epochs):
            order = torch.randperm(count, generator=self.generator).to(samples["target"].device)
            shuffled = {name: of[order] for name, of in samples.items()}
            divergences = []
            for first in range(0, count, s.minibatch):
                batch = {name: of[first : first + s.minibatch] for name, of in shuffled.items()}
                error, divergence = self._descend(batch)
                errors.append(error)
                divergences.append(divergence)
            if divergences[-1] > (s.target_kl if s.schedule != "adaptive" else 4.0 * s.target_kl):
                break
        self._adapt(float(np.mean(divergences)))
        variance = samples["target"].var() + 1e-8
        return {
            "value_error": float(np.mean(errors) / variance),
            "divergence": float(np.mean(divergences)),
            "learning_rate": self.learning_rate,
            "std": float(self.network.log_std.detach().exp().mean()),
        }

    def _descend(self, batch: dict[str, Tensor]) -> tuple[float, float]:
        """A gradient step: the error of the value, and the divergence from the old policy before it."""
        s, network = self.settings, self.network
        log_ratio = network.log_prob(batch["observation"], batch["action"]) - batch["log_prob"]
        ratio = log_ratio.exp()
        advantage = batch["advantage"]
        advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        gain = torch.min(advantage * ratio, advantage * ratio.clamp(1 - s.clip_range, 1 + s.clip_range)).mean()
        error = (network.value(batch["observation"]) - batch["target"]).square().mean()
        loss = 0.5 * s.value_weight * error - gain - s.entropy * network.entropy()
        self.optimiser.zero_grad()
        loss.backward()
        # Apart: an error of the value, which is large at first, would shrink the policy's steps.
        for group in self.optimiser.param_groups:
            nn.utils.clip_grad_norm_(group["params"], s.max_gradient)
        self.optimiser.step()
        divergence = ((ratio - 1) - log_ratio).detach().mean()
        return float(error.detach()), float(divergence)

    def _adapt(self, divergence: float) -> None:
        """Keep the divergence of updates near the one aimed at, by the rate of the policy."""
        if self.settings.schedule != "adaptive":
            return
        if divergence > 1.5 * self.settings.target_kl:
            self.learning_rate = max(self.learning_rate / 1.5, SLOWEST)
        elif divergence < self.settings.target_kl / 1.5:
            self.learning_rate = min(self.learning_rate * 1.5, FASTEST)

    def state(self) -> dict[str, Any]:
        """All of it, for a checkpoint."""
        return {
            "network": self.network.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "observations": self.observations.state(),
            "returns": self.returns.state(),
            "learning_rate": self.learning_rate,
            "generator": self.generator.get_state(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from a state."""
        self.network.load_state_dict(state["network"])
        self.optimiser.load_state_dict(state["optimiser"])
        self.observations.restore(state["observations"])
        self.returns.restore(state["returns"])
        self.learning_rate = state["learning_rate"]
        self.generator.set_state(state["generator"])


class Normaliser:
    """Observations as the network takes them: see ``policy.normalise``.

    Args:
        weights: What is known of observations and rewards.
        like: Observations, whose numbers and device are the normaliser's.
    """

    def __init__(self, weights: Weights, like: Tensor) -> None:
        self.mean = torch.as_tensor(weights.mean).to(like)
        self.deviation = torch.as_tensor(np.sqrt(weights.variance + 1e-8)).to(like)
        self.reward_variance = weights.reward_variance

    def __call__(self, rows: Tensor) -> Tensor:
        """Rows of mean 0 and variance 1, cut."""
        scaled = (rows - self.mean) / self.deviation
        return scaled.clamp(-OBSERVATION_LIMIT, OBSERVATION_LIMIT).float()
