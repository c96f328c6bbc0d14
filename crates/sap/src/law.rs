//! The laws of constraints, each once: of one constraint, or of as many side by side as `T` has lanes.
//!
//! Every law is a convex cost `ℓ(v_c)` of the constraint velocity, with a compliance `R`, a bias `v̂` and a convex set of impulses:
//!
//! ```text
//! γ = −∂ℓ/∂v_c = argmin_{γ ∈ C} ½ γᵀRγ − γᵀu      u = v̂ − v_c
//! G =  ∂²ℓ/∂v_c²                                  symmetric and positive semidefinite
//! ```
//!
//! | kind | rows | C |
//! | --- | --- | --- |
//! | limit, equality, dry friction of a joint, actuator with an effort limit | 1, or 3 equalities | `low ≤ γ ≤ high` by rows |
//! | contact whose friction a given normal impulse bounds | `t1, t2, n` | `γ_n ≥ 0`, `|γ_t| ≤ μ n₀` |
//! | contact with a friction cone | `t1, t2, n` | `|γ_t| ≤ μ γ_n` |
//! | rolling and torsional friction of a contact | `t1, t2, n` of the relative angular velocity | `|γ_t| ≤ ρ n₀`, `|γ_n| ≤ τ n₀` |
//!
//! Under Coulomb's law `n₀` is the contact's own normal impulse: normal and tangential law are apart, and sliding opens no gap between the
//! surfaces, as the cone does. The law with `R + w` in place of `R` is that of a constraint alone, on a body of inverse mass `w`.
//!
//! A PD law `τ = f₀ − d (v_c − v₀)` over a step `dt` with `|τ| ≤ τ_max` is `R = 1/(dt d)`, `v̂ = v₀ + f₀/d` and the bounds `∓dt τ_max`.
//!
//! Everything is inlined into its caller, which may be compiled for other registers than this crate.

use spatial::Real;
use spatial::masks::{all_lanes, select, wide};

use crate::Block;

/// What a law is, the same in all lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawKind {
    /// One row, its impulse between two bounds.
    One,
    /// Three rows, each of them such.
    Three,
    /// A contact, its friction in a disc.
    BoundedFriction,
    /// A contact, its impulse in a friction cone.
    Cone,
    /// Torsional friction by rows. A constraint has it in the third row alone.
    Torsion,
    /// Rolling (t1, t2) and torsional friction of one contact.
    Rolling,
}

/// A law by its numbers, by rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Law<T> {
    /// What it is.
    pub kind: LawKind,
    /// The lanes in which it is a contact of this kind, a bit each; in others it is three rows between bounds.
    pub contact_lanes: u32,
    /// 1 in these lanes, else 0.
    pub is_contact: T,
    /// R, velocity per impulse.
    pub r: [T; 3],
    /// The bias v̂, velocity.
    pub v_hat: [T; 3],
    /// Bounds of the impulse; both zero of a row that is not there.
    pub low: [T; 3],
    /// The upper ones.
    pub high: [T; 3],
    /// What friction is at most, relative to a normal impulse: μ of a contact, lengths of rolling and torsional friction.
    pub friction: [T; 3],
    /// The normal impulse n₀ where it is given.
    pub normal_impulse: [T; 3],
}

/// A square that is less than this part of another is less after rounding, too.
const SURELY: f64 = 1.0 - 1e-5;

/// Which normal impulses bound friction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bounds {
    /// Those that laws come with.
    Given,
    /// Contacts' own.
    Own,
}

/// What a law makes of velocities.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Response<T> {
    /// γ
    pub impulse: [T; 3],
    /// −∂γ/∂v, with the bound of a contact's friction where that is the contact's own.
    pub t: [[T; 3]; 3],
    /// ∂γ/∂n₀
    pub slope: [T; 3],
}

impl<T: Real> Law<T> {
    /// Rows that are not there.
    #[inline(always)]
    pub fn none() -> Self {
        let zeros = [T::ZERO; 3];
        Self {
            kind: LawKind::Three,
            contact_lanes: 0,
            is_contact: T::ZERO,
            r: [T::ONE; 3],
            v_hat: zeros,
            low: zeros,
            high: zeros,
            friction: zeros,
            normal_impulse: zeros,
        }
    }

