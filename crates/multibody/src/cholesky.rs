//! Small dense systems.

/// x ← A⁻¹ x by Cholesky's factorisation of the lower triangle, in place. A pivot that round-off has taken counts as infinite.
///
/// # Panics
/// When `a` has fewer entries than the square of the length of `x`.
pub fn solve_positive(a: &mut [f64], x: &mut [f64]) {
    let n = x.len();
    for j in 0..n {
        let (above, rows) = a.split_at_mut(j * n);
        let row = &mut rows[..n];
        for k in 0..j {
            let dot: f64 = (0..k).map(|l| row[l] * above[k * n + l]).sum();
            row[k] = (row[k] - dot) / above[k * n + k];
        }
        let pivot = row[j] - row[..j].iter().map(|l| l * l).sum::<f64>();
        row[j] = if pivot > 0.0 { pivot.sqrt() } else { f64::INFINITY };
        let dot: f64 = (0..j).map(|l| row[l] * x[l]).sum();
        x[j] = (x[j] - dot) / row[j];
    }
    for j in (0..n).rev() {
        x[j] /= a[j * n + j];
        for k in 0..j {
            x[k] -= a[j * n + k] * x[j];
        }
    }
}
