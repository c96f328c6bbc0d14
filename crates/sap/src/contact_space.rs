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
//! method ([`proximal_point`]), and what that does not solve is left to [`solve`](crate::solve). Friction cones, which have no place in blocks
//! of three rows, have an iteration of their own ([`ContactSpace::iterate`]).
//!
//! Source: Alart, Curnier, *A Mixed Formulation for Frictional Contact Problems Prone to Newton Like Solution Methods*, Computer
//! Methods in Applied Mechanics and Engineering 92, 1991.

mod blocks;
mod elimination;
mod in_blocks;
mod newton;
mod proximal_point;
mod softened;

pub use blocks::{BlockRows, Spin};
pub use newton::{Block3, Limits, Outcome, SemismoothNewton};

use spatial::{F64x4, Real};

use crate::parameters::{ContactSpaceParameters, SolverParameters};
use crate::{Block, Constraint, Criterion, FrictionLaw, Law, Options, Report, Strategy, friction_residual};
use elimination::{AugmentedMatrix, add_scaled, dot};
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
    /// `W`, both triangles; of a problem that was given by pairs of constraints not before blocks have failed.
    w: AugmentedMatrix,
    /// `W` by pairs of constraints, the lower triangle: rows of the later one, columns of the earlier one.
    pairs: Vec<Block3<f64>>,
    is_in_pairs: bool,
    in_blocks: InBlocks,
    /// `1 + T (W − w)`, and `−T F` on the right.
    system: AugmentedMatrix,
    locals: Vec<Local>,
    /// The constraints with the bounds of friction that the last evaluation moved.
    constraints: Vec<Constraint>,
    /// The rows of the active constraints.
    active: Vec<usize>,
    /// `J v*`, `z`, `λ`, `v_c`, the impulses of the constraints at `v_c`; each filled up with zeros to whole registers.
    v_star: Vec<f64>,
    z: Vec<f64>,
    lambda: Vec<f64>,
    v_c: Vec<f64>,
    gamma: Vec<f64>,
    /// `F`, then `dλ`; scratch of sums.
    excess: Vec<f64>,
    step: Vec<f64>,
    sum: Vec<f64>,
    /// `|F|²` of the iterates with the present `w`.
    seen: Vec<f64>,
}

/// A constraint alone: how its impulses follow `z`, `dγ̄ = −(block + slope eᵀ) dz`.
#[derive(Clone, Copy, Debug)]
struct Local {
    /// The law with `R + w` in place of `R`.
    law: Law,
    row: usize,
    rows: usize,
    w: f64,
    block: Block,
    slope: [f64; 3],
    /// The row that `e` picks, of the normal impulse that bounds friction, and `w` there.
    normal: usize,
    w_of_normal: f64,
    /// Whether the impulses follow `z`.
    is_active: bool,
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
    /// The most rows of a problem with friction cones: those of 16 contacts. With more, a factor of all velocities costs less.
    pub const MAX_ROWS: usize = PARAMETERS.max_rows;

    /// The most rows of problems of all laws but cones.
    pub const MAX_ROWS_IN_BLOCKS: usize = PARAMETERS.max_rows_in_blocks;

    /// Starts a problem of `rows` rows; `W` is zero.
    ///
    /// # Panics
    /// If `rows` is greater than [`MAX_ROWS_IN_BLOCKS`](Self::MAX_ROWS_IN_BLOCKS).
    pub fn start(&mut self, rows: usize) {
        let most = Self::MAX_ROWS_IN_BLOCKS;
        assert!(rows <= most, "{rows} rows, expected at most {most}");
        self.len = rows;
        self.is_in_pairs = false;
        self.w.start(rows);
    }

    /// Starts a problem of `rows` rows that constraints share, and returns the blocks of `W`, zero: of each constraint with those up to
    /// itself, its rows by their columns. What a constraint of one row has no row or column for is not looked at.
    ///
    /// # Panics
    /// If `rows` is greater than [`MAX_ROWS_IN_BLOCKS`](Self::MAX_ROWS_IN_BLOCKS).
    pub fn start_pairs(&mut self, rows: usize, constraints: usize) -> &mut [Block3<f64>] {
        let most = Self::MAX_ROWS_IN_BLOCKS;
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
        self.w.row_mut(column)[row] = value;
        self.w.row_mut(row)[column] = value;
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
    /// Where the iteration does not converge; at once where a constraint does not know its share `w` of `W`, or where torsional friction
    /// belongs to friction cones under Coulomb's law.
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
        let is_coulomb = self.take_problem(constraints, v_c_star, options)?;
        if self.is_unconstrained() {
            return Ok(Report::unconstrained());
        }
        let energy = if energy <= 0.0 { 1.0 } else { energy };
        match self.solve_in_blocks(constraints, energy, (is_coulomb, is_hard), options) {
            // A law has no place in a block.
            Err(NotSolved { iterations: 0 }) if self.len <= Self::MAX_ROWS => {}
            result => return result,
        }
        if self.is_in_pairs {
            self.write_rows(constraints);
        }
        self.begin(constraints, is_coulomb);
        self.iterate(constraints, energy, is_coulomb, options)
    }

