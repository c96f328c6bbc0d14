//! Few constraints on many velocities: a problem in as many coordinates as the constraints can tell apart.

mod settle;

use crate::vector::{axpy, dot};
use crate::{Block, Constraint, FactorError, SmallCholesky, Structure};

/// The structure of few constraints, given by their Delassus operator `W = J A⁻¹ Jᵀ`.
///
/// Constraints move velocities by `v − v* = A⁻¹ Jᵀ λ` only. With `W = L Lᵀ`, `L` of as many columns as `W` has rank, and `z = Lᵀ λ`,
///
/// ```text
/// ½‖v − v*‖²_A = ½‖z‖²        J v = J v* + L z
/// ```
///
/// which is the same problem with 1 in place of `A` and `L` in place of `J`. An iteration costs nothing that grows with the number of
/// velocities. `v*` itself is one coordinate more that nothing changes: of square `v*ᵀ A v*`, so that residuals are relative to the whole
/// momentum at `v*`, and with `J v*` for a column of `J`.
///
/// ```
/// use sap::{Constraint, Delassus, Limit, Options, Workspace, solve};
///
/// // 3 kg falling at 2 m/s; a limit at v ≥ 0.
/// let mut delassus = Delassus::new();
/// delassus.start(1)[0] = 1.0 / 3.0;
/// let limit = Constraint::from(Limit::new(1e-6, 0.0));
/// delassus.factor(&[limit], &[-2.0], 3.0 * 4.0);
///
/// let z_star = delassus.free().to_vec();
/// let mut z = z_star.clone();
/// let mut ws = Workspace::new();
/// solve(&mut delassus, &[limit], &z_star, &mut z, &Options::default(), &mut ws)?;
/// assert!((ws.impulses()[0] - 6.0).abs() < 1e-4); // 3 kg × 2 m/s
/// # Ok::<(), sap::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Delassus {
    /// The lower triangle of `W`, then `L`: in the order of `pivots` it is lower triangular.
    rows: Vec<Row>,
    /// The row that each column of `L` was made from.
    pivots: Vec<usize>,
    /// Scratch: `W`, what is left of its diagonal, and the inverse of the greatest diagonal entry of each row's constraint.
    w: Vec<Row>,
    left: Vec<f64>,
    scales: Vec<f64>,
    /// `J v*` per unit of the last coordinate.
    free_rows: Vec<f64>,
    /// `v*`: zeros, then the last coordinate.
    free: Vec<f64>,
    h: SmallCholesky,
    settling: settle::Scratch,
}

type Row = [f64; Delassus::MOST];

const NO_ROW: Row = [0.0; Delassus::MOST];

/// What the rows before leave of a row's diagonal entry of `W`, relative to the greatest entry of its constraint: below this they tell
/// all of it. The row's velocity is then wrong by the root of this at most, of what constraints change.
const DEPENDENT: f64 = 1e-13;

impl Delassus {
    /// The most rows.
    pub const MOST: usize = SmallCholesky::MOST;

    /// A problem without rows.
    pub fn new() -> Delassus {
        Delassus::default()
    }

    /// Starts a problem of `rows` rows and returns `W` to be filled in, zeros: rows of [`MOST`](Self::MOST) numbers, to be set up to the
    /// diagonal.
    ///
    /// # Panics
    /// If `rows` is greater than [`MOST`](Self::MOST).
    pub fn start(&mut self, rows: usize) -> &mut [f64] {
        assert!(rows <= Self::MOST, "{rows} rows, expected at most {}", Self::MOST);
        self.pivots.clear();
        self.rows.clear();
        // Room for as many as there may ever be, at once.
        self.rows.reserve(Self::MOST);
        self.rows.resize(rows, NO_ROW);
        self.rows.as_flattened_mut()
    }

