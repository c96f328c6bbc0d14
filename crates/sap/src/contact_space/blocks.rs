//! Blocks of three rows of a contact problem and their laws, in scalars or in lanes.
//!
//! A block is a contact (t1, t2, n), or three constraints of one row, γ = (v̂ − v_c)/R cut to [low, high]. Lanes may differ in what a block
//! is. A row that a lane does not have has both bounds at zero.
//!
//! Rolling and torsional friction is bounded by the normal impulse of a contact in another block ([`Spin`]), the same block in all lanes.

use spatial::Real;
use spatial::masks::{all_lanes, positive, select, wide};

/// How the friction of the contacts in a block is bounded, the same in all lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FrictionBound {
    /// By a disc of radius `bound + friction · γ_n`; γ_n follows the normal velocity alone.
    #[default]
    Disc,
    /// By the cone |γ_t| ≤ `friction` · γ_n, onto which the whole impulse is projected in the norm of R: γ_n follows sliding as well.
    Cone,
}

/// Which entries T may have beside its diagonal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coupling {
    /// None.
    None,
    /// Those of the first two rows: the normal impulse follows the normal velocity alone.
    Friction,
    /// All.
    Full,
}

/// What the rows of a block have to do with normal impulses of contacts in earlier blocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Spin {
    /// Nothing.
    #[default]
    None,
    /// Torsional friction about the normals of three contacts: low and high are apart from zero by `lengths` times their normal impulses more.
    Torsion,
    /// Rolling (t1, t2) and torsional friction of one contact: the bound of rolling is `bound + lengths[0] · γ_n`.
    Rolling,
}

/// The numbers of a block, by rows.
#[derive(Clone, Copy, Debug)]
pub struct BlockRows<T> {
    /// Rolling and torsional friction, the same in all lanes.
    pub spin: Spin,
    /// The blocks of the contacts that bound it, by rows.
    pub contacts: [usize; 3],
    /// Greatest torque over normal force by rows, zero where the normal impulse is known.
    pub lengths: [T; 3],
    /// −∂γ̄/∂z by rows, z that of the contact.
    pub(super) slope: [[T; 3]; 3],
    /// 1 in the lanes where it is a contact, else 0.
    pub is_contact: T,
    /// These lanes, a bit each.
    pub contact_lanes: u32,
    /// What bounds the friction of these contacts.
    pub friction_bound: FrictionBound,
    /// The bound of friction in a disc: `bound + friction · γ_n`. Under Coulomb's law the first is zero, where the normal impulse is known the
    /// second.
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
    /// T = −∂γ̄/∂z, and whether it is anything in any of the lanes that are not solved.
    pub(super) t: [[T; 3]; 3],
    pub(super) is_active: bool,
}

