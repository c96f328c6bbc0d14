//! Step length along a Newton direction, at `O(n_v + n_c)` for each trial:
//!
//! ```text
//! ℓ(α)     = ℓ_A(0) + α Δvᵀp + ½α² ΔvᵀΔp + Σ_k ℓ_k(v_c + α Δv_c),       p = A(v − v*),  Δp = A Δv,  Δv_c = J Δv
//! dℓ/dα    = Δvᵀp + α ΔvᵀΔp − Δv_cᵀ γ(α)
//! d²ℓ/dα²  = ΔvᵀΔp + Δv_cᵀ G(α) Δv_c
//! ```

use crate::rtsafe::{Sample, rtsafe};
use crate::vector::{axpy, dot};
use crate::workspace::Evaluation;
use crate::{Constraint, LineSearch};

/// An exact line search ends when the slope has fallen to this fraction of the slope at `α = 0`.
const SLOPE_TOLERANCE: f64 = 1e-8;
/// The ratio of the inexact line search's steps.
const BACKTRACK: f64 = 0.8;
/// Armijo's constant: the decrease asked for, as a fraction of what the slope predicts.
const ARMIJO: f64 = 1e-4;
/// `0.8^MAX_BACKTRACKS` is below round-off.
const MAX_BACKTRACKS: usize = 170;

/// The problem restricted to `v + α Δv`.
pub(crate) struct Line<'a> {
    pub constraints: &'a [Constraint],
    /// The constraints at `α = 0`.
    pub current: &'a Evaluation,
    /// The constraints at the last trial `α`.
    pub trial: &'a mut Evaluation,
    pub dv_c: &'a [f64],
    /// `½ ‖v − v*‖²_A` at `α = 0`.
    pub kinetic: f64,
    /// `dℓ/dα` at `α = 0`, negative.
    pub slope: f64,
    /// `Δvᵀp`
    pub dv_p: f64,
    /// `ΔvᵀΔp`
    pub dv_dp: f64,
    /// Trials so far.
    pub evaluations: usize,
}

impl Line<'_> {
    /// Finds `α`; `trial` is then the evaluation there.
    pub fn search(&mut self, method: LineSearch) -> f64 {
        match method {
            LineSearch::Exact => self.exact(),
            LineSearch::Inexact => self.inexact(),
        }
    }

    /// `½ ‖v(α) − v*‖²_A`
    pub fn kinetic_at(&self, alpha: f64) -> f64 {
        self.kinetic + alpha * (self.dv_p + 0.5 * alpha * self.dv_dp)
    }

    fn evaluate(&mut self, alpha: f64) {
        self.trial.v_c.copy_from_slice(&self.current.v_c);
        axpy(alpha, self.dv_c, &mut self.trial.v_c);
        self.trial.update(self.constraints);
        self.evaluations += 1;
    }

    /// `dℓ/dα` and `d²ℓ/dα²` at `alpha`.
    fn sample(&mut self, alpha: f64) -> Sample {
        self.evaluate(alpha);
        let mut derivative = self.dv_dp;
        let mut start = 0;
        for (constraint, hessian) in self.constraints.iter().zip(&self.trial.hessian) {
            let end = start + constraint.rows();
            if hessian.is_active() {
                derivative += hessian.quadratic_form(&self.dv_c[start..end]);
            }
            start = end;
        }
        let value = self.dv_p + alpha * self.dv_dp - dot(self.dv_c, &self.trial.gamma);
        Sample { x: alpha, value, derivative }
    }

    fn exact(&mut self) -> f64 {
        let tolerance = SLOPE_TOLERANCE * -self.slope;
        let one = self.sample(1.0);
        // Beyond α = 1 the slope rises by ΔvᵀΔp or more per unit of α.
        let (lo, hi) = if one.value < 0.0 { (1.0, 1.0 - one.value / self.dv_dp) } else { (0.0, 1.0) };
        rtsafe(|alpha| self.sample(alpha), lo, hi, one, tolerance).x
    }

    fn inexact(&mut self) -> f64 {
        let cost = self.kinetic + self.current.cost;
        let round_off = f64::EPSILON * cost;
        let mut alpha = 1.0;
        for _ in 0..MAX_BACKTRACKS {
            self.evaluate(alpha);
            let trial = self.kinetic_at(alpha) + self.trial.cost;
            if trial.is_nan() || trial <= cost + ARMIJO * alpha * self.slope + round_off {
                break;
            }
            alpha *= BACKTRACK;
        }
        alpha
    }
}
