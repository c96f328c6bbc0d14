//! Problems shared by the tests and the timing example, as plain matrices, and independent checks of a solution.
#![allow(dead_code)]

use std::f64::consts::PI;

use sapwood_sap::{Constraint, Law, LawKind, Sparse, SparseMatrix};
use support::SplitMix64;

/// Ten to a uniform power.
pub fn decades(rng: &mut SplitMix64, low: f64, high: f64) -> f64 {
    10f64.powf(rng.uniform(low, high))
}

/// A problem as full matrices.
#[derive(Clone, Debug)]
pub struct Problem {
    pub nv: usize,
    /// Sizes of the diagonal blocks of `A`.
    pub blocks: Vec<usize>,
    /// n_v × n_v
    pub a: Vec<f64>,
    pub v_star: Vec<f64>,
    /// Rows of `J`, full width.
    pub j: Vec<Vec<f64>>,
    pub constraints: Vec<Constraint>,
}

impl Problem {
    pub fn new(nv: usize, blocks: Vec<usize>) -> Problem {
        Problem { nv, blocks, a: vec![0.0; nv * nv], v_star: vec![0.0; nv], j: vec![], constraints: vec![] }
    }

    /// Tells every constraint its share of the Delassus operator: the mean of its block's diagonal.
    pub fn set_delassus(&mut self) {
        let l = self.cholesky();
        let mut row = 0;
        for k in 0..self.constraints.len() {
            let rows = self.constraints[k].rows();
            let diagonal = self.j[row..row + rows].iter().map(|j| dot(j, &self.cholesky_solve(&l, j)));
            let w = diagonal.sum::<f64>() / rows as f64;
            self.constraints[k] = self.constraints[k].with_delassus(w);
            row += rows;
        }
    }

    /// The same problem with friction bounded by the normal impulse `bound(k)` in place of the cone of constraint `k`.
    pub fn lagged(mut self, bound: impl Fn(usize) -> f64) -> Problem {
        for (k, constraint) in self.constraints.iter_mut().enumerate() {
            if constraint.law.kind == LawKind::Cone {
                constraint.law.kind = LawKind::BoundedFriction;
                constraint.law.set_normal_impulse(bound(k));
            }
        }
        self
    }

    pub fn sparse(&self) -> Sparse {
        let mut sparse = Sparse::new();
        self.fill(&mut sparse);
        sparse
    }

    pub fn fill(&self, sparse: &mut Sparse) {
        sparse.reset(&SparseMatrix::from_dense("A", self.nv, self.nv, &self.a).unwrap());
        let mut row = 0;
        for constraint in &self.constraints {
            let rows = &self.j[row..row + constraint.rows()];
            let columns: Vec<u32> =
                (0..self.nv).filter(|&i| rows.iter().any(|r| r[i] != 0.0)).map(|i| i as u32).collect();
            let values: Vec<f64> = rows.iter().flat_map(|r| columns.iter().map(|&i| r[i as usize])).collect();
            sparse.push_jacobian(&columns, &values).unwrap();
            row += constraint.rows();
        }
    }

    pub fn a_times(&self, x: &[f64]) -> Vec<f64> {
        (0..self.nv).map(|i| dot(&self.a[i * self.nv..(i + 1) * self.nv], x)).collect()
    }

    pub fn j_times(&self, x: &[f64]) -> Vec<f64> {
        self.j.iter().map(|row| dot(row, x)).collect()
    }

    pub fn jt_times(&self, gamma: &[f64]) -> Vec<f64> {
        (0..self.nv).map(|i| self.j.iter().zip(gamma).map(|(row, g)| row[i] * g).sum()).collect()
    }

