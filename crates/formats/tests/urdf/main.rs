//! URDF text in, models and scenes out.

mod actuators;
mod geoms;
mod inertia;
mod joints;
mod lenient;
mod mimic;
mod packages;
mod tree;

use multibody::{Kinematics, Model};
use sapwood_formats::{LoadError, LoadOptions, Loaded, load_str};
use spatial::Pose;

/// A link of 1 kg.
const INERTIAL: &str = "<inertial><mass value=\"1\"/>\
    <inertia ixx=\"1\" iyy=\"1\" izz=\"1\" ixy=\"0\" ixz=\"0\" iyz=\"0\"/></inertial>";

fn load(text: &str) -> Loaded {
    load_str(text, None, &LoadOptions::default()).unwrap()
}

fn error(text: &str) -> LoadError {
    load_str(text, None, &LoadOptions::default()).unwrap_err()
}

/// A base without mass and an arm of 1 kg that hangs on a joint `j` of this type with this content.
fn arm(kind: &str, content: &str) -> String {
    format!(
        "<robot name=\"r\">\n<link name=\"base\"/>\n<link name=\"arm\">{INERTIAL}</link>\n\
         <joint name=\"j\" type=\"{kind}\"><parent link=\"base\"/><child link=\"arm\"/>{content}</joint>\n</robot>"
    )
}

/// Where the frame of a body is at the configuration `q`.
fn placement(model: &Model, body: &str, q: &[f64]) -> Pose<f64> {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
    let body = &model.bodies[model.body(body).unwrap()];
    match body.node {
        Some(n) => Pose::new(kinematics.frames[n].pos, kinematics.frames[n].quat) * body.pose,
        None => body.pose,
    }
}

fn near(found: [f64; 3], expected: [f64; 3]) {
    let off = found.iter().zip(expected).map(|(f, e)| (f - e).abs()).fold(0.0, f64::max);
    assert!(off < 1e-14, "{found:?} instead of {expected:?}");
}

/// The only warning, which must contain `text`.
fn warns(loaded: &Loaded, text: &str) {
    let warnings: Vec<String> = loaded.model.warnings.iter().map(ToString::to_string).collect();
    assert!(matches!(&warnings[..], [one] if one.contains(text)), "{warnings:?}");
}
