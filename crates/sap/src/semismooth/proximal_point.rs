//! The proximal point method, for what Newton's method does not solve from far away.
//!
//! Newton's method, which cycles where constraints are near-rigid, solves soft ones in a step or two: those with `R + τ w` in place of `R`,
//! `τ` 0.01 or more. From the impulses `λₖ` of such a solution the next one is that of
//!
//! ```text
//! λ = law(v_c − τ w λₖ) with R + τ w in place of R
//! ```
//!
//! whose fixed point, for any `τ`, meets the law itself. A large `τ` is slow and robust, a small one nearly Newton's method for the law:
//! `τ` falls from step to step, and rises where a step fails or goes too far.
//!
//! Where each step takes a factorisation, Newton's method for the law itself is tried from an accepted step each time that `τ` has fallen by another
//! order of magnitude: it gives up after a few steps, or spares the rest of the way.
//!
//! Source: Rockafellar, *Monotone Operators and the Proximal Point Algorithm*, SIAM J. Control Optim. 14, 1976.

use super::block_rows::{BlockRows, localise, take_solution};
use super::softness::{Softness, Step};
use super::{Backend, Limits, Progress, newton, start};
use crate::parameters::{ProximalPointParameters, SolverParameters};

const PARAMETERS: ProximalPointParameters = SolverParameters::STANDARD.proximal_point;

/// The impulses that the method starts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FirstImpulses {
    /// What each constraint alone would push at its z.
    Alone,
    None,
}

/// A block as it is without softness, and where the last accepted step led.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Proximal {
    r: [f64; 3],
    v_free: [f64; 3],
    /// `z` and `λₖ`.
    z: [f64; 3],
    lambda: [f64; 3],
    /// The impulses that lead to the velocities of the present step.
    balancing: [f64; 3],
}

impl Proximal {
    fn new(block: &BlockRows<f64>, first: FirstImpulses) -> Self {
        let BlockRows { v_free, z, lambda, .. } = *block;
        let lambda = if first == FirstImpulses::Alone { lambda } else { [0.0; 3] };
        Self { r: block.law.r, v_free, z, lambda, balancing: lambda }
    }

    /// `τ w λₖ`
    fn shift(&self, block: &BlockRows<f64>, tau: f64) -> [f64; 3] {
        [0, 1, 2].map(|row| tau * block.w[row] * self.lambda[row])
    }

    /// Softens the block; `z` is that of the last accepted step.
    fn soften(&self, block: &mut BlockRows<f64>, tau: f64, scaling: f64) {
        let shift = self.shift(block, tau);
        for row in 0..3 {
            block.law.r[row] = self.r[row] + tau * block.w[row];
            block.v_free[row] = self.v_free[row] - shift[row];
            block.z[row] = self.z[row] - shift[row];
        }
        block.rescale(scaling);
    }

    /// Takes the softness back: impulses and velocities are then those of the step, `z` that of its constraints.
    fn harden(&self, block: &mut BlockRows<f64>, tau: f64) {
        let shift = self.shift(block, tau);
        (block.law.r, block.v_free, block.lambda) = (self.r, self.v_free, self.balancing);
        for row in 0..3 {
            block.v_c[row] += shift[row];
            block.z[row] += shift[row];
        }
    }
}