    /// `γ` and `Σ ℓ_k` at `v_c`.
    pub fn impulses(&self, v_c: &[f64]) -> (Vec<f64>, f64) {
        let mut gamma = vec![0.0; v_c.len()];
        let mut hessian = sapwood_sap::Block::ZERO;
        let (mut cost, mut row) = (0.0, 0);
        for constraint in &self.constraints {
            let end = row + constraint.rows();
            cost += constraint.evaluate(&v_c[row..end], &mut gamma[row..end], &mut hessian);
            row = end;
        }
        (gamma, cost)
    }

    /// `ℓ_p(v)`.
    pub fn cost(&self, v: &[f64]) -> f64 {
        let dv = difference(v, &self.v_star);
        0.5 * dot(&dv, &self.a_times(&dv)) + self.impulses(&self.j_times(v)).1
    }

    /// `‖D (A (v − v*) − Jᵀγ)‖ / max(‖D A v‖, ‖D Jᵀγ‖)`.
    pub fn residual(&self, v: &[f64], gamma: &[f64]) -> f64 {
        let momentum = self.a_times(&difference(v, &self.v_star));
        let impulse = self.jt_times(gamma);
        self.scaled_norm(&difference(&momentum, &impulse)) / self.momentum_scale(v, &impulse)
    }

    /// What round-off of `v_c` alone leaves of the residual: `ε ‖D |J|ᵀ |G| |v_c|‖`, a few times.
    pub fn residual_round_off(&self, v: &[f64], ws: &sapwood_sap::Workspace) -> f64 {
        let mut noise = vec![0.0; self.nv];
        let mut row = 0;
        for (constraint, g) in self.constraints.iter().zip(ws.hessian()) {
            let v_hat = constraint.law.v_hat;
            let end = row + constraint.rows();
            let mut size = [0.0; 3];
            for (k, v_c) in ws.velocities()[row..end].iter().enumerate() {
                size[k] = v_c.abs() + v_hat[k].abs();
            }
            let gamma = sapwood_sap::Block(g.0.map(f64::abs)).apply(size);
            for (j, gamma) in self.j[row..end].iter().zip(gamma) {
                for i in 0..self.nv {
                    noise[i] += j[i].abs() * gamma;
                }
            }
            row = end;
        }
        let impulse = self.jt_times(ws.impulses());
        4.0 * f64::EPSILON * self.scaled_norm(&noise) / self.momentum_scale(v, &impulse)
    }

    fn scaled_norm(&self, x: &[f64]) -> f64 {
        (0..self.nv).map(|i| x[i] * x[i] / self.a[i * (self.nv + 1)]).sum::<f64>().sqrt()
    }

    fn momentum_scale(&self, v: &[f64], impulse: &[f64]) -> f64 {
        self.scaled_norm(&self.a_times(v)).max(self.scaled_norm(impulse))
    }

    /// The norm of `A`.
    pub fn a_norm(&self, x: &[f64]) -> f64 {
        dot(x, &self.a_times(x)).sqrt()
    }

    /// Appends a contact with rows `t1, t2, n`, its regularisation relative to `w = ‖W_kk‖_F / 3`.
    pub fn contact(&mut self, rows: [Vec<f64>; 3], mu: f64, r_t: f64, r_n: f64, vn_hat: f64) {
        let mut inverse_rows = vec![];
        let l = self.cholesky();
        for row in &rows {
            inverse_rows.push(self.cholesky_solve(&l, row));
        }
        let mut frobenius = 0.0;
        for row in &rows {
            for inverse in &inverse_rows {
                frobenius += dot(row, inverse).powi(2);
            }
        }
        let w = frobenius.sqrt() / 3.0;
        self.j.extend(rows);
        self.constraints.push(Law::cone(mu, r_t * w, r_n * w, vn_hat).into());
    }

