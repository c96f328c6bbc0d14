//! The impedance articulated-body algorithm about the common point (compare [`Factor`](crate::Factor)).
//!
//! A degree of freedom S with the articulated inertia I^A of what it moves leaves I^A − U Uᵀ/D to the place before it, U = I^A S,
//! D = SᵀU + Λ (RBDA §7.3): a rank-one change of six rows, and the matrix there is about the same point.

use spatial::{F64x4, Real};

use super::{CommonPoint, Coordinates, add_scaled, dot, halves, joined, product, sum};

/// What the elimination of a degree of freedom leaves behind.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pivot {
    u: Coordinates,
    /// 1/D
    inverse: f64,
}

const NO_PIVOT: Pivot = Pivot { u: [0.0; 8], inverse: 0.0 };

impl CommonPoint {
    /// Factors M + Λ + Σ_b J_bᵀ Ĝ_b J_b, what has been summed up since [`start_composites`](Self::start_composites) with the diagonal
    /// `lambda`; the sum is used up as scratch.
    ///
    /// # Errors
    /// The degree of freedom whose D is not positive.
    pub fn factor(&mut self, lambda: &[f64]) -> Result<(), usize> {
        self.pivots.resize(self.motions.len(), NO_PIVOT);
        let along = self.pivots.iter_mut().zip(&self.motions).zip(&self.parents).zip(lambda);
        for (i, (((pivot, motion), parent), lambda)) in along.enumerate().rev() {
            let own = self.composites[i];
            let u = product(&own, motion);
            let d = dot(motion, &u) + lambda;
            if !(d > 0.0 && d < f64::INFINITY) {
                return Err(i);
            }
            *pivot = Pivot { u, inverse: 1.0 / d };
            let scaled = halves(&u).map(|u| u * F64x4::splat(-pivot.inverse));
            for ((row, own), share) in self.composites[*parent].iter_mut().zip(&own).zip(u) {
                let (share, [low, high]) = (F64x4::splat(share), halves(&sum(row, own)));
                *row = joined([scaled[0].mul_add(share, low), scaled[1].mul_add(share, high)]);
            }
        }
        Ok(())
    }

    /// x = (M + Λ + Σ_b J_bᵀ Ĝ_b J_b)⁻¹ b with the last factor.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        self.clear_wrenches();
        let along = x.iter_mut().zip(b).zip(&self.pivots).zip(&self.motions).zip(&self.parents);
        for (i, ((((x, b), pivot), motion), parent)) in along.enumerate().rev() {
            let own = self.wrenches[i];
            *x = (b - dot(motion, &own)) * pivot.inverse;
            let parent = &mut self.wrenches[*parent];
            *parent = joined(add_scaled(*x, &pivot.u, halves(&sum(parent, &own))));
        }
        let along = x.iter_mut().zip(&self.pivots).zip(&self.motions).zip(&self.parents);
        for (i, (((x, pivot), motion), parent)) in along.enumerate() {
            let carried = self.twists[*parent];
            *x -= pivot.inverse * dot(&pivot.u, &carried);
            self.twists[i] = joined(add_scaled(*x, motion, halves(&carried)));
        }
    }
}
