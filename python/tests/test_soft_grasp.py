"""A robot that nobody here wrote grasps a soft ball: the Panda of example-robot-data, with its own effort limits."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import sapwood as sw

try:
    SHARE = Path(str(distribution("example-robot-data").locate_file("cmeel.prefix/share")))
except PackageNotFoundError:
    pytest.skip("example-robot-data is not installed", allow_module_level=True)

Vector = NDArray[np.float64]

PANDA = SHARE / "example-robot-data/robots/panda_description/urdf/panda.urdf"
HAND = "panda_hand_tcp"
HOME = np.array([0.0, 0.3, 0.0, -2.0, 0.0, 2.3, 0.785, 0.04, 0.04])
OPEN, CLOSED = 0.04, 0.015
KP = np.r_[np.full(7, 2000.0), np.full(2, 2000.0)]
KD = np.r_[np.full(7, 200.0), np.full(2, 50.0)]
DT = 0.005


def reach(model: sw.Model, position: Vector, q: Vector) -> Vector:
    """Joints with which the hand points down at ``position``, by damped least squares."""
    sim = sw.Simulation(model)
    sim.q[:] = q
    for _ in range(100):
        hand = sim.body(HAND)
        axes = rotation(hand.quaternion)
        turn = 0.5 * np.cross(axes.T, np.diag([1.0, -1.0, -1.0])).sum(axis=0)
        error = np.r_[turn, position - hand.position]
        jacobian = sim.jacobian(body=HAND)[:, :7]
        sim.q[:7] += jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + 1e-4 * np.eye(6), error)
    assert np.abs(error).max() < 1e-9
    return sim.q.copy()


def rotation(quaternion: Vector) -> Vector:
    """The matrix of a unit quaternion (w, x, y, z)."""
    w, (x, y, z) = quaternion[0], quaternion[1:]
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    matrix: Vector = np.eye(3) + 2.0 * w * cross + 2.0 * cross @ cross
    return matrix


def go(sim: sw.Simulation, seconds: float, to: Vector, fingers: float) -> Vector:
    """Moves on to joints in three fifths of the time, and stays; the mean force on the ball, N."""
    start, steps = sim.q.copy(), round(seconds / DT)
    force = np.zeros(3)
    for k in range(steps):
        target = start + (to - start) * min(1.0, (k + 1) / (0.6 * steps))
        target[7:] = fingers
        sim.pd(kp=KP, kd=KD, target=target)
        sim.step()
        assert sim.stats.unsettled == 0
        force += sim.soft_body("ball").contact_forces.sum(axis=0) / steps
    return force


@pytest.mark.parametrize("material", ["linear-corotated", "stable-neo-hookean"])
def test_an_arm_lifts_a_soft_ball_and_holds_it(material: Literal["linear-corotated", "stable-neo-hookean"]) -> None:
    """It squeezes the ball on the ground and lifts it; in 5 s the ball creeps by less than 0.1 mm in the hand."""
    b = sw.ModelBuilder.from_model(sw.load(PANDA, package_path=[SHARE], ground=True))
    ball = sw.SoftBody.ball(0.03, 4, young=5e4, poisson=0.4, density=1000, damping=0.01, material=material)
    b.add_soft_body("ball", ball, position=(0.5, 0.0, 0.0301), friction=1.0)
    model = b.build()
    low = reach(model, np.array([0.5, 0.0, 0.03]), HOME)
    high = reach(model, np.array([0.5, 0.0, 0.3]), low)

    sim = sw.Simulation(model, timestep=DT)
    sim.q[:] = low
    go(sim, 0.5, low, OPEN)
    go(sim, 1.0, low, CLOSED)
    go(sim, 2.0, high, CLOSED)
    soft = sim.soft_body("ball")
    in_hand = soft.com - sim.body(HAND).position
    assert soft.com[2] > 0.25
    force = go(sim, 5.0, high, CLOSED)
    assert np.linalg.norm(soft.com - sim.body(HAND).position - in_hand) < 1e-4
    # The hand carries its weight: in the mean, but for what its momentum changes by, 0.09 kg times some cm/s in 5 s.
    assert force == pytest.approx([0.0, 0.0, 9.81 * soft.mass], abs=1e-3)
