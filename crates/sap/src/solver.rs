//! The public solver: sizes, the start of the iteration, and problems that need none.

use crate::convex::{ConvexWorkspace, Iteration};
use crate::coulomb::{
    self,
    initial_guess::{self, Guess},
};
use crate::vector::{axpy, dot};
use crate::{Constraint, Error, Options, Report, Structure, Workspace};

/// Minimises `ℓ_p(v) = ½‖v − v*‖²_A + Σ_k ℓ_k(J_k v)`, under Coulomb's law where [`Options::friction`] asks for it.
///
/// `v_star` has `n_v` entries, as has `v`: a guess on entry, the solution on exit. The iteration starts from whichever of `v`
/// and `v*` has the lower cost. If no constraint pushes at `v*`, then `v = v*` bit for bit, in 0 iterations, unless
/// [`Options::expects_guess`] and the guess, where some push, meets the tolerance. The impulses are then in [`Workspace::impulses`].
///
/// One convex problem is solved by Newton's method with a line search. For Coulomb's law its bounds of friction and the velocities are
/// looked for before, until these are the problem's own normal impulses: [`Report::strategy`] tells what found them. The search spends
/// from [`Options::factorization_budget`]; when that is spent, or nothing leads nearer, the best bounds stand.
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
    let checks_guess = options.expects_guess && v != v_star;
    let guess = if checks_guess {
        initial_guess::check(structure, constraints, v_star, v, options, &mut ws.convex)
    } else {
        Guess::Far
    };
    if let Guess::Solution(report) = guess {
        return Ok(Report { friction_residual: coulomb::violation(constraints, options, ws), ..report });
    }
    if start_free(structure, constraints, v_star, &mut ws.convex)? {
        v.copy_from_slice(v_star);
        return Ok(Report::unconstrained());
    }
    ws.convex.v_c_star.copy_from_slice(&ws.convex.current.v_c);
    start_guess(structure, constraints, v_star, v, checks_guess, &mut ws.convex)?;
    structure.scale(&mut ws.convex.scale);
    if let Guess::Far = guess {
        ws.convex.start_predictions(constraints);
    }
    ws.convex.dual.copy_from_slice(&ws.convex.current.gamma);
    let mut bounded = std::mem::take(&mut ws.constraints);
    bounded.clear();
    bounded.extend_from_slice(constraints);
    let report = coulomb::solve(Iteration::new(structure, constraints, v_star, v, options), &mut bounded, options, ws);
    ws.constraints = bounded;
    report
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
    ws: &mut ConvexWorkspace,
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

/// Moves to the guess in `v` if the cost is lower there, else sets `v = v*`. With `has_products`, `A (v − v*)` and `J v` are in the
/// workspace already.
fn start_guess<S: Structure>(
    structure: &mut S,
    constraints: &[Constraint],
    v_star: &[f64],
    v: &mut [f64],
    has_products: bool,
    ws: &mut ConvexWorkspace,
) -> Result<(), Error> {
    if v == v_star {
        return Ok(());
    }
    if !has_products {
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
