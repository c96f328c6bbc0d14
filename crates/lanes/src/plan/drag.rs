//! Bodies that a medium acts on.

use geometry::Scene;
use multibody::{Drag, Model};
use spatial::Mat3;

/// A body in a medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PlanDrag {
    pub body: usize,
    pub node: usize,
}

impl PlanDrag {
    /// Those of a model, and how they are resisted, in the turned axes of their nodes.
    pub fn of_model(model: &Model, turns: &[Mat3<f64>]) -> impl Iterator<Item = (Self, Drag)> {
        let bodies = if model.medium.is_there() { &model.bodies[..] } else { &[] };
        bodies.iter().enumerate().filter_map(|(k, body)| {
            let node = body.node?;
            let drag = Drag::new(model.medium, &body.inertia, body.axes, body.pose)?;
            Some((Self { body: k, node }, drag.turned(&turns[node])))
        })
    }

    /// Whether the medium acts on ellipsoids in place of some geoms, which lanes leave to a simulation.
    pub fn has_ellipsoids(model: &Model, scene: &Scene) -> bool {
        model.medium.is_there() && scene.geoms.iter().any(|geom| geom.fluid_ellipsoid().is_some())
    }
}