    /// An impulse between the bounds `low ≤ high`, one row with regularisation `r > 0` (velocity per impulse) and bias `v_hat` (velocity):
    /// dry friction of a joint, an actuator with an effort limit.
    #[inline(always)]
    pub fn bounded(r: T, v_hat: T, low: T, high: T) -> Self {
        let mut law = Self { kind: LawKind::One, ..Self::none() };
        (law.r[0], law.v_hat[0], law.low[0], law.high[0]) = (r, v_hat, low, high);
        law
    }

    /// One-sided, one row: the impulse is never below zero, and vanishes for `v_c ≥ v̂`.
    #[inline(always)]
    pub fn limit(r: T, v_hat: T) -> Self {
        Self::bounded(r, v_hat, T::ZERO, wide(f64::INFINITY))
    }

    /// An equality, one row.
    #[inline(always)]
    pub fn equality(r: T, v_hat: T) -> Self {
        Self::bounded(r, v_hat, wide(f64::NEG_INFINITY), wide(f64::INFINITY))
    }

    /// Equalities of three rows.
    #[inline(always)]
    pub fn equalities(r: T, v_hat: [T; 3]) -> Self {
        let (low, high) = ([wide(f64::NEG_INFINITY); 3], [wide(f64::INFINITY); 3]);
        Self { r: [r; 3], v_hat, low, high, ..Self::none() }
    }

    /// Three rows of which only the third is held.
    #[inline(always)]
    pub fn along_third(r: T, v_hat: T) -> Self {
        let mut law = Self::equalities(r, [T::ZERO, T::ZERO, v_hat]);
        (law.low[0], law.low[1], law.high[0], law.high[1]) = (T::ZERO, T::ZERO, T::ZERO, T::ZERO);
        law
    }

    /// A contact with friction coefficient `mu ≥ 0`, regularisation `r_t > 0`, `r_n > 0` (velocity per impulse) and normal bias `vn_hat`
    /// (velocity): the normal impulse vanishes for `v_n ≥ v̂_n`, and `n₀ = normal_impulse ≥ 0` bounds friction.
    #[inline(always)]
    pub fn bounded_friction(mu: T, r_t: T, r_n: T, vn_hat: T, normal_impulse: T) -> Self {
        Self {
            kind: LawKind::BoundedFriction,
            contact_lanes: all_lanes::<T>(),
            is_contact: T::ONE,
            r: [r_t, r_t, r_n],
            v_hat: [T::ZERO, T::ZERO, vn_hat],
            friction: [mu, T::ZERO, T::ZERO],
            normal_impulse: [normal_impulse; 3],
            ..Self::none()
        }
    }

    /// A contact with the friction cone |γ_t| ≤ μ γ_n, onto which the impulse is projected in the norm of R. With `μ̃² = μ² R_t/R_n` and
    /// `c = 1 / (R_n (1 + μ̃²))`, where it slides
    ///
    /// ```text
    /// γ_n = c (u_n + μ |u_t|)      γ_t = μ γ_n û_t      G = c [μ û_t; 1] [μ û_t; 1]ᵀ + μ γ_n/|u_t| [I − û_t û_tᵀ, 0; 0, 0]
    /// ```
    ///
    /// Source: Castro, Permenter, Han, *An Unconstrained Convex Formulation of Compliant Contact*, analytical inverse dynamics.
    #[inline(always)]
    pub fn cone(mu: T, r_t: T, r_n: T, vn_hat: T) -> Self {
        Self { kind: LawKind::Cone, ..Self::bounded_friction(mu, r_t, r_n, vn_hat, T::ZERO) }
    }

    /// Rolling and torsional friction of the contact before it in the order of constraints, with regularisation `r > 0` (angular velocity per
    /// impulse), the lengths `rolling` and `torsional ≥ 0`, and `n₀ = normal_impulse ≥ 0`.
    #[inline(always)]
    pub fn rolling(r: T, rolling: T, torsional: T, normal_impulse: T) -> Self {
        let torsion = Self::torsion(r, torsional, normal_impulse);
        Self { kind: LawKind::Rolling, friction: [rolling, rolling, torsional], ..torsion }
    }

    /// Torsional friction likewise.
    #[inline(always)]
    pub fn torsion(r: T, torsional: T, normal_impulse: T) -> Self {
        Self {
            kind: LawKind::Torsion,
            r: [r; 3],
            friction: [T::ZERO, T::ZERO, torsional],
            normal_impulse: [normal_impulse; 3],
            ..Self::none()
        }
    }

