//! The contact problem of one lane: [`sap::ContactSpace`], as in a step of one world.

use sap::{BoundedFrictionContact, BoxConstraint, ConeContact, Constraint, Equality, Limit, SpinFriction};
use spatial::Vec3;

use super::contact_space::MAX_ROWS;
use super::newton::BlockRows;
use super::{Bundle, Lanes, get, put, select, select3, wide};
use crate::plan::{Plan, Source, TieKind};

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
    /// Solves the problems of the open lanes; those that cannot be solved are left.
    #[inline(always)]
    pub(super) fn iterate(&mut self, plan: &Plan) {
        self.set_rows(plan, false);
        let solved = self.search(plan, false);
        self.note_solution(plan, solved);
    }

    /// Solves those problems again for the velocities that move positions, friction bounded by normal impulses that are known.
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
        let in_lanes = if plan.is_cone { 0 } else { open & !space.spinning };
        let mut solved = 0;
        if in_lanes != 0 {
            let spent;
            (solved, spent) = space.newton.solve(rows, &space.w, in_lanes, plan.is_lagged || is_recovery);
            self.stats.iterations += spent[0];
            self.stats.group_iterations += spent[1];
        }
        if open & !solved != 0 {
            self.solve_lanes(plan, open & !solved, is_recovery);
        }
        solved
    }

    /// Gathers the laws of the open lanes and what is known of their constraints.
    #[inline(always)]
    fn set_rows(&mut self, plan: &Plan, is_recovery: bool) {
        let Self { space, slots, memory, .. } = self;
        for (block, rows) in space.blocks.iter().zip(&mut space.rows[..space.count]) {
            let v_free = rows.v_free;
            *rows = BlockRows::none();
            (rows.v_free, rows.z) = (v_free, v_free);
            for entry in &block.entries {
                let k = entry.constraint;
                let (slot, memory, lanes) = (&slots[k], &memory[k], T::mask(entry.lanes));
                let is_known = lanes * memory.is_known;
                let v_hat = if is_recovery { slot.recovery } else { slot.v_hat };
                match &plan.constraints.all[k].source {
                    Source::Contact { friction } => {
                        rows.is_contact = rows.is_contact.max(lanes);
                        rows.contact_lanes |= entry.lanes;
                        rows.friction = select(lanes, wide(*friction), rows.friction);
                        let r_t = slot.r_t;
                        rows.r[0] = select(lanes, r_t, rows.r[0]);
                        rows.r[1] = select(lanes, r_t, rows.r[1]);
                        rows.r[2] = select(lanes, slot.r_n, rows.r[2]);
                        rows.v_hat[2] = select(lanes, v_hat, rows.v_hat[2]);
                        rows.bound = select(lanes, slot.known_normal * wide(*friction), rows.bound);
                        let free = block.frame.transpose_mul(memory.free).to_array();
                        for row in 0..3 {
                            rows.w[row] = select(lanes, slot.w, rows.w[row]);
                            rows.z[row] = select(is_known, free[row], rows.z[row]);
                        }
                    }
                    Source::Spin { .. } => {}
                    Source::Tie { tie, .. } => {
                        let free = block.frame.transpose_mul(memory.free).to_array();
                        let bias = slot.bias.to_array();
                        let held = if matches!(tie.kind, TieKind::Distance(_)) { 2..3 } else { 0..3 };
                        for row in 0..3 {
                            rows.w[row] = select(lanes, slot.w, rows.w[row]);
                            rows.z[row] = select(is_known, free[row], rows.z[row]);
                            rows.r[row] = select(lanes, slot.r_n, rows.r[row]);
                            rows.v_hat[row] = select(lanes, bias[row], rows.v_hat[row]);
                        }
                        for row in held {
                            rows.low[row] = select(lanes, wide(f64::NEG_INFINITY), rows.low[row]);
                            rows.high[row] = select(lanes, wide(f64::INFINITY), rows.high[row]);
                        }
                    }
                    _ => {
                        let row = entry.row;
                        rows.r[row] = select(lanes, slot.r_n, rows.r[row]);
                        rows.w[row] = select(lanes, slot.w, rows.w[row]);
                        rows.v_hat[row] = select(lanes, v_hat, rows.v_hat[row]);
                        rows.low[row] = select(lanes, slot.low, rows.low[row]);
                        rows.high[row] = select(lanes, slot.high, rows.high[row]);
                        rows.z[row] = select(is_known, memory.free.x, rows.z[row]);
                    }
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
            let free: [T; 3] = std::array::from_fn(|row| rows.solved_v[row] - rows.w[row] * rows.solved_lambda[row]);
            let in_world = block.frame * Vec3::from(free);
            for entry in block.entries.iter().filter(|entry| entry.lanes & solved != 0) {
                let lanes = T::mask(entry.lanes & solved);
                let (memory, slot) = (&mut memory[entry.constraint], &mut slots[entry.constraint]);
                if plan.constraints.all[entry.constraint].rows.are_three() {
                    memory.free = select3(lanes, in_world, memory.free);
                    slot.impulse = select3(lanes, impulse, slot.impulse);
                    memory.normal = select(lanes, rows.solved_lambda[2], memory.normal);
                } else {
                    memory.free.x = select(lanes, free[entry.row], memory.free.x);
                    memory.normal = select(lanes, rows.solved_lambda[entry.row], memory.normal);
                }
                memory.is_known = memory.is_known.max(lanes);
            }
        }
    }

    /// Solves the problems of some lanes one by one; those that cannot be solved are left. `is_recovery`: for the velocities that move
    /// positions.
    #[cold]
    #[inline(never)]
    fn solve_lanes(&mut self, plan: &Plan, lanes: u32, is_recovery: bool) {
        let (mut spent, mut most) = (0, 0);
        for lane in 0..T::LANES {
            if lanes >> lane & 1 == 0 {
                continue;
            }
            self.start(plan, lane, is_recovery);
            let Solver { space, laws, v_free, .. } = &mut self.solver;
            let mut energy = 0.0;
            for kinetic in &self.space.kinetic {
                energy += 2.0 * get(kinetic, lane);
            }
            let options = if is_recovery { &plan.recovery_options } else { &plan.solver_options };
            match space.solve(laws, v_free, energy, options) {
                Ok(report) => {
                    spent += report.iterations;
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
    fn start(&mut self, plan: &Plan, lane: usize, is_recovery: bool) {
        let Self { space, solver, slots, memory, .. } = self;
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
                let (slot, memory) = (&slots[k], &memory[k]);
                let at = |x: &T| get(x, lane);
                let (w, r, mut v_hat) = (at(&slot.w), at(&slot.r_n), at(&slot.v_hat));
                let is_known = at(&memory.is_known) != 0.0;
                let law = match &plan.constraints.all[k].source {
                    Source::Contact { friction } => {
                        let r_t = at(&slot.r_t);
                        let recovery = at(&slot.recovery);
                        if plan.is_cone {
                            v_hat = if is_recovery { recovery } else { v_hat };
                            Constraint::from(ConeContact::new(*friction, r_t, r, v_hat))
                        } else {
                            v_hat = if is_recovery { recovery } else { v_hat };
                            let normal = at(&slot.known_normal);
                            let contact = BoundedFrictionContact::new(*friction, r_t, r, v_hat, normal);
                            contact.into()
                        }
                    }
                    Source::Spin { contact, rolling, torsional } => {
                        let normal = at(&slots[*contact].known_normal);
                        SpinFriction::new(r, *rolling, *torsional, normal).into()
                    }
                    Source::Tie { tie, .. } => {
                        let bias = [&slot.bias.x, &slot.bias.y, &slot.bias.z].map(at);
                        match tie.kind {
                            TieKind::Distance(_) => Equality::along_third(r, bias[2]).into(),
                            TieKind::Point | TieKind::Turn => Equality::vector(r, bias).into(),
                        }
                    }
                    source if source.is_limit() => {
                        Limit::new(r, if is_recovery { at(&slot.recovery) } else { v_hat }).into()
                    }
                    Source::Coupling { .. } => Equality::scalar(r, v_hat).into(),
                    _ => BoxConstraint::new(r, v_hat, at(&slot.low), at(&slot.high)).into(),
                };
                let mut law = law.with_delassus(w);
                if is_known {
                    let free = memory.free;
                    let free = [&free.x, &free.y, &free.z].map(at);
                    let free = if law.rows() == 3 {
                        [block.frame.x, block.frame.y, block.frame.z]
                            .map(|axis| at(&axis.x) * free[0] + at(&axis.y) * free[1] + at(&axis.z) * free[2])
                    } else {
                        free
                    };
                    law = law.with_free_velocity(free);
                }
                of.push((k, 3 * b + row));
                laws.push(law);
            }
        }
        problem.start(rows);
        for i in 0..rows {
            for j in 0..=i {
                let block = &space.w[i / 3 * space.count + j / 3];
                problem.set(i, j, get(&block[i % 3][j % 3], lane));
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
