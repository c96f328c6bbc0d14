//! Joint limits.

use lanes::{ConstraintName, RowWeight, ball_limit};
use multibody::{Compliance, Model, vec3};
use spatial::Quat;

use super::{ConstraintSet, Context};
use crate::constraint_jacobian::ConstraintJacobian;
use crate::tree_workspace::TreeWorkspace;

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
            let reach = twice_dt * (limit.speed(v) + limit.speed(&workspace.v_star)) + cx.rule.margin;
            for (side, of) in limit.sides(q).into_iter().enumerate() {
                let Some(Side { gap, axis }) = of.filter(|of| of.gap <= reach) else { continue };
                let rates = || [v, &workspace.v_linearised[..]].map(|v| limit.rate(axis, v));
                let w = workspace.factor.inverse_diagonal(limit.node, 0);
                let weight = RowWeight { w, inverse: cx.inverse_weights.dofs[workspace.dofs.start + limit.dof] };
                let law = cx.rule.normal(limit.compliance, cx.rule.start(limit.compliance, gap, rates), weight);
                let &Self { tree, node, dof, .. } = limit;
                let jacobian = ConstraintJacobian::Joint { tree, node, dof, width: limit.width(), axis };
                set.push_limit(law, w, jacobian, ConstraintName::limit(first + k, side), cx);
            }
        }
    }

    /// Gap, rate at the beginning and rate in free motion of both sides; `q` and `v` are the model's.
    pub fn rates(&self, workspace: &TreeWorkspace, q: &[f64], v: &[f64]) -> [Option<(f64, f64, f64)>; 2] {
        let (q, v) = (&q[workspace.qs.clone()], &v[workspace.dofs.clone()]);
        self.sides(q).map(|side| {
            let Side { gap, axis } = side?;
            Some((gap, self.rate(axis, v), self.rate(axis, &workspace.v_star)))
        })
    }

    fn width(&self) -> usize {
        if self.ball { 3 } else { 1 }
    }

    /// How fast the joint moves when the tree moves with `v`.
    #[inline]
    fn speed(&self, v: &[f64]) -> f64 {
        if self.ball { vec3(&v[self.dof..]).norm() } else { v[self.dof].abs() }
    }

    /// The rate of the gap of a side when the tree moves with `v`.
    #[inline]
    fn rate(&self, axis: [f64; 3], v: &[f64]) -> f64 {
        if self.ball { vec3(&v[self.dof..]).dot(axis.into()) } else { axis[0] * v[self.dof] }
    }

    /// The lower and the upper side at the coordinates `q` of the tree. A ball has no lower one.
    #[inline]
    fn sides(&self, q: &[f64]) -> [Option<Side>; 2] {
        let (q, (low, high)) = (&q[self.q..], self.range);
        if self.ball {
            let (gap, axis) = ball_limit(Quat::new(q[0], q[1], q[2], q[3]), high);
            return [None, Some(Side { gap, axis: axis.to_array() })];
        }
        [(q[0] - low, 1.0), (high - q[0], -1.0)].map(|(gap, sign)| Some(Side { gap, axis: [sign, 0.0, 0.0] }))
    }
}

/// A side of a limit: its gap, and its row of J over the joint's degrees of freedom.
#[derive(Clone, Copy, Debug)]
struct Side {
    gap: f64,
    axis: [f64; 3],
}
