//! Newton's method on one convex problem. It knows nothing of Coulomb's law.
//!
//! ```text
//! up to 6 times, while the cost falls
//!     v ← minimiser if each constraint sticks, slides or parts as it would alone
//! repeat
//!     g = A(v − v*) − Jᵀγ                   end if ‖D g‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖)
//!     Δv = −(A + JᵀGJ)⁻¹ g
//!     α = argmin ℓ_p(v + α Δv), α ≤ 1
//!     v ← v + α Δv, or v + Δv on trial
//! ```
//!
//! Friction cones are curved: there a whole step is tried where the line search would cut it short, and undone if the cost is not below
//! the line search's within three steps.

mod iteration;
mod line_search;
mod rtsafe;
mod workspace;

pub(crate) use iteration::Iteration;
pub(crate) use workspace::{ConvexWorkspace, Evaluation, set_free_velocities};

use crate::parameters::{ConvexParameters, SolverParameters};
use crate::{Constraint, Error, LineSearch, Options, Structure};

const PARAMETERS: ConvexParameters = SolverParameters::STANDARD.convex;

/// Relative residual and cost at the iterate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optimality {
    pub residual: f64,
    pub cost: f64,
}

/// How far a problem is to be solved.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Goal {
    /// Relative residual that suffices; 0 asks for the tolerance of the options.
    pub residual: f64,
    /// Steps with the last factor that may refine a solution beyond the tolerance, towards that residual.
    pub refinements: usize,
    /// Factorisations of the whole solve at which the problem is left as it is.
    pub last_factorization: usize,
    pub line_search: LineSearch,
}

impl Goal {
    /// Whether it is reached where the residual meets the tolerance, `is_solved`, or not.
    pub fn is_reached(&self, is_solved: bool, residual: f64) -> bool {
        residual <= self.residual || is_solved && self.refinements == 0
    }
}

/// How a problem is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The goal is reached, the factorisations are spent, or the residual has ceased to fall.
    Goal,
    /// Solved to the tolerance; refinement would need another factor.
    Refined,
}

/// Where Newton's method stands, from problem to problem.
pub(crate) struct ConvexNewton {
    stall: Stall,
    /// How many predictions are left, and the cost that the last one reached.
    predictions: usize,
    predicted_cost: f64,
    max_predictions: usize,
    last_residual: f64,
}

impl ConvexNewton {
    /// `is_near` where it starts near the solution: steps lead there, and nothing else is known.
    pub fn new(constraints: &[Constraint], is_near: bool) -> Self {
        let max_predictions =
            if constraints.iter().any(Constraint::can_predict) { PARAMETERS.max_predictions } else { 0 };
        Self {
            stall: Stall::new(),
            predictions: if is_near { 0 } else { max_predictions },
            predicted_cost: f64::INFINITY,
            max_predictions,
            last_residual: 0.0,
        }
    }

    /// Forgets that the residual had ceased to fall.
    pub fn restart(&mut self) {
        self.stall = Stall::new();
    }

    /// Predicts no more.
    pub fn skip_predictions(&mut self) {
        self.predictions = 0;
    }

    /// Begins another problem at the iterate, where the residual is that of `here`: predictions where it is large.
    pub fn begin<S: Structure>(
        &mut self,
        iteration: &Iteration<'_, S>,
        constraints: &[Constraint],
        here: Optimality,
        ws: &mut ConvexWorkspace,
    ) {
        (self.stall, self.predictions) = (Stall::new(), 0);
        if here.residual > PARAMETERS.reuse_residual {
            (self.predictions, self.predicted_cost) = (self.max_predictions, f64::INFINITY);
            iteration.restart_predictions(constraints, ws);
        }
    }

    /// Iterates to the `goal` from where `here` was measured, if it was; with `has_new_bounds` a step is made at least.
    pub fn minimise<S: Structure>(
        &mut self,
        iteration: &mut Iteration<'_, S>,
        constraints: &[Constraint],
        (goal, has_new_bounds): (&mut Goal, bool),
        mut here: Option<Optimality>,
        options: &Options,
        ws: &mut ConvexWorkspace,
    ) -> Result<(Ending, Optimality), Error> {
        let mut is_first = has_new_bounds;
        loop {
            let optimality = match here.take() {
                Some(optimality) => optimality,
                None => iteration.residual(ws)?,
            };
            let Optimality { residual, cost } = optimality;
            if !is_first {
                let has_stalled = self.stall.is_over(residual);
                let is_late = iteration.iterations >= goal.last_factorization;
                if has_stalled || is_late || goal.is_reached(iteration.is_solved, residual) {
                    return Ok((Ending::Goal, optimality));
                }
            }
            if iteration.is_over() {
                return Err(Error::NotConverged { iterations: iteration.iterations, residual });
            }
            let refines = iteration.is_solved;
            if refines {
                goal.refinements = goal.refinements.saturating_sub(1);
                // No step of refinement is worth a factorisation.
                if !iteration.is_reusable || goal.refinements == 0 {
                    return Ok((Ending::Refined, optimality));
                }
            }
            if self.predictions > 0 && !refines {
                let reached = iteration.predict(constraints, cost, ws)?;
                self.predictions = if reached < self.predicted_cost { self.predictions - 1 } else { 0 };
                self.predicted_cost = reached;
            } else {
                // Newton's step left `residual` of `last`; one more with the same factor would leave about twice that share.
                let is_last = 2.0 * residual * residual <= options.tolerance * self.last_residual;
                let is_near_new_bounds = is_first && residual <= PARAMETERS.reuse_residual;
                let reuse = refines || is_last || is_near_new_bounds;
                self.last_residual = if is_last { 0.0 } else { residual };
                let decrease = iteration.newton_step(constraints, goal.line_search, reuse, ws)?;
                self.stall.cost_is_round_off =
                    decrease <= SolverParameters::STANDARD.line_search.cost_round_off * cost.abs();
            }
            is_first = false;
        }
    }
}

/// Whether the residual has ceased to fall while the cost is at its round-off.
struct Stall {
    least_residual: f64,
    cost_is_round_off: bool,
    count: usize,
}

impl Stall {
    fn new() -> Stall {
        Stall { least_residual: f64::INFINITY, cost_is_round_off: false, count: 0 }
    }

    fn is_over(&mut self, residual: f64) -> bool {
        self.count +=
            usize::from(self.cost_is_round_off && residual > PARAMETERS.stall_reduction * self.least_residual);
        self.least_residual = residual.min(self.least_residual);
        self.count == PARAMETERS.stall_limit
    }
}
