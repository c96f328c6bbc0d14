//! Blocks of three rows of a contact problem, in scalars or in lanes.
//!
//! A block is a contact (t1, t2, n), or three constraints of one row. Lanes may differ in what a block is. A row that a lane does not have
//! has both bounds at zero.

use spatial::Real;
use spatial::masks::{positive, select, wide};

use crate::Law;
use crate::law::{Bounds, LawKind, Response};

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

/// The law of a block and where it is, by rows.
#[derive(Clone, Copy, Debug)]
pub struct BlockRows<T> {
    /// Its law.
    pub law: Law<T>,
    /// The blocks of the contacts that bound rolling and torsional friction, the same in all lanes; earlier ones.
    pub contacts: [usize; 3],
    /// Each row's own share of W.
    pub w: [T; 3],
    /// J v*
    pub v_free: [T; 3],
    /// What the constraint would meet if it did not push, v_c − w λ: at the start with its own share of W for w.
    pub z: [T; 3],
    /// That.
    pub(super) z_at_start: [T; 3],
    /// Velocities, and impulses, of the present iterate.
    pub(crate) v_c: [T; 3],
    pub(crate) lambda: [T; 3],
    /// The impulses of the solution.
    pub solved_lambda: [T; 3],
    /// Its velocities.
    pub solved_v: [T; 3],
    /// w, 1 over the row's own share of W, and 1/(R + w).
    pub(super) own: [T; 3],
    pub(super) per_w: [T; 3],
    pub(super) stiffness: [T; 3],
    /// T = −∂γ̄/∂z, and whether it is anything in any of the lanes that are not solved.
    pub(super) t: [[T; 3]; 3],
    pub(super) is_active: bool,
    /// How rolling and torsional friction follow the normal impulses of their contacts.
    pub(super) slope: [T; 3],
}

impl<T: Real> BlockRows<T> {
    /// Rows that no lane has.
    #[inline(always)]
    pub fn none() -> Self {
        let (zeros, ones) = ([T::ZERO; 3], [T::ONE; 3]);
        Self {
            law: Law::none(),
            contacts: [0; 3],
            w: ones,
            v_free: zeros,
            z: zeros,
            z_at_start: zeros,
            v_c: zeros,
            lambda: zeros,
            solved_lambda: zeros,
            solved_v: zeros,
            own: zeros,
            per_w: ones,
            stiffness: ones,
            t: [zeros; 3],
            is_active: false,
            slope: zeros,
        }
    }

    /// The block in one lane as it was at the start; `get` tells what a number is there.
    pub fn in_lane(&self, lane: usize, get: impl Fn(&T, usize) -> f64) -> BlockRows<f64> {
        let of = |x: &[T; 3]| [get(&x[0], lane), get(&x[1], lane), get(&x[2], lane)];
        let law = &self.law;
        BlockRows {
            law: Law {
                kind: law.kind,
                contact_lanes: law.contact_lanes >> lane & 1,
                is_contact: get(&law.is_contact, lane),
                r: of(&law.r),
                v_hat: of(&law.v_hat),
                low: of(&law.low),
                high: of(&law.high),
                friction: of(&law.friction),
                normal_impulse: of(&law.normal_impulse),
            },
            contacts: self.contacts,
            w: of(&self.w),
            v_free: of(&self.v_free),
            z: of(&self.z_at_start),
            ..BlockRows::none()
        }
    }

    /// Goes back to the start.
    pub(crate) fn restart(&mut self) {
        self.z = self.z_at_start;
    }

    /// Goes from z with the rows' own shares of W for w, at which λ is, to that with `scaling` times as much.
    #[inline(always)]
    pub(super) fn start(&mut self, scaling: f64) {
        self.z_at_start = self.z;
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
            self.stiffness[row] = (self.own[row] + self.law.r[row]).recip();
        }
    }

    /// γ and its derivatives at the velocities themselves, of the law as it is; `own` are normal impulses there of its contacts.
    #[inline(always)]
    pub(crate) fn respond_at(&self, v_c: [T; 3], bounds: Bounds, own: [T; 3]) -> Response<T> {
        let [t1, t2, n] = self.law.r;
        self.law.respond(v_c, [t1.recip(), t2.recip(), n.recip()], bounds, own)
    }

    /// The normal impulse of a contact's law at v_c.
    #[inline(always)]
    pub(super) fn normal_at_velocity(&self) -> T {
        if self.law.kind == LawKind::Cone {
            return self.respond_at(self.v_c, Bounds::Own, [T::ZERO; 3]).impulse[2];
        }
        ((self.law.v_hat[2] - self.v_c[2]) / self.law.r[2]).max(T::ZERO)
    }

    /// Which entries T may have.
    #[inline(always)]
    pub(super) fn coupling(&self) -> Coupling {
        match self.law.kind {
            LawKind::Cone => Coupling::Full,
            LawKind::BoundedFriction | LawKind::Rolling => Coupling::Friction,
            LawKind::One | LawKind::Three | LawKind::Torsion => Coupling::None,
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

/// λ = γ̄(z) and T of all blocks, and which of them are active in any of these lanes: first of contacts, which bound rolling and torsional
/// friction.
#[inline(always)]
pub(crate) fn localise<T: Real>(rows: &mut [BlockRows<T>], lanes: u32, bounds: Bounds) {
    for b in 0..rows.len() {
        let (before, here) = rows.split_at_mut(b);
        let block = &mut here[0];
        let (mut normal, mut per_normal) = ([T::ZERO; 3], [T::ZERO; 3]);
        // Where bounds are given, a problem may have friction of a contact's rotation without the contact.
        if bounds == Bounds::Own && block.law.is_spin() {
            for row in 0..3 {
                let contact = &before[block.contacts[row]];
                (normal[row], per_normal[row]) = (contact.lambda[2], sum_of_sizes(contact.t[2]));
            }
        }
        let Response { impulse, t, slope } = block.law.respond(block.z, block.stiffness, bounds, normal);
        (block.lambda, block.t) = (impulse, t);
        // What is nothing in one lane but not to the last bit must be there whether neighbours need the block or not.
        let mut follows = t[0][0].abs() + t[1][1].abs() + t[2][2].abs() + t[0][2].abs() + t[1][2].abs();
        if block.law.is_spin() && bounds == Bounds::Own {
            block.slope = slope;
            for row in 0..3 {
                follows += slope[row].abs() * per_normal[row];
            }
        }
        block.is_active = positive(follows) & lanes != 0;
    }
}

/// Keeps the iterate as the solution of these lanes.
#[inline(always)]
pub(super) fn take_solution<T: Real>(rows: &mut [BlockRows<T>], lanes: u32) {
    let lanes = T::mask(lanes);
    for block in rows {
        for row in 0..3 {
            block.solved_lambda[row] = select(lanes, block.lambda[row], block.solved_lambda[row]);
            block.solved_v[row] = select(lanes, block.v_c[row], block.solved_v[row]);
        }
    }
}

#[inline(always)]
fn sum_of_sizes<T: Real>(x: [T; 3]) -> T {
    x[0].abs() + x[1].abs() + x[2].abs()
}
