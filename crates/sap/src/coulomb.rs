//! Coulomb's law: friction bounded by the contacts' own normal impulses.
//!
//! A convex problem bounds friction by given normal impulses. Its solution meets Coulomb's law where these are its own. [`solve`] looks for
//! them by strategies in turn, and solves the convex problem with the bounds that they find:
//!
//! | strategy | from | leads to |
//! | --- | --- | --- |
//! | the check of the guess ([`initial_guess`]) | the expected velocities | the end, where they are the solution |
//! | semismooth Newton for bounds and velocities at once ([`semismooth`](crate::semismooth)) | the step before | the convex problem, or the next strategy |
//! | Newton's method on convex problems, with the bounds of the step before and then each with those of the last, where there are many rows for few velocities | the step before | the end, where they are its own |
//! | the proximal point method ([`crate::semismooth::proximal_point`]) | the step before, then `v*`, then no impulses | the convex problem |
//! | Newton's method on the convex problem ([`crate::convex`]) | the iterate; where nothing was found, after some steps of semismooth Newton with the bounds that stand | the end: at once where the problem is solved to the tolerance |

mod friction_residual;
pub(crate) mod initial_guess;
mod workspace;

pub use friction_residual::{friction_residual, meets_coulomb};
pub use workspace::Workspace;

use crate::block::{narrow, widened};
use crate::constraint::rows_of;
use crate::convex::{ConvexWorkspace, Iteration, Optimality, interior_point, minimise};
use crate::law::{Bounds, OwnBounds};
use crate::parameters::{ConvexParameters, ProximalPointParameters, SolverParameters, StallParameters};
use crate::semismooth::proximal_point::{self, FirstImpulses};
use crate::semismooth::sparse_a::{self, SparseA};
use crate::semismooth::{Limits, localise, newton};
use crate::vector::scaled_norm;
use crate::{Constraint, Criterion, Error, FrictionLaw, Options, Report, Strategy, Structure};
use friction_residual::friction_tolerance;

const PROXIMAL: ProximalPointParameters = SolverParameters::STANDARD.proximal_point;

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
    let has_bounds = constraints.iter().any(|c| c.law.has_bound());
    let strategy = if options.friction == FrictionLaw::Coulomb && has_bounds {
        estimate_shares(iteration.structure, constraints, ws);
        find_bounds(&mut iteration, constraints, options, ws)
    } else {
        Strategy::Newton
    };
    if strategy == Strategy::Newton && constraints.iter().any(Constraint::can_predict) {
        if interior_point::applies(iteration.structure, constraints) {
            iteration.residual(&mut ws.convex)?;
            if !iteration.is_solved {
                interior_point::approach(&mut iteration, constraints, &mut ws.convex, &mut ws.interior)?;
            }
        }
        predict(&mut iteration, constraints, options, ws)?;
    }
    let Optimality { residual, cost } = minimise(&mut iteration, constraints, options, &mut ws.convex)?;
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

/// Looks for bounds of friction that are the contacts' own normal impulses, and for the velocities with them; returns what found
/// them. Where nothing does, that is [`Strategy::Newton`], velocities are as they were, and bounds those of the last strategy.
fn find_bounds<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Strategy {
    let Workspace { convex, slopes, blocks, .. } = ws;
    convex.keep(iteration.v, 0.0);
    let limits = limits(Bounds::Own, SolverParameters::STANDARD.contact_space.max_steps, options);
    sparse_a::blocks(constraints, &convex.v_c_star, &convex.free, blocks);
    let mut backend = SparseA { iteration, constraints, ws: convex, slopes, residual: None };
    if newton(blocks, &mut backend, 1, &limits).solved != 0 {
        take_own_bounds(constraints, convex);
        return Strategy::SemismoothNewton;
    }
    iteration.go_back(constraints, convex);
    let rows: usize = constraints.iter().map(Constraint::rows).sum();
    let may_be_jammed = rows > SolverParameters::STANDARD.convex.rows_of_jams * iteration.v.len();
    if may_be_jammed && known_bounds_hold(iteration, constraints, options, ws) {
        return Strategy::Newton;
    }
    let Workspace { convex, slopes, blocks, proximal, .. } = ws;
    for (free, first, steps) in [
        (Start::StepBefore, FirstImpulses::Alone, PROXIMAL.max_factorizations),
        (Start::FreeMotion, FirstImpulses::Alone, PROXIMAL.max_factorizations),
        (Start::FreeMotion, FirstImpulses::None, PROXIMAL.max_factorizations_of_last),
    ] {
        if iteration.is_budget_spent() {
            break;
        }
        match free {
            Start::StepBefore => convex.start_predictions(constraints),
            Start::FreeMotion => convex.free.copy_from_slice(&convex.v_c_star),
        }
        sparse_a::blocks(constraints, &convex.v_c_star, &convex.free, blocks);
        let mut backend = SparseA { iteration, constraints, ws: convex, slopes, residual: None };
        let (_, is_found) = proximal_point::solve(blocks, &mut backend, first, &Limits { steps, ..limits }, proximal);
        if is_found {
            take_own_bounds(constraints, convex);
            return Strategy::ProximalPoint;
        }
        // The bounds of the last step are nearer than those of the step before; predictions go on from it.
        localise(blocks, 1, Bounds::Own);
        for (block, own) in blocks.iter().zip(rows_of(constraints)) {
            narrow(block.z, &mut convex.free[own]);
        }
        for (constraint, block) in constraints.iter_mut().zip(&*blocks) {
            let contact = if constraint.law.is_spin() { &blocks[block.contacts[0]] } else { block };
            constraint.law.set_normal_impulse(contact.lambda[2]);
        }
        iteration.go_back(constraints, convex);
    }
    Strategy::Newton
}

