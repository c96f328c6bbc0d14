"""Rollouts: samples of shards of environments, each a function of weights, seeds and the shard's state alone.

So it does not matter which process makes a rollout, nor whether it is made a second time.
"""

from __future__ import annotations

import math
import os
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from sapwood.train.policy import Array, normalise

if TYPE_CHECKING:
    from sapwood.train.settings import Settings
    from sapwood.train.tasks import Task

ACTION_NOISE, START = 0, 1
"""What seeds are for."""


@dataclass(frozen=True)
class Weights:
    """What a rollout needs to know: networks and normalisers."""

    network: dict[str, NDArray[np.float32]]
    mean: Array
    variance: Array
    reward_variance: float

    def bytes(self) -> int:
        """Their size."""
        return sum(array.nbytes for array in self.network.values()) + self.mean.nbytes + self.variance.nbytes


@dataclass(frozen=True)
class Moments:
    """Number, mean and variance of rows."""

    count: int
    mean: Array
    variance: Array

    @classmethod
    def of(cls, rows: Array) -> Moments:
        """Of rows (n, …)."""
        return cls(len(rows), rows.mean(axis=0), rows.var(axis=0))


@dataclass(frozen=True)
class ShardState:
    """Where the worlds of a shard are: the environments, and discounted and plain returns and lengths of episodes."""

    envs: bytes
    books: Array


@dataclass(frozen=True)
class Rollout:
    """Samples of a shard, flat (steps × worlds, …), and what is to be known of them."""

    samples: dict[str, NDArray[np.float32]]
    observations: Moments
    returns: Moments
    reward: float
    finished: Array
    """Returns and lengths of the episodes that ended, (number, 2)."""
    state: ShardState | None
    """Where the shard is now; None when its environments cannot tell."""
    simulating: float
    """Time in steps of environments, s."""

    def bytes(self) -> tuple[int, int]:
        """Sizes of samples and of the state."""
        state = 0 if self.state is None else len(self.state.envs) + self.state.books.nbytes
        return sum(array.nbytes for array in self.samples.values()), state


class Collector(Protocol):
    """What makes the rollouts of all shards."""

    def begin(self) -> list[Rollout]:
        """Begin the first episodes; rollouts without samples."""
        ...

    def collect(self, weights: Weights, iteration: int) -> list[Rollout]:
        """Rollouts in the order of the shards, whose states go on from the last ones."""
        ...

    def states(self) -> list[ShardState] | None:
        """Where the shards are; None when their environments cannot tell."""
        ...

    def restore(self, states: list[ShardState]) -> None:
        """Go on from states."""
        ...

    def close(self) -> None:
        """Free what was taken."""
        ...


def seed_of(purpose: int, *numbers: int) -> int:
    """A seed of 63 bits, other for other numbers."""
    words = np.random.SeedSequence([purpose, *numbers]).generate_state(2, np.uint32)
    return (int(words[0]) << 31) ^ int(words[1])


