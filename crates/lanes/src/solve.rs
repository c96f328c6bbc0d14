//! The contact problems of a group: laws of every lane's rows, and what was found.

use sap::contact_blocks::{BlockRows, Bounds, Outcome};
use sap::{FrictionLaw, Law, LawKind};
use spatial::Vec3;

use super::{Bundle, ConstraintSlot, Lanes, get, select, select3, wide};
use crate::plan::{Numbers, Plan, PlanJacobian, Source, TieKind};

/// An axis whose square is shorter than one by less than this is a unit vector, in 32 bits too.
const NEARLY_ONE: f64 = 1e-6;

/// The law of a constraint, in all lanes.
#[inline(always)]
fn law<T: Bundle>(
    plan: &Plan,
    numbers: &Numbers<T>,
    slots: &[ConstraintSlot<T>],
    k: usize,
    problem: Problem,
) -> Law<T> {
    let slot = &slots[k];
    let constraint = &plan.constraints.all[k];
    let v_hat = problem.v_hat(slot);
    match &constraint.source {
        Source::Contact if plan.friction == FrictionLaw::Sap => {
            Law::cone(numbers.friction[k], slot.r_t, slot.r_n, v_hat)
        }
        Source::Contact => {
            Law::bounded_friction(numbers.friction[k], slot.r_t, slot.r_n, v_hat, problem.normal_impulse(slot))
        }
        Source::Spin { contact } => {
            let [rolling, torsional] = numbers.spins[k - plan.contacts.slots];
            let normal_impulse = problem.normal_impulse(&slots[*contact]);
            if matches!(constraint.jacobian, PlanJacobian::Turn(_)) {
                Law::rolling(slot.r_n, rolling, torsional, normal_impulse)
            } else {
                Law::torsion(slot.r_n, torsional, normal_impulse)
            }
        }
        Source::Tie { tie, .. } if matches!(tie.kind, TieKind::Distance(_)) => Law::along_third(slot.r_n, slot.bias.z),
        Source::Tie { .. } => Law::equalities(slot.r_n, slot.bias.to_array()),
        _ => Law::bounded(slot.r_n, v_hat, slot.low, slot.high),
    }
}

/// What the velocities are for that are solved for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// For the end of the step.
    Step,
    /// For positions, friction bounded by estimates of normal impulses.
    Recovery,
}

impl Problem {
    #[inline(always)]
    fn v_hat<T: Bundle>(self, slot: &ConstraintSlot<T>) -> T {
        if self == Problem::Recovery { slot.v_hat_recovery } else { slot.v_hat }
    }

    #[inline(always)]
    fn normal_impulse<T: Bundle>(self, slot: &ConstraintSlot<T>) -> T {
        if self == Problem::Recovery { slot.bound_of_recovery() } else { slot.normal_estimate }
    }

    /// Which normal impulses bound friction.
    pub fn bounds(self, plan: &Plan) -> Bounds {
        let is_coulomb = plan.friction == FrictionLaw::Coulomb && self == Problem::Step;
        if is_coulomb { Bounds::Own } else { Bounds::Given }
    }
}

impl<T: Bundle> Lanes<T> {
    /// Solves the problems of the open lanes; those that cannot be solved fall back.
    #[inline(always)]
    pub(super) fn iterate(&mut self, plan: &Plan) {
        let solved = self.search(plan, Problem::Step);
        self.note_solution(plan, solved);
    }

    /// Solves those problems again for the velocities that move positions.
    #[inline(always)]
    pub(super) fn iterate_again(&mut self, plan: &Plan) {
        self.search(plan, Problem::Recovery);
    }

    /// Solves the problems of the open lanes, island by island in a world by itself; the lanes that settled.
    #[inline(always)]
    fn search(&mut self, plan: &Plan, problem: Problem) -> u32 {
        self.set_rows(plan, problem);
        let mut solved = self.space.open;
        for part in 0..self.space.islands.parts() {
            // Where nothing recovers positions are moved by the velocities that were found.
            let is_known = problem == Problem::Recovery && self.space.islands.is_known(part, &self.recovers);
            if !is_known {
                solved &= self.search_part(plan, part, problem);
            }
        }
        if problem == Problem::Step {
            self.space.islands.note_solution();
        }
        solved
    }

