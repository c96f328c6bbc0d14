"""The imitation task on a GPU: targets, observations and rewards as expressions over the arrays of all worlds.

They use what NumPy and PyTorch have under one name, so that the same lines run on both. On the processor
``crates/envs/src/imitation`` has the same definitions, world by world; ``python/tests/test_imitation_device.py``
compares both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.gym._device_tasks import Values, cross, stacked


@dataclass(frozen=True)
class Motion:
    """Where worlds are in the motion.

    Attributes:
        q: Positions of the reference, (n, nq).
        v: Its velocities, (n, nv).
        phase: The part of the motion, or of the present cycle, that is over, (n,).
        local: That time, s, (n,).
    """

    q: Values
    v: Values
    phase: Values
    local: Values


@dataclass(frozen=True)
class Figure:
    """Characters of all worlds at a moment.

    Attributes:
        q: Positions, (n, nq).
        v: Velocities, (n, nv).
        shown: What the sensors of :meth:`MotionTask.sensors` show, (n, number), by their names.
    """

    q: Values
    v: Values
    shown: Mapping[str, Values]


class MotionTask:
    """Imitation over arrays of the module `xp`, numpy or torch.

    Args:
        xp: The module.
        definition: What the episodes on the processor say of the task.
        options: Words of the environment: action, rotations, reward; and whether the root is observed.
        like: An array of the worlds, which others are where it is and of its type.
    """

    def __init__(self, xp: Any, definition: dict[str, Any], options: Mapping[str, Any], like: Values) -> None:  # noqa: ANN401
        self.xp, self.options, self.max_lead = xp, options, definition["max_lead"]
        where = {} if xp is np else {"device": like.device}

        def real(of: Any) -> Values:  # noqa: ANN401 - numbers
            return xp.asarray(np.asarray(of, dtype=float), dtype=like.dtype, **where)

        def whole(of: Any) -> Values:  # noqa: ANN401 - indices
            return xp.asarray(np.asarray(of, dtype=np.int64), **where)

        self.duration, self.is_cyclic = definition["duration"], definition["is_cyclic"]
        self.reference_q, self.reference_v = real(definition["reference_q"]), real(definition["reference_v"])
        self.travel, self.rest = real(definition["travel"]), real(definition["rest"])
        self.quaternions = whole([[q + k for k in range(4)] for q in definition["quaternions"]])
        balls = [motor for motor in definition["motors"] if motor[2]]
        singles = [motor for motor in definition["motors"] if not motor[2]]
        self.ball_q = whole([[q + k for k in range(4)] for q, *_ in balls]).reshape(-1, 4)
        self.ball_v = whole([[v + k for k in range(3)] for _, v, *_ in balls]).reshape(-1, 3)
        self.single_q, self.single_v = (whole([motor[k] for motor in singles]) for k in range(2))
        self.zero = real([zero for *_, zero, _, _ in singles])
        self.ball_lead, self.single_lead = (real([lead for *_, lead, _ in of]) for of in (balls, singles))
        self.ball_weight, self.single_weight = (real([weight for *_, weight in of]) for of in (balls, singles))
        self.total = 1.0 + sum(weight for *_, weight in definition["motors"])
        self.parts = [body for body, _ in definition["parts"]]
        self.ends = [body for body, _ in definition["end_effectors"]]
        self.part_points = real([point for _, point in definition["parts"]]).reshape(-1, 3)
        self.end_points = real([point for _, point in definition["end_effectors"]]).reshape(-1, 3)
        self.weights = definition["reward_weights"]
        self.root = self.parts[0]

    def sensors(self) -> dict[str, str]:
        """The sensors that the task adds: elements of MJCF with their attributes, by name."""
        found = {"center": f'<subtreecom body="{self.root}"', "drift": f'<subtreelinvel body="{self.root}"'}
        for body in dict.fromkeys(self.parts + self.ends):
            found[f"at {body}"] = f'<framepos objtype="xbody" objname="{body}"'
            found[f"quat {body}"] = f'<framequat objtype="xbody" objname="{body}"'
            found[f"lin {body}"] = f'<framelinvel objtype="xbody" objname="{body}"'
            found[f"ang {body}"] = f'<frameangvel objtype="xbody" objname="{body}"'
        return found

    def cycles(self, time: Values) -> Values:
        """Full cycles before times, s, (n,)."""
        return self.xp.floor(time / self.duration) if self.is_cyclic else self.xp.zeros_like(time)

    def at(self, time: Values) -> Motion:
        """The reference at times, s, (n,) of 64 bits."""
        xp, intervals, cycles = self.xp, len(self.reference_q) - 1, self.cycles(time)
        local = xp.clip(time - cycles * self.duration, 0.0, self.duration)
        place = local / self.duration * intervals
        k = xp.clip(xp.asarray(place, dtype=xp.int64), 0, intervals - 1)
        u = xp.asarray(place - k, dtype=self.reference_q.dtype)[:, None]
        q, v = (of[k] + u * (of[k + 1] - of[k]) for of in (self.reference_q, self.reference_v))
        q[:, self.quaternions] = unit(xp, q[:, self.quaternions])
        q[:, :2] += xp.asarray(cycles, dtype=q.dtype)[:, None] * self.travel
        return Motion(q, v, xp.asarray(local / self.duration, dtype=q.dtype), local)

    def aim(self, action: Values, to: Motion) -> Values:
        """Targets of PD control (n, nq) of actions for a step that ends at `to`."""
        xp, kind = self.xp, self.options["action"]
        target = self.rest + xp.zeros_like(to.q)
        turn, shift = exponential(xp, action[:, self.ball_v - 6]), action[:, self.single_v - 6]
        if kind == "target":
            target[:, self.ball_q], target[:, self.single_q] = turn, self.zero + shift
            return target
        ball, single = to.q[:, self.ball_q], to.q[:, self.single_q]
        if kind == "lead":
            ahead = to.v[:, self.ball_v] * self.ball_lead[:, None]
            length = xp.sqrt((ahead * ahead).sum(-1))[..., None]
            ahead = ahead * (self.max_lead / xp.clip(length, self.max_lead, None))
            ball = times(xp, ball, exponential(xp, ahead))
            single = single + to.v[:, self.single_v] * self.single_lead
        target[:, self.ball_q], target[:, self.single_q] = times(xp, ball, turn), single + shift
        return target

    def heading(self, quaternion: Values) -> Values:
        """How far headings of roots (n, 4) are turned, rad."""
        rest = self.rest[3:7] + self.xp.zeros_like(quaternion)
        ahead = forward(self.xp, times(self.xp, unit(self.xp, quaternion), conjugate(self.xp, rest)))
        return self.xp.arctan2(ahead[:, 1], ahead[:, 0])

    def placed(self, at: Figure, bodies: list[str], points: Values) -> Values:
        """Points of bodies in the world, (n, points, 3)."""
        origins, turns = (stacked(self.xp, at.shown, kind, bodies) for kind in ("at", "quat"))
        return origins + rotate(self.xp, turns, points + self.xp.zeros_like(origins))

    def observe(self, at: Figure, to: Motion, offset: Values) -> Values:
        """Observations; the motion is moved horizontally by `offset` (n, 2)."""
        xp, n, bodies = self.xp, len(at.q), self.parts
        heading, root = self.heading(at.q[:, 3:7]), at.q[:, :3]
        turns = stacked(xp, at.shown, "quat", bodies)
        points = self.placed(at, bodies, self.part_points)
        spins = stacked(xp, at.shown, "ang", bodies)
        speeds = stacked(xp, at.shown, "lin", bodies) + cross(xp, spins, points - stacked(xp, at.shown, "at", bodies))
        half, nothing = -0.5 * heading, xp.zeros_like(heading)
        back = xp.stack([xp.cos(half), nothing, nothing, xp.sin(half)], -1)[:, None] + xp.zeros_like(turns)
        seen = times(xp, back, turns)
        if self.options["rotations"] == "6d":
            axes = [rotate(xp, seen, axis(xp, points, k)) for k in range(2)]
        else:
            axes = [xp.where(seen[..., :1] < 0.0, -seen, seen)]
        poses = [turned(xp, -heading, points - root[:, None]), *axes]
        motions = [turned(xp, -heading, of) for of in (speeds, spins)]
        of_bodies = [xp.concatenate(of, -1).reshape(n, -1) for of in (poses, motions)]
        observed = [to.phase[:, None], root[:, 2:], *of_bodies]
        if self.options["observe_root"]:
            observed.append(self.seen_root(heading, root, to, offset))
        return xp.concatenate(observed, -1)

    def seen_root(self, heading: Values, root: Values, to: Motion, offset: Values) -> Values:
        """Where the motion's root is as seen from the character, x y, and cosine and sine of its relative heading."""
        xp = self.xp
        apart = to.q[:, :2] + offset - root[:, :2]
        away = turned(xp, -heading, xp.concatenate([apart, xp.zeros_like(apart[:, :1])], -1)[:, None])[:, 0, :2]
        other = self.heading(to.q[:, 3:7]) - heading
        return xp.concatenate([away, xp.cos(other)[:, None], xp.sin(other)[:, None]], -1)

    def terms(self, now: Figure, to: Figure) -> list[Values]:
        """The terms of the reward, (n,) each: pose, velocity, end effectors, root, centre of mass."""
        xp = self.xp
        is_paper = self.options["reward"] == "paper"
        root_turn = angle_squared(xp, now.q[:, 3:7], to.q[:, 3:7])
        at, lin, ang = (
            squared(now.shown[of] - to.shown[of]) for of in (f"{k} {self.root}" for k in ("at", "lin", "ang"))
        )
        turns = angle_squared(xp, now.q[:, self.ball_q], to.q[:, self.ball_q])
        rates = squared(now.v[:, self.ball_v] - to.v[:, self.ball_v])
        shifts, speeds = (now.q - to.q)[:, self.single_q] ** 2, (now.v - to.v)[:, self.single_v] ** 2
        of_ball, of_single = (1.0, 1.0) if is_paper else (self.ball_weight, self.single_weight)
        pose = root_turn + (of_ball * turns).sum(-1) + (of_single * shifts).sum(-1)
        velocity = ang + (of_ball * rates).sum(-1) + (of_single * speeds).sum(-1)
        ends = [self.placed(of, self.ends, self.end_points) for of in (now, to)]
        if is_paper:
            center = squared(now.shown["center"] - to.shown["center"])
            exponents = [
                -2.0 * pose,
                -0.1 * velocity,
                -40.0 * squared(ends[0] - ends[1]).sum(-1),
                0.0 * pose,
                -10.0 * center,
            ]
            return [xp.exp(of) for of in exponents]
        # The code's scales are for DeepMimic's 15 joints, fixed ones among them, as there are parts here.
        scale = len(self.parts) / 15.0 / self.total
        seen = [self.seen_ends(of, points) for of, points in zip((now, to), ends, strict=True)]
        root = at + 0.1 * root_turn + 0.01 * lin + 0.001 * ang
        drift = squared(now.shown["drift"] - to.shown["drift"])
        exponents = [
            -2.0 * scale * pose,
            -0.1 * scale * velocity,
            -10.0 * squared(seen[0] - seen[1]).sum(-1),
            -5.0 * root,
        ]
        return [xp.exp(of) for of in (*exponents, -drift)]

    def seen_ends(self, of: Figure, points: Values) -> Values:
        """End effectors, horizontally as seen from the root along its heading, vertically above the ground."""
        xp = self.xp
        base = xp.concatenate([of.q[:, :2], xp.zeros_like(of.q[:, :1])], -1)[:, None]
        return turned(xp, -self.heading(of.q[:, 3:7]), points - base)

    def reward(self, terms: list[Values]) -> Values:
        """Rewards of terms, (n,)."""
        return sum(weight * term for weight, term in zip(self.weights, terms, strict=True))


