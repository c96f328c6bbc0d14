//! SDFormat text in, models and scenes out.

mod frames;
mod geoms;
mod includes;
mod joints;
mod worlds;

use multibody::{Kinematics, Model};
use sapwood_formats::{LoadError, LoadOptions, Loaded, load_str};
use spatial::{Pose, Vec3};

/// Mass 2 kg, inertia 0.1, 0.2, 0.25 kg m².
const INERTIAL: &str =
    "<inertial><mass>2</mass><inertia><ixx>0.1</ixx><iyy>0.2</iyy><izz>0.25</izz></inertia></inertial>";

fn load(text: &str) -> Loaded {
    load_str(text, None, &LoadOptions::default()).unwrap()
}

fn error(text: &str) -> LoadError {
    load_str(text, None, &LoadOptions::default()).unwrap_err()
}

/// A model of this content.
fn model(content: &str) -> String {
    format!("<sdf version=\"1.9\">\n<model name=\"m\">{content}</model>\n</sdf>")
}

/// A world of this content.
fn world(content: &str) -> String {
    format!("<sdf version=\"1.9\">\n<world name=\"w\">{content}</world>\n</sdf>")
}

/// A link with a pose.
fn link(name: &str, pose: &str) -> String {
    format!("<link name=\"{name}\"><pose>{pose}</pose>{INERTIAL}</link>")
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

fn near(found: impl Into<Vec3<f64>>, expected: [f64; 3]) {
    let found = found.into();
    assert!((found - Vec3::from(expected)).norm() < 1e-12, "{found:?} instead of {expected:?}");
}

/// The only warning, which must contain `text`.
fn warns(loaded: &Loaded, text: &str) {
    let warnings: Vec<String> = loaded.model.warnings.iter().map(ToString::to_string).collect();
    assert!(matches!(&warnings[..], [one] if one.contains(text)), "{warnings:?}");
}
