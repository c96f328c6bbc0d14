//! Newton's method on one convex problem. It knows nothing of Coulomb's law.
//!
//! ```text
//! repeat
//!     g = A(v − v*) − Jᵀγ                   end if ‖D g‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖)
//!     Δv = −(A + JᵀGJ)⁻¹ g
//!     α = argmin ℓ_p(v + α Δv), α ≤ 1
//!     v ← v + α Δv, or v + Δv on trial
//! ```
//!
//! Friction cones are curved: there a whole step is tried where the line search would cut it short, and undone if the cost is not below
//! the line search's within three steps.

mod conjugate_gradients;
pub(crate) mod interior_point;
mod iteration;
mod line_search;
mod rtsafe;
mod workspace;

pub(crate) use iteration::Iteration;
pub(crate) use workspace::{ConvexWorkspace, Evaluation};

use crate::parameters::{ConvexParameters, SolverParameters, StallParameters};
use crate::{Constraint, Error, Options, Structure};

const PARAMETERS: ConvexParameters = SolverParameters::STANDARD.convex;
const STALL: StallParameters = SolverParameters::STANDARD.stall;

/// Relative residual and cost at the iterate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Optimality {
    pub residual: f64,
    pub cost: f64,
}

/// Solves the problem from the iterate.
pub(crate) fn minimise<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    constraints: &[Constraint],
    options: &Options,
    ws: &mut ConvexWorkspace,
) -> Result<Optimality, Error> {
    let last = iteration.iterations.saturating_add(options.max_iterations);
    let (mut stall, mut last_residual) = (Stall::new(), 0.0);
    loop {
        let Optimality { residual, cost } = iteration.residual(ws)?;
        if iteration.is_solved || stall.is_over(residual) {
            return Ok(Optimality { residual, cost });
        }
        if iteration.iterations >= last {
            return Err(Error::NotConverged { iterations: iteration.iterations, residual });
        }
        // Newton's step left `residual` of `last_residual`; one more with the same factor would leave about twice that share.
        let reuse = 2.0 * residual * residual <= options.tolerance * last_residual;
        last_residual = if reuse { 0.0 } else { residual };
        let decrease = iteration.newton_step(constraints, reuse, ws)?;
        stall.cost_is_round_off = decrease <= SolverParameters::STANDARD.line_search.cost_round_off * cost.abs();
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
        self.count += usize::from(self.cost_is_round_off && residual > STALL.reduction * self.least_residual);
        self.least_residual = residual.min(self.least_residual);
        self.count == STALL.limit
    }
}
