"""Gymnasium's tasks on a GPU: observations, rewards and ends as expressions over the arrays of all worlds.

They use what NumPy and PyTorch have under one name, so that the same lines run on both. Places and velocities of bodies
are those of sensors that the model is given, which the step's kernel writes. On the processor ``crates/envs`` has the
same definitions, world by world; ``python/tests/test_gym_device.py`` compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

import sapwood as sw

Values = Any
"""An array of NumPy or PyTorch; its first axis is that of the worlds."""


@dataclass(frozen=True)
class Look:
    """All worlds at a moment.

    Attributes:
        q: Positions, (n, nq).
        v: Velocities, (n, nv).
        ctrl: Controls, (n, nu).
        shown: What the sensors show that the task adds, (n, number), by their names.
    """

    q: Values
    v: Values
    ctrl: Values
    shown: Mapping[str, Values]


@dataclass(frozen=True)
class Judgement:
    """What a step was worth.

    Attributes:
        reward: Of each world, (n,).
        ends: Whether its episode ends, (n,).
        info: Entries of ``info``, (n,) each.
    """

    reward: Values
    ends: Values
    info: dict[str, Values]


class DeviceTask:
    """A task over arrays of the module `xp`, numpy or torch.

    Args:
        xp: The module.
        options: The task's options.
        model: The model, without the sensors that are added.
        dt: Time of a step of the environment, s.
    """

    has_contact_forces = False

    def __init__(self, xp: Any, options: Any, model: sw.Model, dt: float) -> None:  # noqa: ANN401
        self.xp, self.options, self.model, self.dt = xp, options, model, dt
        self.start = model.keyframe().q

    def sensors(self) -> dict[str, str]:
        """The sensors that the task adds: elements of MJCF with their attributes, by name."""
        return {}

    def position(self, at: Look) -> Values:
        """What counts as position, (n, number)."""
        return at.q[:, :0]

    def observe(self, at: Look) -> Values:
        """Observations, (n, number)."""
        return self.xp.concatenate([at.q, at.v], -1)

    def place(self, at: Look) -> dict[str, Values]:
        """Entries of ``info`` that a reset has, too."""
        del at
        return {}

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """Reward and end of a step; `velocity` is the change of :meth:`position` in it, by its time."""
        raise NotImplementedError

    def skipped(self, number: int) -> int:
        """How many coordinates the observation leaves out."""
        return number if self.options.exclude_current_positions_from_observation else 0

    def control_cost(self, at: Look) -> Values:
        """Of the squares of the controls."""
        return self.options.ctrl_cost_weight * (at.ctrl * at.ctrl).sum(-1)

    def never(self, at: Look) -> Values:
        """False for every world."""
        return self.xp.zeros_like(at.q[:, 0]) > 0


class Planar(DeviceTask):
    """HalfCheetah, and what Hopper and Walker2d have in common with it."""

    speed_limit = np.inf

    def position(self, at: Look) -> Values:
        """See the base class."""
        return at.q[:, :1]

    def observe(self, at: Look) -> Values:
        """See the base class."""
        limit = self.speed_limit
        v = at.v if np.isinf(limit) else self.xp.clip(at.v, -limit, limit)
        return self.xp.concatenate([at.q[:, self.skipped(1) :], v], -1)

    def place(self, at: Look) -> dict[str, Values]:
        """See the base class."""
        return {"x_position": at.q[:, 0]}

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        speed = velocity[:, 0]
        forward, control = self.options.forward_reward_weight * speed, self.control_cost(at)
        info = {"x_velocity": speed, "reward_forward": forward, "reward_ctrl": -control}
        return Judgement(forward - control, self.never(at), info)


class Upright(Planar):
    """Hopper and Walker2d."""

    speed_limit = 10.0

    def place(self, at: Look) -> dict[str, Values]:
        """See the base class."""
        return {"x_position": at.q[:, 0], "z_distance_from_origin": at.q[:, 1] - self.start[1]}

    def is_healthy(self, at: Look) -> Values:
        """Whether height and angle are within their ranges."""
        o = self.options
        return within(at.q[:, 1], o.healthy_z_range) & within(at.q[:, 2], o.healthy_angle_range)

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        of_plane, is_healthy = super().judge(velocity, at), self.is_healthy(at)
        survive = self.options.healthy_reward * self.xp.asarray(is_healthy, dtype=at.q.dtype)
        ends = ~is_healthy if self.options.terminate_when_unhealthy else self.never(at)
        return Judgement(of_plane.reward + survive, ends, {**of_plane.info, "reward_survive": survive})


class Hopper(Upright):
    """Hopper."""

    def is_healthy(self, at: Look) -> Values:
        """See the base class."""
        low, high = self.options.healthy_state_range
        state = self.xp.concatenate([at.q[:, 2:], at.v], -1)
        return super().is_healthy(at) & ((state > low) & (state < high)).all(-1)


class InvertedPendulum(DeviceTask):
    """InvertedPendulum."""

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        del velocity
        is_healthy = self.xp.isfinite(self.observe(at)).all(-1) & (self.xp.abs(at.q[:, 1]) <= 0.2)
        reward = self.xp.asarray(is_healthy, dtype=at.q.dtype)
        return Judgement(reward, ~is_healthy, {"reward_survive": reward})


class Arm(DeviceTask):
    """Reacher and Pusher."""

    bodies: tuple[str, ...] = ()

    def sensors(self) -> dict[str, str]:
        """See the base class."""
        return {body: f'<framepos objtype="xbody" objname="{body}"' for body in self.bodies}

    def distance(self, at: Look, first: str, second: str) -> Values:
        """Between the origins of two bodies."""
        between = at.shown[first] - at.shown[second]
        return self.xp.sqrt((between * between).sum(-1))


class Reacher(Arm):
    """Reacher."""

    bodies = ("fingertip", "target")

    def observe(self, at: Look) -> Values:
        """See the base class."""
        angles, between = at.q[:, :2], (at.shown["fingertip"] - at.shown["target"])[:, :2]
        parts = [self.xp.cos(angles), self.xp.sin(angles), at.q[:, 2:], at.v[:, :2], between]
        return self.xp.concatenate(parts, -1)

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        del velocity
        distance = self.options.reward_dist_weight * self.distance(at, "fingertip", "target")
        control = self.options.reward_control_weight * (at.ctrl * at.ctrl).sum(-1)
        info = {"reward_dist": -distance, "reward_ctrl": -control}
        return Judgement(-distance - control, self.never(at), info)


class Pusher(Arm):
    """Pusher."""

    bodies = ("tips_arm", "object", "goal")

    def observe(self, at: Look) -> Values:
        """See the base class."""
        return self.xp.concatenate([at.q[:, :7], at.v[:, :7], *(at.shown[body] for body in self.bodies)], -1)

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        del velocity
        o = self.options
        near = o.reward_near_weight * self.distance(at, "object", "tips_arm")
        distance = o.reward_dist_weight * self.distance(at, "object", "goal")
        control = o.reward_control_weight * (at.ctrl * at.ctrl).sum(-1)
        info = {"reward_dist": -distance, "reward_ctrl": -control, "reward_near": -near}
        return Judgement(-distance - control - near, self.never(at), info)


class Legged(DeviceTask):
    """Ant and Humanoid without forces of contact: which options have to be off."""

    has_contact_forces = True

    def place(self, at: Look) -> dict[str, Values]:
        """See the base class."""
        x, y = at.q[:, 0], at.q[:, 1]
        return {"x_position": x, "y_position": y, "distance_from_origin": self.xp.sqrt(x * x + y * y)}

    def is_healthy(self, at: Look) -> Values:
        """Whether the height is within its range."""
        return within(at.q[:, 2], self.options.healthy_z_range)

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        o, is_healthy, control = self.options, self.is_healthy(at), self.control_cost(at)
        survive = o.healthy_reward * self.xp.asarray(is_healthy, dtype=at.q.dtype)
        forward = o.forward_reward_weight * velocity[:, 0]
        info = {
            "x_velocity": velocity[:, 0],
            "y_velocity": velocity[:, 1],
            "reward_forward": forward,
            "reward_ctrl": -control,
            "reward_contact": self.xp.zeros_like(control),
            "reward_survive": survive,
        }
        ends = ~is_healthy if o.terminate_when_unhealthy else self.never(at)
        return Judgement(forward + survive - control, ends, info)


class Ant(Legged):
    """Ant."""

    def sensors(self) -> dict[str, str]:
        """See the base class."""
        body = self.options.main_body
        name = body if isinstance(body, str) else self.model.body_names[body]
        return {"main": f'<framepos objtype="xbody" objname="{name}"'}

    def position(self, at: Look) -> Values:
        """See the base class."""
        return at.shown["main"][:, :2]

    def observe(self, at: Look) -> Values:
        """See the base class."""
        return self.xp.concatenate([at.q[:, self.skipped(2) :], at.v], -1)

    def is_healthy(self, at: Look) -> Values:
        """See the base class."""
        (low, high), state = self.options.healthy_z_range, self.xp.concatenate([at.q, at.v], -1)
        return self.xp.isfinite(state).all(-1) & (at.q[:, 2] >= low) & (at.q[:, 2] <= high)


class Humanoid(Legged):
    """Humanoid: also inertias and velocities of bodies about the centre of mass, and forces of actuators."""

    def __init__(self, xp: Any, options: Any, model: sw.Model, dt: float) -> None:  # noqa: ANN401
        super().__init__(xp, options, model, dt)
        self.bodies = model.body_names[1:]
        self.joints = [joint.name for joint in model.joints[1:]]
        self.tendons = model.tendon_names
        parameters = sw.Simulation(model).parameters
        self.masses = parameters.masses[1:]
        xx, yy, zz, xy, xz, yz = parameters.inertias[1:].T
        self.inertias = np.moveaxis(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]), 2, 0)

    def sensors(self) -> dict[str, str]:
        """See the base class."""
        found = {"center": f'<subtreecom body="{self.bodies[0]}"'}
        for body in self.bodies:
            found[f"com {body}"] = f'<framepos objtype="body" objname="{body}"'
            found[f"quat {body}"] = f'<framequat objtype="xbody" objname="{body}"'
            found[f"lin {body}"] = f'<framelinvel objtype="body" objname="{body}"'
            found[f"ang {body}"] = f'<frameangvel objtype="body" objname="{body}"'
        found |= {f"force {joint}": f'<jointactuatorfrc joint="{joint}"' for joint in self.joints}
        found |= {f"length {tendon}": f'<tendonpos tendon="{tendon}"' for tendon in self.tendons}
        found |= {f"rate {tendon}": f'<tendonvel tendon="{tendon}"' for tendon in self.tendons}
        return found

    def position(self, at: Look) -> Values:
        """See the base class."""
        return at.shown["center"][:, :2]

    def place(self, at: Look) -> dict[str, Values]:
        """See the base class."""
        lengths, rates = (self.all(at, kind, self.tendons)[..., 0] for kind in ("length", "rate"))
        return {**super().place(at), "tendon_length": lengths, "tendon_velocity": rates}

    def all(self, at: Look, kind: str, names: list[str]) -> Values:
        """What the sensors of a kind show, (n, names, number)."""
        return stacked(self.xp, at.shown, kind, names)

    def observe(self, at: Look) -> Values:
        """See the base class."""
        o, parts = self.options, [at.q[:, self.skipped(2) :], at.v]
        n, offset = len(at.q), self.all(at, "com", self.bodies) - at.shown["center"][:, None]
        if o.include_cinert_in_observation:
            parts.append(self.cinert(at, offset).reshape(n, -1))
        if o.include_cvel_in_observation:
            spin, speed = self.all(at, "ang", self.bodies), self.all(at, "lin", self.bodies)
            about = speed - cross(self.xp, spin, offset)
            parts.append(self.xp.concatenate([spin, about], -1).reshape(n, -1))
        if o.include_qfrc_actuator_in_observation:
            parts.append(self.all(at, "force", self.joints)[..., 0])
        return self.xp.concatenate(parts, -1)

    def cinert(self, at: Look, offset: Values) -> Values:
        """Inertias about the centre of mass in world axes: xx, yy, zz, xy, xz, yz, mass times offset, mass."""
        xp, like = self.xp, {"dtype": at.q.dtype}
        if xp is not np:
            like["device"] = at.q.device
        mass, own = xp.asarray(self.masses, **like)[None, :, None], xp.asarray(self.inertias, **like)
        w, x, y, z = (self.all(at, "quat", self.bodies)[..., k] for k in range(4))
        rows = [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
        turn = xp.stack([xp.stack(row, -1) for row in rows], -2)
        turned = xp.einsum("nbij,bjk,nblk->nbil", turn, own, turn)
        a, b, c = (offset[..., k] for k in range(3))
        squares = xp.stack([b * b + c * c, a * a + c * c, a * a + b * b, -a * b, -a * c, -b * c], -1)
        entries = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        inertia = xp.stack([turned[..., i, j] for i, j in entries], -1) + mass * squares
        return xp.concatenate([inertia, mass * offset, mass + xp.zeros_like(offset[..., :1])], -1)


class HumanoidStandup(Humanoid):
    """HumanoidStandup."""

    def position(self, at: Look) -> Values:
        """See the base class."""
        return at.q[:, :0]

    def place(self, at: Look) -> dict[str, Values]:
        """See the base class."""
        place = super().place(at)
        del place["distance_from_origin"]
        return {**place, "z_distance_from_origin": at.q[:, 2] - self.start[2]}

    def judge(self, velocity: Values, at: Look) -> Judgement:
        """See the base class."""
        del velocity
        # The definition divides by the time step of the model, and has no use for its weight.
        up, control = at.q[:, 2] / self.model.timestep, self.control_cost(at)
        info = {"reward_linup": up, "reward_quadctrl": -control, "reward_impact": self.xp.zeros_like(up)}
        return Judgement(up - control + 1.0, self.never(at), info)


def within(x: Values, between: tuple[float, float]) -> Values:
    """Whether numbers are within a range, without its ends."""
    low, high = between
    return (low < x) & (x < high)


def stacked(xp: Any, shown: Mapping[str, Values], kind: str, names: list[str]) -> Values:  # noqa: ANN401
    """What the sensors of a kind show, (n, names, number)."""
    return xp.stack([shown[f"{kind} {name}"] for name in names], 1)


def cross(xp: Any, a: Values, b: Values) -> Values:  # noqa: ANN401
    """The cross products of vectors, (…, 3): torch's and numpy's functions take their axis by other names."""
    (a0, a1, a2), (b0, b1, b2) = ((v[..., 0], v[..., 1], v[..., 2]) for v in (a, b))
    return xp.stack([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0], -1)


DEVICE_TASKS: dict[str, type[DeviceTask]] = {
    "Ant": Ant,
    "HalfCheetah": Planar,
    "Hopper": Hopper,
    "Humanoid": Humanoid,
    "HumanoidStandup": HumanoidStandup,
    "InvertedPendulum": InvertedPendulum,
    "Pusher": Pusher,
    "Reacher": Reacher,
    "Walker2d": Upright,
}
"""The tasks that run on a GPU, by their names in Gymnasium."""
