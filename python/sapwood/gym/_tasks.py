"""The tasks: what a user may choose of each, by the names of Gymnasium's v5 environments, and how episodes begin."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Start = tuple[Array, Array]
"""Positions and velocities, (nq,) and (nv,)."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every environment has.

    Attributes:
        xml_file: The model: a file of Gymnasium's assets, or a path that begins with ``/``, ``.`` or ``~``.
        frame_skip: Time steps in a step of the environment.
        default_camera_config: Where pictures are taken from, as in Gymnasium: lookat (3,), distance (m), azimuth and
            elevation (degrees). None for the model's camera "track", or that of the v5 environment.
    """

    task: ClassVar[str]
    max_episode_steps: ClassVar[int] = 1000
    reward_threshold: ClassVar[float | None] = None
    camera: ClassVar[Mapping[str, Any]] = {"azimuth": 90.0, "elevation": -45.0}
    contacts: ClassVar[bool] = False
    # Of these, only Python knows.
    own: ClassVar[tuple[str, ...]] = ("xml_file", "frame_skip", "default_camera_config", "reset_noise_scale")

    xml_file: str = ""
    frame_skip: int = 5
    default_camera_config: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, **given: Any) -> Options:  # noqa: ANN401 - options of any kind
        """The options, with defaults for what is not given."""
        return cls(**given)

    def start(self, rng: np.random.Generator, q0: Array, nv: int) -> Start:
        """Where an episode begins: the draws of the v5 definition, in their order."""
        raise NotImplementedError


@dataclass(frozen=True, kw_only=True)
class Noisy(Options):
    """Episodes begin near the default configuration.

    Attributes:
        reset_noise_scale: Bound of the uniform noise on positions; of that on velocities, or its standard deviation.
    """

    normal: ClassVar[bool] = False

    reset_noise_scale: float = 0.1

    def start(self, rng: np.random.Generator, q0: Array, nv: int) -> Start:
        """See the base class."""
        scale = self.reset_noise_scale
        q = q0 + rng.uniform(low=-scale, high=scale, size=len(q0))
        if self.normal:
            return q, scale * rng.standard_normal(nv)
        return q, rng.uniform(low=-scale, high=scale, size=nv)


@dataclass(frozen=True, kw_only=True)
class AntOptions(Noisy):
    """Options of Ant, with the defaults of Ant-v5."""

    task = "Ant"
    reward_threshold = 6000.0
    normal = True
    contacts = True

    xml_file: str = "ant.xml"
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.5
    contact_cost_weight: float = 5e-4
    healthy_reward: float = 1.0
    main_body: int | str = 1
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.2, 1.0)
    contact_force_range: tuple[float, float] = (-1.0, 1.0)
    exclude_current_positions_from_observation: bool = True
    include_cfrc_ext_in_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class HalfCheetahOptions(Noisy):
    """Options of HalfCheetah, with the defaults of HalfCheetah-v5."""

    task = "HalfCheetah"
    reward_threshold = 4800.0
    normal = True

    xml_file: str = "half_cheetah.xml"
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    exclude_current_positions_from_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class HopperOptions(Noisy):
    """Options of Hopper, with the defaults of Hopper-v5."""

    task = "Hopper"
    reward_threshold = 3800.0

    xml_file: str = "hopper.xml"
    frame_skip: int = 4
    reset_noise_scale: float = 5e-3
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_state_range: tuple[float, float] = (-100.0, 100.0)
    healthy_z_range: tuple[float, float] = (0.7, math.inf)
    healthy_angle_range: tuple[float, float] = (-0.2, 0.2)
    exclude_current_positions_from_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class Walker2dOptions(Noisy):
    """Options of Walker2d, with the defaults of Walker2d-v5."""

    task = "Walker2d"

    xml_file: str = "walker2d_v5.xml"
    frame_skip: int = 4
    reset_noise_scale: float = 5e-3
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-3
    healthy_reward: float = 1.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (0.8, 2.0)
    healthy_angle_range: tuple[float, float] = (-1.0, 1.0)
    exclude_current_positions_from_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class HumanoidOptions(Noisy):
    """Options of Humanoid, with the defaults of Humanoid-v5."""

    task = "Humanoid"
    contacts = True

    xml_file: str = "humanoid.xml"
    reset_noise_scale: float = 1e-2
    forward_reward_weight: float = 1.25
    ctrl_cost_weight: float = 0.1
    contact_cost_weight: float = 5e-7
    contact_cost_range: tuple[float, float] = (-math.inf, 10.0)
    healthy_reward: float = 5.0
    terminate_when_unhealthy: bool = True
    healthy_z_range: tuple[float, float] = (1.0, 2.0)
    exclude_current_positions_from_observation: bool = True
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class HumanoidStandupOptions(Noisy):
    """Options of HumanoidStandup, with the defaults of HumanoidStandup-v5."""

    task = "HumanoidStandup"
    contacts = True

    xml_file: str = "humanoidstandup.xml"
    reset_noise_scale: float = 1e-2
    uph_cost_weight: float = 1.0
    ctrl_cost_weight: float = 0.1
    impact_cost_weight: float = 0.5e-6
    impact_cost_range: tuple[float, float] = (-math.inf, 10.0)
    exclude_current_positions_from_observation: bool = True
    include_cinert_in_observation: bool = True
    include_cvel_in_observation: bool = True
    include_qfrc_actuator_in_observation: bool = True
    include_cfrc_ext_in_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class InvertedPendulumOptions(Noisy):
    """Options of InvertedPendulum, with the defaults of InvertedPendulum-v5."""

    task = "InvertedPendulum"
    reward_threshold = 950.0
    camera: ClassVar[Mapping[str, Any]] = {**Options.camera, "distance": 2.04, "lookat": (0.0, 0.0, 0.0)}

    xml_file: str = "inverted_pendulum.xml"
    frame_skip: int = 2
    reset_noise_scale: float = 0.01


@dataclass(frozen=True, kw_only=True)
class InvertedDoublePendulumOptions(Noisy):
    """Options of InvertedDoublePendulum, with the defaults of InvertedDoublePendulum-v5."""

    task = "InvertedDoublePendulum"
    reward_threshold = 9100.0
    normal = True
    camera: ClassVar[Mapping[str, Any]] = {**Options.camera, "distance": 4.1225, "lookat": (0.0, 0.0, 0.1225)}

    xml_file: str = "inverted_double_pendulum.xml"
    healthy_reward: float = 10.0


@dataclass(frozen=True, kw_only=True)
class SwimmerOptions(Noisy):
    """Options of Swimmer, with the defaults of Swimmer-v5."""

    task = "Swimmer"
    reward_threshold = 360.0

    xml_file: str = "swimmer.xml"
    frame_skip: int = 4
    forward_reward_weight: float = 1.0
    ctrl_cost_weight: float = 1e-4
    exclude_current_positions_from_observation: bool = True


@dataclass(frozen=True, kw_only=True)
class ReacherOptions(Options):
    """Options of Reacher, with the defaults of Reacher-v5."""

    task = "Reacher"
    max_episode_steps = 50
    reward_threshold = -3.75

    xml_file: str = "reacher.xml"
    frame_skip: int = 2
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 1.0

    def start(self, rng: np.random.Generator, q0: Array, nv: int) -> Start:
        """See the base class."""
        q = rng.uniform(low=-0.1, high=0.1, size=len(q0)) + q0
        goal = rng.uniform(low=-0.2, high=0.2, size=2)
        while np.linalg.norm(goal) >= 0.2:
            goal = rng.uniform(low=-0.2, high=0.2, size=2)
        q[-2:] = goal
        v = rng.uniform(low=-0.005, high=0.005, size=nv)
        v[-2:] = 0.0
        return q, v


@dataclass(frozen=True, kw_only=True)
class PusherOptions(Options):
    """Options of Pusher, with the defaults of Pusher-v5."""

    task = "Pusher"
    max_episode_steps = 100
    reward_threshold = 0.0
    camera: ClassVar[Mapping[str, Any]] = {**Options.camera, "distance": 4.0}

    xml_file: str = "pusher_v5.xml"
    reward_near_weight: float = 0.5
    reward_dist_weight: float = 1.0
    reward_control_weight: float = 0.1

    def start(self, rng: np.random.Generator, q0: Array, nv: int) -> Start:
        """See the base class."""
        q = q0.copy()
        goal = np.zeros(2)
        while True:
            cylinder = np.concatenate([rng.uniform(low=-0.3, high=0, size=1), rng.uniform(low=-0.2, high=0.2, size=1)])
            if np.linalg.norm(cylinder - goal) > 0.17:
                break
        q[-4:-2] = cylinder
        q[-2:] = goal
        v = rng.uniform(low=-0.005, high=0.005, size=nv)
        v[-4:] = 0.0
        return q, v


TASKS: dict[str, type[Options]] = {
    options.task: options
    for options in (
        AntOptions,
        HalfCheetahOptions,
        HopperOptions,
        HumanoidOptions,
        HumanoidStandupOptions,
        InvertedDoublePendulumOptions,
        InvertedPendulumOptions,
        PusherOptions,
        ReacherOptions,
        SwimmerOptions,
        Walker2dOptions,
    )
}
"""The options of each task, by its name in Gymnasium."""
