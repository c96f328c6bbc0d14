//! Problems of single lanes that do not settle in lanes, by [`sap::ContactSpace`] as in `sim`.

use sap::{BoundedFrictionContact, BoxConstraint, ConeContact, Constraint, Equality, FrictionLaw, Limit, SpinFriction};
use spatial::{Mat3, Three, Vec3};

use super::contact_space::MAX_ROWS;
use super::{Bundle, ConstraintSlot, Lanes, Memory, get, put};
use crate::plan::{Numbers, Plan, PlanJacobian, Source, TieKind};

/// The problem of one lane, reused from lane to lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    space: sap::ContactSpace,
    constraints: Vec<Constraint>,
    /// What each law is of, and its place: the first of its rows here, its block and its row there.
    of: Vec<(usize, usize, (usize, usize))>,
    /// The place of every row; none of rows that never push, of friction that resists torsion alone.
    places: Vec<Option<(usize, usize)>>,
    v_free: Vec<f64>,
}

impl<T: Bundle> Lanes<T> {
    /// Solves the problems of some lanes one by one; those that cannot be solved fall back. `is_recovery`: for the velocities that move
    /// positions.
    #[cold]
    #[inline(never)]
    pub(super) fn solve_lanes(&mut self, plan: &Plan, lanes: u32, is_recovery: bool) {
        let (mut spent, mut most) = (0, 0);
        for lane in 0..T::LANES {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            let rows = 3 * (self.space.threes[lane] + self.space.spins[lane]) + self.space.ones[lane];
            if rows > sap::ContactSpace::MAX_ROWS {
                self.space.open &= !(1 << lane);
                self.fallback |= 1 << lane;
                continue;
            }
            self.state_problem(plan, lane, is_recovery);
            let Solver { space, constraints, v_free, .. } = &mut self.solver;
            let mut energy = 0.0;
            for kinetic in &self.space.kinetic {
                energy += 2.0 * get(kinetic, lane);
            }
            let options = if is_recovery { &plan.recovery_options } else { &plan.solver_options };
            // Newton's method in blocks was tried, but in 32 bits with other numbers.
            let solved = if T::IS_SINGLE {
                space.solve(constraints, v_free, energy, options)
            } else {
                space.solve_hard(constraints, v_free, energy, options)
            };
            match solved {
                Ok(report) => {
                    spent += report.iterations;
                    self.residual = self.residual.max(report.residual);
                    most = most.max(report.iterations);
                    self.take(plan, lane, is_recovery);
                }
                Err(failure) => {
                    spent += failure.iterations;
                    self.space.open &= !(1 << lane);
                    self.fallback |= 1 << lane;
                }
            }
        }
        self.stats.iterations += spent as u64;
        self.stats.group_iterations += most as u64;
    }

    /// Sets the constraints, J v* and W of a lane.
    fn state_problem(&mut self, plan: &Plan, lane: usize, is_recovery: bool) {
        let Self { space, solver, slots, memory, numbers, .. } = self;
        let Solver { space: problem, constraints, of, places, v_free } = solver;
        constraints.clear();
        constraints.reserve(MAX_ROWS);
        of.clear();
        of.reserve(MAX_ROWS);
        places.clear();
        places.reserve(2 * MAX_ROWS);
        v_free.clear();
        v_free.reserve(2 * MAX_ROWS);
        for (b, block) in space.blocks[..space.count].iter().enumerate() {
            let here = block.entries.iter().filter(|entry| entry.lanes >> lane & 1 != 0);
            of.extend(here.map(|entry| (entry.constraint, 0, (b, entry.row))));
        }
        // Friction of a contact comes behind it.
        of.sort_unstable_by_key(|(k, ..)| plan.constraints.order(*k));
        for (k, first, (b, at)) in of.iter_mut() {
            *first = places.len();
            let law = law(plan, (slots, memory, numbers), *k, (lane, is_recovery), &space.blocks[*b].frame);
            let never = if matches!(plan.constraints.all[*k].jacobian, PlanJacobian::Twist(_)) { 2 } else { 0 };
            places.extend((0..never).map(|_| None));
            places.extend((0..law.rows() - never).map(|row| Some((*b, *at + row))));
            constraints.push(law);
        }
        v_free.extend(places.iter().map(|place| place.map_or(0.0, |(b, row)| get(&space.rows[b].v_free[row], lane))));
        problem.start(places.len());
        for (i, place) in places.iter().enumerate() {
            let Some((b, row)) = *place else { continue };
            for (j, other) in places[..=i].iter().enumerate() {
                let Some((c, column)) = *other else { continue };
                let entries = space.w[b * space.count + c][row].to_array();
                problem.set(i, j, get(&entries[column], lane));
            }
        }
    }

