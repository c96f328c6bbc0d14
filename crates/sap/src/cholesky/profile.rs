/// Columns subtracted at a time, so that the sum stays in registers.
const FUSED: usize = 4;

/// The profile of a symmetric matrix: in each row, everything from its first nonzero column to the diagonal.
///
/// The factor `L` stays within the profile of `H`. Bodies stacked or chained in the order of their velocities have a narrow one;
/// a matrix without zeros has a full one, and the factorisation is then the plain dense one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Profile {
    /// Row by row, the first column in use.
    first: Vec<usize>,
    /// Column by column, the last row in use, or a later one: nondecreasing.
    last: Vec<usize>,
}

impl Profile {
    /// The profile of a diagonal matrix of size `n`.
    pub fn reset(&mut self, n: usize) {
        self.first.clear();
        self.first.extend(0..n);
        self.last.clear();
        self.last.extend(0..n);
    }

    /// Makes room for entries between all of `indices` and `least`, the smallest of them.
    pub fn couple(&mut self, least: usize, indices: impl Iterator<Item = usize>) {
        for i in indices {
            self.first[i] = self.first[i].min(least);
        }
    }

    /// To be called after the last [`couple`](Self::couple).
    pub fn close(&mut self) {
        for (i, &first) in self.first.iter().enumerate() {
            self.last[first] = self.last[first].max(i);
        }
        for k in 1..self.last.len() {
            self.last[k] = self.last[k].max(self.last[k - 1]);
        }
    }

    /// The last row in use of column `j`.
    pub fn last(&self, j: usize) -> usize {
        self.last[j]
    }

    /// The last row that [`factor`](Self::factor) may read of column `j`: those beyond [`last`](Self::last) must be zero.
    pub fn last_read(&self, j: usize) -> usize {
        self.last[(j + FUSED - 1).min(self.last.len() - 1)]
    }

    /// Whether nothing is saved.
    pub fn is_full(&self) -> bool {
        self.first.last().is_none_or(|&first| first == 0)
            && self.last.first().is_none_or(|&last| last + 1 == self.last.len())
    }

    /// Replaces the lower triangle of `matrix`, column-major, by its Cholesky factor, one column after the other:
    ///
    /// ```text
    /// L_ij L_jj = H_ij − Σ_{k<j} L_ik L_jk,   i ≥ j
    /// ```
    ///
    /// # Errors
    /// The row of the first pivot that is not positive.
    pub fn factor(&self, matrix: &mut [f64]) -> Result<(), usize> {
        let n = self.first.len();
        for j in 0..n {
            let (done, rest) = matrix.split_at_mut(j * n);
            let column = &mut rest[j..=self.last[j]];
            let mut k = self.first[j];
            while k + FUSED <= j {
                let rows = self.last[k + FUSED - 1] + 1 - j;
                let of = |k: usize| &done[k * n + j..k * n + j + rows];
                subtract_four(&mut column[..rows], [of(k), of(k + 1), of(k + 2), of(k + 3)]);
                k += FUSED;
            }
            for k in k..j {
                let done = &done[k * n + j..=k * n + self.last[k]];
                for (x, a) in column.iter_mut().zip(done) {
                    *x = (-done[0]).mul_add(*a, *x);
                }
            }
            let pivot = column[0];
            if pivot.is_nan() || pivot <= 0.0 {
                return Err(j);
            }
            let inverse = 1.0 / pivot.sqrt();
            for x in column {
                *x *= inverse;
            }
        }
        Ok(())
    }
}

/// `x −= Σ l_k[0] l_k`
#[inline]
fn subtract_four(x: &mut [f64], l: [&[f64]; FUSED]) {
    let w = [-l[0][0], -l[1][0], -l[2][0], -l[3][0]];
    for ((((x, a), b), c), d) in x.iter_mut().zip(l[0]).zip(l[1]).zip(l[2]).zip(l[3]) {
        *x = w[3].mul_add(*d, w[2].mul_add(*c, w[1].mul_add(*b, w[0].mul_add(*a, *x))));
    }
}
