//! Coulomb's law by passes: problems in which friction is bounded by given normal impulses, until those are the problem's own.

use crate::{Constraint, Law, Options};

/// The first problem need not be solved closer than this: its bounds are a guess.
const FIRST_TOLERANCE: f64 = 1e-2;
/// Each pass reduces its residual to this fraction of what the change of bounds made of it, or to the tolerance.
const REDUCTION: f64 = 0.1;
/// Bounds that do not settle are moved by half as much, down to this fraction.
const LEAST_STEP: f64 = 1.0 / 64.0;

/// Where the fixed-point iteration on the normal impulses `n₀` stands.
#[derive(Debug)]
pub(crate) struct Passes {
    left: usize,
    /// Changes of the bounds so far.
    pub done: usize,
    /// Relative residual at which the present pass ends.
    pub tolerance: f64,
    /// Relative residual just after the last change of bounds: how far the iterate is from Coulomb's law.
    pub residual: f64,
    /// How far towards the new normal impulses the bounds move.
    step: f64,
}

impl Passes {
    /// One problem alone if no constraint has a bound to move.
    pub fn new(constraints: &[Constraint], options: &Options) -> Passes {
        let bounded = constraints.iter().any(|c| matches!(c.law, Law::Lagged(_) | Law::Spin(_)));
        let left = if bounded { options.passes.saturating_sub(1) } else { 0 };
        let tolerance = if left > 0 { options.tolerance.max(FIRST_TOLERANCE) } else { options.tolerance };
        Passes { left, done: 0, tolerance, residual: 0.0, step: 1.0 }
    }

    /// Whether the bounds may move once more.
    pub fn may_go_on(&self) -> bool {
        self.left > 0
    }

    /// Moves the bounds towards the normal impulses in `gamma`.
    pub fn rebound(&mut self, constraints: &mut [Constraint], gamma: &[f64]) {
        self.left -= 1;
        self.done += 1;
        let (mut row, mut normal) = (0, 0.0);
        for constraint in constraints {
            match &mut constraint.law {
                Law::Lagged(contact) => {
                    let before = contact.normal_impulse();
                    normal = before + self.step * (gamma[row + 2] - before);
                    contact.set_normal_impulse(normal);
                }
                Law::Spin(spin) => spin.set_normal_impulse(normal),
                Law::Contact(_) => normal = gamma[row + 2],
                _ => {}
            }
            row += constraint.rows();
        }
    }

    /// Takes note of the residual with the new bounds.
    pub fn observe(&mut self, residual: f64, options: &Options) {
        if self.done > 1 {
            let slow = residual > 0.7 * self.residual;
            self.step = if slow { (0.5 * self.step).max(LEAST_STEP) } else { (1.5 * self.step).min(1.0) };
        }
        self.residual = residual;
        self.tolerance = if self.left > 0 { options.tolerance.max(REDUCTION * residual) } else { options.tolerance };
    }
}
