"""Environments of many worlds on a GPU: everything of a step is there, nothing is copied to the host."""

from __future__ import annotations

import ctypes
import io
import warnings
from collections.abc import Mapping
from typing import Any, Literal, NoReturn

import numpy as np
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

import sapwood as sw
from sapwood.gym._device_tasks import DEVICE_TASKS, DeviceTask, Judgement, Look, Values
from sapwood.gym._seeded import Flags, SeededVectorEnv
from sapwood.gym._single import split
from sapwood.gym._tasks import Options
from sapwood.gym._worlds import episode_limit, model_path, task_options

COUNTS = ("_elapsed", "_next", "_ended")
"""Of each world: the steps of its episode, which of its starts comes next, whether its episode has ended."""

STARTS = 4096
"""Starts of episodes that are drawn ahead, of all worlds together; four of each world at least."""


PREFIX = "task: "
"""Of the names of sensors that tasks add."""

CONTACT_OPTIONS = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0, "impact_cost_weight": 0.0}
"""Options that look at forces of contacts, and what turns them off."""


class DeviceVectorEnv(SeededVectorEnv[Values, Values, Values]):
    """A task of Gymnasium's MuJoCo family on a GPU: what vector environments are with ``device="cuda"``.

    Observations, rewards, ends and entries of ``info`` are arrays on the GPU: PyTorch's tensors, or NumPy's arrays on
    ``device="host"`` where PyTorch is not installed. Actions may be either. A step launches kernels on PyTorch's
    current stream and waits for none of them.

    They are those of the environment on the processor, but for this: a world's starts are drawn ahead by its generator
    when it is seeded, 4,096 of all worlds together, four of each at least, and come again after them; actions are not
    looked at; a world that cannot be stepped ends its episode without a word; in ``SAME_STEP``
    ``info["final_obs"]`` is one array of all worlds, and there is no ``final_info``. There are no pictures.

    Args:
        task: The task's name in Gymnasium.
        num_envs: Number of worlds.
        device: "cuda", "cuda:1", …, or "host" for tests.
        max_episode_steps: As of :class:`SapwoodVectorEnv`.
        autoreset_mode: As of :class:`SapwoodVectorEnv`.
        precision: Numbers of all arrays, "f32" or "f64".
        rows: As of :class:`sapwood.Batch`.
        options: As of :class:`SapwoodVectorEnv`.

    Raises:
        NotImplementedError: For a task or an option that the GPU does not do; it says what to pass.
        RuntimeError: Where there is no GPU.
        ValueError: As of :class:`SapwoodVectorEnv`.

    Attributes:
        model: The model, with the sensors that the task looks at.
        batch: The worlds.
    """

    autoreset_mode: AutoresetMode
    single_observation_space: Space[Any]
    single_action_space: Space[Any]
    observation_space: Space[Any]
    action_space: Space[Any]

    def __init__(
        self,
        task: str,
        num_envs: int = 1,
        *,
        device: str = "cuda",
        max_episode_steps: int | str | None = "default",
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        precision: Literal["f64", "f32"] | None = None,
        rows: int | None = None,
        **options: Any,  # noqa: ANN401 - numbers, flags, ranges, names
    ) -> None:
        super().__init__()
        check(task, device, options)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs, self.limit = num_envs, episode_limit(task, max_episode_steps)
        self._stream = torch_stream if device != "host" else dict
        self._xp = array_module(device)
        batch_options = split(options)
        self.options: Options = task_options(task, options)
        model = sw.load(model_path(self.options.xml_file))
        self.dt = float(batch_options.get("timestep") or model.timestep) * self.options.frame_skip
        check_contact_forces(DEVICE_TASKS[task], self.options)
        self._task = DEVICE_TASKS[task](self._xp, self.options, model, self.dt)
        self._sensors = self._task.sensors()
        self.model = with_sensors(model, self._sensors)
        # A `DeviceBatch`, where there is a device.
        batch: Any = sw.Batch(self.model, num_envs, device=device, precision=precision, rows=rows, **batch_options)
        self.batch: sw.DeviceBatch = batch
        self._see_arrays()
        self.metadata = {"render_modes": [], "render_fps": round(1.0 / self.dt), "autoreset_mode": self.autoreset_mode}
        self._make_spaces()

    def _see_arrays(self) -> None:
        """Views of the worlds' arrays, and what there is to know of episodes beside them."""
        xp, batch = self._xp, self.batch
        names = ("q", "v", "ctrl", "act", "time", "status")
        self._q, self._v, self._ctrl, self._act, self._time, self._status = (
            view(xp, getattr(batch, name)) for name in names
        )
        self._live = {"q": self._q, "v": self._v, "ctrl": self._ctrl, "act": self._act, "time": self._time}
        # What sensors show, and what they showed of the last observation.
        self._shown = xp.from_dlpack(batch.sensordata) if self._sensors else self._q[:, :0]
        self._last = self._shown
        addresses = dict(zip(self.model.sensor_names, self.model.sensor_addresses, strict=True))
        widths = dict(zip(self.model.sensor_names, self.model.sensor_dims, strict=True))
        firsts = {name: int(addresses[PREFIX + name]) for name in self._sensors}
        ends = {name: first + int(widths[PREFIX + name]) for name, first in firsts.items()}
        self._columns = {name: slice(first, ends[name]) for name, first in firsts.items()}
        self._elapsed = xp.zeros_like(self._status[:, 0])
        self._worlds = xp.cumsum(xp.ones_like(self._elapsed), 0) - 1
        # Which of the starts that were drawn ahead is a world's next one.
        self._next = 0 * self._worlds
        self._ended = xp.ones_like(self._elapsed) > 0
        self._ahead = max(4, STARTS // self.num_envs)
        self._starts = tuple(np.zeros((self._ahead, self.num_envs, width)) for width in (self.model.nq, self.model.nv))
        self._drawn = np.zeros(self.num_envs, dtype=np.bool_)
        self._starts_there: tuple[Values, Values] | None = None

    def _make_spaces(self) -> None:
        dtype: Any = np.float32 if self.batch.precision == "f32" else np.float64
        width = self._task.observe(self._look(self._shown)).shape[1]
        self.single_observation_space = Box(low=-np.inf, high=np.inf, shape=(width,), dtype=dtype)
        low, high = np.asarray(self.model.ctrl_range, dtype=np.float32).T
        self.single_action_space = Box(low=low, high=high, dtype=np.float32)
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _look(self, shown: Values) -> Look:
        return Look(self._q, self._v, self._ctrl, {name: shown[:, where] for name, where in self._columns.items()})

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Values, dict[str, Any]]:
        """Begin episodes, and draw where the next ones begin.

        Args:
            seed: A number, of which world i gets seed + i; or one for each world, where None goes on with its own.
            options: ``{"reset_mask": mask}`` for some worlds alone, an array of booleans (num_envs,).

        Returns:
            Observations (num_envs, number), info.
        """
        mask = self._mask(options)
        self._drawn[self._seed(seed, mask)] = False
        self._draw(mask & ~self._drawn)
        there = self._flags(mask)
        self._ended = self._ended & ~there
        self._last = self._begin(there)
        look = self._look(self._last)
        return self._task.observe(look), self._infos(look, there, {}, there)

    def _flags(self, mask: Flags) -> Values:
        return self._there(mask, self._status) > 0

    def _draw(self, mask: Flags) -> None:
        """Draw starts of the worlds of a mask, and take all of them to the GPU."""
        if not mask.any():
            return
        start = self._task.start
        for world in np.flatnonzero(mask):
            rng = self._rngs[world]
            for k in range(self._ahead):
                q, v = self.options.start(rng, start, self.model.nv)
                self._starts[0][k, world], self._starts[1][k, world] = q, v
        self._drawn |= mask
        q, v = (self._there(of, self._q) for of in self._starts)
        self._starts_there = (q, v)
        self._next[...] = self._xp.where(self._flags(mask), 0 * self._next, self._next)

    def _begin(self, mask: Values) -> Values:
        """Begin episodes in the worlds of a mask; what the sensors show then."""
        if self._starts_there is None:
            message = "call reset before step"
            raise ResetNeeded(message)
        xp, rows = self._xp, mask[:, None]
        for to, starts in zip((self._q, self._v), self._starts_there, strict=True):
            to[...] = xp.where(rows, starts[self._next, self._worlds], to)
        for to in (self._ctrl, self._act):
            to[...] = xp.where(rows, xp.zeros_like(to), to)
        for to in (self._time, self._elapsed):
            to[...] = xp.where(mask, xp.zeros_like(to), to)
        # Counts of steps go on; what constraints met is forgotten, and that a step failed.
        for column in (0, 5):
            self._status[:, column] = xp.where(mask, xp.zeros_like(self._elapsed), self._status[:, column])
        self._next[...] = xp.where(mask, (self._next + 1) % self._ahead, self._next)
        if not self._sensors:
            return self._shown
        # Looking anew forgets the forces of the last step, which worlds that go on still show.
        before = xp.zeros_like(self._shown) + self._shown
        self.batch.step(0, **self._stream())
        return xp.where(rows, self._shown, before)

    def step(self, actions: Any) -> tuple[Values, Values, Values, Values, dict[str, Any]]:  # noqa: ANN401
        """Make a step of every world.

        Args:
            actions: Controls, (num_envs, nu): a tensor, or an array of the host, which is copied.

        Returns:
            Observations (num_envs, number), rewards, terminations and truncations (num_envs,), info.

        Raises:
            ResetNeeded: Before :meth:`reset`.
            ValueError: When the actions have another shape.
        """
        if self._starts_there is None:
            message = "call reset before step"
            raise ResetNeeded(message)
        xp, task = self._xp, self._task
        given = self._there(actions, self._ctrl)
        if given.shape != self._ctrl.shape:
            message = f"actions have shape {tuple(given.shape)}: expected {tuple(self._ctrl.shape)}"
            raise ValueError(message)
        position = task.position(self._look(self._shown))
        before = xp.zeros_like(position) + position
        self._ctrl[...] = given
        self.batch.step(self.options.frame_skip, **self._stream())
        self._elapsed += 1
        look = self._look(self._shown)
        judged = task.judge((task.position(look) - before) / self.dt, look)
        terminated = judged.ends | (self._status[:, 5] > 0)
        truncated = self._elapsed >= self.limit if self.limit is not None else terminated & ~terminated
        return self._end_step(look, judged, terminated, truncated)

    def _end_step(
        self, look: Look, judged: Judgement, terminated: Values, truncated: Values
    ) -> tuple[Values, Values, Values, Values, dict[str, Any]]:
        """Begin the episodes that are due, and gather what a step gives."""
        reward, shown, last, begins = judged.reward, self._shown, {}, terminated & ~terminated
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            begins = self._ended
            reward = self._xp.where(begins, self._xp.zeros_like(reward), reward)
            terminated, truncated = terminated & ~begins, truncated & ~begins
        elif self.autoreset_mode == AutoresetMode.SAME_STEP:
            begins = terminated | truncated
            last = {"final_obs": self._task.observe(look), "_final_obs": begins}
        if self.autoreset_mode != AutoresetMode.DISABLED:
            shown = self._begin(begins)
        self._ended = terminated | truncated
        self._last, look = shown, self._look(shown)
        info = self._infos(look, begins | ~begins, judged.info, ~begins) | last
        return self._task.observe(look), reward, terminated, truncated, info

    def _infos(self, look: Look, placed: Values, of_step: dict[str, Values], stepped: Values) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for values, mask in ((self._task.place(look), placed), (of_step, stepped)):
            for name, value in values.items():
                # A copy: some are views of what the next step writes.
                found[name], found[f"_{name}"] = self._xp.zeros_like(value) + value, mask
        return found

    def state(self) -> bytes:
        """Worlds and episodes: an environment of the same options goes on from it by :meth:`restore`.

        It leaves out what constraints met in the last step, so that this environment goes on with other bits, equal to
        the tolerance of the solver. Where it is to go on with the same, give it its own state back.

        Raises:
            ResetNeeded: Before :meth:`reset`.
        """
        if self._starts_there is None:
            message = "call reset before state"
            raise ResetNeeded(message)
        arrays = {name: np.asarray(getattr(self, name).tolist()) for name in COUNTS}
        for name in self._live:
            arrays[name] = getattr(self.batch, name).numpy()
        shown = self._last if self._xp is np else self._last.cpu().numpy()
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, shown=shown, start_q=self._starts[0], start_v=self._starts[1], **arrays)
        return file.getvalue()

    def restore(self, state: bytes) -> tuple[Values, dict[str, Any]]:
        """Go on from a :meth:`state`.

        Returns:
            Observations (num_envs, number), info.

        Raises:
            ValueError: When it is no state of an environment of the same task, options and number of worlds.
        """
        expected = "expected bytes that state() of such an environment gave, all of them"
        # Damaged archives have errors of many kinds: of zipfile, zlib, struct, tokenize.
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as file:
                arrays = dict(file)
            shapes = {name: arrays[name].shape for name in (*self._live, *COUNTS, "shown", "start_q", "start_v")}
        except Exception as error:
            message = f"state is none of an environment on a GPU: {expected}"
            raise ValueError(message) from error
        own = {name: tuple(getattr(self.batch, name).shape) for name in self._live}
        own |= dict.fromkeys(COUNTS, (self.num_envs,))
        own |= {"shown": tuple(self._shown.shape), "start_q": self._starts[0].shape, "start_v": self._starts[1].shape}
        if shapes != own:
            other = next(name for name in own if own[name] != shapes[name])
            message = f"state has {other} of shape {shapes[other]}, this environment {own[other]}: {expected}"
            raise ValueError(message)
        if not ((arrays["_next"] >= 0) & (arrays["_next"] < self._ahead)).all():
            raise ValueError(f"state has starts outside of the {self._ahead} drawn ahead: {expected}")
        for name, to in self._live.items():
            to[...] = self._there(arrays[name], to)
        for name in COUNTS:
            setattr(self, name, self._there(arrays[name], getattr(self, name)))
        self._status[:, 0] = 0
        self._starts, self._drawn = (arrays["start_q"], arrays["start_v"]), np.ones(self.num_envs, dtype=np.bool_)
        q, v = (self._there(of, self._q) for of in self._starts)
        self._starts_there, self._last = (q, v), self._there(arrays["shown"], self._shown)
        if self._sensors:
            self.batch.step(0, **self._stream())
        look, everywhere = self._look(self._last), self._ended | ~self._ended
        return self._task.observe(look), self._infos(look, everywhere, {}, everywhere)

    def _there(self, array: Any, like: Values) -> Values:  # noqa: ANN401 - of NumPy
        """An array of the host where the worlds are, of the type of another."""
        xp = self._xp
        return xp.asarray(array, dtype=like.dtype, **({} if xp is np else {"device": like.device}))

    def render(self) -> NoReturn:
        """There are no pictures.

        Raises:
            NotImplementedError: Always.
        """
        message = "an environment on a GPU draws no pictures: sapwood.Renderer(envs.model).render(q) does"
        raise NotImplementedError(message)


