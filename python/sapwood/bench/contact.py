"""The contact suite: what friction laws make of motions that theory knows.

A cube of 0.1 m and 1 kg, or a ball of that size, friction 0.5 unless said otherwise. The cube touches by eight small
balls in its corners: engines find different contact points between a box and a plane (Drake one, on which a box rocks),
and laws are compared here. For every engine and law, at every time step:

* ``above``: on a slope of 30°, acceleration over half a second against g (sin − μ cos): relative error.
* ``below``: on a slope of 25°, below the friction angle of 26.6°: acceleration over g sin; it should not move.
* ``stop``: sliding at 2 m/s on level ground: distance to rest against that of exact Coulomb friction in steps of the
  same first-order integration, m too far.
* ``hop``: the highest that the lowest corner of that cube gets over where it rested, m.
* ``ball``, ``cube``: thrown at the ground with 1 m/s down and 5 m/s along it, so that it slides throughout the impact:
  tangential over normal impulse of the impact, over μ; should be 1.
* ``creep``: on a slope of 20° with friction 0.7: speed after it has settled, m/s; should be 0.

Ours runs alone and in the lanes of a batch, in 64 and in 32 bits. The peer ``host`` is a batch by the kernels of GPUs,
compiled by the processor's C++ compiler.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any, NamedTuple, Protocol

import numpy as np

import sapwood as sw
from sapwood.bench.cases import installed
from sapwood.bench.engines import Mujoco, Sapwood, Vector
from sapwood.bench.friction_laws import LAWS

__all__ = ["CASES", "PEERS", "run"]

PEERS = ("host", "mujoco", "drake")
GRAVITY = 9.81
FRICTION = 0.5
SPEED = 2.0
"""Of the sliding cube, m/s."""
FALL, ALONG = 1.0, 5.0
"""Velocity of what is thrown, m/s."""
HALF = 0.05
"""Half the width of the cube, radius of the ball, m."""
CORNER = 0.005
"""Radius of the balls in the cube's corners, m."""
TIMESTEPS = {"10ms": 0.01, "1ms": 0.001}

Row = dict[str, str | float]


class Mover(Protocol):
    """What these measures need of an engine."""

    timestep: float

    def step(self, n: int) -> None:
        """Advances by n steps."""

    @property
    def q(self) -> Vector:
        """Positions in MuJoCo's layout, (nq,); a copy."""

    @property
    def v(self) -> Vector:
        """Velocities in MuJoCo's layout, (nv,); a copy."""

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""


Make = Callable[[str], Mover]
"""An engine at some time step, from a scene's text."""


class Measure(NamedTuple):
    """One number of the table."""

    metric: str
    heading: str
    scale: float
    """From SI units to those of the heading."""
    unit: str
    run: Callable[[Make], float]


def accelerations(make: Make, degrees: float) -> float:
    """Acceleration down the slope, m/s²: over half a second, after another half."""
    engine = make(scene(degrees=degrees))
    down = downhill(degrees)
    engine.step(round(0.5 / engine.timestep))
    before = engine.v[:3] @ down
    engine.step(round(0.5 / engine.timestep))
    return float(engine.v[:3] @ down - before) / 0.5


def above(make: Make) -> float:
    """Relative error of the acceleration on a slope of 30°."""
    slope = math.radians(30)
    return accelerations(make, 30) / (GRAVITY * (math.sin(slope) - FRICTION * math.cos(slope))) - 1


def below(make: Make) -> float:
    """Acceleration on a slope of 25° as a share of that without friction."""
    return accelerations(make, 25) / (GRAVITY * math.sin(math.radians(25)))


def slide(make: Make) -> tuple[float, float]:
    """How much too far the cube slides, and how high it hops, m."""
    engine = make(scene())
    engine.step(round(0.5 / engine.timestep))
    q = engine.q
    rest, start = lowest_corner(q), q[0]
    engine.place(q, np.array([SPEED, 0, 0, 0, 0, 0]))
    highest = rest
    for _ in range(round(1.2 / engine.timestep)):
        engine.step(1)
        highest = max(highest, lowest_corner(engine.q))
    return float(engine.q[0] - start) - stopping_distance(engine.timestep), highest - rest


