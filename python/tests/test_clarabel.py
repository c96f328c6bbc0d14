"""`sap.solve` against Clarabel, an interior-point solver that knows nothing of SAP, on 100 random contact problems.

Clarabel gets the constrained form of the same problem (σ = γ at the optimum):

    min ½‖v − v*‖²_A + ½ σᵀRσ    such that    J v − v̂ + R σ ∈ F*,    F* = {y : y_n ≥ μ |y_t|}
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest
from agreement import Array
from conftest import Recorder

import sapwood as sw

clarabel = pytest.importorskip("clarabel")
sparse = pytest.importorskip("scipy.sparse")

PROBLEMS = 100
ROUND_OFF = 1e-13
"""Of the terms that the cost is summed from: about a hundred of them, each good to 1e-16."""


class Problem(NamedTuple):
    A: Array
    v_star: Array
    J: Array
    mu: Array
    R_t: Array
    R_n: Array
    vn_hat: Array

    @property
    def R(self) -> Array:
        return np.stack([self.R_t, self.R_t, self.R_n], axis=1)

    def cost(self, v: Array) -> float:
        """ℓ_p(v), by the projection onto the friction cone as the specification tabulates it."""
        regularizer = sum(
            contact_cost(v_c, *rest)
            for v_c, *rest in zip((self.J @ v).reshape(-1, 3), self.mu, self.R_t, self.R_n, self.vn_hat, strict=True)
        )
        return 0.5 * float((v - self.v_star) @ self.A @ (v - self.v_star)) + regularizer

    def scale(self, v: Array) -> float:
        """The size of what the cost is summed from."""
        return 0.5 * float(v @ self.A @ v) + 0.5 * float(self.v_star @ self.A @ self.v_star) + self.cost(v)


def contact_cost(v_c: Array, mu: float, R_t: float, R_n: float, vn_hat: float) -> float:
    y_r, y_n = float(np.hypot(v_c[0], v_c[1])) / R_t, float(vn_hat - v_c[2]) / R_n
    mu_hat, mu_tilde2 = mu * R_t / R_n, mu * mu * R_t / R_n
    if y_r <= mu * y_n:
        return 0.5 * (R_t * y_r**2 + R_n * y_n**2)
    if y_n <= -mu_hat * y_r:
        return 0.0
    normal = (y_n + mu_hat * y_r) / (1 + mu_tilde2)
    return 0.5 * (R_t * (mu * normal) ** 2 + R_n * normal**2)


def random_problem(seed: int) -> Problem:
    """From one contact to more than there are velocities, soft to near-rigid, frictionless to rough."""
    rng = np.random.default_rng(seed)
    nv, nc = int(rng.integers(3, 31)), int(rng.integers(1, 16))
    root = rng.normal(size=(nv, nv))
    A = root @ root.T / nv + np.diag(10 ** rng.uniform(-2, 1, nv))
    J = rng.normal(size=(3 * nc, nv)) * (rng.random((3 * nc, nv)) < 0.5)
    delassus = J @ np.linalg.solve(A, J.T)
    w = np.array([np.linalg.norm(delassus[i : i + 3, i : i + 3]) / 3 for i in range(0, 3 * nc, 3)]) + 1e-3
    near_rigid = 0.1**2 / (4 * np.pi**2)
    mu = rng.choice([0.0, 0.3, 0.7, 1.5], nc)
    R_t, R_n = w * 10 ** rng.uniform(-5, -3, nc), w * 10 ** rng.uniform(np.log10(near_rigid), 0, nc)
    return Problem(A, rng.normal(size=nv), J, mu, R_t, R_n, 0.3 * rng.normal(size=nc))


class Reference(NamedTuple):
    """What Clarabel found, and how well by its own account."""

    v: Array
    objective: float
    objective_accuracy: float
    v_accuracy: float
    """In the norm of A."""


def clarabel_solution(p: Problem) -> Reference:
    """The minimiser by Clarabel."""
    nv, rows = p.v_star.size, p.J.shape[0]
    # x = (v, R^½ σ): then R leaves the cost, which keeps the problem well scaled.
    P = sparse.block_diag([p.A, sparse.identity(rows)], format="csc")
    q = np.concatenate([-p.A @ p.v_star, np.zeros(rows)])
    G = np.hstack([p.J, np.diag(np.sqrt(p.R.ravel()))])
    v_hat = np.zeros(rows)
    v_hat[2::3] = p.vn_hat
    # Second-order cones want (y_n, μ y_t).
    order = np.arange(rows).reshape(-1, 3)[:, [2, 0, 1]].ravel()
    weight = np.stack([np.ones_like(p.mu), p.mu, p.mu], axis=1).ravel()
    G, v_hat = weight[:, None] * G[order], weight * v_hat[order]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    cones = [clarabel.SecondOrderConeT(3)] * (rows // 3)
    solver = clarabel.DefaultSolver(sparse.triu(P, format="csc"), q, sparse.csc_matrix(-G), -v_hat, cones, settings)
    solution = solver.solve()
    assert str(solution.status) in ("Solved", "AlmostSolved")
    x, s, z = (np.array(a) for a in (solution.x, solution.s, solution.z))
    # Strong convexity: ½‖x − x_opt‖²_P ≤ duality gap + what infeasibility is worth.
    gap = abs(solution.obj_val - solution.obj_val_dual)
    primal = float(np.linalg.norm(-G @ x + s + v_hat) * np.linalg.norm(z))
    dual = P @ x + q - G.T @ z
    dual_norm = float(np.sqrt(dual[:nv] @ np.linalg.solve(p.A, dual[:nv]) + dual[nv:] @ dual[nv:]))
    v_accuracy = float(np.sqrt(2 * (gap + primal))) + dual_norm
    # Its objective leaves out ½‖v*‖²_A.
    objective = solution.obj_val + 0.5 * float(p.v_star @ p.A @ p.v_star)
    return Reference(x[:nv], objective, gap + primal + dual_norm * float(np.linalg.norm(x)), v_accuracy)


def test_random_problems(record: Recorder) -> None:
    excess, distance, iterations = [], [], []
    for seed in range(PROBLEMS):
        p = random_problem(seed)
        ours = sw.sap.solve(*p, tolerance=1e-12)
        theirs = clarabel_solution(p)
        scale = p.scale(ours.v)
        excess.append((p.cost(ours.v) - p.cost(theirs.v)) / scale)
        assert excess[-1] <= ROUND_OFF, f"problem {seed}: our cost is above Clarabel's"
        assert ours.cost == pytest.approx(p.cost(ours.v), rel=0, abs=1e-12 * scale)
        assert abs(ours.cost - theirs.objective) <= theirs.objective_accuracy + 1e-12 * scale
        difference = ours.v - theirs.v
        distance.append(float(np.sqrt(difference @ p.A @ difference)) / theirs.v_accuracy)
        assert distance[-1] <= 1 + 1e-6, f"problem {seed}: v differs by {distance[-1]:.3g} times Clarabel's accuracy"
        iterations.append(ours.iterations)
    outcome = (
        f"cost − Clarabel's at most {max(excess):.0e} of the terms, v within {max(distance):.2f} of its accuracy; "
        f"Newton iterations: median {np.median(iterations):.0f}, worst {max(iterations)}"
    )
    record("clarabel", f"{PROBLEMS} random problems", outcome)


def test_impulses_balance_momentum_and_lie_in_their_cones() -> None:
    for seed in range(PROBLEMS):
        p = random_problem(seed)
        ours = sw.sap.solve(*p, tolerance=1e-12)
        momentum = p.A @ (ours.v - p.v_star)
        np.testing.assert_allclose(momentum, p.J.T @ ours.impulses.ravel(), rtol=0, atol=1e-10 * np.abs(momentum).max())
        tangential, normal = np.linalg.norm(ours.impulses[:, :2], axis=1), ours.impulses[:, 2]
        assert np.all(normal >= 0)
        assert np.all(tangential <= p.mu * normal * (1 + 1e-12))


def test_no_contact_leaves_the_free_motion() -> None:
    """Bits, not round-off: contacts that do not push leave no trace."""
    v_star = np.array([0.1, 0.2, 0.3])
    solution = sw.sap.solve(np.eye(3), v_star, np.eye(3), [0.5], [1e-3], [1e-3], [0.0])
    np.testing.assert_array_equal(solution.v, v_star)
    assert solution.iterations == 0