def squared(vectors: Values) -> Values:
    """Squares of the lengths of vectors, (…, 3)."""
    return (vectors * vectors).sum(-1)


def axis(xp: Any, like: Values, k: int) -> Values:  # noqa: ANN401 - torch or numpy
    """The k-th axis as vectors, (…, 3), as many as there are of others."""
    axes = xp.zeros_like(like)
    axes[..., k] = 1.0
    return axes


def unit(xp: Any, quaternions: Values) -> Values:  # noqa: ANN401
    """Quaternions (…, 4) of length 1."""
    return quaternions / xp.sqrt((quaternions * quaternions).sum(-1))[..., None]


def conjugate(xp: Any, quaternions: Values) -> Values:  # noqa: ANN401
    """The rotations back."""
    return xp.concatenate([quaternions[..., :1], -quaternions[..., 1:]], -1)


def times(xp: Any, a: Values, b: Values) -> Values:  # noqa: ANN401
    """Products of quaternions, (…, 4)."""
    real = a[..., :1] * b[..., :1] - (a[..., 1:] * b[..., 1:]).sum(-1)[..., None]
    vector = a[..., :1] * b[..., 1:] + b[..., :1] * a[..., 1:] + cross(xp, a[..., 1:], b[..., 1:])
    return xp.concatenate([real, vector], -1)


