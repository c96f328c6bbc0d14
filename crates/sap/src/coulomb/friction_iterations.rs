//! Coulomb's law by friction iterations: convex problems in which friction is bounded by given normal impulses, until those are the
//! problem's own.

use crate::convex::Ending;
use crate::parameters::{FrictionIterationParameters, SolverParameters};
use crate::{Constraint, Law, LineSearch, Options, Structure};

use super::anderson::Anderson;
use super::friction_residual::meets_coulomb;
use super::proximal_point::passes_before_proximal_point;
use super::semismooth::{are_many, can_solve_semismooth};

const PARAMETERS: FrictionIterationParameters = SolverParameters::STANDARD.friction_iterations;

/// What follows a convex problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The solution is looked at: nothing more is known to be done.
    Check,
    /// Its bounds of friction move.
    MoveBounds,
    /// They go back to the best that were seen, and the search ends.
    TakeBestBounds,
}

/// Where the fixed-point iteration on the normal impulses `n₀` stands.
#[derive(Debug)]
pub(super) struct FrictionIterations {
    /// Whether a fixed point is looked for.
    is_searching: bool,
    /// Whether the acceleration knows the bounds.
    is_started: bool,
    remaining: usize,
    /// Changes of the bounds so far.
    pub done: usize,
    /// Relative residual at which the present pass ends.
    pub tolerance: f64,
    /// Relative residual just after the last change of bounds, had they moved all the way: how far the iterate is from Coulomb's law.
    pub residual: f64,
    least_residual: f64,
    /// The share of what was asked by which the bounds moved last.
    mixing: f64,
    /// Iterations after which it is given up, those of one pass, and passes.
    late: usize,
    late_in_pass: usize,
    most: usize,
    /// Whether Newton's method may look for a fixed point.
    pub may_solve_semismooth: bool,
    has_tried_proximal_point: bool,
    passes_before_proximal_point: usize,
    /// Whether a path may be followed to one.
    can_follow: bool,
    /// How many more passes may refine a solution that meets Coulomb's law; none but where bodies rest.
    refinements: usize,
    /// How often a search that has ended may begin again: not at all where there are no bounds to move, or after it was given up.
    reopenings: usize,
}

impl FrictionIterations {
    /// One problem alone if no constraint has a bound to move.
    pub fn new(structure: &impl Structure, constraints: &[Constraint], options: &Options) -> Self {
        // A pass may do with the last factor, so that factorisations alone do not bound their number.
        let budget = options.factorization_budget.unwrap_or(usize::MAX);
        let remaining = options.max_friction_iterations.saturating_sub(1).min(budget);
        let is_searching = remaining > 0
            && constraints.iter().any(|c| matches!(c.law, Law::BoundedFriction(_) | Law::SpinFriction(_)));
        let tolerance =
            if is_searching { options.tolerance.max(PARAMETERS.first_tolerance) } else { options.tolerance };
        let can_follow = is_searching && can_solve_semismooth(constraints);
        let is_large = are_many(constraints);
        let may_solve_semismooth = can_follow && structure.is_unsymmetric_cheap() && is_large;
        let (late, most) = match (can_follow, constraints.len() > PARAMETERS.crowd_size) {
            (_, true) => (PARAMETERS.max_iterations_of_crowd, usize::MAX),
            (true, false) => (
                if is_large { PARAMETERS.max_iterations } else { PARAMETERS.max_iterations_of_few },
                PARAMETERS.max_passes,
            ),
            (false, false) => (PARAMETERS.max_iterations, PARAMETERS.max_iterations),
        };
        Self {
            is_searching,
            is_started: false,
            remaining,
            done: 0,
            tolerance,
            residual: 0.0,
            least_residual: f64::INFINITY,
            mixing: 1.0,
            late,
            late_in_pass: options.max_iterations / 2,
            most,
            may_solve_semismooth,
            has_tried_proximal_point: false,
            passes_before_proximal_point: passes_before_proximal_point(constraints, options),
            can_follow,
            refinements: if is_searching && options.refines { PARAMETERS.max_refinements } else { 0 },
            reopenings: if is_searching { PARAMETERS.max_reopenings } else { 0 },
        }
    }

