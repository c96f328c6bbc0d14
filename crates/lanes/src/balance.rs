//! Energy and momentum at the end of a step, see [`multibody::StepEnd`]: both change by what forces and constraints do, however far bodies
//! turn in the step.

use multibody::{BodyInStep, Freedom, StepBalance, StepEnd, Whole};
use spatial::{Twist, Vec3};

use super::dynamics::moved;
use super::{Bundle, Lanes, dofs_of, lanes_of, vec3, wide};
use crate::plan::{Plan, PlanTree};

impl<T: Bundle> Lanes<T> {
    /// Notes what the step owes its end, by trees.
    #[inline(always)]
    pub(super) fn note_due(&mut self, plan: &Plan) {
        self.due.clear();
        for tree in plan.trees.iter().filter(|_| plan.is_balanced) {
            let due = self.due(plan, tree);
            self.due.push(due);
        }
    }

    /// Corrects velocities where nodes are placed at the end of the step; lanes in which the step errs by too much fall back.
    #[inline(always)]
    pub(super) fn balance_all(&mut self, plan: &Plan) {
        for k in 0..self.due.len() {
            let due = self.due[k];
            self.unresolved |= self.balance(plan, k, &due) & !self.fallback;
        }
        self.fallback |= self.unresolved;
    }

    /// What forces and constraints lead to in the step from v₀ to `v`.
    #[inline(always)]
    fn due(&mut self, plan: &Plan, tree: &PlanTree) -> StepBalance<T> {
        self.set_motions(plan, tree);
        let dt = wide::<T>(plan.dt);
        let mut due = StepBalance::ZERO;
        for (node, of_plan) in self.nodes[tree.nodes.clone()].iter().zip(&plan.nodes[tree.nodes.clone()]) {
            if of_plan.is_massless {
                continue;
            }
            due.add(&BodyInStep {
                inertia: node.inertia,
                start: node.twist,
                end: node.change,
                coriolis: node.coriolis * dt,
                arm: None,
            });
        }
        due
    }

    /// The motions of nodes at `v`, as their `change`.
    #[inline(always)]
    pub(super) fn set_motions(&mut self, plan: &Plan, tree: &PlanTree) {
        let Self { nodes, dofs, v, .. } = self;
        for i in tree.nodes.clone() {
            let node = &plan.nodes[i];
            let mut motion = if let Some(parent) = node.parent { nodes[parent].change } else { Twist::ZERO };
            for k in dofs_of(node) {
                motion = moved(motion, v[k], &dofs[k]);
            }
            nodes[i].change = motion;
        }
    }

    /// Corrects the velocities of a tree that is placed at the end of the step; the lanes in which the step errs by too much.
    #[inline(always)]
    fn balance(&mut self, plan: &Plan, k: usize, due: &StepBalance<T>) -> u32 {
        let (tree, of) = (&plan.trees[k], self.numbers.trees[k]);
        self.set_motions(plan, tree);
        let (mut whole, mut fastest) = (Whole::ZERO, T::ZERO);
        for (node, of_plan) in self.nodes[tree.nodes.clone()].iter().zip(&plan.nodes[tree.nodes.clone()]) {
            fastest = fastest.max(node.change.ang.norm_squared());
            if !of_plan.is_massless {
                whole.add_motion(&node.inertia, node.change, None);
                whole.add(&node.inertia);
            }
        }
        let (mut geared, mut geared_at_start, mut recovery) = (T::ZERO, T::ZERO, T::ZERO);
        for dof in tree.dofs.clone() {
            let (half_armature, v_start) = (self.numbers.half_armature[dof], self.v_start[dof]);
            geared = (self.v[dof] * self.v[dof]).mul_add(half_armature, geared);
            geared_at_start = (v_start * v_start).mul_add(half_armature, geared_at_start);
            recovery = recovery.max((self.v[dof] - self.v_of_q[dof]).abs());
        }
        let end = StepEnd {
            whole: &whole,
            due,
            mass: of.mass,
            half_mass: of.half_mass,
            per_mass: of.per_mass,
            geared,
            geared_at_start,
            root: if tree.freedom == Freedom::Bound { Vec3::ZERO } else { vec3(&self.v[tree.dofs.start..]) },
            recovery,
            dt: wide(plan.dt),
            most_turn: fastest * wide(plan.dt * plan.dt),
            weight: self.numbers.gravity * (of.mass * wide(plan.dt)),
            turns: self.turns[k],
            freedom: tree.freedom,
        };
        let correction = end.correction();
        for v in &mut self.v[tree.dofs.clone()] {
            *v *= correction.scale;
        }
        if tree.freedom != Freedom::Bound {
            self.add_to_root(tree.dofs.start, correction.lin);
            let place = self.origins[k] + correction.place;
            self.origins[k] = place;
            self.q[plan.nodes[tree.nodes.start].q..][..3].copy_from_slice(&place.to_array());
        }
        if tree.freedom == Freedom::KeepsMomentum {
            let ang = self.nodes[tree.nodes.start].rot.transpose_mul(correction.ang);
            self.add_to_root(tree.dofs.start + 3, ang);
        }
        lanes_of(correction.errs)
    }

    #[inline(always)]
    fn add_to_root(&mut self, first: usize, change: Vec3<T>) {
        let sum = vec3(&self.v[first..]) + change;
        self.v[first..first + 3].copy_from_slice(&sum.to_array());
    }
}
