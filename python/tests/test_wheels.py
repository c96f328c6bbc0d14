"""Wheels roll where their widths have their middles: headings beside odometry, at any time step and on any ground.

Where wheels must slide, as on tracks, headings are the same at any time step.
"""

from collections.abc import Callable
from typing import Literal

import numpy as np
import pytest

import sapwood as sw
from sapwood.builder import BodyBuilder

ON_ITS_SIDE = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
RADIUS = 0.08
SIDES = 64
Shape = Literal["cylinder", "capsule", "mesh"]
STEPS = [0.0005, 0.001, 0.002, 0.004]


def ground(builder: sw.ModelBuilder, kind: str) -> None:
    if kind == "plane":
        builder.add_ground()
    elif kind == "field":
        builder.world.add_height_field(np.zeros((41, 41)), (20, 20), base=0.5)
    else:
        builder.world.add_geom("box", (20, 20, 0.5), position=(0, 0, -0.5))


def wheel(
    parent: BodyBuilder, name: str, position: tuple[float, float, float], half_width: float, shape: Shape = "cylinder"
) -> None:
    body = parent.add_body(name, position=position)
    body.add_joint(name, "revolute", axis=(0, 1, 0), armature=0.005)
    if shape == "mesh":
        angles = 2 * np.pi * np.arange(SIDES) / SIDES
        rim = [(RADIUS * np.cos(a), y, RADIUS * np.sin(a)) for a in angles for y in (-half_width, half_width)]
        body.add_mesh((rim, None), mass=0.4, friction=0.8)
    else:
        body.add_geom(shape, (RADIUS, half_width), mass=0.4, quaternion=ON_ITS_SIDE, friction=0.8)


def vehicle(kind: str, half_length: float) -> tuple[sw.ModelBuilder, BodyBuilder]:
    """A box that floats on a ground, as the base of a vehicle."""
    builder = sw.ModelBuilder("vehicle")
    ground(builder, kind)
    base = builder.add_body("base", position=(0, 0, RADIUS))
    base.add_joint("root", "free")
    base.add_geom("box", (half_length, 0.1, 0.03), mass=4.0)
    return builder, base


def differential(kind: str, shape: Shape) -> sw.Model:
    """Two driven wheels of a shape, 0.3 m apart and 50 mm wide, and a ball as a caster in front."""
    builder, base = vehicle(kind, 0.2)
    for side, y in (("left", 0.15), ("right", -0.15)):
        wheel(base, side, (-0.06, y, 0), 0.025, shape)
        builder.add_velocity_servo(side, side, kd=15, force_range=(-15, 15))
    caster = base.add_body("caster", position=(0.14, 0, 0.03 - RADIUS))
    caster.add_joint("caster", "ball")
    caster.add_geom("sphere", (0.03,), mass=0.1, friction=0.8)
    return builder.build()


def tricycle(kind: str) -> sw.Model:
    """A steered and driven wheel in front, two wheels behind."""
    builder, base = vehicle(kind, 0.1)
    for side, y in (("left", 0.15), ("right", -0.15)):
        wheel(base, side, (-0.2, y, 0), 0.02)
    fork = base.add_body("fork", position=(0.2, 0, 0))
    fork.add_joint("steering", "revolute", axis=(0, 0, 1), armature=0.01)
    fork.add_geom("sphere", (0.02,), mass=0.2, contype=0, conaffinity=0)
    wheel(fork, "front", (0, 0, 0), 0.02)
    builder.add_velocity_servo("front", "front", kd=15, force_range=(-15, 15))
    builder.add_position_servo("steering", "steering", kp=200, kd=10)
    return builder.build()


def file_model(body: str, actuators: str) -> sw.Model:
    """A floating base with ``body`` on it, from a file's text; only the floor touches what has ``contype`` 1."""
    return sw.load(f"""<mujoco><option cone="elliptic"/><default><geom contype="1" conaffinity="2"/></default>
<worldbody><geom type="plane" size="0 0 1" contype="2" conaffinity="1"/>
<body name="base" pos="0 0 {RADIUS}"><freejoint/>
<geom type="box" size=".2 .1 .03" mass="5" contype="0" conaffinity="0"/>
{body}</body></worldbody><actuator>{actuators}</actuator></mujoco>""")


def plain_wheel(name: str, x: float, y: float) -> str:
    return f"""<body name="{name}" pos="{x} {y} 0"><joint name="{name}" axis="0 1 0" armature=".005"/>
<geom type="cylinder" size="{RADIUS} .02" zaxis="0 1 0" mass=".4" friction=".8"/></body>"""


def servos(names: list[str]) -> str:
    return "".join(f'<velocity joint="{name}" kv="20" forcerange="-20 20"/>' for name in names)


