//! The configuration manifold: q ⊞ v and q₁ ⊟ q₀.

use spatial::Quat;

use crate::kinematics::quaternion;
use crate::{JointType, Retraction, Tree};

/// q ← q ⊞ dt v: coordinates of joints with one degree of freedom and positions add, quaternions take the
/// exponential map of the angular velocity in the body's frame. `q` (nq), `v` (nv).
pub fn integrate(tree: &Tree<f64>, q: &mut [f64], v: &[f64], dt: f64) {
    Retraction::Exponential.advance(tree, q, v, dt, 1.0);
}

/// Makes the quaternions in `q` (nq) unit.
pub fn normalize(tree: &Tree<f64>, q: &mut [f64]) {
    for node in &tree.nodes {
        let at = match node.joint {
            JointType::Ball => node.q,
            JointType::Free => node.q + 3,
            _ => continue,
        };
        let Quat { w, x, y, z } = quaternion(&q[at..]);
        q[at..at + 4].copy_from_slice(&[w, x, y, z]);
    }
}

/// The velocity that takes `q0` to `q1` in unit time: v with q1 = q0 ⊞ v, by the shorter arcs. `v` (nv).
pub fn difference(tree: &Tree<f64>, q0: &[f64], q1: &[f64], v: &mut [f64]) {
    for node in &tree.nodes {
        let (iq, iv) = (node.q, node.v);
        match node.joint {
            JointType::Revolute | JointType::Prismatic | JointType::Screw => v[iv] = q1[iq] - q0[iq],
            JointType::Ball => v[iv..iv + 3].copy_from_slice(&arc(&q0[iq..], &q1[iq..])),
            JointType::Free => {
                for k in 0..3 {
                    v[iv + k] = q1[iq + k] - q0[iq + k];
                }
                v[iv + 3..iv + 6].copy_from_slice(&arc(&q0[iq + 3..], &q1[iq + 3..]));
            }
        }
    }
}

fn arc(from: &[f64], to: &[f64]) -> [f64; 3] {
    (quaternion(from).conjugate() * quaternion(to)).rotation_vector().to_array()
}
