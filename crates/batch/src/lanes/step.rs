//! A step of all lanes.

use multibody::JointType;
use spatial::Real;

use super::balance::Sums;
use super::{Lanes, bits, mask, select, vec3, wide};
use crate::plan::Plan;

/// Velocities beyond this diverge, as in a step of one world.
const FASTEST: f64 = 1e10;

/// Bodies that turn farther in a step than this, rad, are for one world.
const LARGEST_TURN: f64 = 3.0;

impl<T: Real> Lanes<T> {
    /// Moves every lane by one time step, but those that are [`left`](Self::left): these stay as they were.
    #[inline(always)]
    pub(crate) fn step(&mut self, plan: &Plan, due: &mut Vec<Sums<T>>) {
        self.q_start.copy_from_slice(&self.q);
        self.v_start.copy_from_slice(&self.v);
        self.left = 0;
        if !self.is_placed {
            self.place(plan);
        }
        self.move_nodes(plan);
        self.gather_impulses(plan);
        self.factor(plan);
        self.move_freely(plan);
        self.collide(plan);
        self.regularise_contacts(plan);
        self.resolve_contacts(plan);
        self.check_velocities(plan);
        due.clear();
        for tree in plan.trees.iter().filter(|_| plan.is_balanced) {
            let sums = self.due(plan, tree);
            due.push(sums);
        }
        self.advance(plan);
        self.place(plan);
        for (tree, due) in plan.trees.iter().zip(&*due) {
            self.left |= self.balance(plan, tree, due);
        }
        if self.left != 0 {
            self.restore();
        }
    }

    /// Leaves lanes to one world that diverge or turn far.
    #[inline(always)]
    fn check_velocities(&mut self, plan: &Plan) {
        let mut is_fine = T::ONE;
        for v in &self.v {
            is_fine = is_fine * v.abs().if_less(wide(FASTEST), T::ONE, T::ZERO);
        }
        let most = LARGEST_TURN / plan.dt;
        for node in &plan.nodes {
            let first = match node.joint {
                JointType::Ball => node.v,
                JointType::Free => node.v + 3,
                _ => continue,
            };
            is_fine = is_fine * vec3(&self.v[first..]).norm_squared().if_less(wide(most * most), T::ONE, T::ZERO);
        }
        self.left |= bits(T::ONE - is_fine);
    }

    /// Takes back the step of the lanes that are left.
    #[inline(always)]
    fn restore(&mut self) {
        let left = mask::<T>(self.left);
        for (q, start) in self.q.iter_mut().zip(&self.q_start) {
            *q = select(left, *start, *q);
        }
        for (v, start) in self.v.iter_mut().zip(&self.v_start) {
            *v = select(left, *start, *v);
        }
        self.is_placed = false;
    }
}
