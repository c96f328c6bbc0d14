use crate::{Block, Constraint};

/// The linear-algebra side of a problem: how `A` and `J` act, and how `H = A + Jᵀ G J` is factored.
///
/// `n_v` is the number of velocities; `J` has the rows of the constraints one after the other, so that the rows of constraint
/// `k` start at the sum of [`Constraint::rows`] of those before it. `A` is symmetric positive definite.
pub trait Structure {
    /// The number of velocities `n_v`.
    fn nv(&self) -> usize;

    /// The number of rows of `J`, if the structure knows it: a mismatch with the constraints is then an error of
    /// [`solve`](crate::solve).
    fn rows(&self) -> Option<usize> {
        None
    }

    /// `a_x = A x` and `j_x = J x`, both overwritten; one call, since a recursion shares the traversal.
    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]);

    /// `a_x = A x` alone, overwritten.
    fn momentum(&mut self, x: &[f64], a_x: &mut [f64]);

    /// `j_x = J x` alone, overwritten.
    fn row_velocities(&mut self, x: &[f64], j_x: &mut [f64]);

    /// `a_x = A x` with `x = v − v*`, and `j_v = J v`, both overwritten: at a guess `v` of which something may be known.
    fn products_at(&mut self, v: &[f64], x: &[f64], a_x: &mut [f64], j_v: &mut [f64]) {
        self.momentum(x, a_x);
        self.row_velocities(v, j_v);
    }

    /// `out += Jᵀ γ`.
    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]);

    /// Factors `H = A + Jᵀ G J`, where `G` is block diagonal with one block per constraint.
    ///
    /// # Errors
    /// If `H` is not numerically positive definite.
    fn factor(&mut self, constraints: &[Constraint], hessian: &[Block]) -> Result<(), FactorError>;

    /// `x = H⁻¹ b` with the last factor.
    fn solve(&mut self, b: &[f64], x: &mut [f64]);

    /// Factors `K = A + Jᵀ (G + b eᵀ) J`, which is not symmetric: the impulses of constraint `k` grow by `slopes[k]`, its entry `b_k`,
    /// with each unit of normal impulse of the last contact up to `k`, and that falls by its `G_nn`
    /// with each unit of its normal velocity. The last factor of `H` may be lost.
    ///
    /// # Errors
    /// If a pivot is zero.
    fn factor_unsymmetric(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), FactorError>;

    /// `x = K⁻¹ b` with the last factor of [`factor_unsymmetric`](Self::factor_unsymmetric).
    fn solve_unsymmetric(&mut self, b: &[f64], x: &mut [f64]);

    /// Whether the solve is to end at once, with [`Error::Interrupted`](crate::Error::Interrupted); asked before and after every
    /// factorisation. Once true it must stay so: factorisations may then have failed for no other reason.
    fn is_interrupted(&self) -> bool {
        false
    }

    /// `H` by its products, for problems of which no factor is asked. None where it has none: they are factored then.
    fn operator(&mut self) -> Option<&mut dyn HessianOperator> {
        None
    }

    /// `d = diag(A)^{-1/2}`, or an estimate: it gives the entries of a momentum common units.
    fn scale(&mut self, d: &mut [f64]);
}

/// `H = A + Jᵀ G J` without a factor. What it needs may be what factors need: none of these is there afterwards.
pub trait HessianOperator {
    /// Sets `G`, one block per constraint.
    fn set(&mut self, hessian: &[Block]);

    /// `h_x = H x`, overwritten.
    fn apply(&mut self, x: &[f64], h_x: &mut [f64]);

    /// `x = P⁻¹ b`, `P` symmetric, positive definite and near to `H`.
    fn precondition(&mut self, b: &[f64], x: &mut [f64]);
}

/// `H` could not be factored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the matrix A + JᵀGJ is not positive definite at row {row}")]
pub struct FactorError {
    /// The row whose pivot was not positive.
    pub row: usize,
}
