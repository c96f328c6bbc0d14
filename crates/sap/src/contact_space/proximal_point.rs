//! The proximal point method of [`coulomb`](crate::coulomb) in contact space, for what Newton's method does not solve there.
//!
//! A step solves laws with `R + τ w` in place of `R`, and velocities `v_c − τ w λₖ`, from the impulses `λₖ` of the step before:
//! Newton's method, which cycles where constraints are near-rigid, solves these in a step or two. The fixed point, for any `τ`, is the
//! solution.

use super::PARAMETERS;
use super::blocks::BlockRows;
use super::newton::{
    Block3, SemismoothNewton, add_response, assemble, eliminate, find_active, imbalance, localise, take_solution,
};
use super::softened::Proximal;
use crate::parameters::{ProximalPointParameters, SolverParameters};
use crate::softness::{Softness, Step};

const OF_STEPS: ProximalPointParameters = SolverParameters::STANDARD.proximal_point;

impl SemismoothNewton<f64> {
    /// Looks for the solution of the problem of `rows`, whose `z` is as [`solve`](Self::solve) takes it, until ‖λ − γ(v_c)‖_W is below
    /// `tolerance` of the momentum; returns the factorisations, and whether it was found in `most` of these.
    pub(super) fn solve_from_afar(
        &mut self,
        rows: &mut [BlockRows<f64>],
        w: &[Block3<f64>],
        energy: f64,
        (most, tolerance): (usize, f64),
    ) -> (usize, bool) {
        let mut proximal = std::mem::take(&mut self.proximal);
        let result = self.proximal_point(rows, w, energy, (most, tolerance), &mut proximal);
        self.proximal = proximal;
        result
    }

    fn proximal_point(
        &mut self,
        rows: &mut [BlockRows<f64>],
        w: &[Block3<f64>],
        energy: f64,
        (most, tolerance): (usize, f64),
        proximal: &mut Vec<Proximal>,
    ) -> (usize, bool) {
        rows.iter_mut().for_each(|block| block.rescale(1.0));
        localise(rows, 1);
        rows.iter_mut().for_each(|block| block.start(PARAMETERS.scaling));
        proximal.clear();
        proximal.extend(rows.iter().map(Proximal::new));
        let (mut softness, mut spent) = (Softness::new(), 0);
        while spent < most {
            let step = self.proximal_step(rows, w, (&softness, most - spent), proximal);
            spent += step.newton_steps;
            if step.newton_steps == 0 || step.change.is_nan() {
                break;
            }
            let tau = softness.tau;
            let is_accepted = softness.is_accepted(&step);
            if is_accepted {
                for (block, proximal) in rows.iter_mut().zip(&mut *proximal) {
                    let lambda = block.lambda;
                    proximal.harden(block, tau);
                    (proximal.z, proximal.lambda) = (block.z, lambda);
                }
                if step.change < OF_STEPS.near_change {
                    let (error, momentum) = imbalance(rows, w, energy, &mut self.scratch);
                    if error < tolerance * tolerance * momentum {
                        take_solution(rows, 1);
                        return (spent, true);
                    }
                }
            }
            softness.follow(&step);
        }
        for (block, proximal) in rows.iter_mut().zip(&*proximal) {
            (block.r, block.v_free, block.z) = (proximal.r, proximal.v_free, proximal.z);
        }
        (spent, false)
    }

    /// Newton's method for the softened problem. Impulses are those of its constraints then.
    fn proximal_step(
        &mut self,
        rows: &mut [BlockRows<f64>],
        w: &[Block3<f64>],
        (softness, most): (&Softness, usize),
        proximal: &mut [Proximal],
    ) -> Step {
        let Self { system, active, pushing, step: right, scratch, .. } = self;
        let mut step = Step::NONE;
        for (block, proximal) in rows.iter_mut().zip(&*proximal) {
            proximal.soften(block, softness.tau);
        }
        localise(rows, 1);
        for newton_steps in 1..=OF_STEPS.max_newton_steps.min(most) {
            find_active(rows, 1, active, pushing, scratch);
            add_response(rows, w, pushing, scratch);
            assemble(rows, w, active, system, right);
            eliminate(system, active.len(), right);
            for (&b, change) in active.iter().zip(&*right) {
                for row in 0..3 {
                    rows[b].lambda[row] += change[row];
                }
            }
            add_response(rows, w, active, right);
            for (block, proximal) in rows.iter_mut().zip(&mut *proximal) {
                proximal.balancing = block.lambda;
                block.set_free();
            }
            localise(rows, 1);
            let error = relative_distance(rows, proximal, |proximal| &proximal.balancing);
            let change = relative_distance(rows, proximal, |proximal| &proximal.lambda);
            step = Step { error, change, newton_steps };
            if softness.is_solved(&step) || !error.is_finite() {
                break;
            }
        }
        step
    }
}

/// How far the impulses of the blocks are from others, relative to the greater of both, weighted by each row's own share of W.
fn relative_distance(rows: &[BlockRows<f64>], proximal: &[Proximal], of: impl Fn(&Proximal) -> &[f64; 3]) -> f64 {
    let (mut distance, mut size, mut other_size) = (0.0, 0.0, 0.0);
    for (block, proximal) in rows.iter().zip(proximal) {
        for (row, other) in of(proximal).iter().enumerate() {
            let (w, own) = (block.w[row], block.lambda[row]);
            distance += w * (own - other) * (own - other);
            size += w * own * own;
            other_size += w * other * other;
        }
    }
    if distance > 0.0 { (distance / f64::max(size, other_size)).sqrt() } else { distance }
}
