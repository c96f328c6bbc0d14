/// One-sided constraint, such as a joint limit: one row, impulse `γ ≥ 0`.
///
/// ```text
/// y = −(v_c − v̂) / R      γ = max(y, 0)      ℓ = ½ R γ²      G = 1/R where y > 0, else 0
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    r: f64,
    v_hat: f64,
    /// 1 / R
    inv_r: f64,
}

impl Limit {
    /// Rows in `J`.
    pub const ROWS: usize = 1;

    /// A limit with regularisation `r > 0` (velocity per impulse) and bias `v_hat` (velocity): the impulse vanishes for
    /// `v_c ≥ v̂`.
    #[inline]
    pub fn new(r: f64, v_hat: f64) -> Limit {
        Limit { r, v_hat, inv_r: 1.0 / r }
    }

    /// The regularisation R.
    pub fn r(&self) -> f64 {
        self.r
    }

    /// The bias v̂.
    pub fn v_hat(&self) -> f64 {
        self.v_hat
    }

    /// The law with `R + soft` in place of `R`.
    #[inline]
    pub(crate) fn softened(&self, soft: f64) -> Limit {
        Limit::new(self.r + soft, self.v_hat)
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. NaN comes out as NaN.
    #[inline]
    pub fn evaluate(&self, v_c: f64) -> (f64, f64, f64) {
        let y = (self.v_hat - v_c) * self.inv_r;
        if y <= 0.0 {
            return (0.0, 0.0, 0.0);
        }
        (0.5 * self.r * y * y, y, self.inv_r)
    }
}
