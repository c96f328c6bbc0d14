//! Small square matrices by columns, and their elimination with row exchanges.

use crate::vector::LANES;

/// A matrix of few rows, column by column; a column is filled up with zeros to whole registers.
#[derive(Clone, Debug, Default)]
pub(super) struct Matrix {
    rows: usize,
    stride: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// Makes it zero, of `rows` rows and columns.
    pub fn start(&mut self, rows: usize) {
        self.rows = rows;
        self.stride = rows.next_multiple_of(LANES);
        self.entries.clear();
        // Room for as many as there may ever be, at once.
        self.entries.reserve(super::ContactSpace::MAX_ROWS * super::ContactSpace::MAX_ROWS);
        self.entries.resize(self.stride * rows, 0.0);
    }

    #[inline(always)]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The length of a column.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.stride
    }

    #[inline(always)]
    pub fn column(&self, k: usize) -> &[f64] {
        &self.entries[k * self.stride..][..self.stride]
    }

    #[inline(always)]
    pub fn column_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.entries[k * self.stride..][..self.stride]
    }

    /// Solves the equations, `x` the right-hand side and then the solution; none if a pivot is zero or no number. The matrix is used up.
    ///
    /// # Panics
    /// If `x` is not of the length of a column.
    pub fn eliminate(&mut self, x: &mut [f64]) -> Option<()> {
        let Self { rows, stride, ref mut entries } = *self;
        assert_eq!(x.len(), stride, "right-hand side");
        if rows == 0 {
            return Some(());
        }
        let mut multiples = [0.0; super::ContactSpace::MAX_ROWS];
        for k in 0..rows {
            let (before, rest) = entries.split_at_mut((k + 1) * stride);
            let column = &mut before[k * stride..];
            let mut pivot = k;
            for i in k + 1..rows {
                if column[i].abs() > column[pivot].abs() {
                    pivot = i;
                }
            }
            let greatest = column[pivot];
            if !(greatest.abs() > f64::MIN_POSITIVE && greatest.is_finite()) {
                return None;
            }
            column.swap(k, pivot);
            let inverse = 1.0 / greatest;
            // Whole registers from the one that holds row k on; rows up to k stay as they are.
            let start = k / LANES * LANES;
            for (i, multiple) in multiples[start..stride].iter_mut().enumerate() {
                *multiple = if start + i > k { -inverse * column[start + i] } else { 0.0 };
            }
            let multiples = &multiples[start..stride];
            for column in rest.chunks_exact_mut(stride) {
                column.swap(k, pivot);
                add_scaled(column[k], multiples, &mut column[start..]);
            }
            x.swap(k, pivot);
            add_scaled(x[k], multiples, &mut x[start..]);
        }
        for k in (0..rows).rev() {
            let column = &entries[k * stride..][..stride];
            x[k] /= column[k];
            let factor = -x[k];
            for (x, entry) in x[..k].iter_mut().zip(column) {
                *x += factor * entry;
            }
        }
        Some(())
    }
}

/// `y += a x`, in whole registers.
#[inline(always)]
pub(super) fn add_scaled(a: f64, x: &[f64], y: &mut [f64]) {
    let ((x, _), (y, _)) = (x.as_chunks::<LANES>(), y.as_chunks_mut::<LANES>());
    for (y, x) in y.iter_mut().zip(x) {
        for (y, x) in y.iter_mut().zip(x) {
            *y += a * x;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use random::SplitMix64;

    #[test]
    fn elimination_solves() {
        let mut random = SplitMix64(3);
        for rows in [1, 3, 4, 7, 12, 30, 48] {
            let mut matrix = Matrix::default();
            matrix.start(rows);
            for k in 0..rows {
                (0..rows).for_each(|i| matrix.column_mut(k)[i] = random.symmetric());
            }
            let solution: Vec<f64> = (0..rows).map(|_| random.symmetric()).collect();
            let mut x = vec![0.0; matrix.stride()];
            solution.iter().enumerate().for_each(|(k, s)| add_scaled(*s, matrix.column(k), &mut x));
            matrix.eliminate(&mut x).expect("random matrices are regular");
            for (x, expected) in x.iter().zip(&solution) {
                assert!((x - expected).abs() < 1e-9, "{rows} rows: {x} {expected}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        for entry in [0.0, f64::NAN, f64::INFINITY] {
            let mut matrix = Matrix::default();
            matrix.start(2);
            matrix.column_mut(0)[0] = 1.0;
            matrix.column_mut(1)[1] = entry;
            assert_eq!(matrix.eliminate(&mut [1.0, 1.0, 0.0, 0.0]), None, "{entry}");
        }
    }
}
