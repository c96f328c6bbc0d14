"""The worlds behind an environment: model, batch, episodes, and where episodes begin."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

import sapwood as sw
from sapwood._errors import did_you_mean, listed
from sapwood._sapwood import Episodes
from sapwood.gym._stage import Stage
from sapwood.gym._suite import SUITE, SuiteOptions
from sapwood.gym._tasks import TASKS, Array, Options

Autoreset = Literal["next-step", "same-step", "disabled"]

CAN_RENDER = hasattr(sw, "Renderer")
"""Whether this version draws pictures."""


def model_path(xml_file: str) -> str:
    """Where a model lies: a path that begins with ``/``, ``.`` or ``~``, or a file of Gymnasium's assets.

    Raises:
        FileNotFoundError: When there is no such file.
    """
    if xml_file.startswith((".", "/", "~")) or os.path.isabs(xml_file):
        path = Path(xml_file).expanduser()
    else:
        path = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / xml_file
    if not path.is_file():
        message = (
            f"there is no file {path}: expected a model of Gymnasium's assets, "
            "or a path that begins with '/', '.' or '~'"
        )
        raise FileNotFoundError(message)
    return str(path)


def task_options(task: str, given: Mapping[str, Any]) -> Options:
    """The options of a task from keyword arguments.

    Raises:
        TypeError: For a name that the task does not have.
    """
    kind = task_kind(task)
    known = {field.name for field in dataclasses.fields(kind)}
    unknown = sorted(set(given) - known)
    if unknown:
        hint = did_you_mean(unknown[0], sorted(known)) or f"expected some of {listed(sorted(known))}"
        raise TypeError(f"{task} has no option {', '.join(unknown)}: {hint}")
    return kind.of(**given)


def task_kind(task: str) -> type[Options]:
    """The class of a task's options.

    Raises:
        ValueError: When there is no such task.
    """
    kind = TASKS.get(task) or SUITE.get(task)
    if kind is None:
        message = f"task is {task!r}: expected one of {', '.join([*TASKS, *SUITE])}"
        raise ValueError(message)
    return kind


def episode_limit(task: str, given: int | str | None) -> int | None:
    """Steps at which episodes are cut; "default" for those of the v5 environment, None or -1 for no limit.

    Raises:
        ValueError: For another word.
    """
    if not isinstance(given, str):
        return None if given == -1 else given
    if given != "default":
        message = f"max_episode_steps is {given!r}: expected a number, None or 'default'"
        raise ValueError(message)
    return task_kind(task).max_episode_steps


class Worlds:
    """Worlds of one task."""

    def __init__(
        self,
        options: Options,
        n: int,
        *,
        autoreset: Autoreset,
        max_episode_steps: int | None,
        threads: int | None,
        lanes: int | None,
        batch_options: Mapping[str, Any],
    ) -> None:
        self.options = options
        own = isinstance(options, SuiteOptions) and not options.xml_file and options.mjcf()
        self.model = sw.load(own or model_path(options.xml_file))
        contacts = options.contacts
        self.batch = sw.Batch(self.model, n, threads=threads, lanes=lanes, contacts=contacts, **batch_options)
        values = {f.name: getattr(options, f.name) for f in dataclasses.fields(options) if f.name not in options.own}
        if isinstance(values.get("main_body"), str):
            values["main_body"] = self._body(values["main_body"])
        self.episodes = Episodes(
            self.batch,
            options.task,
            values,
            frame_skip=options.frame_skip,
            max_episode_steps=max_episode_steps,
            autoreset=autoreset,
        )
        self._varies = isinstance(options, SuiteOptions) and options.varies
        self._stage = Stage(self.model, self.episodes.model_of if self._varies else None)
        self._renderer: sw.Renderer | None = None
        self._drawn_goal: Array = np.zeros(0)
        self.dt = self.batch.timestep * options.frame_skip
        self.columns: list[tuple[str, slice | int, bool]] = []
        first = 0
        for name, width, is_of_reset in self.episodes.info_columns:
            # Tendons are arrays, whatever their number.
            where = slice(first, first + width) if name.startswith("tendon_") else first
            self.columns.append((name, where, is_of_reset))
            first += width

    def _body(self, name: str) -> int:
        names = list(self.model.body_names)
        if name not in names:
            message = f"main_body is {name!r}: expected one of {', '.join(names)}"
            raise ValueError(message)
        return names.index(name)

    def parts(self) -> dict[str, slice]:
        """Where the named parts of an observation are in it."""
        return {name: slice(first, end) for name, first, end in self.episodes.observation_parts}

    def spaces(self) -> tuple[Any, Any]:
        """The spaces of one world's observations and actions."""
        width = self.episodes.observation.shape[1]
        observation = Box(low=-np.inf, high=np.inf, shape=(width,), dtype=np.float64)
        low, high = self.episodes.action_range.astype(np.float32).T
        return observation, Box(low=low, high=high, dtype=np.float32)

    def draw(self, world: int, rng: np.random.Generator) -> None:
        """Draw where the next episode of a world begins."""
        if isinstance(self.options, SuiteOptions):
            q, v, goal = self.options.begin(rng, self._stage)
            self.episodes.next_goal[world] = goal
            self.episodes.next_act[world] = self.options.activations(rng, self._stage)
        else:
            q, v = self.options.start(rng, self._stage.q0, self.model.nv)
        self.episodes.next_q[world] = q
        self.episodes.next_v[world] = v

    def picture(self, world: int, size: tuple[int, int]) -> NDArray[np.uint8]:
        """A picture of a world, (height, width, 3)."""
        goal = self.episodes.goal[world]
        if self._renderer is None or not np.array_equal(goal, self._drawn_goal):
            model, options = self.model, self.options
            if self._varies:
                model = self.episodes.model_of(goal)
            elif goal.size and isinstance(options, SuiteOptions) and not options.xml_file:
                model = sw.load(options.mjcf(goal))
            self._renderer, self._drawn_goal = sw.Renderer(model, *size), goal.copy()
        picture: NDArray[np.uint8] = self._renderer.render(self.batch.q[world], self._camera())
        return picture

    def _camera(self) -> sw.Camera | str:
        """The camera that the options give, else the model's own that follows, else that of the v5 environment."""
        given = self.options.default_camera_config
        names = self.model.camera_names
        if given is None and "track" in names:
            return "track"
        if given is None and names and isinstance(self.options, SuiteOptions):
            return names[0]
        config = self.options.camera if given is None else given
        azimuth, elevation = (
            math.radians(config[name]) if name in config else None for name in ("azimuth", "elevation")
        )
        return sw.Camera(
            lookat=config.get("lookat"), distance=config.get("distance"), azimuth=azimuth, elevation=elevation
        )

    def metadata(self) -> dict[str, Any]:
        """What Gymnasium wants to know."""
        return {"render_modes": ["rgb_array"] if CAN_RENDER else [], "render_fps": round(1.0 / self.dt)}


def check_render_mode(render_mode: str | None) -> None:
    """Refuse what cannot be drawn.

    Raises:
        ValueError: For a mode that there is not.
        NotImplementedError: When this version draws no pictures.
    """
    if render_mode is None:
        return
    if render_mode != "rgb_array":
        message = f"render_mode is {render_mode!r}: expected 'rgb_array' or None"
        raise ValueError(message)
    if not CAN_RENDER:
        message = "render_mode='rgb_array': this version of sapwood has no Renderer: expected None"
        raise NotImplementedError(message)


__all__ = [
    "CAN_RENDER",
    "Array",
    "Autoreset",
    "Worlds",
    "check_render_mode",
    "episode_limit",
    "model_path",
    "task_kind",
    "task_options",
]
