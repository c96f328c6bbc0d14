//! A sphere against a sphere, a capsule, a cylinder, a box and an ellipsoid.

use spatial::Vec3;

use super::{Sink, point};
use crate::solid::Placement;

/// Two balls.
#[inline(always)]
pub fn sphere(a: Vec3<f64>, r: f64, b: Vec3<f64>, s: f64, sink: &mut Sink) {
    let d = b - a;
    let length = d.norm();
    let normal = if length > 0.0 { d * (1.0 / length) } else { sink.way_apart() };
    let distance = length - r - s;
    sink.push(a.add_scaled(r + 0.5 * distance, normal), normal, distance);
}

/// A ball and the nearest ball of a capsule.
#[inline(always)]
pub fn capsule(centre: Vec3<f64>, r: f64, at: &Placement, s: f64, half_length: f64, sink: &mut Sink) {
    let t = at.rot.z.dot(centre - at.pos).clamp(-half_length, half_length);
    let nearest = at.pos.add_scaled(t, at.rot.z);
    if nearest != centre {
        return sphere(centre, r, nearest, s, sink);
    }
    // On the axis every way across it is the shortest.
    let normal = sink.way_apart_across(at.rot.z);
    let distance = -r - s;
    sink.push(centre.add_scaled(r + 0.5 * distance, normal), normal, distance);
}

/// The nearest point of a solid cylinder, from inside the nearest of its side and its cap.
pub fn cylinder(centre: Vec3<f64>, r: f64, at: &Placement, s: f64, half_length: f64, sink: &mut Sink) {
    push(centre, r, at, point::cylinder(at.local(centre), s, half_length), sink);
}

/// The nearest point of a solid box, from inside that of the nearest face.
#[inline]
pub fn cuboid(centre: Vec3<f64>, r: f64, at: &Placement, half: Vec3<f64>, sink: &mut Sink) {
    push(centre, r, at, point::cuboid(at.local(centre), half), sink);
}

/// The nearest point of a solid ellipsoid's surface, from outside and inside.
pub fn ellipsoid(centre: Vec3<f64>, r: f64, at: &Placement, radii: Vec3<f64>, sink: &mut Sink) {
    push(centre, r, at, point::ellipsoid(at.local(centre), radii), sink);
}

/// Reports a ball whose centre is this far from a shape.
#[inline(always)]
fn push(centre: Vec3<f64>, r: f64, at: &Placement, (away, depth): point::Signed, sink: &mut Sink) {
    // `away` leads from the shape to the sphere.
    let normal = -(at.rot * away);
    let distance = depth - r;
    sink.push(centre.add_scaled(r + 0.5 * distance, normal), normal, distance);
}
