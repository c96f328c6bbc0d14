"""`sap.Problem`: all constraints against Clarabel, Coulomb's law by its definition, sparse against dense matrices."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from agreement import Array
from conftest import Recorder

import sapwood as sw
from sapwood.sap import Constraints, Problem, ProblemSolution

sparse = pytest.importorskip("scipy.sparse")

TIGHT: dict[str, Any] = {"tolerance": 1e-12, "factorization_budget": None}


class Mixed(NamedTuple):
    """A problem with constraints of every kind, and what they are made of."""

    A: Array
    v_star: Array
    J: dict[str, Array]
    data: dict[str, Array]

    def problem(
        self, matrix: Callable[[Array], Any] = np.asarray, *, rolling: bool = True, only: slice = slice(None)
    ) -> tuple[Problem, dict[str, Constraints]]:
        d, J = self.data, {name: matrix(rows) for name, rows in self.J.items()}
        p = Problem(matrix(self.A), self.v_star)
        calls: list[tuple[str, Callable[[], Constraints]]] = [
            ("contact", lambda: p.contact(J["contact"], d["mu"], R_t=d["R_t"], R_n=d["R_n"], vn_hat=d["vn_hat"])),
            ("limit", lambda: p.limit(J["limit"], R=d["R"], v_hat=d["v_hat"])),
            ("equality", lambda: p.equality(J["equality"], R=d["R"], v_hat=d["v_hat"])),
            ("bounded", lambda: p.bounded(J["bounded"], d["lower"], d["upper"], R=d["R"], v_hat=d["v_hat"])),
        ]
        added = {name: add() for name, add in calls[only]}
        if rolling:
            added["rolling"] = p.rolling(added["contact"], J["rolling"], d["length"], d["twist"], R=d["R_r"])
        return p, added


def mixed(seed: int, nv: int = 0, density: float = 0.6) -> Mixed:
    rng = np.random.default_rng(seed)
    nv = nv or int(rng.integers(4, 25))
    n, nc = int(rng.integers(1, 4)), int(rng.integers(1, 6))
    root = rng.normal(size=(nv, nv)) * (rng.random((nv, nv)) < density)
    A = root @ root.T / nv + np.diag(10 ** rng.uniform(-1, 1, nv))
    rows = {"contact": 3 * nc, "limit": n, "equality": n, "bounded": n, "rolling": 3 * nc}
    J = {name: rng.normal(size=(m, nv)) * (rng.random((m, nv)) < density) for name, m in rows.items()}
    lower = -(10 ** rng.uniform(-2, 0, n))
    data = {
        "mu": rng.choice([0.0, 0.3, 0.8], nc),
        "R_t": 10 ** rng.uniform(-4, -2, nc),
        "R_n": 10 ** rng.uniform(-4, -1, nc),
        "vn_hat": 0.3 * rng.normal(size=nc),
        "R": 10 ** rng.uniform(-4, -1, n),
        "v_hat": 0.3 * rng.normal(size=n),
        "lower": lower,
        "upper": lower + 10 ** rng.uniform(-2, 0, n),
        "length": rng.uniform(0, 0.3, nc),
        "twist": rng.uniform(0, 0.3, nc),
        "R_r": 10 ** rng.uniform(-4, -2, nc),
    }
    return Mixed(A, rng.normal(size=nv), J, data)


def clarabel_velocity(m: Mixed) -> tuple[Array, float]:
    """The minimiser and how well Clarabel knows it, in the norm of A.

    Clarabel gets the constrained form: min ½‖v − v*‖²_A + ½ σᵀRσ with J v − v̂ + R σ in the dual cone for contacts, ≥ 0
    for limits, = 0 for equalities, = p⁻ − p⁺ for bounded impulses, where p⁺ ≥ 0 costs upper each and p⁻ ≥ 0 −lower.
    """
    clarabel = pytest.importorskip("clarabel")
    d, J = m.data, m.J
    nv, nc, n = m.v_star.size, d["mu"].size, d["R"].size
    R = np.concatenate([np.stack([d["R_t"], d["R_t"], d["R_n"]], 1).ravel(), d["R"], d["R"], d["R"]])
    rows = np.vstack([J["contact"], J["limit"], J["equality"], J["bounded"]])
    v_hat = np.concatenate([np.stack([0 * d["mu"], 0 * d["mu"], d["vn_hat"]], 1).ravel(), *[d["v_hat"]] * 3])
    m_rows = R.size
    # x = (v, R^½ σ, p⁺, p⁻)
    P = sparse.block_diag([m.A, sparse.identity(m_rows), sparse.csc_matrix((2 * n, 2 * n))], format="csc")
    q = np.concatenate([-m.A @ m.v_star, np.zeros(m_rows), d["upper"], -d["lower"]])
    G = np.hstack([rows, np.diag(np.sqrt(R)), np.zeros((m_rows, 2 * n))])
    bounded = slice(m_rows - n, m_rows)
    G[bounded, nv + m_rows : nv + m_rows + n] = np.eye(n)
    G[bounded, nv + m_rows + n :] = -np.eye(n)
    contact = np.arange(3 * nc).reshape(-1, 3)[:, [2, 0, 1]].ravel()
    weight = np.stack([np.ones(nc), d["mu"], d["mu"]], 1).ravel()
    order = np.concatenate([np.arange(3 * nc + n, m_rows), np.arange(3 * nc, 3 * nc + n), contact])
    scale = np.concatenate([np.ones(3 * n), weight])
    G, h = scale[:, None] * G[order], (scale * v_hat[order])
    positive = np.hstack([np.zeros((2 * n, nv + m_rows)), np.eye(2 * n)])
    G, h = np.vstack([G[: 2 * n], positive, G[2 * n :]]), np.concatenate([h[: 2 * n], np.zeros(2 * n), h[2 * n :]])
    cones = [clarabel.ZeroConeT(2 * n), clarabel.NonnegativeConeT(3 * n), *[clarabel.SecondOrderConeT(3)] * nc]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = 1e-11
    found = clarabel.DefaultSolver(sparse.triu(P, format="csc"), q, sparse.csc_matrix(-G), -h, cones, settings).solve()
    assert str(found.status) in ("Solved", "AlmostSolved")
    x, s, z = (np.array(a) for a in (found.x, found.s, found.z))
    # Strong convexity: ½‖v − v_opt‖²_A ≤ duality gap + what infeasibility is worth.
    primal = float(np.linalg.norm(-G @ x + s + h) * np.linalg.norm(z))
    dual = float(np.linalg.norm(P @ x + q - G.T @ z) * np.linalg.norm(x))
    return x[:nv], float(np.sqrt(2 * (abs(found.obj_val - found.obj_val_dual) + primal + dual)))


def imbalance(m: Mixed, added: dict[str, Constraints], s: ProblemSolution) -> float:
    """‖A (v − v*) − Jᵀγ‖ relative to the impulse."""
    push = sum(m.J[name].T @ s.impulses[handle].ravel() for name, handle in added.items())
    return float(np.linalg.norm(m.A @ (s.v - m.v_star) - push) / np.linalg.norm(push))


def test_every_convex_law_against_clarabel(record: Recorder) -> None:
    distance = []
    for seed in range(30):
        m = mixed(seed)
        p, added = m.problem(rolling=False)
        ours = p.solve(**TIGHT)
        theirs, accuracy = clarabel_velocity(m)
        difference = ours.v - theirs
        distance.append(float(np.sqrt(difference @ m.A @ difference)))
        assert distance[-1] <= accuracy, f"problem {seed}"
        assert accuracy < 1e-3
        assert imbalance(m, added, ours) < 1e-9
        assert np.all(ours.impulses[added["limit"]] >= 0)
    record("clarabel", "30 random problems of mixed constraints", f"v within {max(distance):.0e} in the norm of A")


def residual_of_coulomb(m: Mixed, added: dict[str, Constraints], s: ProblemSolution) -> float:
    """How far impulses are from the laws at the velocities, by their definitions, relative to the impulses."""
    d = m.data

    def cut(y: Array, bound: Array) -> Array:
        size = np.linalg.norm(y, axis=1)
        factor: Array = np.minimum(1, np.divide(bound, size, out=np.ones_like(size), where=size > 0))
        return y * factor[:, None]

    contact, v = s.impulses[added["contact"]], s.velocities[added["contact"]]
    normal = np.maximum(0, (d["vn_hat"] - v[:, 2]) / d["R_n"])
    expected = [np.column_stack([cut(-v[:, :2] / d["R_t"][:, None], d["mu"] * contact[:, 2]), normal]).ravel()]
    free = {name: (d["v_hat"] - s.velocities[added[name]]) / d["R"] for name in ("limit", "equality", "bounded")}
    expected += [np.maximum(0, free["limit"]), free["equality"], np.clip(free["bounded"], d["lower"], d["upper"])]
    w = s.velocities[added["rolling"]]
    roll = cut(-w[:, :2] / d["R_r"][:, None], d["length"] * contact[:, 2])
    bound = d["twist"] * contact[:, 2]
    expected.append(np.column_stack([roll, np.clip(-w[:, 2] / d["R_r"], -bound, bound)]).ravel())
    found = np.concatenate([s.impulses[added[name]].ravel() for name in m.J])
    for name, rows in m.J.items():
        np.testing.assert_allclose(rows @ s.v, s.velocities[added[name]].ravel(), rtol=0, atol=1e-12)
    return float(np.linalg.norm(found - np.concatenate(expected)) / np.linalg.norm(found))


@pytest.mark.parametrize("factorization", ["auto", "sparse", "contact-space"])
def test_coulombs_law_by_its_definition(factorization: str) -> None:
    strategies, skipped = set(), 0
    for seed in range(25):
        m = mixed(seed)
        p, added = m.problem()
        try:
            s = p.solve(law="coulomb", factorization=factorization, **TIGHT)  # type: ignore[arg-type]
        except (sw.SimulationError, ValueError) as error:
            # No line search, no guarantee.
            skipped += "contact space" in str(error) and factorization == "contact-space"
            continue
        strategies.add(s.strategy)
        assert s.converged, seed
        assert imbalance(m, added, s) < 1e-9, seed
        assert residual_of_coulomb(m, added, s) < 1e-8, seed
    assert skipped <= 5
    assert ("contact-space" in strategies) == (factorization in ("auto", "contact-space"))


def test_given_bounds_are_those_of_lagged_friction() -> None:
    """With the normal impulses of Coulomb's law for bounds its solution is that of the convex problem."""
    m = mixed(3)
    p, _ = m.problem()
    coulomb = p.solve(law="coulomb", **TIGHT)
    lagged = p.solve(law="lagged", initial=coulomb, **TIGHT)
    np.testing.assert_allclose(lagged.v, coulomb.v, rtol=0, atol=1e-9)
    assert lagged.friction_residual < 1e-8
    again = p.solve(law="coulomb", factorization="sparse", initial=coulomb)
    assert again.iterations <= 1
    with pytest.raises(ValueError, match="normal_impulse: contact 0 has none"):
        p.solve(law="lagged")
    with pytest.raises(ValueError, match="rolling and torsional friction by a given"):
        p.solve(law="sap")
    given = Problem(m.A, m.v_star)
    feet = given.contact(m.J["contact"], 0.5, normal_impulse=1e-3)
    tangential = np.linalg.norm(given.solve(law="lagged").impulses[feet][:, :2], axis=1)
    np.testing.assert_allclose(tangential, 0.5e-3, rtol=1e-9)


