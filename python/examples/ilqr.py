"""iLQR and model-predictive control: a pole that swings up, on the derivatives of all steps of a plan at once.

    backward:  k, K from the Riccati recursion on A_t, B_t     a world of a batch for each step: batch.step_jacobians()
    forward:   u = û + α k + K (x − x̂)                         a world for each α of the line search

A plan that no α improves is made again with more regularisation. Where contacts make and break, A_t, B_t are means over
states nearby, which fall on either side. The same solver, called at every instant with the rest
of the last plan, is the model-predictive controller that rights a heavier pole after a shove.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from shared import Array, out_folder, strobe

import sapwood as sw

ALPHAS = 0.5 ** np.arange(10)
NARROWING = 0.95
"""By how much states nearby come nearer in an iteration."""


@dataclass
class Cost:
    """½ Σ (x − goal)ᵀ Q (x − goal) + ½ Σ uᵀ R u, with diagonal Q and R; x = (q, v)."""

    goal: Array
    """(T + 1, 2 nv)"""
    Q: Array
    """(T + 1, 2 nv)"""
    R: Array
    """(nu,)"""

    def total(self, x: Array, u: Array) -> Array:
        """Of trajectories x (…, T + 1, 2 nv), u (…, T, nu); infinite where they are not finite."""
        with np.errstate(all="ignore"):
            value = 0.5 * (self.Q * (x - self.goal) ** 2).sum((-2, -1)) + 0.5 * (self.R * u**2).sum((-2, -1))
        return np.where(np.isfinite(value), value, np.inf)


class Solver:
    """Plans T steps of a model whose joints have one coordinate each, nq = nv.

    Attributes:
        x: Planned states, (T + 1, 2 nv).
        u: Planned controls, (T, nu).
        K: Feedback gains about them, (T, nu, 2 nv).
        value: Cost of the plan.
        spread: Standard deviation of states nearby: coordinates in m or rad; velocities have ten times as much, per s.
    """

    def __init__(
        self, model: sw.Model, cost: Cost, u: Array, timestep: float, *, nearby: int = 1, spread: float = 0.0
    ) -> None:
        self.model, self.cost, self.nearby, self.spread = model, cost, nearby, spread
        self.random = np.random.default_rng(0)
        self.steps = sw.Batch(model, len(u) * nearby, timestep=timestep)
        self.worlds = sw.Batch(model, len(ALPHAS), timestep=timestep, threads=1)
        self.lower, self.upper = model.ctrl_range.T
        self.u, self.mu = np.clip(u, self.lower, self.upper), 1e-6
        self.x, self.K, self.value = (
            np.zeros((len(u) + 1, 2 * model.nv)),
            np.zeros((len(u), model.nu, 2 * model.nv)),
            np.inf,
        )

    def start(self, x: Array) -> None:
        """Begins at a state, with the controls that there are."""
        nothing = np.zeros_like(self.u)
        states, controls = self._forward(x, nothing, np.zeros_like(self.K))
        self.x, self.value = states[0], float(self.cost.total(states[0], controls[0]))

    def _forward(self, x: Array, k: Array, K: Array) -> tuple[Array, Array]:
        """Trajectories (10, T + 1, 2 nv) and controls (10, T, nu) for all α at once."""
        worlds, states, controls = self.worlds, [], []
        worlds.reset(states=(x[: self.model.nv], x[self.model.nv :]))
        for t in range(len(self.u)):
            states.append(np.hstack([worlds.q, worlds.v]))
            u = self.u[t] + ALPHAS[:, None] * k[t] + (states[-1] - self.x[t]) @ K[t].T
            controls.append(np.clip(u, self.lower, self.upper))
            worlds.ctrl = controls[-1]
            try:
                worlds.step()
            except sw.SimulationError:  # a world that diverges has an infinite cost
                worlds.v[worlds.failed] = 1e200
        states.append(np.hstack([worlds.q, worlds.v]))
        return np.stack(states, 1), np.stack(controls, 1)

    def _backward(self, A: Array, B: Array) -> tuple[Array, Array]:
        """k (T, nu) and K (T, nu, 2 nv); a control at its limit stays there."""
        cost, k, K = self.cost, np.zeros_like(self.u), np.zeros_like(self.K)
        Vx, Vxx = cost.Q[-1] * (self.x[-1] - cost.goal[-1]), np.diag(cost.Q[-1])
        for t in reversed(range(len(self.u))):
            Qx = cost.Q[t] * (self.x[t] - cost.goal[t]) + A[t].T @ Vx
            Qu = cost.R * self.u[t] + B[t].T @ Vx
            Qxx, Qux, Quu = (
                np.diag(cost.Q[t]) + A[t].T @ Vxx @ A[t],
                B[t].T @ Vxx @ A[t],
                np.diag(cost.R) + B[t].T @ Vxx @ B[t],
            )
            free = ~((self.u[t] <= self.lower) & (Qu > 0) | (self.u[t] >= self.upper) & (Qu < 0))
            inverse = np.linalg.inv((Quu + self.mu * np.eye(len(Qu)))[np.ix_(free, free)])
            k[t, free], K[t, free] = -inverse @ Qu[free], -inverse @ Qux[free]
            Vx = Qx + K[t].T @ (Quu @ k[t] + Qu) + Qux.T @ k[t]
            Vxx = Qxx + K[t].T @ Quu @ K[t] + K[t].T @ Qux + Qux.T @ K[t]
        return k, K

    def _derivatives(self) -> tuple[Array, Array]:
        """A (T, 2 nv, 2 nv) and B (T, 2 nv, nu): means over the plan's state and those nearby, which come nearer."""
        nv, shape = self.model.nv, (len(self.u), self.nearby, 2 * self.model.nv)
        away = self.spread * np.repeat([1.0, 10.0], nv) * self.random.normal(size=shape)
        away[:, 0] = 0
        states = (self.x[:-1, None] + away).reshape(-1, 2 * nv)
        self.steps.reset(states=(states[:, :nv], states[:, nv:]))
        self.steps.ctrl = np.repeat(self.u, self.nearby, axis=0)
        self.spread *= NARROWING
        A, B = (np.nan_to_num(matrices) for matrices in self.steps.step_jacobians())
        return A.reshape(*shape, -1).mean(1), B.reshape(*shape, -1).mean(1)

    def improve(self) -> bool:
        """Makes a better plan; whether there is one."""
        A, B = self._derivatives()
        while self.mu < 1e6:
            k, self.K = self._backward(A, B)
            x, u = self._forward(self.x[0], k, self.K)
            costs = self.cost.total(x, u)
            best = int(costs.argmin())
            if costs[best] < self.value:
                self.x, self.u, self.value, self.mu = x[best], u[best], float(costs[best]), max(self.mu / 10, 1e-8)
                return True
            self.mu *= 10
        self.mu = 1e-6
        return False

    def solve(self, iterations: int, tolerance: float = 1e-4) -> int:
        """Improves the plan until the cost falls by less than a part of it; how often.

        Among states nearby one draw may be a poor one: three in succession have to fail.
        """
        failures = 0
        for iteration in range(iterations):
            before = self.value
            improved = self.improve() and before - self.value >= tolerance * self.value
            failures = 0 if improved else failures + 1
            if failures == (1 if self.nearby == 1 else 3):
                return iteration + 1
        return iterations


