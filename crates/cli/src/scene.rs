//! The model of a run: a file, a character, a scene, or the embedded one.

use anyhow::Result;
use formats::{LoadOptions, Loaded};
use geometry::{Geom, Shape};
use multibody::Material;
use spatial::{Pose, Vec3};

use crate::arguments::ReadArguments;
use crate::source::Source;

/// A humanoid that falls onto the ground among a few boxes.
const EMBEDDED: &str = include_str!("../scenes/falling-humanoid.xml");

/// Loads the source, or the embedded scene for `None`; `ground` says whether a character stands on one.
pub fn load(source: Option<&Source>, ground: bool, arguments: &ReadArguments) -> Result<Loaded> {
    let options = LoadOptions { package_path: arguments.package_path.clone(), floating_base: arguments.floating_base };
    Ok(match source {
        Some(Source::File(path)) => formats::load(path, &options)?,
        Some(Source::Named(named)) => {
            let text = named.mjcf(&characters::Options { ground, ..Default::default() });
            formats::load_str(&text, None, &options)?
        }
        None => formats::load_str(EMBEDDED, None, &options)?,
    })
}

/// Adds a level ground that everything can touch.
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
    });
}
