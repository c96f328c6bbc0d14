"""Characters that imitate motions on a GPU, many worlds side by side."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from gymnasium.vector import AutoresetMode

import sapwood as sw
from sapwood.gym._device_episodes import DeviceEpisodes, Start, view, with_sensors
from sapwood.gym._device_motion import Figure, MotionTask
from sapwood.gym._device_tasks import Judgement, Values

if TYPE_CHECKING:
    from sapwood.gym._imitation import ImitationVectorEnv, Scheme

TERMS = ("reward_pose", "reward_velocity", "reward_end_effector", "reward_root", "reward_com")


class DeviceImitationVectorEnv(DeviceEpisodes):
    """A character that imitates a motion on a GPU: what :class:`ImitationVectorEnv` is with ``device="cuda"``.

    Observations, rewards, ends and entries of ``info`` are arrays on the GPU: PyTorch's tensors, or NumPy's arrays on
    ``device="host"`` where PyTorch is not installed. Actions may be either. They are those of the environment on the
    processor, with the differences of :class:`DeviceVectorEnv`. A second batch of as many worlds has the motion's
    postures, whose sensors say where its bodies are.

    Args:
        guide: The same environment of one world on the processor.
        num_envs: Number of worlds.
        device: "cuda", "cuda:1", …, or "host" for tests.
        words: Options that expressions depend on: action, rotations, reward, observe_root, cycle_sync,
            early_termination, control_hz.
        scheme: As of :class:`ImitationVectorEnv`.
        autoreset_mode: As there.
        seed: As there.
        precision: Numbers of all arrays, "f32" or "f64".
        rows: As of :class:`sapwood.Batch`.

    Raises:
        NotImplementedError: For what the GPU does not do; it says what to pass.
        RuntimeError: Where there is no GPU.

    Attributes:
        model: The model, with the sensors that the task looks at.
        batch: The worlds.
        mean_action: The action at the mean posture of the motion, (actions,).
    """

    def __init__(
        self,
        guide: ImitationVectorEnv,
        num_envs: int,
        device: str,
        words: dict[str, Any],
        *,
        scheme: Scheme,
        autoreset_mode: AutoresetMode | str,
        seed: int,
        precision: Literal["f64", "f32"] | None,
        rows: int | None,
    ) -> None:
        super().__init__(num_envs, device, autoreset_mode)
        self._guide, self._words, self._first_seed = guide, words, seed
        definition = guide.episodes.definition
        self._falls = guide.episodes.fall_bodies if words["early_termination"] else []
        if self._falls and definition["falls_may_touch_others"]:
            message = (
                "early_termination: bodies that must not touch the ground may touch others, and the GPU does not tell "
                "which did: pass early_termination=False, or device='cpu'"
            )
            raise NotImplementedError(message)
        self.dt, self.mean_action, self.limit = guide.dt, guide.mean_action, guide.max_episode_steps
        self.substeps = round(self.dt / guide.batch.timestep)
        # Where its arrays are is known when there are worlds; names of sensors are known before.
        sensors = MotionTask(np, definition, words, np.zeros(0)).sensors()
        sensors |= {f"fall {body}": f'<touch site="task: {body}"' for body in self._falls}
        self.model = with_sensors(guide.model, sensors, self._falls)
        options: Any = {"device": device, "precision": precision, "rows": rows, "timestep": guide.batch.timestep}
        options["scheme"] = scheme
        # The motion's worlds have PD control, too: kernels of another shape would be compiled for them.
        self.batch, self._ghost = (self._controlled(options, definition["rest"]) for _ in range(2))
        self._see_worlds(list(sensors), {"q": self.model.nq, "v": self.model.nv, "begun": 1})
        xp = self._xp
        self._task = MotionTask(xp, definition, words, self._q)
        self._target = view(xp, self.batch.pd_target)
        self._ghost_q, self._ghost_v = view(xp, self._ghost.q), view(xp, self._ghost.v)
        self._ghost_shown = xp.from_dlpack(self._ghost.sensordata)
        # Times have 64 bits: where in the motion episodes began, s, how far it is moved, m, the sum of rewards.
        begun = xp.asarray(xp.zeros_like(self._q[:, :1]), dtype=xp.float64)
        self._own = {"begun": begun, "moved": xp.zeros_like(self._q[:, :2]), "return": 0.0 * begun[:, 0]}
        self._to = self._task.at(self._time(0))
        self._make_spaces(guide.single_action_space)

    def _controlled(self, options: dict[str, Any], rest: list[float]) -> Any:  # noqa: ANN401 - a DeviceBatch
        batch: Any = sw.Batch(self.model, self.num_envs, **options)
        kp, kd, effort_limit = self._guide.episodes.gains
        batch.pd(kp, kd, np.tile(rest, (self.num_envs, 1)), effort_limit=effort_limit)
        return batch

    @property
    def observation_parts(self) -> dict[str, slice]:
        """Where the parts of an observation are in it."""
        return self._guide.observation_parts

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Values, dict[str, Any]]:
        """Begin episodes as all environments on a device do; without a seed the first ones with the constructor's."""
        if seed is None and not self._starts_there:
            seed = self._first_seed
        return super().reset(seed=seed, options=options)

    def _time(self, steps: int) -> Values:
        """Where worlds are in the motion after more steps, s, (n,) of 64 bits."""
        elapsed = self._xp.asarray(self._elapsed, dtype=self._xp.float64)
        return self._own["begun"][:, 0] + (elapsed + steps) / self._words["control_hz"]

    def _figure(self, shown: Values) -> Figure:
        return Figure(self._q, self._v, self._by_name(shown))

    def _task_start(self, world: int) -> Iterator[Start]:
        guide = self._guide
        guide.episodes.seed(0, self._seeds[world])
        while True:
            guide.episodes.reset(np.ones(1, dtype=np.bool_))
            yield {"q": guide.batch.q[0], "v": guide.batch.v[0], "begun": guide.episodes.motion_time[0, :1]}

    def _task_act(self, given: Values) -> None:
        self._to = self._task.at(self._time(1))
        self._target[...] = self._task.aim(given, self._to)

    def _task_judge(self) -> Judgement:
        xp, to, own = self._xp, self._to, self._own
        if self._words["cycle_sync"]:
            begins = self._task.cycles(self._time(0)) > self._task.cycles(self._time(-1))
            own["moved"][...] = xp.where(begins[:, None], self._q[:, :2] - to.q[:, :2], own["moved"])
        self._ghost_q[...] = to.q
        self._ghost_q[:, :2] += own["moved"]
        self._ghost_v[...] = to.v
        self._ghost.step(0, **self._stream())
        now, there = self._figure(self._shown), Figure(self._ghost_q, self._ghost_v, self._ghost_by_name())
        terms = self._task.terms(now, there)
        falls = [now.shown[f"fall {body}"] for body in self._falls]
        fallen = (xp.concatenate(falls, -1) > 0.0).any(-1) if falls else self._ended & ~self._ended
        # A step that ends an episode is worth nothing.
        ended = fallen | (self._status[:, 5] > 0)
        reward = xp.where(ended, xp.zeros_like(terms[0]), self._task.reward(terms))
        own["return"] += reward
        info = dict(zip(TERMS, terms, strict=True)) | {"motion_time": to.local, "episode_return": own["return"]}
        info["normalized_return"] = own["return"] / self._most()
        return Judgement(reward, ended, info)

    def _ghost_by_name(self) -> dict[str, Values]:
        return {name: self._ghost_shown[:, where] for name, where in self._columns.items()}

    def _most(self) -> Values:
        """Steps that the episodes can have; those that they had, without a limit."""
        xp, task = self._xp, self._task
        elapsed = xp.asarray(self._elapsed, dtype=xp.float64)
        most = 0.0 * elapsed + np.inf if self.limit is None else 0.0 * elapsed + self.limit
        if not task.is_cyclic:
            left = xp.ceil(self._words["control_hz"] * (task.duration - self._own["begun"][:, 0]) - 1e-6)
            most = xp.minimum(most, xp.clip(left, 1.0, None))
        return xp.where(xp.isfinite(most), most, elapsed)

    def _task_cut(self) -> Values:
        is_endless = self.limit is None and self._task.is_cyclic
        return self._elapsed < 0 if is_endless else self._elapsed >= self._most()

    def _task_observe(self, shown: Values) -> Values:
        return self._task.observe(self._figure(shown), self._task.at(self._time(0)), self._own["moved"])

    def _task_place(self, shown: Values) -> dict[str, Values]:
        del shown
        return {}
