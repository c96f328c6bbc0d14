//! The one interface of constraints, `v_c ↦ (ℓ, γ, G)`, and the enum that dispatches to them.

mod bounded_friction;
mod box_constraint;
mod cone;
mod disc;
mod dual;
mod equality;
mod limit;
mod spin_friction;

pub use bounded_friction::BoundedFrictionContact;
pub use box_constraint::BoxConstraint;
pub use cone::ConeContact;
pub use equality::Equality;
pub use limit::Limit;
pub use spin_friction::SpinFriction;

/// How far beyond a bound, relative to the distance of both, a constraint alone has to be to be expected there.
const EXPECTED_BEYOND: f64 = 0.25;

/// The law of a constraint: a convex cost `ℓ(v_c)` of its constraint velocity `v_c`, with
///
/// ```text
/// γ = −∂ℓ/∂v_c      the impulse
/// G =  ∂²ℓ/∂v_c²    the Hessian, symmetric and positive semidefinite
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Law {
    /// Compliant contact with Coulomb friction as a convex cone, three rows.
    Cone(ConeContact),
    /// Compliant contact whose friction is bounded by a given normal impulse, three rows.
    BoundedFriction(BoundedFrictionContact),
    /// Rolling and torsional friction of the contact before it, three rows.
    SpinFriction(SpinFriction),
    /// Compliant one-sided constraint, one row.
    Limit(Limit),
    /// Impulse between two bounds, one row.
    BoxConstraint(BoxConstraint),
    /// Compliant equality, one row or three.
    Equality(Equality),
}

/// A constraint: its law, and what the solver may know to predict it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// The law.
    pub law: Law,
    /// w, 0 when unknown
    delassus: f64,
    /// The free velocity to predict from; NaN when there is none.
    free: [f64; 3],
}

impl<L: Into<Law>> From<L> for Constraint {
    #[inline]
    fn from(law: L) -> Constraint {
        Constraint { law: law.into(), delassus: 0.0, free: [f64::NAN; 3] }
    }
}

macro_rules! law_from {
    ($($variant:ident($law:ty)),*) => {$(
        impl From<$law> for Law {
            #[inline]
            fn from(law: $law) -> Law {
                Law::$variant(law)
            }
        }
    )*};
}

law_from!(
    Cone(ConeContact),
    BoundedFriction(BoundedFrictionContact),
    SpinFriction(SpinFriction),
    Limit(Limit),
    BoxConstraint(BoxConstraint),
    Equality(Equality)
);

impl Law {
    /// The number of rows in `J`, `v_c` and `γ`: 3 or 1.
    #[inline]
    pub fn rows(&self) -> usize {
        match self {
            Law::Cone(_) | Law::BoundedFriction(_) | Law::SpinFriction(_) => 3,
            Law::Limit(_) | Law::BoxConstraint(_) => 1,
            Law::Equality(equality) => equality.rows(),
        }
    }

    /// Whether it is a contact, whose normal impulse bounds rolling and torsional friction behind it.
    #[inline]
    pub fn is_contact(&self) -> bool {
        matches!(self, Law::Cone(_) | Law::BoundedFriction(_))
    }

    /// The law with `R + soft` in place of `R`.
    #[inline]
    pub(crate) fn softened(&self, soft: f64) -> Law {
        match self {
            Law::Cone(law) => Law::Cone(law.softened(soft)),
            Law::BoundedFriction(law) => Law::BoundedFriction(law.softened(soft)),
            Law::SpinFriction(law) => Law::SpinFriction(law.softened(soft)),
            Law::Limit(law) => Law::Limit(law.softened(soft)),
            Law::BoxConstraint(law) => Law::BoxConstraint(law.softened(soft)),
            Law::Equality(law) => Law::Equality(law.softened(soft)),
        }
    }

    /// The normal impulse that bounds friction, 0 where none does.
    pub(crate) fn bound(&self) -> f64 {
        match self {
            Law::BoundedFriction(contact) => contact.normal_impulse(),
            Law::SpinFriction(spin) => spin.normal_impulse(),
            _ => 0.0,
        }
    }

    /// Bounds friction by the normal impulse `n`.
    pub fn set_bound(&mut self, n: f64) {
        match self {
            Law::BoundedFriction(contact) => contact.set_normal_impulse(n),
            Law::SpinFriction(spin) => spin.set_normal_impulse(n),
            _ => {}
        }
    }

    /// Sets the normal bias `v̂_n` of a contact or limit (velocity); the others have none.
    pub fn set_normal_bias(&mut self, vn_hat: f64) {
        match self {
            Law::Cone(contact) => contact.set_normal_bias(vn_hat),
            Law::BoundedFriction(contact) => contact.set_normal_bias(vn_hat),
            Law::Limit(limit) => *limit = Limit::new(limit.r(), vn_hat),
            Law::SpinFriction(_) | Law::BoxConstraint(_) | Law::Equality(_) => {}
        }
    }

