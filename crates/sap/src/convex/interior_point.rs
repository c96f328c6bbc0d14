//! An interior point method, for the way to a solution that is far away.
//!
//! Where bodies start in each other thousands of contacts begin or cease to push on the way, and each step of Newton's method is cut short at the
//! first of them. Here every one-sided constraint has an impulse `γ > 0` and a slack `s = R γ + v_c − v̂ > 0`. At the solution one of the two is zero:
//!
//! ```text
//! A (v − v*) = Jᵀγ      s = R γ + J v − v̂      γ s = μ → 0
//! ```
//!
//! Newton's method for these three has the matrix `A + JᵀGJ` as well, with `G = 1/(R + s/γ)`. `μ` falls by Mehrotra's rule (*On the
//! Implementation of a Primal-Dual Interior Point Method*, SIAM J. Optim. 2, 1992) in some twenty steps, however many constraints there are. What is
//! bounded otherwise, friction above all, follows its law, made softer by `μ` over the square of its bound.
//!
//! A step is solved by conjugate gradients, loosely: the matrix is well conditioned while `μ` is large, and what is left of one step is
//! in the next one's right-hand side.

use crate::block::{narrow, widened};
use crate::constraint::rows_of;
use crate::law::{Bounds, LawKind};
use crate::parameters::{InteriorPointParameters, SolverParameters};
use crate::vector::axpy;
use crate::{Constraint, Error, Law, Structure, dual};

use super::conjugate_gradients::ConjugateGradients;
use super::{ConvexWorkspace, Iteration};

const PARAMETERS: InteriorPointParameters = SolverParameters::STANDARD.interior_point;

/// A constraint as the method sees it.
#[derive(Clone, Copy, Debug, Default)]
struct Side {
    /// Which of all rows is one-sided, if any is.
    row: Option<usize>,
    r: f64,
    /// `J v − v̂`
    gap: f64,
    impulse: f64,
    slack: f64,
    impulse_step: f64,
    slack_step: f64,
    /// What the step of the impulse is where velocities stay, over G.
    target: f64,
    g: f64,
}

impl Side {
    fn new(constraint: &Constraint, first_row: usize) -> Self {
        let law = &constraint.law;
        let (low, high) = (law.low[0], law.high[0]);
        let row = match law.kind {
            LawKind::BoundedFriction => Some(2),
            LawKind::One if low == 0.0 && high == f64::INFINITY => Some(0),
            _ => None,
        };
        Self { row: row.map(|row| first_row + row), r: law.r[row.unwrap_or(0)], ..Self::default() }
    }

    /// Puts it where `γ s = μ`, as on a body of inverse mass `w` that nothing else pushes.
    fn start(&mut self, w: f64, mu: f64) {
        let root = (self.gap * self.gap + 4.0 * w * mu).sqrt();
        self.slack = if self.gap > 0.0 { 0.5 * (self.gap + root) } else { 2.0 * w * mu / (root - self.gap) };
        self.impulse = mu / self.slack;
    }

    /// `s − R γ − (J v − v̂)`, which vanishes after a whole step.
    fn infeasibility(&self) -> f64 {
        self.slack - self.r * self.impulse - self.gap
    }

    /// Aims at `γ s = μ`, with `Δγ Δs` as in the last step; returns the change of the impulse where velocities stay.
    fn aim(&mut self, mu: f64) -> f64 {
        let left_out = self.impulse_step * self.slack_step;
        self.target = (mu - left_out) / self.impulse - self.slack + self.infeasibility();
        self.g * self.target
    }

    /// Sets the step where velocities change by `dv_c`; returns the share of it up to which both stay positive.
    fn respond(&mut self, dv_c: f64) -> f64 {
        self.impulse_step = self.g * (self.target - dv_c);
        self.slack_step = self.r * self.impulse_step + dv_c - self.infeasibility();
        let share = |value: f64, step: f64| if step < 0.0 { -value / step } else { f64::INFINITY };
        share(self.impulse, self.impulse_step).min(share(self.slack, self.slack_step))
    }

    /// `γ s` so far on the way.
    fn product_at(&self, share: f64) -> f64 {
        (self.impulse + share * self.impulse_step) * (self.slack + share * self.slack_step)
    }
}

