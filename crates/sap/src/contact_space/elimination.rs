//! Small square systems by rows, and their elimination with row exchanges.

use super::PARAMETERS;
use crate::vector::LANES;

/// The most entries of a row: unknowns and the right-hand side, in whole registers.
pub(super) const MAX_WIDTH: usize = (super::ContactSpace::MAX_ROWS + 1).next_multiple_of(LANES);

/// The same of problems that are solved in blocks alone.
pub(super) const MAX_WIDTH_IN_BLOCKS: usize = (super::ContactSpace::MAX_ROWS_IN_BLOCKS + 1).next_multiple_of(LANES);

/// The length of a row of so many unknowns and the right-hand side, in whole registers.
pub(super) fn width(rows: usize) -> usize {
    (rows + 1).next_multiple_of(LANES)
}

/// A matrix of few rows, row by row, with one more column for a right-hand side; rows are filled up to whole registers.
#[derive(Clone, Debug, Default)]
pub(super) struct AugmentedMatrix {
    len: usize,
    width: usize,
    entries: Vec<f64>,
    /// Where each row of the elimination is kept: row exchanges move no entries.
    order: Vec<usize>,
}

impl AugmentedMatrix {
    /// Makes it zero, of `rows` rows and columns.
    pub fn start(&mut self, rows: usize) {
        self.len = rows;
        self.width = width(rows);
        self.entries.clear();
        // Room for the most that there may be.
        self.entries.reserve(super::ContactSpace::MAX_ROWS_IN_BLOCKS * MAX_WIDTH_IN_BLOCKS);
        self.entries.resize(self.width * rows, 0.0);
    }

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The length of a row.
    #[inline(always)]
    pub fn width(&self) -> usize {
        self.width
    }

    #[inline(always)]
    pub fn row(&self, k: usize) -> &[f64] {
        &self.entries[k * self.width..][..self.width]
    }

    #[inline(always)]
    pub fn row_mut(&mut self, k: usize) -> &mut [f64] {
        &mut self.entries[k * self.width..][..self.width]
    }

    /// Solves the equations of the `active` rows, ascending, for the unknowns of the same numbers; the others are zero, and so are their
    /// entries of `x`. The right-hand side is the last column. None if a pivot is zero or no number. The rows are used up.
    ///
    /// # Panics
    /// If `x` is not of the length of a row.
    pub fn eliminate(&mut self, active: &[usize], x: &mut [f64]) -> Option<()> {
        let Self { width, len, entries, order } = self;
        let (width, right) = (*width, *len);
        assert_eq!(x.len(), width, "unknowns");
        order.clear();
        order.reserve(super::ContactSpace::MAX_ROWS);
        order.extend_from_slice(active);
        for (k, &column) in active.iter().enumerate() {
            let mut pivot = k;
            let mut greatest = entries[order[k] * width + column];
            if greatest.abs() < PARAMETERS.good_pivot {
                for (i, row) in order.iter().enumerate().skip(k + 1) {
                    let entry = entries[row * width + column];
                    if entry.abs() > greatest.abs() {
                        (pivot, greatest) = (i, entry);
                    }
                }
            }
            if !(greatest.abs() > f64::MIN_POSITIVE && greatest.is_finite()) {
                return None;
            }
            order.swap(k, pivot);
            let inverse = -1.0 / greatest;
            // Whole registers from the one that holds the column on: what is before it is not looked at again.
            let start = column / LANES * LANES;
            let mut pivot_row = [0.0; MAX_WIDTH];
            let pivot_row = &mut pivot_row[start..width];
            pivot_row.copy_from_slice(&entries[order[k] * width + start..][..width - start]);
            for row in &order[k + 1..] {
                let row = &mut entries[row * width..][..width];
                let multiple = row[column] * inverse;
                if multiple != 0.0 {
                    add_scaled(multiple, pivot_row, &mut row[start..]);
                }
            }
        }
        x.fill(0.0);
        for (row, &column) in order.iter().zip(active).rev() {
            let row = &entries[row * width..][..width];
            let start = column / LANES * LANES;
            x[column] = (row[right] - dot(&row[start..], &x[start..])) / row[column];
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
            *y = x.mul_add(a, *y);
        }
    }
}

/// `xᵀ y`, in whole registers.
#[inline(always)]
pub(super) fn dot(x: &[f64], y: &[f64]) -> f64 {
    let ((x, _), (y, _)) = (x.as_chunks::<LANES>(), y.as_chunks::<LANES>());
    let mut sum = [0.0; LANES];
    for (x, y) in x.iter().zip(y) {
        for ((sum, x), y) in sum.iter_mut().zip(x).zip(y) {
            *sum = x.mul_add(*y, *sum);
        }
    }
    (sum[0] + sum[1]) + (sum[2] + sum[3])
}

#[cfg(test)]
mod tests {
    use super::*;
    use support::SplitMix64;

    #[test]
    fn elimination_solves_the_active_equations() {
        let mut random = SplitMix64(3);
        for rows in [1, 3, 4, 7, 12, 30, 48] {
            let active: Vec<usize> = (0..rows).filter(|k| rows < 5 || k % 3 != 1).collect();
            let mut system = AugmentedMatrix::default();
            system.start(rows);
            let mut solution = vec![0.0; system.width()];
            active.iter().for_each(|k| solution[*k] = random.symmetric());
            for k in 0..rows {
                let row = system.row_mut(k);
                (0..rows).for_each(|i| row[i] = random.symmetric());
                row[rows] = dot(row, &solution);
            }
            let mut x = vec![0.0; system.width()];
            system.eliminate(&active, &mut x).expect("random matrices are regular");
            for (x, expected) in x.iter().zip(&solution) {
                assert!((x - expected).abs() < 1e-9, "{rows} rows: {x} {expected}");
            }
        }
    }

    #[test]
    fn a_singular_matrix_has_no_solution() {
        for entry in [0.0, f64::NAN, f64::INFINITY] {
            let mut system = AugmentedMatrix::default();
            system.start(2);
            system.row_mut(0)[0] = 1.0;
            system.row_mut(1)[1] = entry;
            assert_eq!(system.eliminate(&[0, 1], &mut [0.0; 4]), None, "{entry}");
        }
    }
}
