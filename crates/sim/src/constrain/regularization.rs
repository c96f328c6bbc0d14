//! From compliance to regularisation.

use lanes::{RowLaw, RowWeight, Rule, Turning};
use multibody::Compliance;
use sap::Law;
use spatial::Vec3;

use super::step_average::{Mean, Passage};
use crate::Theta;

/// Parameters that turn compliance into regularisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Regularization {
    pub theta: Theta,
    /// Where in the step an implicit scheme takes compliant constraints that it resolves.
    pub constraint_theta: f64,
    /// The laws where positions follow the velocity at the end of the step.
    pub of_step: Rule,
    /// How much farther off than within reach of the step limits count, m or rad.
    pub margin: f64,
}

/// The violation of a constraint at the beginning of a step, its rate there and the rate that the step is expected to lead to:
/// of a gap, below zero when violated. Rates are zero where the scheme does not ask for them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Start<T> {
    pub violation: T,
    pub rate: T,
    pub led: T,
}

impl Regularization {
    /// Whether positions follow the velocity at the end of the step, from where it begins.
    fn is_plain(&self) -> bool {
        self.theta.q == 0.0 && self.theta.vq == 1.0
    }

    /// φ₀ and its rates, from the violation φ at the positions where the scheme takes constraints. `rates` are φ̇ at the velocities at the
    /// beginning and at those that led to these positions; they are asked for only if the law needs them.
    #[inline(always)]
    pub fn start<T>(&self, compliance: Compliance, violation: T, rates: impl FnOnce() -> [T; 2]) -> Start<T>
    where
        T: Copy + Default + std::ops::Sub<Output = T> + std::ops::Add<Output = T> + std::ops::Mul<f64, Output = T>,
    {
        let Theta { q, vq, .. } = self.theta;
        if self.is_plain() && compliance == Compliance::NearRigid {
            return Start { violation, rate: T::default(), led: T::default() };
        }
        let [rate, led] = rates();
        Start { violation: violation - (led * vq + rate * (1.0 - vq)) * (self.of_step.dt * q), rate, led }
    }

    /// How rows turn that velocities accelerate so, J̇ v₀.
    pub fn turning(&self, acceleration: Vec3<f64>) -> Turning<f64> {
        let before = if self.is_plain() { 0.5 } else { self.theta.q };
        Turning { drift: acceleration * self.of_step.dt, before }
    }

    /// (R_n, v̂_n) of a one-sided constraint.
    pub fn normal(&self, compliance: Compliance, start: Start<f64>, weight: RowWeight<f64>) -> OneSided {
        if self.is_plain() {
            let of = self.of_step.one_sided(&compliance, weight, start.violation, || start.rate);
            return OneSided { of, touching: 0.0, is_midway: false };
        }
        let law = self.compliant(compliance, weight, start.violation.abs());
        let RowLaw { r, per_rate, fastest, is_rigid, .. } = law.of;
        let mut v_hat = law.of.v_hat(start.violation, start.rate).min(fastest);
        if start.violation >= 0.0 && matches!(compliance, Compliance::Reference(_)) {
            v_hat = v_hat.min(-start.violation / self.of_step.dt);
        }
        let of = lanes::OneSided { r, v_hat, is_rigid };
        let whole = OneSided { of, touching: per_rate * start.rate, is_midway: law.is_midway };
        let time = -1.0 / law.of.per_violation;
        let is_spring = matches!(compliance, Compliance::Physical { .. });
        if law.is_midway && is_spring {
            self.passing(whole, time, start, weight.w * self.of_step.near_rigid)
        } else {
            whole
        }
    }

    /// Dry friction of at most so much `force`, by its rate at the beginning of the step.
    pub fn dry_friction(&self, compliance: Compliance, weight: RowWeight<f64>, rate: f64, force: f64) -> Law<f64> {
        let (law, bound) = (self.of_step.dry_friction(&compliance, weight), self.of_step.dt * force);
        Law::bounded(law.r, law.v_hat(0.0, rate), -bound, bound)
    }

    /// The law of a constraint that is taken in the middle of the step. Where it pushes during a part of the step only, the law is the
    /// tangent of its mean force at the rate that the step is expected to lead to: R = max(R_whole `time`/slope, `least`). A constraint
    /// that the step does not reach does not push.
    fn passing(&self, whole: OneSided, time: f64, start: Start<f64>, least: f64) -> OneSided {
        let relaxation = 2.0 * time - 0.5 * self.of_step.dt;
        let step_average = Passage::new(self.of_step.dt, relaxation, start.violation, [start.rate, start.led]);
        let lanes::OneSided { r, v_hat, .. } = whole.of;
        let at = |r, v_hat| OneSided { of: lanes::OneSided { r, v_hat, ..whole.of }, ..whole };
        if step_average.is_apart() {
            return at(r, v_hat.min(step_average.closing_rate()));
        }
        match step_average.mean() {
            None => whole,
            Some(Mean { force: 0.0, .. }) => at(r, v_hat.min(start.led)),
            // R⁻¹ of the whole is dt k time. None is harder than a near-rigid one.
            Some(Mean { force, slope }) => {
                let softer = (r * time / slope).max(least);
                at(softer, start.led + force * softer / (r * time))
            }
        }
    }

