//! Coulomb's law by the proximal point method, from far away.
//!
//! Semismooth Newton ([`super::semismooth`]) solves soft contacts in a step or two: those with `R + τ w` in place of `R`, `τ` 0.01 or more.
//! From the impulses `γₖ` of such a solution the next one is that of
//!
//! ```text
//! γ = law(v_c − τ w γₖ) with R + τ w in place of R
//! ```
//!
//! whose fixed point, for any `τ`, meets the law itself. A large `τ` is slow and robust, a small one nearly Newton's method for the law:
//! `τ` falls from step to step, and rises where a step fails or goes too far.
//!
//! Source: Rockafellar, *Monotone Operators and the Proximal Point Algorithm*, SIAM J. Control Optim. 14, 1976.

use crate::convex::Iteration;
use crate::parameters::{ProximalPointParameters, SolverParameters};
use crate::softness::{Softness, Step};
use crate::vector::axpy;
use crate::{Constraint, Error, Options, Structure, Workspace};

use super::friction_residual::meets_coulomb;
use super::semismooth::{linearise_alone, set_own_bounds};

const PARAMETERS: ProximalPointParameters = SolverParameters::STANDARD.proximal_point;

/// Where the method starts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Start {
    /// At the free velocities of the step before.
    StepBefore,
    /// At `v*`, with what each constraint alone would push there.
    FreeMotion,
    /// At `v*`, without impulses.
    NoImpulses,
}

impl<S: Structure> Iteration<'_, S> {
    /// Looks for velocities that meet Coulomb's law; returns whether they do. Bounds of friction are the contacts' own then; else velocities are
    /// as they were, and bounds those that came nearest.
    pub(super) fn solve_proximal_point(
        &mut self,
        start: Start,
        constraints: &mut [Constraint],
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<bool, Error> {
        match start {
            Start::StepBefore => ws.convex.start_predictions(constraints),
            Start::FreeMotion | Start::NoImpulses => ws.convex.free.copy_from_slice(&ws.convex.v_c_star),
        }
        set_own_bounds(constraints, &ws.convex.free, Constraint::delassus);
        ws.convex.predicted.predict(constraints, &ws.convex.free);
        match start {
            Start::NoImpulses => ws.proximal.gamma.fill(0.0),
            Start::StepBefore | Start::FreeMotion => ws.proximal.gamma.copy_from_slice(&ws.convex.predicted.gamma),
        }
        ws.proximal.free.copy_from_slice(&ws.convex.free);
        let most = match start {
            Start::NoImpulses => PARAMETERS.max_factorizations_of_last,
            Start::StepBefore | Start::FreeMotion => PARAMETERS.max_factorizations,
        };
        // A pivot may be zero, or so small that numbers overflow.
        if let Ok(true) = self.proximal_point(constraints, most, options, ws) {
            return Ok(true);
        }
        self.restore(constraints, ws)?;
        // The bounds of the last step are nearer than those of the step before; predictions go on from it.
        let Workspace { proximal, convex, .. } = &mut *ws;
        set_own_bounds(constraints, &proximal.free, Constraint::delassus);
        convex.current.update(constraints);
        convex.free.copy_from_slice(&proximal.free);
        Ok(false)
    }

    fn proximal_point(
        &mut self,
        constraints: &mut [Constraint],
        most: usize,
        options: &Options,
        ws: &mut Workspace,
    ) -> Result<bool, Error> {
        let mut softness = Softness::new();
        let mut least_residual = f64::INFINITY;
        let last = self.iterations + most;
        while !self.is_budget_spent() && self.iterations < last {
            ws.proximal.soften(constraints, softness.tau);
            let step = self.proximal_step(&softness, ws)?;
            let is_accepted = softness.is_accepted(&step);
            // Where the law was met already, round-off alone may be why a step is not accepted.
            if step.change < PARAMETERS.near_change && (is_accepted || meets_coulomb(least_residual, options)) {
                let residual = self.own_residual(constraints, ws)?;
                let falls = residual < PARAMETERS.stall_reduction * least_residual;
                least_residual = f64::min(residual, least_residual);
                // Bodies at rest would creep by the residual: another step costs less than that.
                if self.is_solved || meets_coulomb(residual, options) && !falls {
                    return Ok(true);
                }
            }
            softness.follow(&step);
            if !is_accepted {
                ws.convex.free.copy_from_slice(&ws.proximal.free);
                continue;
            }
            let Workspace { proximal, convex, .. } = &mut *ws;
            axpy(1.0, &proximal.shift, &mut convex.free);
            proximal.free.copy_from_slice(&convex.free);
            proximal.gamma.copy_from_slice(&convex.predicted.gamma);
        }
        Ok(false)
    }

    /// Newton's method for the softened constraints of the step, from the free velocities that were accepted last. Free velocities and the predicted
    /// impulses are those of the constraints then.
    fn proximal_step(&mut self, softness: &Softness, ws: &mut Workspace) -> Result<Step, Error> {
        let mut softened = std::mem::take(&mut ws.proximal.softened);
        let result = self.newton_for_softened(&mut softened, softness, ws);
        ws.proximal.softened = softened;
        result
    }

    fn newton_for_softened(
        &mut self,
        softened: &mut [Constraint],
        softness: &Softness,
        ws: &mut Workspace,
    ) -> Result<Step, Error> {
        let mut step = Step::NONE;
        linearise_shifted(softened, ws);
        for newton_steps in 1..=PARAMETERS.max_newton_steps {
            if self.is_budget_spent() {
                break;
            }
            self.factor_unsymmetric(softened, ws)?;
            self.balance(softened, ws);
            linearise_shifted(softened, ws);
            let Workspace { proximal, convex, .. } = &*ws;
            let error = relative_distance(softened, &convex.predicted.gamma, &convex.dual);
            let change = relative_distance(softened, &convex.predicted.gamma, &proximal.gamma);
            step = Step { error, change, newton_steps };
            if softness.is_solved(&step) || !error.is_finite() {
                break;
            }
        }
        Ok(step)
    }
}

/// The linear model of the softened constraints at the free velocities, which are shifted by this.
fn linearise_shifted(softened: &mut [Constraint], ws: &mut Workspace) {
    axpy(-1.0, &ws.proximal.shift, &mut ws.convex.free);
    linearise_alone(softened, ws);
    axpy(1.0, &ws.proximal.shift, &mut ws.convex.predicted.v_c);
}

/// `‖x − y‖ / ‖x‖`, impulses weighted by each constraint's share of the Delassus operator.
fn relative_distance(constraints: &[Constraint], x: &[f64], y: &[f64]) -> f64 {
    let (mut distance, mut size, mut row) = (0.0, 0.0, 0);
    for constraint in constraints {
        let rows = row..row + constraint.rows();
        let w = constraint.delassus();
        for (x, y) in x[rows.clone()].iter().zip(&y[rows.clone()]) {
            distance += w * (x - y) * (x - y);
            size += w * x * x;
        }
        row = rows.end;
    }
    if distance > 0.0 { (distance / size).sqrt() } else { 0.0 }
}