    /// Searches again where the problem is solved, but its solution is as far from Coulomb's law as `violation`;
    /// returns whether it does.
    pub fn reopen(&mut self, violation: f64, options: &Options) -> bool {
        if !self.is_searching && self.reopenings > 0 && !meets_coulomb(violation, options) {
            self.reopenings -= 1;
            self.is_started = false;
            self.is_searching = self.remaining > 0;
        }
        self.is_searching
    }

    /// Whether a path is to be followed to a fixed point, once: the search has ended as far from Coulomb's law as `violation`.
    pub fn must_follow(&mut self, violation: f64, options: &Options) -> bool {
        let must = self.can_follow && !self.is_searching && !meets_coulomb(violation, options);
        self.can_follow &= !must;
        must
    }

    /// Goes on with the search from the bounds that were best, after so many iterations: no path has led further.
    pub fn resume(&mut self, iterations: usize, anderson: &mut Anderson) {
        if self.remaining > 0 && self.least_residual.is_finite() {
            self.is_searching = true;
            self.reopenings = PARAMETERS.max_reopenings;
            (self.late, self.most) = (iterations + PARAMETERS.max_iterations_after_continuation, usize::MAX);
            anderson.return_to_kept();
        }
    }

    /// The line search of a pass: once the bounds have moved, an exact one would be too exact, they move again.
    pub fn line_search(&self, options: &Options) -> LineSearch {
        match options.line_search {
            LineSearch::Exact if self.done > 0 => LineSearch::Wolfe,
            other => other,
        }
    }

    /// How far the present problem is to be solved: the residual, how often it may be refined, and the factorisations of the whole solve
    /// at which it is left, of which `searching` were no Newton steps and `in_others` are those of other problems.
    pub fn goal(&self, searching: usize, in_others: usize, budget: usize) -> (f64, usize, usize) {
        if !self.is_searching {
            return (0.0, 0, usize::MAX);
        }
        let late = self.late.min(in_others + self.late_in_pass).saturating_add(searching);
        (self.tolerance, self.refinements, late.min(budget))
    }

    /// What is to be done after a problem, after so many iterations of the search and of the problem, and where the budget of
    /// factorisations may be spent.
    pub fn next(&self, iterations: usize, in_problem: usize, is_budget_spent: bool) -> Next {
        if !self.is_searching {
            return Next::Check;
        }
        let late = iterations >= self.late || in_problem >= self.late_in_pass || is_budget_spent;
        // The bounds move once at least: before that nothing is known of how far they are from a fixed point.
        if self.done > 0 && (late || self.remaining == 0 || self.done >= self.most) {
            Next::TakeBestBounds
        } else {
            Next::MoveBounds
        }
    }

    /// Ends the search with the bounds that were nearest to a fixed point. One convex problem is left to solve.
    pub fn take_best_bounds(
        &mut self,
        constraints: &mut [Constraint],
        gamma: &[f64],
        anderson: &Anderson,
        options: &Options,
    ) {
        (self.is_searching, self.reopenings) = (false, 0);
        self.tolerance = options.tolerance;
        self.residual = self.least_residual;
        set_bounds(constraints, gamma, |k, _| anderson.kept()[k]);
    }

    /// Makes the bounds known to the fixed-point iteration, once.
    pub fn start(&mut self, constraints: &[Constraint], anderson: &mut Anderson) {
        if std::mem::replace(&mut self.is_started, true) {
            return;
        }
        let is_lagged = |c: &&Constraint| matches!(c.law, Law::BoundedFriction(_));
        anderson.reset(constraints.iter().filter(is_lagged).count());
        let bounds = constraints.iter().filter_map(|c| match &c.law {
            Law::BoundedFriction(contact) => Some(contact.normal_impulse()),
            _ => None,
        });
        anderson.x.iter_mut().zip(bounds).for_each(|(x, bound)| *x = bound);
    }

    /// Moves the bounds towards the normal impulses in `gamma`.
    pub fn move_bounds(&mut self, constraints: &mut [Constraint], gamma: &[f64], anderson: &mut Anderson) {
        self.remaining -= 1;
        self.done += 1;
        gather_normals(constraints, gamma, &mut anderson.g);
        self.mixing = if self.done > PARAMETERS.undamped_passes { PARAMETERS.damped_mixing } else { 1.0 };
        anderson.step(self.mixing);
        for (x, g) in anderson.x.iter_mut().zip(&anderson.g) {
            // What does not push has no friction, whatever the acceleration says.
            *x = if *g > 0.0 { x.max(0.0) } else { 0.0 };
        }
        set_bounds(constraints, gamma, |k, _| anderson.x[k]);
    }

