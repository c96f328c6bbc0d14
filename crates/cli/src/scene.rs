//! The model of a run: a file, a character, a scene, or the embedded one.

use anyhow::Result;
use formats::{LoadOptions, Loaded};
use models::characters;

use crate::arguments::ReadArguments;
use crate::source::{Source, instead_of};

/// A humanoid that falls onto the ground among a few boxes.
const EMBEDDED: &str = include_str!("../scenes/falling-humanoid.xml");

/// Loads the source, or the embedded scene for `None`, with a level ground at the height `ground` if one is given, which replaces that of
/// a character.
pub fn load(source: Option<&Source>, ground: Option<f64>, arguments: &ReadArguments) -> Result<Loaded> {
    let options = LoadOptions {
        package_path: arguments.package_path.clone(),
        floating_base: arguments.floating_base,
        ..LoadOptions::default()
    };
    let mut loaded = match source {
        Some(Source::File(path)) => {
            formats::load(path, &options).map_err(|error| error.with_hint(instead_of(path).as_deref()))?
        }
        Some(Source::Named(named)) => {
            let text = named.mjcf(&characters::Options { ground: ground.is_none(), ..Default::default() });
            formats::load_str(&text, None, &options)?
        }
        None => formats::load_str(EMBEDDED, None, &options)?,
    };
    if let Some(height) = ground {
        formats::add_ground(&mut loaded, height);
    }
    Ok(loaded)
}
