//! `replay.html`: the player page with the motion inside it, as `docs/replay-format.md` describes.

use std::io;

use geometry::Scene;
use multibody::Model;
use serde::Serialize;
use serde_json::Value;

use crate::recording::Recording;
use crate::strings::Strings;
use crate::{binary, geoms};

/// The player page; empty when it had not been built before this crate was.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/replay.html"));
/// What the page holds in the place of a replay.
const PLACEHOLDER: &str = "/*SAPWOOD_REPLAY*/null";

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The player had not been built when this crate was.
    #[error("built without the replay page")]
    NoPlayer,
    /// There is nothing to play.
    #[error("a recording without frames: expected at least one")]
    NoFrames,
    /// The summary is no JSON.
    #[error("the summary: {0}")]
    Summary(#[from] serde_json::Error),
    /// The data could not be packed.
    #[error(transparent)]
    Packing(#[from] io::Error),
}

/// Whether this build holds the player; [`page`] fails otherwise.
pub fn has_player() -> bool {
    PAGE.contains(PLACEHOLDER)
}

/// The page that plays the recording of a model. `summary` is what its information panel shows, an object.
///
/// # Errors
/// When the build has no player, the recording no frame, or the summary is no JSON.
///
/// # Panics
/// When the recording is one of another model.
pub fn page(
    model: &Model,
    scene: &Scene,
    recording: &Recording,
    summary: &impl Serialize,
) -> Result<String, PageError> {
    let (before, after) = PAGE.split_once(PLACEHOLDER).ok_or(PageError::NoPlayer)?;
    // Inside a string, so that no name can end the script element.
    let json = serde_json::to_string(&replay(model, scene, recording, summary)?)?.replace('<', "\\u003c");
    Ok([before, &json, after].concat())
}

/// The JSON object of the format.
#[derive(Serialize)]
struct Replay<'a, S> {
    format: u32,
    name: &'a str,
    up: &'static str,
    dt_frame: f64,
    frames: usize,
    bodies: Vec<&'a str>,
    parents: Vec<i64>,
    geoms: Vec<Value>,
    meshes: Vec<Value>,
    textures: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sky: Option<usize>,
    encoding: &'static str,
    poses: String,
    contacts: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    soft: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_positions: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    soft_stress: Option<SoftStress>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    strings: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    string_points: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    markers: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<Value>,
    series: Series<'a>,
    summary: &'a S,
}

/// Von Mises stresses of the nodes on the surfaces of soft bodies, as parts of 255 of a scale.
#[derive(Serialize)]
struct SoftStress {
    /// The end of the scale, Pa.
    most: f64,
    /// Base64 of gzip of a byte a node, frame by frame.
    values: String,
}

impl SoftStress {
    fn new(stresses: &[f32]) -> Result<Option<Self>, PageError> {
        if stresses.is_empty() {
            return Ok(None);
        }
        let most = scale_end(stresses);
        let byte = |stress: &f32| (f64::from(*stress) / most * 255.0).round().clamp(0.0, 255.0) as u8;
        let bytes: Vec<u8> = stresses.iter().map(byte).collect();
        Ok(Some(Self { most, values: binary::gzip_base64(&bytes)? }))
    }
}

/// A round number, 1, 2 or 5 times a power of ten, that one in a hundred stresses exceeds: peaks at single nodes do not make all others
/// look alike.
fn scale_end(stresses: &[f32]) -> f64 {
    let mut sorted: Vec<f32> = stresses.iter().copied().filter(|stress| stress.is_finite()).collect();
    let place = (sorted.len() * 99 / 100).min(sorted.len().saturating_sub(1));
    let most = sorted
        .get_mut(..)
        .filter(|list| !list.is_empty())
        .map_or(0.0, |list| *list.select_nth_unstable_by(place, f32::total_cmp).1);
    let most = f64::from(most).max(1e-12);
    let power = 10f64.powi(most.log10().floor() as i32);
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|factor| factor * power).find(|end| *end >= most).unwrap_or(most)
}

/// A list per quantity; without those that the recording does not have.
#[derive(Serialize)]
struct Series<'a> {
    time: &'a [f64],
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    kinetic: &'a [f64],
    #[serde(skip_serializing_if = "<[f64]>::is_empty")]
    potential: &'a [f64],
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    contacts: &'a [u32],
    #[serde(skip_serializing_if = "<[u32]>::is_empty")]
    newton_iterations: &'a [u32],
}

fn replay<'a, S: Serialize>(
    model: &'a Model,
    scene: &Scene,
    recording: &'a Recording,
    summary: &'a S,
) -> Result<Replay<'a, S>, PageError> {
    let frames = recording.even_frames;
    if frames == 0 {
        return Err(PageError::NoFrames);
    }
    let poses = binary::poses(&recording.poses[..frames * model.bodies.len()], frames);
    let parents = model.bodies.iter().enumerate().map(|(i, body)| if i == 0 { -1 } else { body.parent as i64 });
    // Motions that were not simulated have no soft bodies.
    let channels = recording.soft_surface.len().checked_div(recording.len()).unwrap_or(0);
    let has_soft = channels > 0;
    let soft_numbers =
        || binary::deltas(channels, frames, |channel, frame| recording.soft_surface[frame * channels + channel]);
    let geoms::Encoded { geoms, meshes, textures, sky } = geoms::encode(scene)?;
    let Strings { list: strings, points } = Strings::new(model, recording, frames);
    let free = points.len() / frames;
    let free_points = || binary::deltas(free, frames, |channel, frame| points[frame * free + channel]);
    let markers = recording.drawn.markers(frames);
    Ok(Replay {
        format: 1,
        name: if model.name.is_empty() { "Sapwood" } else { &model.name },
        up: "z",
        dt_frame: recording.frame_time,
        frames,
        bodies: model.bodies.iter().map(|body| body.name.as_str()).collect(),
        parents: parents.collect(),
        geoms,
        meshes,
        textures,
        sky,
        encoding: "f32-delta",
        poses: binary::gzip_base64(&poses)?,
        contacts: binary::gzip_base64(&binary::contacts(recording))?,
        soft: if has_soft { geoms::encode_soft(scene) } else { Vec::new() },
        soft_stress: SoftStress::new(first(&recording.soft_stress, frames * channels / 3))?,
        soft_positions: has_soft.then(|| binary::gzip_base64(&soft_numbers())).transpose()?,
        strings,
        string_points: (free > 0).then(|| binary::gzip_base64(&free_points())).transpose()?,
        markers: (!markers.is_empty()).then(|| binary::gzip_base64(&markers)).transpose()?,
        labels: recording.drawn.labels(frames),
        series: Series {
            time: first(&recording.time, frames),
            kinetic: first(&recording.kinetic, frames),
            potential: first(&recording.potential, frames),
            contacts: first(&recording.contacts, frames),
            newton_iterations: first(&recording.iterations, frames),
        },
        summary,
    })
}

/// The first entries of a list that may have none.
fn first<T>(list: &[T], frames: usize) -> &[T] {
    &list[..frames.min(list.len())]
}