    /// Takes the problem at v*, and whether Coulomb's law is asked for.
    fn take_problem(
        &mut self,
        constraints: &[Constraint],
        v_c_star: &[f64],
        options: &Options,
    ) -> Result<bool, NotSolved> {
        let n = self.len;
        assert!(v_c_star.len() == n, "velocities and rows");
        assert_eq!(constraints.iter().map(Constraint::rows).sum::<usize>(), n, "rows and those of constraints");
        let has = |which: fn(&Law) -> bool| constraints.iter().any(|c| which(&c.law));
        let is_coulomb = options.friction == FrictionLaw::Coulomb
            && has(|law| matches!(law, Law::BoundedFriction(_) | Law::SpinFriction(_)));
        let is_left_out =
            is_coulomb && has(|law| matches!(law, Law::Cone(_))) && has(|law| matches!(law, Law::SpinFriction(_)));
        if is_left_out || !constraints.iter().all(Constraint::can_predict) {
            return Err(NotSolved { iterations: 0 });
        }
        self.take(constraints, v_c_star);
        Ok(is_coulomb)
    }

    /// Takes the problem, at v*.
    fn take(&mut self, constraints: &[Constraint], v_c_star: &[f64]) {
        let width = elimination::width(self.len);
        for vector in [&mut self.v_star, &mut self.lambda, &mut self.v_c, &mut self.gamma] {
            vector.clear();
            vector.reserve(elimination::MAX_WIDTH_IN_BLOCKS);
        }
        self.v_star.extend_from_slice(v_c_star);
        for vector in [&mut self.v_star, &mut self.lambda, &mut self.gamma] {
            vector.resize(width, 0.0);
        }
        self.v_c.extend_from_slice(&self.v_star);
        self.constraints.clear();
        self.constraints.reserve(Self::MAX_ROWS_IN_BLOCKS);
        self.constraints.extend_from_slice(constraints);
    }

    /// Writes `W` by rows from pairs of constraints.
    fn write_rows(&mut self, constraints: &[Constraint]) {
        self.w.start(self.len);
        let (mut row, mut next) = (0, 0);
        for (k, constraint) in constraints.iter().enumerate() {
            let mut column = 0;
            for other in &constraints[..=k] {
                for (i, entries) in self.pairs[next].iter().enumerate().take(constraint.rows()) {
                    for (j, entry) in entries.to_array().into_iter().enumerate().take(other.rows()) {
                        self.w.row_mut(row + i)[column + j] = entry;
                        self.w.row_mut(column + j)[row + i] = entry;
                    }
                }
                column += other.rows();
                next += 1;
            }
            row += constraint.rows();
        }
    }

    /// Whether nothing pushes at `v_c`.
    fn is_unconstrained(&mut self) -> bool {
        self.evaluate_constraints(false);
        self.gamma.iter().all(|gamma| *gamma == 0.0)
    }

    /// Starts the iteration of all constraints, `z` from what the constraints met in the step before.
    fn begin(&mut self, constraints: &[Constraint], is_coulomb: bool) {
        self.z.clear();
        self.z.reserve(elimination::MAX_WIDTH);
        let (mut row, mut normal_impulse) = (0, 0.0);
        for constraint in constraints {
            let (rows, guess) = (row..row + constraint.rows(), constraint.free());
            row = rows.end;
            if !guess.iter().all(|x| x.is_finite()) {
                self.z.extend_from_slice(&self.v_star[rows]);
                continue;
            }
            // The guess is v_c − w λ with the constraint's own share of W for w; here w is greater.
            let w = constraint.delassus();
            let mut law = constraint.law.softened(w);
            if let Law::BoundedFriction(contact) = &law {
                normal_impulse = contact.own_normal_impulse(guess[2]);
            }
            if is_coulomb {
                law.set_bound(normal_impulse);
            }
            let mut impulse = [0.0; 3];
            law.evaluate(guess, &mut impulse[..guess.len()], &mut Block::default());
            self.z.extend(guess.iter().zip(impulse).map(|(z, impulse)| z - (PARAMETERS.scaling - 1.0) * w * impulse));
        }
        self.z.resize(self.w.width(), 0.0);
        self.constraints.clear();
        self.constraints.extend_from_slice(constraints);
        self.set_scaling(PARAMETERS.scaling);
    }

