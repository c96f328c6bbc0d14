//! The check of the initial guess, before anything else is computed: where bodies rest, the solution is there or near.

use crate::convex::{ConvexWorkspace, Evaluation, Optimality};
use crate::vector::{dot, scaled_norm};
use crate::{Constraint, Criterion, Law, Options, Report, Strategy, Structure};

use super::friction_residual::meets_coulomb;
use super::semismooth::are_many;

/// A guess that is the solution or near it.
pub(crate) struct InitialGuess {
    pub is_solution: bool,
    /// Whether bounds of friction are the normal impulses there.
    pub moves_bounds: bool,
    pub optimality: Optimality,
}

impl InitialGuess {
    /// Of a guess that is the solution.
    pub fn report(&self, friction_residual: f64) -> Report {
        let InitialGuess { moves_bounds, optimality: Optimality { residual, cost }, .. } = *self;
        let (friction_iterations, criterion) = (usize::from(moves_bounds), Criterion::Gradient);
        let strategy = Strategy::InitialGuess;
        Report {
            iterations: 0,
            line_search_evaluations: 0,
            residual,
            friction_iterations,
            friction_residual,
            cost,
            criterion,
            strategy,
        }
    }
}

/// Looks at the guess in `v`: none unless some constraint pushes there and the gradient meets the tolerance, or with few contacts is so
/// small that Coulomb's law is as good as met; bounds of friction are the normal impulses there if there may be
/// [`max_friction_iterations`](Options::max_friction_iterations). The workspace is at the guess then. Otherwise `A (v − v*)` and `J v` are left in its step and its trial.
pub(crate) fn check<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    (v_star, v): (&[f64], &[f64]),
    options: &Options,
    ws: &mut ConvexWorkspace,
) -> Option<InitialGuess> {
    ws.set_difference(v, v_star);
    structure.products_at(v, &ws.difference, &mut ws.dp, &mut ws.trial.v_c);
    let may_move = options.max_friction_iterations > 1;
    let has_bounds = ws.trial.update_bounded(constraints, may_move);
    if ws.trial.is_unconstrained() {
        return None;
    }
    structure.scale(&mut ws.scale);
    ws.impulse.fill(0.0);
    structure.add_transpose(&ws.trial.gamma, &mut ws.impulse);
    for ((descent, impulse), momentum) in ws.descent.iter_mut().zip(&ws.impulse).zip(&ws.dp) {
        *descent = impulse - momentum;
    }
    let (gradient, momentum) = (scaled_norm(&ws.scale, &ws.descent), scaled_norm(&ws.scale, &ws.impulse));
    if momentum <= 0.0 {
        return None;
    }
    let residual = gradient / momentum;
    let cost = 0.5 * dot(&ws.difference, &ws.dp) + ws.trial.cost;
    let is_solution = gradient <= options.absolute_tolerance + options.tolerance * momentum;
    // Many contacts are solved together with their bounds of friction, which takes fewer steps.
    let is_near = meets_coulomb(residual, options) && !are_many(constraints);
    if !((is_solution || is_near) && cost.is_finite()) {
        return None;
    }
    std::mem::swap(&mut ws.momentum, &mut ws.dp);
    std::mem::swap(&mut ws.current, &mut ws.trial);
    Some(InitialGuess { is_solution, moves_bounds: may_move && has_bounds, optimality: Optimality { residual, cost } })
}

impl Evaluation {
    /// Sets `γ`, `G` and the cost from `v_c`, with `moves_bounds` each bound of friction being the normal impulse there; whether
    /// there are any.
    fn update_bounded(&mut self, constraints: &[Constraint], moves_bounds: bool) -> bool {
        let (mut cost, mut start, mut normal, mut has_bounds) = (0.0, 0, 0.0, false);
        for (constraint, hessian) in constraints.iter().zip(&mut self.hessian) {
            let end = start + constraint.rows();
            let (v_c, gamma) = (&self.v_c[start..end], &mut self.gamma[start..end]);
            start = end;
            let law = match constraint.law {
                Law::BoundedFriction(mut contact) if moves_bounds => {
                    normal = contact.own_normal_impulse(v_c[2]);
                    contact.set_normal_impulse(normal);
                    Law::BoundedFriction(contact)
                }
                Law::SpinFriction(mut spin) if moves_bounds => {
                    spin.set_normal_impulse(normal);
                    Law::SpinFriction(spin)
                }
                other => other,
            };
            has_bounds |= matches!(law, Law::BoundedFriction(_) | Law::SpinFriction(_));
            cost += law.evaluate(v_c, gamma, hessian);
            if matches!(law, Law::Cone(_)) {
                normal = gamma[2];
            }
        }
        self.cost = cost;
        has_bounds
    }
}
