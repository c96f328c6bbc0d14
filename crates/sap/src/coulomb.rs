//! Coulomb's law: the search for friction bounds that are the contacts' own normal impulses.
//!
//! A convex problem bounds friction by given normal impulses. Its solution meets Coulomb's law where these are its own. The search
//! goes through these states, each an arm of [`solve`]:
//!
//! | state | strategy | leads to |
//! | --- | --- | --- |
//! | start | in crowds semismooth Newton for bounds and velocities at once ([`semismooth`]) from the step before, then the proximal point method ([`proximal_point`]), which smaller islands try after some friction iterations | `Minimise`, to end the search where it is solved |
//! | `Minimise` | Newton's method on the convex problem ([`crate::convex`]) | `MoveBounds` while the search goes on, `TakeBestBounds` when its iterations are spent, else `Check` |
//! | `MoveBounds` | semismooth Newton for bounds and velocities at once ([`semismooth`]) in crowds, else a fixed-point step with Anderson's acceleration ([`friction_iterations`]) | `Minimise`, or `Check` where nothing is left to do |
//! | `TakeBestBounds` | the bounds that came nearest | `Minimise`, which ends the search |
//! | `Check` | the friction residual of the solution | the end, `Minimise` for another search, or `Continue` |
//! | `Continue` | path continuation ([`continuation`]) from the solved problem | `Minimise` |

mod anderson;
mod continuation;
mod friction_iterations;
mod friction_residual;
pub(crate) mod initial_guess;
mod path;
mod proximal_point;
mod proximal_workspace;
mod semismooth;
mod workspace;

pub use friction_residual::{friction_residual, meets_coulomb};
pub use workspace::Workspace;

use crate::convex::{ConvexNewton, Goal, Iteration, Optimality};
use crate::{Constraint, Criterion, Error, Options, Report, SolverParameters, Strategy, Structure};
use friction_iterations::{FrictionIterations, Next};
use initial_guess::InitialGuess;

/// Where the search stands.
enum State {
    /// The convex problem with the present bounds is to be solved; the point if it was measured, and whether its bounds have just moved.
    Minimise(Option<Optimality>, bool),
    MoveBounds,
    TakeBestBounds,
    Check(Optimality),
    Continue,
}

/// How far the iterate is from Coulomb's law, where that is asked for.
pub(crate) fn violation(constraints: &[Constraint], options: &Options, ws: &Workspace) -> f64 {
    if options.max_friction_iterations > 1 {
        friction_residual(constraints, ws.velocities(), ws.impulses())
    } else {
        0.0
    }
}

/// Finds the solution from where the workspace is; `guess` if that was seen to be near. Without bounds of friction it is one convex
/// problem.
pub(crate) fn solve<S: Structure>(
    mut iteration: Iteration<'_, S>,
    constraints: &mut [Constraint],
    guess: Option<InitialGuess>,
    options: &Options,
    ws: &mut Workspace,
) -> Result<Report, Error> {
    let mut search = FrictionIterations::new(&*iteration.structure, constraints, options);
    let mut newton = ConvexNewton::new(constraints, guess.is_some());
    let mut strategy = start(&mut iteration, &mut search, constraints, guess.as_ref(), options, ws)?;
    let mut state = State::Minimise(guess.map(|guess| guess.optimality), false);
    loop {
        state = match state {
            State::Minimise(here, has_new_bounds) => {
                let mut goal = goal(&iteration, &search, options);
                let problem = (&mut goal, has_new_bounds);
                let (ending, here) =
                    newton.minimise(&mut iteration, constraints, problem, here, options, &mut ws.convex)?;
                search.note_refinements(goal.refinements, ending, options);
                match search.next(iteration.minimising(), iteration.in_problem(), iteration.is_budget_spent()) {
                    Next::Check => State::Check(here),
                    Next::MoveBounds => State::MoveBounds,
                    Next::TakeBestBounds => State::TakeBestBounds,
                }
            }
            State::MoveBounds => {
                let (here, by) = move_bounds(&mut iteration, &mut search, constraints, options, ws)?;
                strategy = by;
                begin_problem(&mut newton, &iteration, &search, constraints, here, options, ws)
            }
            State::TakeBestBounds => {
                iteration.begin_problem();
                search.take_best_bounds(constraints, &ws.convex.current.gamma, &ws.anderson, options);
                ws.convex.current.update(constraints);
                let here = iteration.residual(&mut ws.convex)?;
                begin_problem(&mut newton, &iteration, &search, constraints, here, options, ws)
            }
            State::Check(here) => {
                let violation = violation(constraints, options, ws);
                let may_search = !iteration.is_budget_spent();
                if may_search && search.reopen(violation, options) {
                    newton.restart();
                    iteration.begin_problem();
                    State::Minimise(Some(here), false)
                } else if may_search && search.must_follow(violation, options) {
                    State::Continue
                } else {
                    return Ok(report(&iteration, &search, strategy, (here, violation), options));
                }
            }
            State::Continue => {
                iteration.begin_problem();
                if let Some(residual) = iteration.follow(constraints, options, ws)? {
                    search.end(residual, options);
                    newton.skip_predictions();
                    strategy = Strategy::Continuation;
                } else {
                    search.resume(iteration.minimising(), &mut ws.anderson);
                }
                newton.restart();
                State::Minimise(Some(iteration.residual(&mut ws.convex)?), false)
            }
        }
    }
}

