"""Operational-space impedance: the Panda's hand as a spring to a point that moves, its elbow free to give way.

    F = K e − D ẋ                                  the spring, in task space
    τ = Jᵀ F + bias + (1 − Jᵀ J̄ᵀ) τ_posture        J̄ = M⁻¹ Jᵀ Λ,  Λ = (J M⁻¹ Jᵀ)⁻¹

What the posture does is invisible at the hand. The hand draws a circle; then the elbow swings out, then somebody pushes
the hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.linalg import sqrtm
from shared import HAND, READY, Array, out_folder, panda, staged, strobe

import sapwood as sw

STIFFNESS = np.array([50.0, 50.0, 50.0, 600.0, 600.0, 600.0])
"""K: three of rotation, N·m/rad, three of translation, N/m."""
RADIUS, PERIOD = 0.12, 4.0


def orientation_error(target: Array, rotation: Array) -> Array:
    """The rotation vector from a rotation to its target, in world axes, for small angles, rad."""
    error: Array = 0.5 * np.sum(np.cross(rotation.T, target.T), axis=0)
    return error


class Impedance:
    """Torques that make the hand of an arm a spring to a pose."""

    def __init__(self, sim: sw.Simulation, body: str) -> None:
        self.sim, self.body = sim, body
        self.position, self.rotation = sim.body(body).position, sim.body(body).rotation
        self.velocity = np.zeros(3)
        self.posture = sim.q.copy()

    def torque(self) -> Array:
        """τ of the present state, (nv,)."""
        sim, hand = self.sim, self.sim.body(self.body)
        M, J = sim.model.mass_matrix(sim.q), sim.jacobian(self.body)
        inverse = np.linalg.inv(M)
        inertia = np.linalg.inv(J @ inverse @ J.T)  # Λ, (6, 6)
        error = np.concatenate([orientation_error(self.rotation, hand.rotation), self.position - hand.position])
        slip = np.concatenate([np.zeros(3), self.velocity]) - hand.velocity
        root, stiffness = np.real(sqrtm(inertia)), np.diag(np.sqrt(STIFFNESS))
        damping = 0.8 * (root @ stiffness + stiffness @ root)  # ζ = 0.8 in every direction
        force = STIFFNESS * error + damping @ slip
        posture = M @ (20.0 * (self.posture - sim.q) - 8.0 * sim.v)
        beside = posture - J.T @ (inertia @ (J @ (inverse @ posture)))
        torque: Array = J.T @ force + sim.model.bias_forces(sim.q, sim.v) + beside
        return torque


@dataclass
class Result:
    """What happened."""

    tracking_error: float
    """Greatest distance from the circle's point after the first turn, m."""
    posture_changed: tuple[float, float]
    """How far the elbow and the hand are from where they were before the posture changed, m."""
    hand_pushed: Array
    """How far the hand moved when it was pushed by ``push``, (3,), m."""
    push: Array


def run(out: Path | None = None) -> Result:
    """Runs it; writes a picture and a replay into a folder."""
    model = panda()
    sim = sw.Simulation(model, timestep=0.002)
    sim.q = READY
    control = Impedance(sim, HAND)
    center = control.position - [0.0, RADIUS, 0.0]
    replay = sim.record()

    errors: list[float] = []
    poses: list[Array] = []
    while sim.time < 2 * PERIOD:
        angle, rate = 2 * np.pi * sim.time / PERIOD, 2 * np.pi / PERIOD
        control.position = center + RADIUS * np.array([0.0, np.cos(angle), np.sin(angle)])
        control.velocity = RADIUS * rate * np.array([0.0, -np.sin(angle), np.cos(angle)])
        sim.applied_force[:] = control.torque()
        sim.step()
        if sim.time > PERIOD:
            errors.append(float(np.linalg.norm(control.position - sim.body(HAND).position)))
        if len(poses) < 4 * sim.time / PERIOD:
            poses.append(sim.q.copy())
    control.velocity = np.zeros(3)

    def settle(wrench: Array) -> dict[str, Array]:
        """Goes on for 4 s with a wrench on the hand; how far elbow and hand have moved then."""
        before = {name: sim.body(name).position for name in ("panda_link4", HAND)}
        sim.body(HAND).applied_wrench = wrench
        for _ in range(2000):
            sim.applied_force[:] = control.torque()
            sim.step()
        return {name: sim.body(name).position - place for name, place in before.items()}

    settle(np.zeros(6))
    control.posture[[0, 2]] += [0.9, -0.9]
    elbow = settle(np.zeros(6))
    # applied_wrench acts at the centre of mass, so the moment about the hand's origin is taken away.
    push = np.array([0.0, 20.0, 10.0])
    arm = sim.body(HAND).position - sim.body(HAND).com
    hand = settle(np.concatenate([np.cross(arm, push), push]))

    if out is not None:
        angles = np.linspace(0.0, 2 * np.pi, 40)
        circle = center + RADIUS * np.stack([0 * angles, np.cos(angles), np.sin(angles)], axis=1)
        camera = sw.Camera(lookat=[0.1, -0.03, 0.42], distance=1.6, azimuth=np.deg2rad(145), elevation=np.deg2rad(-12))
        sw.write_png(out / "operational_space.png", strobe(staged(model, circle), poses[:4], camera))
        replay.save(out / "operational_space.html")
    return Result(
        tracking_error=max(errors),
        posture_changed=(float(np.linalg.norm(elbow["panda_link4"])), float(np.linalg.norm(elbow[HAND]))),
        hand_pushed=hand[HAND],
        push=push,
    )


if __name__ == "__main__":
    folder = out_folder(__doc__)
    result = run(folder)
    print(f"on the circle within {1e3 * result.tracking_error:.1f} mm")
    elbow, hand = result.posture_changed
    print(f"another posture: the elbow moves {1e3 * elbow:.0f} mm, the hand {1e3 * hand:.3f} mm")
    print(f"hand pushed by {result.push} N: it moves {1e3 * result.hand_pushed} mm, {STIFFNESS[3]:.0f} N/m")
