use super::Block;

/// Frictional contact: rows `t1, t2, n`, impulse in the friction cone `C = { |γ_t| ≤ μ γ_n }`.
///
/// With `R = diag(R_t, R_t, R_n)` and `v̂ = (0, 0, v̂_n)`,
///
/// ```text
/// y = −R⁻¹ (v_c − v̂)       γ = P_C(y), the projection in the norm of R
/// ℓ = ½ γᵀ R γ             G = (∂P_C/∂y) R⁻¹
/// ```
///
/// With `y_r = |y_t|`, `t̂ = y_t / y_r`, `μ̂ = μ R_t/R_n`, `μ̃² = μ² R_t/R_n` the projection has three regions:
///
/// ```text
/// stiction     y_r ≤ μ y_n                γ = y
/// sliding      −μ̂ y_r < y_n < y_r / μ     γ_n = (y_n + μ̂ y_r) / (1 + μ̃²),   γ_t = μ γ_n t̂
/// no contact   y_n ≤ −μ̂ y_r               γ = 0
/// ```
///
/// and in the sliding region, with `c = 1 / (R_n (1 + μ̃²))` and `s = μ γ_n / (R_t y_r)`,
///
/// ```text
/// G = c [μ t̂; 1] [μ t̂; 1]ᵀ + s [I − t̂ t̂ᵀ, 0; 0, 0]
/// ```
///
/// Source: Castro, Permenter, Han, *An Unconstrained Convex Formulation of Compliant Contact*, analytical inverse dynamics.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConeContact {
    mu: f64,
    r_t: f64,
    r_n: f64,
    /// v̂
    v_hat: [f64; 3],
    /// 1 / R_t
    inv_r_t: f64,
    /// 1 / R_n
    inv_r_n: f64,
    /// μ̂ = μ R_t / R_n
    mu_hat: f64,
    /// 1 / (1 + μ̃²)
    shrink: f64,
}

impl ConeContact {
    /// Rows in `J`: two tangents and the normal.
    pub const ROWS: usize = 3;

    /// A contact with friction coefficient `mu ≥ 0`, regularisation `r_t > 0`, `r_n > 0` (units of velocity per impulse) and
    /// normal bias `vn_hat` (velocity): the normal impulse vanishes for `v_n ≥ v̂_n`.
    #[inline]
    pub fn new(mu: f64, r_t: f64, r_n: f64, vn_hat: f64) -> ConeContact {
        let mu_hat = mu * r_t / r_n;
        ConeContact {
            mu,
            r_t,
            r_n,
            v_hat: [0.0, 0.0, vn_hat],
            inv_r_t: 1.0 / r_t,
            inv_r_n: 1.0 / r_n,
            mu_hat,
            shrink: 1.0 / (1.0 + mu * mu_hat),
        }
    }

    /// The same contact of surfaces that move by themselves, a conveyor belt's say: friction acts against `v_t − v̂_t`.
    #[inline]
    #[must_use]
    pub fn with_surface_velocity(mut self, vt_hat: [f64; 2]) -> ConeContact {
        self.v_hat[..2].copy_from_slice(&vt_hat);
        self
    }

    /// The law with `R + soft` in place of `R`.
    #[inline]
    pub(crate) fn softened(&self, soft: f64) -> ConeContact {
        ConeContact { v_hat: self.v_hat, ..ConeContact::new(self.mu, self.r_t + soft, self.r_n + soft, 0.0) }
    }

    pub(crate) fn set_normal_bias(&mut self, vn_hat: f64) {
        self.v_hat[2] = vn_hat;
    }

    /// The friction coefficient μ.
    pub fn mu(&self) -> f64 {
        self.mu
    }

    /// The tangential regularisation R_t.
    pub fn r_t(&self) -> f64 {
        self.r_t
    }

    /// The normal regularisation R_n.
    pub fn r_n(&self) -> f64 {
        self.r_n
    }

    /// The normal bias v̂_n.
    pub fn vn_hat(&self) -> f64 {
        self.v_hat[2]
    }

    /// The bias v̂.
    pub fn v_hat(&self) -> [f64; 3] {
        self.v_hat
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. A NaN in `v_c` comes out as NaN.
    #[inline]
    pub fn evaluate(&self, v_c: [f64; 3]) -> (f64, [f64; 3], Block) {
        let [t1, t2, n] = self.v_hat;
        let y = [(t1 - v_c[0]) * self.inv_r_t, (t2 - v_c[1]) * self.inv_r_t, (n - v_c[2]) * self.inv_r_n];
        let y_r2 = y[0] * y[0] + y[1] * y[1];
        let y_n = y[2];
        // The regions are told apart by squares: only sliding needs the root.
        if y_n <= 0.0 && y_n * y_n >= self.mu_hat * self.mu_hat * y_r2 {
            return (0.0, [0.0; 3], Block::ZERO);
        }
        if self.mu == 0.0 {
            let cost = 0.5 * self.r_n * y_n * y_n;
            return (cost, [0.0, 0.0, y_n], Block::diagonal(0.0, 0.0, self.inv_r_n));
        }
        if y_n > 0.0 && y_r2 <= self.mu * self.mu * y_n * y_n {
            let cost = 0.5 * (self.r_t * y_r2 + self.r_n * y_n * y_n);
            return (cost, y, Block::diagonal(self.inv_r_t, self.inv_r_t, self.inv_r_n));
        }
        self.slide(y, y_r2)
    }

    /// The sliding region, where `μ > 0` and `y_r > 0`.
    #[inline]
    fn slide(&self, y: [f64; 3], y_r2: f64) -> (f64, [f64; 3], Block) {
        let y_r = y_r2.sqrt();
        let inv_y_r = 1.0 / y_r;
        let t = [y[0] * inv_y_r, y[1] * inv_y_r];
        let n = (y[2] + self.mu_hat * y_r) * self.shrink;
        let f = self.mu * n;
        let cost = 0.5 * (self.r_t * f * f + self.r_n * n * n);

        let c = self.shrink * self.inv_r_n;
        let s = f * self.inv_r_t * inv_y_r;
        let c_mu = self.mu * c;
        // c μ² t̂t̂ᵀ + s (I − t̂t̂ᵀ) = s I + (c μ² − s) t̂t̂ᵀ
        let along = self.mu * c_mu - s;
        let hessian =
            Block([s + along * t[0] * t[0], along * t[0] * t[1], c_mu * t[0], s + along * t[1] * t[1], c_mu * t[1], c]);
        (cost, [f * t[0], f * t[1], n], hessian)
    }
}
