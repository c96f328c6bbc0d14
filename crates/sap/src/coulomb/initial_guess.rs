//! The check of the initial guess, before anything else is computed: where bodies rest, the solution is there.

use crate::block::{narrow, widened};
use crate::constraint::rows_of;
use crate::convex::{ConvexWorkspace, Evaluation};
use crate::law::{Bounds, OwnBounds};
use crate::parameters::SolverParameters;
use crate::vector::{dot, scaled_norm};
use crate::{Constraint, Criterion, FrictionLaw, Options, Report, Strategy, Structure};

/// What the guess is.
pub(crate) enum Guess {
    /// The solution: the workspace is there. The residual of friction is not in the report.
    Solution(Report),
    /// So near that semismooth Newton starts from there: the workspace has its free velocities.
    Near,
    Far,
}

/// Looks at the guess in `v`, under Coulomb's law with each bound of friction the normal impulse there: far unless some constraint pushes.
/// Where it is no solution `A (v − v*)` and `J v` are left in the workspace's step and its trial.
pub(crate) fn check<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &[f64],
    options: &Options,
    ws: &mut ConvexWorkspace,
) -> Guess {
    ws.set_difference(v, v_star);
    structure.products_at(v, &ws.difference, &mut ws.dp, &mut ws.trial.v_c);
    ws.trial.update_bounded(constraints, options.friction == FrictionLaw::Coulomb);
    if ws.trial.is_unconstrained() {
        return Guess::Far;
    }
    structure.scale(&mut ws.scale);
    ws.impulse.fill(0.0);
    structure.add_transpose(&ws.trial.gamma, &mut ws.impulse);
    for ((descent, impulse), momentum) in ws.descent.iter_mut().zip(&ws.impulse).zip(&ws.dp) {
        *descent = impulse - momentum;
    }
    let (gradient, momentum) = (scaled_norm(&ws.scale, &ws.descent), scaled_norm(&ws.scale, &ws.impulse));
    if momentum <= 0.0 {
        return Guess::Far;
    }
    let residual = gradient / momentum;
    let cost = 0.5 * dot(&ws.difference, &ws.dp) + ws.trial.cost;
    if gradient <= options.absolute_tolerance + options.tolerance * momentum && cost.is_finite() {
        std::mem::swap(&mut ws.momentum, &mut ws.dp);
        std::mem::swap(&mut ws.current, &mut ws.trial);
        let (criterion, strategy) = (Criterion::Gradient, Strategy::InitialGuess);
        return Guess::Solution(Report { residual, cost, criterion, strategy, ..Report::unconstrained() });
    }
    let is_near = residual <= SolverParameters::STANDARD.semismooth.near_residual;
    if !is_near {
        return Guess::Far;
    }
    for (constraint, rows) in constraints.iter().zip(rows_of(constraints)) {
        constraint.free_velocity(&ws.trial.v_c[rows.clone()], &ws.trial.gamma[rows.clone()], &mut ws.free[rows]);
    }
    Guess::Near
}

impl Evaluation {
    /// Sets `γ`, `G` and the cost from `v_c`, with `moves_bounds` each bound of friction being the normal impulse there.
    fn update_bounded(&mut self, constraints: &[Constraint], moves_bounds: bool) {
        let (mut cost, mut own) = (0.0, OwnBounds::default());
        for ((constraint, hessian), rows) in constraints.iter().zip(&mut self.hessian).zip(rows_of(constraints)) {
            let v_c = widened(&self.v_c[rows.clone()]);
            let response = if moves_bounds {
                own.respond(&constraint.law, v_c, 0.0)
            } else {
                constraint.law.respond(v_c, constraint.law.stiffness(0.0), Bounds::Given, [0.0; 3])
            };
            *hessian = response.hessian();
            cost += constraint.law.cost(v_c, response.impulse);
            narrow(response.impulse, &mut self.gamma[rows]);
        }
        self.cost = cost;
    }
}
