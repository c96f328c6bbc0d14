//! What is asked of the solutions of contact problems.

use sap::SolverParameters;
use sap::contact_blocks::{Bounds, Limits};
use spatial::Real;

/// Newton steps of a problem at most.
pub(super) const STEPS: usize = SolverParameters::STANDARD.contact_space.max_steps;

/// |F| over the tolerance of the solver from which on the residual is looked at, which tells whether a problem is solved. Of steps of robots
/// that were solved at 1e-4 without a look, up to 0.5 % missed the tolerance.
const EXACT: f64 = 1e-2;

/// What is asked of problems in 32 bits at most.
const SINGLE: Limits = Limits {
    bounds: Bounds::Given,
    steps: STEPS,
    excess: 1e-5,
    round_off: 0.0,
    at_start: 1e-3,
    late: 1e-3,
    residual: f64::INFINITY,
    near: 0.0,
};
/// Rolling and torsional friction is little beside other momentum.
const SINGLE_OF_SPIN: Limits = Limits { excess: 1e-6, at_start: 1e-4, late: 1e-4, ..SINGLE };

/// What limits follow from, beside the precision.
pub(super) struct Asked {
    /// Of the solver's options.
    pub tolerance: f64,
    pub bounds: Bounds,
    /// Whether some friction is torsional or rolling.
    pub has_spin: bool,
}

impl Asked {
    pub fn limits<T: Real>(self) -> Limits {
        let Self { tolerance, bounds, has_spin } = self;
        let round_off = SolverParameters::STANDARD.round_off;
        let double = Limits {
            bounds,
            steps: STEPS,
            excess: (EXACT * tolerance).max(round_off),
            round_off,
            at_start: tolerance,
            late: tolerance,
            residual: tolerance,
            near: tolerance,
        };
        if !T::IS_SINGLE {
            return double;
        }
        let single = if has_spin { SINGLE_OF_SPIN } else { SINGLE };
        Limits {
            bounds,
            excess: single.excess.max(double.excess),
            at_start: single.at_start.max(tolerance),
            late: single.late.max(tolerance),
            ..single
        }
    }
}