    /// The same contact of surfaces that move by themselves, a conveyor belt's say: friction acts against `v_t − v̂_t`.
    #[inline(always)]
    #[must_use]
    pub fn with_surface_velocity(mut self, vt_hat: [T; 2]) -> Self {
        [self.v_hat[0], self.v_hat[1]] = vt_hat;
        self
    }

    /// The number of rows in `J`, `v_c` and `γ`: 3 or 1.
    #[inline(always)]
    pub fn rows(&self) -> usize {
        if self.kind == LawKind::One { 1 } else { 3 }
    }

    /// Whether it is a contact, whose normal impulse bounds rolling and torsional friction behind it.
    #[inline(always)]
    pub fn is_contact(&self) -> bool {
        matches!(self.kind, LawKind::BoundedFriction | LawKind::Cone)
    }

    /// Whether it is rolling or torsional friction.
    #[inline(always)]
    pub fn is_spin(&self) -> bool {
        matches!(self.kind, LawKind::Torsion | LawKind::Rolling)
    }

    /// Whether a normal impulse bounds its friction.
    #[inline(always)]
    pub fn has_bound(&self) -> bool {
        self.kind == LawKind::BoundedFriction || self.is_spin()
    }

    /// Takes the rows of another law in these lanes, from its row `from` on to rows `at` and after.
    #[inline(always)]
    pub fn take(&mut self, lanes: u32, other: &Self, from: usize, at: usize) {
        let mask = T::mask(lanes);
        if other.is_contact() || other.is_spin() {
            self.kind = other.kind;
        }
        self.contact_lanes |= other.contact_lanes & lanes;
        self.is_contact = select(mask, other.is_contact, self.is_contact);
        for k in 0..other.rows() - from {
            for (own, other) in [
                (&mut self.r, &other.r),
                (&mut self.v_hat, &other.v_hat),
                (&mut self.low, &other.low),
                (&mut self.high, &other.high),
                (&mut self.friction, &other.friction),
                (&mut self.normal_impulse, &other.normal_impulse),
            ] {
                own[at + k] = select(mask, other[from + k], own[at + k]);
            }
        }
    }

    /// γ at `v` and its derivatives, of the law with `1/stiffness` in place of R. `own` are, by rows, the normal impulses of the contacts that
    /// rolling and torsional friction belong to.
    #[inline(always)]
    pub(crate) fn respond(&self, v: [T; 3], stiffness: [T; 3], bounds: Bounds, own: [T; 3]) -> Response<T> {
        let mut response = Response { impulse: [T::ZERO; 3], t: [[T::ZERO; 3]; 3], slope: [T::ZERO; 3] };
        let normal = if bounds == Bounds::Own { own } else { self.normal_impulse };
        match self.kind {
            LawKind::One => {
                response.set_row(self, 0, v, stiffness, T::ZERO);
            }
            LawKind::Three => response.set_rows(self, v, stiffness),
            LawKind::Torsion => {
                for row in 0..3 {
                    response.set_torsion(self, row, v, stiffness, normal[row]);
                }
            }
            LawKind::Rolling => {
                response.set_disc(self, self.friction[0], v, stiffness, normal[0]);
                response.set_torsion(self, 2, v, stiffness, normal[2]);
            }
            LawKind::BoundedFriction | LawKind::Cone => {
                let contact = if self.kind == LawKind::Cone {
                    self.on_cone(v, stiffness)
                } else {
                    self.in_disc(v, stiffness, bounds)
                };
                if self.contact_lanes == all_lanes::<T>() {
                    return contact;
                }
                response.set_rows(self, v, stiffness);
                for row in 0..3 {
                    response.impulse[row] = select(self.is_contact, contact.impulse[row], response.impulse[row]);
                    for column in 0..3 {
                        response.t[row][column] =
                            select(self.is_contact, contact.t[row][column], response.t[row][column]);
                    }
                }
            }
        }
        response
    }

