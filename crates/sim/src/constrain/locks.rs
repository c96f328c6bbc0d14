//! Balls and free joints that are held where they were.

use lanes::ConstraintName;
use multibody::{Compliance, JointKind, Model, NO_PARENT};
use spatial::Pose;

use super::{ConstraintSet, Context};
use crate::constraint_jacobian::{ConstraintEnd, Motion};

/// A joint that is held, with indices of its tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lock {
    joint: usize,
    tree: usize,
    node: usize,
    /// The node's frame where the joint is held, see [`multibody::JointLock`].
    pose: Pose<f64>,
    is_free: bool,
}

impl Lock {
    /// Those of the model.
    pub fn of_model(model: &Model, tree_of: &[usize]) -> Vec<Self> {
        let lock = |lock: &multibody::JointLock| {
            let joint = &model.joints[lock.joint];
            let tree = tree_of[joint.nodes.start];
            let node = joint.nodes.start - model.tree.trees[tree].start;
            Self { joint: lock.joint, tree, node, pose: lock.pose, is_free: joint.kind == JointKind::Free }
        };
        model.joint_locks.iter().map(lock).collect()
    }

    /// Adds three rows that hold the rotation, and of a free joint three that hold the place.
    pub fn push(&self, cx: &Context<'_>, set: &mut ConstraintSet) {
        let workspace = &cx.cliques.trees[self.tree];
        if workspace.asleep {
            return;
        }
        let (frames, node) = (&workspace.kin.frames, &workspace.tree.nodes[self.node]);
        let here = &frames[self.node];
        let parent = (node.parent != NO_PARENT).then_some(node.parent);
        let held = if self.is_free {
            self.pose
        } else {
            let above = parent.map_or(Pose::IDENTITY, |parent| Pose::new(frames[parent].pos, frames[parent].quat));
            above * Pose::new(node.pos, node.rot) * self.pose
        };
        let end = |of: usize| ConstraintEnd { tree: self.tree, node: of, arm: here.pos - frames[of].pos };
        let ends = [parent.map(end), Some(end(self.node))];
        let turn = (held.rot.conjugate() * here.quat).unit();
        let turned = held.rot.to_mat3() * Compliance::NearRigid.violation_of_turn(turn);
        // Behind the equalities of the model.
        let name = |part| ConstraintName::equality(cx.model.equalities.len() + self.joint, part);
        if self.is_free {
            set.push_hold(ends, Motion::Linear, here.pos - held.pos, name(0), cx);
        }
        set.push_hold(ends, Motion::Angular, turned, name(1), cx);
    }
}