    /// Writes `γ(v_c)` and `G(v_c)`, returns `ℓ(v_c)`.
    ///
    /// # Panics
    /// If `v_c` and `gamma` are not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn evaluate(&self, v_c: &[f64], gamma: &mut [f64], hessian: &mut Block) -> f64 {
        let (cost, impulse) = match self {
            Law::Cone(law) => {
                let (cost, impulse, block) = law.evaluate([v_c[0], v_c[1], v_c[2]]);
                *hessian = block;
                (cost, impulse)
            }
            Law::BoundedFriction(law) => {
                let (cost, impulse, block) = law.evaluate([v_c[0], v_c[1], v_c[2]]);
                *hessian = block;
                (cost, impulse)
            }
            Law::SpinFriction(law) => {
                let (cost, impulse, block) = law.evaluate([v_c[0], v_c[1], v_c[2]]);
                *hessian = block;
                (cost, impulse)
            }
            Law::Limit(law) => return scalar(law.evaluate(v_c[0]), gamma, hessian),
            Law::BoxConstraint(law) => return scalar(law.evaluate(v_c[0]), gamma, hessian),
            Law::Equality(law) => {
                let (cost, block) = law.evaluate(v_c, gamma);
                *hessian = block;
                return cost;
            }
        };
        gamma.copy_from_slice(&impulse);
        cost
    }
}

#[inline]
fn scalar((cost, impulse, curvature): (f64, f64, f64), gamma: &mut [f64], hessian: &mut Block) -> f64 {
    gamma[0] = impulse;
    *hessian = Block::scalar(curvature);
    cost
}

impl Constraint {
    /// The same constraint with an estimate `w > 0` of its diagonal block of the Delassus operator `J A⁻¹ Jᵀ` (velocity per
    /// impulse). It changes no solution: it lets the solver predict, whether a contact will stick, slide or part, say.
    #[inline]
    #[must_use]
    pub fn with_delassus(self, w: f64) -> Constraint {
        Constraint { delassus: w, ..self }
    }

    /// The same constraint with a guess of the velocity that it would meet if it alone did not push, from the step before, say
    /// ([`free_velocity`](Self::free_velocity)); one row uses the first entry. It changes no solution: it is where prediction
    /// starts, in place of `J v*`. A guess that is not finite is none.
    #[inline]
    #[must_use]
    pub fn with_free_velocity(self, free: [f64; 3]) -> Constraint {
        Constraint { free, ..self }
    }

    /// The same constraint with `R + soft` in place of `R`.
    pub(crate) fn softened(&self, soft: f64) -> Constraint {
        Constraint { law: self.law.softened(soft), ..*self }
    }

    /// The number of rows in `J`, `v_c` and `γ`: 3 or 1.
    #[inline]
    pub fn rows(&self) -> usize {
        self.law.rows()
    }

    /// The rows whose impulses are not zero always: friction that resists no rolling has one.
    #[inline]
    pub fn rows_that_push(&self) -> usize {
        match &self.law {
            Law::SpinFriction(spin) if spin.lengths()[0] == 0.0 => 1,
            law => law.rows(),
        }
    }

    /// w, 0 when unknown.
    #[inline]
    pub(crate) fn delassus(&self) -> f64 {
        self.delassus
    }

    /// Whether its share of the Delassus operator is known.
    #[inline]
    pub(crate) fn can_predict(&self) -> bool {
        self.delassus > 0.0
    }

    /// The guess of the free velocity; NaN when there is none.
    #[inline]
    pub(crate) fn free(&self) -> &[f64] {
        &self.free[..self.rows()]
    }