    /// Takes the impulses of a lane, and notes what its constraints met.
    fn take(&mut self, plan: &Plan, lane: usize, is_recovery: bool) {
        let Self { space, solver, memory, slots, .. } = self;
        let Solver { space: solution, constraints, of, places, .. } = solver;
        for rows in &mut space.rows[..space.count] {
            rows.solved_lambda.iter_mut().for_each(|impulse| put(impulse, lane, 0.0));
        }
        let rows = places.iter().zip(solution.balancing_impulses()).zip(solution.velocities());
        for ((place, impulse), v) in rows {
            let Some((b, row)) = *place else { continue };
            put(&mut space.rows[b].solved_lambda[row], lane, *impulse);
            put(&mut space.rows[b].solved_v[row], lane, *v);
        }
        if is_recovery {
            return;
        }
        for (law, &(k, row, (b, _))) in constraints.iter().zip(&*of) {
            let rows = row..row + law.rows();
            let impulse = &solution.impulses()[rows.clone()];
            let mut free_velocity = [0.0; 3];
            law.free_velocity(&solution.velocities()[rows], impulse, &mut free_velocity);
            if law.rows() == 3 {
                let impulse = if matches!(plan.constraints.all[k].jacobian, PlanJacobian::Twist(_)) {
                    free_velocity[0] = free_velocity[2];
                    slots[k].normal.map(|x| get(&x, lane)) * impulse[2]
                } else {
                    let frame = space.blocks[b].frame.map(|x| get(&x, lane));
                    free_velocity = (frame * Vec3::from(free_velocity)).to_array();
                    frame * Vec3::new(impulse[0], impulse[1], impulse[2])
                };
                put(&mut slots[k].impulse.x, lane, impulse.x);
                put(&mut slots[k].impulse.y, lane, impulse.y);
                put(&mut slots[k].impulse.z, lane, impulse.z);
                put(&mut slots[k].pushes, lane, f64::from(solution.impulses()[row + 2] > 0.0));
            }
            let memory = &mut memory[k];
            put(&mut memory.free_velocity.x, lane, free_velocity[0]);
            put(&mut memory.free_velocity.y, lane, free_velocity[1]);
            put(&mut memory.free_velocity.z, lane, free_velocity[2]);
            put(&mut memory.normal, lane, impulse[impulse.len() - 1]);
            put(&mut memory.is_remembered, lane, 1.0);
        }
    }
}

/// The law of a constraint in one lane, and what is remembered of it along its rows, which are the columns of `frame`.
fn law<T: Bundle>(
    plan: &Plan,
    (slots, memory, numbers): (&[ConstraintSlot<T>], &[Memory<T>], &Numbers<T>),
    k: usize,
    (lane, is_recovery): (usize, bool),
    frame: &Mat3<T>,
) -> Constraint {
    let (slot, memory) = (&slots[k], &memory[k]);
    let at = |x: &T| get(x, lane);
    let (w, r) = (at(&slot.w), at(&slot.r_n));
    let v_hat = at(if is_recovery { &slot.v_hat_recovery } else { &slot.v_hat });
    let normal_of =
        |slot: &ConstraintSlot<T>| at(&if is_recovery { slot.bound_of_recovery() } else { slot.normal_estimate });
    let law: Constraint = match &plan.constraints.all[k].source {
        Source::Contact if plan.friction == FrictionLaw::Sap => {
            ConeContact::new(at(&numbers.friction[k]), at(&slot.r_t), r, v_hat).into()
        }
        Source::Contact => {
            let friction = at(&numbers.friction[k]);
            BoundedFrictionContact::new(friction, at(&slot.r_t), r, v_hat, normal_of(slot)).into()
        }
        Source::Spin { contact } => {
            let [rolling, torsional] = numbers.spins[k - plan.contacts.slots].map(|x| at(&x));
            SpinFriction::new(r, rolling, torsional, normal_of(&slots[*contact])).into()
        }
        Source::Tie { tie, .. } => match tie.kind {
            TieKind::Distance(_) => Equality::along_third(r, at(&slot.bias.z)).into(),
            TieKind::Point | TieKind::Turn => Equality::vector(r, slot.bias.to_array().map(|x| at(&x))).into(),
        },
        source if source.is_limit() => Limit::new(r, v_hat).into(),
        Source::Coupling { .. } => Equality::scalar(r, v_hat).into(),
        _ => BoxConstraint::new(r, v_hat, at(&slot.low), at(&slot.high)).into(),
    };
    let law = law.with_delassus(w);
    if at(&memory.is_remembered) == 0.0 {
        return law;
    }
    let free_velocity = memory.free_velocity.map(|x| at(&x));
    let free_velocity = match &plan.constraints.all[k].jacobian {
        PlanJacobian::Twist(_) => Vec3::new(0.0, 0.0, free_velocity.x),
        PlanJacobian::Point(_) | PlanJacobian::Turn(_) => frame.map(|x| at(&x)).transpose_mul(free_velocity),
        PlanJacobian::Sum(_) => free_velocity,
    };
    law.with_free_velocity(free_velocity.to_array())
}