/// Looks for the solution of the problem of `rows`, whose `z` is as [`newton`] takes it; returns the steps of Newton's method,
/// and whether it was found. Else `z` is where the method came to.
pub(crate) fn solve<B: Backend<f64>>(
    rows: &mut [BlockRows<f64>],
    backend: &mut B,
    first: FirstImpulses,
    limits: &Limits,
    scratch: &mut Vec<Proximal>,
) -> (usize, bool) {
    start(rows, 1, B::SCALING, limits.bounds);
    scratch.clear();
    scratch.extend(rows.iter().map(|block| Proximal::new(block, first)));
    let (mut softness, mut progress, mut spent) = (Softness::new(), Progress::new(), 0);
    let (mut residual, mut trial_softness) = (f64::INFINITY, PARAMETERS.first_trial_softness);
    while spent < limits.steps {
        let tau = softness.tau;
        let step = softened_step(rows, backend, &softness, limits, limits.steps - spent, scratch);
        spent += step.newton_steps;
        if step.newton_steps == 0 || step.change.is_nan() {
            break;
        }
        for (block, proximal) in rows.iter_mut().zip(&mut *scratch) {
            let lambda = block.lambda;
            proximal.harden(block, tau);
            if softness.is_accepted(&step) {
                (proximal.z, proximal.lambda) = (block.z, lambda);
            }
        }
        // Where the law was met already, round-off alone may be why a step is not accepted.
        if step.change < PARAMETERS.near_change && (softness.is_accepted(&step) || residual <= limits.near) {
            let (error, momentum) = backend.imbalance(rows, limits.bounds);
            residual = (error.max(0.0) / momentum).sqrt();
            // Bodies at rest would creep by the residual: another step costs less than that.
            if residual < limits.late || progress.stalls(residual) != 0 && residual < limits.near {
                take_solution(rows, 1);
                return (spent, true);
            }
        }
        let is_accepted = softness.is_accepted(&step);
        softness.follow(&step);
        if !B::KNOWS_EXCESS && is_accepted && softness.tau < trial_softness {
            trial_softness = PARAMETERS.trial_fall * softness.tau;
            go_back(rows, scratch, B::SCALING);
            let outcome = newton(rows, backend, 1, &Limits { steps: PARAMETERS.max_trial_steps, ..*limits });
            spent += outcome.slowest as usize;
            if outcome.solved != 0 {
                return (spent, true);
            }
            go_back(rows, scratch, B::SCALING);
        }
    }
    go_back(rows, scratch, B::SCALING);
    (spent, false)
}

/// Puts the blocks, without softness, where the last accepted step led.
fn go_back(rows: &mut [BlockRows<f64>], scratch: &[Proximal], scaling: f64) {
    for (block, proximal) in rows.iter_mut().zip(scratch) {
        (block.law.r, block.v_free) = (proximal.r, proximal.v_free);
        (block.z, block.lambda) = (proximal.z, proximal.lambda);
        block.rescale(scaling);
    }
}

/// Newton's method for the softened problem, in `most` steps at most. Impulses are those of its constraints then.
fn softened_step<B: Backend<f64>>(
    rows: &mut [BlockRows<f64>],
    backend: &mut B,
    softness: &Softness,
    limits: &Limits,
    most: usize,
    scratch: &mut [Proximal],
) -> Step {
    let mut step = Step::NONE;
    for (block, proximal) in rows.iter_mut().zip(&*scratch) {
        proximal.soften(block, softness.tau, B::SCALING);
    }
    localise(rows, 1, limits.bounds);
    for newton_steps in 1..=PARAMETERS.max_newton_steps.min(most) {
        backend.respond(rows, 1);
        if !backend.step(rows, limits.bounds) {
            break;
        }
        for (block, proximal) in rows.iter_mut().zip(&mut *scratch) {
            proximal.balancing = block.lambda;
            block.set_free();
        }
        localise(rows, 1, limits.bounds);
        let error = relative_distance(rows, scratch, |proximal| &proximal.balancing);
        let change = relative_distance(rows, scratch, |proximal| &proximal.lambda);
        step = Step { error, change, newton_steps };
        if softness.is_solved(&step) || !error.is_finite() {
            break;
        }
    }
    step
}

/// How far the impulses of the blocks are from others, relative to the greater of both, weighted by each row's own share of W.
fn relative_distance(rows: &[BlockRows<f64>], proximal: &[Proximal], of: impl Fn(&Proximal) -> &[f64; 3]) -> f64 {
    let (mut distance, mut size, mut other_size) = (0.0, 0.0, 0.0);
    for (block, proximal) in rows.iter().zip(proximal) {
        for (row, other) in of(proximal).iter().enumerate() {
            let (w, own) = (block.w[row], block.lambda[row]);
            distance += w * (own - other) * (own - other);
            size += w * own * own;
            other_size += w * other * other;
        }
    }
    if distance > 0.0 { (distance / f64::max(size, other_size)).sqrt() } else { distance }
}
