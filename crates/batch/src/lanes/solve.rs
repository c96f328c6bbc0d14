//! The contact problem of one lane: [`sap::ContactSpace`], as in a step of one world.

use sap::{BoundedFrictionContact, ConeContact, Constraint, Limit};

use super::contact_space::MAX_ROWS;
use super::{Bundle, Lanes, get, put};
use crate::plan::{Plan, Source};

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
    /// Solves the problems of the open lanes; those that cannot be solved are left. `is_recovery`: for the velocities that move positions.
    #[inline(never)]
    pub(super) fn solve_lanes(&mut self, plan: &Plan, is_recovery: bool) {
        let (mut spent, mut most) = (0, 0);
        for lane in 0..T::LANES {
            if self.space.open >> lane & 1 == 0 {
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
        for (b, block) in space.blocks[..blocks].iter().enumerate() {
            let count = 3.min(rows - 3 * b);
            for (row, v) in block.v_free.iter().enumerate().take(count) {
                v_free.push(get(v, lane));
                let Some(k) = block.constraint(row, lane) else { continue };
                let (slot, memory) = (&slots[k], &memory[k]);
                let at = |x: &T| get(x, lane);
                let (w, r, mut v_hat) = (at(&slot.w), at(&slot.r_n), at(&slot.v_hat));
                let is_known = at(&memory.is_known) != 0.0;
                let law = match &plan.constraints[k].source {
                    Source::Contact { friction } => {
                        let r_t = w * plan.rule.sigma;
                        let recovery = at(&slot.recovery);
                        if plan.is_cone {
                            v_hat = if is_recovery { recovery } else { v_hat };
                            Constraint::from(ConeContact::new(*friction, r_t, r, v_hat))
                        } else {
                            let mut contact = BoundedFrictionContact::new(*friction, r_t, r, v_hat, 0.0);
                            let normal = if is_known {
                                at(&memory.normal)
                            } else {
                                contact.normal_impulse_alone(w, at(&block.v_free[2]))
                            };
                            v_hat = if is_recovery { recovery } else { v_hat };
                            contact = BoundedFrictionContact::new(*friction, r_t, r, v_hat, normal);
                            contact.into()
                        }
                    }
                    Source::Limit => Limit::new(r, if is_recovery { at(&slot.recovery) } else { v_hat }).into(),
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
        for b in 0..blocks {
            for c in 0..=b {
                let product = &space.products[b * (b + 1) / 2 + c];
                for (i, row) in product.iter().enumerate().take(rows - 3 * b) {
                    for (j, entry) in row.iter().enumerate().take(rows - 3 * c) {
                        problem.set(3 * b + i, 3 * c + j, get(entry, lane));
                    }
                }
            }
        }
    }

    /// Takes the impulses of a lane, and notes what its constraints met.
    fn take(&mut self, lane: usize, is_recovery: bool) {
        let Self { space, solver, memory, .. } = self;
        let Solver { space: solution, laws, of, .. } = solver;
        for block in &mut space.blocks[..space.count] {
            block.impulse.iter_mut().for_each(|impulse| put(impulse, lane, 0.0));
        }
        for (row, impulse) in solution.balancing_impulses().iter().enumerate() {
            put(&mut space.blocks[row / 3].impulse[row % 3], lane, *impulse);
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
                let at = |x: &T| get(x, lane);
                let in_world = |x: &T, y: &T, z: &T| at(x) * free[0] + at(y) * free[1] + at(z) * free[2];
                free = [
                    in_world(&frame.x.x, &frame.y.x, &frame.z.x),
                    in_world(&frame.x.y, &frame.y.y, &frame.z.y),
                    in_world(&frame.x.z, &frame.y.z, &frame.z.z),
                ];
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
