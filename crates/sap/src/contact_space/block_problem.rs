//! A problem of blocks in contact space, alone: Newton's method, the proximal point method, then every mode of few constraints.

use super::modes::Modes;
use crate::law::Bounds;
use crate::semismooth::dense_w::{Block3, DenseScratch, DenseW};
use crate::semismooth::proximal_point::{self, FirstImpulses, Proximal};
use crate::semismooth::{Backend, BlockRows, Limits, PARAMETERS, measure, newton};
use crate::{ContactSpace, Criterion, NotSolved, Options, Report, SolverParameters, Strategy};

const ROUND_OFF: f64 = SolverParameters::STANDARD.round_off;

/// The problem, and the scratch of its solution.
#[derive(Clone, Debug, Default)]
pub struct BlockProblem {
    /// The blocks, rolling and torsional friction behind the contacts that bound it; the solution is there afterwards.
    pub blocks: Vec<BlockRows<f64>>,
    /// `W` by rows of blocks.
    pub w: Vec<Block3<f64>>,
    scratch: Option<DenseScratch<f64>>,
    proximal: Vec<Proximal>,
    modes: Modes,
}

/// Where the solution of a [`BlockProblem`] begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirstMethod {
    /// With Newton's method, in so many steps at most.
    Newton(usize),
    /// With the proximal point method: Newton's method is known to fail.
    ProximalPoint,
}

impl BlockProblem {
    /// Blocks of a problem at most: the last of rows about normals and that of constraints of one row may be filled in part.
    pub const MAX_BLOCKS: usize = ContactSpace::MAX_ROWS / 3 + 2;

    /// Solves the problem; `energy` is `v*ᵀ A v*`.
    ///
    /// # Errors
    /// Where no iteration converges.
    pub fn solve(
        &mut self,
        energy: f64,
        first: FirstMethod,
        bounds: Bounds,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        let Self { blocks, w, scratch, proximal, modes } = self;
        let budget = if bounds == Bounds::Own { options.factorization_budget } else { None };
        let allowed = |most: usize| most.min(options.max_iterations).min(budget.unwrap_or(usize::MAX));
        let limits = Limits {
            bounds,
            steps: 0,
            excess: (PARAMETERS.exact_excess_fraction * options.tolerance).max(ROUND_OFF),
            round_off: ROUND_OFF,
            at_start: PARAMETERS.exact_fraction * options.tolerance,
            late: options.tolerance,
            residual: f64::INFINITY,
            near: options.tolerance,
        };
        let scratch = match scratch {
            Some(scratch) if scratch.blocks() >= blocks.len() => scratch,
            _ => scratch.insert(DenseScratch::new(Self::MAX_BLOCKS.max(blocks.len()))),
        };
        let mut backend = DenseW { w, energy, scratch };
        let (mut iterations, mut is_found) = (0, false);
        if let FirstMethod::Newton(most) = first {
            let outcome = newton(blocks, &mut backend, 1, &Limits { steps: allowed(most), ..limits });
            (iterations, is_found) = (outcome.slowest as usize, outcome.solved != 0);
            if !is_found {
                // From what is known of the step before: where Newton's method ended is no better.
                blocks.iter_mut().for_each(BlockRows::restart);
            }
        }
        if !is_found {
            let steps = allowed(PARAMETERS.max_proximal_steps).saturating_sub(iterations);
            let limits = Limits { steps, ..limits };
            let (spent, found) = proximal_point::solve(blocks, &mut backend, FirstImpulses::Alone, &limits, proximal);
            (iterations, is_found) = (iterations + spent, found);
        }
        if !is_found && bounds == Bounds::Own {
            // Where contacts are redundant |F| vanishes at what is no solution.
            let steps = budget.map_or(usize::MAX, |budget| budget.saturating_sub(iterations));
            let limits = Limits { steps, residual: options.tolerance, ..limits };
            let (spent, found) = modes.solve(blocks, &mut backend, &limits);
            (iterations, is_found) = (iterations + spent, found);
        }
        if !is_found {
            return Err(NotSolved { iterations });
        }
        // Round-off may leave less than nothing of a square; what is no number stays so.
        let root = |square: f64| if square < 0.0 { 0.0 } else { square.sqrt() };
        let (error, momentum) = backend.imbalance(blocks, bounds);
        let (gradient, kinetic, momentum) = (root(error), 0.5 * (momentum - energy), root(momentum));
        let is_solved = gradient <= options.absolute_tolerance + options.tolerance * momentum;
        let is_round_off = measure(blocks).0 <= ROUND_OFF * ROUND_OFF * energy;
        if !((is_solved || is_round_off) && momentum.is_finite()) {
            return Err(NotSolved { iterations });
        }
        let mut cost = kinetic;
        // λ of the iterate becomes γ(v_c).
        for (block, lack) in blocks.iter_mut().zip(backend.lacks()) {
            block.lambda = [0, 1, 2].map(|row| block.lambda[row] - lack[row]);
            cost += block.law.cost(block.v_c, block.lambda);
        }
        Ok(Report {
            iterations,
            line_search_evaluations: 0,
            residual: gradient / (momentum + options.absolute_tolerance / options.tolerance),
            friction_residual: 0.0,
            cost,
            criterion: if is_solved { Criterion::Gradient } else { Criterion::RoundOff },
            strategy: Strategy::ContactSpace,
        })
    }
}
