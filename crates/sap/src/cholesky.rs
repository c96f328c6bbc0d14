//! Dense Cholesky factorisation `H = L Lᵀ` of column-major matrices in reused memory.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{
    LltError, LltParams, LltRegularization, cholesky_in_place, cholesky_in_place_scratch,
};
use faer::{Auto, MatMut, Par, Spec};

use crate::FactorError;
use crate::vector::{axpy, dot};

/// The factor and the scratch memory to make it.
pub(crate) struct Cholesky {
    n: usize,
    /// Column-major n×n; the strict upper triangle is not referred to.
    matrix: Vec<f64>,
    scratch: MemBuffer,
}

impl Cholesky {
    pub fn new() -> Cholesky {
        Cholesky { n: 0, matrix: Vec::new(), scratch: MemBuffer::new(faer::dyn_stack::StackReq::EMPTY) }
    }

    /// Sets the size; the matrix's values are then arbitrary.
    pub fn resize(&mut self, n: usize) {
        self.n = n;
        self.matrix.resize(n * n, 0.0);
        let required = cholesky_in_place_scratch::<f64>(n, Par::Seq, params());
        if !MemStack::new(&mut self.scratch).can_hold(required) {
            self.scratch = MemBuffer::new(required);
        }
    }

    /// The matrix to factor, column-major; its lower triangle is read.
    pub fn matrix_mut(&mut self) -> &mut [f64] {
        &mut self.matrix
    }

    /// Replaces the lower triangle by that of `L`.
    pub fn factor(&mut self) -> Result<(), FactorError> {
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, self.n, self.n);
        let stack = MemStack::new(&mut self.scratch);
        cholesky_in_place(matrix, LltRegularization::default(), Par::Seq, stack, params())
            .map(|_| ())
            .map_err(|LltError::NonPositivePivot { index }| FactorError { row: index })
    }

    /// `x = L⁻ᵀ L⁻¹ b`.
    pub fn solve(&self, b: &[f64], x: &mut [f64]) {
        let n = self.n;
        x.copy_from_slice(b);
        for j in 0..n {
            let column = &self.matrix[j * n + j..(j + 1) * n];
            let (head, tail) = x[j..].split_first_mut().expect("j < n");
            *head /= column[0];
            axpy(-*head, &column[1..], tail);
        }
        for j in (0..n).rev() {
            let column = &self.matrix[j * n + j..(j + 1) * n];
            let (head, tail) = x[j..].split_first_mut().expect("j < n");
            *head = (*head - dot(&column[1..], tail)) / column[0];
        }
    }
}

fn params() -> Spec<LltParams, f64> {
    <LltParams as Auto<f64>>::auto().into()
}