def array_module(device: str) -> Any:  # noqa: ANN401 - torch or numpy
    """PyTorch, or NumPy for the host where there is no PyTorch.

    Raises:
        ModuleNotFoundError: When it is not installed and has to be.
    """
    try:
        import torch
    except ImportError as error:
        if device == "host":
            return np
        message = f"an environment on device={device!r} needs PyTorch: pip install torch"
        raise ModuleNotFoundError(message) from error
    return torch


def view(xp: Any, array: sw.DeviceArray) -> Values:  # noqa: ANN401 - torch or numpy
    """What is written into it is in the batch."""
    seen = xp.from_dlpack(array)
    if xp is not np:
        return seen
    if seen.size == 0:
        return seen.copy()
    # NumPy only reads what comes without a version of DLPack; `seen` keeps the batch's memory.
    memory: Any = (ctypes.c_char * seen.nbytes).from_address(seen.ctypes.data)
    memory.owner = seen
    return np.frombuffer(memory, dtype=seen.dtype).reshape(seen.shape)


def torch_stream() -> dict[str, Any]:
    """Where steps are launched."""
    import torch

    return {"stream": torch.cuda.current_stream()}


def check(task: str, device: str, options: dict[str, Any]) -> None:
    """Refuse what the GPU does not do; takes arguments away that mean nothing there.

    Raises:
        NotImplementedError: For a task, or for pictures.
        ValueError: For another device, or threads.
    """
    if not isinstance(device, str) or (device != "host" and not device.startswith("cuda")):
        message = f'device is {device!r}: expected "cpu", "cuda", "cuda:1", or "host" for tests of the GPU\'s kernels'
        raise ValueError(message)
    if task not in DEVICE_TASKS:
        message = f"{task}: the GPU does not do this task, device='cpu' does; it does {', '.join(DEVICE_TASKS)}"
        raise NotImplementedError(message)
    if options.pop("render_mode", None) is not None:
        message = "render_mode: an environment on a GPU draws no pictures, device='cpu' does: expected None"
        raise NotImplementedError(message)
    if options.pop("threads", None) is not None:
        message = f"threads: an environment on device={device!r} has none: leave it out, or pass device='cpu'"
        raise ValueError(message)
    for name in ("copy", "width", "height"):
        options.pop(name, None)


def check_contact_forces(kind: type[DeviceTask], options: Options) -> None:
    """Refuse options that look at forces of contacts.

    Raises:
        NotImplementedError: It says which, and what turns them off.
    """
    if kind.has_contact_forces:
        given = {name: off for name, off in CONTACT_OPTIONS.items() if getattr(options, name, off) != off}
        if given:
            words = ", ".join(f"{name}={off}" for name, off in given.items())
            message = f"{options.task}: batches on a GPU give no forces of contacts: pass {words}, or device='cpu'"
            raise NotImplementedError(message)


def with_sensors(model: sw.Model, sensors: Mapping[str, str]) -> sw.Model:
    """The model with more sensors."""
    if not sensors:
        return model
    builder = sw.ModelBuilder.from_model(model)
    elements = "".join(f'{element} name="{PREFIX}{name}"/>' for name, element in sensors.items())
    builder.add_mjcf(f"<sensor>{elements}</sensor>")
    with warnings.catch_warnings():
        # Textures are left out: nothing is drawn.
        warnings.simplefilter("ignore", UserWarning)
        return builder.build()
