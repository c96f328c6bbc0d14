"""Episodes of a task in the worlds of a batch on a GPU: all of a step is there, nothing is copied to the host."""

from __future__ import annotations

import ctypes
import io
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NoReturn
from xml.etree import ElementTree as ET

import numpy as np
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

import sapwood as sw
from sapwood.gym._device_tasks import Judgement, Values
from sapwood.gym._seeded import Flags, SeededVectorEnv

COUNTS = ("_elapsed", "_next", "_ended")
"""Of each world: the steps of its episode, which of its starts comes next, whether its episode has ended."""

STARTS = 4096
"""Starts of episodes that are drawn ahead, of all worlds together; four of each world at least."""

PREFIX = "task: "
"""Of the names of sensors that tasks add."""

EVERYTHING = 1e3
"""Radius of sites that are around everything, m."""

Start = dict[str, NDArray[np.float64]]
"""What an episode begins with: entries of arrays of the batch, and of the task, by their names."""


class DeviceEpisodes(SeededVectorEnv[Values, Values, Values]):
    """Episodes of the worlds of a batch: how they begin and end, and go on from a state.

    What a task is stands in the methods that begin with ``_task``; `_own` has its numbers of each world, (n, …), which
    are zero when an episode begins.

    Args:
        num_envs: Number of worlds.
        device: "cuda", "cuda:1", …, or "host".
        autoreset_mode: When worlds whose episodes ended begin again.
    """

    autoreset_mode: AutoresetMode
    single_observation_space: Space[Any]
    single_action_space: Space[Any]
    observation_space: Space[Any]
    action_space: Space[Any]
    model: sw.Model
    batch: sw.DeviceBatch
    dt: float
    substeps: int

    def __init__(self, num_envs: int, device: str, autoreset_mode: AutoresetMode | str) -> None:
        super().__init__()
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = num_envs
        self._stream = torch_stream if device != "host" else dict
        self._xp = array_module(device)
        self._own: dict[str, Values] = {}

    def _task_start(self, world: int) -> Iterator[Start]:
        """Draw where the next episodes of a world begin, one after the other."""
        raise NotImplementedError

    def _task_act(self, given: Values) -> None:
        """Take actions to what the step is made under; worlds are where it begins."""
        raise NotImplementedError

    def _task_judge(self) -> Judgement:
        """Reward and end of the step that was made; the step is counted."""
        raise NotImplementedError

    def _task_cut(self) -> Values:
        """Which episodes have all the steps that they can have."""
        raise NotImplementedError

    def _task_observe(self, shown: Values) -> Values:
        """Observations (n, number), where sensors show `shown`."""
        raise NotImplementedError

    def _task_place(self, shown: Values) -> dict[str, Values]:
        """Entries of ``info`` that a reset has, too."""
        raise NotImplementedError

    def _see_worlds(self, sensors: Sequence[str], starts: Mapping[str, int]) -> None:
        """Views of the worlds' arrays, and what there is to know of episodes beside them.

        Args:
            sensors: Names of the sensors that the task adds.
            starts: Widths of what episodes begin with, by the names of arrays.
        """
        xp, batch = self._xp, self.batch
        names = ("q", "v", "ctrl", "act", "time")
        self._live = {name: view(xp, getattr(batch, name)) for name in names}
        self._q, self._v, self._ctrl = (self._live[name] for name in ("q", "v", "ctrl"))
        self._status = view(xp, batch.status)
        # What sensors show, and what they showed of the last observation.
        self._shown = xp.from_dlpack(batch.sensordata) if sensors else self._q[:, :0]
        self._last = self._shown
        self._columns = columns(self.model, sensors)
        self._elapsed = xp.zeros_like(self._status[:, 0])
        self._worlds = xp.cumsum(xp.ones_like(self._elapsed), 0) - 1
        # Which of the starts that were drawn ahead is a world's next one.
        self._next = 0 * self._worlds
        self._ended = xp.ones_like(self._elapsed) > 0
        self._ahead = max(4, STARTS // self.num_envs)
        self._starts = {name: np.zeros((self._ahead, self.num_envs, width)) for name, width in starts.items()}
        self._drawn = np.zeros(self.num_envs, dtype=np.bool_)
        self._starts_there: dict[str, Values] = {}
        self.metadata = {"render_modes": [], "render_fps": round(1.0 / self.dt), "autoreset_mode": self.autoreset_mode}

    def _make_spaces(self, action: Space[Any]) -> None:
        dtype: Any = np.float32 if self.batch.precision == "f32" else np.float64
        width = self._task_observe(self._shown).shape[1]
        self.single_observation_space = Box(low=-np.inf, high=np.inf, shape=(width,), dtype=dtype)
        self.single_action_space = action
        self.observation_space = batch_space(self.single_observation_space, self.num_envs)
        self.action_space = batch_space(self.single_action_space, self.num_envs)

    def _by_name(self, shown: Values) -> dict[str, Values]:
        """What each of the task's sensors shows."""
        return {name: shown[:, where] for name, where in self._columns.items()}

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
        return self._task_observe(self._last), self._infos(self._last, there, {}, there)

    def _flags(self, mask: Flags) -> Values:
        return self._there(mask, self._status) > 0

    def _draw(self, mask: Flags) -> None:
        """Draw starts of the worlds of a mask, and take all of them to the GPU."""
        if not mask.any():
            return
        for world in np.flatnonzero(mask):
            for k, start in zip(range(self._ahead), self._task_start(int(world)), strict=False):
                for name, values in start.items():
                    self._starts[name][k, world] = values
        self._drawn |= mask
        self._take_starts()
        self._next[...] = self._xp.where(self._flags(mask), 0 * self._next, self._next)

    def _take_starts(self) -> None:
        self._starts_there = {name: self._there(of, self._array(name)) for name, of in self._starts.items()}

    def _array(self, name: str) -> Values:
        return self._own[name] if name in self._own else self._live[name]

    def _begin(self, mask: Values) -> Values:
        """Begin episodes in the worlds of a mask; what the sensors show then."""
        self._check_begun("step")
        xp = self._xp
        # Counts of steps go on; what constraints met is forgotten, and that a step failed.
        counts = [self._status[:, column] for column in (0, 5)]
        others = [self._live[name] for name in ("ctrl", "act", "time")]
        for to in (self._elapsed, *self._own.values(), *others, *counts):
            to[...] = xp.where(mask if to.ndim == 1 else mask[:, None], xp.zeros_like(to), to)
        for name, starts in self._starts_there.items():
            to = self._array(name)
            to[...] = xp.where(mask[:, None], starts[self._next, self._worlds], to)
        self._next[...] = xp.where(mask, (self._next + 1) % self._ahead, self._next)
        if not self._columns:
            return self._shown
        # Looking anew forgets the forces of the last step, which worlds that go on still show.
        before = xp.zeros_like(self._shown) + self._shown
        self.batch.step(0, **self._stream())
        return xp.where(mask[:, None], self._shown, before)

    def _check_begun(self, call: str) -> None:
        if not self._starts_there:
            message = f"call reset before {call}"
            raise ResetNeeded(message)

    def step(self, actions: Any) -> tuple[Values, Values, Values, Values, dict[str, Any]]:  # noqa: ANN401
        """Make a step of every world.

        Args:
            actions: (num_envs, number): a tensor, or an array of the host, which is copied.

        Returns:
            Observations (num_envs, number), rewards, terminations and truncations (num_envs,), info.

        Raises:
            ResetNeeded: Before :meth:`reset`.
            ValueError: When the actions have another shape.
        """
        self._check_begun("step")
        given = self._there(actions, self._q)
        if given.shape != self.action_space.shape:
            message = f"actions have shape {tuple(given.shape)}: expected {self.action_space.shape}"
            raise ValueError(message)
        self._task_act(given)
        self.batch.step(self.substeps, **self._stream())
        self._elapsed += 1
        judged = self._task_judge()
        return self._end_step(judged, judged.ends | (self._status[:, 5] > 0), self._task_cut())

    def _end_step(
        self, judged: Judgement, terminated: Values, truncated: Values
    ) -> tuple[Values, Values, Values, Values, dict[str, Any]]:
        """Begin the episodes that are due, and gather what a step gives."""
        reward, shown, last, begins = judged.reward, self._shown, {}, terminated & ~terminated
        if self.autoreset_mode == AutoresetMode.NEXT_STEP:
            begins = self._ended
            reward = self._xp.where(begins, self._xp.zeros_like(reward), reward)
            terminated, truncated = terminated & ~begins, truncated & ~begins
        elif self.autoreset_mode == AutoresetMode.SAME_STEP:
            begins = terminated | truncated
            last = {"final_obs": self._task_observe(shown), "_final_obs": begins}
        if self.autoreset_mode != AutoresetMode.DISABLED:
            shown = self._begin(begins)
        self._ended = terminated | truncated
        self._last = shown
        info = self._infos(shown, begins | ~begins, judged.info, ~begins) | last
        return self._task_observe(shown), reward, terminated, truncated, info

    def _infos(self, shown: Values, placed: Values, of_step: dict[str, Values], stepped: Values) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for values, mask in ((self._task_place(shown), placed), (of_step, stepped)):
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
        self._check_begun("state")
        arrays = {name: np.asarray(getattr(self, name).tolist()) for name in COUNTS}
        arrays |= {name: getattr(self.batch, name).numpy() for name in self._live}
        arrays |= {f"own_{name}": np.asarray(of.tolist()) for name, of in self._own.items()}
        arrays |= {f"start_{name}": of for name, of in self._starts.items()}
        shown = self._last if self._xp is np else self._last.cpu().numpy()
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, shown=shown, **arrays)
        return file.getvalue()

    def restore(self, state: bytes) -> tuple[Values, dict[str, Any]]:
        """Go on from a :meth:`state`.

        Returns:
            Observations (num_envs, number), info.

        Raises:
            ValueError: When it is no state of an environment of the same task, options and number of worlds.
        """
        expected = "expected bytes that state() of such an environment gave, all of them"
        own = {name: tuple(getattr(self.batch, name).shape) for name in self._live}
        own |= dict.fromkeys(COUNTS, (self.num_envs,))
        own |= {f"own_{name}": tuple(of.shape) for name, of in self._own.items()}
        own |= {f"start_{name}": of.shape for name, of in self._starts.items()}
        own["shown"] = tuple(self._shown.shape)
        # Damaged archives have errors of many kinds: of zipfile, zlib, struct, tokenize.
        try:
            with np.load(io.BytesIO(state), allow_pickle=False) as file:
                arrays = dict(file)
            shapes = {name: arrays[name].shape for name in own}
        except Exception as error:
            message = f"state is none of an environment on a GPU of this task: {expected}"
            raise ValueError(message) from error
        if shapes != own:
            other = next(name for name in own if own[name] != shapes[name])
            message = f"state has {other} of shape {shapes[other]}, this environment {own[other]}: {expected}"
            raise ValueError(message)
        if not ((arrays["_next"] >= 0) & (arrays["_next"] < self._ahead)).all():
            raise ValueError(f"state has starts outside of the {self._ahead} drawn ahead: {expected}")
        for name, to in self._live.items():
            to[...] = self._there(arrays[name], to)
        for name, to in self._own.items():
            to[...] = self._there(arrays[f"own_{name}"], to)
        for name in COUNTS:
            setattr(self, name, self._there(arrays[name], getattr(self, name)))
        self._status[:, 0] = 0
        self._starts = {name: arrays[f"start_{name}"] for name in self._starts}
        self._drawn = np.ones(self.num_envs, dtype=np.bool_)
        self._take_starts()
        self._last = self._there(arrays["shown"], self._shown)
        if self._columns:
            self.batch.step(0, **self._stream())
        everywhere = self._ended | ~self._ended
        return self._task_observe(self._last), self._infos(self._last, everywhere, {}, everywhere)

    def _there(self, array: Any, like: Values) -> Values:  # noqa: ANN401 - of NumPy
        """An array of the host where the worlds are, of the type of another."""
        return there(self._xp, array, like)

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