@pytest.mark.parametrize("law", ["sap", "coulomb"])
def test_sparse_matrices_are_dense_ones(law: str) -> None:
    m = mixed(5, nv=90, density=0.05)
    expected = m.problem(rolling=law == "coulomb")[0].solve(law=law, factorization="sparse", **TIGHT)  # type: ignore[arg-type]
    duplicated = sparse.coo_matrix(m.J["contact"] / 2)
    for matrix in (sparse.csr_matrix, sparse.csc_array, sparse.coo_matrix, sparse.lil_matrix):
        p, added = m.problem(matrix, rolling=law == "coulomb")
        for factorization in ("auto", "sparse"):
            found = p.solve(law=law, factorization=factorization, **TIGHT)  # type: ignore[arg-type]
            np.testing.assert_allclose(found.v, expected.v, rtol=0, atol=1e-10)
            for name, handle in added.items():
                np.testing.assert_allclose(
                    found.impulses[handle], expected.impulses[handle], rtol=1e-6, atol=1e-8, err_msg=name
                )
    rows, columns, values = duplicated.row, duplicated.col, duplicated.data
    twice = sparse.coo_matrix((np.tile(values, 2), (np.tile(rows, 2), np.tile(columns, 2))), shape=duplicated.shape)
    d = m.data
    bits = [sw.sap.solve(m.A, m.v_star, J, d["mu"], d["R_t"], d["R_n"], d["vn_hat"]).v for J in (m.J["contact"], twice)]
    np.testing.assert_array_equal(bits[0], bits[1])


