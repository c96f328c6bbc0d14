//! By how much a configuration misses the equality constraints.

use crate::{Coordinate, EqualityKind, Kinematics, Model};

impl Coordinate {
    /// Its value at the configuration `q` (nq) of the model.
    pub fn value(self, model: &Model, q: &[f64]) -> f64 {
        match self {
            Self::Joint(joint) => q[model.joints[joint].q],
            Self::Tendon(tendon) => model.tendons[tendon].length(model, q),
        }
    }
}

impl EqualityKind {
    /// The number of scalar equations.
    pub const fn rows(&self) -> usize {
        match self {
            Self::Connect { .. } => 3,
            Self::Weld { .. } => 6,
            Self::Distance { .. } | Self::Coupling { .. } => 1,
        }
    }
}

/// By how much `q` (nq) misses the equality constraints, active or not, after [`crate::forward_kinematics`] at `q`: their
/// rows in order, 0 where they hold.
///
/// A connect has the first point less the second (m, in world axes); a weld the same of its origins, then the rotation
/// vector from the second frame to the first (rad, in the axes of the second); a distance what is too much (m); a
/// coupling y − y₀ − p(x − x₀).
pub fn equality_residuals(model: &Model, kinematics: &Kinematics<f64>, q: &[f64], residuals: &mut Vec<f64>) {
    residuals.clear();
    let pose = |body: usize| kinematics.body_pose(model, body);
    for equality in &model.equalities {
        match &equality.kind {
            EqualityKind::Connect { bodies: [a, b], anchors } => {
                let apart = pose(*a).transform_point(anchors[0]) - pose(*b).transform_point(anchors[1]);
                residuals.extend(apart.to_array());
            }
            EqualityKind::Weld { bodies: [a, b], frames, .. } => {
                let (first, second) = (pose(*a) * frames[0], pose(*b) * frames[1]);
                residuals.extend((first.pos - second.pos).to_array());
                residuals.extend((second.rot.conjugate() * first.rot).unit().rotation_vector().to_array());
            }
            EqualityKind::Distance { bodies: [a, b], anchors, distance } => {
                let apart = pose(*a).transform_point(anchors[0]) - pose(*b).transform_point(anchors[1]);
                residuals.push(apart.norm() - distance);
            }
            EqualityKind::Coupling { y: (y, y0), x, polynomial } => {
                let x = x.map_or(0.0, |(x, x0)| x.value(model, q) - x0);
                let (p, _) = crate::polynomial(polynomial, x);
                residuals.push(y.value(model, q) - y0 - p);
            }
        }
    }
}
