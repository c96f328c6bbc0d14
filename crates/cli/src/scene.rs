//! The model of a run: a file, or the embedded scene.

use std::path::Path;
use std::sync::Arc;

use anyhow::Result;
use formats::LoadOptions;
use geometry::Scene;
use multibody::Model;

use crate::arguments::ReadArguments;

/// A humanoid that falls onto the ground among a few boxes.
const EMBEDDED: &str = include_str!("../scenes/falling-humanoid.xml");

/// Loads the file, or the embedded scene for `None`.
pub fn load(path: Option<&Path>, arguments: &ReadArguments) -> Result<(Arc<Model>, Arc<Scene>)> {
    let options = LoadOptions { package_path: arguments.package_path.clone(), floating_base: arguments.floating_base };
    let loaded = match path {
        Some(path) => formats::load(path, &options)?,
        None => formats::load_str(EMBEDDED, None, &options)?,
    };
    Ok((Arc::new(loaded.model), Arc::new(loaded.scene)))
}