def stopping_distance(dt: float) -> float:
    """Of a block that loses μ g dt in every step before it moves by the rest, m."""
    speeds = SPEED - FRICTION * GRAVITY * dt * np.arange(1, math.ceil(SPEED / (FRICTION * GRAVITY * dt)) + 1)
    return float(dt * np.sum(np.maximum(speeds, 0)))


def impact(make: Make, shape: str) -> float:
    """Tangential over normal impulse, over μ, until what was thrown no longer moves down."""
    engine = make(scene(shape=shape, height=0.01))
    before = engine.v
    engine.place(engine.q, np.array([ALONG, 0, -FALL, 0, 0, 0]))
    # Flight: nothing but gravity acts.
    steps = 0
    while steps == 0 or abs(engine.v[2] - before[2] + GRAVITY * engine.timestep) < 1e-9 * GRAVITY:
        before = engine.v if steps else np.array([ALONG, 0, -FALL, 0, 0, 0])
        engine.step(1)
        steps += 1
        assert steps * engine.timestep < 1, "it never arrived"
    during = 1
    while engine.v[2] < -0.01 * FALL and during * engine.timestep < 0.2:
        engine.step(1)
        during += 1
    change = engine.v[:3] - before[:3]
    return float(-change[0] / (FRICTION * (change[2] + GRAVITY * during * engine.timestep)))


def creep(make: Make) -> float:
    """Speed of a cube that rests on a slope, m/s, over two seconds after one."""
    engine = make(scene(degrees=20, friction=0.7))
    engine.step(round(1 / engine.timestep))
    start = engine.q[:3]
    engine.step(round(2 / engine.timestep))
    return float((engine.q[:3] - start) @ downhill(20)) / 2


def downhill(degrees: float) -> Vector:
    """The direction in which a slope falls."""
    return np.array([math.cos(math.radians(degrees)), 0, -math.sin(math.radians(degrees))])


def lowest_corner(q: Vector) -> float:
    """Height of the lowest corner of the cube, m."""
    w, x, y, z = q[3:7] / np.linalg.norm(q[3:7])
    up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])
    return float(q[2] - (HALF - CORNER) * np.sum(np.abs(up)) - CORNER)


def scene(degrees: float = 0, friction: float = FRICTION, shape: str = "cube", height: float = 0) -> str:
    """A body over a plane that falls towards +x."""
    slope = math.radians(degrees)
    turn = f"{math.cos(slope / 2)} 0 {math.sin(slope / 2)} 0"
    centre = f"{(HALF + height) * math.sin(slope)} 0 {(HALF + height) * math.cos(slope)}"
    return f"""<mujoco model="{shape}">
  <default><geom friction="{friction}"/></default>
  <worldbody>
    <geom name="ground" type="plane" size="0 0 1" quat="{turn}"/>
    <body name="body" pos="{centre}" quat="{turn}"><freejoint name="body"/>
      {corners() if shape == "cube" else f'<geom name="ball" type="sphere" size="{HALF}" mass="1"/>'}</body>
  </worldbody>
</mujoco>"""


def corners() -> str:
    """The cube: its inertia, and balls in its corners."""
    inertia = 4 * HALF * HALF / 6
    at = HALF - CORNER
    balls = "".join(
        f'<geom name="corner{i}" type="sphere" size="{CORNER}" pos="{x * at} {y * at} {z * at}"/>'
        for i, (x, y, z) in enumerate(product((-1, 1), repeat=3))
    )
    return f'<inertial pos="0 0 0" mass="1" diaginertia="{inertia} {inertia} {inertia}"/>{balls}'


MEASURES = (
    Measure("acceleration above the friction angle, error", "above %", 100, "1", above),
    Measure("acceleration below the friction angle", "below %", 100, "1", below),
    Measure("stopping distance, excess", "stop mm", 1e3, "m", lambda make: slide(make)[0]),
    Measure("hop", "hop µm", 1e6, "m", lambda make: slide(make)[1]),
    Measure("impact of a ball, impulse ratio over friction", "ball", 1, "1", lambda make: impact(make, "ball")),
    Measure("impact of a cube, impulse ratio over friction", "cube", 1, "1", lambda make: impact(make, "cube")),
    Measure("creep", "creep µm/s", 1e6, "m/s", creep),
)

CASES = tuple(TIMESTEPS)


