"""What may be chosen of a training. It needs no torch, so that policies play without."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


def setting(default: Any, meaning: str) -> Any:  # noqa: ANN401 - as `dataclasses.field`
    """A field with its meaning."""
    return field(default=default, metadata={"help": meaning})


@dataclass(frozen=True)
class Settings:
    """What may be chosen. The defaults are for robots that run, on a few processor cores."""

    seconds: float = setting(600.0, "time to train, s")
    samples: int = setting(10**12, "steps of environments after which training ends, if time allows")
    seed: int = setting(0, "of environments, policy and sampling")
    num_envs: int = setting(64, "environments side by side, all shards together")
    num_steps: int = setting(64, "steps of each between updates")
    shards: int = setting(1, "groups of environments that are simulated apart; results depend on it")
    workers: int = setting(0, "Ray workers that simulate the shards, 0 for this process; results do not depend on it")
    device: str = setting(
        "cpu", "where environments and networks are: cpu, cuda, cuda:1, or host, the GPU's kernels on the processor"
    )
    epochs: int = setting(8, "passes over the samples of an update")
    minibatch: int = setting(512, "samples of a gradient step")
    learning_rate: float = setting(3e-4, "of Adam")
    schedule: str = setting(
        "linear", "of the learning rate: linear to zero over time or samples, constant, or adaptive to target_kl"
    )
    gamma: float = setting(0.99, "discount")
    gae_lambda: float = setting(0.95, "of generalised advantages")
    clip_range: float = setting(0.2, "range of the ratio of probabilities")
    entropy: float = setting(0.0, "weight of the entropy")
    value_weight: float = setting(0.5, "weight of the loss of the value")
    max_gradient: float = setting(0.5, "norm at which gradients are cut")
    target_kl: float = setting(
        0.03, "divergence from the old policy at which an update ends early, or that is aimed at"
    )
    hidden: str = setting("64,64", "widths of the hidden layers; one number for two layers")
    activation: str = setting("tanh", "between layers: tanh, relu or elu")
    std: float = setting(1.0, "standard deviation of actions at the beginning, before their scale")
    learn_std: bool = setting(True, "whether the standard deviation is learnt")
    threads: int = setting(1, "threads of torch in updates; 0 for all processors")
    episodes: int = setting(16, "episodes by which the policy is judged")
    evaluate_every: float = setting(0.0, "time between judgements of the policy, s; 0 for none by time")
    evaluate_samples: int = setting(0, "samples between judgements of the policy; 0 for none by samples")
    checkpoint_every: float = setting(60.0, "time between checkpoints, s")

    def widths(self) -> list[int]:
        """Widths of the hidden layers."""
        widths = [int(width) for width in str(self.hidden).split(",")]
        return widths * 2 if len(widths) == 1 else widths

    def torch_device(self) -> str:
        """Where tensors are: those of the host back end on the processor."""
        return "cpu" if self.device == "host" else self.device

    def check(self) -> None:
        """Refuse what cannot be.

        Raises:
            ValueError: What came, what was expected.
        """
        least = {"num_envs": 1, "num_steps": 1, "shards": 1, "epochs": 1, "minibatch": 2, "episodes": 1, "workers": 0}
        for name, at_least in least.items():
            if getattr(self, name) < at_least:
                message = f"{name} is {getattr(self, name)}: expected {at_least} or more"
                raise ValueError(message)
        for name in ("seconds", "samples", "learning_rate", "std", "target_kl", "clip_range", "max_gradient"):
            if not getattr(self, name) > 0:
                message = f"{name} is {getattr(self, name)}: expected a number above 0"
                raise ValueError(message)
        for name in ("gamma", "gae_lambda"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                message = f"{name} is {getattr(self, name)}: expected 0 to 1"
                raise ValueError(message)
        if self.num_envs % self.shards:
            message = f"num_envs is {self.num_envs}: expected a multiple of shards, {self.shards}"
            raise ValueError(message)
        words = {"schedule": ("linear", "constant", "adaptive"), "activation": ("tanh", "relu", "elu")}
        for name, known in words.items():
            if getattr(self, name) not in known:
                message = f"{name} is {getattr(self, name)!r}: expected one of {', '.join(known)}"
                raise ValueError(message)
        try:
            widths = self.widths()
        except ValueError:
            widths = [0]
        if min(widths) < 1:
            message = f"hidden is {self.hidden!r}: expected widths with commas between, such as 256,128"
            raise ValueError(message)
