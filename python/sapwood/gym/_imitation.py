"""Characters that imitate motions, many worlds side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import gymnasium
import numpy as np
from gymnasium import Space
from gymnasium.error import ResetNeeded
from gymnasium.spaces import Box
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

import sapwood as sw
from sapwood import _sapwood
from sapwood.gym._device_episodes import check_device
from sapwood.gym._device_imitation import DeviceImitationVectorEnv
from sapwood.gym._single import DEFAULT_SIZE
from sapwood.gym._state import Kept, Stated, pack, unpacked
from sapwood.gym._worlds import CAN_RENDER, check_render_mode

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
Scheme = Literal["symplectic-euler", "bilinear", "midpoint", "implicit-euler", "explicit-euler"]

_MODES = {
    AutoresetMode.NEXT_STEP: "next-step",
    AutoresetMode.SAME_STEP: "same-step",
    AutoresetMode.DISABLED: "disabled",
}

_WORDS = {
    "action": "target",
    "rotations": "quaternion",
    "reward": "paper",
    "observe_root": False,
    "cycle_sync": True,
    "early_termination": True,
    "control_hz": 30.0,
}
"""Options that the expressions of a GPU depend on."""

ACTION_BOUND = 2.0 * np.pi
"""Of the action space: a full turn, rad."""


class ImitationVectorEnv(Stated, VectorEnv[Array, NDArray[np.float32], Any]):
    """A character that imitates a motion, many worlds in one :class:`sapwood.Batch`.

    It is the task of Peng et al., "DeepMimic: example-guided deep reinforcement learning of physics-based character
    skills", 2018. Actions set the targets of stable PD controllers, `control_hz` times a second. Rewards say how near
    the character is to the motion, 0 to 1 a step; an episode ends when it falls. Results do not depend on the number of
    threads.

    Args:
        character: A character by name ("humanoid", "dog"), a file of MJCF, or a model.
        clip: The motion: a gait by name ("walk", "run", "trot", "pace", "canter", "slither"), or a file of DeepMimic's
            text or BVH.
        num_envs: Number of worlds.
        spd: How targets become forces: "maba" within the step, with contact and effort limits; "maba_standalone",
            "dense", "sparse", "pcg" before it.
        action: What an action is: "target", the targets of the joints; "residual", how far they are from the motion at
            the end of the control step; "lead", how far from that motion moved ahead by kd/kp times its velocity, as
            far as damping holds joints behind their targets. Rotation vectors of ball joints, angles or lengths of
            others; rad, m.
        rotations: How rotations are observed: "quaternion" or "6d", two columns of the matrix.
        observe_root: Whether it is observed where the root of the motion is, as seen from the character, and how far
            its heading is turned. DeepMimic's paper does not; without it a policy cannot see that it drifts.
        control_hz: Actions a second; a divisor of `physics_hz`.
        physics_hz: Time steps a second.
        reward: "paper", or "code" for that of the published code.
        effort_limits: Whether torques are limited, as DeepMimic's files have it.
        reference_state_init: Whether episodes begin anywhere in the motion, or all at its start.
        early_termination: Whether a fall ends an episode.
        cycle_sync: Whether the motion is moved to where the character is when a cycle begins.
        kp: Stiffness of single joints, by name, where it is other than DeepMimic's; N·m/rad. A tenth of it is damping.
        kd: Damping of single joints, N·m·s/rad.
        effort_limit: Greatest torque of single joints, N·m; infinity for none.
        end_effectors: Bodies whose tips the reward compares; None for feet and hands, or all that end a limb.
        fall_bodies: Bodies whose touching the ground ends an episode; None for those that the motion keeps above it.
        ground: Where the motion has its ground: "most", where a tenth of it is below, as single postures of motion
            capture are; "start", where its first posture stands, and each posture that is below is lifted on to it.
        max_episode_steps: Control steps of an episode; None for no limit.
        seed: Of the first :meth:`reset` without one.
        scheme: Time-stepping scheme, of :class:`sapwood.Batch`.
        conserve: Whether steps that gain energy are corrected, as in :class:`sapwood.Batch`.
        precision: Numbers that steps are computed with, "f64" or "f32"; None for f64 on the processor, f32 on a GPU.
        threads: Threads that share the worlds; None for those of the processor.
        autoreset_mode: When worlds whose episodes ended begin again.
        device: Where the worlds are: "cpu"; "cuda" (the first GPU), "cuda:1", …, or "host", the GPU's kernels on the
            processor, for tests: then what is made is a :class:`DeviceImitationVectorEnv`, which also takes `rows`, as
            of :class:`sapwood.Batch`.

    Raises:
        NotImplementedError: For an option that the GPU does not do; it says what to pass.
        ValueError: When a value is outside its domain, or character and motion do not fit.

    Attributes:
        model: The model.
        batch: The worlds.
        episodes: The motion and the episodes.
        dt: Time of a control step, s.
        mean_action: The action at the mean posture of the motion, (actions,).
    """

    metadata: dict[str, Any]
    autoreset_mode: AutoresetMode
    single_observation_space: Space[Array]
    single_action_space: Space[NDArray[np.float32]]
    observation_space: Space[Array]
    action_space: Space[NDArray[np.float32]]

    # On a GPU it is a `DeviceImitationVectorEnv`.
    def __new__(
        cls,
        character: str | sw.Model = "humanoid",
        clip: str = "walk",
        num_envs: int = 1,
        **options: Any,  # noqa: ANN401 - as of __init__
    ) -> Any:  # noqa: ANN401
        if options.get("device", "cpu") == "cpu":
            return super().__new__(cls)
        return _on_device(character, clip, num_envs, **options)

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
        kp: Mapping[str, float] | None = None,
        kd: Mapping[str, float] | None = None,
        effort_limit: Mapping[str, float] | None = None,
        end_effectors: Sequence[str] | None = None,
        fall_bodies: Sequence[str] | None = None,
        ground: str = "most",
        max_episode_steps: int | None = 600,
        seed: int = 0,
        scheme: Scheme = "bilinear",
        conserve: bool = True,
        precision: Literal["f64", "f32"] | None = None,
        threads: int | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        device: str = "cpu",
    ) -> None:
        super().__init__()
        del device  # of __new__
        if not (np.isfinite(physics_hz) and physics_hz > 0.0):
            message = f"physics_hz is {physics_hz}: expected a finite number above 0"
            raise ValueError(message)
        self.num_envs, self.max_episode_steps = num_envs, max_episode_steps
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.metadata = {"autoreset_mode": self.autoreset_mode, "render_modes": [], "render_fps": round(control_hz)}
        self.model = _model(character)
        self.batch = sw.Batch(
            self.model,
            num_envs,
            timestep=1.0 / physics_hz,
            scheme=scheme,
            conserve=conserve,
            threads=threads,
            precision=precision,
            contacts=True,
        )
        self.episodes = _sapwood.ImitationEpisodes(
            self.batch,
            str(clip),
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
            kp=dict(kp or {}),
            kd=dict(kd or {}),
            effort_limit=dict(effort_limit or {}),
            end_effectors=None if end_effectors is None else list(end_effectors),
            fall_bodies=None if fall_bodies is None else list(fall_bodies),
            ground=ground,
        )
        self.dt = 1.0 / control_hz
        columns, actions = self.episodes.observation.shape[1], self.episodes.action_len
        self.single_observation_space = Box(-np.inf, np.inf, (columns,), np.float64)
        self.single_action_space = Box(-ACTION_BOUND, ACTION_BOUND, (actions,), np.float32)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        times = np.linspace(0.0, self.episodes.duration, 64, endpoint=False)
        mean: Array = np.mean([self.episodes.reference_action(float(time)) for time in times], axis=0)
        self.mean_action: Array = mean if action == "target" else np.zeros(actions)
        self._begun, self._first_seed = False, seed
        self._ended: Flags = np.zeros(num_envs, dtype=np.bool_)

    @property
    def observation_parts(self) -> dict[str, slice]:
        """Where the parts of an observation are in it."""
        return {name: slice(first, end) for name, first, end in self.episodes.observation_parts}

    def reset(
        self, *, seed: int | list[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Array, dict[str, Any]]:
        """Begin episodes.

        Args:
            seed: A number, of which world i gets seed + i; or one for each world, where None goes on with its own.
            options: ``{"reset_mask": mask}`` for some worlds alone, an array of booleans (num_envs,).

        Returns:
            Observations (num_envs, number), info.

        Raises:
            ValueError: When seeds or mask have another length, or a seed is outside 0 to 2⁶⁴ − 1.
        """
        if seed is None and not self._begun:
            seed = self._first_seed
        mask: Flags = np.asarray((options or {}).get("reset_mask", np.ones(self.num_envs, dtype=np.bool_)))
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_:
            message = f"options['reset_mask'] is {mask.dtype} {mask.shape}: expected booleans, ({self.num_envs},)"
            raise ValueError(message)
        if seed is not None:
            seeds = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else list(seed)
            if len(seeds) != self.num_envs:
                message = f"seed has {len(seeds)} entries: expected one number, or {self.num_envs}"
                raise ValueError(message)
            if any(own is not None and not 0 <= own < 2**64 for own in seeds):
                message = f"seed is {seed}: expected numbers from 0 to 2^64 - 1"
                raise ValueError(message)
            for world, own in enumerate(seeds):
                if own is not None and mask[world]:
                    self.episodes.seed(world, own)
        self.episodes.reset(mask)
        self._begun = True
        self._ended[mask] = False
        return self.episodes.observation, {}

    def step(self, actions: ArrayLike) -> tuple[Array, Array, Flags, Flags, dict[str, Any]]:
        """Make a control step of every world.

        Args:
            actions: (num_envs, number), rad or m.

        Returns:
            Observations (num_envs, number), rewards, terminations and truncations (num_envs,), and info: the terms of
            the reward, "motion_time", "episode_return" and "normalized_return", its ratio to the number of steps that
            the episode can have. Where time steps of a world fail, its episode ends, and ``info["simulation_error"]``
            says why.

        Raises:
            ResetNeeded: Before :meth:`reset`, or, without autoreset, while worlds whose episodes ended were not reset.
            ValueError: When actions have another shape, or are not finite.
        """
        if not self._begun or (self.autoreset_mode == AutoresetMode.DISABLED and self._ended.any()):
            message = "call reset before step, also for worlds whose episodes have ended"
            raise ResetNeeded(message)
        terminated, truncated, was_reset = self.episodes.step(np.asarray(actions, dtype=np.float64))
        self._ended = terminated | truncated
        infos = self._columns(self.episodes.info, ~was_reset)
        if self.autoreset_mode == AutoresetMode.SAME_STEP and was_reset.any():
            self._add_last(infos, was_reset)
        if terminated.any():
            self._add_failures(infos)
        return self.episodes.observation, self.episodes.reward, terminated, truncated, infos

    def _columns(self, values: Array, stepped: Flags) -> dict[str, Any]:
        """Info of the worlds that made a step; in others it is 0."""
        infos: dict[str, Any] = {}
        for k, name in enumerate(self.episodes.info_names):
            infos[name], infos[f"_{name}"] = values[:, k], stepped.copy()
        return infos

    def _add_last(self, infos: dict[str, Any], ended: Flags) -> None:
        last, values = np.full(self.num_envs, None, dtype=object), np.zeros_like(self.episodes.info)
        for world in np.flatnonzero(ended):
            last[world] = self.episodes.last_observation(int(world))
            values[world] = self.episodes.last_info(int(world))
        infos["final_obs"], infos["_final_obs"] = last, ended
        infos["final_info"], infos["_final_info"] = self._columns(values, ended), ended.copy()

    def _add_failures(self, infos: dict[str, Any]) -> None:
        reasons = self.batch.errors
        if reasons:
            errors, failed = np.full(self.num_envs, None, dtype=object), np.zeros(self.num_envs, dtype=np.bool_)
            for world, reason in reasons.items():
                errors[world], failed[world] = reason, True
            infos["simulation_error"], infos["_simulation_error"] = errors, failed

    def state(self) -> bytes:
        """Worlds, episodes and generators: an environment of the same options goes on from it by :meth:`restore`.

        As with ``Batch.state``, it leaves out what lanes remember of the last step, so that this environment goes on
        with other bits, equal to round-off. Where it is to go on with the same, give it its own state back.
        """
        return pack(self.batch, self.episodes, {"ended": self._ended, "begun": np.array(self._begun)})

    def restore(self, state: bytes) -> tuple[Array, dict[str, Any]]:
        """Go on from a :meth:`state`.

        Returns:
            Observations (num_envs, number), info.

        Raises:
            ValueError: When it is no state of an environment of the same options and number of worlds.
        """
        with unpacked(state, self.batch, self.episodes) as arrays:
            ended, begun = arrays["ended"].astype(np.bool_), bool(arrays["begun"])
        self._ended, self._begun = ended, begun
        return self.episodes.observation, {}


def _on_device(
    character: str | sw.Model,
    clip: str,
    num_envs: int,
    *,
    device: str,
    scheme: Scheme = "bilinear",
    conserve: bool = True,
    precision: Literal["f64", "f32"] | None = None,
    rows: int | None = None,
    seed: int = 0,
    autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    **options: Any,  # noqa: ANN401 - words, numbers, flags
) -> DeviceImitationVectorEnv:
    check_device(device, options)
    if not conserve or options.get("spd", "maba") != "maba":
        message = "the GPU corrects the energy of steps, and has PD control within them: expected conserve=True, "
        message += "spd='maba', or device='cpu'"
        raise NotImplementedError(message)
    guide = ImitationVectorEnv(character, clip, 1, threads=1, autoreset_mode=AutoresetMode.DISABLED, **options)
    words = {name: options.get(name, usual) for name, usual in _WORDS.items()}
    return DeviceImitationVectorEnv(
        guide,
        num_envs,
        device,
        words,
        scheme=scheme,
        autoreset_mode=autoreset_mode,
        seed=seed,
        precision=precision,
        rows=rows,
    )


def _model(character: str | sw.Model) -> sw.Model:
    if isinstance(character, sw.Model):
        return character
    is_file = character.endswith((".xml", ".urdf")) or Path(character).is_file()
    return sw.load(character) if is_file else _sapwood.character(character)


class ImitationEnv(gymnasium.Env[Array, NDArray[np.float32]], Kept):
    """A character that imitates a motion, one world: see :class:`ImitationVectorEnv`.

    Args:
        character: As there.
        clip: As there.
        render_mode: "rgb_array", or None for no pictures.
        width: Width of pictures, pixels.
        height: Height of pictures, pixels.
        options: The options there, but for ``num_envs``, ``threads`` and ``autoreset_mode``.

    Raises:
        ValueError: As there.

    Attributes:
        worlds: The vector environment of one world behind it.
    """

    metadata: dict[str, Any] = {"render_modes": ["rgb_array"] if CAN_RENDER else [], "render_fps": 30}  # noqa: RUF012 - as Gymnasium's
    observation_space: Space[Array]
    action_space: Space[NDArray[np.float32]]

    def __init__(
        self,
        character: str | sw.Model = "humanoid",
        clip: str = "walk",
        *,
        render_mode: str | None = None,
        width: int = DEFAULT_SIZE,
        height: int = DEFAULT_SIZE,
        **options: Any,  # noqa: ANN401 - words, numbers, flags
    ) -> None:
        Kept.__init__(self, character, clip, render_mode=render_mode, width=width, height=height, **options)
        check_render_mode(render_mode)
        options = {"max_episode_steps": None, **options}
        mode = AutoresetMode.DISABLED
        self.worlds = ImitationVectorEnv(character, clip, 1, threads=1, autoreset_mode=mode, **options)
        self.observation_space = self.worlds.single_observation_space
        self.action_space = self.worlds.single_action_space
        self.render_mode = render_mode
        self.metadata = {**type(self).metadata, "render_fps": self.worlds.metadata["render_fps"]}
        self._size = (width, height)
        self._renderer: sw.Renderer | None = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Array, dict[str, Any]]:
        """Begin an episode.

        Args:
            seed: Of the generator of this environment; None goes on with it.
            options: None are known.

        Returns:
            Observation, info.
        """
        super().reset(seed=seed, options=options)
        observations, _ = self.worlds.reset(seed=seed)
        return observations[0], {}

    def step(self, action: ArrayLike) -> tuple[Array, float, bool, bool, dict[str, Any]]:
        """Make a control step.

        Args:
            action: (number,), rad or m.

        Returns:
            Observation, reward, whether the character fell, whether a motion that does not go on is over, info.

        Raises:
            ResetNeeded: Before :meth:`reset`, or after the end of an episode.
            ValueError: When the action has another shape, or is not finite.
        """
        given = np.asarray(action)
        if given.shape != self.action_space.shape:
            message = f"action has shape {given.shape}: expected {self.action_space.shape}"
            raise ValueError(message)
        observations, rewards, terminated, truncated, infos = self.worlds.step(given[np.newaxis])
        info = {name: of[0] for name, of in infos.items() if not name.startswith("_")}
        return observations[0], float(rewards[0]), bool(terminated[0]), bool(truncated[0]), info

    def render(self) -> NDArray[np.uint8] | None:
        """A picture, (height, width, 3), or None without a render mode."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = sw.Renderer(self.worlds.model, *self._size)
        picture: NDArray[np.uint8] = self._renderer.render(self.worlds.batch.q[0])
        return picture

    def _state(self) -> bytes:
        return self.worlds.state()

    def _restore(self, state: bytes) -> None:
        self.worlds.restore(state)
