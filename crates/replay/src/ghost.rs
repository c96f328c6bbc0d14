//! A reference beside what was simulated: pale bodies that touch nothing.

use geometry::{Geom, Scene, Shape};
use multibody::{Body, Model};

use crate::recording::Recording;

/// Pale blue, through which the bodies are seen.
const PALE: [f32; 4] = [0.36, 0.55, 0.85, 0.3];

/// Ghosts are smaller by so much, m: they lie within what is where it should be.
const WITHIN: f64 = 0.004;

/// The recording of a model with a ghost of it at the positions `q`, (frames, nq): what the page shows of a reference that the model
/// should follow. Bodies that move have a second, pale one of the name `reference of …`, and so has what there is to see of them.
///
/// # Panics
/// When the recording is one of another model, or `q` does not have as many frames.
pub fn with_ghost(model: &Model, scene: &Scene, mut recording: Recording, q: &[f64]) -> (Model, Scene, Recording) {
    let count = model.bodies.len();
    let moving: Vec<usize> = (0..count).filter(|&body| model.bodies[body].node.is_some()).collect();
    let ghost_of = |body: usize| moving.binary_search(&body).map_or(0, |place| count + place);

    let reference = Recording::of_positions(model, q.to_vec(), recording.len(), recording.frame_time);
    let mut shown = model.clone();
    shown.bodies.extend(moving.iter().map(|&body| {
        let Body { name, parent, .. } = &model.bodies[body];
        let (name, parent) = (format!("reference of {name}"), ghost_of(*parent));
        Body { name, parent, node: None, ..model.bodies[body].clone() }
    }));
    let mut all = scene.clone();
    let pale = scene.geoms.iter().filter(|geom| moving.contains(&geom.body)).map(|geom| {
        let rgba = if geom.rgba[3] > 0.0 { PALE } else { geom.rgba };
        let (body, shape) = (ghost_of(geom.body), within(&geom.shape));
        Geom { body, shape, contype: 0, conaffinity: 0, rgba, look: None, ..geom.clone() }
    });
    all.geoms.extend(pale);

    let mut poses = Vec::with_capacity(recording.len() * shown.bodies.len());
    for (own, ghost) in recording.poses.chunks_exact(count).zip(reference.poses.chunks_exact(count)) {
        poses.extend_from_slice(own);
        poses.extend(moving.iter().map(|&body| ghost[body]));
    }
    recording.poses = poses;
    (shown, all, recording)
}

fn within(shape: &Shape) -> Shape {
    let less = |size: f64| (size - WITHIN).max(0.5 * size);
    match shape {
        Shape::Sphere { radius } => Shape::Sphere { radius: less(*radius) },
        Shape::Capsule { radius, half_length } => Shape::Capsule { radius: less(*radius), half_length: *half_length },
        Shape::Cylinder { radius, half_length } => {
            Shape::Cylinder { radius: less(*radius), half_length: less(*half_length) }
        }
        Shape::Ellipsoid { radii } => Shape::Ellipsoid { radii: radii.map(less) },
        Shape::Box { half_extents } => Shape::Box { half_extents: half_extents.map(less) },
        Shape::Plane { .. } | Shape::Mesh(_) | Shape::HeightField(_) => shape.clone(),
    }
}
