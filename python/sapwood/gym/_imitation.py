"""Characters that imitate motions, many worlds side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

import sapwood as sw
from sapwood import _sapwood
from sapwood.gym._state import pack, unpack

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]

_MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


class ImitationVectorEnv(VectorEnv[Array, Array, Any]):
    """A character that imitates a motion: DeepMimic's task (Peng et al. 2018)."""

    def __init__(
        self,
        character: str | sw.Model = "humanoid",
        clip: str = "walk",
        num_envs: int = 1,
        *,
        spd: str = "maba",
        action: str = "target",
        rotations: str = "quaternion",
        observe_root: bool = False,
        control_hz: float = 30.0,
        physics_hz: float = 120.0,
        reward: str = "paper",
        effort_limits: bool = True,
        reference_state_init: bool = True,
        early_termination: bool = True,
        cycle_sync: bool = True,
        max_episode_steps: int = 600,
        seed: int = 0,
        precision: str = "f64",
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.SAME_STEP,
    ) -> None:
        super().__init__()
        self.num_envs, self.max_episode_steps = num_envs, max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": [], "render_fps": round(control_hz)}
        if isinstance(character, str):
            path = character.endswith(".xml")
            self.model = sw.load(character) if path else _sapwood.character(character)
        else:
            self.model = character
        self.batch = sw.Batch(
            self.model, num_envs, timestep=1.0 / physics_hz, threads=threads, precision=precision, contacts=True
        )
        self.episodes = _sapwood.ImitationEpisodes(
            self.batch,
            clip,
            control_hz=control_hz,
            spd=spd,
            action=action,
            rotations=rotations,
            observe_root=observe_root,
            reward=reward,
            effort_limits=effort_limits,
            reference_state_init=reference_state_init,
            early_termination=early_termination,
            cycle_sync=cycle_sync,
            max_episode_steps=max_episode_steps,
            autoreset=_MODES[self.autoreset_mode],
        )
        self.dt = 1.0 / control_hz
        columns, actions = self.episodes.observation.shape[1], self.episodes.action_len
        self.single_observation_space = Box(-np.inf, np.inf, (columns,), np.float64)
        bound = 2.0 * np.pi
        self.single_action_space = Box(-bound, bound, (actions,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        times = np.linspace(0.0, self.episodes.duration, 64, endpoint=False)
        mean = np.mean([self.episodes.reference_action(time) for time in times], axis=0)
        self.mean_action: Array = mean if action == "target" else np.zeros(actions)
        self._begun, self._first_seed = False, seed

    def reset(
        self, *, seed: int | list[int] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes."""
        if seed is None and not self._begun:
            seed = self._first_seed
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
            for world, own in enumerate(seeds):
                self.episodes.seed(world, own)
        mask = (options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_))
        self.episodes.reset(mask)
        self._begun = True
        return self.episodes.observation, {}

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Make a control step of every world."""
        if not self._begun:
            message = "call reset before step"
            raise ResetNeeded(message)
        terminated, truncated, was_reset = self.episodes.step(np.asarray(actions, dtype=np.float64))
        infos: dict[str, Any] = {}
        if self.autoreset_mode == AutoresetMode.SAME_STEP and was_reset.any():
            last = np.full(self.num_envs, None, dtype=object)
            for world in np.flatnonzero(was_reset):
                last[world] = self.episodes.last_observation(int(world))
            infos["final_obs"], infos["_final_obs"] = last, was_reset
        return self.episodes.observation, self.episodes.reward, terminated, truncated, infos

    def state(self) -> bytes:
        """Worlds, episodes and generators."""
        return pack(self.batch, self.episodes, {})

    def restore(self, state: bytes) -> tuple[Array, dict[str, Any]]:
        """Go on from a state."""
        unpack(state, self.batch, self.episodes)
        self._begun = True
        return self.episodes.observation, {}
