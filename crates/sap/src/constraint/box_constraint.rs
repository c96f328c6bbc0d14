/// An impulse between two bounds, one row: dry friction of a joint, an actuator with an effort limit.
///
/// ```text
/// y = −(v_c − v̂) / R      γ = y cut to [low, high]      ℓ: quadratic between the bounds, linear beyond
/// ```
///
/// A PD law `τ = f₀ − d (v_c − v₀)` over a step `dt` with `|τ| ≤ τ_max` is `R = 1/(dt d)`, `v̂ = v₀ + f₀/d` and the bounds
/// `∓dt τ_max`: convex at any gain. Dry friction `f` is `v̂ = 0` with `∓dt f`, and an `R` as small as a contact's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoxConstraint {
    r: f64,
    v_hat: f64,
    low: f64,
    high: f64,
    inv_r: f64,
}

impl BoxConstraint {
    /// Rows in `J`.
    pub const ROWS: usize = 1;

    /// A law with regularisation `r > 0` (velocity per impulse), bias `v_hat` (velocity) and the bounds `low ≤ high` (impulse).
    #[inline]
    pub fn new(r: f64, v_hat: f64, low: f64, high: f64) -> BoxConstraint {
        BoxConstraint { r, v_hat, low, high, inv_r: 1.0 / r }
    }

    /// The regularisation R.
    pub fn r(&self) -> f64 {
        self.r
    }

    /// The bias v̂.
    pub fn v_hat(&self) -> f64 {
        self.v_hat
    }

    /// The bounds.
    pub fn bounds(&self) -> (f64, f64) {
        (self.low, self.high)
    }

    /// The law with `R + soft` in place of `R`.
    #[inline]
    pub(crate) fn softened(&self, soft: f64) -> BoxConstraint {
        BoxConstraint::new(self.r + soft, self.v_hat, self.low, self.high)
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. NaN comes out as NaN.
    ///
    /// Where the bounds exclude zero the cost may be negative.
    #[inline]
    pub fn evaluate(&self, v_c: f64) -> (f64, f64, f64) {
        let y = (self.v_hat - v_c) * self.inv_r;
        let bound = if y < self.low {
            self.low
        } else if y > self.high {
            self.high
        } else {
            return (0.5 * self.r * y * y, y, self.inv_r);
        };
        (self.r * bound * (y - 0.5 * bound), bound, 0.0)
    }
}
