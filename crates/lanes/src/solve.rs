//! The contact problems of a group: laws of every lane's rows, and what was found.

use sap::contact_blocks::{BlockRows, FrictionBound, Limits, Outcome, Spin};
use sap::{FrictionLaw, SolverParameters};
use spatial::Vec3;

use super::{Bundle, ConstraintSlot, Lanes, get, select, select3, wide};
use crate::plan::{Plan, PlanJacobian, Source, TieKind};

const STEPS: usize = SolverParameters::STANDARD.contact_space.max_steps;

/// |F| over the tolerance of the solver from which on the residual is looked at, which tells whether a problem is solved. Of steps of robots
/// that were solved at 1e-4 without a look, up to 0.5 % missed the tolerance.
const EXACT: f64 = 1e-2;

/// What is asked of problems in 32 bits at most.
const SINGLE: Limits =
    Limits { steps: STEPS, excess: 1e-5, round_off: 0.0, at_start: 1e-3, late: 1e-3, residual: f64::INFINITY };
/// Rolling and torsional friction is little beside other momentum.
const SINGLE_OF_SPIN: Limits = Limits { excess: 1e-6, at_start: 1e-4, late: 1e-4, ..SINGLE };

/// What is asked of solutions.
fn limits<T: Bundle>(plan: &Plan) -> Limits {
    let tolerance = plan.solver_options.tolerance;
    let round_off = SolverParameters::STANDARD.contact_space.round_off;
    let double = Limits {
        steps: STEPS,
        excess: (EXACT * tolerance).max(round_off),
        round_off,
        at_start: tolerance,
        late: tolerance,
        residual: tolerance,
    };
    if !T::IS_SINGLE {
        return double;
    }
    let has_spin = plan.contacts.slots < plan.constraints.first_limit;
    let single = if has_spin { SINGLE_OF_SPIN } else { SINGLE };
    Limits {
        excess: single.excess.max(double.excess),
        at_start: single.at_start.max(tolerance),
        late: single.late.max(tolerance),
        ..single
    }
}

/// A contact in these lanes; with the normal impulse that bounds its friction where that is fixed.
#[inline(always)]
fn set_contact<T: Bundle>(
    rows: &mut BlockRows<T>,
    lanes: u32,
    slot: &ConstraintSlot<T>,
    v_hat: T,
    (friction, bounding_normal): (T, Option<T>),
) {
    rows.contact_lanes |= lanes;
    let lanes = T::mask(lanes);
    rows.is_contact = rows.is_contact.max(lanes);
    rows.r[0] = select(lanes, slot.r_t, rows.r[0]);
    rows.r[1] = select(lanes, slot.r_t, rows.r[1]);
    rows.r[2] = select(lanes, slot.r_n, rows.r[2]);
    rows.v_hat[2] = select(lanes, v_hat, rows.v_hat[2]);
    match bounding_normal {
        Some(normal) => rows.bound = select(lanes, normal * friction, rows.bound),
        None => rows.friction = select(lanes, friction, rows.friction),
    }
}

/// Rolling friction in these lanes: the place of the contact, z and whether it is remembered, and lengths with the normal impulse that
/// bounds it where that is fixed.
#[inline(always)]
fn set_rolling<T: Bundle>(
    rows: &mut BlockRows<T>,
    place: usize,
    lanes: T,
    slot: &ConstraintSlot<T>,
    (z, is_remembered): ([T; 3], T),
    ([rolling, torsional], bounding_normal): ([T; 2], Option<T>),
) {
    for row in 0..3 {
        set_torsion(rows, (row, place), lanes, slot, (z[row], is_remembered), (T::ZERO, None));
    }
    set_torsion(rows, (2, place), lanes, slot, (z[2], is_remembered), (torsional, bounding_normal));
    rows.spin = Spin::Rolling;
    match bounding_normal {
        Some(normal) => rows.bound = select(lanes, normal * rolling, rows.bound),
        None => rows.lengths[0] = select(lanes, rolling, rows.lengths[0]),
    }
}