def run(peers: list[str], cases: list[str], repetitions: int) -> list[Row]:
    """Runs the cases, prints a table each, returns the rows. Nothing here is random: one run says all."""
    rows: list[Row] = []
    for case in cases:
        print(f"\ndt {1e3 * TIMESTEPS[case]:g} ms")
        print(f"{'engine':28}" + "".join(f"{measure.heading:>12}" for measure in MEASURES))
        for name, make in makers(peers, TIMESTEPS[case]).items():
            values = [measured(measure, make) for measure in MEASURES]
            cells = zip(MEASURES, values, strict=True)
            print(f"{name:28}" + "".join(f"{measure.scale * value:>12.5g}" for measure, value in cells))
            for measure, value in zip(MEASURES, values, strict=True):
                row = {"suite": "contact", "case": case, "engine": name, "metric": measure.metric}
                rows.append({**row, "value": value, "unit": measure.unit})
    return rows


def measured(measure: Measure, make: Make) -> float:
    """A measure, or NaN and a note where the simulation fails."""
    try:
        return measure.run(make)
    except sw.SimulationError as error:
        print(f"  {measure.metric}: {error}")
        return math.nan


def makers(peers: list[str], dt: float) -> dict[str, Make]:
    """Engine and law to how to make it; what is not installed is left out with a note."""
    found: dict[str, Make] = {f"sapwood {law}": partial(ours, dt, law) for law in LAWS}
    for precision in ("f64", "f32"):
        found |= {f"sapwood {law} {precision} lanes": partial(in_batch, dt, law, precision) for law in LAWS}
    if "host" in peers and has_compiler():
        kernels = partial(in_batch, device="host")
        for precision in ("f64", "f32"):
            found |= {f"sapwood {law} {precision} kernels": partial(kernels, dt, law, precision) for law in LAWS}
    if "mujoco" in peers and installed("mujoco", "mujoco"):
        found["mujoco-elliptic"] = lambda text: Mujoco(text, "elliptic", timestep=dt)
        found["mujoco-pyramidal"] = lambda text: Mujoco(text, "pyramidal", timestep=dt)
        found["mujoco-elliptic-discrete"] = lambda text: Mujoco(text, "elliptic", timestep=dt, integrator="discrete")
    if "drake" in peers and installed("pydrake", "drake"):
        from sapwood.bench.drake import Drake

        found["drake-sap"] = lambda text: Drake(text, "sap", timestep=dt)
        found["drake-lagged"] = lambda text: Drake(text, "lagged", timestep=dt)
    return found


def has_compiler() -> bool:
    """Whether the kernels can be compiled for the processor; a note if not."""
    compiler = os.environ.get("CXX", "c++")
    if shutil.which(compiler) is None:
        print(f"host left out: {compiler} was not found, a C++ compiler for the kernels")
        return False
    return True


def ours(dt: float, law: str, text: str) -> Mover:
    """Our engine under one of its laws."""
    return Sapwood(text, timestep=dt, law=law)


def in_batch(dt: float, law: str, precision: str, text: str, device: str = "cpu") -> Mover:
    """A world of a batch under one of its laws."""
    return InBatch(text, dt, law, precision, device)


class InBatch:
    """The first of as many equal worlds as fill the lanes of registers.

    Args:
        text: MJCF text.
        timestep: Time step, s.
        law: Friction law.
        precision: ``f64`` or ``f32``.
        device: ``cpu``, or ``host`` for the kernels of GPUs on the processor.
    """

    def __init__(self, text: str, timestep: float, law: str, precision: str, device: str) -> None:
        self.timestep = timestep
        options: dict[str, Any] = {"precision": precision, "contact": law, "device": device}
        if device == "cpu":
            options["threads"] = 1
        self.batch: Any = sw.Batch(sw.load(text), 16, timestep=timestep, **options)

    def step(self, n: int) -> None:
        """Advances by n steps."""
        self.batch.step(n)

    @property
    def q(self) -> Vector:
        """Positions."""
        q: Vector = np.array(self.batch.q)[0]
        return q

    @property
    def v(self) -> Vector:
        """Velocities."""
        v: Vector = np.array(self.batch.v)[0]
        return v

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""
        self.batch.q, self.batch.v = (np.tile(of, (16, 1)) for of in (q, v))