def there(xp: Any, array: Any, like: Values) -> Values:  # noqa: ANN401 - torch or numpy
    """An array where another is, of its type."""
    return xp.asarray(array, dtype=like.dtype, **({} if xp is np else {"device": like.device}))


def columns(model: sw.Model, sensors: Sequence[str]) -> dict[str, slice]:
    """Where the task's sensors are in what all sensors show."""
    addresses = dict(zip(model.sensor_names, model.sensor_addresses, strict=True))
    widths = dict(zip(model.sensor_names, model.sensor_dims, strict=True))
    firsts = {name: int(addresses[PREFIX + name]) for name in sensors}
    return {name: slice(first, first + int(widths[PREFIX + name])) for name, first in firsts.items()}


def check_device(device: str, options: dict[str, Any]) -> None:
    """Refuse what there is not beside the processor; takes arguments away that mean nothing there.

    Raises:
        NotImplementedError: For pictures.
        ValueError: For another device, or threads.
    """
    if not isinstance(device, str) or (device != "host" and not device.startswith("cuda")):
        message = f'device is {device!r}: expected "cpu", "cuda", "cuda:1", or "host" for tests of the GPU\'s kernels'
        raise ValueError(message)
    if options.pop("render_mode", None) is not None:
        message = "render_mode: an environment on a GPU draws no pictures, device='cpu' does: expected None"
        raise NotImplementedError(message)
    if options.pop("threads", None) is not None:
        message = f"threads: an environment on device={device!r} has none: leave it out, or pass device='cpu'"
        raise ValueError(message)


def with_sensors(model: sw.Model, sensors: Mapping[str, str], felt: Sequence[str] = ()) -> sw.Model:
    """The model with more sensors.

    Args:
        model: The model.
        sensors: Elements of MJCF with their attributes, by name.
        felt: Bodies that get a site by their name around everything.
    """
    if not sensors:
        return model
    with warnings.catch_warnings():
        # Textures are left out: nothing is drawn.
        warnings.simplefilter("ignore", UserWarning)
        text = ET.fromstring(model.to_mjcf())
        for body in text.iter("body"):
            if body.get("name") in felt:
                ET.SubElement(body, "site", {"name": PREFIX + str(body.get("name")), "size": str(EVERYTHING)})
        elements = "".join(f'{element} name="{PREFIX}{name}"/>' for name, element in sensors.items())
        text.append(ET.fromstring(f"<sensor>{elements}</sensor>"))
        return sw.load(ET.tostring(text, encoding="unicode"))
