//! Step length along a Newton direction, at `O(n_v + n_c)` for each trial:
//!
//! ```text
//! ℓ(α)     = ℓ_A(0) + α Δvᵀp + ½α² ΔvᵀΔp + Σ_k ℓ_k(v_c + α Δv_c),       p = A(v − v*),  Δp = A Δv,  Δv_c = J Δv
//! dℓ/dα    = Δvᵀp + α ΔvᵀΔp − Δv_cᵀ γ(α)
//! d²ℓ/dα²  = ΔvᵀΔp + Δv_cᵀ G(α) Δv_c
//! ```

use crate::Constraint;
use crate::constraint::rows_of;
use crate::parameters::{LineSearchParameters, SolverParameters};
use crate::vector::{axpy, dot, sum};

use super::rtsafe::{Sample, rtsafe};
use super::workspace::Evaluation;

const PARAMETERS: LineSearchParameters = SolverParameters::STANDARD.line_search;

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
    /// `½ ‖v(α) − v*‖²_A`
    pub fn kinetic_at(&self, alpha: f64) -> f64 {
        self.kinetic + alpha * (self.dv_p + 0.5 * alpha * self.dv_dp)
    }

    /// Sets `trial` to the evaluation at `alpha`.
    pub fn evaluate(&mut self, alpha: f64) {
        self.trial.v_c.copy_from_slice(&self.current.v_c);
        axpy(alpha, self.dv_c, &mut self.trial.v_c);
        self.trial.update(self.constraints);
        self.evaluations += 1;
    }

    /// `dℓ/dα` and `d²ℓ/dα²` at `alpha`, and whether the search may end there.
    fn sample(&mut self, alpha: f64) -> Sample {
        self.evaluate(alpha);
        let mut derivative = self.dv_dp;
        for (hessian, rows) in self.trial.hessian.iter().zip(rows_of(self.constraints)) {
            if hessian.is_active() {
                derivative += hessian.quadratic_form(&self.dv_c[rows]);
            }
        }
        let kinetic = self.dv_p + alpha * self.dv_dp;
        let constraint = -dot(self.dv_c, &self.trial.gamma);
        let value = kinetic + constraint;
        let is_round_off = |size: f64| value.abs() <= SolverParameters::STANDARD.round_off * size;
        let flat = value.abs() <= -PARAMETERS.slope_fraction * self.slope
            || is_round_off(kinetic.abs() + constraint.abs())
            || is_round_off(self.opposing());
        // The cost is convex: where the slope is still negative, it has fallen all the way.
        let accepted = flat && (value <= 0.0 || self.decreases(alpha));
        Sample { x: alpha, value, derivative, accepted }
    }

    /// `Σ |Δv_c γ|` at the trial. Where constraints push against each other, as in a jam, their sum is round-off of this.
    fn opposing(&self) -> f64 {
        let gamma = &self.trial.gamma;
        sum(self.dv_c, gamma, gamma, |dv_c, gamma, _| (dv_c * gamma).abs())
    }

    /// Finds `α`, the root of the slope within the whole step; `trial` is then the evaluation there. The quadratic model knows nothing of
    /// what lies beyond: to follow the cost there takes contacts apart that the next step has to find again.
    pub fn search(&mut self) -> f64 {
        let one = self.sample(1.0);
        if one.value <= 0.0 {
            return 1.0;
        }
        rtsafe(|alpha| self.sample(alpha), 0.0, 1.0, one).x
    }

    /// Armijo's condition on the trial at `alpha`, up to round-off of the cost.
    fn decreases(&self, alpha: f64) -> bool {
        let cost = self.kinetic + self.current.cost;
        let trial = self.kinetic_at(alpha) + self.trial.cost;
        trial <= cost + PARAMETERS.armijo_fraction * alpha * self.slope + PARAMETERS.cost_round_off * cost.abs()
    }
}
