"""Wheels roll where their widths have their middles: headings beside odometry, at any time step and on any ground."""

from collections.abc import Callable

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


def vehicle(kind: str, half_length: float) -> tuple[sw.ModelBuilder, BodyBuilder]:
    """A box that floats on a ground, as the base of a vehicle."""
    builder = sw.ModelBuilder("vehicle")
    ground(builder, kind)
    base = builder.add_body("base", position=(0, 0, RADIUS))
    base.add_joint("root", "free")
    base.add_geom("box", (half_length, 0.1, 0.03), mass=4.0)
    return builder, base


def differential(kind: str) -> sw.Model:
    """Two driven wheels, 0.3 m apart and 50 mm wide, and a ball as a caster in front."""
    builder, base = vehicle(kind, 0.2)
    for side, y in (("left", 0.15), ("right", -0.15)):
        wheel(base, side, (-0.06, y, 0), 0.025)
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


def heading(sim: sw.Simulation) -> float:
    rotation = sim.body("base").rotation
    return float(np.arctan2(rotation[1, 0], rotation[0, 0]))


def worst_difference(model: sw.Model, timestep: float, drive: Callable[[sw.Simulation, float], float]) -> float:
    """The most by which the heading leaves odometry in 6 s; ``drive`` makes a step and returns the wheels' yaw rate."""
    sim = sw.Simulation(model, timestep=timestep)
    sim.advance_to(0.3)
    odometry, worst = heading(sim), 0.0
    for _ in range(round(6 / timestep)):
        odometry += timestep * drive(sim, sim.time - 0.3)
        worst = max(worst, abs(np.angle(np.exp(1j * (heading(sim) - odometry)))))
    return worst


@pytest.mark.parametrize("timestep", [0.0005, 0.002, 0.004])
@pytest.mark.parametrize("kind", ["plane", "box"])
def test_a_differential_drive_goes_where_its_wheels_roll(kind: str, timestep: float) -> None:
    def drive(sim: sw.Simulation, t: float) -> float:
        sim.ctrl[:] = min(1, t) * np.array([5 + 3 * np.sin(1.3 * t), 5 - 2 * np.sin(0.6 * t)])
        sim.step()
        return float(RADIUS * (sim.joint("right").v - sim.joint("left").v) / 0.3)

    assert worst_difference(differential(kind), timestep, drive) < 0.01


@pytest.mark.parametrize("timestep", [0.0005, 0.002, 0.004])
@pytest.mark.parametrize("kind", ["plane", "box"])
def test_a_tricycle_turns_as_it_steers(kind: str, timestep: float) -> None:
    """The yaw rate is the front wheel's speed times the sine of its angle over the distance of the axles."""

    def drive(sim: sw.Simulation, t: float) -> float:
        sim.actuator("front").ctrl = 5 * min(1, t)
        sim.actuator("steering").ctrl = 0.4 * np.sin(0.8 * t)
        sim.step()
        return float(RADIUS * sim.joint("front").v * np.sin(sim.joint("steering").q) / 0.4)

    assert worst_difference(tricycle(kind), timestep, drive) < 0.01
