//! Damped normal equations within bounds.

use crate::cholesky::solve_positive;

/// min ½ dᵀ(A + λ 1)d + gᵀd over low ≤ d ≤ high, by fixing what leaves its bounds.
#[derive(Clone, Debug, Default)]
pub(super) struct BoundedStep {
    /// A, of which the lower triangle is read, (n, n).
    pub matrix: Vec<f64>,
    /// g, (n).
    pub gradient: Vec<f64>,
    /// The bounds of d, which hold 0, (n).
    pub bounds: Vec<(f64, f64)>,
    /// The solution, (n).
    pub step: Vec<f64>,
    free: Vec<usize>,
    factor: Vec<f64>,
    right: Vec<f64>,
}

impl BoundedStep {
    pub fn new(n: usize) -> Self {
        let zeros = vec![0.0; n];
        Self {
            matrix: vec![0.0; n * n],
            gradient: zeros.clone(),
            bounds: vec![(f64::NEG_INFINITY, f64::INFINITY); n],
            step: zeros,
            ..Self::default()
        }
    }

    /// Computes the step for a damping λ > 0. What is at a bound and pushed beyond it stays there.
    pub fn solve(&mut self, damping: f64) {
        let n = self.gradient.len();
        self.step.fill(0.0);
        self.free.clear();
        for i in 0..n {
            let ((low, high), g) = (self.bounds[i], self.gradient[i]);
            if !(low >= 0.0 && g > 0.0 || high <= 0.0 && g < 0.0) {
                self.free.push(i);
            }
        }
        loop {
            self.solve_free(damping);
            let beyond = |i: usize, d: f64| d < self.bounds[i].0 || d > self.bounds[i].1;
            let mut leaves = false;
            for k in (0..self.free.len()).rev() {
                let (i, d) = (self.free[k], self.right[k]);
                if beyond(i, d) {
                    self.step[i] = d.clamp(self.bounds[i].0, self.bounds[i].1);
                    self.free.remove(k);
                    leaves = true;
                }
            }
            if !leaves {
                break;
            }
        }
        for (i, d) in self.free.iter().zip(&self.right) {
            self.step[*i] = *d;
        }
    }

    /// How much ½‖r + J d‖² is less than ½‖r‖².
    pub fn decrease(&self) -> f64 {
        let n = self.gradient.len();
        let mut decrease = 0.0;
        for i in 0..n {
            let row: f64 = (0..n).map(|j| self.entry(i, j) * self.step[j]).sum();
            decrease -= self.step[i] * (self.gradient[i] + 0.5 * row);
        }
        decrease
    }

    /// d of the free coordinates, the others being where `step` has them, to `right`.
    fn solve_free(&mut self, damping: f64) {
        let (n, m) = (self.gradient.len(), self.free.len());
        self.factor.clear();
        self.right.clear();
        for (k, &i) in self.free.iter().enumerate() {
            let held: f64 = (0..n).filter(|j| self.step[*j] != 0.0).map(|j| self.entry(i, j) * self.step[j]).sum();
            self.right.push(-self.gradient[i] - held);
            self.factor.extend(self.free.iter().map(|&j| entry(&self.matrix, n, i, j)));
            self.factor[k * m + k] += damping;
        }
        solve_positive(&mut self.factor, &mut self.right);
    }

    fn entry(&self, i: usize, j: usize) -> f64 {
        entry(&self.matrix, self.gradient.len(), i, j)
    }
}

fn entry(matrix: &[f64], n: usize, i: usize, j: usize) -> f64 {
    matrix[i.max(j) * n + i.min(j)]
}

#[cfg(test)]
mod tests {
    use super::BoundedStep;

    #[test]
    fn a_step_meets_the_conditions_of_optimality() {
        let mut problem = BoundedStep::new(3);
        problem.matrix = vec![4.0, 0.0, 0.0, 1.0, 3.0, 0.0, 0.5, -1.0, 2.0];
        problem.gradient = vec![1.0, -2.0, 3.0];
        let whole = |p: &BoundedStep, i: usize| {
            (0..3).map(|j| p.entry(i, j) * p.step[j]).sum::<f64>() + 0.1 * p.step[i] + p.gradient[i]
        };
        problem.solve(0.1);
        assert!((0..3).all(|i| whole(&problem, i).abs() < 1e-14), "{problem:?}");
        problem.bounds[2] = (-0.5, 0.5);
        problem.bounds[1] = (0.0, f64::INFINITY);
        problem.solve(0.1);
        assert_eq!(problem.step[2], -0.5);
        assert!(whole(&problem, 2) > 0.0 && whole(&problem, 0).abs() < 1e-14 && whole(&problem, 1).abs() < 1e-14);
        assert!(problem.decrease() > 0.0);
    }
}
