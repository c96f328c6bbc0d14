//! Problems of single lanes that do not settle in lanes, solved in `f64` with more patience.

use sap::contact_blocks::{BlockProblem, FirstMethod};
use spatial::Three;

use super::limits::STEPS;
use super::solve::Problem;
use super::{Bundle, Lanes, get, put};
use crate::plan::Plan;

/// The problem of one lane, reused from lane to lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    problem: BlockProblem,
    /// The blocks that the lane has, and the place of each there.
    blocks: Vec<usize>,
    places: Vec<usize>,
}

impl<T: Bundle> Lanes<T> {
    /// Solves the problems of some lanes one by one; returns those that are solved, the others fall back.
    #[cold]
    #[inline(never)]
    pub(super) fn solve_lanes(&mut self, plan: &Plan, lanes: u32, problem: Problem) -> u32 {
        let (mut solved, mut spent, mut most) = (0, 0, 0);
        let options = if problem == Problem::Recovery { &plan.recovery_options } else { &plan.solver_options };
        // Newton's method was tried, but in 32 bits with other numbers.
        let first = if T::IS_SINGLE { FirstMethod::Newton(STEPS) } else { FirstMethod::ProximalPoint };
        for lane in (0..T::LANES).filter(|lane| lanes >> lane & 1 != 0) {
            self.extract(lane);
            let energy = self.space.kinetic.iter().fold(0.0, |sum, kinetic| sum + 2.0 * get(kinetic, lane));
            let energy = if energy > 0.0 { energy } else { 1.0 };
            let result = self.solver.problem.solve(energy, first, problem.bounds(plan), options);
            let iterations = match result {
                Ok(report) => {
                    self.residual = self.residual.max(report.residual);
                    most = most.max(report.iterations);
                    self.put_back(lane);
                    solved |= 1 << lane;
                    report.iterations
                }
                Err(failure) => failure.iterations,
            };
            spent += iterations;
        }
        self.space.open &= !lanes | solved;
        self.fallback |= lanes & !solved;
        self.stats.iterations += spent as u64;
        self.stats.group_iterations += most as u64;
        solved
    }

    /// Takes the rows and `W` of a lane.
    fn extract(&mut self, lane: usize) {
        let Self { space, solver: Solver { problem, blocks, places }, .. } = self;
        blocks.clear();
        blocks.reserve(space.rows.len());
        places.clear();
        places.reserve(space.rows.len());
        problem.blocks.clear();
        problem.blocks.reserve(space.rows.len());
        for (b, block) in space.blocks[..space.count].iter().enumerate() {
            places.push(blocks.len());
            if block.entries.iter().any(|entry| entry.lanes >> lane & 1 != 0) {
                blocks.push(b);
                let mut rows = space.rows[b].in_lane(lane, get);
                // Rows of torsional friction that the lane does not have may name contacts that it does not have.
                let last = problem.blocks.len().saturating_sub(1);
                rows.contacts = rows.contacts.map(|contact| places[contact].min(last));
                problem.blocks.push(rows);
            }
        }
        problem.w.clear();
        problem.w.reserve(space.w.len());
        for b in &*blocks {
            for c in &*blocks {
                let pair = space.w[b * space.count + c];
                problem.w.push(pair.map(|row| Three::new(row.to_array().map(|entry| get(&entry, lane)))));
            }
        }
    }

    /// Puts the solution of a lane back.
    fn put_back(&mut self, lane: usize) {
        let Self { space, solver, .. } = self;
        for (block, b) in solver.problem.blocks.iter().zip(&solver.blocks) {
            for row in 0..3 {
                put(&mut space.rows[*b].solved_lambda[row], lane, block.solved_lambda[row]);
                put(&mut space.rows[*b].solved_v[row], lane, block.solved_v[row]);
            }
        }
    }
}
