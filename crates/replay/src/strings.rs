//! Spatial tendons as the player takes them.

use std::iter;

use multibody::{DrawnPoint, Model, Tendon};
use serde_json::{Value, json};
use spatial::Pose;

use crate::recording::Recording;

/// What there is to see of spatial tendons, as `docs/replay-format.md` describes it.
#[derive(Debug, Default)]
pub struct Strings {
    /// A string for each branch of each tendon that is drawn.
    pub list: Vec<Value>,
    /// The points that no body carries, (frames, points, 3), world, m.
    pub points: Vec<f32>,
}

impl Strings {
    /// The strings of the first `frames` frames, at least one.
    pub fn new(model: &Model, recording: &Recording, frames: usize) -> Self {
        let bodies = model.bodies.len();
        let mut strings = Self::default();
        for (frame, poses) in recording.poses.chunks_exact(bodies).take(frames).enumerate() {
            for (tendon, points) in of_frame(model, poses) {
                let free = points.iter().filter_map(|point| match point {
                    DrawnPoint::Free(point) => Some(point.to_array().map(|x| x as f32)),
                    DrawnPoint::Fixed { .. } => None,
                });
                strings.points.extend(free.flatten());
                if frame == 0 {
                    strings.list.push(encode(tendon, &points));
                }
            }
        }
        strings
    }
}

/// The strings that are drawn with the bodies at these poses (nbody), with their tendons.
pub fn of_frame<'a>(
    model: &'a Model,
    poses: &'a [Pose<f64>],
) -> impl Iterator<Item = (&'a Tendon, Vec<DrawnPoint>)> + 'a {
    let seen = model.tendons.iter().filter(|tendon| tendon.look.rgba[3] > 0.0 && tendon.look.radius > 0.0);
    seen.flat_map(move |tendon| iter::repeat(tendon).zip(tendon.drawn(model, poses)))
}

fn encode(tendon: &Tendon, points: &[DrawnPoint]) -> Value {
    let point = |point: &DrawnPoint| match point {
        DrawnPoint::Fixed { body, position } => json!({ "body": body, "pos": position.to_array() }),
        DrawnPoint::Free(_) => Value::Null,
    };
    let look = tendon.look;
    let points: Vec<Value> = points.iter().map(point).collect();
    json!({ "name": tendon.name, "rgba": look.rgba, "radius": look.radius, "group": look.group, "points": points })
}