impl<T: Real> BlockRows<T> {
    /// Rows that no lane has.
    #[inline(always)]
    pub fn none() -> Self {
        let (zeros, ones) = ([T::ZERO; 3], [T::ONE; 3]);
        Self {
            spin: Spin::None,
            contacts: [0; 3],
            lengths: zeros,
            slope: [zeros; 3],
            is_contact: T::ZERO,
            contact_lanes: 0,
            friction_bound: FrictionBound::Disc,
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

    /// Goes from z with the rows' own shares of W for w, at which λ is, to that with `scaling` times as much.
    #[inline(always)]
    pub(super) fn start(&mut self, scaling: f64) {
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

    /// λ = γ̄(z) and T, of all but rolling and torsional friction.
    #[inline(always)]
    pub(super) fn localise(&mut self, lanes: u32) {
        if self.contact_lanes != all_lanes::<T>() {
            for row in 0..3 {
                self.localise_row(row, [self.low[row], self.high[row]]);
            }
        }
        if self.contact_lanes != 0 {
            let (lambda, t) = match self.friction_bound {
                FrictionBound::Disc => self.contact(),
                FrictionBound::Cone => self.cone(),
            };
            for row in 0..3 {
                self.lambda[row] = select(self.is_contact, lambda[row], self.lambda[row]);
                for column in 0..3 {
                    self.t[row][column] = select(self.is_contact, t[row][column], self.t[row][column]);
                }
            }
        }
        let t = &self.t;
        // What is nothing in one lane but not to the last bit must be there whether neighbours need the block or not.
        let follows = t[0][0].abs() + t[1][1].abs() + t[2][2].abs() + t[0][2].abs() + t[1][2].abs();
        self.is_active = positive(follows) & lanes != 0;
    }

    /// λ and T of a constraint of one row.
    #[inline(always)]
    fn localise_row(&mut self, row: usize, [low, high]: [T; 2]) {
        let k = self.stiffness[row];
        let whole = (self.v_hat[row] - self.z[row]) * k;
        self.lambda[row] = whole.max(low).min(high);
        let follows = low.if_less(whole, T::ONE, T::ZERO) * whole.if_less(high, k, T::ZERO);
        self.t[row] = [T::ZERO; 3];
        self.t[row][row] = follows;
    }

    /// λ, T and the slope of rolling and torsional friction; `normal` are normal impulses of its contacts, and how these follow z.
    #[inline(always)]
    pub(super) fn localise_spin(&mut self, normal: [(T, [T; 3]); 3], lanes: u32) {
        let mut follows = T::ZERO;
        for row in 0..3 {
            let (normal, of_normal) = normal[row];
            let more = self.lengths[row] * normal;
            self.localise_row(row, [self.low[row] - more, self.high[row] + more]);
            let is_free = T::ZERO.if_less(self.t[row][row], T::ZERO, T::ONE);
            let along = is_free * self.lengths[row].copysign(self.lambda[row]);
            self.slope[row] = scaled(along, of_normal);
            follows += self.t[row][row] + sum_of_sizes(self.slope[row]);
        }
        if self.spin == Spin::Rolling {
            let (bound, k) = (self.lengths[0].mul_add(normal[0].0, self.bound), self.stiffness[0]);
            let (per_speed, [d1, d2]) = held([self.z[0], self.z[1]], bound, k);
            let (x, y) = (per_speed * d1, per_speed * d2);
            (self.lambda[0], self.lambda[1]) = (-(per_speed * self.z[0]), -(per_speed * self.z[1]));
            self.t[0] = [per_speed - x * d1, -(x * d2), T::ZERO];
            self.t[1] = [-(x * d2), per_speed - y * d2, T::ZERO];
            let along = scaled(-self.lengths[0], normal[0].1);
            (self.slope[0], self.slope[1]) = (scaled(d1, along), scaled(d2, along));
            follows += self.t[0][0].abs() + self.t[1][1].abs();
            follows += sum_of_sizes(self.slope[0]) + sum_of_sizes(self.slope[1]);
        }
        self.is_active = positive(follows) & lanes != 0;
    }

    #[inline(always)]
    fn contact(&self) -> ([T; 3], [[T; 3]; 3]) {
        let (k_t, k_n) = (self.stiffness[0], self.stiffness[2]);
        let lacks = self.v_hat[2] - self.z[2];
        let normal = T::ZERO.if_less(lacks, lacks * k_n, T::ZERO);
        let k_n = T::ZERO.if_less(lacks, k_n, T::ZERO);
        let (bound, friction) = (self.friction.mul_add(normal, self.bound), self.friction);
        let (z1, z2) = (self.z[0] - self.v_hat[0], self.z[1] - self.v_hat[1]);
        let (per_speed, [d1, d2]) = held([z1, z2], bound, k_t);
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

    /// λ and T of a contact with a friction cone.
    #[inline(always)]
    fn cone(&self) -> ([T; 3], [[T; 3]; 3]) {
        let Projection { impulse, per_speed, along, direction: [d1, d2], per_normal } =
            self.on_cone(self.z, [self.stiffness[0], self.stiffness[2]]);
        // It sticks, and both friction and normal impulse follow their own velocities; or it slides, and both follow one sum of these.
        let (across, turns) = (self.friction * along, per_speed);
        let stretch = self.friction * across - turns;
        let (x, y) = (stretch * d1, stretch * d2);
        let (along_1, along_2) = (-(across * d1), -(across * d2));
        let t = [
            [x.mul_add(d1, turns), x * d2, along_1],
            [x * d2, y.mul_add(d2, turns), along_2],
            [along_1, along_2, per_normal],
        ];
        (impulse, t)
    }

    /// The projection of K (v̂ − v) onto the friction cone in the norm of K⁻¹, K = diag(k_t, k_t, k_n).
    #[inline(always)]
    fn on_cone(&self, v: [T; 3], [k_t, k_n]: [T; 2]) -> Projection<T> {
        let mu = self.friction;
        let (x, y, lacks) = (v[0] - self.v_hat[0], v[1] - self.v_hat[1], self.v_hat[2] - v[2]);
        let speed = x.mul_add(x, y * y).sqrt();
        // What slides is pushed before it comes near.
        let reach = mu.mul_add(speed, lacks);
        let pushes = T::ZERO.if_less(reach, T::ONE, T::ZERO);
        let slides = (mu * k_n * lacks).if_less(speed * k_t, pushes, T::ZERO);
        let along = select(slides, k_n * k_t / (mu * mu).mul_add(k_n, k_t), T::ZERO);
        let inverse = slides / select(slides, speed, T::ONE);
        let normal = select(slides, along * reach, select(pushes, k_n * lacks, T::ZERO));
        let per_speed = select(slides, mu * normal * inverse, select(pushes, k_t, T::ZERO));
        Projection {
            impulse: [-(per_speed * x), -(per_speed * y), normal],
            per_speed,
            along,
            direction: [x * inverse, y * inverse],
            per_normal: select(slides, along, select(pushes, k_n, T::ZERO)),
        }
    }

    /// γ(v_c), the impulse of the laws at the velocities themselves; `normal` are normal impulses there of the contacts that bound rolling
    /// and torsional friction.
    #[inline(always)]
    pub(super) fn impulse_at_velocity(&self, normal: [T; 3]) -> [T; 3] {
        let mut gamma = [T::ZERO; 3];
        for row in 0..3 {
            let whole = (self.v_hat[row] - self.v_c[row]) / self.r[row];
            let (mut low, mut high) = (self.low[row], self.high[row]);
            if self.spin != Spin::None {
                let more = self.lengths[row] * normal[row];
                (low, high) = (low - more, high + more);
            }
            gamma[row] = whole.max(low).min(high);
        }
        if self.spin == Spin::Rolling {
            let bound = self.lengths[0].mul_add(normal[0], self.bound);
            let (per_speed, _) = held([self.v_c[0], self.v_c[1]], bound, self.r[0].recip());
            (gamma[0], gamma[1]) = (-(per_speed * self.v_c[0]), -(per_speed * self.v_c[1]));
        }
        if self.contact_lanes != 0 {
            let of_contact = self.contact_at_velocity();
            for row in 0..3 {
                gamma[row] = select(self.is_contact, of_contact[row], gamma[row]);
            }
        }
        gamma
    }

    /// The impulse of a contact's law at v_c.
    #[inline(always)]
    fn contact_at_velocity(&self) -> [T; 3] {
        if self.friction_bound == FrictionBound::Cone {
            return self.on_cone(self.v_c, [self.r[0].recip(), self.r[2].recip()]).impulse;
        }
        let normal = self.normal_at_velocity();
        let bound = self.friction.mul_add(normal, self.bound);
        let (x, y) = (self.v_c[0] - self.v_hat[0], self.v_c[1] - self.v_hat[1]);
        let speed = x.mul_add(x, y * y).sqrt();
        let slides = (bound * self.r[0]).if_less(speed, T::ONE, T::ZERO);
        let per_speed = select(slides, bound / select(slides, speed, T::ONE), self.r[0].recip());
        [-(per_speed * x), -(per_speed * y), normal]
    }

    /// The normal impulse of a contact's law at v_c.
    #[inline(always)]
    pub(super) fn normal_at_velocity(&self) -> T {
        match self.friction_bound {
            FrictionBound::Disc => ((self.v_hat[2] - self.v_c[2]) / self.r[2]).max(T::ZERO),
            FrictionBound::Cone => self.contact_at_velocity()[2],
        }
    }

    /// Which entries T may have.
    #[inline(always)]
    pub(super) fn coupling(&self) -> Coupling {
        match self.friction_bound {
            FrictionBound::Cone => Coupling::Full,
            FrictionBound::Disc if self.contact_lanes != 0 || self.spin == Spin::Rolling => Coupling::Friction,
            FrictionBound::Disc => Coupling::None,
        }
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

/// An impulse on or in a friction cone, and how it follows velocities.
struct Projection<T> {
    impulse: [T; 3],
    /// Friction over −v_t.
    per_speed: T,
    /// Where it slides: −∂γ_n/∂v_n, and the direction of v_t; else zero.
    along: T,
    direction: [T; 2],
    /// −∂γ_n/∂v_n
    per_normal: T,
}

#[inline(always)]
fn scaled<T: Real>(a: T, x: [T; 3]) -> [T; 3] {
    [a * x[0], a * x[1], a * x[2]]
}

#[inline(always)]
fn sum_of_sizes<T: Real>(x: [T; 3]) -> T {
    x[0].abs() + x[1].abs() + x[2].abs()
}

/// Friction within a disc: the impulse over −z, `k` where that is within the bound, and the direction of z where it is not, else zero.
#[inline(always)]
fn held<T: Real>([z1, z2]: [T; 2], bound: T, k: T) -> (T, [T; 2]) {
    let speed = z1.mul_add(z1, z2 * z2).sqrt();
    // It slides where what would hold it is beyond the bound.
    let slides = bound.if_less(speed * k, T::ONE, T::ZERO);
    let inverse = slides / select(slides, speed, T::ONE);
    (select(slides, bound * inverse, k), [z1 * inverse, z2 * inverse])
}

#[cfg(test)]
mod tests;
