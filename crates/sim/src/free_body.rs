//! The blocks of H that belong to free bodies, by formula: J of a body about its origin is diag(1, R), the linear velocity in
//! world axes first, then the angular velocity in the body's.

use multibody::{JointType, Tree};
use sap::BlockMut;
use spatial::{ArticulatedInertia, Mat3, Vec3};

/// Whether the tree is one body that moves freely.
pub(crate) fn is_free_body(tree: &Tree<f64>) -> bool {
    matches!(&tree.nodes[..], [node] if node.joint == JointType::Free)
}

/// Sets the lower triangle of a body's own block to Jᵀ I J, I an operator about its origin in world axes:
///
/// ```text
/// [ c          ]
/// [ Rᵀb   RᵀaR ]
/// ```
pub(crate) fn set_own_block(operator: &ArticulatedInertia<f64>, rot: Mat3<f64>, block: &mut BlockMut<'_>) {
    let back = rot.transpose();
    let (coupling, angular) = (back * operator.b, operator.a.rotated(back).to_mat3());
    let linear = operator.c.to_mat3();
    let columns = [(linear.x, coupling.x), (linear.y, coupling.y), (linear.z, coupling.z)];
    for (k, (lin, ang)) in columns.into_iter().enumerate() {
        let column = &mut block.values[k * block.stride..][..6];
        column[..3].copy_from_slice(&lin.to_array());
        column[3..].copy_from_slice(&ang.to_array());
    }
    for (k, ang) in [angular.x, angular.y, angular.z].into_iter().enumerate() {
        block.values[(3 + k) * block.stride + 3..][..3].copy_from_slice(&ang.to_array());
    }
}

/// Adds the entries between two bodies that an impedance K between them makes, −J_aᵀ Xᵀ K J_b.
///
/// K is about the origin of `b`, at `arm` from that of `a`; X moves a motion of `a` there. `rots` are the rotations of `a` and `b`.
///
/// ```text
/// − [ c                bᵀ R_b              ]
///   [ R_aᵀ (b + r̂c)   R_aᵀ (a + r̂bᵀ) R_b ]
/// ```
pub(crate) fn add_coupling(
    impedance: &ArticulatedInertia<f64>,
    arm: Vec3<f64>,
    rots: [Mat3<f64>; 2],
    rows_are_of_a: bool,
    block: &mut BlockMut<'_>,
) {
    let arm_cross = |m: Mat3<f64>| Mat3::from_columns(arm.cross(m.x), arm.cross(m.y), arm.cross(m.z));
    let ArticulatedInertia { a, b, c } = *impedance;
    let (back, rot_b) = (rots[0].transpose(), rots[1]);
    let (linear, b_transpose) = (c.to_mat3(), b.transpose());
    let mut blocks = [
        [linear, b_transpose * rot_b],
        [back * (b + arm_cross(linear)), back * (a.to_mat3() + arm_cross(b_transpose)) * rot_b],
    ];
    if !rows_are_of_a {
        let [[lin_lin, lin_ang], [ang_lin, ang_ang]] = blocks;
        blocks = [[lin_lin, ang_lin.transpose()], [lin_ang.transpose(), ang_ang.transpose()]];
    }
    let [[upper_left, upper_right], [lower_left, lower_right]] = blocks;
    for (first, upper, lower) in [(0, upper_left, lower_left), (3, upper_right, lower_right)] {
        for (k, (upper, lower)) in [(upper.x, lower.x), (upper.y, lower.y), (upper.z, lower.z)].into_iter().enumerate()
        {
            let column = &mut block.values[(first + k) * block.stride..][..6];
            let change = [upper.x, upper.y, upper.z, lower.x, lower.y, lower.z];
            for (value, change) in column.iter_mut().zip(change) {
                *value -= change;
            }
        }
    }
}
