//! Problems of all laws by blocks of three rows.

use spatial::{F64x4, Real};

use super::blocks::{BlockRows, FrictionBound, Spin};
use super::newton::{Block3, Limits, SemismoothNewton, measure, norm_squared};
use super::{ContactSpace, NotSolved, PARAMETERS, allowed_steps};
use crate::{Constraint, Criterion, Law, Options, Report};

/// Blocks of a problem at most: the last of rows about normals and that of constraints of one row may be filled in part.
const MAX_BLOCKS: usize = ContactSpace::MAX_ROWS / 3 + 2;

/// A problem in blocks: constraints of three rows first, contacts among them, then what rolls and twists, then constraints of one row, three to
/// a block. Friction that resists no rolling is a constraint of one row about the normal.
#[derive(Clone, Debug, Default)]
pub(super) struct InBlocks {
    newton: Option<SemismoothNewton<f64>>,
    blocks: Vec<BlockRows<f64>>,
    w: Vec<Block3<f64>>,
    places: Vec<Place>,
    /// λ − γ(v_c), by blocks.
    lacks: Vec<[f64; 3]>,
}

/// Where a constraint is.
#[derive(Clone, Copy, Debug)]
struct Place {
    /// Its rows in the problem that have a place: friction without rolling has none for what rolls.
    row: usize,
    rows: usize,
    /// How many of the constraint's rows come before these.
    skipped: usize,
    /// The block, and the first of its rows there.
    block: usize,
    at: usize,
}

/// What a constraint is in blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Three,
    Rolling,
    Torsion,
    One,
}

impl Kind {
    fn of(constraint: &Constraint) -> Self {
        match &constraint.law {
            Law::SpinFriction(spin) if spin.lengths()[0] == 0.0 => Self::Torsion,
            Law::SpinFriction(_) => Self::Rolling,
            _ if constraint.rows() == 3 => Self::Three,
            _ => Self::One,
        }
    }
}