    /// Takes `W` apart, with the velocities `J v*` of the rows and the energy `v*ᵀ A v*`.
    ///
    /// A Cholesky factorisation that takes the row of which most is left, and ends where the rows that it took tell all others.
    ///
    /// # Panics
    /// If there are not as many velocities as rows, or not those of the constraints.
    pub fn factor(&mut self, constraints: &[Constraint], free_rows: &[f64], energy: f64) {
        let Self { rows, left, scales, pivots, w, .. } = self;
        assert_eq!(free_rows.len(), rows.len(), "velocities and rows");
        left.clear();
        left.extend(rows.iter().enumerate().map(|(k, row)| row[k]));
        scales.clear();
        for constraint in constraints {
            let diagonal = &left[scales.len()..scales.len() + constraint.rows()];
            let most = diagonal.iter().fold(0.0_f64, |most, x| most.max(*x));
            scales.resize(scales.len() + constraint.rows(), if most >= f64::MIN_POSITIVE { 1.0 / most } else { 0.0 });
        }
        assert_eq!(scales.len(), rows.len(), "rows and those of constraints");
        w.clone_from(rows);
        rows.fill(NO_ROW);
        pivots.clear();
        while let Some(pivot) = most_left(left, scales) {
            let c = pivots.len();
            let root = left[pivot].sqrt();
            let inverse = 1.0 / root;
            let known = rows[pivot];
            for (i, (row, left)) in rows.iter_mut().zip(left.iter_mut()).enumerate() {
                if *left > 0.0 {
                    let entry = if i > pivot { w[i][pivot] } else { w[pivot][i] };
                    row[c] = (entry - dot(&row[..c], &known[..c])) * inverse;
                    *left -= row[c] * row[c];
                }
            }
            rows[pivot][c] = root;
            left[pivot] = 0.0;
            pivots.push(pivot);
        }
        let norm = if energy > 0.0 { energy.sqrt() } else { 1.0 };
        self.free.clear();
        self.free.resize(self.pivots.len(), 0.0);
        self.free.push(norm);
        self.free_rows.clear();
        self.free_rows.extend(free_rows.iter().map(|v| v / norm));
    }

    /// `v*` in the coordinates of the problem.
    pub fn free(&self) -> &[f64] {
        &self.free
    }

    /// The `λ` of `z = Lᵀ λ`: impulses on the rows that columns of `L` were made from, and nothing on the others, which make the
    /// velocities of `z`. Where all rows are independent, and `z` is a solution, they are the constraints' own up to the tolerance.
    pub fn impulses(&self, z: &[f64], lambda: &mut [f64]) {
        lambda.fill(0.0);
        let mut left = [0.0; Self::MOST];
        let rank = self.rank();
        left[..rank].copy_from_slice(&z[..rank]);
        for (c, &pivot) in self.pivots.iter().enumerate().rev() {
            let row = &self.rows[pivot];
            lambda[pivot] = left[c] / row[c];
            axpy(-lambda[pivot], &row[..c], &mut left[..c]);
        }
    }

    /// Sets `z` to where the rows have the velocities `v_c`, as far as they can.
    pub fn place(&self, v_c: &[f64], z: &mut [f64]) {
        let rank = self.rank();
        z[rank] = self.free[rank];
        for (c, &pivot) in self.pivots.iter().enumerate() {
            let row = &self.rows[pivot];
            z[c] = (v_c[pivot] - self.free_rows[pivot] * z[rank] - dot(&row[..c], &z[..c])) / row[c];
        }
    }

    /// Columns of `L`.
    fn rank(&self) -> usize {
        self.pivots.len()
    }
}

/// The row of which most is left, relative to its constraint, if the others do not tell all of it. What is no number is never most.
fn most_left(left: &[f64], scales: &[f64]) -> Option<usize> {
    let shares = left.iter().zip(scales).map(|(left, scale)| left * scale).enumerate();
    let (row, most) = shares.fold((0, 0.0), |most, share| if share.1 > most.1 { share } else { most });
    (most > DEPENDENT).then_some(row)
}

impl Structure for Delassus {
    fn nv(&self) -> usize {
        self.free.len()
    }

    fn rows(&self) -> Option<usize> {
        Some(self.rows.len())
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        self.momentum(x, a_x);
        self.row_velocities(x, j_x);
    }

    fn momentum(&mut self, x: &[f64], a_x: &mut [f64]) {
        a_x.copy_from_slice(x);
    }

    fn row_velocities(&mut self, x: &[f64], j_x: &mut [f64]) {
        let rank = self.rank();
        for ((out, row), free) in j_x.iter_mut().zip(&self.rows).zip(&self.free_rows) {
            *out = free * x[rank] + dot(&row[..rank], &x[..rank]);
        }
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        let rank = self.rank();
        for (gamma, row) in gamma.iter().zip(&self.rows) {
            if *gamma != 0.0 {
                axpy(*gamma, &row[..rank], &mut out[..rank]);
            }
        }
    }

