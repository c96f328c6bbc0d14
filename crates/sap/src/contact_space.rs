//! The fast path: problems of few rows, solved in contact space by the semismooth Newton method.
//!
//! Constraints move velocities by `v − v* = A⁻¹ Jᵀ λ` only, so that the problem depends on `A` and `J` through the Delassus operator
//! `W = J A⁻¹ Jᵀ` alone. A constraint of velocity `v_c` and impulse `λ` meets its law if `λ = γ̄(z)` at the free velocity
//! `z = v_c − w λ`, for any `w > 0`; `γ̄` is the law with `R + w` in place of `R`. So the solution is the root of
//!
//! ```text
//! F(z) = J v* + (W − w) γ̄(z) − z
//! ```
//!
//! which is Lipschitz continuous however stiff constraints are, and linear while every constraint sticks, slides along the same line, or
//! is open. With `T = −∂γ̄/∂z` a step solves `(1 + T (W − w)) dλ = −T F`: the semismooth Newton method of Alart and
//! Curnier. Under Coulomb's law friction is bounded by the contact's own `γ̄_n(z)`, and `T` is not symmetric.
//!
//! There is no line search, and nothing guarantees convergence: what does not converge in a few steps is solved by the proximal point
//! method ([`proximal_point`]), and what that does not solve is left to [`solve`](crate::solve).
//!
//! Source: Alart, Curnier, *A Mixed Formulation for Frictional Contact Problems Prone to Newton Like Solution Methods*, Computer
//! Methods in Applied Mechanics and Engineering 92, 1991.

mod blocks;
mod in_blocks;
mod newton;
mod proximal_point;
mod softened;

pub use blocks::{BlockRows, FrictionBound, Spin};
pub use newton::{Block3, Limits, Outcome, SemismoothNewton};

use spatial::{F64x4, Real};

use crate::parameters::{ContactSpaceParameters, SolverParameters};
use crate::{Block, Constraint, Criterion, FrictionLaw, Law, Options, Report, Strategy, friction_residual};
use in_blocks::InBlocks;

const PARAMETERS: ContactSpaceParameters = SolverParameters::STANDARD.contact_space;

/// Pairs of constraints of the largest problem that those of robots have: of 64 constraints.
const MAX_PAIRS: usize = 64 * 65 / 2;

/// A problem of few rows in contact space, and the scratch of its solution.
///
/// ```
/// use sapwood_sap::{BoundedFrictionContact, Constraint, ContactSpace, FrictionLaw, Options};
///
/// // 2 kg that come down at 1 m/s and slide at 3 m/s, μ = 0.5: friction takes half of what the ground gives.
/// let mut space = ContactSpace::default();
/// space.start(3);
/// (0..3).for_each(|k| space.set(k, k, 0.5));
/// let contact = Constraint::from(BoundedFrictionContact::new(0.5, 1e-6, 1e-6, 0.0, 0.0)).with_delassus(0.5);
///
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
    /// `W` by rows, where it was not given by pairs of constraints.
    w: Vec<f64>,
    /// `W` by pairs of constraints, the lower triangle: rows of the later one, columns of the earlier one.
    pairs: Vec<Block3<f64>>,
    is_in_pairs: bool,
    in_blocks: InBlocks,
    /// The constraints with the bounds of friction that the last evaluation moved.
    constraints: Vec<Constraint>,
    /// `J v*`, `λ`, `v_c`, the impulses of the constraints at `v_c`.
    v_star: Vec<f64>,
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

/// Steps of at most `most` that the options allow.
fn allowed_steps(most: usize, is_coulomb: bool, options: &Options) -> usize {
    let budget = if is_coulomb { options.factorization_budget.unwrap_or(usize::MAX) } else { usize::MAX };
    most.min(options.max_iterations).min(budget)
}

impl ContactSpace {
    /// The most rows of a problem.
    pub const MAX_ROWS: usize = PARAMETERS.max_rows;

    /// Starts a problem of `rows` rows; `W` is zero.
    ///
    /// # Panics
    /// If `rows` is greater than [`MAX_ROWS`](Self::MAX_ROWS).
    pub fn start(&mut self, rows: usize) {
        let most = Self::MAX_ROWS;
        assert!(rows <= most, "{rows} rows, expected at most {most}");
        self.len = rows;
        self.is_in_pairs = false;
        self.w.clear();
        // Room for the most that there may be.
        self.w.reserve(most * most);
        self.w.resize(rows * rows, 0.0);
    }

