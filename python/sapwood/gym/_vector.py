"""Environments of many worlds."""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

import sapwood as sw
from sapwood.gym._device import DeviceVectorEnv
from sapwood.gym._seeded import Flags, SeededVectorEnv
from sapwood.gym._single import DEFAULT_SIZE, show_options, split
from sapwood.gym._state import pack, unpacked
from sapwood.gym._tasks import Array
from sapwood.gym._worlds import Autoreset, Worlds, check_render_mode, episode_limit, task_options

_MODES: dict[AutoresetMode, Autoreset] = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}


class SapwoodVectorEnv(SeededVectorEnv[Array, NDArray[np.float32], Any]):
    """A task of Gymnasium's MuJoCo family on Sapwood, many worlds in one :class:`sapwood.Batch`.

    It does what :class:`gymnasium.vector.SyncVectorEnv` does of as many environments of one world, bit for bit: the
    same seeds and actions give the same observations, rewards and ends, on any number of threads.

    Args:
        num_envs: Number of worlds.
        max_episode_steps: Length at which episodes are cut; "default" for that of the v5 environment, None or -1 for
            no limit.
        autoreset_mode: When worlds whose episodes ended begin again.
        copy: Whether observations are copies. Without, :meth:`step` and :meth:`reset` give the same live array every
            time, which the next call overwrites.
        threads: Threads that share the worlds; None for those of the processor.
        render_mode: "rgb_array", or None for no pictures.
        width: Width of pictures, pixels.
        height: Height of pictures, pixels.
        precision: Numbers that steps are computed with, "f64" or "f32"; None for f64 on the processor, f32 on a GPU.
        device: Where the worlds are: "cpu"; "cuda" (the first GPU), "cuda:1", …, or "host", the GPU's kernels on the
            processor, for tests: then what is made is a :class:`DeviceVectorEnv`.
        options: The options of the task, by the names of the v5 environment; and of :class:`sapwood.Batch`: timestep,
            scheme, contact, accuracy, tolerance, factorization_budget.

    Raises:
        TypeError: For an option that the task does not have.
        FileNotFoundError: When there is no such model.
        ValueError: When the model is not one for the task, or a value is outside its domain.

    Attributes:
        model: The model.
        batch: The worlds: states, contacts, parameters of their own.
    """

    task: str = ""
    metadata: dict[str, Any]
    autoreset_mode: AutoresetMode
    single_observation_space: Space[Array]
    single_action_space: Space[NDArray[np.float32]]
    observation_space: Space[Array]
    action_space: Space[NDArray[np.float32]]
    width: int
    height: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_options(cls, SapwoodVectorEnv)

    # On a GPU it is a `DeviceVectorEnv`.
    def __new__(cls, num_envs: int = 1, *, device: str = "cpu", **options: Any) -> Any:  # noqa: ANN401 - as of __init__
        if device == "cpu":
            return super().__new__(cls)
        return DeviceVectorEnv(options.pop("task", cls.task), num_envs, device=device, **options)

    def __init__(
        self,
        num_envs: int = 1,
        *,
        max_episode_steps: int | str | None = "default",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        copy: bool = True,
        threads: int | None = None,
        render_mode: str | None = None,
        width: int = DEFAULT_SIZE,
        height: int = DEFAULT_SIZE,
        precision: str | None = None,
        device: str = "cpu",
        **options: Any,  # noqa: ANN401 - numbers, flags, ranges, names
    ) -> None:
        super().__init__()
        del device  # of __new__
        check_render_mode(render_mode)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        max_episode_steps = episode_limit(self.task, max_episode_steps)
        batch_options = {**split(options), "precision": precision}
        self._worlds = Worlds(
            task_options(self.task, options),
            num_envs,
            autoreset=_MODES[self.autoreset_mode],
            max_episode_steps=max_episode_steps,
            threads=threads,
            lanes=None,
            batch_options=batch_options,
        )
        self.model: sw.Model = self._worlds.model
        self.batch: sw.Batch = self._worlds.batch
        self.num_envs = num_envs
        self.copy = copy
        self.render_mode = render_mode
        self.width, self.height = width, height
        self.metadata = {**self._worlds.metadata(), "autoreset_mode": self.autoreset_mode}
        one_observation, one_action = self._worlds.spaces()
        self.single_observation_space, self.single_action_space = one_observation, one_action
        self.observation_space = batch_space(one_observation, num_envs)
        self.action_space = batch_space(one_action, num_envs)
        # Worlds whose next episodes are to be drawn, and those whose last one has ended or that never began one.
        self._ended: NDArray[np.bool_] = np.ones(num_envs, dtype=np.bool_)
        self._fresh = np.zeros(num_envs, dtype=np.bool_)

    @property
    def dt(self) -> float:
        """Time of a step, s."""
        return self._worlds.dt

    @property
    def observation_parts(self) -> dict[str, slice]:
        """Where the parts of an observation are in it, by dm_control's names; empty for tasks of Gymnasium."""
        return self._worlds.parts()

    @property
    def goal(self) -> Array:
        """The goals of the episodes, such as where targets are, (num_envs, number); tasks of Gymnasium have none."""
        goal: Array = self._worlds.episodes.goal
        return goal

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes.

        Args:
            seed: A number, of which world i gets seed + i; or one for each world, where None goes on with its own.
            options: ``{"reset_mask": mask}`` for some worlds alone, an array of booleans (num_envs,).

        Returns:
            Observations (num_envs, number), info.
        """
        mask = self._mask(options)
        self._fresh[self._seed(seed, mask)] = False
        self._draw(mask)
        self._worlds.episodes.reset(mask)
        self._ended[mask] = False
        self._fresh[mask] = False
        return self._observations(), self._infos(mask, np.zeros_like(mask))

    def _draw(self, mask: Flags) -> None:
        """Draw where the next episodes of these worlds begin, unless it has been drawn already."""
        for world in np.flatnonzero(mask & ~self._fresh):
            self._worlds.draw(int(world), self._rngs[world])
        self._fresh |= mask

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Make a step of every world.

        Args:
            actions: Controls, (num_envs, nu).

        Returns:
            Observations (num_envs, number), rewards, terminations and truncations (num_envs,), info. Where time steps
            of a world fail, it stays where it was, its episode ends, and ``info["simulation_error"]`` says why.

        Raises:
            ResetNeeded: Before :meth:`reset`, or, without autoreset, while worlds whose episodes ended were not reset.
            ValueError: When the actions have another shape, or are not finite.
        """
        if not self._rngs:
            message = "call reset before step"
            raise ResetNeeded(message)
        if self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any():
            ended = ", ".join(map(str, np.flatnonzero(self._ended)[:10]))
            message = f"episodes of worlds {ended} have ended: call reset(options={{'reset_mask': mask}}) for them"
            raise ResetNeeded(message)
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            self._draw(self._ended)
        elif self.autoreset_mode == AutoresetMode.SAME_STEP:
            self._draw(np.ones_like(self._ended))
        episodes = self._worlds.episodes
        terminated, truncated, was_reset = episodes.step(np.asarray(actions))
        self._fresh &= ~was_reset
        self._ended = terminated | truncated
        infos = self._infos(np.ones_like(was_reset), ~was_reset)
        if self.autoreset_mode == AutoresetMode.SAME_STEP:
            self._add_last(infos, was_reset)
        self._add_failures(infos, terminated)
        return self._observations(), episodes.reward.copy(), terminated, truncated, infos

    def _observations(self) -> Array:
        observation = self._worlds.episodes.observation
        return observation.copy() if self.copy else observation

    def _infos(self, mask: Flags, stepped: Flags) -> dict[str, Any]:
        """Info of the worlds of a mask, of which some made a step; the others were reset."""
        return self._columns(self._worlds.episodes.info, mask, mask & stepped)

    def _columns(self, values: Array, mask: Flags, stepped: Flags) -> dict[str, Any]:
        infos: dict[str, Any] = {}
        all_there, all_stepped = bool(mask.all()), bool(stepped.all())
        any_stepped = all_stepped or bool(stepped.any())
        copy = values.copy() if all_there else np.where(mask[:, np.newaxis], values, 0.0)
        for name, where, is_of_reset in self._worlds.columns:
            if is_of_reset or any_stepped:
                infos[name] = copy[:, where]
                infos[f"_{name}"] = (mask if is_of_reset else stepped).copy()
        return infos

    def _add_last(self, infos: dict[str, Any], ended: Flags) -> None:
        if not ended.any():
            return
        last = np.full(self.num_envs, None, dtype=object)
        for world in np.flatnonzero(ended):
            last[world] = self._worlds.episodes.last_observation[world].copy()
        infos["final_obs"], infos["_final_obs"] = last, ended.copy()
        infos["final_info"] = self._columns(self._worlds.episodes.last_info, ended, ended)
        infos["_final_info"] = ended.copy()

    def _add_failures(self, infos: dict[str, Any], terminated: Flags) -> None:
        if not terminated.any():
            return
        failed = self._worlds.episodes.failed & terminated
        if not failed.any():
            return
        errors = np.full(self.num_envs, None, dtype=object)
        reasons = self.batch.errors
        for world in np.flatnonzero(failed):
            errors[world] = reasons.get(int(world), "the time step failed")
        infos["simulation_error"], infos["_simulation_error"] = errors, failed
        first = int(np.flatnonzero(failed)[0])
        message = (
            f"{failed.sum()} of {self.num_envs} worlds could not be stepped, which ended their episodes; "
            f"world {first}: {errors[first]}"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)

    def state(self) -> bytes:
        """Worlds, episodes and generators: an environment of the same options goes on from it by :meth:`restore`.

        As with ``Batch.state``, it leaves out what lanes remember of the last step, so that this environment goes on
        with other bits, equal to round-off. Where it is to go on with the same, give it its own state back.

        Raises:
            ResetNeeded: Before :meth:`reset`.
        """
        if not self._rngs:
            message = "call reset before state"
            raise ResetNeeded(message)
        episodes = self._worlds.episodes
        generators = [
            {"seed": seed, **rng.bit_generator.state} for seed, rng in zip(self._seeds, self._rngs, strict=True)
        ]
        arrays: dict[str, NDArray[Any]] = {
            "generators": np.frombuffer(json.dumps(generators).encode(), dtype=np.uint8),
            "next_q": episodes.next_q,
            "next_v": episodes.next_v,
            "next_goal": episodes.next_goal,
            "next_act": episodes.next_act,
            "ended": self._ended,
            "fresh": self._fresh,
        }
        return pack(self.batch, episodes, arrays)

    def restore(self, state: bytes) -> tuple[Array, dict[str, Any]]:
        """Go on from a :meth:`state`.

        Returns:
            Observations (num_envs, number), info.

        Raises:
            ValueError: When it is no state of an environment of the same task, options and number of worlds.
        """
        episodes = self._worlds.episodes
        with unpacked(state, self.batch, episodes) as arrays:
            next_names = ("next_q", "next_v", "next_goal", "next_act")
            nexts = {name: np.broadcast_to(arrays[name], getattr(episodes, name).shape) for name in next_names}
            ended, fresh = arrays["ended"].astype(np.bool_), arrays["fresh"].astype(np.bool_)
            rngs, seeds = [], []
            for saved in json.loads(arrays["generators"].tobytes()):
                seeds.append(saved.pop("seed"))
                bits = np.random.PCG64()
                bits.state = saved
                rngs.append(np.random.Generator(bits))
            if not len(rngs) == len(ended) == len(fresh) == self.num_envs:
                message = f"it has {len(rngs)} generators"
                raise ValueError(message)
        for name, values in nexts.items():
            getattr(episodes, name)[:] = values
        self._ended, self._fresh, self._rngs, self._seeds = ended, fresh, rngs, seeds
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        return self._observations(), self._infos(everywhere, everywhere)

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Pictures of all worlds, (height, width, 3) each, or None without a render mode."""
        if self.render_mode is None:
            return None
        return tuple(self._worlds.picture(world, (self.width, self.height)) for world in range(self.num_envs))


class AntVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.AntEnv`."""

    task = "Ant"


class HalfCheetahVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.HalfCheetahEnv`."""

    task = "HalfCheetah"


class HopperVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.HopperEnv`."""

    task = "Hopper"


class HumanoidVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.HumanoidEnv`."""

    task = "Humanoid"


class HumanoidStandupVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.HumanoidStandupEnv`."""

    task = "HumanoidStandup"


class InvertedDoublePendulumVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.InvertedDoublePendulumEnv`."""

    task = "InvertedDoublePendulum"


class InvertedPendulumVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.InvertedPendulumEnv`."""

    task = "InvertedPendulum"


class PusherVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.PusherEnv`."""

    task = "Pusher"


class ReacherVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.ReacherEnv`."""

    task = "Reacher"


class SwimmerVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.SwimmerEnv`."""

    task = "Swimmer"


class Walker2dVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.Walker2dEnv`."""

    task = "Walker2d"


class SuiteVectorEnv(SapwoodVectorEnv):
    """Many worlds of :class:`sapwood.gym.SuiteEnv`.

    Args:
        num_envs: Number of worlds.
        task: Domain and task with a hyphen between: ``walker-run``.
        options: As of :class:`SapwoodVectorEnv`.

    Raises:
        ModuleNotFoundError: When dm_control, which has the models, is not installed.
        TypeError: For an option that there is not.
        ValueError: When there is no such task.
    """

    def __init__(self, num_envs: int = 1, *, task: str, **options: Any) -> None:  # noqa: ANN401 - numbers, names
        self.task = task
        super().__init__(num_envs, **options)
