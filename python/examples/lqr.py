"""LQR on the derivative of a step: a humanoid that stands on one leg, and is pushed.

    δx⁺ = A δx + B δu            sim.step_jacobians(), contact included
    x = N z                      N: what the standing foot lets move, null(J_foot)
    u = u₀ − K (x ⊟ x₀)          K from the discrete Riccati equation in z

The setpoint x₀, u₀ comes from stable PD: any gain holds the posture, and its forces are what the motors have to do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from scipy.linalg import block_diag, null_space, solve_discrete_are
from shared import Array, out_folder

import sapwood as sw

FOOT, SOLE = "left_foot", ("left_left_foot", "right_left_foot")
POSTURE = {
    "right_hip_y": -1.0,
    "right_knee": -1.2,
    "left_hip_y": -0.25,
    "left_knee": -0.4,
    "left_ankle_y": -0.2,
    "right_shoulder1": 0.3,
    "left_shoulder1": -0.3,
    "right_elbow": -0.5,
    "left_elbow": -0.5,
}


def humanoid() -> sw.Model:
    """The humanoid of dm_control's suite, on near-rigid ground.

    The file asks for soft contact, in which the foot has a height and a tilt to control as well.
    """
    package = find_spec("dm_control")
    if package is None or package.origin is None:
        raise SystemExit("this example needs the humanoid's file: pip install dm_control")
    text = (Path(package.origin).parent / "suite/humanoid.xml").read_text()
    builder = sw.ModelBuilder.from_model(sw.load(re.sub(r'sol\w+="[^"]*"|<include[^>]*>', "", text)))
    for geom in builder.geoms[1:]:
        geom.color = (0.85, 0.6, 0.35)
    return builder.build()


def stand(sim: sw.Simulation) -> None:
    """Puts the humanoid on its left foot: the sole flat on the ground, the centre of mass above its middle."""
    for joint, angle in POSTURE.items():
        sim.joint(joint).q = angle
    moving = [*range(6), *(sim.model.joints[sim.joint(n).index].v.start for n in ("left_ankle_x", "left_ankle_y"))]
    for _ in range(20):
        sole = np.mean([sim.geom(geom).position for geom in SOLE], axis=0)
        tilt = 0.5 * np.sum(np.cross(sim.body(FOOT).rotation.T, np.eye(3)), axis=0)
        height = sole[2] - sim.geom(SOLE[0]).size[0]
        error = np.concatenate([-tilt, (sim.center_of_mass() - sole)[:2], [height]])
        J = sim.jacobian(FOOT, point=sole)
        rows = np.vstack([J[:3], (sim.center_of_mass_jacobian() - J[3:])[:2], J[5:]])
        change = np.zeros(sim.model.nv)
        change[moving] = -np.linalg.pinv(rows[:, moving]) @ error
        sim.q = sim.model.integrate(sim.q, change)


def settle(sim: sw.Simulation) -> Array:
    """Holds the posture by stiff PD until it rests; the controls that do the same, (nu,)."""
    sim.pd(
        np.r_[np.zeros(6), np.full(sim.model.nv - 6, 1e5)], np.r_[np.zeros(6), np.full(sim.model.nv - 6, 1e4)], sim.q
    )
    sim.step(400)
    forces = sim.pd_forces
    sim.pd(0.0, 0.0, sim.q)
    dofs = [
        sim.model.joints[actuator.target.index].v.start for actuator in sim.actuators if actuator.target is not None
    ]
    sim.v = np.ones(sim.model.nv)
    gears = np.array([actuator.velocity for actuator in sim.actuators])  # an actuator's velocity is gear times v
    sim.v = np.zeros(sim.model.nv)
    controls: Array = forces[dofs] / gears
    return controls


def gain(sim: sw.Simulation) -> Array:
    """K of the present state and controls, (nu, 2 nv)."""
    nv, nu = sim.model.nv, sim.model.nu
    A, B = sim.step_jacobians()
    sole = np.mean([sim.geom(geom).position for geom in SOLE], axis=0)
    foot = sim.jacobian(FOOT, point=sole)
    N = block_diag(*[null_space(foot)] * 2)
    balance = (sim.center_of_mass_jacobian() - foot[3:])[:2]
    Q = block_diag(1000.0 * balance.T @ balance + np.diag(np.r_[np.zeros(6), np.ones(nv - 6)]), np.zeros((nv, nv)))
    A, B, Q, R = N.T @ A @ N, N.T @ B, N.T @ Q @ N, np.eye(nu)
    P = solve_discrete_are(A, B, Q, R)
    K: Array = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A) @ N.T
    return K


@dataclass
class Result:
    """What happened."""

    recovered: float
    """Distance from the setpoint 4 s after the push, rad and m, and the same of velocities."""
    excursion: float
    """How far the centre of mass went, m."""
    fell_after: float
    """When it falls without feedback, s."""
    growth: float
    """Largest eigenvalue of A within what the foot lets move: above 1 it is unstable."""


def run(out: Path | None = None, push: float = 40.0) -> Result:
    """Stands, is pushed at the chest by ``push`` N for 0.1 s; writes a picture and a replay into a folder."""
    sim = sw.Simulation(humanoid(), timestep=0.005)
    stand(sim)
    u0 = settle(sim)
    sim.ctrl[:] = u0
    q0, start, K = sim.q.copy(), sim.state(), gain(sim)
    N = block_diag(*[null_space(sim.jacobian(FOOT))] * 2)
    growth = np.abs(np.linalg.eigvals(N.T @ sim.step_jacobians().A @ N)).max()

    replay, com, excursion, poses = sim.record(), sim.center_of_mass(), 0.0, []
    for step in range(900):
        sim.body("torso").applied_wrench = [0, 0, 0, push if 100 <= step < 120 else 0.0, 0, 0]
        sim.ctrl[:] = u0 - K @ np.concatenate([sim.model.difference(q0, sim.q), sim.v])
        sim.step()
        excursion = max(excursion, float(np.linalg.norm(sim.center_of_mass() - com)))
        if step in (99, 140):
            poses.append(sim.q.copy())
    replay.stop()
    recovered = np.abs(np.concatenate([sim.model.difference(q0, sim.q), sim.v])).max()

    sim.restore(start)
    begin = sim.time
    while sim.q[2] > 0.9 and sim.time - begin < 5.0:
        sim.ctrl[:] = u0
        sim.step()
    if out is not None:
        camera = sw.Camera(lookat=[0, 0, 0.8], distance=2.5, azimuth=np.deg2rad(115), elevation=np.deg2rad(-8))
        pictures = [sim.render(200, 280, camera)]
        for q in reversed(poses):
            sim.q = q
            pictures.insert(0, sim.render(200, 280, camera))
        sw.write_png(out / "lqr.png", np.hstack(pictures))
        replay.save(out / "lqr.html")
    return Result(float(recovered), excursion, sim.time - begin, float(growth))


if __name__ == "__main__":
    result = run(out_folder(__doc__))
    print(f"unstable: {result.growth:.3f} a step; falls {result.fell_after:.1f} s after the feedback is gone")
    print(f"pushed: the centre of mass goes {1e3 * result.excursion:.0f} mm, later it is within {result.recovered:.1e}")
