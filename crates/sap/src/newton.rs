use crate::friction_residual::friction_residual;
use crate::guess::{self, Seen};
use crate::iteration::Iteration;
use crate::line_search::COST_ROUND_OFF;
use crate::passes::{Passes, Turn, meets_coulomb};
use crate::vector::{axpy, dot};
use crate::{Constraint, Criterion, Error, Options, Report, Structure, Workspace};

/// With the cost at round-off, this many iterations that do not halve the residual end the iteration. The gradient is finer
/// than the cost, so one alone may be a last change of region before the residual falls again.
const STALLS: usize = 3;

/// Predictions of what sticks, slides and parts before Newton's method goes on alone. A humanoid and an ant that move by random
/// torques take 8 iterations in the mean without any, 6 with 1, 3.5 with 4; more gain nothing there and a little on the ground.
const PREDICTIONS: usize = 6;

/// Minimises `ℓ_p(v) = ½‖v − v*‖²_A + Σ_k ℓ_k(J_k v)` by Newton's method.
///
/// `v_star` has `n_v` entries, as has `v`: a guess on entry, the solution on exit. The iteration starts from whichever of `v`
/// and `v*` has the lower cost. If no constraint pushes at `v*`, then `v = v*` bit for bit, in 0 iterations, unless
/// [`Options::expects_guess`] and the guess, where some push, meets the tolerance. The impulses are then in [`Workspace::impulses`].
///
/// ```text
/// up to 6 times, while the cost falls
///     v ← minimiser if each constraint sticks, slides or parts as it would alone
/// repeat
///     g = A(v − v*) − Jᵀγ                   end if ‖D g‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖)
///     Δv = −(A + JᵀGJ)⁻¹ g
///     α = argmin ℓ_p(v + α Δv), α ≤ 1
///     v ← v + α Δv, or v + Δv on trial
/// ```
///
/// Friction cones are surfaces that are bent; there a whole step is tried where the line search would cut it short, and taken back
/// if the cost is not below the line search's within three steps.
///
/// With [`Options::passes`] above 1, problems follow each other, the normal impulses of one the bounds of friction of the next,
/// until the change of bounds hardly moves the gradient: Coulomb's law. Where there are many contacts, Newton's method looks for it
/// directly, from the velocities that are remembered and then after each problem. Where neither finds it, a path is followed from the
/// last problem to it, and where that ends before, the problems go on. All of it spends from [`Options::factorization_budget`]; the
/// best bounds stand when that is spent.
///
/// # Errors
/// [`Error::NotConverged`] at the iteration cap (`v` is then the last iterate), [`Error::Factorization`] if `H` is not positive
/// definite, [`Error::Interrupted`] if the structure was told to stop, [`Error::NotFinite`] if NaN or infinity came in or came up, [`Error::Dimension`] if sizes do not fit.
pub fn solve<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &mut [f64],
    options: &Options,
    ws: &mut Workspace,
) -> Result<Report, Error> {
    resize(structure, constraints, v_star, v, ws)?;
    let looks = options.expects_guess && v != v_star;
    let seen = if looks { guess::look(structure, constraints, (v_star, v), options, ws) } else { None };
    if let Some(seen) = &seen {
        if seen.is_solution {
            return Ok(seen.report(violation(constraints, options, ws)));
        }
    } else {
        if start_free(structure, constraints, v_star, ws)? {
            v.copy_from_slice(v_star);
            return Ok(Report::unconstrained());
        }
        ws.v_c_star.copy_from_slice(&ws.current.v_c);
        start_guess(structure, constraints, (v_star, v), looks, ws)?;
        structure.scale(&mut ws.scale);
        ws.start_predictions(constraints);
    }
    ws.dual.copy_from_slice(&ws.current.gamma);
    let mut laws = std::mem::take(&mut ws.laws);
    laws.clear();
    laws.extend_from_slice(constraints);
    let report = iterate(Iteration::new(structure, constraints, v_star, v, options), &mut laws, seen, options, ws);
    ws.laws = laws;
    report
}

/// How far the iterate is from Coulomb's law, where that is asked for.
fn violation(constraints: &[Constraint], options: &Options, ws: &Workspace) -> f64 {
    if options.passes > 1 { friction_residual(constraints, ws.velocities(), ws.impulses()) } else { 0.0 }
}

/// Steps of searches for Coulomb's law after which passes go on alone.
const SEARCHING: usize = 30;

