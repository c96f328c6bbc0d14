//! Small dense systems.

/// x ← A⁻¹ x, where `a` holds A's lower triangle, and then its factor. See [`factor_positive`].
///
/// # Panics
/// When `a` has fewer entries than the square of the length of `x`.
pub(crate) fn solve_positive(a: &mut [f64], x: &mut [f64]) {
    factor_positive(a, x.len());
    solve_factored(a, x);
}

/// Cholesky's factor of a matrix of `n` rows in place of its lower triangle, row by row. A pivot that round-off has taken counts as infinite.
///
/// # Panics
/// When `a` has fewer entries than the square of `n`.
pub fn factor_positive(a: &mut [f64], n: usize) {
    for j in 0..n {
        let (above, rows) = a.split_at_mut(j * n);
        let row = &mut rows[..n];
        for k in 0..j {
            row[k] = (row[k] - dot(&row[..k], &above[k * n..])) / above[k * n + k];
        }
        let pivot = row[j] - dot(&row[..j], &row[..j]);
        row[j] = if pivot > 0.0 { pivot.sqrt() } else { f64::INFINITY };
    }
}

/// x ← A⁻¹ x by the factor of [`factor_positive`].
///
/// # Panics
/// When `factor` has fewer entries than the square of the length of `x`.
pub fn solve_factored(factor: &[f64], x: &mut [f64]) {
    let n = x.len();
    for (j, row) in factor.chunks_exact(n.max(1)).take(n).enumerate() {
        x[j] = (x[j] - dot(&row[..j], x)) / row[j];
    }
    for (j, row) in factor.chunks_exact(n.max(1)).take(n).enumerate().rev() {
        let (above, rest) = x.split_at_mut(j);
        rest[0] /= row[j];
        above.iter_mut().zip(row).for_each(|(x, entry)| *x -= entry * rest[0]);
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
