use crate::line_search::{COST_ROUND_OFF, Line};
use crate::vector::{axpy, dot, scaled_norm};
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
/// and `v*` has the lower cost. If no constraint pushes at `v*`, then `v = v*` bit for bit, in 0 iterations. The impulses are
/// then in [`Workspace::impulses`].
///
/// ```text
/// up to 6 times, while the cost falls
///     v ← minimiser if each constraint sticks, slides or parts as it would alone
/// repeat
///     g = A(v − v*) − Jᵀγ                   end if ‖D g‖ ≤ ε_a + ε_r max(‖D A v‖, ‖D Jᵀγ‖)
///     Δv = −(A + JᵀGJ)⁻¹ g
///     α = argmin ℓ_p(v + α Δv)
///     v ← v + α Δv
/// ```
///
/// # Errors
/// [`Error::NotConverged`] at the iteration cap (`v` is then the last iterate), [`Error::Factorization`] if `H` is not positive
/// definite, [`Error::NotFinite`] if NaN or infinity came in or came up, [`Error::Dimension`] if sizes do not fit.
pub fn solve<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &mut [f64],
    options: &Options,
    ws: &mut Workspace,
) -> Result<Report, Error> {
    resize(structure, constraints, v_star, v, ws)?;
    if start_free(structure, constraints, v_star, ws)? {
        v.copy_from_slice(v_star);
        return Ok(unconstrained());
    }
    ws.v_c_star.copy_from_slice(&ws.current.v_c);
    start_guess(structure, constraints, v_star, v, ws)?;
    structure.scale(&mut ws.scale);

    let mut line_search_evaluations = 0;
    let mut least_residual = f64::INFINITY;
    let mut cost_is_round_off = false;
    let mut stalls = 0;
    let mut predictions = PREDICTIONS;
    let mut predicted_cost = f64::INFINITY;
    ws.start_predictions(constraints);
    for iteration in 0.. {
        let kinetic = kinetic_cost(v, v_star, &ws.momentum);
        let cost = kinetic + ws.current.cost;
        let (gradient, momentum) = gradient(structure, ws);
        if !(gradient.is_finite() && cost.is_finite()) {
            return Err(Error::NotFinite { quantity: "the gradient of the cost" });
        }
        let residual = if momentum > 0.0 { gradient / momentum } else { 0.0 };
        let report = |criterion| Report { iterations: iteration, line_search_evaluations, residual, cost, criterion };
        if gradient <= options.absolute_tolerance + options.tolerance * momentum {
            return Ok(report(Criterion::Gradient));
        }
        if cost_is_round_off && residual > 0.5 * least_residual {
            stalls += 1;
            if stalls == STALLS {
                return Ok(report(Criterion::RoundOff));
            }
        }
        least_residual = residual.min(least_residual);
        if iteration == options.max_iterations {
            return Err(Error::NotConverged { iterations: iteration, residual });
        }
        if predictions > 0 {
            let reached = predict(structure, constraints, v_star, v, cost, ws)
                .map_err(|source| Error::Factorization { iteration, source })?;
            predictions = if reached < predicted_cost { predictions - 1 } else { 0 };
            predicted_cost = reached;
            continue;
        }
        newton_direction(structure, constraints, ws).map_err(|source| Error::Factorization { iteration, source })?;
        let mut line = Line {
            constraints,
            current: &ws.current,
            trial: &mut ws.trial,
            dv_c: &ws.dv_c,
            kinetic,
            slope: -dot(&ws.descent, &ws.dv),
            dv_p: dot(&ws.dv, &ws.momentum),
            dv_dp: dot(&ws.dv, &ws.dp),
            evaluations: 0,
        };
        if !line.slope.is_finite() {
            return Err(Error::NotFinite { quantity: "the Newton direction" });
        }
        let alpha = line.search(options.line_search);
        line_search_evaluations += line.evaluations;

        let predicted = -0.5 * line.slope;
        let achieved = cost - (line.kinetic_at(alpha) + line.trial.cost);
        cost_is_round_off = predicted.max(achieved) <= COST_ROUND_OFF * cost;
        axpy(alpha, &ws.dv, v);
        axpy(alpha, &ws.dp, &mut ws.momentum);
        std::mem::swap(&mut ws.current, &mut ws.trial);
    }
    unreachable!("the loop ends at the iteration cap");
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
    structure.products(v_star, &mut ws.a_v_star, &mut ws.current.v_c);
    ws.current.update(constraints);
    ws.momentum.fill(0.0);
    if !ws.a_v_star.iter().all(|x| x.is_finite()) {
        return Err(Error::NotFinite { quantity: "A v*" });
    }
    if !ws.current.cost.is_finite() {
        return Err(Error::NotFinite { quantity: "the cost at v*" });
    }
    Ok(ws.current.is_unconstrained())
}

