//! Scratch of Newton's method on one convex problem.

use crate::block::{narrow, widened};
use crate::constraint::rows_of;
use crate::vector::axpy;
use crate::{Block, Constraint};

/// Constraint velocities and what the constraints make of them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluation {
    /// `v_c`
    pub v_c: Vec<f64>,
    /// `γ(v_c)`
    pub gamma: Vec<f64>,
    /// `G(v_c)`, one block per constraint
    pub hessian: Vec<Block>,
    /// `Σ_k ℓ_k`
    pub cost: f64,
}

impl Evaluation {
    fn resize(&mut self, rows: usize, constraints: usize) {
        self.v_c.resize(rows, 0.0);
        self.gamma.resize(rows, 0.0);
        self.hessian.resize(constraints, Block::ZERO);
    }

    /// Sets `γ`, `G` and the cost from `v_c`.
    pub fn update(&mut self, constraints: &[Constraint]) {
        let mut cost = 0.0;
        for ((constraint, hessian), rows) in constraints.iter().zip(&mut self.hessian).zip(rows_of(constraints)) {
            cost += constraint.evaluate(&self.v_c[rows.clone()], &mut self.gamma[rows], hessian);
        }
        self.cost = cost;
    }

    /// The impulses at `v_c` linearised here: `γ + G (v_c here − v_c)`.
    pub fn linear_impulse(&self, constraints: &[Constraint], v_c: &[f64], out: &mut [f64]) {
        for (block, rows) in self.hessian.iter().zip(rows_of(constraints)) {
            let mut impulse = widened(&self.gamma[rows.clone()]);
            if block.is_active() {
                let (here, there) = (widened(&self.v_c[rows.clone()]), widened(&v_c[rows.clone()]));
                let change = block.apply([0, 1, 2].map(|row| here[row] - there[row]));
                impulse = [0, 1, 2].map(|row| impulse[row] + change[row]);
            }
            narrow(impulse, &mut out[rows]);
        }
    }

    pub fn is_unconstrained(&self) -> bool {
        self.gamma.iter().all(|&gamma| gamma == 0.0)
    }
}

/// A point that the iteration may go back to.
#[derive(Clone, Debug, Default)]
pub(crate) struct SavedIterate {
    pub v: Vec<f64>,
    /// `A (v − v*)`
    pub momentum: Vec<f64>,
    /// `v_c`
    pub v_c: Vec<f64>,
    /// The impulses of the linear model that led there.
    pub dual: Vec<f64>,
}

/// Scratch of Newton's method on a convex problem, and the constraints at the iterate.
#[derive(Clone, Debug, Default)]
pub(crate) struct ConvexWorkspace {
    /// At the iterate.
    pub current: Evaluation,
    /// At the trial point of the line search.
    pub trial: Evaluation,
    /// Where each constraint predicts itself to be.
    pub predicted: Evaluation,
    /// What each constraint would meet if it did not push.
    pub free: Vec<f64>,
    /// The Hessian blocks that the last Newton step was made with.
    pub hessian: Vec<Block>,
    /// The impulses as the last step's linear model has them.
    pub dual: Vec<f64>,
    /// Where the iteration may go back to.
    pub kept: SavedIterate,
    /// `D = diag(A)^{-1/2}`
    pub scale: Vec<f64>,
    /// `A v*`
    pub a_v_star: Vec<f64>,
    /// `J v*`
    pub v_c_star: Vec<f64>,
    /// `v − v*` at the guess; scratch later
    pub difference: Vec<f64>,
    /// `A (v − v*)`
    pub momentum: Vec<f64>,
    /// `Jᵀγ`
    pub impulse: Vec<f64>,
    /// `−∇ℓ_p`
    pub descent: Vec<f64>,
    /// `Δv`
    pub dv: Vec<f64>,
    /// `Δp = A Δv`
    pub dp: Vec<f64>,
    /// `Δv_c = J Δv`
    pub dv_c: Vec<f64>,
}

impl ConvexWorkspace {
    /// Sets `v − v*`.
    pub fn set_difference(&mut self, v: &[f64], v_star: &[f64]) {
        for ((difference, v), v_star) in self.difference.iter_mut().zip(v).zip(v_star) {
            *difference = v - v_star;
        }
    }

    /// Sets the velocities that predictions start from.
    pub fn start_predictions(&mut self, constraints: &[Constraint]) {
        self.free.copy_from_slice(&self.v_c_star);
        let mut start = 0;
        for constraint in constraints {
            let guess = constraint.free();
            if guess.iter().all(|x| x.is_finite()) {
                self.free[start..start + guess.len()].copy_from_slice(guess);
            }
            start += guess.len();
        }
    }

    /// Sets the Hessian of a Newton step from where the iterate is and the impulses of the last linear model.
    pub fn set_hessian(&mut self, constraints: &[Constraint]) {
        let blocks = self.hessian.iter_mut().zip(&self.current.hessian).zip(rows_of(constraints));
        for (constraint, ((out, block), rows)) in constraints.iter().zip(blocks) {
            *out = constraint.primal_dual(block, &self.current.gamma[rows.clone()], &self.dual[rows]);
        }
    }

    /// Sets the impulses of the linear model at the end of the whole step `Δv_c`.
    pub fn set_dual(&mut self, constraints: &[Constraint]) {
        for (block, rows) in self.hessian.iter().zip(rows_of(constraints)) {
            let mut impulse = widened(&self.current.gamma[rows.clone()]);
            if block.is_active() {
                let change = block.apply(widened(&self.dv_c[rows.clone()]));
                impulse = [0, 1, 2].map(|row| impulse[row] - change[row]);
            }
            narrow(impulse, &mut self.dual[rows]);
        }
    }

    /// Keeps the point at `alpha` of the present step from `v`.
    pub fn keep(&mut self, v: &[f64], alpha: f64) {
        let ConvexWorkspace { kept, current, momentum, dual, dv, dp, dv_c, .. } = self;
        for (out, from, step) in [
            (&mut kept.v, v, &*dv),
            (&mut kept.momentum, momentum.as_slice(), &*dp),
            (&mut kept.v_c, current.v_c.as_slice(), &*dv_c),
        ] {
            out.copy_from_slice(from);
            axpy(alpha, step, out);
        }
        kept.dual.copy_from_slice(dual);
    }

    pub fn resize(&mut self, nv: usize, rows: usize, constraints: usize) {
        self.current.resize(rows, constraints);
        self.trial.resize(rows, constraints);
        self.dv_c.resize(rows, 0.0);
        self.v_c_star.resize(rows, 0.0);
        self.predicted.resize(rows, constraints);
        self.free.resize(rows, 0.0);
        self.dual.resize(rows, 0.0);
        self.kept.v_c.resize(rows, 0.0);
        self.kept.dual.resize(rows, 0.0);
        self.hessian.resize(constraints, Block::ZERO);
        for vector in [
            &mut self.kept.v,
            &mut self.kept.momentum,
            &mut self.scale,
            &mut self.a_v_star,
            &mut self.difference,
            &mut self.momentum,
            &mut self.impulse,
            &mut self.descent,
            &mut self.dv,
            &mut self.dp,
        ] {
            vector.resize(nv, 0.0);
        }
    }
}
