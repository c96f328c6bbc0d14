use faer::linalg::solvers::Solve;
use faer::{MatMut, MatRef};
use support::Interrupt;

use crate::Error;

/// Columns that are solved for between two looks at the request to stop.
const COLUMNS: usize = 64;

/// Solves `M X = B` for a matrix without symmetry, by LU with partial pivoting. `matrix` (n, n) and `rhs` (n, m), which becomes
/// `X`, are column-major.
///
/// # Errors
/// [`Error::Dimension`] if sizes do not fit, [`Error::Value`] if the matrix is singular or not finite, [`Error::Interrupted`].
pub fn solve_general(n: usize, matrix: &[f64], rhs: &mut [f64], interrupt: &Interrupt) -> Result<(), Error> {
    if matrix.len() != n * n {
        return Err(Error::Dimension { argument: "matrix", found: matrix.len(), expected: n * n });
    }
    if n == 0 || rhs.is_empty() {
        return Ok(());
    }
    if !rhs.len().is_multiple_of(n) {
        return Err(Error::Dimension { argument: "rhs", found: rhs.len(), expected: rhs.len().next_multiple_of(n) });
    }
    let lu = MatRef::from_column_major_slice(matrix, n, n).partial_piv_lu();
    if let Some(row) = (0..n).find(|&i| lu.U()[(i, i)] == 0.0 || !lu.U()[(i, i)].is_finite()) {
        let message = format!("expected a regular matrix; pivot {row} is {}", lu.U()[(row, row)]);
        return Err(Error::Value { argument: "matrix", message });
    }
    for some in rhs.chunks_mut(COLUMNS * n) {
        if interrupt.is_raised() {
            return Err(Error::Interrupted);
        }
        let columns = some.len() / n;
        lu.solve_in_place(MatMut::from_column_major_slice_mut(some, n, columns));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_matrix_that_needs_pivots() {
        // Row-major [[0, 2, 1], [1, 1, 0], [3, 0, -1]] times [[1, 2], [3, -1], [-2, 0.5]].
        let matrix = [0.0, 1.0, 3.0, 2.0, 1.0, 0.0, 1.0, 0.0, -1.0];
        let mut x = [4.0, 4.0, 5.0, -1.5, 1.0, 5.5];
        solve_general(3, &matrix, &mut x, &Interrupt::default()).unwrap();
        for (x, expected) in x.iter().zip([1.0, 3.0, -2.0, 2.0, -1.0, 0.5]) {
            assert!((x - expected).abs() < 1e-14, "{x} {expected}");
        }
    }

    #[test]
    fn what_does_not_fit_is_an_error() {
        let singular = solve_general(2, &[1.0, 2.0, 2.0, 4.0], &mut [1.0, 1.0], &Interrupt::default()).unwrap_err();
        assert_eq!(singular.to_string(), "matrix: expected a regular matrix; pivot 1 is 0");
        assert!(solve_general(2, &[1.0; 3], &mut [1.0; 2], &Interrupt::default()).is_err());
        assert!(solve_general(2, &[1.0, 0.0, 0.0, 1.0], &mut [1.0; 3], &Interrupt::default()).is_err());
        assert!(solve_general(1, &[f64::NAN], &mut [1.0], &Interrupt::default()).is_err());
        assert!(solve_general(0, &[], &mut [], &Interrupt::default()).is_ok());
    }
}