/// The residual from which a change of bounds is so small that the last factor will do for the step after it. Beyond, constraints
/// may do something else, and are asked what.
const NEAR: f64 = 1e-2;

fn iterate<S: Structure>(
    mut iteration: Iteration<'_, S>,
    constraints: &mut [Constraint],
    seen: Option<Seen>,
    options: &Options,
    ws: &mut Workspace,
) -> Result<Report, Error> {
    let mut passes = Passes::new(&*iteration.structure, constraints, options);
    let mut stall = Stall::new();
    let most_predictions = if constraints.iter().any(Constraint::can_predict) { PREDICTIONS } else { 0 };
    // From near the solution Newton's steps lead there, and nothing else is known.
    let mut predictions = if seen.is_some() { 0 } else { most_predictions };
    let mut last_residual = 0.0;
    let mut predicted_cost = f64::INFINITY;
    start_search(&mut iteration, &mut passes, constraints, seen.as_ref(), options, ws)?;
    let mut known = seen.map(|seen| (seen.residual, seen.cost));
    loop {
        let (mut residual, mut cost) = known.take().map_or_else(|| iteration.residual(ws), Ok)?;
        let mut stalled = stall.is_over(residual);
        let mut rebounded = false;
        let mut is_solved = passes.ends(iteration.is_solved, residual);
        let is_spent = iteration.is_budget_spent();
        match passes.turn(is_solved || stalled, iteration.minimising(), iteration.in_problem(), is_spent) {
            Turn::GoOn => {}
            Turn::Rebound => {
                (residual, cost) = rebound(&mut iteration, &mut passes, constraints, options, ws)?;
                rebounded = true;
            }
            Turn::GiveUp => {
                iteration.begin_problem();
                passes.give_up(constraints, &ws.current.gamma, &ws.anderson, options);
                ws.current.update(constraints);
                (residual, cost) = iteration.residual(ws)?;
                rebounded = true;
            }
        }
        if rebounded {
            (stall, stalled, predictions) = (Stall::new(), false, 0);
            is_solved = iteration.is_solved && passes.ends(true, residual);
            if residual > NEAR {
                (predictions, predicted_cost) = (most_predictions, f64::INFINITY);
                iteration.restart_predictions(constraints, ws);
            }
        }
        if (is_solved && iteration.is_solved) || stalled {
            let violation = violation(constraints, options, ws);
            let may_search = !iteration.is_budget_spent();
            if may_search && passes.reopen(violation, options) {
                (stall, known) = (Stall::new(), Some((residual, cost)));
                iteration.begin_problem();
                continue;
            }
            if may_search && passes.must_follow(violation, options) {
                if follow_or_resume(&mut iteration, &mut passes, constraints, options, ws)? {
                    predictions = 0;
                }
                (stall, known) = (Stall::new(), Some(iteration.residual(ws)?));
                continue;
            }
            let criterion = if !meets_coulomb(violation, options) {
                Criterion::Passes
            } else if iteration.is_solved {
                Criterion::Gradient
            } else {
                Criterion::RoundOff
            };
            return Ok(iteration.report(criterion, (residual, violation), cost, &passes));
        }
        if iteration.is_over() {
            return Err(Error::NotConverged { iterations: iteration.iterations, residual });
        }
        let refines = iteration.is_solved && !is_solved;
        if refines && !passes.may_refine(iteration.is_reusable, options) {
            known = Some((residual, cost));
            continue;
        }
        if predictions > 0 && !refines {
            let reached = iteration.predict(constraints, cost, ws)?;
            predictions = if reached < predicted_cost { predictions - 1 } else { 0 };
            predicted_cost = reached;
        } else {
            // Newton's step left `residual` of `last`; one more with the same factor would leave about twice that share.
            let is_last = 2.0 * residual * residual <= options.tolerance * last_residual;
            let is_near_new_bounds = rebounded && residual <= NEAR;
            let reuse = refines || is_last || is_near_new_bounds;
            last_residual = if is_last { 0.0 } else { residual };
            let decrease = iteration.newton_step(constraints, passes.line_search(options), reuse, ws)?;
            stall.cost_is_round_off = decrease <= COST_ROUND_OFF * cost.abs();
        }
    }
}

