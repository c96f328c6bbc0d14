//! GMRES: linear equations whose matrix is known by its products alone.

use crate::vector::{axpy, weighted_dot};

/// Iterations at most; there is no restart.
const DEPTH: usize = 12;

/// Minimises the residual of `K x = b` over Krylov spaces that grow until it has fallen enough.
///
/// Source: Saad, Schultz, *GMRES: A Generalized Minimal Residual Algorithm for Solving Nonsymmetric Linear Systems*, SIAM J. Sci.
/// Stat. Comput. 7, 1986, with Gram and Schmidt's method as modified and Givens' rotations.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gmres {
    /// Rows of `n`, orthonormal but for the last.
    basis: Vec<f64>,
    /// D⁻²
    weights: Vec<f64>,
}

impl Gmres {
    /// Makes room for `n` unknowns.
    pub fn resize(&mut self, n: usize) {
        self.basis.resize((DEPTH + 1) * n, 0.0);
        self.weights.resize(n, 0.0);
    }

    /// Replaces `b` by `x` with `|K x − b| ≤ tolerance |b|`, or the best there is after as many iterations as are allowed; returns
    /// their number. Norms are those of `D⁻¹ x`, `D = diag(scale)`. `apply(x, y)` sets `y = K x`.
    pub fn solve(
        &mut self,
        b: &mut [f64],
        scale: &[f64],
        tolerance: f64,
        mut apply: impl FnMut(&[f64], &mut [f64]),
    ) -> usize {
        let n = b.len();
        self.resize(n);
        self.weights.iter_mut().zip(scale).for_each(|(w, d)| *w = 1.0 / (d * d));
        let weights = &self.weights[..];
        let length = weighted_dot(weights, b, b).sqrt();
        if length.is_nan() || length <= 0.0 {
            return 0;
        }
        self.basis[..n].iter_mut().zip(&*b).for_each(|(q, b)| *q = b / length);
        // The triangle that is left of Hessenberg's matrix, column by column, and b in the same coordinates.
        let mut r = [[0.0; DEPTH + 1]; DEPTH];
        let mut rotations = [(1.0, 0.0); DEPTH];
        let mut y = [0.0; DEPTH + 1];
        y[0] = length;
        let mut count = 0;
        while count < DEPTH && y[count].abs() > tolerance * length {
            let k = count;
            let (known, new) = self.basis.split_at_mut((k + 1) * n);
            let new = &mut new[..n];
            apply(&known[k * n..], new);
            for (q, h) in known.chunks_exact(n).zip(&mut r[k]) {
                *h = weighted_dot(weights, q, new);
                axpy(-*h, q, new);
            }
            let rest = weighted_dot(weights, new, new).sqrt();
            r[k][k + 1] = rest;
            for (j, (c, s)) in rotations[..k].iter().enumerate() {
                (r[k][j], r[k][j + 1]) = (c * r[k][j] + s * r[k][j + 1], c * r[k][j + 1] - s * r[k][j]);
            }
            let diagonal = r[k][k].hypot(rest);
            if diagonal.is_nan() || diagonal <= 0.0 {
                break;
            }
            let (c, s) = (r[k][k] / diagonal, rest / diagonal);
            rotations[k] = (c, s);
            r[k][k] = diagonal;
            (y[k], y[k + 1]) = (c * y[k], -s * y[k]);
            count += 1;
            if rest <= f64::EPSILON * diagonal {
                break;
            }
            new.iter_mut().for_each(|x| *x /= rest);
        }
        for i in (0..count).rev() {
            y[i] = (y[i] - (i + 1..count).map(|j| r[j][i] * y[j]).sum::<f64>()) / r[i][i];
        }
        b.fill(0.0);
        for (q, y) in self.basis.chunks_exact(n).zip(&y[..count]) {
            axpy(*y, q, b);
        }
        count
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// K = I + U Vᵀ of rank 3 is solved in 4 iterations, whatever the scale.
    #[test]
    fn low_rank_ends_early() {
        let n = 20;
        let entry = |i: usize, k: usize| ((7 * i + 11 * k * k + i * k) % 13) as f64 / 13.0 - 0.4;
        let apply = |x: &[f64], y: &mut [f64]| {
            y.copy_from_slice(x);
            for k in 0..3 {
                let along: f64 = (0..n).map(|i| entry(i, k) * x[i]).sum();
                (0..n).for_each(|i| y[i] += along * entry(i, k + 3));
            }
        };
        let expected: Vec<f64> = (0..n).map(|i| entry(i, 9)).collect();
        for spread in [0.0, 1.0] {
            let scale: Vec<f64> = (0..n).map(|i| 1.0 + spread * i as f64).collect();
            let mut b = vec![0.0; n];
            apply(&expected, &mut b);
            let count = Gmres::default().solve(&mut b, &scale, 1e-13, apply);
            assert!(count <= 4, "{count}");
            assert!(b.iter().zip(&expected).all(|(x, e)| (x - e).abs() < 1e-12));
        }
    }

    #[test]
    fn nothing_to_solve() {
        let mut b = [0.0; 3];
        assert_eq!(Gmres::default().solve(&mut b, &[1.0; 3], 0.1, |x, y| y.copy_from_slice(x)), 0);
        assert_eq!(Gmres::default().solve(&mut [], &[], 0.1, |_, _| ()), 0);
        let mut b = [1.0, 2.0];
        assert_eq!(Gmres::default().solve(&mut b, &[1.0; 2], 0.1, |x, y| y.copy_from_slice(x)), 1);
        assert!((b[0] - 1.0).abs() < 1e-15 && (b[1] - 2.0).abs() < 1e-15);
    }
}
