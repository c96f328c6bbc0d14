//! DeepMimic's state: where all bodies are and how they move, as seen from the root along its heading.

use multibody::Kinematics;
use spatial::{Mat3, Quat, Real, Vec3};

use super::figure::{Figure, Part};
use super::options::RotationKind;

/// How many numbers the state of a figure has: phase and height, position and rotation of all parts, then their velocities.
pub(crate) fn width(figure: &Figure, rotations: RotationKind) -> usize {
    2 + figure.parts.len() * (3 + rotations.width() + 6)
}

/// How many numbers [`write_root`] writes.
pub(crate) const ROOT: usize = 4;

/// Writes where the reference's root is, in the frame of the figure's heading: x y, m, and cosine and sine of how far its heading is turned.
///
/// Without it a policy does not see where it drifts, and cannot turn back; `reference` is the root's placement, x y z w x y z.
pub(crate) fn write_root(figure: &Figure, kinematics: &Kinematics<f64>, reference: &[f64], out: &mut [f64]) {
    let (back, _) = heading_frame(figure, kinematics);
    let root = kinematics.frames[figure.root_node].pos;
    let at = back * (Vec3::new(reference[0], reference[1], root.z) - root);
    let quaternion = Quat::new(reference[3], reference[4], reference[5], reference[6]);
    let ahead = back * ((quaternion * figure.root_rest.conjugate()) * Vec3::new(1.0, 0.0, 0.0));
    let length = libm::hypot(ahead.x, ahead.y).max(f64::MIN_POSITIVE);
    out.copy_from_slice(&[at.x, at.y, ahead.x / length, ahead.y / length]);
}

/// The rotation about the vertical that takes the figure's heading to x, from the root's placement.
pub(crate) fn heading_frame(figure: &Figure, kinematics: &Kinematics<f64>) -> (Mat3<f64>, Quat<f64>) {
    let turn = kinematics.frames[figure.root_node].quat * figure.root_rest.conjugate();
    let ahead = turn * Vec3::new(1.0, 0.0, 0.0);
    let heading = libm::atan2(ahead.y, ahead.x);
    let (sin, cos) = Real::sin_cos(-0.5 * heading);
    let back = Quat::new(cos, 0.0, 0.0, sin);
    (back.to_mat3(), back)
}

/// Position in the world, m.
pub(crate) fn place(part: &Part, kinematics: &Kinematics<f64>) -> Vec3<f64> {
    let frame = &kinematics.frames[part.node];
    frame.pos + frame.rot * part.at
}

/// Writes the state. Placements and velocities are in `kinematics`.
pub(crate) fn write(
    figure: &Figure,
    rotations: RotationKind,
    phase: f64,
    kinematics: &Kinematics<f64>,
    out: &mut [f64],
) {
    let (back, back_quaternion) = heading_frame(figure, kinematics);
    let root = kinematics.frames[figure.root_node].pos;
    (out[0], out[1]) = (phase, root.z);
    let pose_width = 3 + rotations.width();
    let (poses, velocities) = out[2..].split_at_mut(figure.parts.len() * pose_width);
    let rows = poses.chunks_exact_mut(pose_width).zip(velocities.chunks_exact_mut(6));
    for (part, (pose, velocity)) in figure.parts.iter().zip(rows) {
        let frame = &kinematics.frames[part.node];
        let offset = frame.rot * part.at;
        let at = back * (frame.pos + offset - root);
        pose[..3].copy_from_slice(&[at.x, at.y, at.z]);
        let Quat { w, x, y, z } = back_quaternion * frame.quat * part.rot;
        match rotations {
            RotationKind::Quaternion => {
                let sign = if w < 0.0 { -1.0 } else { 1.0 };
                pose[3..].copy_from_slice(&[w, x, y, z].map(|x| sign * x));
            }
            RotationKind::SixNumbers => {
                let m = Quat::new(w, x, y, z).to_mat3();
                let [a, b] = [Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 1.0, 0.0)].map(|axis| m * axis);
                pose[3..].copy_from_slice(&[a.x, a.y, a.z, b.x, b.y, b.z]);
            }
        }
        let twist = &kinematics.twists[part.node];
        let (lin, ang) = (back * (twist.lin + twist.ang.cross(offset)), back * twist.ang);
        velocity.copy_from_slice(&[lin.x, lin.y, lin.z, ang.x, ang.y, ang.z]);
    }
}

/// Names of the parts of a state, and where each begins and ends.
pub(crate) fn names(figure: &Figure, rotations: RotationKind) -> Vec<(String, usize, usize)> {
    let pose_width = 3 + rotations.width();
    let mut names = vec![("phase".into(), 0, 1), ("height".into(), 1, 2)];
    let velocities = 2 + figure.parts.len() * pose_width;
    for (k, part) in figure.parts.iter().enumerate() {
        let start = 2 + k * pose_width;
        names.push((format!("{}/position", part.name), start, start + 3));
        names.push((format!("{}/rotation", part.name), start + 3, start + pose_width));
    }
    for (k, part) in figure.parts.iter().enumerate() {
        let start = velocities + 6 * k;
        names.push((format!("{}/velocity", part.name), start, start + 3));
        names.push((format!("{}/angular_velocity", part.name), start + 3, start + 6));
    }
    names
}