    fn iterate(
        &mut self,
        constraints: &[Constraint],
        energy: f64,
        is_coulomb: bool,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        let max_steps = allowed_steps(PARAMETERS.max_steps, is_coulomb, options);
        let (mut scaling, mut was_solved) = (PARAMETERS.scaling, false);
        for iterations in 0..=max_steps {
            self.localise(is_coulomb);
            self.set_velocities();
            let (excess, excess_of_all) = self.set_excess();
            if energy.is_finite() && excess <= PARAMETERS.evaluation_excess * PARAMETERS.evaluation_excess * energy {
                let cost = self.evaluate_constraints(is_coulomb);
                let (gradient, momentum, kinetic) = self.gradient(energy);
                let is_solved = gradient <= options.absolute_tolerance + options.tolerance * momentum;
                let is_exact =
                    gradient <= options.absolute_tolerance + PARAMETERS.exact_fraction * options.tolerance * momentum;
                let is_round_off = excess_of_all <= PARAMETERS.round_off * PARAMETERS.round_off * energy;
                let is_final = momentum.is_finite() && (is_exact || is_round_off || is_solved && was_solved);
                was_solved = is_solved;
                if is_final {
                    let criterion = if is_solved { Criterion::Gradient } else { Criterion::RoundOff };
                    return Ok(Report {
                        cost: kinetic + cost,
                        // Where nothing acts both are round-off, and their ratio says nothing.
                        residual: gradient / (momentum + options.absolute_tolerance / options.tolerance),
                        ..self.report(iterations, is_coulomb, criterion)
                    });
                }
            }
            if iterations == max_steps || !(excess.is_finite() && energy.is_finite()) {
                return Err(NotSolved { iterations });
            }
            let cycles = self.has_seen(excess);
            self.step().ok_or(NotSolved { iterations: iterations + 1 })?;
            if cycles {
                scaling *= PARAMETERS.scaling_growth;
                self.constraints.clear();
                self.constraints.extend_from_slice(constraints);
                self.set_scaling(scaling);
            }
            self.set_free_velocities();
        }
        Err(NotSolved { iterations: max_steps })
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

    /// Whether this `|F|²` was there before: the iteration cycles.
    fn has_seen(&mut self, excess: f64) -> bool {
        let has_seen = self.seen.iter().any(|e| (e - excess).abs() < 2.0 * PARAMETERS.cycle_tolerance * excess);
        self.seen.push(excess);
        has_seen
    }

    /// Takes `scaling` times the constraints' own shares of `W` for `w`.
    fn set_scaling(&mut self, scaling: f64) {
        let Self { constraints, locals, seen, .. } = self;
        seen.clear();
        seen.reserve(PARAMETERS.max_steps + 1);
        locals.clear();
        locals.reserve(Self::MAX_ROWS);
        let (mut row, mut normal, mut w_of_normal) = (0, 0, 0.0);
        for constraint in constraints {
            let (rows, w) = (constraint.rows(), scaling * constraint.delassus());
            if matches!(constraint.law, Law::BoundedFriction(_) | Law::Cone(_)) {
                (normal, w_of_normal) = (row + 2, w);
            }
            let law = constraint.law.softened(w);
            let (block, slope) = (Block::ZERO, [0.0; 3]);
            locals.push(Local { law, row, rows, w, block, slope, normal, w_of_normal, is_active: false });
            row += rows;
        }
    }

    /// Sets `λ = γ̄(z)` and how it follows `z`.
    fn localise(&mut self, is_coulomb: bool) {
        let Self { locals, active, z, lambda, .. } = self;
        active.clear();
        active.reserve(Self::MAX_ROWS);
        let mut stiffness = 0.0;
        let mut normal_impulse = 0.0;
        for local in locals {
            let rows = local.row..local.row + local.rows;
            let z = &z[rows.clone()];
            if is_coulomb {
                if let Law::BoundedFriction(contact) = &local.law {
                    normal_impulse = contact.own_normal_impulse(z[2]);
                }
                local.law.set_bound(normal_impulse);
            }
            local.law.evaluate(z, &mut lambda[rows.clone()], &mut local.block);
            local.slope = [0.0; 3];
            if matches!(local.law, Law::BoundedFriction(_)) {
                stiffness = local.block.0[5];
            }
            local.is_active = local.block.is_active();
            if is_coulomb && stiffness > 0.0 && matches!(local.law, Law::BoundedFriction(_) | Law::SpinFriction(_)) {
                local.slope = local.law.bound_slope(z).map(|b| b * stiffness);
                local.is_active |= local.slope != [0.0; 3];
            }
            if local.is_active {
                active.extend(rows);
            }
        }
    }

    /// `v_c = J v* + W λ`
    fn set_velocities(&mut self) {
        let Self { w, v_star, lambda, v_c, .. } = self;
        v_c.copy_from_slice(v_star);
        for (k, lambda) in lambda[..w.len()].iter().enumerate() {
            if *lambda != 0.0 {
                add_scaled(*lambda, w.row(k), v_c);
            }
        }
    }

    /// Sets `F` of the active rows; returns `Σ F² / w` over these and over all rows.
    fn set_excess(&mut self) -> (f64, f64) {
        let Self { locals, z, lambda, v_c, excess, .. } = self;
        excess.clear();
        excess.reserve(elimination::MAX_WIDTH);
        excess.resize(z.len(), 0.0);
        let (mut of_active, mut of_all) = (0.0, 0.0);
        for local in locals {
            let mut own = 0.0;
            for row in local.row..local.row + local.rows {
                let of_row = v_c[row] - local.w * lambda[row] - z[row];
                own += of_row * of_row;
                excess[row] = if local.is_active { of_row } else { 0.0 };
            }
            of_all += own / local.w;
            of_active += if local.is_active { own / local.w } else { 0.0 };
        }
        (of_active, of_all)
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
            cost += constraint.law.evaluate(v_c, &mut gamma[rows], &mut Block::default());
        }
        cost
    }