    /// Starts a problem of `rows` rows that constraints share, and returns the blocks of `W`, zero: of each constraint with those up to
    /// itself, its rows by their columns. What a constraint of one row has no row or column for is not looked at.
    ///
    /// # Panics
    /// If `rows` is greater than [`MAX_ROWS`](Self::MAX_ROWS).
    pub fn start_pairs(&mut self, rows: usize, constraints: usize) -> &mut [Block3<f64>] {
        let most = Self::MAX_ROWS;
        assert!(rows <= most, "{rows} rows, expected at most {most}");
        self.len = rows;
        self.is_in_pairs = true;
        self.pairs.clear();
        // Room for the most that there may be.
        self.pairs.reserve(MAX_PAIRS);
        self.pairs.resize(constraints * (constraints + 1) / 2, [F64x4::ZERO; 3]);
        &mut self.pairs
    }

    /// Sets an entry of `W`, and its mirror image.
    ///
    /// # Panics
    /// If a row or a column is not among those of [`start`](Self::start).
    #[inline(always)]
    pub fn set(&mut self, row: usize, column: usize, value: f64) {
        self.w[column * self.len + row] = value;
        self.w[row * self.len + column] = value;
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
        self.solve_problem(constraints, v_c_star, energy, (options, false))
    }

    /// Solves a problem that Newton's method in blocks is known not to solve, as [`solve`](Self::solve) goes on then.
    ///
    /// # Errors
    /// As [`solve`](Self::solve).
    ///
    /// # Panics
    /// As [`solve`](Self::solve).
    pub fn solve_hard(
        &mut self,
        constraints: &[Constraint],
        v_c_star: &[f64],
        energy: f64,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        self.solve_problem(constraints, v_c_star, energy, (options, true))
    }

    fn solve_problem(
        &mut self,
        constraints: &[Constraint],
        v_c_star: &[f64],
        energy: f64,
        (options, is_hard): (&Options, bool),
    ) -> Result<Report, NotSolved> {
        let n = self.len;
        assert!(v_c_star.len() == n, "velocities and rows");
        assert_eq!(constraints.iter().map(Constraint::rows).sum::<usize>(), n, "rows and those of constraints");
        let is_bounded = |c: &Constraint| matches!(c.law, Law::BoundedFriction(_) | Law::SpinFriction(_));
        let is_coulomb = options.friction == FrictionLaw::Coulomb && constraints.iter().any(is_bounded);
        if !constraints.iter().all(Constraint::can_predict) {
            return Err(NotSolved { iterations: 0 });
        }
        self.take(constraints, v_c_star);
        if self.is_unconstrained() {
            return Ok(Report::unconstrained());
        }
        let energy = if energy <= 0.0 { 1.0 } else { energy };
        self.solve_in_blocks(constraints, energy, (is_coulomb, is_hard), options)
    }

    /// Takes the problem, at v*.
    fn take(&mut self, constraints: &[Constraint], v_c_star: &[f64]) {
        for vector in [&mut self.v_star, &mut self.lambda, &mut self.v_c, &mut self.gamma] {
            vector.clear();
            vector.reserve(Self::MAX_ROWS);
        }
        self.v_star.extend_from_slice(v_c_star);
        self.v_c.extend_from_slice(v_c_star);
        for vector in [&mut self.lambda, &mut self.gamma] {
            vector.resize(v_c_star.len(), 0.0);
        }
        self.constraints.clear();
        self.constraints.reserve(Self::MAX_ROWS);
        self.constraints.extend_from_slice(constraints);
    }

    /// Whether nothing pushes at `v_c`.
    fn is_unconstrained(&mut self) -> bool {
        self.evaluate_constraints(false);
        self.gamma.iter().all(|gamma| *gamma == 0.0)
    }

    /// What was done, but for the residual and the cost.
    fn report(&self, iterations: usize, is_coulomb: bool, criterion: Criterion) -> Report {
        Report {
            iterations,
            line_search_evaluations: iterations,
            residual: 0.0,
            friction_residual: if is_coulomb {
                friction_residual(&self.constraints, self.velocities(), self.impulses())
            } else {
                0.0
            },
            cost: 0.0,
            criterion,
            strategy: Strategy::ContactSpace,
        }
    }

    /// Sets the impulses of the constraints at `v_c`, friction bounded by the contacts' own normal impulses there under Coulomb's law; returns
    /// their cost.
    fn evaluate_constraints(&mut self, is_coulomb: bool) -> f64 {
        let Self { constraints, gamma, v_c, .. } = self;
        let (mut cost, mut row, mut normal_impulse) = (0.0, 0, 0.0);
        for constraint in constraints {
            let rows = row..row + constraint.rows();
            let v_c = &v_c[rows.clone()];
            row = rows.end;
            if is_coulomb {
                if let Law::BoundedFriction(contact) = &constraint.law {
                    normal_impulse = contact.own_normal_impulse(v_c[2]);
                }
                constraint.law.set_bound(normal_impulse);
            }
            let gamma = &mut gamma[rows];
            cost += constraint.law.evaluate(v_c, gamma, &mut Block::default());
            if matches!(constraint.law, Law::Cone(_)) {
                normal_impulse = gamma[2];
            }
        }
        cost
    }
}

#[cfg(test)]
mod tests;
