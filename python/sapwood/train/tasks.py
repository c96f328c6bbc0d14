"""What can be learnt: environments of Gymnasium's registry, and imitation of motions."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from sapwood.train.policy import Array, Policy


class Task(Protocol):
    """Makes environments, and judges policies in them. It is pickled to reach workers."""

    def make(self, num_envs: int, *, threads: int | None = None, **changes: Any) -> Any:  # noqa: ANN401 - a VectorEnv
        """A vector environment that begins again in the step that ends an episode."""
        ...

    def action_scaling(self, envs: Any) -> tuple[Array, Array]:  # noqa: ANN401 - a VectorEnv
        """The action at output 0 of a policy, and the change of an action by an output."""
        ...

    def about(self) -> dict[str, Any]:
        """What :func:`task_of` makes the task from."""
        ...

    def judge(self, policy: Policy, episodes: int, seed: int, replay: Path | None) -> dict[str, Any]:
        """Play episodes, for "return" and other results; `replay` is a page of the first to be written."""
        ...


@dataclass(frozen=True)
class Registered:
    """An environment of Gymnasium's registry.

    Names that begin with ``sapwood/`` make one batch, others a ``SyncVectorEnv``.
    """

    name: str
    options: dict[str, Any] = field(default_factory=dict)

    def make(self, num_envs: int, *, threads: int | None = None, **changes: Any) -> Any:  # noqa: ANN401
        """See :class:`Task`."""
        import gymnasium
        from gymnasium.vector import AutoresetMode

        mode, options = AutoresetMode.SAME_STEP, {**self.options, **changes}
        if self.name.startswith("sapwood/"):
            import sapwood.gym  # noqa: F401

            return gymnasium.make_vec(self.name, num_envs=num_envs, autoreset_mode=mode, threads=threads, **options)
        if "device" in options:
            message = f"--device {options['device']}: {self.name} is on the processor: expected a name with sapwood/"
            raise ValueError(message)
        kwargs = {"autoreset_mode": mode}
        return gymnasium.make_vec(
            self.name, num_envs=num_envs, vectorization_mode="sync", vector_kwargs=kwargs, **options
        )

    def action_scaling(self, envs: Any) -> tuple[Array, Array]:  # noqa: ANN401
        """See :class:`Task`."""
        actions = envs.single_action_space.shape[0]
        return np.zeros(actions), np.ones(actions)

    def about(self) -> dict[str, Any]:
        """See :class:`Task`."""
        return {"kind": "gymnasium", "name": self.name, "options": self.options}

    def judge(self, policy: Policy, episodes: int, seed: int, replay: Path | None = None) -> dict[str, Any]:
        """Returns of whole episodes under the mean of the policy; there is no replay."""
        del replay
        envs = self.make(episodes)
        raw, _ = envs.reset(seed=seed)
        returns, running = np.zeros(episodes), np.ones(episodes, dtype=bool)
        while running.any():
            raw, reward, terminated, truncated, _ = envs.step(policy(raw))
            returns += reward * running
            running &= ~(terminated | truncated)
        envs.close()
        return {"return": float(np.mean(returns)), "return_std": float(np.std(returns))}


def task_of(about: dict[str, Any]) -> Task:
    """The task that a policy's file names.

    Raises:
        ValueError: When this version has no such kind.
    """
    if about.get("kind") == "gymnasium":
        return Registered(about["name"], about["options"])
    if about.get("kind") == "imitation":
        from sapwood.train.imitation import Imitation

        return Imitation(about["options"])
    message = f"the policy's task is {about.get('kind')!r}: expected 'gymnasium' or 'imitation'"
    raise ValueError(message)
