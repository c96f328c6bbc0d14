//! Blocks of three rows of a contact problem and their laws, in scalars or in lanes.
//!
//! A block is a contact (t1, t2, n) with friction bounded by its normal impulse, or three constraints of one row,
//! γ = (v̂ − v_c)/R cut to [low, high]. Lanes may differ in what a block is. A row that a lane does not have has both bounds at zero.

use spatial::Real;
use spatial::masks::{all_lanes, positive, select, wide};

/// The numbers of a block, by rows.
#[derive(Clone, Copy, Debug)]
pub struct BlockRows<T> {
    /// 1 in the lanes where it is a contact, else 0.
    pub is_contact: T,
    /// These lanes, a bit each.
    pub contact_lanes: u32,
    /// The bound of friction: `bound + friction · γ_n`. Under Coulomb's law the first is zero, where the normal impulse is known the second.
    pub bound: T,
    /// The coefficient of friction, or zero.
    pub friction: T,
    /// R, velocity per impulse.
    pub r: [T; 3],
    /// The bias v̂, velocity.
    pub v_hat: [T; 3],
    /// Each row's own share of W.
    pub w: [T; 3],
    /// Bounds of the impulse of constraints of one row.
    pub low: [T; 3],
    /// The upper ones.
    pub high: [T; 3],
    /// J v*
    pub v_free: [T; 3],
    /// What the constraint would meet if it did not push, v_c − w λ: at the start with its own share of W for w.
    pub z: [T; 3],
    /// Velocities, and impulses, of the present iterate.
    pub(super) v_c: [T; 3],
    pub(super) lambda: [T; 3],
    /// The impulses of the solution.
    pub solved_lambda: [T; 3],
    /// Its velocities.
    pub solved_v: [T; 3],
    /// w, 1 over the row's own share of W, and 1/(R + w).
    pub(super) own: [T; 3],
    pub(super) per_w: [T; 3],
    stiffness: [T; 3],
    /// T = −∂γ̄/∂z, and whether it is anything in any lane.
    pub(super) t: [[T; 3]; 3],
    pub(super) is_active: bool,
}

impl<T: Real> BlockRows<T> {
    /// Rows that no lane has.
    #[inline(always)]
    pub fn none() -> Self {
        let (zeros, ones) = ([T::ZERO; 3], [T::ONE; 3]);
        Self {
            is_contact: T::ZERO,
            contact_lanes: 0,
            friction: T::ZERO,
            bound: T::ZERO,
            r: ones,
            v_hat: zeros,
            w: ones,
            low: zeros,
            high: zeros,
            v_free: zeros,
            z: zeros,
            v_c: zeros,
            lambda: zeros,
            solved_lambda: zeros,
            solved_v: zeros,
            own: zeros,
            per_w: ones,
            stiffness: ones,
            t: [zeros; 3],
            is_active: false,
        }
    }

    /// Goes from z with the rows' own shares of W for w to that with `scaling` times as much.
    #[inline(always)]
    pub(super) fn start(&mut self, scaling: f64) {
        self.rescale(1.0);
        self.localise();
        for row in 0..3 {
            self.z[row] -= self.lambda[row] * self.w[row] * wide(scaling - 1.0);
            self.per_w[row] = self.w[row].recip();
        }
        self.rescale(scaling);
    }

    /// Takes `scaling` times the rows' own shares of W for w.
    #[inline(always)]
    pub(super) fn rescale(&mut self, scaling: f64) {
        for row in 0..3 {
            self.own[row] = self.w[row] * wide(scaling);
            self.stiffness[row] = (self.own[row] + self.r[row]).recip();
        }
    }