/// Torsional friction likewise.
#[inline(always)]
fn set_torsion<T: Bundle>(
    rows: &mut BlockRows<T>,
    (row, place): (usize, usize),
    lanes: T,
    slot: &ConstraintSlot<T>,
    (z, is_remembered): (T, T),
    (length, bounding_normal): (T, Option<T>),
) {
    (rows.spin, rows.contacts[row]) = (Spin::Torsion, place);
    rows.r[row] = select(lanes, slot.r_n, rows.r[row]);
    rows.w[row] = select(lanes, slot.w, rows.w[row]);
    rows.z[row] = select(is_remembered, z, rows.z[row]);
    match bounding_normal {
        Some(normal) => {
            let bound = normal * length;
            rows.low[row] = select(lanes, -bound, rows.low[row]);
            rows.high[row] = select(lanes, bound, rows.high[row]);
        }
        None => rows.lengths[row] = select(lanes, length, rows.lengths[row]),
    }
}

/// The three rows of an equality in these lanes, or of a distance the last alone.
#[inline(always)]
fn set_tie<T: Bundle>(rows: &mut BlockRows<T>, lanes: T, slot: &ConstraintSlot<T>, is_distance: bool) {
    let bias = slot.bias.to_array();
    for row in 0..3 {
        rows.r[row] = select(lanes, slot.r_n, rows.r[row]);
        rows.v_hat[row] = select(lanes, bias[row], rows.v_hat[row]);
    }
    for row in if is_distance { 2..3 } else { 0..3 } {
        rows.low[row] = select(lanes, wide(f64::NEG_INFINITY), rows.low[row]);
        rows.high[row] = select(lanes, wide(f64::INFINITY), rows.high[row]);
    }
}

/// A constraint of one row in these lanes.
#[inline(always)]
fn set_one<T: Bundle>(rows: &mut BlockRows<T>, row: usize, lanes: T, slot: &ConstraintSlot<T>, v_hat: T) {
    rows.r[row] = select(lanes, slot.r_n, rows.r[row]);
    rows.w[row] = select(lanes, slot.w, rows.w[row]);
    rows.v_hat[row] = select(lanes, v_hat, rows.v_hat[row]);
    rows.low[row] = select(lanes, slot.low, rows.low[row]);
    rows.high[row] = select(lanes, slot.high, rows.high[row]);
}

impl<T: Bundle> Lanes<T> {
    /// Solves the problems of the open lanes; those that cannot be solved fall back.
    #[inline(always)]
    pub(super) fn iterate(&mut self, plan: &Plan) {
        self.set_rows(plan, false);
        let solved = self.search(plan, false);
        self.note_solution(plan, solved);
    }

    /// Solves those problems again for the velocities that move positions, friction bounded by estimates of normal impulses.
    #[inline(always)]
    pub(super) fn iterate_again(&mut self, plan: &Plan) {
        self.set_rows(plan, true);
        self.search(plan, true);
    }

    /// Solves the problems of the open lanes, those that do not settle in lanes one by one; the lanes that settled.
    #[inline(always)]
    fn search(&mut self, plan: &Plan, is_recovery: bool) -> u32 {
        let space = &mut self.space;
        let (open, rows) = (space.open, &mut space.rows[..space.count]);
        let mut energy = T::ZERO;
        for kinetic in &space.kinetic {
            energy = energy + *kinetic + *kinetic;
        }
        let Outcome { solved, steps, slowest } = space.newton.solve(rows, &space.w, energy, open, &limits::<T>(plan));
        if self.is_lone && solved != 0 {
            self.residual = self.residual.max(get(&space.newton.residual(), 0));
        }
        self.stats.iterations += steps;
        self.stats.group_iterations += slowest;
        if open & !solved != 0 {
            self.solve_lanes(plan, open & !solved, is_recovery);
        }
        solved
    }