    fn factor(&mut self, constraints: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        let rank = self.rank();
        let h = self.h.start(rank);
        for (i, row) in h.chunks_exact_mut(SmallCholesky::MOST).enumerate().take(rank) {
            row.fill(0.0);
            row[i] = 1.0;
        }
        let mut left = &self.rows[..];
        for (constraint, block) in constraints.iter().zip(hessian) {
            let (rows, rest) = left.split_at(constraint.rows());
            left = rest;
            match rows {
                _ if !block.is_active() => {}
                [row] => self.h.add(&[*row, NO_ROW, NO_ROW], block),
                _ => rows.first_chunk().into_iter().for_each(|rows| self.h.add(rows, block)),
            }
        }
        self.h.factor()
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let rank = self.rank();
        self.h.solve(&b[..rank], &mut x[..rank]);
        x[rank] = 0.0;
    }

    fn scale(&mut self, d: &mut [f64]) {
        d.fill(1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dense, LaggedContact, Limit, Options, Workspace, solve};
    use random::SplitMix64;

    /// Contacts on a random body of 8 velocities, more rows than velocities: the impulses and velocities of rows are those of the
    /// problem in all velocities.
    #[test]
    fn solves_what_the_whole_problem_solves() {
        let mut random = SplitMix64(7);
        for _ in 0..50 {
            let (nv, contacts) = (8, 4);
            let mut number = || random.symmetric();
            let root: Vec<f64> = (0..nv * nv).map(|_| number()).collect();
            let j: Vec<f64> = (0..3 * contacts * nv).map(|_| number()).collect();
            let v_star: Vec<f64> = (0..nv).map(|_| number()).collect();
            let a = |i: usize, k: usize| {
                (0..nv).map(|l| root[i * nv + l] * root[k * nv + l]).sum::<f64>() + if i == k { 1.0 } else { 0.0 }
            };
            let mut dense = Dense::new();
            dense.reset(nv);
            let block = dense.a_block_mut(0);
            (0..nv * nv).for_each(|e| block[e] = a(e / nv, e % nv));
            let columns: Vec<u32> = (0..nv as u32).collect();
            j.chunks_exact(3 * nv).for_each(|rows| dense.push_jacobian(&columns, rows).unwrap());
            let laws: Vec<Constraint> =
                (0..contacts).map(|_| LaggedContact::new(0.7, 1e-3, 1e-4, 0.1, 0.5).into()).collect();
            let options = Options { passes: 1, tolerance: 1e-12, ..Options::default() };
            let (mut v, mut expected) = (v_star.clone(), Workspace::new());
            solve(&mut dense, &laws, &v_star, &mut v, &options, &mut expected).unwrap();

            let rows = 3 * contacts;
            let mut free_rows = vec![0.0; rows];
            dense.row_velocities(&v_star, &mut free_rows);
            let mut delassus = Delassus::new();
            let w = delassus.start(rows);
            let cholesky = inverse_products(&a, &j, nv);
            for i in 0..rows {
                for k in 0..=i {
                    w[i * Delassus::MOST + k] = cholesky(i, k);
                }
            }
            delassus.factor(&laws, &free_rows, 1.0);
            assert_eq!(delassus.rank(), nv);
            let z_star = delassus.free().to_vec();
            let (mut z, mut ws) = (z_star.clone(), Workspace::new());
            solve(&mut delassus, &laws, &z_star, &mut z, &options, &mut ws).unwrap();
            for (found, expected) in [(ws.velocities(), expected.velocities()), (ws.impulses(), expected.impulses())] {
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-7, "{found} {expected}");
                }
            }
        }
    }

    #[test]
    fn rows_that_cannot_move_or_are_no_numbers_have_no_share() {
        for diagonal in [0.0, 1e-320, -1.0, f64::NAN, f64::INFINITY] {
            let mut delassus = Delassus::new();
            let w = delassus.start(2);
            w[0] = diagonal;
            w[Delassus::MOST + 1] = 2.0;
            delassus.factor(&[Limit::new(1e-3, 0.0).into(), Limit::new(1e-3, 0.0).into()], &[-1.0, -1.0], 1.0);
            assert!(delassus.rank() <= 2, "{diagonal}");
        }
    }

    /// `J A⁻¹ Jᵀ`
    fn inverse_products(a: &impl Fn(usize, usize) -> f64, j: &[f64], nv: usize) -> impl Fn(usize, usize) -> f64 {
        let mut h = SmallCholesky::new();
        let rows = h.start(nv);
        for i in 0..nv {
            (0..=i).for_each(|k| rows[i * SmallCholesky::MOST + k] = a(i, k));
        }
        h.factor().unwrap();
        let solved: Vec<Vec<f64>> = j
            .chunks_exact(nv)
            .map(|row| {
                let mut x = vec![0.0; nv];
                h.solve(row, &mut x);
                x
            })
            .collect();
        let j = j.to_vec();
        move |i, k| dot(&j[i * nv..(i + 1) * nv], &solved[k])
    }
}