/// Takes the bounds of friction from a guess, or looks for a fixed point of them from what is remembered; returns what the search starts
/// with.
fn start<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    search: &mut FrictionIterations,
    constraints: &mut [Constraint],
    guess: Option<&InitialGuess>,
    options: &Options,
    ws: &mut Workspace,
) -> Result<Strategy, Error> {
    if let Some(guess) = guess {
        if guess.moves_bounds {
            search.start_from_guess(constraints, &ws.convex.current.gamma, guess.optimality.residual, options);
        }
        return Ok(Strategy::InitialGuess);
    }
    if search.may_solve_semismooth {
        if let Some(residual) = iteration.solve_semismooth_from_warm_start(constraints, options, ws)? {
            search.end(residual, options);
            return Ok(Strategy::SemismoothNewton);
        }
        ws.convex.start_predictions(constraints);
        if search.may_try_proximal_point() && ends_by_proximal_point(iteration, search, constraints, options, ws)? {
            return Ok(Strategy::ProximalPoint);
        }
    }
    Ok(Strategy::Newton)
}

/// The proximal point method from the workspace's free velocities; returns whether it ends the search, with the law or with the budget.
fn ends_by_proximal_point<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    search: &mut FrictionIterations,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<bool, Error> {
    if let Some(residual) = iteration.solve_proximal_point(constraints, options, ws)? {
        search.end(residual, options);
        return Ok(true);
    }
    let is_over = iteration.is_budget_spent();
    if is_over {
        search.give_up(options);
    }
    Ok(is_over)
}

/// Moves the bounds of friction; returns where the iterate is then, and what moved them.
///
/// Newton's method looks for a fixed point of them; where it finds none, they move as Anderson's acceleration of the plain iteration
/// says.
fn move_bounds<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    search: &mut FrictionIterations,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<(Optimality, Strategy), Error> {
    // A problem may be solved with the last factor: nothing else would ask.
    iteration.check_interrupt()?;
    iteration.begin_problem();
    if search.may_solve_semismooth
        && iteration.searching < SolverParameters::STANDARD.friction_iterations.max_search_steps
        && !iteration.is_budget_spent()
        && let Some(residual) = iteration.solve_semismooth_from_iterate(constraints, options, ws)?
    {
        search.end(residual, options);
        return Ok((Optimality { residual, cost: iteration.cost(&ws.convex) }, Strategy::SemismoothNewton));
    }
    if !iteration.is_budget_spent() && search.may_try_proximal_point() {
        ws.convex.set_free(constraints);
        if ends_by_proximal_point(iteration, search, constraints, options, ws)? {
            return Ok((iteration.residual(&mut ws.convex)?, Strategy::ProximalPoint));
        }
    }
    let violation = violation(constraints, options, ws);
    search.start(constraints, &mut ws.anderson);
    search.move_bounds(constraints, &ws.convex.current.gamma, &mut ws.anderson);
    ws.convex.current.update(constraints);
    let here = iteration.residual(&mut ws.convex)?;
    search.observe(here.residual, violation, options, &mut ws.anderson);
    Ok((here, Strategy::FrictionIterations))
}

/// What follows a change of bounds: the next problem, unless it is solved where the iterate is.
fn begin_problem<S: Structure>(
    newton: &mut ConvexNewton,
    iteration: &Iteration<'_, S>,
    search: &FrictionIterations,
    constraints: &[Constraint],
    here: Optimality,
    options: &Options,
    ws: &mut Workspace,
) -> State {
    newton.begin(iteration, constraints, here, &mut ws.convex);
    let is_solved = iteration.is_solved && goal(iteration, search, options).is_reached(true, here.residual);
    if is_solved { State::Check(here) } else { State::Minimise(Some(here), true) }
}

/// How far the present problem is to be solved.
fn goal<S>(iteration: &Iteration<'_, S>, search: &FrictionIterations, options: &Options) -> Goal
where
    S: Structure,
{
    let (residual, refinements, last_factorization) =
        search.goal(iteration.searching, iteration.in_others(), iteration.budget);
    Goal { residual, refinements, last_factorization, line_search: search.line_search(options) }
}

fn report<S: Structure>(
    iteration: &Iteration<'_, S>,
    search: &FrictionIterations,
    strategy: Strategy,
    (Optimality { residual, cost }, friction_residual): (Optimality, f64),
    options: &Options,
) -> Report {
    let criterion = if !meets_coulomb(friction_residual, options) {
        Criterion::FrictionBounds
    } else if iteration.is_solved {
        Criterion::Gradient
    } else {
        Criterion::RoundOff
    };
    let Iteration { iterations, line_search_evaluations, .. } = *iteration;
    let friction_iterations = search.done;
    Report {
        iterations,
        line_search_evaluations,
        residual,
        friction_iterations,
        friction_residual,
        cost,
        criterion,
        strategy,
    }
}
