//! Dry friction of joints, and drives at their limits.

use lanes::ConstraintName;
use multibody::Model;
use sap::Law;

use super::{ConstraintSet, Context};
use crate::actuation::law;
use crate::constraint_jacobian::ConstraintJacobian;

/// Dry friction of one degree of freedom.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointFriction {
    pub tree: usize,
    /// Node and degree of freedom within the tree, and of the model.
    node: usize,
    dof: usize,
    v: usize,
    /// N or N·m.
    force: f64,
}

impl JointFriction {
    /// Those of the model.
    pub fn of_model(model: &Model, tree_of: &[usize]) -> Vec<Self> {
        let mut all = Vec::new();
        for (i, node) in model.tree.nodes.iter().enumerate() {
            let tree = tree_of[i];
            let first = model.tree.trees[tree].start;
            for v in node.v..node.v + node.joint.nv() {
                let force = model.friction_loss[v];
                if force > 0.0 {
                    all.push(Self { tree, node: i - first, dof: v - model.tree.nodes[first].v, v, force });
                }
            }
        }
        all
    }

    /// Adds the row.
    pub fn push(&self, cx: &Context<'_>, set: &mut ConstraintSet) {
        let workspace = &cx.cliques.trees[self.tree];
        let w = workspace.factor.inverse_diagonal(self.node, self.dof - workspace.tree.nodes[self.node].v);
        let bound = cx.rule.of_step.dt * self.force;
        let law = Law::bounded(cx.rule.of_step.sigma * w, 0.0, -bound, bound);
        set.push(law, w, row(self.tree, self.node, self.dof), ConstraintName::friction(self.v), cx);
    }
}

/// Adds the drives that may not stay within their limits.
pub(crate) fn push_drives(cx: &Context<'_>, set: &mut ConstraintSet) {
    for (tree, workspace) in cx.cliques.trees.iter().enumerate() {
        for drive in workspace.drives.iter().filter(|drive| drive.apart) {
            let node = workspace.tree.nodes.partition_point(|node| node.v <= drive.dof) - 1;
            let law = law(&drive.force, cx.v[workspace.dofs.start + drive.dof]);
            set.push(
                law,
                workspace.factor.inverse_diagonal(node, drive.dof - workspace.tree.nodes[node].v),
                row(tree, node, drive.dof),
                drive.key,
                cx,
            );
        }
    }
}

/// The row of one degree of freedom.
fn row(tree: usize, node: usize, dof: usize) -> ConstraintJacobian {
    ConstraintJacobian::Joint { tree, node, dof, width: 1, axis: [1.0, 0.0, 0.0] }
}
