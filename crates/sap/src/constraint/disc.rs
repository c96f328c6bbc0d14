//! Impulses in a disc, `|γ| ≤ bound`, two rows: the Huber cost of dry friction.

/// `y = u / R` cut to the disc, where `u = v̂ − v_c`:
///
/// ```text
/// |y| ≤ b    γ = y           ℓ = ½ R |y|²            G = I / R
/// |y| > b    γ = b y/|y|     ℓ = R b (|y| − ½ b)     G = b/|u| (I − ûûᵀ)
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Disc {
    r: f64,
    inv_r: f64,
    bound: f64,
}

impl Disc {
    #[inline]
    pub fn new(r: f64, bound: f64) -> Disc {
        Disc { r, inv_r: 1.0 / r, bound }
    }

    /// The same impulses but for the bound.
    #[inline]
    pub fn set_bound(&mut self, bound: f64) {
        self.bound = bound;
    }

    /// `ℓ`, `γ` and `[G₁₁, G₁₂, G₂₂]` at `u = v̂ − v_c`.
    #[inline]
    pub fn evaluate(&self, u: [f64; 2]) -> (f64, [f64; 2], [f64; 3]) {
        let Disc { r, inv_r, bound } = *self;
        let u2 = u[0] * u[0] + u[1] * u[1];
        if u2 <= (bound * r) * (bound * r) {
            return (0.5 * inv_r * u2, [u[0] * inv_r, u[1] * inv_r], [inv_r, 0.0, inv_r]);
        }
        let norm = u2.sqrt();
        let t = [u[0] / norm, u[1] / norm];
        let s = bound / norm;
        let cost = bound * (norm - 0.5 * r * bound);
        (cost, [bound * t[0], bound * t[1]], [s * t[1] * t[1], -s * t[0] * t[1], s * t[0] * t[0]])
    }

    /// ∂γ/∂b at `u`: û beyond the bound.
    pub fn bound_slope(&self, u: [f64; 2]) -> [f64; 2] {
        let u2 = u[0] * u[0] + u[1] * u[1];
        if u2 <= (self.bound * self.r) * (self.bound * self.r) {
            return [0.0; 2];
        }
        let norm = u2.sqrt();
        [u[0] / norm, u[1] / norm]
    }
}
