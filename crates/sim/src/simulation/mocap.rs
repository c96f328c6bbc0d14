//! Bodies that are moved from outside.

use std::sync::Arc;

use multibody::{Model, mocap_pose};
use spatial::Pose;

use super::Simulation;

/// A body that is moved from outside, and what is fixed to it.
#[derive(Clone, Debug)]
pub(super) struct MocapBody {
    /// The bodies, itself first, with their poses in it.
    parts: Vec<(usize, Pose<f64>)>,
    /// Geoms with their bodies' places among the parts, and their poses in them.
    geoms: Vec<(usize, usize, Pose<f64>)>,
}

impl MocapBody {
    /// Those of a model, in the order of its bodies.
    pub fn all(model: &Model, scene: &geometry::Scene) -> Vec<Self> {
        let of = |body: usize| {
            let parts: Vec<_> = model.fixed_to(body).collect();
            let geom = |(k, geom): (usize, &geometry::Geom)| {
                let part = parts.iter().position(|(part, _)| *part == geom.body)?;
                Some((k, part, geom.pose))
            };
            let geoms = scene.geoms.iter().enumerate().filter_map(geom).collect();
            Self { parts, geoms }
        };
        model.mocap_bodies().map(of).collect()
    }
}

impl Simulation {
    /// Takes bodies that are moved from outside to where the state has them. What moves them has no speed: a step meets them where they are.
    pub(super) fn follow_mocap(&mut self) {
        let Self { mocap, model, state, collider, .. } = self;
        let mut have_moved = false;
        for (body, pose) in mocap.iter().zip(state.mocap.as_chunks::<7>().0) {
            let pose = mocap_pose(pose);
            let (first, _) = body.parts[0];
            if model.bodies[first].pose == pose {
                continue;
            }
            have_moved = true;
            let model = Arc::make_mut(model);
            for (part, in_body) in &body.parts {
                model.bodies[*part].pose = pose * *in_body;
            }
            for (geom, part, in_part) in &body.geoms {
                collider.move_fixed(*geom, model.bodies[body.parts[*part].0].pose * *in_part);
            }
        }
        if have_moved {
            self.queries = None;
            self.state.rests.clear();
        }
    }
}