class Shard:
    """Environments that are simulated together."""

    def __init__(self, task: Task, settings: Settings, index: int, threads: int | None) -> None:
        self.settings, self.index, self.task = settings, index, task
        self.n = settings.num_envs // settings.shards
        self.envs = task.make(self.n, threads=threads)
        self.remembers = hasattr(self.envs, "state") and hasattr(self.envs, "restore")
        space = self.envs.single_action_space
        self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)
        self.offset, self.scale = task.action_scaling(self.envs)
        self.books: Array = np.zeros((3, self.n))
        self.raw: Array = np.zeros((self.n, 0))

    def begin(self) -> Rollout:
        """Begin the first episodes, by seeds of run, shard and world."""
        seeds = [seed_of(START, self.settings.seed, self.index, world) for world in range(self.n)]
        self.raw, _ = self.envs.reset(seed=seeds)
        nothing: Array = np.zeros((0, 2))
        return Rollout({}, Moments.of(self.raw), Moments(0, np.zeros(()), np.ones(())), 0.0, nothing, self.state(), 0.0)

    def state(self) -> ShardState | None:
        """Where the worlds are."""
        return ShardState(self.envs.state(), self.books.copy()) if self.remembers else None

    def restore(self, state: ShardState) -> None:
        """Take the worlds to a state."""
        self.raw, _ = self.envs.restore(state.envs)
        self.books = state.books.copy()

    @torch.no_grad()
    def collect(self, weights: Weights, iteration: int, state: ShardState | None) -> Rollout:
        """Samples of `num_steps` steps.

        The worlds are always taken to `state`, also where they are there already: what lanes remember of the step
        before would give other bits, equal to round-off.
        """
        from sapwood.train.ppo import ActorCritic, log_density, normalised

        s = self.settings
        if state is not None:
            self.restore(state)
        network = ActorCritic(self.raw.shape[1], len(self.low), s)
        network.load_state_dict({name: torch.tensor(array) for name, array in weights.network.items()})
        generator = torch.Generator().manual_seed(seed_of(ACTION_NOISE, s.seed, self.index, iteration))
        std = network.log_std.exp()
        record = _Record(s.num_steps, self.n, self.raw.shape[1], len(self.low))
        for k in range(s.num_steps):
            observation = normalised(self.raw, weights)
            noise = torch.randn((self.n, len(self.low)), generator=generator)
            action = network.actor(observation) + std * noise
            record.raw[k], record.observation[k] = self.raw, observation
            record.action[k], record.log_prob[k] = action, log_density(noise, network.log_std)
            self._step(record, k, action.numpy(), network, weights)
        every = torch.cat([record.observation.flatten(0, 1), normalised(self.raw, weights)])
        values = network.value(every).reshape(s.num_steps + 1, self.n)
        return self._rollout(record, values)

    def _step(self, record: _Record, k: int, action: NDArray[np.float32], network: Any, weights: Weights) -> None:  # noqa: ANN401 - a module
        """A step: scaled rewards, and which episodes ended. Where one was cut, the reward has its value there."""
        s, began = self.settings, time.perf_counter()
        given = np.clip(self.offset + self.scale * action, self.low, self.high)
        self.raw, reward, terminated, truncated, info = self.envs.step(given)
        record.simulating += time.perf_counter() - began
        ended = terminated | truncated
        discounted, returns, lengths = self.books
        returns += reward
        lengths += 1.0
        discounted *= s.gamma
        discounted += reward
        record.finished += [(returns[world], lengths[world]) for world in np.flatnonzero(ended)]
        record.discounted[k] = discounted
        record.reward_sum += float(reward.sum())
        self.books[:, ended] = 0.0
        scaled = np.clip(reward / math.sqrt(weights.reward_variance + 1e-8), -10.0, 10.0)
        cut = np.flatnonzero(truncated & ~terminated)
        if len(cut):
            last = np.stack([info["final_obs"][world] for world in cut])
            normal = torch.tensor(normalise(last, weights.mean, weights.variance))
            scaled[cut] += s.gamma * network.value(normal).numpy()
        record.reward[k] = torch.tensor(scaled)
        record.goes_on[k] = torch.tensor(~ended)

    def _rollout(self, record: _Record, values: torch.Tensor) -> Rollout:
        s = self.settings
        advantages = torch.zeros_like(record.reward)
        later = torch.zeros_like(values[0])
        for k in reversed(range(s.num_steps)):
            delta = record.reward[k] + s.gamma * record.goes_on[k] * values[k + 1] - values[k]
            later = delta + s.gamma * s.gae_lambda * record.goes_on[k] * later
            advantages[k] = later
        samples = {
            "observation": record.observation,
            "action": record.action,
            "log_prob": record.log_prob,
            "advantage": advantages,
            "target": advantages + values[:-1],
        }
        return Rollout(
            {name: of.flatten(0, 1).numpy() for name, of in samples.items()},
            Moments.of(record.raw.reshape(-1, record.raw.shape[-1])),
            Moments.of(record.discounted.reshape(-1)),
            record.reward_sum / record.reward.numel(),
            np.array(record.finished, dtype=np.float64).reshape(-1, 2),
            self.state(),
            record.simulating,
        )


class _Record:
    """What a rollout collects, step by step."""

    def __init__(self, steps: int, n: int, observations: int, actions: int) -> None:
        self.raw: Array = np.zeros((steps, n, observations))
        self.observation = torch.zeros(steps, n, observations)
        self.action = torch.zeros(steps, n, actions)
        self.log_prob, self.reward = torch.zeros(steps, n), torch.zeros(steps, n)
        self.goes_on = torch.zeros(steps, n)
        self.discounted: Array = np.zeros((steps, n))
        self.finished: list[tuple[float, float]] = []
        self.reward_sum = self.simulating = 0.0


class InProcess:
    """All shards in this process, on threads of their own."""

    def __init__(self, task: Task, settings: Settings) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        threads = max(cores // settings.shards, 1)
        self.shards = [Shard(task, settings, k, threads) for k in range(settings.shards)]
        self.pool = ThreadPoolExecutor(min(cores, settings.shards))
        self._states: list[ShardState | None] = [None] * settings.shards

    def begin(self) -> list[Rollout]:
        """See :class:`Collector`."""
        return self._keep([shard.begin() for shard in self.shards])

    def collect(self, weights: Weights, iteration: int) -> list[Rollout]:
        """See :class:`Collector`."""
        # Sums have the bits of a worker that has one thread.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            jobs = zip(self.shards, self._states, strict=True)
            made = self.pool.map(lambda job: _alone(job[0], weights, iteration, job[1]), jobs)
            return self._keep(list(made))
        finally:
            torch.set_num_threads(threads)

    def _keep(self, rollouts: list[Rollout]) -> list[Rollout]:
        self._states = [rollout.state for rollout in rollouts]
        return rollouts

    def states(self) -> list[ShardState] | None:
        """See :class:`Collector`."""
        known = [state for state in self._states if state is not None]
        return known if len(known) == len(self._states) else None

    def restore(self, states: list[ShardState]) -> None:
        """See :class:`Collector`."""
        self._states = list(states)
        for shard, state in zip(self.shards, states, strict=True):
            shard.restore(state)

    def close(self) -> None:
        """See :class:`Collector`."""
        self.pool.shutdown()
        for shard in self.shards:
            shard.envs.close()


def _alone(shard: Shard, weights: Weights, iteration: int, state: ShardState | None) -> Rollout:
    torch.set_num_threads(1)
    rollout: Rollout = shard.collect(weights, iteration, state)
    return rollout
