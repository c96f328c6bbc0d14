//! Anderson's acceleration of a fixed-point iteration `x ← g(x)`.

use crate::parameters::{FrictionIterationParameters, SolverParameters};
use crate::vector::{axpy, dot};

const PARAMETERS: FrictionIterationParameters = SolverParameters::STANDARD.friction_iterations;

/// Steps that are remembered.
const DEPTH: usize = PARAMETERS.anderson_depth;
/// With `f = g(x) − x` and the changes `ΔF`, `ΔG` of the last steps,
///
/// ```text
/// θ = argmin |f − ΔF θ|       x ← g − ΔG θ − (1 − mixing) (f − ΔF θ)
/// ```
///
/// Source: Walker, Ni, *Anderson Acceleration for Fixed-Point Iterations*, SIAM J. Numer. Anal. 49, 2011.
#[derive(Clone, Debug, Default)]
pub(crate) struct Anderson {
    /// The present `x` and `g`; `x` is to be set by the caller once, `g` before every step.
    pub x: Vec<f64>,
    pub g: Vec<f64>,
    f: Vec<f64>,
    last_f: Vec<f64>,
    last_g: Vec<f64>,
    kept: Vec<f64>,
    /// `DEPTH` rows each, the oldest overwritten first.
    df: Vec<f64>,
    dg: Vec<f64>,
    /// Steps since the last restart.
    steps: usize,
}

impl Anderson {
    /// Starts anew with `n` unknowns.
    pub fn reset(&mut self, n: usize) {
        for vector in [&mut self.x, &mut self.g, &mut self.f, &mut self.last_f, &mut self.last_g, &mut self.kept] {
            vector.resize(n, 0.0);
        }
        self.df.resize(DEPTH * n, 0.0);
        self.dg.resize(DEPTH * n, 0.0);
        self.restart();
    }

    /// Forgets the steps so far.
    pub fn restart(&mut self) {
        self.steps = 0;
    }

    /// Keeps the present `x`.
    pub fn keep(&mut self) {
        self.kept.copy_from_slice(&self.x);
    }

    /// The last `x` that was kept.
    pub fn kept(&self) -> &[f64] {
        &self.kept
    }

    /// Starts anew from it.
    pub fn return_to_kept(&mut self) {
        self.x.copy_from_slice(&self.kept);
        self.restart();
    }

    /// Moves `x`, by the share `mixing` of what `g` asks for.
    pub fn step(&mut self, mixing: f64) {
        let n = self.x.len();
        for i in 0..n {
            self.f[i] = self.g[i] - self.x[i];
        }
        if self.steps > 0 {
            let row = (self.steps - 1) % DEPTH * n;
            for i in 0..n {
                self.df[row + i] = self.f[i] - self.last_f[i];
                self.dg[row + i] = self.g[i] - self.last_g[i];
            }
        }
        self.last_f.copy_from_slice(&self.f);
        self.last_g.copy_from_slice(&self.g);
        for i in 0..n {
            self.x[i] = self.g[i] - (1.0 - mixing) * self.f[i];
        }
        let depth = self.steps.min(DEPTH);
        self.steps += 1;
        if depth > 0 {
            let theta = self.least_squares(depth);
            for (k, theta) in theta[..depth].iter().enumerate() {
                axpy(-theta, &self.dg[k * n..(k + 1) * n], &mut self.x);
                axpy((1.0 - mixing) * theta, &self.df[k * n..(k + 1) * n], &mut self.x);
            }
        }
    }

    /// θ by the normal equations, which a regularisation keeps from being singular; Cholesky in place.
    fn least_squares(&self, depth: usize) -> [f64; DEPTH] {
        let n = self.x.len();
        let row = |k: usize| &self.df[k * n..(k + 1) * n];
        let mut a = [[0.0; DEPTH]; DEPTH];
        let mut theta = [0.0; DEPTH];
        for i in 0..depth {
            theta[i] = dot(row(i), &self.f);
            for j in 0..=i {
                a[i][j] = dot(row(i), row(j));
            }
        }
        let greatest = (0..depth).fold(0.0, |m, i| f64::max(m, a[i][i]));
        if greatest == 0.0 {
            return [0.0; DEPTH];
        }
        for i in 0..depth {
            a[i][i] += PARAMETERS.anderson_regularization * greatest;
            for j in 0..=i {
                let sum = a[i][j] - (0..j).map(|k| a[i][k] * a[j][k]).sum::<f64>();
                a[i][j] = if i == j { sum.max(f64::MIN_POSITIVE).sqrt() } else { sum / a[j][j] };
            }
            theta[i] = (theta[i] - (0..i).map(|k| a[i][k] * theta[k]).sum::<f64>()) / a[i][i];
        }
        for i in (0..depth).rev() {
            theta[i] = (theta[i] - (i + 1..depth).map(|k| a[k][i] * theta[k]).sum::<f64>()) / a[i][i];
        }
        theta
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A linear contraction by 0.9 in four dimensions ends after as many steps as it has dimensions, and one.
    #[test]
    fn linear_maps_end() {
        let map = |x: &[f64], g: &mut [f64]| {
            for i in 0..4 {
                g[i] = 1.0 + 0.9 * x[(i + 1) % 4] - 0.05 * i as f64 * x[i];
            }
        };
        let mut anderson = Anderson::default();
        anderson.reset(4);
        anderson.x.fill(0.0);
        let mut error = f64::INFINITY;
        for _ in 0..7 {
            let x = anderson.x.clone();
            map(&x, &mut anderson.g);
            error = anderson.g.iter().zip(&x).fold(0.0, |m, (g, x)| f64::max(m, (g - x).abs()));
            anderson.step(1.0);
        }
        assert!(error < 1e-6, "{error}");
    }
}
