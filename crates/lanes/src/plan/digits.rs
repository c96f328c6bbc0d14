//! Whether everything of a tree can be about one point.

use multibody::{JointType, Kinematics, Model, NO_PARENT, forward_kinematics, joint_axis};
use spatial::ArticulatedInertia;

/// m r²/M_ii at most, of what a joint i turns: m its mass, r how far the joint is from the root, M_ii its inertia about the joint's axis.
/// About the root the inertia is m r², so that M_ii is known to as many units in the last place: here to 2e-8.
const MAX_INERTIA_RATIO: f64 = 1e8;

/// Whether some joint turns so little, so far from the root of its tree, that digits are lost where inertias are about the root.
pub(super) fn are_lost(model: &Model) -> bool {
    let tree = &model.tree;
    let mut kin = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), &model.q0, &mut kin);
    let mut composites: Vec<ArticulatedInertia<f64>> =
        kin.frames.iter().map(|frame| frame.inertia.articulated()).collect();
    for nodes in &tree.trees {
        let root = kin.frames[nodes.start].pos;
        for i in nodes.clone().rev() {
            let (node, frame, composite) = (&tree.nodes[i], &kin.frames[i], composites[i]);
            if node.parent != NO_PARENT {
                composites[node.parent] += composite.shifted_back(frame.offset);
            }
            if matches!(node.joint, JointType::Free | JointType::Prismatic) {
                continue;
            }
            let about_root = composite.c.xx() * (frame.pos - root).norm_squared();
            for k in 0..node.joint.nv() {
                let axis = joint_axis(node, frame, k);
                let inertia = axis.dot(composite.apply(axis)) + model.armature[node.v + k];
                if about_root > MAX_INERTIA_RATIO * inertia {
                    return true;
                }
            }
        }
    }
    false
}
