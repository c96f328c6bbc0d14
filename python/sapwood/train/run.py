"""A training: rollouts and updates in turn, with a log, checkpoints, judgements, and the files that it leaves."""

from __future__ import annotations

import importlib.util
import json
import math
import os
import sys
import time
from collections import deque
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from sapwood.train.policy import Policy
from sapwood.train.ppo import Learner
from sapwood.train.rollouts import Collector, InProcess, Rollout, Shard, ShardState
from sapwood.train.settings import Settings

if TYPE_CHECKING:
    from sapwood.train.tasks import Task

SHOWN_EVERY = 10.0
"""Time between lines of progress, s."""

RECENT = 100
"""Episodes over which returns are averaged."""

FREE = (
    "seconds",
    "samples",
    "workers",
    "device",
    "threads",
    "checkpoint_every",
    "evaluate_every",
    "evaluate_samples",
    "episodes",
)
"""Settings that may change when a training goes on."""


class Training:
    """A training that can be interrupted: see :func:`train`."""

    def __init__(self, task: Task, settings: Settings, out: Path) -> None:
        settings.check()
        self.task, self.settings, self.out = task, settings, out
        torch.set_num_threads(settings.threads if settings.threads > 0 else os.cpu_count() or 1)
        self.collector = collector(task, settings)
        # Of one world: what a policy's file has to know.
        example = Shard(task, settings_of_one(settings), 0, 1)
        self.space = (example.low, example.high, example.offset, example.scale)
        self.learner = Learner(example.envs.single_observation_space.shape[0], len(example.low), settings)
        example.envs.close()
        self.iteration, self.samples, self.before = 0, 0, 0.0
        self.simulating, self.collecting, self.learning, self.finished = 0.0, 0.0, 0.0, 0
        self.processor = 0.0
        # Of a sample: what workers send.
        self.sizes = {"bytes_per_sample": 0.0, "state_bytes_per_sample": 0.0, "weights_bytes": 0.0}
        self.recent: deque[tuple[float, float]] = deque(maxlen=RECENT)
        self.curve: list[dict[str, Any]] = []
        self.judgements: list[dict[str, Any]] = []
        self.board = _board(out)
        self.began = time.perf_counter()
        self._marks = {"shown": 0.0, "checkpoint": 0.0, "judged": 0.0}

    @property
    def seconds(self) -> float:
        """Time of training, s, that of the runs before an interruption included."""
        return self.before + time.perf_counter() - self.began

    @property
    def done(self) -> float:
        """How much of it is done; 1 or more at the end."""
        return max(self.seconds / self.settings.seconds, self.samples / self.settings.samples)

    def begin(self) -> None:
        """Begin the first episodes."""
        for rollout in self.collector.begin():
            self.learner.observations.merge(rollout.observations)

    def improve(self) -> None:
        """Rollouts of all shards, and an update by them."""
        done, started, processor = self.done, time.perf_counter(), time.process_time()
        weights = self.learner.weights()
        rollouts = self.collector.collect(weights, self.iteration)
        collected = time.perf_counter()
        log = self.learner.learn(rollouts, done)
        self.collecting += collected - started
        self.learning += time.perf_counter() - collected
        self.processor += time.process_time() - processor
        self.iteration += 1
        self.samples += sum(len(rollout.samples["target"]) for rollout in rollouts)
        self.simulating += sum(rollout.simulating for rollout in rollouts)
        self._note(rollouts, log)
        if self.iteration == 1 or not self.sizes["weights_bytes"]:
            sizes, new = [rollout.bytes() for rollout in rollouts], sum(len(r.samples["target"]) for r in rollouts)
            self.sizes = {
                "bytes_per_sample": sum(samples for samples, _ in sizes) / new,
                "state_bytes_per_sample": sum(state for _, state in sizes) / new,
                "weights_bytes": float(weights.bytes()),
            }

    def _note(self, rollouts: list[Rollout], log: dict[str, float]) -> None:
        for rollout in rollouts:
            self.recent.extend((float(ret), float(length)) for ret, length in rollout.finished)
            self.finished += len(rollout.finished)
        known = np.mean(self.recent, axis=0).tolist() if self.recent else [None, None]
        row = {"iteration": self.iteration, **self.progress(), "return": known[0]}
        row |= {"length": known[1], "reward": float(np.mean([rollout.reward for rollout in rollouts])), **log}
        self.curve.append(row)
        if self.board is not None:
            for name, value in row.items():
                if value is not None and name not in ("iteration", "samples"):
                    self.board.add_scalar(f"train/{name}", value, self.samples)

    def progress(self) -> dict[str, float]:
        """How far it is: in all; of that the time of rollouts and updates alone, without judgements and checkpoints."""
        return {
            "seconds": self.seconds,
            "samples": self.samples,
            "seconds_training": self.collecting + self.learning,
            "cpu_seconds_training": self.processor,
        }

    def due(self, name: str, every: float) -> bool:
        """Whether it is time for something again."""
        if every <= 0.0 or self.seconds - self._marks[name] < every:
            return False
        self._marks[name] = self.seconds
        return True

    def passed(self, every: int) -> bool:
        """Whether the last update took the samples to, or beyond, a multiple of a number."""
        before = self.curve[-2]["samples"] if len(self.curve) > 1 else 0
        return every > 0 and self.samples // every > before // every

    def show(self) -> None:
        """A line of progress."""
        row = self.curve[-1]
        known = row["return"] is not None
        text = f"return {row['return']:8.2f}  length {row['length']:6.1f}" if known else "return        –"
        rate = self.samples / self.seconds
        line = f"{self.seconds:6.0f} s  {self.samples:10d} samples  {rate:7.0f} /s  {text}  reward {row['reward']:6.3f}"
        print(f"{line}  lr {row['learning_rate']:.1e}", flush=True)

    def policy(self) -> Policy:
        """The policy, for a file."""
        weights, low_high = self.learner.weights(), self.space
        names = [name.removesuffix(".weight") for name in weights.network if name.startswith("actor.")]
        layers = [name for name in dict.fromkeys(names) if not name.endswith(".bias")]
        of = tuple((weights.network[f"{name}.weight"], weights.network[f"{name}.bias"]) for name in layers)
        low, high, offset, scale = low_high
        arrays = (weights.network["log_std"], weights.mean, weights.variance, offset, scale, low, high)
        return Policy(of, self.settings.activation, *arrays, self.task.about())

    def judge(self, replay: Path | None) -> dict[str, Any]:
        """Play episodes with the policy; its file is written before."""
        policy = self.policy()
        policy.save(self.out / "policy.npz")
        found = self.task.judge(policy, self.settings.episodes, self.settings.seed + 10_000, replay)
        row = {**self.progress(), **found}
        self.judgements.append(row)
        if self.board is not None:
            for name, value in found.items():
                if isinstance(value, float):
                    self.board.add_scalar(f"judge/{name}", value, self.samples)
        return row

    def save(self) -> None:
        """Write a checkpoint, in one piece: a training that is killed meanwhile leaves the one before."""
        states = self.collector.states()
        if states is None:
            return
        content = {
            "learner": self.learner.state(),
            "shards": [(state.envs, torch.tensor(state.books)) for state in states],
            "counts": (self.iteration, self.samples, self.finished),
            "times": (self.seconds, self.simulating, self.collecting, self.learning, self.processor),
            "recent": list(self.recent),
            "rows": json.dumps([self.curve, self.judgements, self.sizes]),
            "settings": asdict(self.settings),
            "task": self.task.about(),
        }
        part = self.out / "checkpoint.pt.part"
        torch.save(content, part)
        part.replace(self.out / "checkpoint.pt")

    def resume(self) -> None:
        """Go on from the checkpoint.

        Raises:
            ValueError: When there is none, or it is of another task or other settings.
        """
        path = self.out / "checkpoint.pt"
        if not path.is_file():
            message = f"there is no {path} to go on from: expected that of a training on an environment with states"
            raise ValueError(message)
        expected = "expected one that a training has written, all of it"
        # A file that is cut short or damaged has errors of many kinds: of pickle, zipfile, torch.
        try:
            content = torch.load(path, weights_only=True)
            now, then = asdict(self.settings), dict(content["settings"])
            task, learner, shards, counts = (content[name] for name in ("task", "learner", "shards", "counts"))
        except Exception as error:
            message = f"{path} is no checkpoint ({type(error).__name__}): {expected}"
            raise ValueError(message) from error
        other = [name for name in now if name not in FREE and now[name] != then.get(name)]
        if other:
            values = ", ".join(f"{name} {then.get(name)!r}, now {now[name]!r}" for name in other)
            message = f"{path} is of other settings ({values}): expected the same"
            raise ValueError(message)
        if task != self.task.about():
            message = f"{path} is of {task}, now {self.task.about()}: expected the same task"
            raise ValueError(message)
        try:
            self.learner.restore(learner)
            self.collector.restore([ShardState(envs, books.numpy()) for envs, books in shards])
            self.iteration, self.samples, self.finished = counts
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            message = f"{path} does not fit this training ({error}): {expected}"
            raise ValueError(message) from error
        self.before, self.simulating, self.collecting, self.learning, self.processor = content["times"]
        self.recent.extend(tuple(row) for row in content["recent"])
        self.curve, self.judgements, self.sizes = json.loads(content["rows"])
        self._marks = dict.fromkeys(self._marks, self.before)

    def result(self, last: dict[str, Any]) -> dict[str, Any]:
        """What ``result.json`` has."""
        seconds = self.curve[-1]["seconds"] if self.curve else 0.0
        return {
            "task": self.task.about(),
            "samples": self.samples,
            "seconds": seconds,
            "samples_per_second": self.samples / seconds if seconds else 0.0,
            "seconds_simulating": self.simulating,
            "seconds_collecting": self.collecting,
            "seconds_learning": self.learning,
            "cpu_seconds_training": self.processor,
            **self.sizes,
            "episodes_finished": self.finished,
            **{name: value for name, value in last.items() if name not in self.progress()},
            "settings": asdict(self.settings),
            "judgements": self.judgements,
            "curve": self.curve,
        }


