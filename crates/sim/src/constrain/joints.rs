//! Dry friction of joints, and drives at their limits.

use lanes::{ConstraintName, RowWeight};
use multibody::{Compliance, InverseWeights, Model};

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
    compliance: Compliance,
    inverse_weight: f64,
}

impl JointFriction {
    /// Those of the model.
    pub fn of_model(model: &Model, tree_of: &[usize], weights: &InverseWeights) -> Vec<Self> {
        let mut all = Vec::new();
        for (i, node) in model.tree.nodes.iter().enumerate() {
            let tree = tree_of[i];
            let first = model.tree.trees[tree].start;
            for v in node.v..node.v + node.joint.nv() {
                let force = model.friction_loss[v];
                if force > 0.0 {
                    let (compliance, inverse_weight) = (model.friction_compliance(v), weights.dofs[v]);
                    let (node, dof) = (i - first, v - model.tree.nodes[first].v);
                    all.push(Self { tree, node, dof, v, force, compliance, inverse_weight });
                }
            }
        }
        all
    }

    /// Adds the row.
    pub fn push(&self, cx: &Context<'_>, set: &mut ConstraintSet) {
        let workspace = &cx.cliques.trees[self.tree];
        let w = workspace.factor.inverse_diagonal(self.node, self.dof - workspace.tree.nodes[self.node].v);
        let weight = RowWeight { w, inverse: self.inverse_weight };
        let law = cx.rule.dry_friction(self.compliance, weight, cx.v[self.v], self.force);
        set.push(law, w, row(self.tree, self.node, self.dof), ConstraintName::friction(self.v), cx);
    }
}

/// Adds the drives that may not stay within their limits.
pub(crate) fn push_drives(cx: &Context<'_>, set: &mut ConstraintSet) {
    for (tree, workspace) in cx.cliques.trees.iter().enumerate() {
        for drive in workspace.drives.iter().filter(|drive| drive.is_saturated) {
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