def roller_wheel(name: str, place: tuple[float, float, float], slant: float) -> str:
    """A wheel at x, y, turned by an angle about z, with barrels on its rim; ``slant`` is from the rim to their axes."""
    x, y, turn = place
    thickness, rollers = 0.02, ""
    # A barrel's lowest point keeps its height, to fourth order, while the wheel turns.
    half_length = np.sqrt(thickness * (RADIUS - thickness) / np.cos(slant) ** 2 + thickness**2)
    for angle in np.arange(12) * np.pi / 6:
        s, c = np.sin(angle), np.cos(angle)
        axis = f"{np.cos(slant) * c} {np.sin(slant)} {-np.cos(slant) * s}"
        rollers += f"""<body pos="{(RADIUS - thickness) * s} 0 {(RADIUS - thickness) * c}">
<joint axis="{axis}" armature="1e-5"/>
<geom type="ellipsoid" size="{thickness} {thickness} {half_length}" zaxis="{axis}" mass=".03" friction=".8"/></body>"""
    return f"""<body name="{name}" pos="{x} {y} 0" euler="0 0 {np.degrees(turn)}">
<joint name="{name}" axis="0 1 0" armature=".01"/>
<geom type="cylinder" size=".04 .02" zaxis="0 1 0" mass=".5" contype="0" conaffinity="0"/>{rollers}</body>"""


def mecanum() -> sw.Model:
    """Four wheels with rollers at 45 degrees, 0.4 m apart both ways."""
    places = {"fl": (0.2, 0.2, 1), "fr": (0.2, -0.2, -1), "rl": (-0.2, 0.2, -1), "rr": (-0.2, -0.2, 1)}
    wheels = [roller_wheel(name, (x, y, 0), sign * np.pi / 4) for name, (x, y, sign) in places.items()]
    return file_model("".join(wheels), servos(list(places)))


def omni() -> sw.Model:
    """Three wheels on a circle of 0.2 m, with rollers along their rims."""
    angles = dict(zip("abc", np.arange(3) * 2 * np.pi / 3, strict=True))
    wheels = [roller_wheel(name, (0.2 * np.cos(a), 0.2 * np.sin(a), a - np.pi / 2), 0) for name, a in angles.items()]
    return file_model("".join(wheels), servos(list(angles)))


def car() -> sw.Model:
    """Two steered wheels in front, two driven ones behind, 0.4 m between axles and 0.3 m between sides."""
    body, actuators = "", ""
    for side, y in (("l", 0.15), ("r", -0.15)):
        body += plain_wheel(f"r{side}", -0.2, y)
        body += f"""<body pos=".2 {y} 0"><joint name="steering_{side}" axis="0 0 1" armature=".01"/>
<geom type="sphere" size=".02" mass=".2" contype="0" conaffinity="0"/>{plain_wheel(f"f{side}", 0, 0)}</body>"""
        actuators += f'<position name="steering_{side}" joint="steering_{side}" kp="200" kv="10"/>'
        actuators += f'<motor name="drive_{side}" joint="r{side}"/>'
    return file_model(body, actuators)


def tracked(axles: int) -> sw.Model:
    """Tracks of driven wheels, 0.4 m apart: to turn they must slide."""
    places: dict[str, tuple[float, float]] = {}
    for k, x in enumerate(np.linspace(-0.25, 0.25, axles)):
        places |= {f"l{k}": (x, 0.2), f"r{k}": (x, -0.2)}
    return file_model("".join(plain_wheel(name, *place) for name, place in places.items()), servos(list(places)))


def heading(sim: sw.Simulation) -> float:
    rotation = sim.body("base").rotation
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def worst_difference(model: sw.Model, timestep: float, drive: Callable[[sw.Simulation, float], float]) -> float:
    """The most by which the heading leaves odometry in 10 s; ``drive`` makes a step and returns the yaw rate."""
    sim = sw.Simulation(model, timestep=timestep)
    sim.advance_to(0.3)
    odometry, worst = heading(sim), 0.0
    for _ in range(round(10 / timestep)):
        odometry += timestep * drive(sim, sim.time - 0.3)
        worst = max(worst, abs(np.angle(np.exp(1j * (heading(sim) - odometry)))))
    return worst


@pytest.mark.parametrize("timestep", STEPS)
@pytest.mark.parametrize("shape", ["cylinder", "capsule"])
@pytest.mark.parametrize("kind", ["plane", "box", "field"])
def test_a_differential_drive_goes_where_its_wheels_roll(kind: str, shape: Shape, timestep: float) -> None:
    def drive(sim: sw.Simulation, t: float) -> float:
        sim.ctrl[:] = min(1, t) * np.array([5 + 3 * np.sin(1.3 * t), 5 - 2 * np.sin(0.6 * t)])
        sim.step()
        return float(RADIUS * (sim.joint("right").v - sim.joint("left").v) / 0.3)

    assert worst_difference(differential(kind, shape), timestep, drive) < 0.01


