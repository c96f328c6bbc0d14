//! Coulomb's law: friction bounded by the contacts' own normal impulses.
//!
//! A convex problem bounds friction by given normal impulses. Its solution meets Coulomb's law where these are its own. [`solve`] looks for
//! them by strategies in turn, and solves the convex problem with the bounds that they find:
//!
//! | strategy | from | leads to |
//! | --- | --- | --- |
//! | the check of the guess ([`initial_guess`]) | the expected velocities | the end, where they are the solution |
//! | semismooth Newton for bounds and velocities at once ([`semismooth`]) | the step before | the convex problem, or the next strategy |
//! | the proximal point method ([`proximal_point`]) | the step before, then `v*`, then no impulses | the convex problem |
//! | Newton's method on the convex problem ([`crate::convex`]) | the iterate | the end: at once where a strategy has solved it to the tolerance; where none has, its bounds stand |

mod friction_residual;
pub(crate) mod initial_guess;
mod proximal_point;
mod proximal_workspace;
mod semismooth;
mod workspace;

pub use friction_residual::{friction_residual, meets_coulomb};
pub use workspace::Workspace;

use crate::convex::{ConvexWorkspace, Iteration, Optimality, minimise};
use crate::vector::scaled_norm;
use crate::{Constraint, Criterion, Error, FrictionLaw, Law, Options, Report, Strategy, Structure};
use proximal_point::Start;

/// How far the iterate is from Coulomb's law, where that is asked for.
pub(crate) fn violation(constraints: &[Constraint], options: &Options, ws: &Workspace) -> f64 {
    if options.friction == FrictionLaw::Coulomb {
        friction_residual(constraints, ws.velocities(), ws.impulses())
    } else {
        0.0
    }
}

/// Finds the solution from where the workspace is.
pub(crate) fn solve<S: Structure>(
    mut iteration: Iteration<'_, S>,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<Report, Error> {
    let has_bounds = constraints.iter().any(|c| matches!(c.law, Law::BoundedFriction(_) | Law::SpinFriction(_)));
    let strategy = if options.friction == FrictionLaw::Coulomb && has_bounds {
        estimate_shares(iteration.structure, constraints, ws);
        iteration.find_bounds(constraints, options, ws)?
    } else {
        Strategy::Newton
    };
    let Optimality { residual, cost } = minimise(&mut iteration, constraints, strategy, options, &mut ws.convex)?;
    let friction_residual = violation(constraints, options, ws);
    let criterion = if !meets_coulomb(friction_residual, options) {
        Criterion::FrictionBounds
    } else if iteration.is_solved {
        Criterion::Gradient
    } else {
        Criterion::RoundOff
    };
    let Iteration { iterations, line_search_evaluations, .. } = iteration;
    Ok(Report { iterations, line_search_evaluations, residual, friction_residual, cost, criterion, strategy })
}

impl<S: Structure> Iteration<'_, S> {
    /// Looks for bounds of friction that are the contacts' own normal impulses, and for the velocities with them; returns what found
    /// them. Where nothing does, that is [`Strategy::Newton`], velocities are as they were, and bounds those of the last strategy.
    fn find_bounds(
        &mut self,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<Strategy, Error> {
        self.keep(constraints, ws);
        if self.solve_semismooth(constraints, options, ws)? {
            return Ok(Strategy::SemismoothNewton);
        }
        for start in [Start::StepBefore, Start::FreeMotion, Start::NoImpulses] {
            if self.is_budget_spent() {
                break;
            }
            if self.solve_proximal_point(start, constraints, options, ws)? {
                return Ok(Strategy::ProximalPoint);
            }
        }
        Ok(Strategy::Newton)
    }
}

/// Gives constraints that do not know their share of the Delassus operator what it is with the diagonal of `A` alone.
fn estimate_shares(structure: &mut impl Structure, constraints: &mut [Constraint], ws: &mut Workspace) {
    let Workspace { convex: ConvexWorkspace { scale, dv_c: unit, impulse, .. }, .. } = ws;
    unit.fill(0.0);
    let mut row = 0;
    for constraint in constraints {
        let rows = row..row + constraint.rows();
        row = rows.end;
        if constraint.can_predict() {
            continue;
        }
        let share = rows.clone().map(|k| {
            unit[k] = 1.0;
            impulse.fill(0.0);
            structure.add_transpose(unit, impulse);
            unit[k] = 0.0;
            scaled_norm(scale, impulse).powi(2)
        });
        *constraint = constraint.with_delassus(share.sum::<f64>() / rows.len() as f64);
    }
}
