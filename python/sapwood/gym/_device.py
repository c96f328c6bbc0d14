"""Gymnasium's tasks on a GPU, many worlds side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode

import sapwood as sw
from sapwood.gym._device_episodes import DeviceEpisodes, Start, check_device, with_sensors
from sapwood.gym._device_tasks import DEVICE_TASKS, DeviceTask, Judgement, Look, Values
from sapwood.gym._single import split
from sapwood.gym._tasks import Options
from sapwood.gym._worlds import episode_limit, model_path, task_options

CONTACT_OPTIONS = {"include_cfrc_ext_in_observation": False, "contact_cost_weight": 0.0, "impact_cost_weight": 0.0}
"""Options that look at forces of contacts, and what turns them off."""


class DeviceVectorEnv(DeviceEpisodes):
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
        check(task, device, options)
        super().__init__(num_envs, device, autoreset_mode)
        self.limit = episode_limit(task, max_episode_steps)
        batch_options = split(options)
        self.options: Options = task_options(task, options)
        self.substeps = self.options.frame_skip
        model = sw.load(model_path(self.options.xml_file))
        self.dt = float(batch_options.get("timestep") or model.timestep) * self.substeps
        check_contact_forces(DEVICE_TASKS[task], self.options)
        self._task = DEVICE_TASKS[task](self._xp, self.options, model, self.dt)
        sensors = self._task.sensors()
        self.model = with_sensors(model, sensors)
        # A `DeviceBatch`, where there is a device.
        batch: Any = sw.Batch(self.model, num_envs, device=device, precision=precision, rows=rows, **batch_options)
        self.batch = batch
        self._see_worlds(list(sensors), {"q": model.nq, "v": model.nv})
        self._before = self._q[:, :0]
        low, high = np.asarray(self.model.ctrl_range, dtype=np.float32).T
        self._make_spaces(Box(low=low, high=high, dtype=np.float32))

    def _look(self, shown: Values) -> Look:
        return Look(self._q, self._v, self._ctrl, self._by_name(shown))

    def _task_start(self, world: int) -> Iterator[Start]:
        while True:
            q, v = self.options.start(self._rngs[world], self._task.start, self.model.nv)
            yield {"q": q, "v": v}

    def _task_act(self, given: Values) -> None:
        position = self._task.position(self._look(self._shown))
        self._before = self._xp.zeros_like(position) + position
        self._ctrl[...] = given

    def _task_judge(self) -> Judgement:
        look = self._look(self._shown)
        return self._task.judge((self._task.position(look) - self._before) / self.dt, look)

    def _task_cut(self) -> Values:
        return self._elapsed >= self.limit if self.limit is not None else self._elapsed < 0

    def _task_observe(self, shown: Values) -> Values:
        return self._task.observe(self._look(shown))

    def _task_place(self, shown: Values) -> dict[str, Values]:
        return self._task.place(self._look(shown))


def check(task: str, device: str, options: dict[str, Any]) -> None:
    """Refuse what the GPU does not do; takes arguments away that mean nothing there.

    Raises:
        NotImplementedError: For a task, or for pictures.
        ValueError: For another device, or threads.
    """
    check_device(device, options)
    if task not in DEVICE_TASKS:
        message = f"{task}: the GPU does not do this task, device='cpu' does; it does {', '.join(DEVICE_TASKS)}"
        raise NotImplementedError(message)
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