    /// Gathers the laws of the open lanes and what is remembered of their constraints.
    #[inline(always)]
    fn set_rows(&mut self, plan: &Plan, is_recovery: bool) {
        let is_bounded = plan.friction != FrictionLaw::Coulomb || is_recovery;
        let Self { space, slots, memory, numbers, .. } = self;
        let first_spin = &space.first_spin;
        for (b, (block, rows)) in space.blocks.iter().zip(&mut space.rows[..space.count]).enumerate() {
            let v_free = rows.v_free;
            *rows = BlockRows::none();
            (rows.v_free, rows.z) = (v_free, v_free);
            for entry in &block.entries {
                let k = entry.constraint;
                let (slot, memory, lanes) = (&slots[k], &memory[k], T::mask(entry.lanes));
                let is_remembered = lanes * memory.is_remembered;
                let v_hat = if is_recovery { slot.v_hat_recovery } else { slot.v_hat };
                match &plan.constraints.all[k].source {
                    Source::Contact => {
                        let normal = if is_recovery { slot.bound_of_recovery() } else { slot.normal_estimate };
                        let bounding_normal = (is_bounded && plan.friction != FrictionLaw::Sap).then_some(normal);
                        set_contact(rows, entry.lanes, slot, v_hat, (numbers.friction[k], bounding_normal));
                        rows.friction_bound =
                            if plan.friction == FrictionLaw::Sap { FrictionBound::Cone } else { FrictionBound::Disc };
                    }
                    Source::Spin { contact } => {
                        let lengths = numbers.spins[k - plan.contacts.slots];
                        let contact = &slots[*contact];
                        let normal = if is_recovery { contact.bound_of_recovery() } else { contact.normal_estimate };
                        let bounding_normal = is_bounded.then_some(normal);
                        // Its contact has this place among those of three rows.
                        let place = b - *first_spin;
                        if matches!(plan.constraints.all[k].jacobian, PlanJacobian::Turn(_)) {
                            let z = block.frame.transpose_mul(memory.free_velocity).to_array();
                            set_rolling(rows, place, lanes, slot, (z, is_remembered), (lengths, bounding_normal));
                        } else {
                            let (at, z) = ((entry.row, 3 * place + entry.row), memory.free_velocity.x);
                            set_torsion(rows, at, lanes, slot, (z, is_remembered), (lengths[1], bounding_normal));
                        }
                        continue;
                    }
                    Source::Tie { tie, .. } => {
                        set_tie(rows, lanes, slot, matches!(tie.kind, TieKind::Distance(_)));
                    }
                    _ => {
                        set_one(rows, entry.row, lanes, slot, v_hat);
                        rows.z[entry.row] = select(is_remembered, memory.free_velocity.x, rows.z[entry.row]);
                        continue;
                    }
                }
                let z = block.frame.transpose_mul(memory.free_velocity).to_array();
                for row in 0..3 {
                    rows.w[row] = select(lanes, slot.w, rows.w[row]);
                    rows.z[row] = select(is_remembered, z[row], rows.z[row]);
                }
            }
        }
    }

    /// Notes what the constraints of these lanes met.
    #[inline(always)]
    fn note_solution(&mut self, plan: &Plan, solved: u32) {
        let Self { space, memory, slots, .. } = self;
        for (block, rows) in space.blocks.iter().zip(&space.rows[..space.count]) {
            let impulse = block.frame * Vec3::from(rows.solved_lambda);
            let free_velocity: [T; 3] =
                std::array::from_fn(|row| rows.solved_v[row] - rows.w[row] * rows.solved_lambda[row]);
            let in_world = block.frame * Vec3::from(free_velocity);
            for entry in block.entries.iter().filter(|entry| entry.lanes & solved != 0) {
                let lanes = T::mask(entry.lanes & solved);
                let (memory, slot) = (&mut memory[entry.constraint], &mut slots[entry.constraint]);
                let of = &plan.constraints.all[entry.constraint].jacobian;
                if matches!(of, PlanJacobian::Twist(_)) {
                    let twist = slot.normal * rows.solved_lambda[entry.row];
                    slot.impulse = select3(lanes, twist, slot.impulse);
                }
                if of.are_three() {
                    memory.free_velocity = select3(lanes, in_world, memory.free_velocity);
                    slot.impulse = select3(lanes, impulse, slot.impulse);
                    memory.normal = select(lanes, rows.solved_lambda[2], memory.normal);
                    slot.pushes = select(lanes, T::ZERO.if_less(rows.solved_lambda[2], T::ONE, T::ZERO), slot.pushes);
                } else {
                    memory.free_velocity.x = select(lanes, free_velocity[entry.row], memory.free_velocity.x);
                    memory.normal = select(lanes, rows.solved_lambda[entry.row], memory.normal);
                }
                memory.is_remembered = memory.is_remembered.max(lanes);
            }
        }
    }
}