@pytest.mark.parametrize("timestep", [0.001, 0.002, 0.004])
@pytest.mark.parametrize(
    ("kind", "shape", "tolerance"),
    # Polygons slip where they land on a side while they turn: by 0.05 rad at steps of 0.1 ms, in MuJoCo by 0.06.
    [("field", "cylinder", 0.01), ("field", "capsule", 0.01), ("plane", "mesh", 0.06), ("box", "mesh", 0.06)],
)
def test_a_differential_drive_turns_on_the_spot(kind: str, shape: Shape, tolerance: float, timestep: float) -> None:
    """By 15 rad, on flat fields whose triangles the treads cross, and on the edges of a mesh."""
    radius = RADIUS * np.sinc(1 / SIDES) if shape == "mesh" else RADIUS

    def drive(sim: sw.Simulation, t: float) -> float:
        sim.ctrl[:] = min(1, t) * np.array([-3, 3])
        sim.step()
        return float(radius * (sim.joint("right").v - sim.joint("left").v) / 0.3)

    assert worst_difference(differential(kind, shape), timestep, drive) < tolerance


@pytest.mark.parametrize("timestep", STEPS)
@pytest.mark.parametrize("kind", ["plane", "box"])
def test_a_tricycle_turns_as_it_steers(kind: str, timestep: float) -> None:
    """The yaw rate is the front wheel's speed times the sine of its angle over the distance of the axles."""

    def drive(sim: sw.Simulation, t: float) -> float:
        sim.actuator("front").ctrl = 5 * min(1, t)
        sim.actuator("steering").ctrl = 0.4 * np.sin(0.8 * t)
        sim.step()
        return float(RADIUS * sim.joint("front").v * np.sin(sim.joint("steering").q) / 0.4)

    assert worst_difference(tricycle(kind), timestep, drive) < 0.01


@pytest.mark.parametrize("timestep", STEPS)
def test_a_mecanum_base_turns_as_its_wheels_do(timestep: float) -> None:
    turning = np.array([-1, 1, -1, 1])

    def drive(sim: sw.Simulation, t: float) -> float:
        aside = np.sin(0.7 * t) * np.array([-1, 1, 1, -1])
        sim.ctrl[:] = min(1, t) * (3 + aside + 1.5 * np.sin(0.5 * t) * turning)
        sim.step()
        speeds = [sim.joint(name).v for name in ("fl", "fr", "rl", "rr")]
        return float(RADIUS * turning @ speeds / (4 * (0.2 + 0.2)))

    assert worst_difference(mecanum(), timestep, drive) < 0.01


@pytest.mark.parametrize("timestep", STEPS)
def test_an_omnidirectional_base_turns_as_its_wheels_do(timestep: float) -> None:
    def drive(sim: sw.Simulation, t: float) -> float:
        sim.ctrl[:] = min(1, t) * np.array([3 * np.sin(t), 2 + np.sin(0.7 * t), -1 + 2 * np.sin(0.6 * t)])
        sim.step()
        return float(-RADIUS * sum(sim.joint(name).v for name in "abc") / (3 * 0.2))

    assert worst_difference(omni(), timestep, drive) < 0.01


@pytest.mark.parametrize("timestep", STEPS)
def test_a_car_turns_as_its_rear_wheels_do(timestep: float) -> None:
    """Both front wheels point about one centre; the torques behind are equal, as behind a differential gear."""

    def drive(sim: sw.Simulation, t: float) -> float:
        curvature = 1.2 * min(1, t) * np.sin(0.8 * t)
        torque = 0.3 * (6 * min(1, t) - (sim.joint("rl").v + sim.joint("rr").v) / 2)
        for side, y in (("l", 0.15), ("r", -0.15)):
            sim.actuator(f"steering_{side}").ctrl = np.arctan(curvature * 0.4 / (1 - curvature * y))
            sim.actuator(f"drive_{side}").ctrl = torque
        sim.step()
        return float(RADIUS * (sim.joint("rr").v - sim.joint("rl").v) / 0.3)

    assert worst_difference(car(), timestep, drive) < 0.01


@pytest.mark.parametrize("axles", [2, 3, 4])
def test_tracks_turn_the_same_at_any_time_step(axles: int) -> None:
    """How much of a turn slides away follows from how wheels share the load, which rigid bodies leave open."""
    model = tracked(axles)

    def turn(timestep: float) -> float:
        sim = sw.Simulation(model, timestep=timestep)
        sim.advance_to(0.3)
        last, sum_ = heading(sim), 0.0
        for _ in range(round(10 / timestep)):
            sim.ctrl[:] = min(1, sim.time - 0.3) * np.tile([2.0, 5.0], axles)
            sim.step()
            sum_ += (heading(sim) - last + np.pi) % (2 * np.pi) - np.pi
            last = heading(sim)
        return sum_

    turns = [turn(timestep) for timestep in STEPS]
    assert turns[0] > 1
    assert max(turns) - min(turns) < 0.01
