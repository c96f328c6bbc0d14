//! A half-space against everything else.

use spatial::Vec3;

use super::closed::{lowest_corners, share_of_end, share_of_middle};
use super::spread::{STEEPNESS, spread_by};
use super::{Convex, Point, Sink};
use crate::hull::Hull;
use crate::solid::{OF_CAPSULE, OF_LINE, Placement};

/// Below this sine of the tilt the lowest point of a standing cylinder's rim is not told from the others.
const UPRIGHT: f64 = 1e-6;

/// What is farther off than the limit by this is, however it is computed, m.
const ROUND_OFF: f64 = 1e-9;

/// Of a mesh's vertices above a plane those that it meets by turning by as much as it does in a step are worth a contact point: a wheel rolls
/// from edge to edge, and the one that comes next bears before those that are farther out and higher. It is taken to turn by this at
/// least, rad.
const LEAST_TURN: f64 = 0.02;

/// Reports a point of a body's surface.
#[inline(always)]
fn touch(plane: &Placement, p: Vec3<f64>, sink: &mut Sink) {
    touch_with(1.0, plane, p, sink);
}

/// The same of a point that does not bear alone.
#[inline(always)]
fn touch_with(stiffness_share: f64, plane: &Placement, p: Vec3<f64>, sink: &mut Sink) {
    let n = plane.rot.z;
    let distance = n.dot(p - plane.pos);
    sink.push_point(Point { stiffness_share, ..Point::new(p.add_scaled(-0.5 * distance, n), n, distance) });
}

/// The centre's projection.
#[inline(always)]
pub fn sphere(plane: &Placement, centre: Vec3<f64>, radius: f64, sink: &mut Sink) {
    touch(plane, centre.add_scaled(-radius, plane.rot.z), sink);
}

/// A point for each end, and where it lies the one between both: see [`cylinder`].
#[inline(always)]
pub fn capsule(plane: &Placement, at: &Placement, radius: f64, half_length: f64, sink: &mut Sink) {
    let n = plane.rot.z;
    let slope = n.dot(at.rot.z);
    if n.dot(at.pos - plane.pos) - half_length * slope.abs() - radius > sink.limit + ROUND_OFF {
        return;
    }
    let share = share_of_end(OF_CAPSULE, slope * slope);
    let mut touch = |along: f64, share: f64| {
        touch_with(share, plane, at.pos.add_scaled(along, at.rot.z).add_scaled(-radius, n), sink);
    };
    touch(half_length, share);
    touch(-half_length, share);
    if share < 1.0 {
        touch(0.0, share_of_middle(OF_CAPSULE));
    }
}

/// The lowest point.
pub fn ellipsoid(plane: &Placement, at: &Placement, radii: Vec3<f64>, sink: &mut Sink) {
    let local = at.rot.transpose_mul(plane.rot.z);
    let scaled = Vec3::new(radii.x * local.x, radii.y * local.y, radii.z * local.z);
    let scale = -1.0 / scaled.norm();
    let lowest = Vec3::new(radii.x * scaled.x, radii.y * scaled.y, radii.z * scaled.z) * scale;
    touch(plane, at.point(lowest), sink);
}

/// Four points of the lower cap's rim, the lowest among them, the lowest of the upper cap's, and the one between both: a wheel rolls on a
/// line, whose middle keeps still where it turns. On the line's ends alone it would roll on the one that bears more. On a soft plane it stands on
/// four points as on three, and lies on three as on two, as in MuJoCo.
pub fn cylinder(plane: &Placement, at: &Placement, radius: f64, half_length: f64, sink: &mut Sink) {
    let n = plane.rot.z;
    let slope = at.rot.z.dot(n);
    let down = if slope > 0.0 { -at.rot.z } else { at.rot.z };
    // The steepest way down within a cap.
    let u = (at.rot.z * slope - n) * radius;
    let steep = u.norm();
    let u = if steep > UPRIGHT * radius { u * (radius / steep) } else { at.rot.x * radius };
    let v = down.cross(u);
    let low = at.pos.add_scaled(half_length, down);
    // Three quarters where it stands.
    let rim = OF_LINE + (0.75 - OF_LINE) * slope * slope;
    for offset in [u, v, -u, -v] {
        touch_with(rim, plane, low + offset, sink);
    }
    touch_with(rim, plane, at.pos.add_scaled(-half_length, down) + u, sink);
    touch_with(OF_LINE, plane, at.pos + u, sink);
}

/// The four lowest corners.
pub fn cuboid(plane: &Placement, at: &Placement, half: Vec3<f64>, sink: &mut Sink) {
    for corner in lowest_corners(at.pos, &at.rot, half, plane.rot.z) {
        touch(plane, corner, sink);
    }
}

/// Up to four of the vertices within reach.
pub fn hull(plane: &Placement, at: &Placement, hull: &Hull, workspace: &mut Convex, sink: &mut Sink) {
    let n = plane.rot.z;
    let local = at.rot.transpose_mul(n);
    let offset = n.dot(at.pos - plane.pos);
    let distance = |i: usize| hull.vertices[i].dot(local) + offset;
    let lowest = hull.support_index(-local);
    if distance(lowest) > sink.limit {
        return;
    }
    let Convex { points, found, marked, .. } = workspace;
    points.clear();
    found.clear();
    found.push(lowest as u32);
    marked[lowest] = true;
    // The vertices of a convex body below any height hang together.
    let mut next = 0;
    while next < found.len() {
        let i = found[next] as usize;
        next += 1;
        for &j in hull.neighbours_of(i) {
            if !marked[j as usize] && distance(j as usize) <= sink.limit {
                marked[j as usize] = true;
                found.push(j);
            }
        }
    }
    // In an order that does not depend on which is lowest.
    found.sort_unstable();
    for i in found.iter().map(|i| *i as usize) {
        marked[i] = false;
        let distance = distance(i);
        points.push(Point::new(at.point(hull.vertices[i]).add_scaled(-0.5 * distance, n), n, distance));
    }
    let [own, other] = sink.motions;
    // Where they are in the middle of the step: what comes down in it bears at its end, what rises at its beginning.
    let way = |p: &Point| 0.5 * sink.displacement(p.position).dot(n);
    let fall = sink.displacement(other.centre).dot(n).abs() / hull.radius;
    let turn = ((other.rotation - own.rotation).norm() + fall).max(LEAST_TURN);
    let steepness = turn.recip().max(STEEPNESS);
    let height = |p: &Point| p.distance + way(p);
    // What overlaps pushes already.
    let weight = |p: &Point| steepness * height(p).max(0.0) + STEEPNESS * height(p).min(0.0);
    spread_by(points, n, height, |p, lowest| (weight(p) - weight(lowest)).max(0.0));
    for p in points {
        sink.push_point(*p);
    }
}