def test_blocks_on_the_diagonal() -> None:
    rng = np.random.default_rng(0)
    blocks = [np.diag(rng.uniform(1, 2, n)) + 0.1 for n in (3, 2, 3)]
    J, v_star = rng.normal(size=(3, 8)), rng.normal(size=8)
    J[2, 0] = 3 - np.sign(v_star @ J[2])
    whole = np.asarray(sparse.block_diag(blocks).todense())

    def velocity(A: Any, J: Array = J, v_star: Array = v_star) -> Array:
        p = Problem(A, v_star)
        p.contact(J, 0.5, vn_hat=1)
        return p.solve().v

    np.testing.assert_array_equal(velocity(blocks), velocity(whole))
    np.testing.assert_array_equal(
        velocity(np.stack(blocks[::2]), J[:, :6], v_star[:6]),
        velocity(sparse.block_diag(blocks[::2]), J[:, :6], v_star[:6]),
    )
    with pytest.raises(ValueError, match=r"A\[1\] has shape \(2, 3\): expected a square block"):
        velocity([blocks[0], np.ones((2, 3))])
    with pytest.raises(ValueError, match=r"A has shape \(6, 6\): expected \(8, 8\), as v_star has 8 entries"):
        velocity(blocks[::2])


def test_problems_are_kept_and_copied() -> None:
    m = mixed(11, nv=60, density=0.1)
    p, added = m.problem()
    first = p.solve(law="coulomb")
    p.v_star = -m.v_star
    assert not np.array_equal(p.solve(law="coulomb").v, first.v)
    p.v_star = m.v_star
    for twin in (p, copy.deepcopy(p), pickle.loads(pickle.dumps(p)), m.problem(sparse.csr_matrix)[0]):
        again = twin.solve(law="coulomb")
        np.testing.assert_array_equal(again.v, first.v)
        np.testing.assert_array_equal(again.impulses[added["rolling"]], first.impulses[added["rolling"]])
    assert repr(p) == f"<sapwood.sap.Problem, 60 velocities, {', '.join(f'{len(h)} {h.kind}' for h in added.values())}>"
    with pytest.raises(ValueError, match="read-only"):
        p.v_star[0] = 1


