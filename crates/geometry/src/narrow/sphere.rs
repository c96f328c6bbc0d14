//! A sphere against a sphere, a capsule, a cylinder and a box.

use spatial::Vec3;

use super::Sink;
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
    let p = at.local(centre);
    let radial = (p.x * p.x + p.y * p.y).sqrt();
    let outward = if radial > 0.0 { Vec3::new(p.x / radial, p.y / radial, 0.0) } else { Vec3::new(1.0, 0.0, 0.0) };
    let up = Vec3::new(0.0, 0.0, 1.0_f64.copysign(p.z));
    let (side, cap) = (radial - s, p.z.abs() - half_length);
    let (away, depth) = if side <= 0.0 && cap <= 0.0 {
        if side > cap { (outward, side) } else { (up, cap) }
    } else {
        let d = outward * side.max(0.0) + up * cap.max(0.0);
        let length = d.norm();
        (d * (1.0 / length), length)
    };
    // `away` leads from the cylinder to the sphere.
    let normal = -(at.rot * away);
    let distance = depth - r;
    sink.push(centre.add_scaled(r + 0.5 * distance, normal), normal, distance);
}

/// The nearest point of a solid box, from inside that of the nearest face.
#[inline]
pub fn cuboid(centre: Vec3<f64>, r: f64, at: &Placement, half: Vec3<f64>, sink: &mut Sink) {
    let p = at.local(centre);
    let over = Vec3::new(p.x.abs() - half.x, p.y.abs() - half.y, p.z.abs() - half.z);
    let (away, depth) = if over.x <= 0.0 && over.y <= 0.0 && over.z <= 0.0 {
        if over.x >= over.y && over.x >= over.z {
            (Vec3::new(1.0_f64.copysign(p.x), 0.0, 0.0), over.x)
        } else if over.y >= over.z {
            (Vec3::new(0.0, 1.0_f64.copysign(p.y), 0.0), over.y)
        } else {
            (Vec3::new(0.0, 0.0, 1.0_f64.copysign(p.z)), over.z)
        }
    } else {
        let d = Vec3::new(over.x.max(0.0).copysign(p.x), over.y.max(0.0).copysign(p.y), over.z.max(0.0).copysign(p.z));
        let length = d.norm();
        (d * (1.0 / length), length)
    };
    let normal = -(at.rot * away);
    let distance = depth - r;
    sink.push(centre.add_scaled(r + 0.5 * distance, normal), normal, distance);
}
