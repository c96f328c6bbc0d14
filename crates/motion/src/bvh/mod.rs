//! The Biovision hierarchy.
//!
//! `HIERARCHY` lists joints with offsets and channels, `MOTION` one row of numbers per frame, in the order of the
//! channels. A joint's rotation is the product of its channels' elementary rotations, the first channel outermost, about
//! the axes of its parent's frame; angles are in degrees. The root's position is its offset plus its position channels.
//! Position channels of other joints (exporters repeat the offset there) are read over: bones keep their length.

mod frames;
mod hierarchy;
mod words;

use std::path::Path;

use multibody::Warning;

use crate::error::read_text;
use crate::{Axes, Clip, LoopMode, ReadError, Skeleton};
use words::Words;

/// How a file is meant.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Metres per unit of length; 0.01 for files in centimetres.
    pub scale: f64,
    /// Which way is up and forwards.
    pub axes: Axes,
    /// What follows after the last frame.
    pub loop_mode: LoopMode,
}

impl Default for Options {
    fn default() -> Self {
        Self { scale: 1.0, axes: Axes::default(), loop_mode: LoopMode::Clamp }
    }
}

/// What a file holds: a figure, and how it moves.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Names, parents and offsets, in our axes and in metres.
    pub skeleton: Skeleton,
    /// The rotations of the skeleton's joints, over its [`Skeleton::channels`].
    pub clip: Clip,
    /// What was read and not used.
    pub warnings: Vec<Warning>,
}

/// Reads a file; the clip is named after it.
///
/// # Errors
/// As [`parse`], or when the file cannot be read.
pub fn load(path: &Path, options: &Options) -> Result<Loaded, ReadError> {
    let (text, file) = read_text(path, "BVH")?;
    parse(&text, &file, options)
}

/// Reads text; `file` names it in messages.
///
/// # Errors
/// When a keyword, name or number is missing, a number is not finite, a row is short or long, frames are more or fewer
/// than announced, or two joints have one name.
pub fn parse(text: &str, file: &str, options: &Options) -> Result<Loaded, ReadError> {
    if !(options.scale > 0.0 && options.scale.is_finite()) {
        return Err(ReadError::new(file, 0, format!("scale {}: expected a finite number above 0", options.scale)));
    }
    let mut words = Words::new(text, file);
    let nodes = hierarchy::read(&mut words)?;
    let (times, rows) = frames::read(&mut words, &nodes)?;
    let whole = |error: String| ReadError::new(file, 0, error);
    let skeleton = hierarchy::skeleton(&nodes, options).map_err(|e| whole(e.to_string()))?;
    let postures = rows.iter().map(|row| frames::posture(&nodes, row, options)).collect();
    let name = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
    let clip =
        Clip::new(&name, skeleton.channels(), times, postures, options.loop_mode).map_err(|e| whole(e.to_string()))?;
    Ok(Loaded { skeleton, clip, warnings: frames::warnings(&nodes, &rows, file) })
}