    /// `‖λ − γ‖_W`, the norm of momentum, and `½ ‖v − v*‖²_A`.
    fn gradient(&mut self, energy: f64) -> (f64, f64, f64) {
        let Self { w, lambda, gamma, v_c, v_star, sum, step: difference, .. } = self;
        for scratch in [&mut *sum, &mut *difference] {
            scratch.clear();
            scratch.reserve(elimination::MAX_WIDTH_IN_BLOCKS);
            scratch.resize(w.width(), 0.0);
        }
        let mut change = 0.0;
        for k in 0..w.len() {
            change += lambda[k] * (v_c[k] - v_star[k]);
            difference[k] = lambda[k] - gamma[k];
            if difference[k] != 0.0 {
                add_scaled(difference[k], w.row(k), sum);
            }
        }
        let error = dot(sum, difference);
        // Round-off may leave less than nothing of a square; what is no number stays so.
        let positive = |x: f64| if x < 0.0 { 0.0 } else { x };
        (positive(error).sqrt(), (positive(change) + energy).sqrt(), 0.5 * change)
    }

    /// Goes from impulses at `z` to those at the balance of the linear model; none if that has none.
    fn step(&mut self) -> Option<()> {
        self.assemble();
        let Self { system, lambda, active, step, .. } = self;
        step.clear();
        step.reserve(elimination::MAX_WIDTH);
        step.resize(system.width(), 0.0);
        system.eliminate(active, step)?;
        for (lambda, step) in lambda.iter_mut().zip(&*step) {
            *lambda += step;
        }
        self.set_velocities();
        Some(())
    }

    /// `z = v_c − w λ`
    fn set_free_velocities(&mut self) {
        let Self { locals, z, lambda, v_c, .. } = self;
        for local in locals {
            for row in local.row..local.row + local.rows {
                z[row] = v_c[row] - local.w * lambda[row];
            }
        }
    }

    /// Sets the active rows of `1 + T (W − w)`, and `−T F` on the right.
    fn assemble(&mut self) {
        let Self { w, system, locals, excess, .. } = self;
        system.start(w.len());
        let right = w.len();
        for local in locals.iter().filter(|local| local.is_active) {
            let Local { row: first, rows, block, slope, normal, .. } = *local;
            for k in 0..rows {
                let row = system.row_mut(first + k);
                for (l, t) in block.row(k)[..rows].iter().enumerate() {
                    if *t != 0.0 {
                        add_scaled(*t, w.row(first + l), row);
                        row[first + l] -= t * local.w;
                        row[right] -= t * excess[first + l];
                    }
                }
                if slope[k] != 0.0 {
                    add_scaled(slope[k], w.row(normal), row);
                    row[normal] -= slope[k] * local.w_of_normal;
                    row[right] -= slope[k] * excess[normal];
                }
                row[first + k] += 1.0;
            }
        }
    }
}

#[cfg(test)]
mod tests;
