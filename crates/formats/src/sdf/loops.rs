//! Joints that close loops, as equality constraints.

use multibody::{Compliance, Equality, EqualityKind, JointKind};
use spatial::{Pose, Vec3};

use super::joint::AxisJoint;

/// Half the distance of the two points that hold an axis, m.
const HALF_HINGE: f64 = 0.05;

/// One side of a joint.
#[derive(Clone, Copy)]
pub(super) struct End {
    /// The body.
    pub body: usize,
    /// The joint's frame in the body's.
    pub joint: Pose<f64>,
}

/// The constraints that leave two bodies the motion of a joint, `ends` its parent and its child; none for joints that this cannot be done for.
pub(super) fn constraints(name: &str, ends: [End; 2], motion: &[AxisJoint<'_>]) -> Option<Vec<Equality>> {
    let bodies = ends.map(|end| end.body);
    let equality = |name: String, kind| Equality { name, kind, compliance: Compliance::NearRigid, active: true };
    let connect = |name: String, point: Vec3<f64>| {
        equality(name, EqualityKind::Connect { bodies, anchors: ends.map(|end| end.joint.pos + end.joint.rot * point) })
    };
    match motion {
        [] => {
            let frames = ends.map(|end| end.joint);
            Some(vec![equality(name.into(), EqualityKind::Weld { bodies, frames, torque_scale: 1.0 })])
        }
        [AxisJoint { spec, .. }] => match spec.kind {
            JointKind::Ball => Some(vec![connect(name.into(), Vec3::ZERO)]),
            JointKind::Revolute { axis } => {
                // The axis is in the child's frame.
                let axis = ends[1].joint.rot.conjugate() * (axis * HALF_HINGE);
                Some(vec![connect(name.into(), axis), connect(format!("{name}_2"), -axis)])
            }
            _ => None,
        },
        _ => None,
    }
}
