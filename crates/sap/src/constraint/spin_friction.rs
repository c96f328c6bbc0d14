use super::Block;
use super::box_constraint::BoxConstraint;
use super::disc::Disc;

/// Rolling and torsional friction of a contact: rows `t1, t2, n` of the relative angular velocity.
///
/// The torque impulses are bounded by lengths times the normal impulse `n₀` of the contact that they belong to, the one before
/// them in the order of constraints: `|γ_t| ≤ ρ n₀`, `|γ_n| ≤ τ n₀`, else `γ = −R⁻¹ v_c`. As with
/// [`BoundedFrictionContact`](super::BoundedFrictionContact), `n₀` is that of the step before or, under Coulomb's law, of this one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SpinFriction {
    r: f64,
    rolling: f64,
    torsional: f64,
    normal_impulse: f64,
    roll: Disc,
    spin: BoxConstraint,
}

impl SpinFriction {
    /// Friction with regularisation `r > 0` (angular velocity per impulse), the lengths `rolling` and `torsional ≥ 0`, and
    /// `n₀ = normal_impulse ≥ 0`.
    #[inline]
    pub fn new(r: f64, rolling: f64, torsional: f64, normal_impulse: f64) -> SpinFriction {
        let (roll, spin) = (rolling * normal_impulse, torsional * normal_impulse);
        let (roll, spin) = (Disc::new(r, roll), BoxConstraint::new(r, 0.0, -spin, spin));
        SpinFriction { r, rolling, torsional, normal_impulse, roll, spin }
    }

    /// The normal impulse n₀.
    pub fn normal_impulse(&self) -> f64 {
        self.normal_impulse
    }

    /// The regularisation R.
    pub fn r(&self) -> f64 {
        self.r
    }

    /// The lengths of rolling and torsional friction.
    pub(crate) fn lengths(&self) -> [f64; 2] {
        [self.rolling, self.torsional]
    }

    /// ∂γ/∂n₀ at `v_c`.
    pub(crate) fn bound_slope(&self, v_c: [f64; 3]) -> [f64; 3] {
        let [t1, t2] = self.roll.bound_slope([-v_c[0], -v_c[1]]);
        let twists = v_c[2].abs() > self.r * self.torsional * self.normal_impulse;
        let twist = if twists { -self.torsional.copysign(v_c[2]) } else { 0.0 };
        [self.rolling * t1, self.rolling * t2, twist]
    }

    pub(crate) fn set_normal_impulse(&mut self, n: f64) {
        *self = SpinFriction::new(self.r, self.rolling, self.torsional, n);
    }

    /// The law with `R + soft` in place of `R`.
    pub(crate) fn softened(&self, soft: f64) -> SpinFriction {
        SpinFriction::new(self.r + soft, self.rolling, self.torsional, self.normal_impulse)
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. A NaN in `v_c` comes out as NaN.
    pub fn evaluate(&self, v_c: [f64; 3]) -> (f64, [f64; 3], Block) {
        let (roll, [g1, g2], [g11, g12, g22]) = self.roll.evaluate([-v_c[0], -v_c[1]]);
        let (spin, g3, g33) = self.spin.evaluate(v_c[2]);
        (roll + spin, [g1, g2, g3], Block([g11, g12, 0.0, g22, 0.0, g33]))
    }
}
