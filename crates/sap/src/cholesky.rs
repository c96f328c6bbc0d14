//! Cholesky factorisation `H = L Lᵀ` of column-major matrices within their profile, in reused memory.

mod profile;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::{Auto, MatMut, Par, Spec};

use crate::vector::{axpy, dot};
use crate::{FactorError, SolverParameters};
use profile::Profile;

const MIN_BLOCKED: usize = SolverParameters::STANDARD.factorization.min_blocked;

/// A symmetric positive definite matrix, its factor and the scratch memory to make it.
///
/// For matrices without blocks, or of one: two humanoids, each a block, take a third longer than with
/// [`BlockCholesky`](crate::BlockCholesky), 125 scattered boxes ten times as long; a single body takes as long with either
/// (`examples/factor_time.rs`).
///
/// For structures that assemble their own `H`: [`resize`](Self::resize), [`begin`](Self::begin), [`couple`](Self::couple) the
/// indices that will have entries, fill what [`zeroed`](Self::zeroed) returns, [`factor`](Self::factor),
/// [`solve`](Self::solve).
pub struct Cholesky {
    n: usize,
    profile: Profile,
    /// Column-major n×n; of each column only the rows of the profile, or those below the diagonal, are in use.
    matrix: Vec<f64>,
    scratch: MemBuffer,
}

impl Cholesky {
    /// A matrix of size 0.
    pub fn new() -> Cholesky {
        Cholesky { n: 0, profile: Profile::default(), matrix: Vec::new(), scratch: MemBuffer::new(StackReq::EMPTY) }
    }

    /// Sets the size; the matrix's values are then arbitrary.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.matrix.resize(n * n, 0.0);
        let required = cholesky_in_place_scratch::<f64>(n, Par::Seq, params());
        if n >= MIN_BLOCKED && !MemStack::new(&mut self.scratch).can_hold(required) {
            self.scratch = MemBuffer::new(required);
        }
    }

    /// The size.
    pub fn size(&self) -> usize {
        self.n
    }

    /// Starts a new matrix: a diagonal one until [`couple`](Self::couple) has said more.
    pub fn begin(&mut self) {
        self.profile.reset(self.n);
    }

    /// Makes room for entries between all of `indices` and `least`, the smallest of them.
    pub fn couple(&mut self, least: usize, indices: impl Iterator<Item = usize>) {
        self.profile.couple(least, indices);
    }

    /// Sets the matrix to zero where there is room, and returns it, column-major, for its lower triangle to be filled in.
    pub fn zeroed(&mut self) -> &mut [f64] {
        self.profile.close();
        for j in 0..self.n {
            let last = self.profile.last_read(j);
            self.matrix[j * self.n + j..=j * self.n + last].fill(0.0);
        }
        &mut self.matrix
    }

    /// The matrix to factor.
    pub(crate) fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.matrix
    }

    /// Replaces the lower triangle by that of `L`.
    ///
    /// # Errors
    /// If the matrix is not numerically positive definite.
    pub fn factor(&mut self) -> Result<(), FactorError> {
        if self.n < MIN_BLOCKED || !self.profile.is_full() {
            return self.profile.factor(&mut self.matrix).map_err(|row| FactorError { row });
        }
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, self.n, self.n);
        let stack = MemStack::new(&mut self.scratch);
        cholesky_in_place(matrix, LltRegularization::default(), Par::Seq, stack, params())
            .map(|_| ())
            .map_err(|LltError::NonPositivePivot { index }| FactorError { row: index })
    }

    /// `x = L⁻ᵀ L⁻¹ b`.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        x.copy_from_slice(b);
        for j in 0..self.n {
            let (diagonal, below) = self.column(j);
            x[j] /= diagonal;
            let x_j = x[j];
            axpy(-x_j, below, &mut x[j + 1..j + 1 + below.len()]);
        }
        for j in (0..self.n).rev() {
            let (diagonal, below) = self.column(j);
            x[j] = (x[j] - dot(below, &x[j + 1..j + 1 + below.len()])) / diagonal;
        }
    }

    /// Column `j` of `L`: the diagonal entry and those below it.
    fn column(&self, j: usize) -> (f64, &[f64]) {
        let column = &self.matrix[j * self.n + j..=j * self.n + self.profile.last(j)];
        (column[0], &column[1..])
    }
}

impl Default for Cholesky {
    fn default() -> Self {
        Self::new()
    }
}

fn params() -> Spec<LltParams, f64> {
    <LltParams as Auto<f64>>::auto().into()
}
