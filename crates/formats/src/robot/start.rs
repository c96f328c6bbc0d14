//! Robots whose joints start away from 0 are drawn where they start, as MJCF draws bodies.

use multibody::{Coordinate, EqualityKind, JointKind, Model, ModelBuilder};
use spatial::{Pose, Quat, Vec3};

/// Draws each body that one coordinate moves where the default configuration of `model`, which was built from `builder`, has it: the pose of
/// the body and the reference of its joint change together, the motion does not. Coupled joints are coupled about their references.
/// Whether anything was changed.
pub(crate) fn draw_where_it_starts(builder: &mut ModelBuilder, model: &Model) -> bool {
    let mut changed = false;
    for joint in model.joints.iter().filter(|joint| joint.kind.nv() == 1) {
        let start = model.q0[joint.q];
        let Some(spec) = builder.joint_mut(joint.body, 0).filter(|spec| spec.name == joint.name) else { continue };
        let by = start - spec.reference;
        if by == 0.0 {
            continue;
        }
        spec.reference = start;
        if let Some(body) = builder.body_mut(joint.body) {
            body.pose = body.pose * motion(joint.kind, joint.anchor, by);
            // Twice, as readers of files do: then the text of a file leads to the same bits.
            for _ in 0..2 {
                body.pose.rot = body.pose.rot.normalized().unwrap_or(body.pose.rot);
            }
        }
        changed = true;
    }
    if changed {
        couple_about_references(builder, model);
    }
    changed
}

/// y − y₀ = p(x − x₀) with both references where the joints are drawn, for p of first degree.
fn couple_about_references(builder: &mut ModelBuilder, model: &Model) {
    let start = |coordinate: Coordinate| match coordinate {
        Coordinate::Joint(joint) => model.joints.get(joint).map(|joint| model.q0[joint.q]),
        Coordinate::Tendon(_) => None,
    };
    for equality in &mut builder.equalities {
        let EqualityKind::Coupling { y, x, polynomial } = &mut equality.kind else { continue };
        let (Some(of_y), of_x) = (start(y.0), x.map(|(x, _)| start(x))) else { continue };
        let by_x = match (&x, of_x) {
            (Some((_, reference)), Some(Some(of_x))) => of_x - *reference,
            (None, _) => 0.0,
            _ => continue,
        };
        if polynomial[2..].iter().any(|c| *c != 0.0) {
            continue;
        }
        polynomial[0] += polynomial[1] * by_x + y.1 - of_y;
        y.1 = of_y;
        if let Some((_, reference)) = x {
            *reference += by_x;
        }
    }
}

/// The motion by a hinge or a slide; none by other joints.
pub(crate) fn motion(kind: JointKind, anchor: Vec3<f64>, by: f64) -> Pose<f64> {
    match kind {
        JointKind::Prismatic { axis } => Pose::new(axis * by, Quat::IDENTITY),
        JointKind::Revolute { axis } => {
            let rot = Quat::from_axis_angle(axis, by);
            Pose::new(anchor - rot * anchor, rot)
        }
        _ => Pose::IDENTITY,
    }
}