/// Takes the bounds of friction from what is seen at a guess, or looks for a fixed point of them from what is remembered.
fn start_search<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    passes: &mut Passes,
    constraints: &mut [Constraint],
    seen: Option<&Seen>,
    options: &Options,
    ws: &mut Workspace,
) -> Result<(), Error> {
    if let Some(seen) = seen {
        if seen.moves_bounds {
            passes.settle_there(constraints, &ws.current.gamma, seen.residual, options);
        }
    } else if passes.may_settle {
        if let Some(residual) = iteration.settle_from_memory(constraints, options, ws)? {
            passes.settle(residual, options);
        } else {
            ws.start_predictions(constraints);
        }
    }
    Ok(())
}

/// Follows a path to Coulomb's law; returns whether it leads there. Where it does not, the search goes on from the best bounds.
fn follow_or_resume<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    passes: &mut Passes,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<bool, Error> {
    iteration.begin_problem();
    let found = iteration.follow(constraints, options, ws)?;
    match found {
        Some(residual) => passes.settle(residual, options),
        None => passes.resume(iteration.minimising(), &mut ws.anderson),
    }
    Ok(found.is_some())
}

/// Moves the bounds of friction; returns the residual and the cost with the new ones.
///
/// Newton's method looks for a fixed point of them; where it finds none, they move as Anderson's acceleration of the plain iteration
/// says.
fn rebound<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    passes: &mut Passes,
    constraints: &mut [Constraint],
    options: &Options,
    ws: &mut Workspace,
) -> Result<(f64, f64), Error> {
    // A pass may do with the last factor.
    iteration.check_interrupt()?;
    iteration.begin_problem();
    if passes.may_settle
        && iteration.searching < SEARCHING
        && !iteration.is_budget_spent()
        && let Some(residual) = iteration.settle_from_here(constraints, options, ws)?
    {
        passes.settle(residual, options);
        return Ok((residual, iteration.cost(ws)));
    }
    let violation = violation(constraints, options, ws);
    passes.start(constraints, &mut ws.anderson);
    passes.rebound(constraints, &ws.current.gamma, &mut ws.anderson);
    ws.current.update(constraints);
    let (residual, cost) = iteration.residual(ws)?;
    passes.observe(residual, violation, options, &mut ws.anderson);
    Ok((residual, cost))
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
        self.count += usize::from(self.cost_is_round_off && residual > 0.5 * self.least_residual);
        self.least_residual = residual.min(self.least_residual);
        self.count == STALLS
    }
}

fn resize<S: Structure>(
    structure: &S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &[f64],
    ws: &mut Workspace,
) -> Result<(), Error> {
    let nv = structure.nv();
    let rows = constraints.iter().map(Constraint::rows).sum();
    let check = |argument, found, expected| {
        if found == expected { Ok(()) } else { Err(Error::Dimension { argument, found, expected }) }
    };
    check("v_star", v_star.len(), nv)?;
    check("v", v.len(), nv)?;
    check("J (rows)", structure.rows().unwrap_or(rows), rows)?;
    ws.resize(nv, rows, constraints.len());
    Ok(())
}

/// Evaluates the constraints at `v*`; returns whether none pushes.
fn start_free<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    ws: &mut Workspace,
) -> Result<bool, Error> {
    structure.row_velocities(v_star, &mut ws.current.v_c);
    ws.current.update(constraints);
    ws.momentum.fill(0.0);
    if !v_star.iter().all(|x| x.is_finite()) {
        return Err(Error::NotFinite { quantity: "v*" });
    }
    if !ws.current.cost.is_finite() {
        return Err(Error::NotFinite { quantity: "the cost at v*" });
    }
    Ok(ws.current.is_unconstrained())
}

/// Moves to the guess in `v` if the cost is lower there, else sets `v = v*`. With `has_looked` the products are there already.
fn start_guess<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    (v_star, v): (&[f64], &mut [f64]),
    has_looked: bool,
    ws: &mut Workspace,
) -> Result<(), Error> {
    if v == v_star {
        return Ok(());
    }
    if !has_looked {
        ws.set_difference(v, v_star);
        structure.products(&ws.difference, &mut ws.dp, &mut ws.trial.v_c);
        axpy(1.0, &ws.current.v_c, &mut ws.trial.v_c);
    }
    ws.trial.update(constraints);
    let cost = 0.5 * dot(&ws.difference, &ws.dp) + ws.trial.cost;
    if !cost.is_finite() {
        return Err(Error::NotFinite { quantity: "the cost at the guess of v" });
    }
    if cost < ws.current.cost {
        std::mem::swap(&mut ws.momentum, &mut ws.dp);
        std::mem::swap(&mut ws.current, &mut ws.trial);
    } else {
        v.copy_from_slice(v_star);
    }
    Ok(())
}