    /// Solves the problems of an island, or of all; those that do not settle in lanes one by one.
    #[inline(always)]
    fn search_part(&mut self, plan: &Plan, part: usize, problem: Problem) -> u32 {
        let space = &mut self.space;
        let (open, limits) = (space.open, plan.limits::<T>(problem.bounds(plan)));
        space.islands.choose(part);
        let energy = space.energy();
        let is_whole = space.islands.are_all_one();
        let (rows, w) = if is_whole {
            (&mut space.rows[..space.count], &space.w)
        } else {
            space.take_part();
            (&mut space.islands.rows[..], &space.islands.w)
        };
        let Outcome { solved, steps, slowest, residual } = space.newton.solve(rows, w, energy, open, &limits);
        if !is_whole {
            space.put_back_part();
        }
        if self.is_single_world && solved != 0 {
            self.residual = self.residual.max(get(&residual, 0));
        }
        self.stats.iterations += steps;
        self.stats.group_iterations += slowest;
        if open & !solved == 0 { solved } else { solved | self.solve_lanes(plan, open & !solved, problem, part) }
    }

    /// Gathers the laws of the open lanes and what is remembered of their constraints.
    #[inline(always)]
    fn set_rows(&mut self, plan: &Plan, problem: Problem) {
        let Self { space, slots, memory, numbers, surfaces_move, .. } = self;
        let first_spin = space.first_spin;
        for (b, (block, rows)) in space.blocks.iter().zip(&mut space.rows[..space.count]).enumerate() {
            let BlockRows { v_free, solved_lambda, solved_v, .. } = *rows;
            *rows = BlockRows::none();
            (rows.v_free, rows.z) = (v_free, v_free);
            if space.islands.are_solved {
                (rows.solved_lambda, rows.solved_v) = (solved_lambda, solved_v);
            }
            for entry in &block.entries {
                let k = entry.constraint;
                let (slot, memory, lanes) = (&slots[k], &memory[k], T::mask(entry.lanes));
                let is_remembered = lanes * memory.is_remembered;
                let mut law = law(plan, numbers, slots, k, problem);
                if (*surfaces_move || plan.rule.impratio.is_some()) && law.is_contact() {
                    let Vec3 { x, y, .. } = block.frame.transpose_mul(slot.sliding);
                    law = law.with_surface_velocity([-x, -y]);
                }
                // Torsional friction has the third of its rows alone.
                let first = if law.kind == LawKind::Torsion { 2 } else { 0 };
                rows.law.take(entry.lanes, &law, first, entry.row);
                if law.is_spin() {
                    // Its contact has this place among those of three rows.
                    let place = b - first_spin;
                    match first {
                        0 => rows.contacts = [place; 3],
                        _ => rows.contacts[entry.row] = 3 * place + entry.row,
                    }
                }
                let z = if plan.constraints.all[k].jacobian.are_three() {
                    block.frame.transpose_mul(memory.free_velocity).to_array()
                } else {
                    [memory.free_velocity.x; 3]
                };
                for row in 0..law.rows() - first {
                    let at = entry.row + row;
                    rows.w[at] = select(lanes, slot.w, rows.w[at]);
                    rows.z[at] = select(is_remembered, z[row], rows.z[at]);
                }
            }
        }
    }

    /// Notes what the constraints of these lanes met.
    #[inline(always)]
    fn note_solution(&mut self, plan: &Plan, solved: u32) {
        let Self { space, memory, slots, numbers, .. } = self;
        for (block, rows) in space.blocks.iter().zip(&space.rows[..space.count]) {
            let impulse = block.frame * Vec3::from(rows.solved_lambda);
            let mut free_velocity = rows.solved_v;
            for (v, (w, lambda)) in free_velocity.iter_mut().zip(rows.w.iter().zip(&rows.solved_lambda)) {
                *v -= *w * *lambda;
            }
            let mut along = Vec3::from(free_velocity);
            if !numbers.ellipses.is_empty() {
                // Of friction in two directions the second axis is shorter than one.
                let square = block.frame.y.norm_squared();
                let is_shorter = square.if_less(wide(1.0 - NEARLY_ONE), T::ONE, T::ZERO);
                along.y *= select(is_shorter, square.recip(), T::ONE);
            }
            let in_world = block.frame * along;
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
