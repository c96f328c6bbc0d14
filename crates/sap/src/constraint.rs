//! A constraint: its law, and what the solver may know to predict it.

use std::ops::Range;

use crate::block::{narrow, widened};
use crate::dual;
use crate::law::{Bounds, LawKind};
use crate::{Block, Law};

/// How far beyond a bound, relative to the distance of both, a constraint alone has to be to be expected there.
pub const EXPECTED_BEYOND: f64 = 0.25;

/// A constraint: its law, and what the solver may know to predict it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Constraint {
    /// The law.
    pub law: Law<f64>,
    /// w, 0 when unknown
    delassus: f64,
    /// The free velocity to predict from; NaN when there is none.
    free: [f64; 3],
}

impl From<Law<f64>> for Constraint {
    #[inline]
    fn from(law: Law<f64>) -> Constraint {
        Constraint { law, delassus: 0.0, free: [f64::NAN; 3] }
    }
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

    /// The number of rows in `J`, `v_c` and `γ`: 3 or 1.
    #[inline]
    pub fn rows(&self) -> usize {
        self.law.rows()
    }

    /// The rows whose impulses are not zero always: friction that resists no rolling has one.
    #[inline]
    pub fn rows_that_push(&self) -> usize {
        if self.law.kind == LawKind::Torsion { 1 } else { self.rows() }
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
        let free = widened(self.free());
        free.iter().all(|x| x.is_finite()) && self.isolated_impulse(free) != [0.0; 3]
    }

    /// The bound that the impulse between two bounds comes to at the velocity `v`, if at any; none of other laws.
    #[must_use]
    pub fn bound_at(&self, v: f64) -> Option<f64> {
        let (_, impulse, hessian) = self.law.evaluate([v, 0.0, 0.0]);
        (self.law.kind == LawKind::One && !hessian.is_active()).then_some(impulse[0])
    }

    /// The bound that the constraint alone would come to from the guess of its free velocity, if it would clearly.
    #[must_use]
    pub fn expected_bound(&self) -> Option<f64> {
        let law = &self.law;
        if law.kind != LawKind::One {
            return None;
        }
        let whole = (law.v_hat[0] - self.free[0]) / (law.r[0] + self.delassus);
        let (low, high) = (law.low[0], law.high[0]);
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
        let bounds = if self.law.is_contact() { Bounds::Own } else { Bounds::Given };
        self.law.respond(widened(v_c), self.law.stiffness(0.0), bounds, [0.0; 3]).impulse != [0.0; 3]
    }

    /// The impulse of this constraint alone.
    #[inline]
    fn isolated_impulse(&self, free: [f64; 3]) -> [f64; 3] {
        self.law.respond(free, self.law.stiffness(self.delassus), Bounds::Given, [0.0; 3]).impulse
    }

    /// Writes `γ(v_c)` and `G(v_c)`, returns `ℓ(v_c)`.
    ///
    /// # Panics
    /// If `v_c` and `gamma` are not of [`rows`](Self::rows) entries.
    #[inline]
    pub fn evaluate(&self, v_c: &[f64], gamma: &mut [f64], hessian: &mut Block) -> f64 {
        let (cost, impulse, block) = self.law.evaluate(widened(v_c));
        *hessian = block;
        narrow(impulse, gamma);
        cost
    }

    /// The Hessian for a Newton step: `block`, the one at the impulse `gamma`, but where the constraint slides, with the
    /// direction of friction that the impulse `dual` tells as well.
    #[inline]
    pub(crate) fn primal_dual(&self, block: &Block, gamma: &[f64], dual: &[f64]) -> Block {
        match self.law.kind {
            LawKind::Cone => dual::of_cone(block, gamma, dual),
            LawKind::BoundedFriction => dual::of_disc(block, gamma, dual, self.law.r[0]),
            _ => *block,
        }
    }
}

/// The rows of each constraint, one after the other.
#[inline(always)]
pub(crate) fn rows_of(constraints: &[Constraint]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    constraints.iter().map(move |constraint| {
        let start = end;
        end += constraint.rows();
        start..end
    })
}
