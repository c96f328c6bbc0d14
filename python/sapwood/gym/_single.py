"""Environments of one world."""

from __future__ import annotations

import inspect
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import ArrayLike, NDArray

import sapwood as sw
from sapwood.gym._state import Kept, pack, unpacked
from sapwood.gym._tasks import Array
from sapwood.gym._worlds import CAN_RENDER, Worlds, check_render_mode, task_kind, task_options

_BATCH_OPTIONS = ("timestep", "scheme", "contact", "accuracy", "tolerance", "factorization_budget")
DEFAULT_SIZE = 480


def split(options: dict[str, Any]) -> dict[str, Any]:
    """Take what the batch is made with out of keyword arguments."""
    return {name: options.pop(name) for name in _BATCH_OPTIONS if name in options}


def show_options(cls: Any, base: type) -> None:  # noqa: ANN401 - it gets a `__signature__`
    """Let documentation show the options of a class's task."""
    own = list(inspect.signature(base).parameters.values())[:-1]
    if not cls.task:
        return
    of_task = inspect.signature(task_kind(cls.task)).parameters.values()
    cls.__signature__ = inspect.Signature([*own, *of_task])


class SapwoodEnv(gymnasium.Env[Array, NDArray[np.float32]], Kept):
    """A task of Gymnasium's MuJoCo family on Sapwood, one world.

    Args:
        render_mode: "rgb_array", or None for no pictures.
        width: Width of pictures, pixels.
        height: Height of pictures, pixels.
        options: The options of the task, by the names of the v5 environment; and of :class:`sapwood.Batch`: timestep,
            scheme, contact, accuracy, tolerance, factorization_budget.

    Raises:
        TypeError: For an option that the task does not have.
        FileNotFoundError: When there is no such model.
        ValueError: When the model is not one for the task, or a value is outside its domain.

    Attributes:
        model: The model.
        batch: The batch of one world behind it: its state, contacts and parameters.
    """

    task: str = ""
    metadata: dict[str, Any] = {"render_modes": ["rgb_array"] if CAN_RENDER else []}  # noqa: RUF012 - as Gymnasium's
    observation_space: gymnasium.Space[Array]
    action_space: gymnasium.Space[NDArray[np.float32]]
    width: int
    height: int
    frame_skip: int

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        show_options(cls, SapwoodEnv)

    def __init__(
        self,
        *,
        render_mode: str | None = None,
        width: int = DEFAULT_SIZE,
        height: int = DEFAULT_SIZE,
        **options: Any,  # noqa: ANN401 - numbers, flags, ranges, names
    ) -> None:
        Kept.__init__(self, render_mode=render_mode, width=width, height=height, **options)
        check_render_mode(render_mode)
        batch_options = split(options)
        self._worlds = Worlds(
            task_options(self.task, options),
            1,
            autoreset="disabled",
            max_episode_steps=None,
            threads=1,
            lanes=1,
            batch_options=batch_options,
        )
        self.model: sw.Model = self._worlds.model
        self.batch: sw.Batch = self._worlds.batch
        self.metadata = self._worlds.metadata()
        self.observation_space, self.action_space = self._worlds.spaces()
        self.render_mode = render_mode
        self.width, self.height = width, height
        self.frame_skip = self._worlds.options.frame_skip

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
        """The goal of the episode, such as where the target is, (number,); tasks of Gymnasium have none."""
        goal: Array = self._worlds.episodes.goal[0]
        return goal

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Of the generator of this environment; None goes on with it.
            options: None are known.

        Returns:
            Observation, info.
        """
        super().reset(seed=seed, options=options)
        self._worlds.draw(0, self.np_random)
        self._worlds.episodes.reset(np.array([True]))
        return self._observation(), self._info(is_reset=True)

    def step(self, action: ArrayLike) -> tuple[Array, np.float64, bool, bool, dict[str, Any]]:
        """Make `frame_skip` time steps under an action.

        Args:
            action: Controls, (nu,).

        Returns:
            Observation, reward, whether the episode ended by itself, False (`TimeLimit` cuts episodes), info. Where a
            time step fails, the state stays, the episode ends, and ``info["simulation_error"]`` says why.

        Raises:
            ValueError: When the action has another shape, or is not finite.
        """
        given = np.asarray(action)
        if given.shape != self.action_space.shape:
            message = f"action has shape {given.shape}: expected {self.action_space.shape}"
            raise ValueError(message)
        terminated, _, _ = self._worlds.episodes.step(given[np.newaxis])
        info = self._info(is_reset=False)
        if terminated[0] and self.batch.failed[0]:
            info["simulation_error"] = self.batch.errors[0]
        return self._observation(), self._worlds.episodes.reward[0], bool(terminated[0]), False, info

    def set_state(self, qpos: ArrayLike, qvel: ArrayLike) -> Array:
        """Put the world into a state, at rest from all that the solver remembers.

        Args:
            qpos: Positions, (nq,).
            qvel: Velocities, (nv,).

        Returns:
            The observation.
        """
        self.batch.q[0] = qpos
        self.batch.v[0] = qvel
        self.batch.ctrl[0] = 0.0
        self._worlds.episodes.observe(0)
        return self._observation()

    def state_vector(self) -> Array:
        """Positions and velocities, (nq + nv,)."""
        return np.concatenate([self.batch.q[0], self.batch.v[0]])

    def render(self) -> NDArray[np.uint8] | None:
        """A picture, (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        return self._worlds.picture(0, (self.width, self.height))

    def _state(self) -> bytes:
        return pack(self.batch, self._worlds.episodes, {})

    def _restore(self, state: bytes) -> None:
        with unpacked(state, self.batch, self._worlds.episodes):
            pass

    def _observation(self) -> Array:
        return np.array(self._worlds.episodes.observation[0])

    def _info(self, *, is_reset: bool) -> dict[str, Any]:
        values = self._worlds.episodes.info[0].copy()
        columns = self._worlds.columns
        return {name: values[where] for name, where, is_of_reset in columns if is_of_reset or not is_reset}


class AntEnv(SapwoodEnv):
    """A four-legged robot that runs: Ant-v5 on Sapwood."""

    task = "Ant"


class HalfCheetahEnv(SapwoodEnv):
    """A two-legged planar robot that runs: HalfCheetah-v5 on Sapwood."""

    task = "HalfCheetah"


class HopperEnv(SapwoodEnv):
    """A one-legged planar robot that hops: Hopper-v5 on Sapwood."""

    task = "Hopper"


class Walker2dEnv(SapwoodEnv):
    """A two-legged planar robot that walks: Walker2d-v5 on Sapwood."""

    task = "Walker2d"


class HumanoidEnv(SapwoodEnv):
    """A humanoid that runs: Humanoid-v5 on Sapwood."""

    task = "Humanoid"


class HumanoidStandupEnv(SapwoodEnv):
    """A humanoid that stands up: HumanoidStandup-v5 on Sapwood."""

    task = "HumanoidStandup"


class SwimmerEnv(SapwoodEnv):
    """A planar chain that swims: Swimmer-v5 on Sapwood."""

    task = "Swimmer"


class ReacherEnv(SapwoodEnv):
    """A planar arm that reaches for a goal: Reacher-v5 on Sapwood."""

    task = "Reacher"


class PusherEnv(SapwoodEnv):
    """An arm that pushes a cylinder to a goal: Pusher-v5 on Sapwood."""

    task = "Pusher"


class InvertedPendulumEnv(SapwoodEnv):
    """A pole on a cart to be balanced: InvertedPendulum-v5 on Sapwood."""

    task = "InvertedPendulum"


class InvertedDoublePendulumEnv(SapwoodEnv):
    """Two poles on a cart to be balanced: InvertedDoublePendulum-v5 on Sapwood."""

    task = "InvertedDoublePendulum"


class SuiteEnv(SapwoodEnv):
    """A task of dm_control's suite on Sapwood, one world.

    Args:
        task: Domain and task with a hyphen between: ``walker-run``.
        render_mode: "rgb_array", or None for no pictures.
        width: Width of pictures, pixels.
        height: Height of pictures, pixels.
        options: xml_file, frame_skip, default_camera_config, and those of :class:`sapwood.Batch`, as in
            :class:`SapwoodEnv`.

    Raises:
        ModuleNotFoundError: When dm_control, which has the models, is not installed.
        TypeError: For an option that there is not.
        ValueError: When there is no such task.
    """

    def __init__(
        self,
        task: str,
        *,
        render_mode: str | None = None,
        width: int = DEFAULT_SIZE,
        height: int = DEFAULT_SIZE,
        **options: Any,  # noqa: ANN401 - numbers, names
    ) -> None:
        self.task = task
        super().__init__(render_mode=render_mode, width=width, height=height, **options)
        Kept.__init__(self, task, render_mode=render_mode, width=width, height=height, **options)
