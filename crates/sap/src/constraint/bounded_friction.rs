use super::Block;
use super::disc::Disc;

/// Contact whose friction is bounded by a normal impulse that is given: rows `t1, t2, n`.
///
/// ```text
/// y = −R⁻¹ (v_c − v̂)      γ_n = max(y_n, 0)      γ_t = y_t cut to |γ_t| ≤ μ n₀
/// ```
///
/// Normal and tangential law are apart, so sliding opens no gap between the surfaces, as the cone of
/// [`ConeContact`](super::ConeContact) does. Coulomb's law holds where `n₀` is the contact's own normal impulse: that of the step before,
/// or, under Coulomb's law, of this one ([`Options::friction`](crate::Options)).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundedFrictionContact {
    mu: f64,
    r_t: f64,
    r_n: f64,
    v_hat: [f64; 3],
    /// n₀
    normal_impulse: f64,
    inv_r_n: f64,
    friction: Disc,
}

impl BoundedFrictionContact {
    /// A contact with friction coefficient `mu ≥ 0`, regularisation `r_t > 0`, `r_n > 0` (units of velocity per impulse),
    /// normal bias `vn_hat` (velocity), and `n₀ = normal_impulse ≥ 0`.
    #[inline]
    pub fn new(mu: f64, r_t: f64, r_n: f64, vn_hat: f64, normal_impulse: f64) -> BoundedFrictionContact {
        BoundedFrictionContact {
            mu,
            r_t,
            r_n,
            v_hat: [0.0, 0.0, vn_hat],
            normal_impulse,
            inv_r_n: 1.0 / r_n,
            friction: Disc::new(r_t, mu * normal_impulse),
        }
    }

    /// The same contact of surfaces that move by themselves, as
    /// [`ConeContact::with_surface_velocity`](super::ConeContact::with_surface_velocity).
    #[inline]
    #[must_use]
    pub fn with_surface_velocity(mut self, vt_hat: [f64; 2]) -> BoundedFrictionContact {
        self.v_hat[..2].copy_from_slice(&vt_hat);
        self
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

    /// The bias v̂.
    pub fn v_hat(&self) -> [f64; 3] {
        self.v_hat
    }

    /// The normal impulse n₀ that bounds friction.
    pub fn normal_impulse(&self) -> f64 {
        self.normal_impulse
    }

    pub(crate) fn set_normal_bias(&mut self, vn_hat: f64) {
        self.v_hat[2] = vn_hat;
    }

    pub(crate) fn set_normal_impulse(&mut self, n: f64) {
        self.normal_impulse = n;
        self.friction.set_bound(self.mu * n);
    }

    /// γ_n at the normal velocity `v_n`, which no bound of friction changes.
    #[inline]
    pub(crate) fn own_normal_impulse(&self, v_n: f64) -> f64 {
        ((self.v_hat[2] - v_n) * self.inv_r_n).max(0.0)
    }

    /// ∂γ/∂n₀ at the tangential velocity `v_t`: μ t̂ while it slides.
    pub(crate) fn bound_slope(&self, v_t: [f64; 2]) -> [f64; 3] {
        let [t1, t2] = self.friction.bound_slope([self.v_hat[0] - v_t[0], self.v_hat[1] - v_t[1]]);
        [self.mu * t1, self.mu * t2, 0.0]
    }

    /// The normal impulse of the contact alone, where it would move with `free` and has its share `w` of the Delassus operator.
    #[inline]
    pub fn normal_impulse_alone(&self, w: f64, free: f64) -> f64 {
        ((self.v_hat[2] - free) / (self.r_n + w)).max(0.0)
    }

    /// The law with `R + soft` in place of `R`.
    #[inline]
    pub(crate) fn softened(&self, soft: f64) -> BoundedFrictionContact {
        let BoundedFrictionContact { mu, r_t, r_n, v_hat, normal_impulse, .. } = *self;
        BoundedFrictionContact { v_hat, ..BoundedFrictionContact::new(mu, r_t + soft, r_n + soft, 0.0, normal_impulse) }
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. A NaN in `v_c` comes out as NaN.
    #[inline]
    pub fn evaluate(&self, v_c: [f64; 3]) -> (f64, [f64; 3], Block) {
        let [t1, t2, n] = self.v_hat;
        let (cost, [g1, g2], [g11, g12, g22]) = self.friction.evaluate([t1 - v_c[0], t2 - v_c[1]]);
        let y_n = (n - v_c[2]) * self.inv_r_n;
        if y_n <= 0.0 {
            return (cost, [g1, g2, 0.0], Block([g11, g12, 0.0, g22, 0.0, 0.0]));
        }
        (cost + 0.5 * self.r_n * y_n * y_n, [g1, g2, y_n], Block([g11, g12, 0.0, g22, 0.0, self.inv_r_n]))
    }
}
