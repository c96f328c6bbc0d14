//! `replay.html`: the player page with the motion inside it, as `docs/replay-format.md` describes.

mod binary;
mod geoms;

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;
use sim::Simulation;

use crate::recording::Recording;
use crate::summary::Summary;

/// The player page; empty when it had not been built before the command was.
const PAGE: &str = include_str!(concat!(env!("OUT_DIR"), "/replay.html"));
/// What the page holds in the place of a replay.
const PLACEHOLDER: &str = "/*SAPWOOD_REPLAY*/null";

/// The page that plays the recording, or `None` when the command was built without the player.
pub fn page(simulation: &Simulation, recording: &Recording, summary: &Summary) -> Result<Option<String>> {
    let Some((before, after)) = PAGE.split_once(PLACEHOLDER) else {
        return Ok(None);
    };
    // Inside a string, so that no name can end the script element.
    let json = serde_json::to_string(&replay(simulation, recording, summary)?)?.replace('<', "\\u003c");
    Ok(Some([before, &json, after].concat()))
}

/// The JSON object of the format.
#[derive(Serialize)]
struct Replay<'a> {
    format: u32,
    name: &'a str,
    up: &'static str,
    dt_frame: f64,
    frames: usize,
    bodies: Vec<&'a str>,
    parents: Vec<i64>,
    geoms: Vec<Value>,
    meshes: Vec<Value>,
    encoding: &'static str,
    poses: String,
    contacts: String,
    series: Series<'a>,
    summary: &'a Summary,
}

#[derive(Serialize)]
struct Series<'a> {
    time: &'a [f64],
    kinetic: &'a [f64],
    potential: &'a [f64],
    contacts: &'a [u32],
    newton_iterations: &'a [u32],
}

fn replay<'a>(simulation: &'a Simulation, recording: &'a Recording, summary: &'a Summary) -> Result<Replay<'a>> {
    let model = simulation.model();
    let frames = recording.even_frames;
    let poses = binary::poses(&recording.poses[..frames * model.bodies.len()], frames);
    let parents = model.bodies.iter().enumerate().map(|(i, body)| if i == 0 { -1 } else { body.parent as i64 });
    let (geoms, meshes) = geoms::encode(simulation.scene());
    Ok(Replay {
        format: 1,
        name: if model.name.is_empty() { "Sapwood" } else { &model.name },
        up: "z",
        dt_frame: recording.stride as f64 * simulation.timestep(),
        frames,
        bodies: model.bodies.iter().map(|body| body.name.as_str()).collect(),
        parents: parents.collect(),
        geoms,
        meshes,
        encoding: "f32-delta",
        poses: binary::gzip_base64(&poses)?,
        contacts: binary::gzip_base64(&binary::contacts(recording))?,
        series: Series {
            time: &recording.time[..frames],
            kinetic: &recording.kinetic[..frames],
            potential: &recording.potential[..frames],
            contacts: &recording.contacts[..frames],
            newton_iterations: &recording.iterations[..frames],
        },
        summary,
    })
}