    /// A contact whose friction is bounded.
    #[inline(always)]
    fn in_disc(&self, v: [T; 3], stiffness: [T; 3], bounds: Bounds) -> Response<T> {
        let mut response = Response { impulse: [T::ZERO; 3], t: [[T::ZERO; 3]; 3], slope: [T::ZERO; 3] };
        let lacks = self.v_hat[2] - v[2];
        let normal = T::ZERO.if_less(lacks, lacks * stiffness[2], T::ZERO);
        let per_normal = T::ZERO.if_less(lacks, stiffness[2], T::ZERO);
        let bounding = if bounds == Bounds::Own { normal } else { self.normal_impulse[2] };
        response.set_disc(self, self.friction[0], v, stiffness, bounding);
        response.impulse[2] = normal;
        response.t[2][2] = per_normal;
        if bounds == Bounds::Own {
            // A weaker push lets it slide with less friction.
            response.t[0][2] = response.slope[0] * per_normal;
            response.t[1][2] = response.slope[1] * per_normal;
        }
        response
    }

    /// A contact with a friction cone.
    #[inline(always)]
    fn on_cone(&self, v: [T; 3], [k_t, _, k_n]: [T; 3]) -> Response<T> {
        let mu = self.friction[0];
        let (x, y, lacks) = (v[0] - self.v_hat[0], v[1] - self.v_hat[1], self.v_hat[2] - v[2]);
        let speed = x.mul_add(x, y * y).sqrt();
        // What slides is pushed before it comes near.
        let reach = mu.mul_add(speed, lacks);
        let pushes = T::ZERO.if_less(reach, T::ONE, T::ZERO);
        let slides = (mu * k_n * lacks).if_less(speed * k_t, pushes, T::ZERO);
        let along = select(slides, k_n * k_t / (mu * mu).mul_add(k_n, k_t), T::ZERO);
        let inverse = slides / select(slides, speed, T::ONE);
        let (d1, d2) = (x * inverse, y * inverse);
        let normal = select(slides, along * reach, select(pushes, k_n * lacks, T::ZERO));
        let held = pushes * T::ZERO.if_less(mu, k_t, T::ZERO);
        let per_speed = select(slides, mu * normal * inverse, held);
        // It sticks, and both friction and normal impulse follow their own velocities; or it slides, and both follow one sum of these.
        let across = mu * along;
        let stretch = mu * across - per_speed;
        let (a, b) = (stretch * d1, stretch * d2);
        let (along_1, along_2) = (-(across * d1), -(across * d2));
        Response {
            impulse: [-(per_speed * x), -(per_speed * y), normal],
            t: [
                [a.mul_add(d1, per_speed), a * d2, along_1],
                [a * d2, b.mul_add(d2, per_speed), along_2],
                [along_1, along_2, select(slides, along, select(pushes, k_n, T::ZERO))],
            ],
            slope: [T::ZERO; 3],
        }
    }
}

impl<T: Real> Response<T> {
    /// A row whose bounds are so much farther from zero than the law's.
    #[inline(always)]
    fn set_row(&mut self, law: &Law<T>, row: usize, v: [T; 3], stiffness: [T; 3], more: T) -> T {
        let whole = (law.v_hat[row] - v[row]) * stiffness[row];
        let (low, high) = (law.low[row] - more, law.high[row] + more);
        self.impulse[row] = whole.max(low).min(high);
        self.t[row][row] = low.if_less(whole, T::ONE, T::ZERO) * whole.if_less(high, stiffness[row], T::ZERO);
        whole
    }

    #[inline(always)]
    fn set_rows(&mut self, law: &Law<T>, v: [T; 3], stiffness: [T; 3]) {
        for row in 0..3 {
            self.set_row(law, row, v, stiffness, T::ZERO);
        }
    }

    /// Torsional friction in one row.
    #[inline(always)]
    fn set_torsion(&mut self, law: &Law<T>, row: usize, v: [T; 3], stiffness: [T; 3], normal: T) {
        let whole = self.set_row(law, row, v, stiffness, law.friction[row] * normal);
        let is_free = T::ZERO.if_less(self.t[row][row], T::ZERO, T::ONE);
        self.slope[row] = is_free * law.friction[row].copysign(whole);
    }

