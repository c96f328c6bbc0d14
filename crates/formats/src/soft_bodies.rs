//! Soft bodies that stand in a body, and where they are once the model is known.

use std::sync::Arc;

use deformable::{SoftBody, SoftBodyDescription};
use geometry::{Scene, SoftAttachment};
use multibody::Model;
use spatial::{Pose, Vec3};

/// A soft body that stands in a body: its mesh is in the frame of that body, which holds the nodes that are pinned.
#[derive(Clone, Debug)]
pub struct StandingSoftBody {
    /// The body; the world is 0.
    pub body: usize,
    /// What it is made of.
    pub description: SoftBodyDescription,
    /// Nodes that other bodies hold, or the same one elsewhere: the node, the body, the point in its frame, m.
    pub held: Vec<(u32, usize, Vec3<f64>)>,
}

impl StandingSoftBody {
    /// Adds it to a scene where it is when the bodies are at `poses`, with all of `mass` (kg) if that is given. The world, and what is
    /// fixed in it, pins nodes; a body that moves holds them.
    ///
    /// # Errors
    /// As [`SoftBody::new`].
    pub(crate) fn add_to(
        self,
        scene: &mut Scene,
        model: &Model,
        poses: &[Pose<f64>],
        mass: Option<f64>,
    ) -> Result<(), deformable::Error> {
        let Self { body, mut description, held } = self;
        let soft = scene.soft_bodies.len();
        let hold = |(node, body, point)| SoftAttachment { soft, node, body, point };
        if model.bodies[body].node.is_some() {
            let local = description.mesh.positions();
            let pinned = description.pinned.iter().filter_map(|&node| Some((node, body, *local.get(node as usize)?)));
            scene.soft_attachments.extend(pinned.map(hold));
            description.pinned.clear();
        }
        let (moving, fixed): (Vec<_>, Vec<_>) =
            held.into_iter().partition(|(_, body, _)| model.bodies[*body].node.is_some());
        scene.soft_attachments.extend(moving.into_iter().map(hold));
        description.pinned.extend(fixed.into_iter().map(|(node, _, _)| node));
        if body != 0 {
            description.mesh = description.mesh.transformed(|x| poses[body].transform_point(x))?;
        }
        let mut body = SoftBody::new(description)?;
        if let Some(mass) = mass {
            body = body.with_total_mass(mass);
        }
        scene.soft_bodies.push(Arc::new(body));
        Ok(())
    }
}
