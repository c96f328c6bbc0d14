use super::Block;

/// An equality with diagonal regularisation: one row or three, `γ = −R⁻¹ (v_c − v̂)`.
///
/// Its Hessian `R⁻¹` is constant. A row with `1/R = 0` is not held.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Equality {
    rows: usize,
    inv_r: [f64; 3],
    v_hat: [f64; 3],
}

impl Equality {
    /// One row held with regularisation `r > 0` (velocity per impulse) about the bias `v_hat` (velocity).
    #[inline]
    pub fn scalar(r: f64, v_hat: f64) -> Equality {
        Equality { rows: 1, inv_r: [1.0 / r, 0.0, 0.0], v_hat: [v_hat, 0.0, 0.0] }
    }

    /// Three rows.
    #[inline]
    pub fn vector(r: f64, v_hat: [f64; 3]) -> Equality {
        Equality { rows: 3, inv_r: [1.0 / r; 3], v_hat }
    }

    /// Three rows of which only the third is held.
    #[inline]
    pub fn along_third(r: f64, v_hat: f64) -> Equality {
        Equality { rows: 3, inv_r: [0.0, 0.0, 1.0 / r], v_hat: [0.0, 0.0, v_hat] }
    }

    /// One or three.
    #[inline]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The regularisation R of every row; 0 where it is not held.
    pub fn r(&self) -> [f64; 3] {
        self.inv_r.map(|inv_r| if inv_r > 0.0 { 1.0 / inv_r } else { 0.0 })
    }

    /// The bias v̂.
    pub fn v_hat(&self) -> [f64; 3] {
        self.v_hat
    }

    /// The law with `R + soft` in place of `R`.
    pub(crate) fn softened(&self, soft: f64) -> Equality {
        Equality { inv_r: self.inv_r.map(|inv_r| inv_r / (1.0 + soft * inv_r)), ..*self }
    }

    /// Writes `γ`; returns `ℓ` and `G`. NaN comes out as NaN.
    ///
    /// # Panics
    /// If a slice has less than [`rows`](Self::rows) entries.
    #[inline]
    pub fn evaluate(&self, v_c: &[f64], gamma: &mut [f64]) -> (f64, Block) {
        let mut cost = 0.0;
        for k in 0..self.rows {
            let u = self.v_hat[k] - v_c[k];
            gamma[k] = self.inv_r[k] * u;
            cost += 0.5 * gamma[k] * u;
        }
        (cost, Block::diagonal(self.inv_r[0], self.inv_r[1], self.inv_r[2]))
    }
}
