"""Computed torque: an arm that follows a fast motion, by inverse dynamics.

    τ = M(q) (q̈_d + K_d ė + K_p e) + bias(q, q̇)        so that  ë + K_d ė + K_p e = 0

Beside it the same gains without the model's accelerations: PD with gravity compensation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from shared import Array, out_folder, robot, staged, strobe

import sapwood as sw

KP, KD = 400.0, 40.0
"""Critically damped, 20 rad/s."""
HOME = np.array([0.0, -1.2, 1.4, -0.6, 0.8, 0.0])
AMPLITUDE = np.array([1.0, 0.5, 0.6, 0.5, 0.5, 0.5])
RATE = 2 * np.pi * np.array([0.5, 0.75, 0.5, 1.0, 0.75, 1.0])

Law = Callable[[sw.Simulation, Array, Array, Array], Array]


def desired(time: float) -> tuple[Array, Array, Array]:
    """Position, velocity and acceleration at a time; begins at rest."""
    fade = 1 - np.exp(-(time**3))
    fade1, fade2 = 3 * time**2 * (1 - fade), (6 * time - 9 * time**4) * (1 - fade)
    sine, cosine = AMPLITUDE * np.sin(RATE * time), AMPLITUDE * RATE * np.cos(RATE * time)
    return (
        HOME + fade * sine,
        fade1 * sine + fade * cosine,
        fade2 * sine + 2 * fade1 * cosine - fade * RATE**2 * sine,
    )


def computed_torque(sim: sw.Simulation, q: Array, v: Array, a: Array) -> Array:
    """Inverse dynamics of the acceleration that leads back to the path."""
    return sim.model.inverse_dynamics(sim.q, sim.v, a + KD * (v - sim.v) + KP * (q - sim.q))


def pd_with_gravity(sim: sw.Simulation, q: Array, v: Array, a: Array) -> Array:
    """The same without a: PD, scaled by the mass matrix, and gravity compensation."""
    gravity = sim.model.bias_forces(sim.q, np.zeros(sim.model.nv))
    return sim.model.mass_matrix(sim.q) @ (KD * (v - sim.v) + KP * (q - sim.q)) + gravity


def track(model: sw.Model, law: Law, factor: float = 1.0, timestep: float = 0.001) -> tuple[Array, list[Array]]:
    """Greatest error of every joint from 2 s to 6 s, rad, and configurations on the way.

    Args:
        model: The arm.
        law: The controller.
        factor: On the masses of the arm; the controller does not know of it.
        timestep: s.
    """
    sim = sw.Simulation(model, timestep=timestep)
    sim.parameters.masses[:] *= factor
    sim.q = HOME
    worst = np.zeros(model.nv)
    poses: list[Array] = []
    while sim.time < 6.0:
        target = desired(sim.time)
        if sim.time > 2.0:
            worst = np.maximum(worst, np.abs(target[0] - sim.q))
            if len(poses) < 1 + 15 * (sim.time - 2.0):
                poses.append(sim.q.copy())
        sim.applied_force[:] = law(sim, *target)
        sim.step()
    return worst, poses


@dataclass
class Result:
    """Greatest errors of a joint, rad."""

    computed_torque: float
    pd: float
    heavier: float
    """Computed torque when every link is a tenth heavier than it knows."""


def run(out: Path | None = None) -> Result:
    """Follows the motion with both laws; writes a picture into a folder."""
    model = sw.load(robot("ur_description/urdf/ur5_robot.urdf"))
    errors, poses = track(model, computed_torque)
    if out is not None:
        stage = staged(model, [model.forward_kinematics(q).positions[model.body_index("tool0")] for q in poses])
        camera = sw.Camera(lookat=[0.3, 0.1, 0.25], distance=1.6, azimuth=np.deg2rad(150), elevation=np.deg2rad(-20))
        sw.write_png(out / "computed_torque.png", strobe(stage, poses[:24:4], camera))
        times = np.arange(0.0, 6.0, 0.02)
        planned = [desired(time)[0] for time in times]
        sw.Replay.from_trajectory(model, planned, 0.02).save(out / "computed_torque.html")
    return Result(
        float(errors.max()),
        float(track(model, pd_with_gravity)[0].max()),
        float(track(model, computed_torque, 1.1)[0].max()),
    )


if __name__ == "__main__":
    result = run(out_folder(__doc__))
    print(f"computed torque: within {result.computed_torque:.1e} rad; PD: {result.pd:.2f} rad")
    print(f"with links a tenth heavier than it knows: {result.heavier:.2f} rad")
