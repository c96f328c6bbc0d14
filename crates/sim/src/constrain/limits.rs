//! Joint limits.

use lanes::RowWeight;
use multibody::{Compliance, Model};
use spatial::Vec3;

use super::{ConstraintSet, Context, Regularization};
use crate::constraint_jacobian::ConstraintJacobian;
use crate::tree_workspace::TreeWorkspace;
use crate::warm_start::Key;

/// A joint limit of the model, with indices of its tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointLimit {
    pub tree: usize,
    pub node: usize,
    /// First coordinate and degree of freedom within the tree.
    pub q: usize,
    pub dof: usize,
    pub ball: bool,
    pub range: (f64, f64),
    pub compliance: Compliance,
}

impl JointLimit {
    /// The limits of the joints with one coordinate and of the balls.
    pub fn of_model(model: &Model) -> Vec<Self> {
        let limit = |joint: &multibody::Joint| {
            let range = joint.range?;
            let ball = joint.kind == multibody::JointKind::Ball;
            if joint.kind.nv() != 1 && !ball {
                return None;
            }
            let node = joint.nodes.start;
            let tree = model.tree.trees.partition_point(|r| r.end <= node);
            let first = &model.tree.nodes[model.tree.trees[tree].start];
            Some(Self {
                tree,
                node: node - model.tree.trees[tree].start,
                q: joint.q - first.q,
                dof: joint.v - first.v,
                ball,
                range,
                compliance: joint.limit_compliance,
            })
        };
        model.joints.iter().filter_map(limit).collect()
    }

    /// Adds the limits of one tree that the motion can reach in the step; `first` is the index of the first of them.
    pub fn push_all(limits: &[Self], first: usize, cx: &Context<'_>, set: &mut ConstraintSet) {
        let Some(Self { tree, .. }) = limits.first() else { return };
        let workspace = &cx.cliques.trees[*tree];
        if workspace.asleep {
            return;
        }
        let (q, v) = (&cx.q[workspace.qs.clone()], &cx.v[workspace.dofs.clone()]);
        let twice_dt = 2.0 * cx.rule.of_step.dt;
        for (k, limit) in limits.iter().enumerate() {
            // Most limits are far, and this is all that is asked of them.
            let reach = twice_dt * (v[limit.dof].abs() + workspace.v_star[limit.dof].abs()) + cx.rule.margin;
            let (x, (low, high)) = (q[limit.q], limit.range);
            if limit.ball {
                limit.push_ball(first + k, workspace, (q, v), cx, set);
                continue;
            }
            for (side, (gap, sign)) in [(x - low, 1.0), (high - x, -1.0)].into_iter().enumerate() {
                if gap <= reach {
                    let rates = || [sign * v[limit.dof], sign * workspace.v_linearised[limit.dof]];
                    limit.push(
                        (first + k, side),
                        workspace,
                        (gap, limit.jacobian(1, [sign, 0.0, 0.0])),
                        rates,
                        cx,
                        set,
                    );
                }
            }
        }
    }

    /// Adds the limit of a ball joint if the motion can reach it in the step; `q` and `v` are the tree's.
    fn push_ball(
        &self,
        index: usize,
        workspace: &TreeWorkspace,
        (q, v): (&[f64], &[f64]),
        cx: &Context<'_>,
        set: &mut ConstraintSet,
    ) {
        for (side, candidate) in self.candidates(q, v, &workspace.v_star, &cx.rule).into_iter().enumerate() {
            let Some((gap, jacobian)) = candidate else { continue };
            let rates = || [v, &workspace.v_linearised[..]].map(|v| Self::rate(&jacobian, v));
            self.push((index, side), workspace, (gap, jacobian.clone()), rates, cx, set);
        }
    }

    /// Adds a side with its gap and its row of J; `rates` are those of the gap that [`Regularization::start`] asks for.
    #[inline]
    fn push(
        &self,
        (index, side): (usize, usize),
        workspace: &TreeWorkspace,
        (gap, jacobian): (f64, ConstraintJacobian),
        rates: impl FnOnce() -> [f64; 2],
        cx: &Context<'_>,
        set: &mut ConstraintSet,
    ) {
        let w = workspace.factor.inverse_diagonal(self.node);
        let weight = RowWeight { w, inverse: cx.inverse_weights.dofs[workspace.dofs.start + self.dof] };
        let law = cx.rule.normal(self.compliance, cx.rule.start(self.compliance, gap, rates), weight);
        set.push_limit(law, w, jacobian, Key::limit(index, side), cx);
    }

    /// The row of J with `axis` over `width` degrees of freedom.
    #[inline]
    fn jacobian(&self, width: usize, axis: [f64; 3]) -> ConstraintJacobian {
        ConstraintJacobian::Joint { tree: self.tree, node: self.node, dof: self.dof, width, axis }
    }

    /// Gap, rate at the beginning and rate in free motion of both sides; `q` and `v` are the model's.
    pub fn rates(&self, workspace: &TreeWorkspace, q: &[f64], v: &[f64]) -> [Option<(f64, f64, f64)>; 2] {
        let (q, v) = (&q[workspace.qs.clone()], &v[workspace.dofs.clone()]);
        self.sides(q, f64::INFINITY).map(|side| {
            let (gap, jacobian) = side?;
            Some((gap, Self::rate(&jacobian, v), Self::rate(&jacobian, &workspace.v_star)))
        })
    }

    /// The rate of a side's gap when the tree moves with `v`.
    fn rate(jacobian: &ConstraintJacobian, v: &[f64]) -> f64 {
        let ConstraintJacobian::Joint { dof, width, axis, .. } = jacobian else { return 0.0 };
        v[*dof..dof + width].iter().zip(axis).map(|(v, axis)| v * axis).sum()
    }

    /// The sides that the motion can reach in a step: the gap and the row of J (over the joint's degrees of freedom).
    ///
    /// `q` and the velocities before and after free motion are the tree's. Limits further off than twice what the
    /// joint moves at either velocity are left out.
    fn candidates(
        &self,
        q: &[f64],
        v: &[f64],
        v_star: &[f64],
        rule: &Regularization,
    ) -> [Option<(f64, ConstraintJacobian)>; 2] {
        let width = if self.ball { 3 } else { 1 };
        let speed = |v: &[f64]| v[self.dof..self.dof + width].iter().map(|x| x * x).sum::<f64>().sqrt();
        self.sides(q, 2.0 * rule.of_step.dt * (speed(v) + speed(v_star)) + rule.margin)
    }

    /// The sides not farther off than `reach`.
    fn sides(&self, q: &[f64], reach: f64) -> [Option<(f64, ConstraintJacobian)>; 2] {
        let width = if self.ball { 3 } else { 1 };
        let side = |gap: f64, axis: [f64; 3]| (gap <= reach).then_some((gap, self.jacobian(width, axis)));
        if self.ball {
            let turn = spatial::Quat::new(q[self.q], q[self.q + 1], q[self.q + 2], q[self.q + 3]).unit();
            let turn = turn.rotation_vector();
            let away = turn.normalized().unwrap_or(Vec3::ZERO) * -1.0;
            return [None, side(self.range.1 - turn.norm(), away.to_array())];
        }
        let x = q[self.q];
        [side(x - self.range.0, [1.0, 0.0, 0.0]), side(self.range.1 - x, [-1.0, 0.0, 0.0])]
    }
}