def rotate(xp: Any, quaternions: Values, vectors: Values) -> Values:  # noqa: ANN401
    """Vectors (…, 3) turned by unit quaternions (…, 4)."""
    of = quaternions[..., 1:]
    twice = 2.0 * cross(xp, of, vectors)
    return vectors + quaternions[..., :1] * twice + cross(xp, of, twice)


def forward(xp: Any, quaternions: Values) -> Values:  # noqa: ANN401
    """Where x points, (…, 3)."""
    return rotate(xp, quaternions, axis(xp, quaternions[..., 1:], 0))


def turned(xp: Any, angle: Values, vectors: Values) -> Values:  # noqa: ANN401
    """Vectors (n, number, 3) turned about the vertical by angles (n,)."""
    c, s = xp.cos(angle)[:, None], xp.sin(angle)[:, None]
    x, y = vectors[..., 0], vectors[..., 1]
    return xp.stack([c * x - s * y, s * x + c * y, vectors[..., 2]], -1)


def exponential(xp: Any, vectors: Values) -> Values:  # noqa: ANN401
    """Quaternions of rotation vectors, (…, 3)."""
    half = 0.5 * xp.sqrt((vectors * vectors).sum(-1))[..., None]
    return xp.concatenate([xp.cos(half), 0.5 * xp.sinc(half / np.pi) * vectors], -1)


def angle_squared(xp: Any, a: Values, b: Values) -> Values:  # noqa: ANN401
    """Squares of the angles between rotations, (…, 4) of any length."""
    between = times(xp, conjugate(xp, a), b)
    sine = xp.sqrt((between[..., 1:] * between[..., 1:]).sum(-1))
    return (2.0 * xp.arctan2(sine, xp.abs(between[..., 0]))) ** 2