    /// What a constraint's compliance makes of its law; `size` is that of the violation.
    ///
    /// A near-rigid constraint that starts violated would be right within the step, whatever the speed; it recovers at
    /// `recovery_speed` at most.
    ///
    /// Under implicit schemes a force k (φ + τ φ̇) at φ₀ + a dt (a v + (1 − a) v₀) has R⁻¹ = dt k a (a dt + τ). `a` is that of the scheme
    /// where the step resolves the compliance, and nears 1 where it does not: a stiff constraint would ring at a = ½. The part of the step's
    /// motion that v₀ makes alone, 1 − θ_vq of it, is predicted by constraints at the end of the step.
    #[inline]
    pub fn compliant(&self, compliance: Compliance, weight: RowWeight<f64>, size: f64) -> Compliant {
        if self.is_plain() {
            return Compliant { of: self.of_step.law(&compliance, weight, size, 1.0), is_midway: false };
        }
        let (dt, w) = (self.of_step.dt, weight.w);
        let unseen = dt * (1.0 - self.theta.vq);
        let mut at_end = compliance;
        if let Compliance::Physical { stiffness, relaxation } = compliance {
            let a = self.evaluation(stiffness * w, relaxation);
            let time = a * (a * dt + relaxation);
            let r = 1.0 / (dt * stiffness * time);
            if r > w * self.of_step.near_rigid {
                let lag = (1.0 - a) * (a * dt + relaxation) + (2.0 * a - 1.0) * unseen;
                let (per_violation, per_rate) = (-1.0 / time, -lag / time);
                let of = RowLaw { r, per_violation, per_rate, fastest: f64::INFINITY, is_rigid: 0.0 };
                return Compliant { of, is_midway: a == 0.5 };
            }
            at_end = Compliance::NearRigid;
        }
        let of = self.of_step.law(&at_end, weight, size, 1.0);
        // The acceleration of a reference is J v̇, without what rows turn by.
        let is_midway = matches!(at_end, Compliance::Reference(_));
        Compliant { of: RowLaw { per_rate: of.per_violation.mul_add(unseen, of.per_rate), ..of }, is_midway }
    }

    /// Where in the step a constraint is taken whose oscillation has the rate ω = `squared_rate`^½.
    pub fn evaluation(&self, squared_rate: f64, relaxation: f64) -> f64 {
        if self.constraint_theta >= 1.0 {
            return self.constraint_theta;
        }
        let angle = self.of_step.dt * squared_rate.sqrt().max(squared_rate * relaxation);
        self.constraint_theta.max(1.0 - 0.5 / angle)
    }
}

/// The law of a one-sided constraint over a step: γ = max(0, (v̂ − v_c)/R).
#[derive(Clone, Copy, Debug)]
pub(crate) struct OneSided {
    pub of: lanes::OneSided<f64>,
    /// v̂ of the same constraint if it were just touching.
    pub touching: f64,
    /// Whether it is taken in the middle of the step, where its normal row is as it should be and need not be turned to its end.
    pub is_midway: bool,
}

impl OneSided {
    /// Whether it is near-rigid, so that what hits it is stopped at once.
    pub fn is_rigid(&self) -> bool {
        self.of.is_rigid > 0.0
    }

    /// v̂ for the velocity at the end of the step ([`Rule::v_hat_at_end`]), and where positions have to be righted as well, v̂ for the velocity
    /// that moves them.
    pub fn split(&self, impulse_before: Option<f64>, rule: &Rule) -> (f64, Option<f64>) {
        let given_back = self.touching.max(0.0) + self.of.r * impulse_before.unwrap_or(0.0);
        let v_hat = rule.v_hat_at_end(&self.of, given_back);
        (v_hat, (v_hat < self.of.v_hat).then_some(self.of.v_hat))
    }
}

/// The law of a row of a constraint, or of some rows that are alike.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compliant {
    pub of: RowLaw<f64>,
    /// Whether it is taken in the middle of the step, which resolves it, or as if it were.
    pub is_midway: bool,
}

impl Compliant {
    /// Whether it is near-rigid.
    pub fn is_rigid(&self) -> bool {
        self.of.is_rigid > 0.0
    }

    /// How much of what rows turn by from the place of the law to the end of the step counts: nothing in the middle of it, where rows
    /// are as they should be.
    pub fn turned(&self) -> f64 {
        if self.is_midway { 0.0 } else { 1.0 }
    }

    /// v̂ of one row.
    pub fn scalar_bias(&self, start: Start<f64>) -> f64 {
        self.of.bias(start.violation, start.rate)
    }
}
