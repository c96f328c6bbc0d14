"""Rollouts on the workers of a Ray cluster.

A rollout is a function of weights, seeds and where its shard is, which comes back with it. So any worker can make any
rollout, results do not depend on the number of workers, and what a lost worker was making is made again.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import ray
import torch
from ray.exceptions import RayActorError, WorkerCrashedError

from sapwood.train.rollouts import Rollout, Shard, ShardState, Weights

if TYPE_CHECKING:
    from sapwood.train.settings import Settings
    from sapwood.train.tasks import Task

MAX_LOSSES = 10
"""Losses of workers in a row, without a rollout between, after which training ends: then it is not chance."""


class Worker:
    """Makes rollouts of any shard, on one processor core, or on a GPU of its own."""

    def __init__(self, task: Task, settings: Settings) -> None:
        torch.set_num_threads(1)
        self.task, self.settings = task, settings
        self.shard: Shard | None = None

    def _of(self, index: int) -> Shard:
        # Shards differ by their seeds alone: one environment serves all of them.
        if self.shard is None:
            self.shard = Shard(self.task, self.settings, index, 1)
        self.shard.index = index
        return self.shard

    def begin(self, index: int) -> Rollout:
        """The first episodes of a shard."""
        return self._of(index).begin()

    def collect(self, index: int, weights: Weights, iteration: int, state: ShardState) -> Rollout:
        """A rollout of a shard that goes on from a state."""
        rollout: Rollout = self._of(index).collect(weights, iteration, state)
        # Tensors of a worker's GPU are none elsewhere.
        return replace(rollout, samples={name: of.cpu() for name, of in rollout.samples.items()})


class RayWorkers:
    """All shards on workers of Ray; connects to the cluster of ``RAY_ADDRESS``, or begins one here."""

    def __init__(self, task: Task, settings: Settings) -> None:
        if settings.workers > settings.shards:
            message = f"workers is {settings.workers}: expected at most the number of shards, {settings.shards}"
            raise ValueError(message)
        if settings.device.startswith("cuda:"):
            message = f"device is {settings.device}: expected cuda, of which each worker gets one of its own from Ray"
            raise ValueError(message)
        self.task, self.settings = task, settings
        self.began_ray = not ray.is_initialized()
        if self.began_ray:
            ray.init(include_dashboard=False, logging_level="warning", log_to_driver=False)
        self.losses = 0
        self.workers: list[Any] = [self._worker() for _ in range(settings.workers)]
        self._states: list[ShardState] = []

    def _worker(self) -> Any:  # noqa: ANN401 - Ray's handle
        # Ray shows a worker its own GPUs alone: each of them is "cuda" there.
        gpus = 1 if self.settings.device == "cuda" else 0
        return ray.remote(num_cpus=1, num_gpus=gpus, max_restarts=0)(Worker).remote(self.task, self.settings)

    def begin(self) -> list[Rollout]:
        """See :class:`Collector`."""
        rollouts = self._make("begin", [(k,) for k in range(self.settings.shards)])
        if any(rollout.state is None for rollout in rollouts):
            message = f"{self.task.about()}: environments without states cannot be on workers; expected workers 0"
            raise ValueError(message)
        return rollouts

    def collect(self, weights: Weights, iteration: int) -> list[Rollout]:
        """See :class:`Collector`."""
        # One object in the store of each machine, however many workers read it.
        shared = ray.put(weights)
        return self._make("collect", [(k, shared, iteration, state) for k, state in enumerate(self._states)])

    def _make(self, method: str, jobs: list[tuple[Any, ...]]) -> list[Rollout]:
        """Rollouts of all shards: a worker that is done takes the next."""
        waiting, made = list(range(len(jobs))), dict[int, Rollout]()
        busy: dict[Any, tuple[int, int]] = {}
        free, lost_in_a_row = list(range(len(self.workers))), 0
        while len(made) < len(jobs):
            while waiting and free:
                job, worker = waiting.pop(0), free.pop(0)
                busy[getattr(self.workers[worker], method).remote(*jobs[job])] = (job, worker)
            ready, _ = ray.wait(list(busy), num_returns=1)
            job, worker = busy.pop(ready[0])
            free.append(worker)
            try:
                made[job] = ray.get(ready[0])
                lost_in_a_row = 0
            except (RayActorError, WorkerCrashedError) as error:
                self.losses, lost_in_a_row = self.losses + 1, lost_in_a_row + 1
                if lost_in_a_row >= MAX_LOSSES:
                    message = f"{MAX_LOSSES} workers were lost in a row: {error}"
                    raise RuntimeError(message) from error
                self.workers[worker] = self._worker()
                waiting.insert(0, job)
        rollouts = [made[job] for job in range(len(jobs))]
        self._states = [rollout.state for rollout in rollouts if rollout.state is not None]
        return rollouts

    def states(self) -> list[ShardState] | None:
        """See :class:`Collector`."""
        return self._states

    def restore(self, states: list[ShardState]) -> None:
        """See :class:`Collector`."""
        self._states = states

    def close(self) -> None:
        """See :class:`Collector`."""
        for worker in self.workers:
            ray.kill(worker)
        if self.began_ray:
            ray.shutdown()
