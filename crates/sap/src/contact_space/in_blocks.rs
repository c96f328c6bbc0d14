//! Problems of all laws by blocks of three rows.

use spatial::{F64x4, Real};

use super::ContactSpace;
use super::block_problem::BlockProblem;
use crate::Constraint;
use crate::law::LawKind;
use crate::semismooth::BlockRows;
use crate::semismooth::dense_w::Block3;

/// A problem in blocks: constraints of three rows first, contacts among them, then what rolls and twists, then constraints of one row, three to
/// a block. Friction that resists no rolling is a constraint of one row about the normal.
#[derive(Clone, Debug, Default)]
pub(super) struct InBlocks {
    pub problem: BlockProblem,
    pub places: Vec<Place>,
}

/// Where a constraint is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its rows in the problem that have a place: friction without rolling has none for what rolls.
    row: usize,
    rows: usize,
    /// How many of the constraint's rows come before these.
    skipped: usize,
    /// The block, and the first of its rows there.
    block: usize,
    at: usize,
}

impl ContactSpace {
    /// Takes impulses and velocities from the blocks. What has no place there moves with the others and has no impulse.
    pub(super) fn write_solution(&mut self, v_c_star: &[f64]) {
        let Self {
            in_blocks: InBlocks { problem: BlockProblem { blocks, .. }, places },
            lambda,
            v_c,
            gamma,
            pairs,
            ..
        } = self;
        for vector in [&mut *lambda, &mut *v_c, &mut *gamma] {
            vector.clear();
            vector.reserve(Self::MAX_ROWS);
        }
        v_c.extend_from_slice(v_c_star);
        lambda.resize(v_c.len(), 0.0);
        gamma.resize(v_c.len(), 0.0);
        for place in &*places {
            let block = &blocks[place.block];
            for k in 0..place.rows {
                lambda[place.row + k] = block.solved_lambda[place.at + k];
                v_c[place.row + k] = block.solved_v[place.at + k];
                gamma[place.row + k] = block.lambda[place.at + k];
            }
        }
        for (g, place) in places.iter().enumerate().filter(|(_, place)| place.skipped > 0) {
            let skipped = place.row - place.skipped..place.row;
            for (h, other) in places.iter().enumerate() {
                let pair = &pairs[g.max(h) * (g.max(h) + 1) / 2 + g.min(h)];
                for (i, v) in v_c[skipped.clone()].iter_mut().enumerate() {
                    for j in 0..other.rows {
                        let (row, column) = if h <= g { (i, other.skipped + j) } else { (other.skipped + j, i) };
                        *v += pair[row].to_array()[column] * lambda[other.row + j];
                    }
                }
            }
        }
    }
}

impl InBlocks {
    /// Takes W.
    pub(super) fn take_pairs(&mut self, pairs: &[Block3<f64>]) {
        let Self { problem: BlockProblem { blocks, w, .. }, places } = self;
        let count = blocks.len();
        w.clear();
        w.reserve(BlockProblem::MAX_BLOCKS * BlockProblem::MAX_BLOCKS);
        w.resize(count * count, [F64x4::ZERO; 3]);
        let mut pairs = pairs.iter();
        for (g, place) in places.iter().enumerate() {
            for (other, pair) in places[..=g].iter().zip(&mut pairs) {
                let (block, mirrored) = (place.block * count + other.block, other.block * count + place.block);
                if place.rows + other.rows == 6 {
                    let [x, y, z] = pair.map(|row| row.to_array());
                    let column = |k: usize| F64x4::from_array([x[k], y[k], z[k], 0.0]);
                    w[mirrored] = [column(0), column(1), column(2)];
                    w[block] = *pair;
                    continue;
                }
                for i in 0..place.rows {
                    let entries = pair[place.skipped + i].to_array();
                    for j in 0..other.rows {
                        let entry = entries[other.skipped + j];
                        F64x4::scalars_mut(&mut w[block])[4 * (place.at + i) + other.at + j] = entry;
                        F64x4::scalars_mut(&mut w[mirrored])[4 * (other.at + j) + place.at + i] = entry;
                    }
                }
            }
        }
    }

    /// Takes laws and J v*.
    pub(super) fn take(&mut self, constraints: &[Constraint], v_star: &[f64]) {
        let Self { problem: BlockProblem { blocks, .. }, places } = self;
        blocks.clear();
        blocks.reserve(BlockProblem::MAX_BLOCKS);
        places.clear();
        places.reserve(ContactSpace::MAX_ROWS);
        // The next block of each, and its next row.
        let count = |is: fn(&LawKind) -> bool| constraints.iter().filter(|c| is(&c.law.kind)).count();
        let (rolling, torsion) = (count(|kind| *kind == LawKind::Rolling), count(|kind| *kind == LawKind::Torsion));
        let one = count(|kind| *kind == LawKind::One);
        let three = constraints.len() - rolling - torsion - one;
        let first_one = three + rolling + torsion.div_ceil(3);
        blocks.resize(first_one + one.div_ceil(3), BlockRows::none());
        let (mut three, mut rolling, mut torsion, mut one) = ((0, 0), (three, 0), (three + rolling, 0), (first_one, 0));
        let (mut row, mut contact) = (0, 0);
        for constraint in constraints {
            let law = &constraint.law;
            let next = match law.kind {
                LawKind::Rolling => &mut rolling,
                LawKind::Torsion => &mut torsion,
                LawKind::One => &mut one,
                LawKind::Three | LawKind::BoundedFriction | LawKind::Cone => &mut three,
            };
            let (block, at) = *next;
            let (rows, pushing) = (constraint.rows(), constraint.rows_that_push());
            *next = if at + pushing == 3 { (block + 1, 0) } else { (block, at + pushing) };
            let skipped = rows - pushing;
            places.push(Place { row: row + skipped, rows: pushing, skipped, block, at });
            let free = constraint.free();
            let is_known = free.iter().all(|x| x.is_finite());
            if law.is_contact() {
                contact = block;
            }
            let block = &mut blocks[block];
            block.law.take(1, law, skipped, at);
            for (at, k) in (at..).zip(skipped..rows) {
                block.contacts[at] = contact;
                block.w[at] = constraint.delassus();
                block.v_free[at] = v_star[row + k];
                block.z[at] = if is_known { free[k] } else { v_star[row + k] };
            }
            row += rows;
        }
    }
}
