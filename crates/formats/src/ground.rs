//! A ground for models that have none.

use geometry::{Geom, Shape};
use multibody::Material;
use spatial::{Pose, Vec3};

use crate::Loaded;

/// Adds a level ground at this height, m, that everything can touch: the last geom, named `ground`.
pub fn add_ground(loaded: &mut Loaded, height: f64) {
    loaded.model.materials.push(Material::default());
    loaded.scene.geoms.push(Geom {
        name: "ground".into(),
        body: 0,
        pose: Pose { pos: Vec3::new(0.0, 0.0, height), ..Pose::IDENTITY },
        shape: Shape::Plane { half_extents: [0.0; 2] },
        contype: u32::MAX,
        conaffinity: u32::MAX,
        material: loaded.model.materials.len() - 1,
        margin: 0.0,
        rgba: [0.85, 0.87, 0.9, 1.0],
        group: 0,
        look: None,
    });
}
