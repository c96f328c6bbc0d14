//! Conjugate gradients with Jacobi's preconditioner.

/// Scratch of a solve.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pcg {
    r: Vec<f64>,
    z: Vec<f64>,
    p: Vec<f64>,
    hp: Vec<f64>,
}

fn dot(x: &[f64], y: &[f64]) -> f64 {
    // Four sums side by side: the compiler may not reorder one.
    let (xs, x_rest) = x.as_chunks::<4>();
    let (ys, y_rest) = y.as_chunks::<4>();
    let mut sums = [0.0; 4];
    for (x, y) in xs.iter().zip(ys) {
        for k in 0..4 {
            sums[k] += x[k] * y[k];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum();
    sums.iter().sum::<f64>() + rest
}

impl Pcg {
    pub fn new(n: usize) -> Self {
        let zero = || vec![0.0; n];
        Self { r: zero(), z: zero(), p: zero(), hp: zero() }
    }

    /// x = H⁻¹ b from x = 0, until ‖b − H x‖ ≤ `tolerance` ‖b‖ (in the norm of the preconditioner) or `cap` iterations;
    /// returns the iterations and the relative residual.
    pub fn solve(&mut self, h: &[f64], b: &[f64], x: &mut [f64], tolerance: f64, cap: usize) -> (usize, f64) {
        let n = b.len();
        let Self { r, z, p, hp } = self;
        x.fill(0.0);
        r.copy_from_slice(b);
        for i in 0..n {
            z[i] = r[i] / h[i * n + i];
        }
        p.copy_from_slice(z);
        let mut rz = dot(r, z);
        let start = rz;
        let mut iterations = 0;
        while rz > tolerance * tolerance * start && iterations < cap {
            for (out, row) in hp.iter_mut().zip(h.chunks_exact(n)) {
                *out = dot(row, p);
            }
            let alpha = rz / dot(p, hp);
            for i in 0..n {
                x[i] += alpha * p[i];
                r[i] -= alpha * hp[i];
                z[i] = r[i] / h[i * n + i];
            }
            let next = dot(r, z);
            let beta = next / rz;
            rz = next;
            for i in 0..n {
                p[i] = z[i] + beta * p[i];
            }
            iterations += 1;
        }
        (iterations, if start > 0.0 { (rz / start).sqrt() } else { 0.0 })
    }
}