    /// The lower factor of `A`, row-major, by the schoolbook.
    fn cholesky(&self) -> Vec<f64> {
        let n = self.nv;
        let mut l = self.a.clone();
        for i in 0..n {
            for j in 0..=i {
                let sum = self.a[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
                l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
            }
        }
        l
    }

    fn cholesky_solve(&self, l: &[f64], b: &[f64]) -> Vec<f64> {
        let n = self.nv;
        let mut x = b.to_vec();
        for i in 0..n {
            let sum: f64 = (0..i).map(|k| l[i * n + k] * x[k]).sum();
            x[i] = (x[i] - sum) / l[i * n + i];
        }
        for i in (0..n).rev() {
            let sum: f64 = (i + 1..n).map(|k| l[k * n + i] * x[k]).sum();
            x[i] = (x[i] - sum) / l[i * n + i];
        }
        x
    }

    /// `A⁻¹ b`.
    pub fn a_solve(&self, b: &[f64]) -> Vec<f64> {
        self.cholesky_solve(&self.cholesky(), b)
    }
}

pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    assert_eq!(x.len(), y.len());
    x.iter().zip(y).map(|(a, b)| a * b).sum()
}

pub fn difference(x: &[f64], y: &[f64]) -> Vec<f64> {
    x.iter().zip(y).map(|(a, b)| a - b).collect()
}

pub fn norm(x: &[f64]) -> f64 {
    dot(x, x).sqrt()
}

/// Random SPD `A`, full random `J`, `μ` in 0..1.5 (a tenth of them 0), `R` over five decades, some limits.
pub fn random(seed: u64, max_nv: usize, max_contacts: usize, limits: bool) -> Problem {
    let ranges = Ranges { max_nv, max_contacts, limits, mass: (-1.0, 1.0), mu: 1.5, r: (-6.0, -1.0) };
    random_within(seed, &ranges)
}

/// What random problems are drawn from; decades where they are powers of ten.
pub struct Ranges {
    pub max_nv: usize,
    pub max_contacts: usize,
    pub limits: bool,
    pub mass: (f64, f64),
    pub mu: f64,
    pub r: (f64, f64),
}

/// A random problem; a tenth of its contacts are without friction.
pub fn random_within(seed: u64, ranges: &Ranges) -> Problem {
    let Ranges { max_nv, max_contacts, limits, .. } = *ranges;
    let mut rng = SplitMix64(seed);
    let nv = 3 + rng.below(max_nv - 2);
    let mut problem = Problem::new(nv, vec![nv]);
    let bodies: Vec<Vec<f64>> = (0..nv + 5).map(|_| rng.vector(nv, 1.0)).collect();
    for body in &bodies {
        let mass = decades(&mut rng, ranges.mass.0, ranges.mass.1);
        for i in 0..nv {
            for j in 0..nv {
                problem.a[i * nv + j] += mass * body[i] * body[j];
            }
        }
    }
    problem.v_star = rng.vector(nv, 2.0);
    for _ in 0..1 + rng.below(max_contacts) {
        let mut rows: [Vec<f64>; 3] = std::array::from_fn(|_| rng.vector(nv, 1.0));
        for i in 0..nv {
            if rng.uniform(0.0, 1.0) < 0.3 {
                rows.iter_mut().for_each(|row| row[i] = 0.0);
            }
        }
        rows[2][rng.below(nv)] = 1.0;
        let mu = if rng.below(10) == 0 { 0.0 } else { rng.uniform(0.0, ranges.mu) };
        let (r_t, r_n) = (decades(&mut rng, ranges.r.0, ranges.r.1), decades(&mut rng, ranges.r.0, ranges.r.1));
        let vn_hat = rng.uniform(-0.5, 0.5);
        problem.contact(rows, mu, r_t, r_n, vn_hat);
    }
    if limits {
        for _ in 0..rng.below(5) {
            let mut row = vec![0.0; nv];
            row[rng.below(nv)] = if rng.below(2) == 0 { 1.0 } else { -1.0 };
            problem.j.push(row);
            problem.constraints.push(Law::limit(decades(&mut rng, -6.0, -1.0), rng.uniform(-0.5, 0.5)).into());
        }
    }
    problem
}

