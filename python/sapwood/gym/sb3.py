"""Environments of many worlds for Stable-Baselines3.

::

    from stable_baselines3 import PPO
    from sapwood.gym.sb3 import make_vec_env

    model = PPO("MlpPolicy", make_vec_env("sapwood/Ant-v0", 16), device="cpu")
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

try:
    from stable_baselines3.common.vec_env import VecEnv as _Base
except ImportError as _error:
    _message = "sapwood.gym.sb3 needs Stable-Baselines3: pip install stable-baselines3"
    raise ImportError(_message) from _error

from sapwood.gym._vector import SapwoodVectorEnv

Indices = int | Sequence[int] | None


class VecEnv(_Base):  # type: ignore[misc] # Stable-Baselines3 may not be there
    """A vector environment as Stable-Baselines3 wants it.

    Args:
        envs: The worlds, made with ``autoreset_mode="SameStep"``.

    Raises:
        ValueError: When they begin again in another way.
    """

    def __init__(self, envs: SapwoodVectorEnv) -> None:
        if envs.autoreset_mode != AutoresetMode.SAME_STEP:
            message = f"autoreset_mode is {envs.autoreset_mode}: expected AutoresetMode.SAME_STEP, see make_vec_env"
            raise ValueError(message)
        self.envs = envs
        self.render_mode = envs.render_mode
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def reset(self) -> NDArray[np.float64]:
        """Begin all episodes; seeds are those of :meth:`seed`."""
        observations, _ = self.envs.reset(seed=list(self._seeds))
        self._reset_seeds()
        return observations

    def step_async(self, actions: NDArray[np.float32]) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_], list[dict[str, Any]]]:
        """Make the step; the info of a world has what Stable-Baselines3 looks for at the end of an episode."""
        observations, rewards, terminated, truncated, infos = self.envs.step(self._actions)
        own: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for world in np.flatnonzero(terminated | truncated):
            own[world]["terminal_observation"] = infos["final_obs"][world]
            own[world]["TimeLimit.truncated"] = bool(truncated[world] and not terminated[world])
        return observations, rewards, terminated | truncated, own

    def close(self) -> None:
        """Let go of the worlds."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """An attribute of the vector environment, for each of some worlds."""
        return [getattr(self.envs, attr_name) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: object, indices: Indices = None) -> None:
        """Worlds have no attributes of their own."""
        message = f"cannot set {attr_name}: worlds share one batch, see envs.batch.set_parameters"
        raise AttributeError(message)

    def env_method(self, method_name: str, *args: object, indices: Indices = None, **options: object) -> list[Any]:
        """Worlds have no methods of their own."""
        message = f"cannot call {method_name}: worlds share one batch, see envs.batch"
        raise AttributeError(message)

    def env_is_wrapped(self, wrapper_class: type, indices: Indices = None) -> list[bool]:
        """Whether worlds are wrapped: they are not."""
        return [False for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[NDArray[np.uint8] | None]:
        """Pictures of all worlds."""
        return self.envs.render() or [None] * self.num_envs


def make_vec_env(name: str, num_envs: int = 1, **options: Any) -> VecEnv:  # noqa: ANN401 - options of any kind
    """Many worlds of an environment for Stable-Baselines3.

    Args:
        name: Such as ``sapwood/Ant-v0``.
        num_envs: Number of worlds.
        options: As for ``gymnasium.make_vec``.

    Returns:
        The worlds.
    """
    envs = gymnasium.make_vec(name, num_envs=num_envs, autoreset_mode=AutoresetMode.SAME_STEP, **options)
    if not isinstance(envs.unwrapped, SapwoodVectorEnv):
        message = f"{name} is not an environment of sapwood.gym: expected a name such as 'sapwood/Ant-v0'"
        raise TypeError(message)
    return VecEnv(envs.unwrapped)


__all__ = ["VecEnv", "make_vec_env"]
