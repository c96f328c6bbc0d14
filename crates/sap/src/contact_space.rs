//! Problems of few rows, solved in contact space by the semismooth Newton method.
//!
//! Constraints move velocities by `v − v* = A⁻¹ Jᵀ λ` only, so that the problem depends on `A` and `J` through the Delassus operator
//! `W = J A⁻¹ Jᵀ` alone. What Newton's method ([`crate::semismooth`]) does not solve in a few steps is solved by the proximal point method,
//! and what that does not solve is left to [`solve`](crate::solve).

pub(crate) mod block_problem;
mod in_blocks;
mod modes;

use spatial::{F64x4, Real};

use crate::law::Bounds;
use crate::parameters::{ContactSpaceParameters, SolverParameters};
use crate::semismooth::BlockRows;
use crate::semismooth::dense_w::Block3;
use crate::{Constraint, FrictionLaw, Options, Report};
use block_problem::FirstMethod;
use in_blocks::InBlocks;

const PARAMETERS: ContactSpaceParameters = SolverParameters::STANDARD.contact_space;

/// Pairs of constraints of the largest problem that those of robots have: of 64 constraints.
const MAX_PAIRS: usize = 64 * 65 / 2;

/// A problem of few rows in contact space, and the scratch of its solution.
///
/// ```
/// use sapwood_sap::{Constraint, ContactSpace, FrictionLaw, Law, Options};
///
/// // 2 kg that come down at 1 m/s and slide at 3 m/s, μ = 0.5: friction takes half of what the ground gives.
/// let contact = Constraint::from(Law::bounded_friction(0.5, 1e-6, 1e-6, 0.0, 0.0)).with_delassus(0.5);
///
/// let mut space = ContactSpace::default();
/// space.start(&[contact], &[0.5, 0.0, 0.0, 0.0, 0.5, 0.0, 0.0, 0.0, 0.5]);
/// let options = Options { friction: FrictionLaw::Coulomb, ..Options::default() };
/// let report = space.solve(&[contact], &[3.0, 0.0, -1.0], 20.0, &options);
/// assert!(report.is_ok());
/// let impulses = space.impulses();
/// assert!((impulses[2] - 2.0).abs() < 1e-4 && (impulses[0] + 1.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, Default)]
pub struct ContactSpace {
    /// Rows of the problem.
    len: usize,
    /// `W` by pairs of constraints, the lower triangle: rows of the later one, columns of the earlier one.
    pairs: Vec<Block3<f64>>,
    in_blocks: InBlocks,
    /// `λ`, `v_c`, the impulses of the constraints at `v_c`.
    lambda: Vec<f64>,
    v_c: Vec<f64>,
    gamma: Vec<f64>,
}

/// Why a problem was not solved in contact space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotSolved {
    /// Factorisations that were spent on it.
    pub iterations: usize,
}

impl ContactSpace {
    /// The most rows of a problem.
    pub const MAX_ROWS: usize = PARAMETERS.max_rows;

    /// Starts a problem of `rows` rows that constraints share, and returns the blocks of `W`, zero: of each constraint with those up to
    /// itself, its rows by their columns. What a constraint of one row has no row or column for is not looked at.
    ///
    /// # Panics
    /// If `rows` is greater than [`MAX_ROWS`](Self::MAX_ROWS).
    pub fn start_pairs(&mut self, rows: usize, constraints: usize) -> &mut [Block3<f64>] {
        let most = Self::MAX_ROWS;
        assert!(rows <= most, "{rows} rows, expected at most {most}");
        self.len = rows;
        self.pairs.clear();
        // Room for the most that there may be.
        self.pairs.reserve(MAX_PAIRS);
        self.pairs.resize(constraints * (constraints + 1) / 2, [F64x4::ZERO; 3]);
        &mut self.pairs
    }

    /// Starts a problem of these constraints with `W` by rows.
    ///
    /// # Panics
    /// If `W` does not have their rows and columns, or more than [`MAX_ROWS`](Self::MAX_ROWS).
    pub fn start(&mut self, constraints: &[Constraint], w: &[f64]) {
        let rows = constraints.iter().map(Constraint::rows).sum();
        assert_eq!(w.len(), rows * rows, "entries of W");
        self.start_pairs(rows, constraints.len());
        let (mut row, mut pairs) = (0, self.pairs.iter_mut());
        for (k, constraint) in constraints.iter().enumerate() {
            let mut column = 0;
            for (other, pair) in constraints[..=k].iter().zip(&mut pairs) {
                for i in 0..constraint.rows() {
                    let entries = &w[(row + i) * rows + column..][..other.rows()];
                    F64x4::scalars_mut(&mut pair[i..=i])[..entries.len()].copy_from_slice(entries);
                }
                column += other.rows();
            }
            row += constraint.rows();
        }
    }

    /// The impulses of the constraints at the velocities of the last solution, one entry per row.
    pub fn impulses(&self) -> &[f64] {
        &self.gamma[..self.len]
    }

    /// The impulses `λ` that lead to these velocities, `v = v* + A⁻¹ Jᵀ λ`. They are those of the constraints up to the tolerance.
    pub fn balancing_impulses(&self) -> &[f64] {
        &self.lambda[..self.len]
    }

    /// The constraint velocities `J v* + W λ` of the last solution, one entry per row.
    pub fn velocities(&self) -> &[f64] {
        &self.v_c[..self.len]
    }

    /// Solves the problem, under Coulomb's law where [`Options::friction`] asks for it; `v_c_star` is `J v*`, `energy` is `v*ᵀ A v*`. The
    /// tolerance is that of [`solve`](crate::solve), with `‖γ(v_c) − λ‖_W` for the gradient.
    ///
    /// Where no constraint pushes at `v*`, that is the solution.
    ///
    /// # Errors
    /// Where the iteration does not converge; at once where a constraint does not know its share `w` of `W`.
    ///
    /// # Panics
    /// If there are not as many velocities as rows, or not those of the constraints.
    pub fn solve(
        &mut self,
        constraints: &[Constraint],
        v_c_star: &[f64],
        energy: f64,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        let n = self.len;
        assert!(v_c_star.len() == n, "velocities and rows");
        assert_eq!(constraints.iter().map(Constraint::rows).sum::<usize>(), n, "rows and those of constraints");
        let is_finite = energy.is_finite() && v_c_star.iter().all(|v| v.is_finite());
        if !is_finite || !constraints.iter().all(Constraint::can_predict) {
            return Err(NotSolved { iterations: 0 });
        }
        self.in_blocks.take(constraints, v_c_star);
        let pushes = |block: &BlockRows<f64>| block.respond_at(block.v_free, Bounds::Given, [0.0; 3]).impulse;
        if self.in_blocks.problem.blocks.iter().all(|block| pushes(block) == [0.0; 3]) {
            self.in_blocks.places.clear();
            self.write_solution(v_c_star);
            return Ok(Report::unconstrained());
        }
        self.in_blocks.take_pairs(&self.pairs);
        let is_coulomb = options.friction == FrictionLaw::Coulomb && constraints.iter().any(|c| c.law.has_bound());
        let bounds = if is_coulomb { Bounds::Own } else { Bounds::Given };
        let has_many = self.len > PARAMETERS.many_rows;
        let most = if has_many { PARAMETERS.max_steps_of_many_rows } else { PARAMETERS.max_steps };
        let energy = if energy <= 0.0 { 1.0 } else { energy };
        let report = self.in_blocks.problem.solve(energy, FirstMethod::Newton(most), bounds, options)?;
        self.write_solution(v_c_star);
        Ok(report)
    }
}

#[cfg(test)]
mod tests;
