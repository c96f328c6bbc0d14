"""Wheels roll where their widths have their middles: headings beside odometry, at any time step and on any ground."""

import numpy as np
import pytest

import sapwood as sw
from sapwood.builder import BodyBuilder

ON_ITS_SIDE = (np.sqrt(0.5), np.sqrt(0.5), 0, 0)
RADIUS = 0.08


def ground(builder: sw.ModelBuilder, kind: str) -> None:
    if kind == "plane":
        builder.add_ground()
    else:
        builder.world.add_geom("box", (20, 20, 0.5), position=(0, 0, -0.5))


def wheel(parent: BodyBuilder, name: str, position: tuple[float, float, float], half_width: float) -> None:
    body = parent.add_body(name, position=position)
    body.add_joint(name, "revolute", axis=(0, 1, 0), armature=0.005)
    body.add_geom("cylinder", (RADIUS, half_width), mass=0.4, quaternion=ON_ITS_SIDE, friction=0.8)


def differential(kind: str) -> sw.Model:
    """Two driven wheels, 0.3 m apart and 50 mm wide, and a ball as a caster in front."""
    builder = sw.ModelBuilder("differential")
    ground(builder, kind)
    base = builder.add_body("base", position=(0, 0, RADIUS))
    base.add_joint("root", "free")
    base.add_geom("box", (0.2, 0.1, 0.03), mass=4.0)
    for side, y in (("left", 0.15), ("right", -0.15)):
        wheel(base, side, (-0.06, y, 0), 0.025)
        builder.add_velocity_servo(side, side, kd=15, force_range=(-15, 15))
    caster = base.add_body("caster", position=(0.14, 0, 0.03 - RADIUS))
    caster.add_joint("caster", "ball")
    caster.add_geom("sphere", (0.03,), mass=0.1, friction=0.8)
    return builder.build()


def tricycle(kind: str) -> sw.Model:
    """A steered and driven wheel in front, two wheels behind."""
    builder = sw.ModelBuilder("tricycle")
    ground(builder, kind)
    base = builder.add_body("base", position=(0, 0, RADIUS))
    base.add_joint("root", "free")
    base.add_geom("box", (0.1, 0.1, 0.03), mass=4.0)
    for side, y in (("left", 0.15), ("right", -0.15)):
        wheel(base, side, (-0.2, y, 0), 0.02)
    fork = base.add_body("fork", position=(0.2, 0, 0))
    fork.add_joint("steering", "revolute", axis=(0, 0, 1), armature=0.01)
    fork.add_geom("sphere", (0.02,), mass=0.2, contype=0, conaffinity=0)
    wheel(fork, "front", (0, 0, 0), 0.02)
    builder.add_velocity_servo("front", "front", kd=15, force_range=(-15, 15))
    builder.add_position_servo("steering", "steering", kp=200, kd=10)
    return builder.build()


def heading(sim: sw.Simulation) -> float:
    rotation = sim.body("base").rotation
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


@pytest.mark.parametrize("kind", ["plane", "box"])
def test_a_differential_drive_goes_where_its_wheels_roll(kind: str) -> None:
    model = differential(kind)
    for timestep in (0.0005, 0.002, 0.004):
        sim = sw.Simulation(model, timestep=timestep)
        sim.advance_to(0.3)
        odometry, worst = heading(sim), 0.0
        for _ in range(round(6 / timestep)):
            t = sim.time - 0.3
            sim.ctrl[:] = min(1, t) * np.array([5 + 3 * np.sin(1.3 * t), 5 - 2 * np.sin(0.6 * t)])
            sim.step()
            odometry += timestep * RADIUS * (sim.joint("right").v - sim.joint("left").v) / 0.3
            difference = np.angle(np.exp(1j * (heading(sim) - odometry)))
            worst = max(worst, abs(difference))
        assert abs(odometry) > 0.4
        assert worst < 0.01, (timestep, worst)


@pytest.mark.parametrize("kind", ["plane", "box"])
def test_a_tricycle_turns_as_it_steers(kind: str) -> None:
    """The yaw rate is the front wheel's speed times the sine of its angle over the distance of the axles."""
    model = tricycle(kind)
    for timestep in (0.0005, 0.002, 0.004):
        sim = sw.Simulation(model, timestep=timestep)
        sim.advance_to(0.3)
        odometry, worst = heading(sim), 0.0
        for _ in range(round(6 / timestep)):
            t = sim.time - 0.3
            sim.actuator("front").ctrl = 5 * min(1, t)
            sim.actuator("steering").ctrl = 0.4 * np.sin(0.8 * t)
            sim.step()
            # How fast the wheel rolls: its turn about its own axle, and the share of the steering in it is none.
            rolling = RADIUS * sim.joint("front").v
            odometry += timestep * rolling * np.sin(sim.joint("steering").q) / 0.4
            difference = np.angle(np.exp(1j * (heading(sim) - odometry)))
            worst = max(worst, abs(difference))
        assert worst < 0.01, (timestep, worst)