CART_POLE = """
<mujoco><worldbody><geom type="plane" size="0 0 1" pos="0 0 -0.75"/>
  <body><joint name="cart" type="slide" axis="1 0 0"/><geom type="box" size=".15 .08 .05" mass="1" rgba=".3 .5 .8 1"/>
    <body name="pole"><joint name="hinge" axis="0 1 0"/>
      <geom type="capsule" fromto="0 -.1 0 0 -.1 .6" size=".025" mass=".3" rgba=".9 .5 .2 1"/></body></body>
</worldbody><actuator><motor joint="cart" ctrlrange="-8 8" ctrllimited="true"/></actuator></mujoco>"""
DT, T, HORIZON = 0.02, 100, 50


def cost(steps: int, final: float) -> Cost:
    """Of a swing-up to x = 0."""
    Q = np.tile([0.5, 1.0, 0.01, 0.01], (steps + 1, 1))
    Q[-1] = final * np.array([20.0, 100.0, 5.0, 5.0])
    return Cost(np.zeros((steps + 1, 4)), Q, np.array([0.01]))


@dataclass
class Result:
    """What happened."""

    costs: tuple[float, float]
    """Of the first plan and of the last."""
    iterations: int
    end: Array
    """Where the plan ends, (4,): 0 is upright at rest."""
    controlled: Array
    """Where the heavier pole is under model-predictive control 2 s after the shove, (4,)."""
    tilt: float
    """How far the shove tilts it, rad."""


def run(out: Path | None = None) -> Result:
    """Plans the swing-up, and rights the pole by model-predictive control; writes a picture and a replay."""
    model = sw.load(CART_POLE)
    plan = Solver(model, cost(T, 10.0), np.full((T, 1), 0.1), DT)
    plan.start(np.array([0.0, np.pi, 0.0, 0.0]))
    first = plan.value
    iterations = plan.solve(100)

    sim = sw.Simulation(model, timestep=DT)
    sim.parameters.masses[model.body_index("pole")] *= 1.1
    sim.q, replay, tilt = [0.0, np.pi], sim.record(), 0.0
    for t in range(T):
        sim.ctrl[:] = plan.u[t] + plan.K[t] @ (np.r_[sim.q, sim.v] - plan.x[t])
        sim.step()
    control = Solver(model, cost(HORIZON, 10.0), np.zeros((HORIZON, 1)), DT)
    for t in range(150):
        control.start(np.r_[sim.q, sim.v])
        control.improve()
        sim.ctrl[:] = control.u[0]
        sim.body("pole").applied_wrench = [0, 0, 0, 2.0 if 40 <= t < 45 else 0.0, 0, 0]
        sim.step()
        tilt = max(tilt, abs(float(sim.q[1]))) if t >= 40 else 0.0
        control.u = np.vstack([control.u[1:], control.u[-1:]])

    if out is not None:
        camera = sw.Camera(lookat=[0, 0, -0.05], distance=2.4, azimuth=np.pi / 2, elevation=np.deg2rad(-8))
        sw.write_png(out / "ilqr.png", strobe(model, plan.x[::7, :2], camera))
        replay.save(out / "ilqr.html")
    return Result((first, plan.value), iterations, plan.x[-1], np.r_[sim.q, sim.v], tilt)


if __name__ == "__main__":
    result = run(out_folder(__doc__))
    print(
        "cost {:.0f} to {:.2f}".format(*result.costs),
        f"in {result.iterations} iterations; ends at {result.end.round(3)}",
    )
    print(f"MPC: a shove tilts the pole by {result.tilt:.2f} rad, then it is at {result.controlled.round(3)}")