impl ContactSpace {
    /// Solves the problem in blocks, where `is_hard` by the proximal point method at once.
    ///
    /// # Errors
    /// Where no iteration converges.
    pub(super) fn solve_in_blocks(
        &mut self,
        constraints: &[Constraint],
        energy: f64,
        (is_coulomb, is_hard): (bool, bool),
        options: &Options,
    ) -> Result<Report, NotSolved> {
        if !energy.is_finite() {
            return Err(NotSolved { iterations: 0 });
        }
        self.in_blocks.take(constraints, &self.v_star, is_coulomb);
        if !self.is_in_pairs {
            self.write_pairs(constraints);
        }
        self.in_blocks.take_pairs(&self.pairs);
        let InBlocks { newton, blocks, w, .. } = &mut self.in_blocks;
        let has_many = self.len > PARAMETERS.many_rows;
        let most = if has_many { PARAMETERS.max_steps_of_many_rows } else { PARAMETERS.max_steps };
        let limits = Limits {
            steps: allowed_steps(most, is_coulomb, options),
            excess: (PARAMETERS.exact_excess_fraction * options.tolerance).max(PARAMETERS.round_off),
            round_off: PARAMETERS.round_off,
            at_start: PARAMETERS.exact_fraction * options.tolerance,
            late: options.tolerance,
            residual: f64::INFINITY,
        };
        let mut iterations = 0;
        let mut is_found = false;
        if !is_hard {
            let outcome = made(newton).solve(blocks, w, energy, 1, &limits);
            (iterations, is_found) = (outcome.slowest as usize, outcome.solved != 0);
        }
        if !is_found {
            iterations = self.solve_from_afar(constraints, energy, is_coulomb, (iterations, options))?;
        }
        self.take_solution();
        let cost = self.evaluate_constraints(is_coulomb);
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

    /// Solves the problem in blocks by the proximal point method after so many iterations; returns all of them.
    fn solve_from_afar(
        &mut self,
        constraints: &[Constraint],
        energy: f64,
        is_coulomb: bool,
        (spent, options): (usize, &Options),
    ) -> Result<usize, NotSolved> {
        // From what is known of the step before: where Newton's method ended is no better.
        self.in_blocks.take(constraints, &self.v_star, is_coulomb);
        let InBlocks { newton, blocks, w, .. } = &mut self.in_blocks;
        let most = allowed_steps(PARAMETERS.max_steps_from_afar, is_coulomb, options).saturating_sub(spent);
        let (more, is_found) = made(newton).solve_from_afar(blocks, w, energy, (most, options.tolerance));
        let iterations = spent + more;
        if is_found { Ok(iterations) } else { Err(NotSolved { iterations }) }
    }

    /// Writes `W` by pairs of constraints from its rows.
    fn write_pairs(&mut self, constraints: &[Constraint]) {
        let Self { pairs, w, len, .. } = self;
        pairs.clear();
        pairs.reserve(super::MAX_PAIRS);
        let mut row = 0;
        for (k, constraint) in constraints.iter().enumerate() {
            let mut column = 0;
            for other in &constraints[..=k] {
                let entry = |i: usize, j: usize| {
                    if i < constraint.rows() && j < other.rows() { w[(row + i) * *len + column + j] } else { 0.0 }
                };
                pairs.push([0, 1, 2].map(|i| F64x4::from_array([entry(i, 0), entry(i, 1), entry(i, 2), 0.0])));
                column += other.rows();
            }
            row += constraint.rows();
        }
    }

    /// Takes impulses and velocities from the blocks. What has no place there moves with the others and has no impulse.
    fn take_solution(&mut self) {
        let Self { in_blocks: InBlocks { blocks, places, .. }, lambda, v_c, v_star, pairs, .. } = self;
        lambda.fill(0.0);
        for place in &*places {
            for k in 0..place.rows {
                lambda[place.row + k] = blocks[place.block].solved_lambda[place.at + k];
                v_c[place.row + k] = blocks[place.block].solved_v[place.at + k];
            }
        }
        for (g, place) in places.iter().enumerate().filter(|(_, place)| place.skipped > 0) {
            let skipped = place.row - place.skipped..place.row;
            v_c[skipped.clone()].copy_from_slice(&v_star[skipped.clone()]);
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

    /// `‖λ − γ‖_W`, the norm of momentum, and `½ ‖v − v*‖²_A`.
    fn gradient(&mut self, energy: f64) -> (f64, f64, f64) {
        let Self { in_blocks: InBlocks { w, places, lacks, blocks, .. }, lambda, gamma, v_c, v_star, .. } = self;
        lacks.clear();
        lacks.reserve(MAX_BLOCKS);
        lacks.resize(blocks.len(), [0.0; 3]);
        let mut change = 0.0;
        for place in &*places {
            for k in 0..place.rows {
                let row = place.row + k;
                change += lambda[row] * (v_c[row] - v_star[row]);
                lacks[place.block][place.at + k] = lambda[row] - gamma[row];
            }
        }
        // Round-off may leave less than nothing of a square; what is no number stays so.
        let positive = |x: f64| if x < 0.0 { 0.0 } else { x };
        let error = norm_squared::<f64>(w, lacks);
        (positive(error).sqrt(), (positive(change) + energy).sqrt(), 0.5 * change)
    }
}

/// The method, made at its first use.
fn made(newton: &mut Option<SemismoothNewton<f64>>) -> &mut SemismoothNewton<f64> {
    newton.get_or_insert_with(|| SemismoothNewton::new(MAX_BLOCKS))
}

impl InBlocks {
    /// Takes W.
    fn take_pairs(&mut self, pairs: &[Block3<f64>]) {
        let Self { blocks, w, places, .. } = self;
        let count = blocks.len();
        w.clear();
        w.reserve(MAX_BLOCKS * MAX_BLOCKS);
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

    /// |F|² of the solution.
    fn excess(&self) -> f64 {
        measure(&self.blocks).0
    }

    /// Takes laws and J v*.
    fn take(&mut self, constraints: &[Constraint], v_star: &[f64], is_coulomb: bool) {
        let Self { blocks, places, .. } = self;
        blocks.clear();
        blocks.reserve(MAX_BLOCKS);
        places.clear();
        places.reserve(ContactSpace::MAX_ROWS);
        let count = |kind| constraints.iter().filter(|constraint| Kind::of(constraint) == kind).count();
        let first_rolling = count(Kind::Three);
        let first_torsion = first_rolling + count(Kind::Rolling);
        let first_one = first_torsion + count(Kind::Torsion).div_ceil(3);
        blocks.resize(first_one + count(Kind::One).div_ceil(3), BlockRows::none());
        let (mut three, mut rolling, mut torsion, mut one) = (0, first_rolling, (first_torsion, 0), (first_one, 0));
        let (mut row, mut contact) = (0, 0);
        let take_one = |next: &mut (usize, usize)| {
            let place = *next;
            *next = if place.1 == 2 { (place.0 + 1, 0) } else { (place.0, place.1 + 1) };
            place
        };
        for constraint in constraints {
            let rows = constraint.rows();
            let whole = |next: &mut usize| {
                *next += 1;
                (*next - 1, 0)
            };
            let kind = Kind::of(constraint);
            let (block, at) = match kind {
                Kind::Three => whole(&mut three),
                Kind::Rolling => whole(&mut rolling),
                Kind::Torsion => take_one(&mut torsion),
                Kind::One => take_one(&mut one),
            };
            let free = constraint.free();
            let is_known = free.iter().all(|x| x.is_finite());
            let own = if kind == Kind::Torsion { 2..3 } else { 0..rows };
            let skipped = own.start;
            places.push(Place { row: row + skipped, rows: own.len(), skipped, block, at });
            for (at, k) in (at..).zip(own) {
                let (block_rows, v_star) = (&mut blocks[block], v_star[row + k]);
                block_rows.w[at] = constraint.delassus();
                block_rows.v_free[at] = v_star;
                block_rows.z[at] = if is_known { free[k] } else { v_star };
            }
            row += rows;
            if matches!(constraint.law, Law::BoundedFriction(_) | Law::Cone(_)) {
                contact = block;
            }
            set_law(&mut blocks[block], at, &constraint.law, contact, is_coulomb);
        }
    }
}

/// Sets the law of the rows from `at` on, that of a contact's friction with the block of the contact.
fn set_law(block: &mut BlockRows<f64>, at: usize, law: &Law, contact: usize, is_coulomb: bool) {
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
        Law::SpinFriction(spin) => {
            let ([rolling, torsional], r) = (spin.lengths(), spin.r());
            let twist = if rolling > 0.0 {
                (block.spin, block.contacts, block.r) = (Spin::Rolling, [contact; 3], [r; 3]);
                2
            } else {
                (block.spin, block.contacts[at], block.r[at]) = (Spin::Torsion, contact, r);
                at
            };
            if is_coulomb {
                // The second is written last: without rolling they are one row.
                (block.lengths[at], block.lengths[twist]) = (rolling, torsional);
            } else {
                let twists = torsional * spin.normal_impulse();
                block.bound = rolling * spin.normal_impulse();
                (block.low[twist], block.high[twist]) = (-twists, twists);
            }
        }
        Law::Cone(contact) => {
            (block.is_contact, block.contact_lanes) = (1.0, 1);
            (block.friction_bound, block.friction) = (FrictionBound::Cone, contact.mu());
            block.r = [contact.r_t(), contact.r_t(), contact.r_n()];
            block.v_hat = contact.v_hat();
        }
    }
}
