//! The model of a run: a file, a character, a scene, or the embedded one.

use anyhow::Result;
use formats::{LoadOptions, Loaded};

use crate::arguments::ReadArguments;
use crate::source::{Source, instead_of};

/// A humanoid that falls onto the ground among a few boxes.
const EMBEDDED: &str = include_str!("../scenes/falling-humanoid.xml");

/// Loads the source, or the embedded scene for `None`; `ground` says whether a character stands on one.
pub fn load(source: Option<&Source>, ground: bool, arguments: &ReadArguments) -> Result<Loaded> {
    let options = LoadOptions { package_path: arguments.package_path.clone(), floating_base: arguments.floating_base };
    Ok(match source {
        Some(Source::File(path)) => {
            formats::load(path, &options).map_err(|error| error.with_hint(instead_of(path).as_deref()))?
        }
        Some(Source::Named(named)) => {
            let text = named.mjcf(&characters::Options { ground, ..Default::default() });
            formats::load_str(&text, None, &options)?
        }
        None => formats::load_str(EMBEDDED, None, &options)?,
    })
}
