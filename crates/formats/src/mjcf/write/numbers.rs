//! Numbers that reading turns into the bits that were meant.

use multibody::Compliance;
use spatial::{Pose, Quat, Vec3};

use super::super::compliance::{Impedance, Side, Spring, spring};
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

/// `pos` and `quat`, where they say something; reading makes the quaternion a unit one so many times.
pub(super) fn pose_attributes(pose: Pose<f64>, passes: usize) -> Attributes {
    let mut attributes = Vec::new();
    if pose.pos != Vec3::ZERO {
        attributes.push(("pos", list(&pose.pos.to_array())));
    }
    if pose.rot != Quat::IDENTITY {
        attributes.push(("quat", list(&quaternion(pose.rot, passes))));
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
    let array = |q: Quat<f64>| [q.w, q.x, q.y, q.z];
    let read = |q: Quat<f64>| (0..passes).try_fold(q, |q, _| q.normalized());
    let scaled = |s: f64| Quat::new(value.w * s, value.x * s, value.y * s, value.z * s);
    let found = scales().map(scaled).find(|q| read(*q).is_some_and(|q| array(q) == array(value)));
    array(found.unwrap_or(value))
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
pub(super) fn compliance(value: Compliance, [solref, solimp]: [&'static str; 2], side: Side) -> (Attributes, bool) {
    match value {
        Compliance::NearRigid => (Vec::new(), true),
        Compliance::Physical { .. } => (Vec::new(), false),
        Compliance::PerMass { stiffness, relaxation } => {
            let (impedance, [first, second]) = solver_reference(stiffness, relaxation, side);
            let impedance = format!("{impedance} {impedance} 0.001 0.5 2");
            (vec![(solref, list(&[first, second])), (solimp, impedance)], true)
        }
    }
}

/// A constant impedance and the pair of numbers that with it are read as this stiffness and relaxation time.
fn solver_reference(stiffness: f64, relaxation: f64, side: Side) -> (f64, [f64; 2]) {
    let given = |d: f64| match side {
        Side::One => stiffness * (1.0 - d),
        Side::Both => stiffness,
    };
    let misses = |found: Spring| {
        (found.stiffness - stiffness).abs() / stiffness
            + (found.relaxation - relaxation).abs() / relaxation.max(f64::MIN_POSITIVE)
    };
    let mut best = (f64::INFINITY, (0.95, [0.0; 2]));
    let mut consider = |d: f64, pair: [f64; 2]| {
        let miss = spring(pair, Impedance::constant(d), side).map_or(f64::INFINITY, misses);
        if miss < best.0 {
            best = (miss, (d, pair));
        }
        miss == 0.0
    };
    // The impedances that files have, the default first.
    for d in [0.95, 0.99, 0.9, 0.999, 0.98, 0.97, 0.96, 0.995, 0.8, 0.9999, 0.7, 0.5] {
        let ratio = 0.5 * relaxation * stiffness.sqrt();
        if ratio > 0.0 {
            // A person wrote few digits.
            let pair = [rounded(1.0 / (ratio * given(d).sqrt())), rounded(ratio)];
            if consider(d, pair) {
                return (d, pair);
            }
        }
    }
    for d in [0.95, 0.9, 0.99, 0.875, 0.8, 0.75, 0.5] {
        let pair = [-given(d), -relaxation * (given(d) * stiffness).sqrt()];
        for i in -4..=4 {
            for j in -6..=6 {
                let step = |value: f64, k: i32| value * (1.0 + f64::from(k) * f64::EPSILON);
                if consider(d, [step(pair[0], i), step(pair[1], j)]) {
                    return (d, [step(pair[0], i), step(pair[1], j)]);
                }
            }
        }
    }
    best.1
}

fn rounded(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}