/// Near-rigid regularisation with β = 0.1, and σ = 1e-5, both relative to `w`.
pub const NEAR_RIGID: (f64, f64) = (1e-5, 0.1 * 0.1 / (4.0 * PI * PI));

/// A tower of unit cubes of 1 kg on the ground, four contacts at each interface, hit sideways at its top by `push` (m/s).
pub fn tower(boxes: usize, push: f64) -> Problem {
    let nv = 6 * boxes;
    let (dt, mu) = (0.005, 0.7);
    let mut problem = Problem::new(nv, vec![6; boxes]);
    for b in 0..boxes {
        for i in 0..3 {
            problem.a[(6 * b + i) * (nv + 1)] = 1.0 / 6.0; // rotation
            problem.a[(6 * b + 3 + i) * (nv + 1)] = 1.0;
        }
        problem.v_star[6 * b + 5] = -9.81 * dt;
    }
    problem.v_star[nv - 3] += push;
    problem.v_star[nv - 6] += 0.1 * push;
    for b in 0..boxes {
        for (x, y) in [(0.5, 0.5), (-0.5, 0.5), (-0.5, -0.5), (0.5, -0.5)] {
            let mut rows: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; nv]);
            add_point(&mut rows, 6 * b, 1.0, [x, y, -0.5]);
            if b > 0 {
                add_point(&mut rows, 6 * (b - 1), -1.0, [x, y, 0.5]);
            }
            problem.contact(rows, mu, NEAR_RIGID.0, NEAR_RIGID.1, 1e-3);
        }
    }
    problem
}

/// Adds ± the velocity of the point at `p` of a free body (ω, v) to the rows.
fn add_point(rows: &mut [Vec<f64>; 3], first: usize, sign: f64, p: [f64; 3]) {
    // v + ω × p
    let cross = [[0.0, p[2], -p[1]], [-p[2], 0.0, p[0]], [p[1], -p[0], 0.0]];
    for i in 0..3 {
        for k in 0..3 {
            rows[i][first + k] = sign * cross[i][k];
        }
        rows[i][first + 3 + i] = sign;
    }
}

/// A floating tree of four limbs (6 + 4·4 + 1 = 23 velocities), three contacts at the end of each limb, thrown at the ground.
pub fn tree(seed: u64) -> Problem {
    let mut rng = SplitMix64(seed);
    let nv = 23;
    let mut problem = Problem::new(nv, vec![nv]);
    let limb = |l: usize| (0..6).chain(6 + 4 * l..10 + 4 * l);
    // Every body adds m J_bᵀJ_b over the columns of its path; the root has a large inertia, joints a little armature.
    let add_body = |path: Vec<usize>, rng: &mut SplitMix64, problem: &mut Problem| {
        for _ in 0..6 {
            let row = rng.vector(nv, 1.0);
            let mass = decades(rng, -0.5, 0.5);
            for &i in &path {
                for &j in &path {
                    problem.a[i * nv + j] += mass * row[i] * row[j];
                }
            }
        }
    };
    for i in 0..nv {
        problem.a[i * (nv + 1)] = if i < 6 { 5.0 } else { 0.05 };
    }
    add_body((0..6).chain(22..23).collect(), &mut rng, &mut problem);
    for l in 0..4 {
        for k in 0..4 {
            add_body(limb(l).take(7 + k).collect(), &mut rng, &mut problem);
        }
    }
    problem.v_star = rng.vector(nv, 1.0);
    for l in 0..4 {
        for _ in 0..3 {
            let mut rows: [Vec<f64>; 3] = std::array::from_fn(|_| vec![0.0; nv]);
            for row in &mut rows {
                for i in limb(l) {
                    row[i] = rng.uniform(-1.0, 1.0);
                }
            }
            problem.contact(rows, 0.8, NEAR_RIGID.0, NEAR_RIGID.1, 1e-3);
        }
    }
    problem
}
