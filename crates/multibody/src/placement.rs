//! Where joints put their nodes.

use spatial::{Mat3, Quat, Real, RigidInertia, Sym3, Vec3};

use crate::kinematics::{quaternion, vec3};
use crate::{JointType, Node, NodeFrame};

/// A frame in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placed {
    pub quat: Quat<f64>,
    pub rot: Mat3<f64>,
    pub pos: Vec3<f64>,
}

impl Placed {
    /// The world's.
    pub const WORLD: Self = Self { quat: Quat::IDENTITY, rot: Mat3::IDENTITY, pos: Vec3::ZERO };
}

/// What a node is spared.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Traits {
    /// Whether its frame is turned against the parent's at rest.
    is_turned: bool,
    /// Whether its origin is always the parent's, as between the hinges of a shoulder.
    pub is_at_parent: bool,
    /// Whether no body moves with it.
    pub is_empty: bool,
}

impl Traits {
    pub const NONE: Self = Self { is_turned: false, is_at_parent: false, is_empty: false };

    pub fn of(node: &Node<f64>) -> Self {
        Self {
            is_turned: node.rot != Quat::IDENTITY,
            is_at_parent: node.is_at_parent(),
            is_empty: node.inertia == RigidInertia::ZERO,
        }
    }
}

/// A node, its joint and its bodies, in world axes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub frame: Placed,
    /// Origin less the parent's.
    pub offset: Vec3<f64>,
    /// Joint axis; zero where there is none.
    pub axis: Vec3<f64>,
    /// Centre of mass from the origin, and the rotational inertia about it.
    pub com: Vec3<f64>,
    pub inertia: Sym3<f64>,
}

impl Placement {
    /// The node at `q` (nq).
    #[inline(always)]
    pub fn new(node: &Node<f64>, above: &Placed, traits: Traits, q: &[f64]) -> Self {
        let base = if traits.is_turned { above.quat * node.rot } else { above.quat };
        let mut offset = if traits.is_at_parent { Vec3::ZERO } else { above.rot * node.pos };
        let quat = match node.joint {
            JointType::Revolute | JointType::Screw => base * Quat::of_turn(node.axis, q[node.q] - node.q_ref),
            JointType::Prismatic => base,
            JointType::Ball => base * quaternion(&q[node.q..]),
            JointType::Free => {
                offset = vec3(&q[node.q..]);
                quaternion(&q[node.q + 3..])
            }
        };
        let rot = rotation(quat);
        let mut axis = Vec3::ZERO;
        if node.joint.nv() == 1 {
            axis = rot * node.axis;
        }
        if node.joint.slides() {
            let pitch = if node.joint == JointType::Screw { node.pitch } else { 1.0 };
            offset = offset.add_scaled((q[node.q] - node.q_ref) * pitch, axis);
        }
        let (com, inertia) = if traits.is_empty {
            (Vec3::ZERO, Sym3::ZERO)
        } else {
            (rot * node.inertia.com, node.inertia.inertia.rotated(rot))
        };
        Self { frame: Placed { quat, rot, pos: above.pos + offset }, offset, axis, com, inertia }
    }

    /// Writes it down for others.
    #[inline(always)]
    pub fn store(&self, node: &Node<f64>, frame: &mut NodeFrame<f64>) {
        let Placed { quat, rot, pos } = self.frame;
        (frame.quat, frame.rot, frame.pos) = (quat, rot, pos);
        (frame.offset, frame.axis) = (self.offset, self.axis);
        frame.inertia = RigidInertia { mass: node.inertia.mass, com: self.com, inertia: self.inertia };
    }
}

/// [`Quat::to_mat3`] in 17 operations in place of 24.
#[inline(always)]
fn rotation(q: Quat<f64>) -> Mat3<f64> {
    let (x2, y2, z2) = (q.x + q.x, q.y + q.y, q.z + q.z);
    let (xy, xz, yz) = (q.x * y2, q.x * z2, q.y * z2);
    let (not_x, not_y) = (Real::mul_add(-q.x, x2, 1.0), Real::mul_add(-q.y, y2, 1.0));
    Mat3::from_columns(
        Vec3::new(Real::mul_add(-q.z, z2, not_y), Real::mul_add(q.w, z2, xy), Real::mul_add(-q.w, y2, xz)),
        Vec3::new(Real::mul_add(-q.w, z2, xy), Real::mul_add(-q.z, z2, not_x), Real::mul_add(q.w, x2, yz)),
        Vec3::new(Real::mul_add(q.w, y2, xz), Real::mul_add(-q.w, x2, yz), Real::mul_add(-q.y, y2, not_x)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_those_of_their_quaternions() {
        let q = Quat::new(0.4, -0.2, 0.7, 0.1).unit();
        let (found, expected) = (rotation(q), q.to_mat3());
        for (a, b) in [(found.x, expected.x), (found.y, expected.y), (found.z, expected.z)] {
            assert!((a - b).norm() < 1e-15, "{a:?} {b:?}");
        }
    }
}