    /// Friction of two rows within a disc of radius `friction` times `normal`.
    #[inline(always)]
    fn set_disc(&mut self, law: &Law<T>, friction: T, v: [T; 3], stiffness: [T; 3], normal: T) {
        let (x, y, k) = (v[0] - law.v_hat[0], v[1] - law.v_hat[1], stiffness[0]);
        let bound = friction * normal;
        let square = x.mul_add(x, y * y);
        // What sticks for certain, as at rest, needs neither root nor quotient.
        if (square * (k * k)).lanes_less(bound * bound * wide(SURELY)) == all_lanes::<T>() {
            (self.impulse[0], self.impulse[1]) = (-(k * x), -(k * y));
            (self.t[0][0], self.t[1][1]) = (k, k);
            return;
        }
        let speed = square.sqrt();
        // It slides where what would hold it is beyond the bound.
        let slides = bound.if_less(speed * k, T::ONE, T::ZERO);
        let inverse = slides / select(slides, speed, T::ONE);
        let (d1, d2) = (x * inverse, y * inverse);
        let per_speed = select(slides, bound * inverse, k);
        let (a, b) = (per_speed * d1, per_speed * d2);
        (self.impulse[0], self.impulse[1]) = (-(per_speed * x), -(per_speed * y));
        (self.t[0][0], self.t[0][1]) = (per_speed - a * d1, -(a * d2));
        (self.t[1][0], self.t[1][1]) = (-(a * d2), per_speed - b * d2);
        (self.slope[0], self.slope[1]) = (-(friction * d1), -(friction * d2));
    }
}

impl Law<f64> {
    /// [`rolling`](Self::rolling) friction, or where that has no length [`torsion`](Self::torsion).
    #[inline]
    pub fn spin_friction(r: f64, rolling: f64, torsional: f64, normal_impulse: f64) -> Self {
        if rolling == 0.0 {
            return Self::torsion(r, torsional, normal_impulse);
        }
        Self::rolling(r, rolling, torsional, normal_impulse)
    }

    /// Bounds friction by the normal impulse `n`.
    #[inline]
    pub fn set_normal_impulse(&mut self, n: f64) {
        self.normal_impulse = [n; 3];
    }

    /// Sets the normal bias `v̂_n` of a contact or a limit.
    #[inline]
    pub fn set_normal_bias(&mut self, vn_hat: f64) {
        self.v_hat[self.rows() - 1] = vn_hat;
    }

    /// `(ℓ, γ, G)` at the constraint velocity `v_c`. A NaN in `v_c` comes out as NaN in `ℓ`.
    #[inline(always)]
    pub fn evaluate(&self, v_c: [f64; 3]) -> (f64, [f64; 3], Block) {
        let response = self.respond(v_c, self.stiffness(0.0), Bounds::Given, [0.0; 3]);
        (self.cost(v_c, response.impulse), response.impulse, response.hessian())
    }

    /// ℓ where `gamma` is γ.
    #[inline(always)]
    pub(crate) fn cost(&self, v_c: [f64; 3], gamma: [f64; 3]) -> f64 {
        let of_row = |row: usize| gamma[row] * (self.v_hat[row] - v_c[row] - 0.5 * self.r[row] * gamma[row]);
        of_row(0) + of_row(1) + of_row(2)
    }

    /// 1/(R + `soft`)
    #[inline(always)]
    pub(crate) fn stiffness(&self, soft: f64) -> [f64; 3] {
        let [t1, t2, n] = self.r;
        [1.0 / (t1 + soft), 1.0 / (t2 + soft), 1.0 / (n + soft)]
    }
}

impl Response<f64> {
    /// G: the lower triangle of T, in which bounds of friction are given.
    #[inline(always)]
    pub fn hessian(&self) -> Block {
        let [[t11, ..], [t21, t22, _], [t31, t32, t33]] = self.t;
        Block([t11, t21, t31, t22, t32, t33])
    }
}

/// Evaluates laws in the order of constraints with friction bounded by the contacts' own normal impulses.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnBounds {
    /// That of the last contact.
    pub normal: f64,
}

impl OwnBounds {
    /// The next law at `v`, as if R were greater by `soft`.
    #[inline(always)]
    pub fn respond(&mut self, law: &Law<f64>, v: [f64; 3], soft: f64) -> Response<f64> {
        let response = law.respond(v, law.stiffness(soft), Bounds::Own, [self.normal; 3]);
        if law.is_contact() {
            self.normal = response.impulse[2];
        }
        response
    }
}

#[cfg(test)]
mod tests;
