//! What the equality constraints of a model ask to be zero, written down from their definitions.

use multibody::{Coordinate, EqualityKind, Kinematics, Model};
use spatial::Pose;

/// The residuals of every equality constraint at the configuration `q`: of points first − second, of frames then the
/// vector part of the quaternion of the first in the second, of distances and couplings what is too much.
pub fn residuals(model: &Model, q: &[f64]) -> Vec<Vec<f64>> {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
    let pose = |body: usize| match model.bodies[body].node {
        Some(n) => Pose::new(kinematics.frames[n].pos, kinematics.frames[n].quat) * model.bodies[body].pose,
        None => model.bodies[body].pose,
    };
    let coordinate = |c: Coordinate| match c {
        Coordinate::Joint(joint) => q[model.joints[joint].q],
        Coordinate::Tendon(tendon) => model.tendons[tendon].terms.iter().map(|&(j, c)| c * q[model.joints[j].q]).sum(),
    };
    let residual = |kind: &EqualityKind| match kind {
        EqualityKind::Connect { bodies: [a, b], anchors } => {
            (pose(*a).transform_point(anchors[0]) - pose(*b).transform_point(anchors[1])).to_array().to_vec()
        }
        EqualityKind::Weld { bodies: [a, b], frames } => {
            let (first, second) = (pose(*a) * frames[0], pose(*b) * frames[1]);
            let turn = second.rot.conjugate() * first.rot;
            let apart = first.pos - second.pos;
            vec![apart.x, apart.y, apart.z, turn.x, turn.y, turn.z]
        }
        EqualityKind::Distance { bodies: [a, b], anchors, distance } => {
            vec![(pose(*a).transform_point(anchors[0]) - pose(*b).transform_point(anchors[1])).norm() - distance]
        }
        EqualityKind::Coupling { y, x, polynomial } => {
            let x = x.map_or(0.0, |(x, reference)| coordinate(x) - reference);
            let p = polynomial.iter().rev().fold(0.0, |sum, c| sum * x + c);
            vec![coordinate(y.0) - y.1 - p]
        }
    };
    model.equalities.iter().map(|equality| residual(&equality.kind)).collect()
}