/// Scratch of the method.
#[derive(Clone, Debug, Default)]
pub(crate) struct InteriorPoint {
    /// One for every constraint.
    sides: Vec<Side>,
    conjugate_gradients: ConjugateGradients,
}

/// Whether the method is for this problem: many constraints, most of which only push. Friction that slips takes it as many steps as Newton's method,
/// of which each needs a factor.
pub(crate) fn applies<S: Structure>(structure: &mut S, constraints: &[Constraint]) -> bool {
    if constraints.len() < PARAMETERS.min_constraints {
        return false;
    }
    let rows: usize = constraints.iter().map(Constraint::rows).sum();
    let frictional = constraints.iter().filter(|c| c.law.has_bound() && half_width(&c.law) > 0.0).count();
    rows > SolverParameters::STANDARD.convex.rows_of_jams * structure.nv()
        && (2 * frictional < structure.nv() || structure.nv() >= PARAMETERS.dear_factor)
        && constraints.iter().all(|c| c.law.kind != LawKind::Cone && c.can_predict())
        && structure.operator().is_some()
}

/// Goes from the iterate to near the solution, and sets the free velocities there, from which constraints predict themselves.
///
/// # Errors
/// If the structure was told to stop.
pub(crate) fn approach<S: Structure>(
    iteration: &mut Iteration<'_, S>,
    constraints: &mut [Constraint],
    ws: &mut ConvexWorkspace,
    scratch: &mut InteriorPoint,
) -> Result<(), Error> {
    let mut mu = scratch.start(constraints, ws);
    if mu <= 0.0 {
        return Ok(());
    }
    for _ in 0..PARAMETERS.max_steps {
        let elastic = scratch.linearise(constraints, mu, ws);
        let gap = scratch.complementarity(0.0);
        if gap <= PARAMETERS.end * elastic {
            break;
        }
        iteration.check_interrupt()?;
        iteration.iterations += 1;
        mu = gap / scratch.one_sided().count() as f64;
        ws.impulse.fill(0.0);
        iteration.structure.add_transpose(&ws.current.gamma, &mut ws.impulse);
        let Some(operator) = iteration.structure.operator() else { break };
        operator.set(&ws.hessian);
        ws.dv.fill(0.0);
        scratch.one_sided_mut().for_each(|side| side.impulse_step = 0.0);
        // How far a step to γ s = 0 gets says how far μ may fall in this one, and what the linear model leaves out.
        let share = scratch.find_step(iteration.structure, 0.0, ws);
        let left = (scratch.complementarity(share) / gap).clamp(0.0, 1.0);
        let share = scratch.find_step(iteration.structure, left.powi(3) * mu, ws);
        if !ws.dv.iter().all(|x| x.is_finite()) {
            break;
        }
        ws.set_dual(constraints);
        let share = f64::min(PARAMETERS.to_boundary * share, 1.0);
        axpy(share, &ws.dv, iteration.v);
        axpy(share, &ws.dp, &mut ws.momentum);
        axpy(share, &ws.dv_c, &mut ws.current.v_c);
        for side in scratch.one_sided_mut() {
            side.impulse += share * side.impulse_step;
            side.slack += share * side.slack_step;
        }
    }
    let crowding = ws.crowding();
    for constraint in &mut *constraints {
        *constraint = constraint.with_delassus(constraint.delassus() / crowding);
    }
    for (constraint, rows) in constraints.iter().zip(rows_of(constraints)) {
        let (v_c, gamma) = (&ws.current.v_c[rows.clone()], &ws.current.gamma[rows.clone()]);
        constraint.free_velocity(v_c, gamma, &mut ws.free[rows]);
    }
    ws.current.update(constraints);
    Ok(())
}

impl ConvexWorkspace {
    /// How many rows share what moves a body, most of them with one more.
    fn crowding(&self) -> f64 {
        2.0 * self.dv_c.len() as f64 / self.dv.len() as f64
    }
}

impl InteriorPoint {
    fn one_sided(&self) -> impl Iterator<Item = &Side> {
        self.sides.iter().filter(|side| side.row.is_some())
    }

    fn one_sided_mut(&mut self) -> impl Iterator<Item = &mut Side> {
        self.sides.iter_mut().filter(|side| side.row.is_some())
    }