    /// λ = γ̄(z) and T.
    #[inline(always)]
    pub(super) fn localise(&mut self) {
        if self.contact_lanes != all_lanes::<T>() {
            for row in 0..3 {
                let k = self.stiffness[row];
                let whole = (self.v_hat[row] - self.z[row]) * k;
                self.lambda[row] = whole.max(self.low[row]).min(self.high[row]);
                let follows = self.low[row].if_less(whole, T::ONE, T::ZERO) * whole.if_less(self.high[row], k, T::ZERO);
                self.t[row] = [T::ZERO; 3];
                self.t[row][row] = follows;
            }
        }
        if self.contact_lanes != 0 {
            let (lambda, t) = self.contact();
            for row in 0..3 {
                self.lambda[row] = select(self.is_contact, lambda[row], self.lambda[row]);
                for column in 0..3 {
                    self.t[row][column] = select(self.is_contact, t[row][column], self.t[row][column]);
                }
            }
        }
        let t = &self.t;
        let follows = t[0][0] + t[1][1] + t[2][2] + t[0][2].abs() + t[1][2].abs();
        self.is_active = positive(follows) != 0;
    }

    #[inline(always)]
    fn contact(&self) -> ([T; 3], [[T; 3]; 3]) {
        let (k_t, k_n) = (self.stiffness[0], self.stiffness[2]);
        let lacks = self.v_hat[2] - self.z[2];
        let normal = T::ZERO.if_less(lacks, lacks * k_n, T::ZERO);
        let k_n = T::ZERO.if_less(lacks, k_n, T::ZERO);
        let (bound, friction) = (self.friction.mul_add(normal, self.bound), self.friction);
        let (z1, z2) = (self.z[0] - self.v_hat[0], self.z[1] - self.v_hat[1]);
        let speed = z1.mul_add(z1, z2 * z2).sqrt();
        // It slides where what would hold it is beyond the bound.
        let slides = bound.if_less(speed * k_t, T::ONE, T::ZERO);
        let inverse = slides / select(slides, speed, T::ONE);
        let per_speed = select(slides, bound * inverse, k_t);
        let (d1, d2) = (z1 * inverse, z2 * inverse);
        // A weaker push lets it slide with less friction.
        let along = -(friction * k_n);
        let (x, y) = (per_speed * d1, per_speed * d2);
        let t = [
            [per_speed - x * d1, -(x * d2), along * d1],
            [-(x * d2), per_speed - y * d2, along * d2],
            [T::ZERO, T::ZERO, k_n],
        ];
        ([-(per_speed * z1), -(per_speed * z2), normal], t)
    }

    /// γ(v_c), the impulse of the laws at the velocities themselves.
    #[inline(always)]
    pub(super) fn impulse_at_velocity(&self) -> [T; 3] {
        let mut gamma = [T::ZERO; 3];
        for row in 0..3 {
            let whole = (self.v_hat[row] - self.v_c[row]) / self.r[row];
            gamma[row] = whole.max(self.low[row]).min(self.high[row]);
        }
        if self.contact_lanes != 0 {
            let normal = ((self.v_hat[2] - self.v_c[2]) / self.r[2]).max(T::ZERO);
            let bound = self.friction.mul_add(normal, self.bound);
            let (x, y) = (self.v_c[0] - self.v_hat[0], self.v_c[1] - self.v_hat[1]);
            let speed = x.mul_add(x, y * y).sqrt();
            let slides = (bound * self.r[0]).if_less(speed, T::ONE, T::ZERO);
            let per_speed = select(slides, bound / select(slides, speed, T::ONE), self.r[0].recip());
            let of_contact = [-(per_speed * x), -(per_speed * y), normal];
            for row in 0..3 {
                gamma[row] = select(self.is_contact, of_contact[row], gamma[row]);
            }
        }
        gamma
    }

    /// F of a row.
    #[inline(always)]
    pub(super) fn excess(&self, row: usize) -> T {
        self.v_c[row] - self.own[row] * self.lambda[row] - self.z[row]
    }

    /// z = v_c − w λ
    #[inline(always)]
    pub(super) fn set_free(&mut self) {
        for row in 0..3 {
            self.z[row] = self.v_c[row] - self.lambda[row] * self.own[row];
        }
    }
}