def test_a_wheel_that_rolls() -> None:
    """Closed form: m = 2 kg, I = ½ m r², slipping to rest against friction, rolling friction takes ρ N of its spin."""
    mass, r, inertia, weight, rho = 2.0, 0.5, 0.25, 0.2, 0.02
    p = Problem(np.diag([inertia, mass, mass]), [0.0, 3.0, -weight / mass])
    ground = p.contact([[r, 1.0, 0.0], [0.0, 0.0, 0.0], [0.0, 0.0, 1.0]], 0.4, R_t=1e-9, R_n=1e-9)
    p.rolling(ground, [[1, 0, 0], [0, 0, 0], [0, 0, 0]], rho, R=1e-9)
    s = p.solve(law="coulomb", tolerance=1e-12)
    np.testing.assert_allclose(s.impulses[ground], [[-0.4 * weight, 0, weight]], atol=1e-7)
    spin = (-0.4 * weight * r + rho * weight) / inertia
    np.testing.assert_allclose(s.v[:2], [spin, 3 - 0.4 * weight / mass], atol=1e-6)


I3 = np.eye(3)


def filled() -> tuple[Problem, Constraints, Constraints]:
    p = Problem(2 * I3, [1.0, 0.0, -0.1])
    return p, p.contact(I3, 0.5), p.limit(I3[2])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p, c, k: Problem(I3, [1.0, np.nan, 0.0]), "v_star[1] is NaN: expected a finite number"),
        (lambda p, c, k: Problem(np.ones((2, 3)), [1.0] * 3), "A has shape (2, 3): expected (3, 3)"),
        (
            lambda p, c, k: Problem(np.diag([1, np.nan, 1]), [1.0] * 3),
            "A: entry [1, 1] is NaN, expected a finite value",
        ),
        (
            lambda p, c, k: Problem(np.diag([1, -1, 1]), [1.0] * 3),
            "A: expected a positive definite matrix, it is not at row 1",
        ),
        (lambda p, c, k: Problem(np.triu(I3 + 0.1), [1.0] * 3), "A[0, 1] = 0.1, A[1, 0] = 0"),
        (lambda p, c, k: Problem("matrix", [1.0] * 3), "A has dtype <U6: expected an array of real numbers"),
        (lambda p, c, k: Problem(sparse.identity(4), [1.0] * 3), "A has shape (4, 4): expected (any, 3)"),
        (lambda p, c, k: p.contact(np.ones((4, 3)), 0.5), "J has shape (4, 3): expected (3 n, 3), rows t1, t2, n"),
        (lambda p, c, k: p.contact(I3, -0.5), "mu is -0.5: expected a finite number, 0 or more"),
        (
            lambda p, c, k: p.contact(np.vstack([I3, I3]), [0.5, np.nan]),
            "mu[1] is NaN: expected a finite number, 0 or more",
        ),
        (lambda p, c, k: p.contact(I3, [0.5, 0.5]), "mu has shape (2,): expected (1,)"),
        (lambda p, c, k: p.contact(I3, 0.5, R_n=0), "R_n is 0: expected a finite number above 0"),
        (lambda p, c, k: p.contact(I3, 0.5, vt_hat=[1.0]), "vt_hat has shape (1,): expected (1, 2) or (2,)"),
        (lambda p, c, k: p.contact(I3, 0.5, normal_impulse=-1), "normal_impulse is -1: expected"),
        (lambda p, c, k: p.limit([[np.inf, 0, 0]]), "J: entry [0, 0] is inf, expected a finite value"),
        (lambda p, c, k: p.limit(I3, R=[1, -1, 1]), "R[1] is -1: expected a finite number above 0"),
        (lambda p, c, k: p.limit(np.ones((2, 2))), "J has shape (2, 2): expected (any, 3)"),
        (lambda p, c, k: p.equality(I3, v_hat=np.inf), "v_hat[0] is inf: expected a finite number"),
        (lambda p, c, k: p.bounded(I3[0], 1, -1), "lower is 1, upper -1: expected lower ≤ upper"),
        (lambda p, c, k: p.rolling(k, I3, 0.1), "contacts was added by limit(): expected what contact() returned"),
        (lambda p, c, k: p.rolling(7, I3, 0.1), "contacts has index 7 of 2 calls"),
        (lambda p, c, k: p.rolling(c, I3[:0], 0.1), "J has shape (0, 3): expected (3, 3), three rows for each contact"),
        (lambda p, c, k: p.rolling(c, I3, -0.1), "rolling is -0.1: expected a finite number, 0 or more"),
        (lambda p, c, k: [p.rolling(c, I3, 0.1) for _ in "12"], "contact 0 has rolling and torsional friction"),
        (lambda p, c, k: p.solve(law="coulombs"), 'law="coulombs" is not in this version; available: "sap", "lagged"'),
        (lambda p, c, k: p.solve(factorization="lu"), "factorization="),
        (lambda p, c, k: p.solve(tolerance=0), "tolerance is 0"),
        (lambda p, c, k: p.solve(factorization_budget=-1), "factorization_budget is -1"),
        (lambda p, c, k: p.solve(initial=[1.0]), "initial has shape (1,): expected (3,)"),
        (lambda p, c, k: p.solve(initial=Problem(I3, [0.0] * 3).solve()), "initial.impulses has 0 arrays: expected 2"),
        (lambda p, c, k: setattr(p, "v_star", [1.0]), "v_star has shape (1,): expected (3,)"),
    ],
)
def test_what_is_refused(call: Callable[[Problem, Constraints, Constraints], object], message: str) -> None:
    p, contact, limit = filled()
    before = p.solve().v
    with pytest.raises(ValueError, match=".") as refused:
        call(p, contact, limit)
    assert message in str(refused.value)
    if p.rows == 4:
        np.testing.assert_array_equal(p.solve().v, before)


def test_what_does_not_fit_a_type_or_converge() -> None:
    p, contact, _ = filled()
    with pytest.raises(TypeError, match="contacts is of type str"):
        p.rolling("feet", I3, 0.1)  # type: ignore[arg-type]
    with pytest.raises(sw.SimulationError, match="not converged after 1 Newton iterations"):
        mixed(5, nv=20).problem(rolling=False)[0].solve(max_iterations=1, **TIGHT)
    p.limit(np.tile(I3, (20, 1)))
    with pytest.raises(ValueError, match="J has 64 rows: contact space is for at most 48"):
        p.solve(factorization="contact-space")
    assert p.solve(law="coulomb").impulses[contact].shape == (1, 3)
