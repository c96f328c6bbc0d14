//! MJCF text in, model and scene out: one concept a file, small models written for the purpose.

mod actuators;
mod bad_input;
mod builtin;
mod contacts;
mod defaults;
mod equalities;
mod files;
mod geoms;
mod inertia;
mod joints;
mod kinds;
mod lenient;
mod limits;
mod mutilated;
mod orientation;
mod replicas;
mod round_trips;
mod scale;
mod sensors;
mod tendons;
mod warnings;

use sapwood_formats::{LoadError, LoadOptions, Loaded};

/// The model of `<mujoco>` text.
fn load(text: &str) -> Loaded {
    try_load(text).unwrap_or_else(|error| panic!("{error}"))
}

/// The model of `<mujoco>` text, or the error.
fn try_load(text: &str) -> Result<Loaded, LoadError> {
    sapwood_formats::load_str(text, None, &LoadOptions::default())
}

/// A model with this in its worldbody.
fn world(content: &str) -> Loaded {
    load(&format!("<mujoco><worldbody>{content}</worldbody></mujoco>"))
}

/// Whether two sequences of numbers agree to `tolerance`.
fn close(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() <= tolerance)
}
