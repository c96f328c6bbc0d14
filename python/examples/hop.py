"""iLQR through contact: Gymnasium's hopper hops forward and lands standing.

The derivative of a step goes through landing, friction and impact as they are; it knows nothing of contacts that are
not there. So the search begins with a rough jump, which falls over, and makes it one that ends where it should. And it
takes the mean of the derivatives at 16 states about each of the plan's, some in contact, some not: with the plan's
alone it ends in one of many valleys, half of which leave a joint at its limit.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from ilqr import Cost, Solver
from shared import Array, out_folder

import sapwood as sw

DT, T, APEX = 0.01, 80, 36
DISTANCE, HEIGHT, RISE = 0.3, 1.25, 0.25
JUMP = [
    (0.20, 1.5, (-0.4, -0.8, 0.4)),
    (0.35, 4.0, (0.0, 0.0, 0.2)),
    (0.45, 1.0, (0.0, 0.0, 0.2)),
    (0.8, 1.0, (-0.4, -0.5, 0.25)),
]
"""Until when, s, with what gain, the joints go to which angles: crouch, push, fly, land."""


def rough_jump(model: sw.Model) -> tuple[Array, Array]:
    """Controls (T, 3) of a jump by hand, and where it ends, (2 nv,)."""
    sim, controls = sw.Simulation(model, timestep=DT), []
    for t in range(T):
        gain, angles = next((gain, angles) for until, gain, angles in JUMP if t * DT < until)
        sim.ctrl[:] = np.clip(gain * (angles - sim.q[3:]) - 0.08 * sim.v[3:], -1, 1)
        controls.append(sim.ctrl.copy())
        sim.step()
    return np.array(controls), np.r_[sim.q, sim.v]


@dataclass
class Result:
    """What happened."""

    rough: Array
    """Where the jump by hand ends: x, height, pitch and joints, then velocities, (12,)."""
    end: Array
    """Where the plan ends."""
    apex: float
    """How far the torso rises, m."""
    flight: float
    """For how long nothing touches the ground, s."""
    iterations: int


def run(out: Path | None = None) -> Result:
    """Plans the hop, and makes it in a simulation with the plan's feedback; writes a picture and a replay."""
    gymnasium = find_spec("gymnasium")
    if gymnasium is None or gymnasium.origin is None:
        raise SystemExit("this example needs the hopper's file: pip install gymnasium")
    text = (Path(gymnasium.origin).parent / "envs/mujoco/assets/hopper.xml").read_text()
    model = sw.load(text)
    goal = np.zeros((T + 1, 12))
    goal[:, :2] = DISTANCE, HEIGHT
    Q = np.tile([0, 0, 0.1, 0.01, 0.01, 0.01] + 6 * [0.001], (T + 1, 1))
    Q[-1] = [400, 400, 200, 400, 400, 400] + 6 * [60.0]
    goal[APEX, :2], Q[APEX, :2] = (DISTANCE / 2, HEIGHT + RISE), (300, 1000)
    u, rough = rough_jump(model)
    plan = Solver(model, Cost(goal, Q, np.full(3, 0.05)), u, DT, nearby=16, spread=0.03)
    plan.start(np.r_[model.keyframe().q, np.zeros(6)])
    iterations = plan.solve(120, tolerance=1e-5)

    sim, flight, apex = sw.Simulation(model, timestep=DT), 0.0, 0.0
    replay = sim.record(fps=100)
    for t in range(T):
        sim.ctrl[:] = plan.u[t] + plan.K[t] @ (np.r_[sim.q, sim.v] - plan.x[t])
        sim.step()
        flight, apex = flight + DT * (not sim.contact_forces()), max(apex, float(sim.q[1]) - HEIGHT)
    if out is not None:
        renderer = sw.Renderer(model, 120, 240)
        camera = sw.Camera(lookat=[0.15, 0, 0.75], distance=2.9, azimuth=np.pi / 2, elevation=np.deg2rad(-6))
        shown = [renderer.render(plan.x[t, :6], camera) for t in np.linspace(0, T, 8).astype(int)]
        sw.write_png(out / "hop.png", np.hstack(shown))
        replay.save(out / "hop.html")
    return Result(rough, np.r_[sim.q, sim.v], apex, flight, iterations)


if __name__ == "__main__":
    result = run(out_folder(__doc__))
    print(f"jump by hand: ends at x {result.rough[0]:.2f} m, pitch {result.rough[2]:.2f} rad")
    x, height, pitch = result.end[:3]
    print(f"after {result.iterations} iterations: x {x:.2f} m, height {height:.2f} m, pitch {pitch:.2f} rad,")
    print(f"{100 * result.apex:.0f} cm up, {result.flight:.2f} s in the air")
