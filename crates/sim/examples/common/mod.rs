//! What the examples share.

use std::path::Path;

use formats::{LoadOptions, Loaded};
use models::scenes;

/// A model file, or a scene by its name after `@`.
pub fn load(model: &str) -> Result<Loaded, Box<dyn std::error::Error>> {
    let options = LoadOptions::default();
    Ok(match model.strip_prefix('@') {
        Some(name) => formats::load_str(&scenes::mjcf(name.parse()?), None, &options)?,
        None => formats::load(Path::new(model), &options)?,
    })
}

/// FNV-1a: the same number, the same bits.
#[allow(dead_code, reason = "not every example prints it")]
pub fn fingerprint(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