    /// Ends the search: the bounds are a fixed point up to `residual`.
    pub fn end(&mut self, residual: f64, options: &Options) {
        self.done += 1;
        self.residual = residual;
        self.is_searching = false;
        self.tolerance = options.tolerance;
    }

    /// Whether the proximal point method is to be tried, once.
    pub fn may_try_proximal_point(&mut self) -> bool {
        let may = self.may_solve_semismooth && self.done >= self.passes_before_proximal_point;
        may && !std::mem::replace(&mut self.has_tried_proximal_point, true)
    }

    /// Ends the search with the bounds that are set; it is not reopened.
    pub fn give_up(&mut self, options: &Options) {
        self.end(f64::INFINITY, options);
        self.reopenings = 0;
    }

    /// Bounds friction by the normal impulses in `gamma`, known to be a fixed point up to `residual`, and ends the search unless it is
    /// to be refined.
    pub fn start_from_guess(
        &mut self,
        constraints: &mut [Constraint],
        gamma: &[f64],
        residual: f64,
        options: &Options,
    ) {
        set_bounds(constraints, gamma, |_, own| own);
        self.end(residual, options);
        if self.refinements > 0 && self.remaining > 0 {
            self.is_searching = true;
            self.tolerance =
                (PARAMETERS.inexact_reduction * residual).max(PARAMETERS.refinement_fraction * options.tolerance);
        }
    }

    /// Takes note of how many refinements a problem has left, and whether its solution cannot be refined further.
    pub fn note_refinements(&mut self, remaining: usize, ending: Ending, options: &Options) {
        if self.is_searching {
            self.refinements = remaining;
        }
        if ending == Ending::Refined {
            (self.is_searching, self.refinements, self.tolerance) = (false, 0, options.tolerance);
        }
    }

    /// Takes note of the residual with the new bounds, `change`, and of how far the solution with the old ones was from Coulomb's law.
    pub fn observe(&mut self, change: f64, violation: f64, options: &Options, anderson: &mut Anderson) {
        if !self.is_searching {
            return;
        }
        // Had they moved all the way, it would be about as much greater.
        let residual = (change / self.mixing).max(violation);
        if self.done > 1 && residual > PARAMETERS.restart_growth * self.residual {
            anderson.restart();
        }
        if residual < self.least_residual {
            self.least_residual = residual;
            anderson.keep();
        }
        self.residual = residual;
        let is_met = meets_coulomb(residual, options);
        let is_refined = is_met && self.refinements > 0;
        self.refinements -= usize::from(is_refined);
        self.is_searching = !is_met
            || is_refined && self.refinements > 0 && residual > PARAMETERS.refinement_fraction * options.tolerance;
        let reduction = if self.done > PARAMETERS.undamped_passes {
            PARAMETERS.late_inexact_reduction
        } else {
            PARAMETERS.inexact_reduction
        };
        let least = if is_refined { PARAMETERS.refinement_fraction * options.tolerance } else { options.tolerance };
        self.tolerance = least.max(if self.is_searching { reduction * change } else { 0.0 });
    }
}

/// The normal impulses of the lagged contacts.
fn gather_normals(constraints: &[Constraint], gamma: &[f64], out: &mut [f64]) {
    let (mut row, mut k) = (0, 0);
    for constraint in constraints {
        if matches!(constraint.law, Law::BoundedFriction(_)) {
            out[k] = gamma[row + 2];
            k += 1;
        }
        row += constraint.rows();
    }
}

/// Bounds friction of the lagged contacts, and of what spins with them, by what `bound` makes of a contact's number among them and of its
/// own normal impulse in `gamma`.
fn set_bounds(constraints: &mut [Constraint], gamma: &[f64], bound: impl Fn(usize, f64) -> f64) {
    let (mut row, mut k, mut normal) = (0, 0, 0.0);
    for constraint in constraints {
        match &constraint.law {
            Law::BoundedFriction(_) => {
                normal = bound(k, gamma[row + 2]);
                k += 1;
            }
            Law::Cone(_) => normal = gamma[row + 2],
            _ => {}
        }
        constraint.law.set_bound(normal);
        row += constraint.rows();
    }
}
