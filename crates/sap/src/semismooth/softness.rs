//! The softness of the proximal point method, from step to step.

use crate::parameters::{ProximalPointParameters, SolverParameters};

const PARAMETERS: ProximalPointParameters = SolverParameters::STANDARD.proximal_point;

/// The greatest `τ` of a step that follows one that was not accepted: each constraint is as soft again as what it pushes.
const MAX_SOFTNESS: f64 = 1.0;

/// What a step of the method did.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// How far its impulses are from those of the constraints, and from those of the step before, relative to the former.
    pub error: f64,
    pub change: f64,
    pub newton_steps: usize,
}

impl Step {
    /// Nothing was done yet.
    pub const NONE: Self = Self { error: f64::INFINITY, change: f64::INFINITY, newton_steps: 0 };
}

/// How soft constraints are in the next step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Softness {
    /// `τ`
    pub tau: f64,
    /// The change of the last step that was accepted.
    last_change: f64,
}

impl Softness {
    pub fn new() -> Self {
        Self { tau: PARAMETERS.first_softness, last_change: PARAMETERS.first_change }
    }

    /// Whether the softened problem of a step is solved far enough.
    pub fn is_solved(&self, step: &Step) -> bool {
        step.error <= PARAMETERS.error_fraction * f64::min(step.change, self.last_change)
    }

    /// Whether the next step is to go on from this one. Where nothing can be softer, it may change as much as it will: the first impulses may
    /// be far from any that push now.
    pub fn is_accepted(&self, step: &Step) -> bool {
        let is_softest = self.tau >= MAX_SOFTNESS;
        self.is_solved(step) && (is_softest || step.change < PARAMETERS.max_growth * self.last_change)
    }

    /// Goes on from a step: the next one is harder where this was accepted and took little.
    pub fn follow(&mut self, step: &Step) {
        if !self.is_accepted(step) {
            self.tau = f64::min(PARAMETERS.rise * self.tau, MAX_SOFTNESS);
            return;
        }
        self.last_change = f64::max(step.change, PARAMETERS.least_change);
        if step.newton_steps == 1 {
            self.tau = f64::max(PARAMETERS.fall * self.tau, PARAMETERS.least_softness);
        } else if step.newton_steps == PARAMETERS.max_newton_steps {
            self.tau *= 2.0;
        }
    }
}
