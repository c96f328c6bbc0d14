//! Problems of single lanes by [`sap::ContactSpace`], as in a step of one world: of what does not settle in lanes, and of rolling friction.

use sap::{BoundedFrictionContact, BoxConstraint, ConeContact, Constraint, Equality, Limit, SpinFriction};
use spatial::{Mat3, Three, Vec3};

use super::contact_space::MAX_ROWS;
use super::{Bundle, Lanes, Memory, Slot, get, put};
use crate::plan::{Numbers, Plan, Source, TieKind};

/// The problem of one lane, reused from lane to lane.
#[derive(Clone, Debug, Default)]
pub(super) struct Solver {
    space: sap::ContactSpace,
    laws: Vec<Constraint>,
    /// What each law is of, and its first row.
    of: Vec<(usize, usize)>,
    v_free: Vec<f64>,
}

impl<T: Bundle> Lanes<T> {
    /// Solves the problems of some lanes one by one; those that cannot be solved are left. `is_recovery`: for the velocities that move
    /// positions.
    #[cold]
    #[inline(never)]
    pub(super) fn solve_lanes(&mut self, plan: &Plan, lanes: u32, is_recovery: bool) {
        let (mut spent, mut most) = (0, 0);
        for lane in 0..T::LANES {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            if 3 * self.space.threes[lane] + self.space.ones[lane] > sap::ContactSpace::MAX_ROWS {
                self.space.open &= !(1 << lane);
                self.left |= 1 << lane;
                continue;
            }
            self.state_problem(plan, lane, is_recovery);
            let Solver { space, laws, v_free, .. } = &mut self.solver;
            let mut energy = 0.0;
            for kinetic in &self.space.kinetic {
                energy += 2.0 * get(kinetic, lane);
            }
            let options = if is_recovery { &plan.recovery_options } else { &plan.solver_options };
            match space.solve(laws, v_free, energy, options) {
                Ok(report) => {
                    spent += report.iterations;
                    self.residual = self.residual.max(report.residual);
                    most = most.max(report.iterations);
                    self.take(lane, is_recovery);
                }
                Err(failure) => {
                    spent += failure.iterations;
                    self.space.open &= !(1 << lane);
                    self.left |= 1 << lane;
                }
            }
        }
        self.stats.iterations += spent as u64;
        self.stats.group_iterations += most as u64;
    }

    /// Sets the laws, J v* and W of a lane.
    fn state_problem(&mut self, plan: &Plan, lane: usize, is_recovery: bool) {
        let Self { space, solver, slots, memory, numbers, .. } = self;
        let Solver { space: problem, laws, of, v_free } = solver;
        let rows = 3 * space.threes[lane] + space.ones[lane];
        let blocks = rows.div_ceil(3);
        laws.clear();
        laws.reserve(MAX_ROWS);
        of.clear();
        of.reserve(MAX_ROWS);
        v_free.clear();
        v_free.reserve(MAX_ROWS);
        for (b, (block, block_rows)) in space.blocks.iter().zip(&space.rows[..blocks]).enumerate() {
            let count = 3.min(rows - 3 * b);
            for (row, v) in block_rows.v_free.iter().enumerate().take(count) {
                v_free.push(get(v, lane));
                let Some(k) = block.constraint(row, lane) else { continue };
                laws.push(law(plan, (slots, memory, numbers), k, (lane, is_recovery), &block.frame));
                of.push((k, 3 * b + row));
            }
        }
        problem.start(rows);
        for i in 0..rows {
            for j in 0..=i {
                let block = &space.w[i / 3 * space.count + j / 3];
                problem.set(i, j, get(&block[i % 3].to_array()[j % 3], lane));
            }
        }
    }

    /// Takes the impulses of a lane, and notes what its constraints met.
    fn take(&mut self, lane: usize, is_recovery: bool) {
        let Self { space, solver, memory, slots, .. } = self;
        let Solver { space: solution, laws, of, .. } = solver;
        for rows in &mut space.rows[..space.count] {
            rows.solved_lambda.iter_mut().for_each(|impulse| put(impulse, lane, 0.0));
        }
        for (row, impulse) in solution.balancing_impulses().iter().enumerate() {
            put(&mut space.rows[row / 3].solved_lambda[row % 3], lane, *impulse);
        }
        for (row, v) in solution.velocities().iter().enumerate() {
            put(&mut space.rows[row / 3].solved_v[row % 3], lane, *v);
        }
        if is_recovery {
            return;
        }
        for (law, &(k, row)) in laws.iter().zip(&*of) {
            let rows = row..row + law.rows();
            let impulse = &solution.impulses()[rows.clone()];
            let mut free = [0.0; 3];
            law.free_velocity(&solution.velocities()[rows], impulse, &mut free);
            if law.rows() == 3 {
                let frame = &space.blocks[row / 3].frame;
                let frame = frame.map(|x| get(&x, lane));
                free = (frame * Vec3::from(free)).to_array();
                let impulse = frame * Vec3::new(impulse[0], impulse[1], impulse[2]);
                put(&mut slots[k].impulse.x, lane, impulse.x);
                put(&mut slots[k].impulse.y, lane, impulse.y);
                put(&mut slots[k].impulse.z, lane, impulse.z);
            }
            let memory = &mut memory[k];
            put(&mut memory.free.x, lane, free[0]);
            put(&mut memory.free.y, lane, free[1]);
            put(&mut memory.free.z, lane, free[2]);
            put(&mut memory.normal, lane, impulse[impulse.len() - 1]);
            put(&mut memory.is_known, lane, 1.0);
        }
    }
}

/// The law of a constraint in one lane, and what is known of it along its rows, which are the columns of `frame`.
fn law<T: Bundle>(
    plan: &Plan,
    (slots, memory, numbers): (&[Slot<T>], &[Memory<T>], &Numbers<T>),
    k: usize,
    (lane, is_recovery): (usize, bool),
    frame: &Mat3<T>,
) -> Constraint {
    let (slot, memory) = (&slots[k], &memory[k]);
    let at = |x: &T| get(x, lane);
    let (w, r) = (at(&slot.w), at(&slot.r_n));
    let v_hat = at(if is_recovery { &slot.recovery } else { &slot.v_hat });
    let normal_of = |slot: &Slot<T>| at(&if is_recovery { slot.normal_impulse() } else { slot.known_normal });
    let law: Constraint = match &plan.constraints.all[k].source {
        Source::Contact if plan.is_cone => ConeContact::new(at(&numbers.friction[k]), at(&slot.r_t), r, v_hat).into(),
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
    if at(&memory.is_known) == 0.0 {
        return law;
    }
    let free = memory.free.map(|x| at(&x));
    let free = if law.rows() == 3 { frame.map(|x| at(&x)).transpose_mul(free) } else { free };
    law.with_free_velocity(free.to_array())
}
