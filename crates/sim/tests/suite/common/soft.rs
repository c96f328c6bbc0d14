//! Worlds with soft bodies.

use std::sync::Arc;

use deformable::{Material, SoftBody, SoftBodyDescription, TetMesh};
use geometry::SoftAttachment;
use sapwood_sim::{Options, Simulation};
use spatial::Vec3;

/// The rigid world of MJCF text with soft bodies, some of their nodes held.
pub fn soft(mjcf: &str, bodies: Vec<SoftBody>, holds: Vec<SoftAttachment>, options: Options) -> Simulation {
    let mut loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    loaded.scene.soft_bodies = bodies.into_iter().map(Arc::new).collect();
    loaded.scene.soft_attachments = holds;
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap()
}

/// A box of cells, its lowest face `clearance` above the ground.
pub fn cuboid(lengths: [f64; 3], cells: [usize; 3], clearance: f64, material: Material) -> SoftBody {
    let mesh = TetMesh::cuboid(lengths.into(), cells).unwrap();
    let up = Vec3::new(0.0, 0.0, 0.5 * lengths[2] + clearance);
    let mesh = mesh.transformed(|x| x + up).unwrap();
    SoftBody::new(SoftBodyDescription { friction: 0.8, ..SoftBodyDescription::new("cube", mesh, material) }).unwrap()
}

pub fn run(s: &mut Simulation, time: f64) {
    let steps = (time / s.timestep()).round() as usize;
    (0..steps).for_each(|_| s.step().unwrap());
}

/// The force that soft bodies' contacts put on their partners, N.
pub fn contact_force(s: &Simulation) -> Vec3<f64> {
    let sum = s.soft_contacts().iter().fold(Vec3::ZERO, |sum, contact| sum + contact.impulse_world());
    sum * (1.0 / s.last_timestep().unwrap())
}
