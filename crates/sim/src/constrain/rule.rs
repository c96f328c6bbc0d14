//! From compliance to regularisation, from two surfaces to one.

use multibody::{Compliance, Material};
use spatial::Vec3;

/// Parameters that turn compliance into regularisation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rule {
    pub dt: f64,
    pub beta: f64,
    pub sigma: f64,
    pub recovery_speed: f64,
    /// How much farther off than within reach of the step limits count, m or rad.
    pub margin: f64,
}

impl Rule {
    /// (R_n, v̂_n) of a one-sided constraint with gap `gap`, where an impulse meets the inverse effective mass `w`:
    /// R_n = max(β²/(4π²) w, 1/(dt k (dt + τ_d))), v̂_n = −φ₀/(dt + τ_d); near-rigid, τ_d = β dt/π.
    pub fn normal(&self, compliance: Compliance, gap: f64, w: f64) -> (f64, f64) {
        let Compliant { r, time, fastest } = self.compliant(compliance, w);
        (r, (-gap / time).min(fastest))
    }

    /// What a constraint's compliance makes of its law.
    ///
    /// A near-rigid constraint that starts violated would be right within the step, whatever the speed; it recovers at
    /// `recovery_speed` at most.
    pub fn compliant(&self, compliance: Compliance, w: f64) -> Compliant {
        let Self { dt, beta, recovery_speed, .. } = *self;
        let rigid = (beta * beta / (4.0 * std::f64::consts::PI.powi(2)) * w, beta * dt / std::f64::consts::PI);
        let (stiffness, relaxation) = match compliance {
            Compliance::NearRigid => (f64::INFINITY, rigid.1),
            Compliance::Physical { stiffness, relaxation } => (stiffness, relaxation),
            Compliance::PerMass { stiffness, relaxation } => (stiffness / w, relaxation),
        };
        let compliant = 1.0 / (dt * stiffness * (dt + relaxation));
        if compliant > rigid.0 {
            return Compliant { r: compliant, time: dt + relaxation, fastest: f64::INFINITY };
        }
        Compliant { r: rigid.0, time: dt + rigid.1, fastest: recovery_speed }
    }
}

/// A compliant constraint over a step: γ = (v̂ − v_c)/R, v̂ = −φ/time, no faster than `fastest`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Compliant {
    pub r: f64,
    pub time: f64,
    pub fastest: f64,
}

impl Compliant {
    /// v̂ for the violation φ of an equality.
    pub fn bias(&self, violation: Vec3<f64>) -> Vec3<f64> {
        let v_hat = violation * (-1.0 / self.time);
        let speed = v_hat.norm();
        if speed > self.fastest { v_hat * (self.fastest / speed) } else { v_hat }
    }

    /// v̂ of one row.
    pub fn scalar_bias(&self, violation: f64) -> f64 {
        (-violation / self.time).clamp(-self.fastest, self.fastest)
    }
}

/// The surface that two surfaces make together: the one of higher priority, or the rougher friction and both
/// compliances together.
pub(crate) fn combine(a: &Material, b: &Material) -> Material {
    if a.priority != b.priority {
        return if a.priority > b.priority { *a } else { *b };
    }
    Material {
        friction: a.friction.max(b.friction),
        torsional_friction: a.torsional_friction.max(b.torsional_friction),
        rolling_friction: a.rolling_friction.max(b.rolling_friction),
        resistance: a.resistance.max(b.resistance),
        compliance: together(a.compliance, b.compliance),
        priority: a.priority,
    }
}

/// Physical springs act in series, the softer one's damping counting in proportion. Stiffnesses per unit of mass, which
/// in MJCF describe the contact and not the body, are averaged. A rigid surface changes nothing; of two kinds of units
/// the physical one wins.
fn together(a: Compliance, b: Compliance) -> Compliance {
    match (a, b) {
        (Compliance::NearRigid, other) | (other, Compliance::NearRigid) => other,
        (
            Compliance::Physical { stiffness: k1, relaxation: t1 },
            Compliance::Physical { stiffness: k2, relaxation: t2 },
        ) => {
            Compliance::Physical { stiffness: 1.0 / (1.0 / k1 + 1.0 / k2), relaxation: (k2 * t1 + k1 * t2) / (k1 + k2) }
        }
        (
            Compliance::PerMass { stiffness: k1, relaxation: t1 },
            Compliance::PerMass { stiffness: k2, relaxation: t2 },
        ) => Compliance::PerMass { stiffness: 0.5 * (k1 + k2), relaxation: 0.5 * (t1 + t2) },
        (physical @ Compliance::Physical { .. }, _) | (_, physical @ Compliance::Physical { .. }) => physical,
    }
}