def settings_of_one(settings: Settings) -> Settings:
    """For a shard of one world."""
    from dataclasses import replace

    return replace(settings, num_envs=1, shards=1)


def collector(task: Task, settings: Settings) -> Collector:
    """What makes rollouts: this process, or Ray's workers."""
    if settings.workers == 0:
        return InProcess(task, settings)
    from sapwood.train.ray_workers import RayWorkers

    return RayWorkers(task, settings)


def _board(out: Path) -> Any:  # noqa: ANN401 - a SummaryWriter
    """A log for TensorBoard, where that is installed."""
    if importlib.util.find_spec("tensorboard") is None:
        return None
    from torch.utils.tensorboard import SummaryWriter

    return SummaryWriter(str(out / "tensorboard"))


def train(task: Task, settings: Settings, out: Path, *, resume: bool = False) -> dict[str, Any]:
    """Train a policy, and write ``result.json``, ``policy.npz``, ``checkpoint.pt`` and replays under `out`.

    With the same seed and settings two trainings have the same curves, bit for bit, on any number of threads of
    simulation and workers; with ``schedule="linear"`` only if `samples` ends them. A training that was killed goes on
    from its last checkpoint with the same bits.

    Args:
        task: What is to be learnt.
        settings: What may be chosen.
        out: A folder, which is made.
        resume: Whether to go on from ``checkpoint.pt`` in `out`.

    Returns:
        What ``result.json`` has: "curve" has a row of each update: seconds, samples, "seconds_training" and
        "cpu_seconds_training" of rollouts and updates alone (of this process), "return" and "length", the means over
        the last 100 episodes, "reward", that of a step.

    Raises:
        ValueError: When a setting is outside its domain, or there is nothing to go on from.
    """
    out.mkdir(parents=True, exist_ok=True)
    training = Training(task, settings, out)
    try:
        if resume:
            training.resume()
        else:
            training.begin()
        training.began = time.perf_counter()
        _go_on(training)
        judged = training.judgements and training.judgements[-1]["samples"] == training.samples
        last = training.judgements[-1] if judged else training.judge(out / "replay.html")
    finally:
        training.collector.close()
        if training.board is not None:
            training.board.close()
    result = training.result(last)
    (out / "result.json").write_text(json.dumps(_plain(result), indent=1))
    return result


def _go_on(training: Training) -> None:
    s = training.settings
    try:
        while training.done < 1.0:
            training.improve()
            if training.due("shown", SHOWN_EVERY):
                training.show()
            if training.due("judged", s.evaluate_every) or training.passed(s.evaluate_samples):
                found = training.judge(training.out / "replay.html")
                shown = [f"{name} {found[name]:.3f}" for name in found if name not in training.progress()]
                print(f"{training.seconds:6.0f} s  judged: {'  '.join(shown)}", flush=True)
            if training.due("checkpoint", s.checkpoint_every):
                training.save()
    except KeyboardInterrupt:
        print("interrupted: --resume goes on from here", file=sys.stderr, flush=True)
    training.save()


def _plain(value: Any) -> Any:  # noqa: ANN401 - JSON
    """NaN is no JSON."""
    if isinstance(value, dict):
        return {name: _plain(of) for name, of in value.items()}
    if isinstance(value, list):
        return [_plain(of) for of in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
