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
from torch import Tensor

from sapwood.train.policy import Array

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
    def of(cls, rows: Tensor) -> Moments:
        """Of rows (n, …)."""
        if rows.device.type == "cpu":
            # NumPy's sums have the same bits on any number of torch's threads.
            array = rows.double().numpy()
            return cls(len(array), array.mean(axis=0), array.var(axis=0))
        variance, mean = torch.var_mean(rows.double(), 0, correction=0)
        return cls(len(rows), mean.cpu().numpy(), variance.cpu().numpy())


@dataclass(frozen=True)
class ShardState:
    """Where the worlds of a shard are: the environments, and discounted and plain returns and lengths of episodes."""

    envs: bytes
    books: Array


@dataclass(frozen=True)
class Rollout:
    """Samples of a shard, flat (steps × worlds, …), where its worlds are, and what is to be known of them."""

    samples: dict[str, Tensor]
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
    """Environments that are simulated together, on the processor or on a GPU; so are networks and records."""

    def __init__(self, task: Task, settings: Settings, index: int, threads: int | None) -> None:
        self.settings, self.index, self.task = settings, index, task
        self.n = settings.num_envs // settings.shards
        where: dict[str, Any] = {"threads": threads} if settings.device == "cpu" else {"device": settings.device}
        self.envs = task.make(self.n, **where)
        self.remembers = hasattr(self.envs, "state") and hasattr(self.envs, "restore")
        space = self.envs.single_action_space
        self.low, self.high = space.low.astype(np.float64), space.high.astype(np.float64)
        self.offset, self.scale = task.action_scaling(self.envs)
        self.device = torch.device(settings.torch_device())
        bounds = (self.offset, self.scale, self.low, self.high)
        self._bounds = [torch.as_tensor(bound, device=self.device) for bound in bounds]
        self.books = torch.zeros((3, self.n), dtype=torch.float64, device=self.device)
        self.raw = torch.zeros((self.n, 0), device=self.device)

    def begin(self) -> Rollout:
        """Begin the first episodes, by seeds of run, shard and world."""
        seeds = [seed_of(START, self.settings.seed, self.index, world) for world in range(self.n)]
        self.raw = torch.as_tensor(self.envs.reset(seed=seeds)[0])
        nothing: Array = np.zeros((0, 2))
        return Rollout({}, Moments.of(self.raw), Moments(0, np.zeros(()), np.ones(())), 0.0, nothing, self.state(), 0.0)

    def state(self) -> ShardState | None:
        """Where the worlds are."""
        return ShardState(self.envs.state(), self.books.cpu().numpy().copy()) if self.remembers else None

    def restore(self, state: ShardState) -> None:
        """Take the worlds to a state."""
        self.raw = torch.as_tensor(self.envs.restore(state.envs)[0])
        self.books = torch.tensor(state.books, device=self.device)

    @torch.no_grad()
    def collect(self, weights: Weights, iteration: int, state: ShardState | None) -> Rollout:
        """Samples of `num_steps` steps.

        The worlds are always taken to `state`, also where they are there already: what lanes remember of the step
        before would give other bits, equal to round-off.
        """
        from sapwood.train.ppo import ActorCritic, Normaliser, log_density

        s = self.settings
        if state is not None:
            self.restore(state)
        network = ActorCritic(self.raw.shape[1], len(self.low), s).to(self.device)
        network.load_state_dict({name: torch.tensor(array) for name, array in weights.network.items()})
        normaliser = Normaliser(weights, self.raw)
        generator = torch.Generator(self.device).manual_seed(seed_of(ACTION_NOISE, s.seed, self.index, iteration))
        std = network.log_std.exp()
        record = _Record(s.num_steps, self.raw, len(self.low))
        for k in range(s.num_steps):
            observation = normaliser(self.raw)
            noise = torch.randn((self.n, len(self.low)), generator=generator, device=self.device)
            action = network.actor(observation) + std * noise
            record.raw[k], record.observation[k] = self.raw, observation
            record.action[k], record.log_prob[k] = action, log_density(noise, network.log_std)
            self._step(record, k, action, network, normaliser)
        every = torch.cat([record.observation.flatten(0, 1), normaliser(self.raw)])
        values = network.value(every).reshape(s.num_steps + 1, self.n)
        return self._rollout(record, values)

    def _step(self, record: _Record, k: int, action: Tensor, network: Any, normaliser: Any) -> None:  # noqa: ANN401 - modules
        """A step: scaled rewards, and which episodes ended. Where one was cut, the reward has its value there."""
        s, began = self.settings, time.perf_counter()
        offset, scale, low, high = self._bounds
        given = torch.clamp(offset + scale * action, low, high)
        raw, *found, info = self.envs.step(given.numpy() if s.device == "cpu" else given)
        self.raw, reward, terminated, truncated = (torch.as_tensor(x) for x in (raw, *found))
        record.simulating += time.perf_counter() - began
        ended = terminated | truncated
        discounted, returns, lengths = self.books
        returns += reward
        lengths += 1.0
        discounted *= s.gamma
        discounted += reward
        record.books[k], record.ended[k], record.given[k] = self.books, ended, reward
        self.books = torch.where(ended, torch.zeros_like(self.books), self.books)
        scaled = torch.clamp(reward / math.sqrt(normaliser.reward_variance + 1e-8), -10.0, 10.0)
        cut = truncated & ~terminated
        if s.device != "cpu":
            # Of all worlds: to ask which were cut would wait for the GPU.
            scaled = scaled + s.gamma * cut * network.value(normaliser(info["final_obs"]))
        elif cut.any():
            last = np.stack([info["final_obs"][world] for world in np.flatnonzero(cut)])
            scaled[cut] += s.gamma * network.value(normaliser(torch.as_tensor(last)))
        record.reward[k] = scaled

    def _rollout(self, record: _Record, values: Tensor) -> Rollout:
        s, goes_on = self.settings, (~record.ended).float()
        advantages = torch.zeros_like(record.reward)
        later = torch.zeros_like(values[0])
        for k in reversed(range(s.num_steps)):
            delta = record.reward[k] + s.gamma * goes_on[k] * values[k + 1] - values[k]
            later = delta + s.gamma * s.gae_lambda * goes_on[k] * later
            advantages[k] = later
        samples = {
            "observation": record.observation,
            "action": record.action,
            "log_prob": record.log_prob,
            "advantage": advantages,
            "target": advantages + values[:-1],
        }
        _, returns, lengths = record.books.unbind(1)
        finished = torch.stack([returns[record.ended], lengths[record.ended]], 1)
        return Rollout(
            {name: of.flatten(0, 1) for name, of in samples.items()},
            Moments.of(record.raw.flatten(0, 1)),
            Moments.of(record.books[:, 0].flatten()),
            float(record.given.mean()),
            finished.cpu().numpy(),
            self.state(),
            record.simulating,
        )


class _Record:
    """What a rollout collects, step by step."""

    def __init__(self, steps: int, raw: Tensor, actions: int) -> None:
        n, observations = raw.shape
        single, double = ({"dtype": dtype, "device": raw.device} for dtype in (torch.float32, torch.float64))
        self.raw = torch.zeros((steps, n, observations), dtype=raw.dtype, device=raw.device)
        self.observation = torch.zeros((steps, n, observations), **single)
        self.action = torch.zeros((steps, n, actions), **single)
        self.log_prob, self.reward = torch.zeros((steps, n), **single), torch.zeros((steps, n), **single)
        # Discounted and plain returns and lengths of the episodes so far; which of them ended; rewards as they came.
        self.books = torch.zeros((steps, 3, n), **double)
        self.ended = torch.zeros((steps, n), dtype=torch.bool, device=raw.device)
        self.given = torch.zeros((steps, n), **double)
        self.simulating = 0.0


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
