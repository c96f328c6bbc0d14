//! Problems of contacts with bounded friction, limits, bounded and equality constraints: by blocks of three rows.

use spatial::{F64x4, Real};

use super::blocks::BlockRows;
use super::newton::{Block3, Limits, Newton, measure};
use super::{ContactSpace, NotSolved, PARAMETERS, allowed_steps};
use crate::{Constraint, Criterion, Law, Options, Report};

/// Blocks of a problem at most: the last may be filled in part.
const MAX_BLOCKS: usize = ContactSpace::MAX_ROWS / 3 + 1;

/// A problem in blocks: constraints of three rows first, then those of one row, three to a block.
#[derive(Clone, Debug, Default)]
pub(super) struct InBlocks {
    newton: Option<Newton<f64>>,
    blocks: Vec<BlockRows<f64>>,
    w: Vec<Block3<f64>>,
    /// Where each row of the problem is: its block, and its row there.
    places: Vec<(usize, usize)>,
}

impl ContactSpace {
    /// Solves the problem in blocks.
    ///
    /// # Errors
    /// Where a law has no place in a block, or the iteration does not converge.
    pub(super) fn solve_in_blocks(
        &mut self,
        constraints: &[Constraint],
        energy: f64,
        is_coulomb: bool,
        options: &Options,
    ) -> Result<Report, NotSolved> {
        if !energy.is_finite() || !self.in_blocks.take(constraints, &self.v_star, is_coulomb) {
            return Err(NotSolved { iterations: 0 });
        }
        let InBlocks { newton, blocks, w, places } = &mut self.in_blocks;
        let count = blocks.len();
        w.clear();
        w.reserve(MAX_BLOCKS * MAX_BLOCKS);
        w.resize(count * count, [F64x4::ZERO; 3]);
        for (k, &(block, at)) in places.iter().enumerate() {
            let of_block = &mut w[block * count..(block + 1) * count];
            for (entry, &(other, of_other)) in self.w.row(k).iter().zip(&*places) {
                F64x4::scalars_mut(&mut of_block[other])[4 * at + of_other] = *entry;
            }
        }
        let limits = Limits {
            steps: allowed_steps(PARAMETERS.max_steps_in_blocks, is_coulomb, options),
            excess: (PARAMETERS.exact_excess_fraction * options.tolerance).max(PARAMETERS.round_off),
            round_off: PARAMETERS.round_off,
            at_start: PARAMETERS.exact_fraction * options.tolerance,
            late: options.tolerance,
        };
        let newton = newton.get_or_insert_with(|| Newton::new(MAX_BLOCKS));
        let outcome = newton.solve(blocks, w, energy, 1, &limits);
        let iterations = outcome.slowest as usize;
        if outcome.solved == 0 {
            return Err(NotSolved { iterations });
        }
        for (k, &(block, at)) in places.iter().enumerate() {
            self.lambda[k] = blocks[block].solved_lambda[at];
            self.v_c[k] = blocks[block].solved_v[at];
        }
        let cost = self.evaluate_laws(is_coulomb);
        let (gradient, momentum, kinetic) = self.gradient(energy);
        let is_solved = gradient <= options.absolute_tolerance + options.tolerance * momentum;
        let is_round_off = self.in_blocks.excess() <= PARAMETERS.round_off * PARAMETERS.round_off * energy;
        if !((is_solved || is_round_off) && momentum.is_finite()) {
            return Err(NotSolved { iterations });
        }
        let criterion = if is_solved { Criterion::Gradient } else { Criterion::RoundOff };
        let report = self.report(iterations, is_coulomb, criterion);
        let residual = gradient / (momentum + options.absolute_tolerance / options.tolerance);
        Ok(Report { cost: kinetic + cost, residual, ..report })
    }
}

impl InBlocks {
    /// `z` of the last iterate by rows, for `scaling` times their own shares of `W`.
    pub(super) fn free_velocities(&self, scaling: f64) -> impl Iterator<Item = f64> {
        self.places.iter().map(move |&(block, at)| {
            let block = &self.blocks[block];
            block.v_c[at] - scaling * block.w[at] * block.lambda[at]
        })
    }

    /// |F|² of the solution.
    fn excess(&self) -> f64 {
        measure(&self.blocks).0
    }

    /// Takes laws and J v*; false where a law has no place in a block.
    fn take(&mut self, constraints: &[Constraint], v_star: &[f64], is_coulomb: bool) -> bool {
        let Self { blocks, places, .. } = self;
        blocks.clear();
        blocks.reserve(MAX_BLOCKS);
        places.clear();
        places.reserve(ContactSpace::MAX_ROWS);
        let threes = constraints.iter().filter(|constraint| constraint.rows() == 3).count();
        let ones = constraints.len() - threes;
        blocks.resize(threes + ones.div_ceil(3), BlockRows::none());
        let (mut three, mut one, mut row) = (0, (threes, 0), 0);
        for constraint in constraints {
            let rows = constraint.rows();
            let (block, at) = if rows == 3 { (three, 0) } else { one };
            if rows == 3 {
                three += 1;
            } else {
                one = if at == 2 { (block + 1, 0) } else { (block, at + 1) };
            }
            places.extend((at..at + rows).map(|at| (block, at)));
            let block = &mut blocks[block];
            let free = constraint.free();
            let is_known = free.iter().all(|x| x.is_finite());
            for (k, free) in free.iter().enumerate() {
                let v_star = v_star[row + k];
                block.w[at + k] = constraint.delassus();
                block.v_free[at + k] = v_star;
                block.z[at + k] = if is_known { *free } else { v_star };
            }
            row += rows;
            if !set_law(block, at, &constraint.law, is_coulomb) {
                return false;
            }
        }
        true
    }
}

/// Sets the law of the rows from `at` on; false where it is another.
fn set_law(block: &mut BlockRows<f64>, at: usize, law: &Law, is_coulomb: bool) -> bool {
    match law {
        Law::BoundedFriction(contact) => {
            (block.is_contact, block.contact_lanes) = (1.0, 1);
            if is_coulomb {
                block.friction = contact.mu();
            } else {
                block.bound = contact.mu() * contact.normal_impulse();
            }
            block.r = [contact.r_t(), contact.r_t(), contact.r_n()];
            block.v_hat = contact.v_hat();
        }
        Law::Limit(limit) => {
            (block.r[at], block.v_hat[at]) = (limit.r(), limit.v_hat());
            block.high[at] = f64::INFINITY;
        }
        Law::BoxConstraint(law) => {
            (block.r[at], block.v_hat[at]) = (law.r(), law.v_hat());
            (block.low[at], block.high[at]) = law.bounds();
        }
        Law::Equality(equality) => {
            for k in (0..equality.rows()).filter(|k| equality.r()[*k] > 0.0) {
                (block.r[at + k], block.v_hat[at + k]) = (equality.r()[k], equality.v_hat()[k]);
                (block.low[at + k], block.high[at + k]) = (f64::NEG_INFINITY, f64::INFINITY);
            }
        }
        Law::Cone(_) | Law::SpinFriction(_) => return false,
    }
    true
}
