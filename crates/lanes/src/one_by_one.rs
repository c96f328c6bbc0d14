//! Problems of single lanes that do not settle in lanes, solved in `f64` with more patience.

use std::ops::Range;

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
    /// Solves the problems of some lanes one by one and island by island, of a world by itself that of this part; returns the lanes that are
    /// solved, the others fall back.
    #[cold]
    #[inline(never)]
    pub(super) fn solve_lanes(&mut self, plan: &Plan, lanes: u32, problem: Problem, part: usize) -> u32 {
        let mut solved = 0;
        for lane in (0..T::LANES).filter(|lane| lanes >> lane & 1 != 0) {
            if self.is_single_world {
                solved |= u32::from(self.solve_part(plan, lane, problem, part..part + 1));
            } else {
                self.space.find_islands(plan, 1 << lane);
                solved |= u32::from(self.solve_part(plan, lane, problem, 0..self.space.islands.parts())) << lane;
                self.space.islands.clear();
            }
        }
        self.space.open &= !lanes | solved;
        self.fallback |= lanes & !solved;
        solved
    }

    /// Solves the problems of these parts of a lane one after another; whether all are solved.
    fn solve_part(&mut self, plan: &Plan, lane: usize, problem: Problem, parts: Range<usize>) -> bool {
        let options = if problem == Problem::Recovery { &plan.recovery_options } else { &plan.solver_options };
        // Newton's method was tried, but in 32 bits with other numbers, or of all parts together.
        let first =
            if T::IS_SINGLE || parts.len() > 1 { FirstMethod::Newton(STEPS) } else { FirstMethod::ProximalPoint };
        for part in parts {
            let space = &mut self.space;
            space.islands.choose(part);
            // In scalars: this is compiled for no registers of lanes.
            let of_island = space.kinetic.iter().enumerate().filter(|(tree, _)| space.islands.has_tree(*tree));
            let energy = of_island.fold(0.0, |sum, (_, kinetic)| sum + 2.0 * get(kinetic, lane));
            let energy = if energy > 0.0 { energy } else { 1.0 };
            self.extract(lane);
            let result = self.solver.problem.solve(energy, first, problem.bounds(plan), options);
            let iterations = result.as_ref().map_or_else(|failure| failure.iterations, |report| report.iterations);
            self.stats.iterations += iterations as u64;
            self.stats.group_iterations += iterations as u64;
            let Ok(report) = result else { return false };
            self.residual = self.residual.max(report.residual);
            self.put_back(lane);
        }
        true
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
            if space.islands.is_at_hand(b) && block.entries.iter().any(|entry| entry.lanes >> lane & 1 != 0) {
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