    /// Writes the velocity that the constraint would meet if it alone did not push, `v_c − w γ`: what the other constraints
    /// make of it. Where `w` is unknown, `v_c` itself.
    ///
    /// # Panics
    /// If a slice is not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn free_velocity(&self, v_c: &[f64], gamma: &[f64], free: &mut [f64]) {
        let rows = self.rows();
        for ((free, v_c), gamma) in free[..rows].iter_mut().zip(&v_c[..rows]).zip(&gamma[..rows]) {
            *free = v_c - self.delassus * gamma;
        }
    }

    /// Whether the constraint alone would push from the guess of its free velocity; not without a guess.
    #[must_use]
    pub fn expects_to_push(&self) -> bool {
        let rows = self.rows();
        if !self.free[..rows].iter().all(|x| x.is_finite()) {
            return false;
        }
        let (mut v_c, mut gamma, mut hessian) = ([0.0; 3], [0.0; 3], Block::ZERO);
        self.isolated_velocity(&self.free[..rows], &mut v_c[..rows]);
        self.evaluate(&v_c[..rows], &mut gamma[..rows], &mut hessian);
        gamma != [0.0; 3]
    }

    /// The bound that the impulse between two bounds comes to at the velocity `v`, if at any; none of other laws.
    #[must_use]
    pub fn bound_at(&self, v: f64) -> Option<f64> {
        let Law::BoxConstraint(law) = &self.law else { return None };
        let (_, impulse, curvature) = law.evaluate(v);
        (curvature == 0.0).then_some(impulse)
    }

    /// The bound that the constraint alone would come to from the guess of its free velocity, if it would clearly.
    #[must_use]
    pub fn expected_bound(&self) -> Option<f64> {
        let Law::BoxConstraint(law) = &self.law else { return None };
        let whole = (law.v_hat() - self.free[0]) / (law.r() + self.delassus);
        let (low, high) = law.bounds();
        // Beyond it by half of what lies between them, so that few turn out to be elsewhere.
        let margin = EXPECTED_BEYOND * (high - low);
        if whole < low - margin { Some(low) } else { (whole > high + margin).then_some(high) }
    }

    /// Whether the constraint pushes at the constraint velocity `v_c`.
    ///
    /// # Panics
    /// If `v_c` is not of [`rows`](Self::rows) entries.
    #[inline]
    #[must_use]
    pub fn pushes_at(&self, v_c: &[f64]) -> bool {
        match &self.law {
            Law::BoundedFriction(contact) => contact.own_normal_impulse(v_c[2]) > 0.0,
            Law::Limit(limit) => v_c[0] < limit.v_hat(),
            law => {
                let (mut gamma, mut hessian) = ([0.0; 3], Block::ZERO);
                law.evaluate(v_c, &mut gamma[..v_c.len()], &mut hessian);
                gamma != [0.0; 3]
            }
        }
    }

    /// Writes the constraint velocity of this constraint alone, on a body of inverse mass `w` that would move with `free`:
    /// `v_c = free + w γ(v_c)`, which is the same law with `R + w` in place of `R`. Where `w` is unknown, `free` itself.
    #[inline]
    pub(crate) fn isolated_velocity(&self, free: &[f64], v_c: &mut [f64]) {
        let w = self.delassus;
        v_c.copy_from_slice(free);
        if w > 0.0 {
            let (mut gamma, mut hessian) = ([0.0; 3], Block::ZERO);
            let gamma = &mut gamma[..free.len()];
            self.law.softened(w).evaluate(free, gamma, &mut hessian);
            for (v, gamma) in v_c.iter_mut().zip(gamma) {
                *v += w * *gamma;
            }
        }
    }

    /// Writes `γ(v_c)` and `G(v_c)`, returns `ℓ(v_c)`.
    ///
    /// # Panics
    /// If `v_c` and `gamma` are not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn evaluate(&self, v_c: &[f64], gamma: &mut [f64], hessian: &mut Block) -> f64 {
        self.law.evaluate(v_c, gamma, hessian)
    }

    /// The Hessian for a Newton step: `block`, the one at the impulse `gamma`, but where the constraint slides, with the
    /// direction of friction that the impulse `dual` tells as well.
    #[inline]
    pub(crate) fn primal_dual(&self, block: &Block, gamma: &[f64], dual: &[f64]) -> Block {
        match &self.law {
            Law::Cone(_) => dual::of_cone(block, gamma, dual),
            Law::BoundedFriction(contact) => dual::of_disc(block, gamma, dual, contact.r_t()),
            _ => *block,
        }
    }
}

/// One diagonal block of `G`: a symmetric positive semidefinite 3×3 matrix.
///
/// The entries are `[G₁₁, G₁₂, G₁₃, G₂₂, G₂₃, G₃₃]`; a constraint of one row uses the first alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Block(pub [f64; 6]);

impl Block {
    /// The block of an inactive constraint.
    pub const ZERO: Block = Block([0.0; 6]);

    /// The block of a constraint with one row.
    #[inline]
    pub fn scalar(g: f64) -> Block {
        Block([g, 0.0, 0.0, 0.0, 0.0, 0.0])
    }

    /// The block `diag(a, b, c)`.
    #[inline]
    pub fn diagonal(a: f64, b: f64, c: f64) -> Block {
        Block([a, 0.0, 0.0, b, 0.0, c])
    }

    /// Whether the block adds to `H`: a positive semidefinite matrix is zero if its diagonal is.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.0[0] != 0.0 || self.0[3] != 0.0 || self.0[5] != 0.0
    }

    /// How a contact's normal impulse follows its velocities: the last row.
    #[inline]
    pub fn normal_row(&self) -> [f64; 3] {
        [self.0[2], self.0[4], self.0[5]]
    }

    /// `G x`.
    #[inline]
    pub fn apply(&self, x: [f64; 3]) -> [f64; 3] {
        let [g11, g12, g13, g22, g23, g33] = self.0;
        [
            g11 * x[0] + g12 * x[1] + g13 * x[2],
            g12 * x[0] + g22 * x[1] + g23 * x[2],
            g13 * x[0] + g23 * x[1] + g33 * x[2],
        ]
    }

    /// `xᵀ G x`, `x` having three entries, or one for a block of one row.
    ///
    /// # Panics
    /// If `x` has another number of entries.
    #[inline]
    pub fn quadratic_form(&self, x: &[f64]) -> f64 {
        match *x {
            [a] => self.0[0] * a * a,
            [a, b, c] => {
                let g = self.apply([a, b, c]);
                a * g[0] + b * g[1] + c * g[2]
            }
            _ => unreachable!("constraints have one row or three"),
        }
    }
}
