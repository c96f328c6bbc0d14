//! Numbers that reading turns into the bits that were meant.

use multibody::Compliance;
use spatial::{Pose, Quat, Vec3};

use super::super::orientation::unit;
use super::xml::Attributes;

/// Numbers with a space between them, each with the digits that it needs.
pub(super) fn list(values: &[f64]) -> String {
    let mut text = String::with_capacity(8 * values.len());
    for (k, value) in values.iter().enumerate() {
        if k > 0 {
            text.push(' ');
        }
        text.push_str(&number(*value));
    }
    text
}

/// The shortest text that reads as the number.
pub(super) fn number(value: f64) -> String {
    let plain = format!("{value}");
    if plain.len() <= 24 { plain } else { format!("{value:e}") }
}

/// `pos` and `quat`, where they say something.
pub(super) fn pose_attributes(pose: Pose<f64>) -> Attributes {
    attributes(pose, |rot| list(&orientation(rot)))
}

/// `pos` and `quat` of a body, whose quaternion is made a unit one once more when it is added to a model.
pub(super) fn body_attributes(pose: Pose<f64>) -> Attributes {
    attributes(pose, |rot| list(&found(rot, |q| unit(q)?.normalized())))
}

fn attributes(pose: Pose<f64>, written: impl Fn(Quat<f64>) -> String) -> Attributes {
    let mut attributes = Vec::new();
    if pose.pos != Vec3::ZERO {
        attributes.push(("pos", list(&pose.pos.to_array())));
    }
    if pose.rot != Quat::IDENTITY {
        attributes.push(("quat", written(pose.rot)));
    }
    attributes
}

/// The degrees, few digits where they do, that are read as so many radians.
pub(super) fn degrees(radians: f64) -> f64 {
    let near = radians.to_degrees();
    let steps = (0..=8).flat_map(|k| [1.0, -1.0].map(|sign| near * (1.0 + sign * f64::from(k) * f64::EPSILON)));
    std::iter::once(rounded(near)).chain(steps).find(|value| value.to_radians() == radians).unwrap_or(near)
}

/// What becomes `value` when it is divided by its norm `passes` times.
pub(super) fn quaternion(value: Quat<f64>, passes: usize) -> [f64; 4] {
    found(value, |q| (0..passes).try_fold(q, |q, _| q.normalized()))
}

/// What becomes `value` as an orientation.
pub(super) fn orientation(value: Quat<f64>) -> [f64; 4] {
    found(value, unit)
}

/// What is read as `value`.
fn found(value: Quat<f64>, read: impl Fn(Quat<f64>) -> Option<Quat<f64>>) -> [f64; 4] {
    let scaled = |s: f64| Quat::new(value.w * s, value.x * s, value.y * s, value.z * s);
    let found = scales()
        .map(scaled)
        .chain(neighbours(value))
        .find(|q| read(*q).is_some_and(|q| q.to_array() == value.to_array()));
    found.unwrap_or(value).to_array()
}

/// Quaternions whose entries are some places in the last digit away, in some lengths.
fn neighbours(value: Quat<f64>) -> impl Iterator<Item = Quat<f64>> {
    let near = |x: f64, k: u32| x * (1.0 + (f64::from(k) - 2.0) * f64::EPSILON);
    let moved = move |k: u32| {
        Quat::new(near(value.w, k % 5), near(value.x, k / 5 % 5), near(value.y, k / 25 % 5), near(value.z, k / 125))
    };
    let lengths = [1.0, 1.25, 1.5, 1.75, 3.0];
    lengths
        .into_iter()
        .flat_map(move |s| (0..625).map(moved).map(move |q| Quat::new(q.w * s, q.x * s, q.y * s, q.z * s)))
}

/// What becomes `value` when it is divided by its norm.
pub(super) fn direction(value: Vec3<f64>) -> [f64; 3] {
    let found = scales().map(|s| value * s).find(|v| v.normalized().is_some_and(|v| v.to_array() == value.to_array()));
    found.unwrap_or(value).to_array()
}

/// 1, its neighbours, then factors of ordinary size: each rounds otherwise.
fn scales() -> impl Iterator<Item = f64> {
    let near = (1..=8).flat_map(|k| [1.0 + f64::from(k) * f64::EPSILON, 1.0 - f64::from(k) * f64::EPSILON]);
    std::iter::once(1.0).chain(near).chain((3..400).map(|k| f64::from(k) / 7.0))
}

/// `solref` and `solimp` that are read as this compliance; false in the second place if it is a physical one, which MJCF
/// has no words for.
pub(super) fn compliance(value: Compliance, [solref, solimp]: [&'static str; 2]) -> (Attributes, bool) {
    match value {
        Compliance::NearRigid => (Vec::new(), true),
        Compliance::Physical { .. } => (Vec::new(), false),
        Compliance::Reference(reference) => {
            (vec![(solref, list(&reference.solref)), (solimp, list(&reference.solimp))], true)
        }
    }
}

fn rounded(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}