/// Moves to the guess in `v` if the cost is lower there, else sets `v = v*`.
fn start_guess<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &mut [f64],
    ws: &mut Workspace,
) -> Result<(), Error> {
    if v == v_star {
        return Ok(());
    }
    for ((difference, v), v_star) in ws.difference.iter_mut().zip(&*v).zip(v_star) {
        *difference = v - v_star;
    }
    structure.products(&ws.difference, &mut ws.dp, &mut ws.trial.v_c);
    axpy(1.0, &ws.current.v_c, &mut ws.trial.v_c);
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

/// Moves to the minimiser of the problem in which every constraint goes on as it would alone, if the cost is lower there;
/// returns the cost there.
///
/// Newton's method finds the velocities in one step once it knows which contacts stick, slide or part; with stiff contacts
/// neither `v*` nor the velocities before tell. Each constraint predicts it from its own free velocity (at first the caller's
/// guess or `J v*`, then what its neighbours make of it) and its share `w` of the Delassus operator: the semismooth Newton method of Alart and
/// Curnier with the scaling `1/w`. With impulses `γ̄` and Hessians `Ḡ` at the predicted `v̄_c`,
///
/// ```text
/// (A + JᵀḠJ)(v − v*) = Jᵀ(γ̄ + Ḡ(v̄_c − J v*))
/// ```
fn predict<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &mut [f64],
    cost: f64,
    ws: &mut Workspace,
) -> Result<f64, crate::FactorError> {
    ws.predicted.predict(constraints, &ws.free);
    ws.predicted.linear_impulse(constraints, &ws.v_c_star, &mut ws.dv_c);
    ws.impulse.fill(0.0);
    structure.add_transpose(&ws.dv_c, &mut ws.impulse);
    structure.factor(constraints, &ws.predicted.hessian)?;
    structure.solve(&ws.impulse, &mut ws.difference);
    structure.products(&ws.difference, &mut ws.dp, &mut ws.trial.v_c);
    axpy(1.0, &ws.v_c_star, &mut ws.trial.v_c);
    ws.trial.update(constraints);
    // What each constraint would meet if it did not push: the next prediction starts there.
    ws.predicted.linear_impulse(constraints, &ws.trial.v_c, &mut ws.dv_c);
    let mut start = 0;
    for constraint in constraints {
        let rows = start..start + constraint.rows();
        constraint.free_velocity(&ws.trial.v_c[rows.clone()], &ws.dv_c[rows.clone()], &mut ws.free[rows.clone()]);
        start = rows.end;
    }
    let reached = 0.5 * dot(&ws.difference, &ws.dp) + ws.trial.cost;
    if reached < cost {
        for ((v, v_star), d) in v.iter_mut().zip(v_star).zip(&ws.difference) {
            *v = v_star + d;
        }
        std::mem::swap(&mut ws.momentum, &mut ws.dp);
        std::mem::swap(&mut ws.current, &mut ws.trial);
    }
    Ok(reached)
}

/// Sets `Jᵀγ` and `−∇ℓ_p`; returns `‖D∇ℓ_p‖` and `max(‖D A v‖, ‖D Jᵀγ‖)`.
fn gradient<S: Structure>(structure: &mut S, ws: &mut Workspace) -> (f64, f64) {
    ws.impulse.fill(0.0);
    structure.add_transpose(&ws.current.gamma, &mut ws.impulse);
    let mut a_v = 0.0;
    for i in 0..ws.impulse.len() {
        ws.descent[i] = ws.impulse[i] - ws.momentum[i];
        let scaled = ws.scale[i] * (ws.a_v_star[i] + ws.momentum[i]);
        a_v += scaled * scaled;
    }
    let jt_gamma = scaled_norm(&ws.scale, &ws.impulse);
    (scaled_norm(&ws.scale, &ws.descent), jt_gamma.max(a_v.sqrt()))
}

/// `Δv = −H⁻¹∇ℓ_p`, `Δp = A Δv`, `Δv_c = J Δv`.
fn newton_direction<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    ws: &mut Workspace,
) -> Result<(), crate::FactorError> {
    structure.factor(constraints, &ws.current.hessian)?;
    structure.solve(&ws.descent, &mut ws.dv);
    structure.products(&ws.dv, &mut ws.dp, &mut ws.dv_c);
    Ok(())
}

/// `½ ‖v − v*‖²_A`, `p = A (v − v*)`.
fn kinetic_cost(v: &[f64], v_star: &[f64], momentum: &[f64]) -> f64 {
    let mut sum = 0.0;
    for ((v, v_star), p) in v.iter().zip(v_star).zip(momentum) {
        sum += (v - v_star) * p;
    }
    0.5 * sum
}

fn unconstrained() -> Report {
    Report { iterations: 0, line_search_evaluations: 0, residual: 0.0, cost: 0.0, criterion: Criterion::Unconstrained }
}