/// Bounds friction as in the step before, then by the normal impulses of the convex problem's solution with these, and so on while that leads
/// nearer to Coulomb's law, as where bodies are jammed and press nearly as they did. Moves to the solution if that meets the law.
fn known_bounds_hold<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> bool {
    let StallParameters { limit, reduction } = SolverParameters::STANDARD.stall;
    let ConvexParameters { max_steps_of_known_bounds, max_known_bounds, .. } = SolverParameters::STANDARD.convex;
    let few = Options { max_iterations: max_steps_of_known_bounds, ..*options };
    let (mut least, mut stalls) = (f64::INFINITY, 0);
    for pass in 0..max_known_bounds {
        if minimise(iteration, constraints, &few, &mut ws.convex).is_err() {
            break;
        }
        let violation = violation(constraints, options, ws);
        let falls = violation <= reduction * least;
        if pass == 0 && meets_coulomb(violation, options) {
            return true;
        }
        // Bounds that go to and fro meet half way.
        move_to_own_bounds(constraints, &mut ws.convex, if falls { 1.0 } else { 0.5 });
        let is_met = |residual: f64| meets_coulomb(f64::max(residual, violation), options);
        if iteration.residual(&mut ws.convex).is_ok_and(|optimality| is_met(optimality.residual)) {
            return true;
        }
        stalls = if falls { 0 } else { stalls + 1 };
        if stalls > limit {
            break;
        }
        least = f64::min(least, violation);
    }
    iteration.go_back(constraints, &mut ws.convex);
    false
}

/// Semismooth Newton for the convex problem, each constraint from its own free velocity: it finds the velocities in one step once it knows
/// which contacts stick, slide or part; with stiff contacts neither `v*` nor the velocities before tell. Moves there if that is the solution
/// or the cost is lower.
fn predict<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    constraints: &[Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<(), Error> {
    let Workspace { convex, slopes, blocks, .. } = ws;
    let Optimality { cost, .. } = iteration.residual(convex)?;
    if iteration.is_solved {
        return Ok(());
    }
    convex.keep(iteration.v, 0.0);
    // Newton's method on the convex problem, which may end what this begins, has the same number.
    let steps = SolverParameters::STANDARD.convex.max_predictions.min(options.max_iterations.saturating_sub(1));
    let limits = limits(Bounds::Given, steps, options);
    sparse_a::blocks(constraints, &convex.v_c_star, &convex.free, blocks);
    let mut backend = SparseA { iteration, constraints, ws: convex, slopes, residual: None };
    let is_found = newton(blocks, &mut backend, 1, &limits).solved != 0;
    convex.current.update(constraints);
    if !(is_found || iteration.cost(convex) < cost) {
        iteration.go_back(constraints, convex);
    }
    Ok(())
}

/// What is asked of solutions in all velocities.
fn limits(bounds: Bounds, steps: usize, options: &Options) -> Limits {
    Limits {
        bounds,
        steps,
        excess: 0.0,
        round_off: 0.0,
        at_start: options.tolerance,
        late: options.tolerance,
        residual: f64::INFINITY,
        near: if bounds == Bounds::Own { friction_tolerance(options) } else { options.tolerance },
    }
}

/// The velocities that a start of the proximal point method is at.
#[derive(Clone, Copy, Debug)]
enum Start {
    /// The free velocities of the step before.
    StepBefore,
    /// `J v*`
    FreeMotion,
}

/// Bounds friction by the contacts' own normal impulses at the iterate, and evaluates the constraints with these.
fn take_own_bounds(constraints: &mut [Constraint], ws: &mut ConvexWorkspace) {
    move_to_own_bounds(constraints, ws, 1.0);
}

/// [`take_own_bounds`], but for this share of the way there.
fn move_to_own_bounds(constraints: &mut [Constraint], ws: &mut ConvexWorkspace, share: f64) {
    let (mut row, mut own) = (0, OwnBounds::default());
    for constraint in constraints.iter_mut() {
        let rows = row..row + constraint.rows();
        row = rows.end;
        own.respond(&constraint.law, widened(&ws.current.v_c[rows]), 0.0);
        let bound = share * own.normal + (1.0 - share) * constraint.law.normal_impulse[0];
        constraint.law.set_normal_impulse(bound);
    }
    ws.current.update(constraints);
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