    /// Σ γ s so far on the way.
    fn complementarity(&self, share: f64) -> f64 {
        self.one_sided().map(|side| side.product_at(share)).sum()
    }

    /// Puts all sides where `γ s` is the `μ` that is returned: one that is great beside what constraints alone would make of the velocities.
    fn start(&mut self, constraints: &[Constraint], ws: &ConvexWorkspace) -> f64 {
        self.sides.clear();
        let (mut violated, mut energy) = (0.0_f64, 0.0);
        for (constraint, rows) in constraints.iter().zip(rows_of(constraints)) {
            let mut side = Side::new(constraint, rows.start);
            if let Some(row) = side.row {
                side.gap = ws.current.v_c[row] - constraint.law.v_hat[row - rows.start];
                if side.gap < 0.0 {
                    violated += 1.0;
                    energy += side.gap * side.gap / constraint.delassus();
                }
            }
            self.sides.push(side);
        }
        let crowding = ws.crowding();
        let mu = PARAMETERS.first_mu * energy / (violated.max(1.0) * crowding);
        for (side, constraint) in self.sides.iter_mut().zip(constraints) {
            side.start(constraint.delassus() * crowding.sqrt(), mu);
        }
        mu
    }

    /// Sets impulses and G at the iterate; returns Σ γ R γ.
    fn linearise(&mut self, constraints: &[Constraint], mu: f64, ws: &mut ConvexWorkspace) -> f64 {
        let ConvexWorkspace { current, hessian, dual, .. } = ws;
        let mut elastic = 0.0;
        for (k, (constraint, rows)) in constraints.iter().zip(rows_of(constraints)).enumerate() {
            let (law, side) = (&constraint.law, &mut self.sides[k]);
            let soft = f64::min(constraint.delassus(), mu / half_width(law).powi(2));
            let response =
                law.respond(widened(&current.v_c[rows.clone()]), law.stiffness(soft), Bounds::Given, [0.0; 3]);
            let (mut impulse, mut block) = (response.impulse, response.hessian());
            if law.kind == LawKind::BoundedFriction {
                block = dual::of_disc(&block, &impulse, &dual[rows.clone()], law.r[0] + soft);
            }
            if let Some(row) = side.row {
                let own = row - rows.start;
                side.gap = current.v_c[row] - law.v_hat[own];
                side.g = 1.0 / (side.r + side.slack / side.impulse);
                impulse[own] = side.impulse;
                block.0[if own == 0 { 0 } else { 5 }] = side.g;
            }
            elastic += (0..3).map(|row| law.r[row] * impulse[row] * impulse[row]).sum::<f64>();
            hessian[k] = block;
            narrow(impulse, &mut current.gamma[rows]);
        }
        elastic
    }

    /// Sets the step to where `γ s = μ`, what the linear model leaves out being as in the last one; returns the share of it up to which impulses
    /// and slacks are positive. `Δv` is the guess.
    fn find_step<S: Structure>(&mut self, structure: &mut S, mu: f64, ws: &mut ConvexWorkspace) -> f64 {
        let ConvexWorkspace { predicted, descent, impulse, momentum, dv, dp, dv_c, .. } = ws;
        predicted.gamma.fill(0.0);
        for side in &mut self.sides {
            if let Some(row) = side.row {
                predicted.gamma[row] = side.aim(mu);
            }
        }
        for ((descent, impulse), momentum) in descent.iter_mut().zip(&*impulse).zip(&*momentum) {
            *descent = impulse - momentum;
        }
        structure.add_transpose(&predicted.gamma, descent);
        self.conjugate_gradients.solve(structure, descent, dv);
        structure.products(dv, dp, dv_c);
        let mut share = f64::INFINITY;
        for side in &mut self.sides {
            if let Some(row) = side.row {
                share = share.min(side.respond(dv_c[row]));
            }
        }
        share.min(1.0)
    }
}

/// Half the distance of the bounds of an impulse.
fn half_width(law: &Law<f64>) -> f64 {
    match law.kind {
        LawKind::One | LawKind::Three => 0.5 * (law.high[0] - law.low[0]),
        LawKind::Torsion => law.friction[2] * law.normal_impulse[2],
        LawKind::BoundedFriction | LawKind::Rolling | LawKind::Cone => law.friction[0] * law.normal_impulse[0],
    }
}
