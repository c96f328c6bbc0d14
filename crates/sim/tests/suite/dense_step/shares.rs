//! The share of a contact point in the stiffness that a point has which bears alone: more points than a line or a face needs bear as these do.

use geometry::Shape;
use sapwood_sim::ContactPoint;
use spatial::Vec3;

use super::constraints::Start;

/// Of each of three points on a line.
const OF_LINE: f64 = 2.0 / 3.0;
/// Of either end of a capsule's line.
const OF_CAPSULE: f64 = 0.99;
/// Of each of four on a rim.
const OF_RIM: f64 = 3.0 / 4.0;
/// The sine of the slope from which on a line bears on its lower end alone.
const STEEP: f64 = 0.05;

/// Of point `k`.
pub fn stiffness_share(start: &Start<'_>, k: usize) -> f64 {
    let contact = &start.contacts[k];
    let shapes = contact.geoms.map(|geom| &start.scene.geoms[geom].shape);
    let is_round = |shape: &Shape| matches!(shape, Shape::Capsule { .. } | Shape::Cylinder { .. });
    match shapes {
        [Shape::Plane { .. }, shape] if is_round(shape) => on_plane(start, contact, 1),
        [shape, Shape::Plane { .. }] if is_round(shape) => on_plane(start, contact, 0),
        _ if shapes.into_iter().any(|shape| matches!(shape, Shape::Cylinder { .. })) => {
            on_line(start.contacts, contact, OF_LINE)
        }
        _ if shapes.into_iter().any(is_round) => on_line(start.contacts, contact, OF_CAPSULE),
        _ => 1.0,
    }
}

/// Of an end of a line, and with `level` where it lies level.
fn of_end(level: f64, slope: f64) -> f64 {
    level + (1.0 - level) * (slope / STEEP).powi(2).min(1.0)
}

/// Of a point on a plane of a round geom, the `side`th of the two.
fn on_plane(start: &Start<'_>, contact: &ContactPoint, side: usize) -> f64 {
    let geom = &start.scene.geoms[contact.geoms[side]];
    let body = &start.model.bodies[geom.body];
    let pose = body.pose * geom.pose;
    let axis = pose.rot * Vec3::new(0.0, 0.0, 1.0);
    let (centre, axis) = body.node.map_or((pose.pos, axis), |node| {
        let frame = &start.bodies.frames[node];
        (frame.pos + frame.rot * pose.pos, frame.rot * axis)
    });
    let slope = axis.dot(contact.normal);
    let own = contact.position + contact.normal * (contact.gap * (side as f64 - 0.5));
    let along = (own - centre).dot(axis).abs();
    match geom.shape {
        Shape::Capsule { half_length, .. } if along < 0.5 * half_length => 2.0 - 2.0 * OF_CAPSULE,
        Shape::Capsule { .. } => of_end(OF_CAPSULE, slope),
        Shape::Cylinder { half_length, .. } if along < 0.5 * half_length => OF_LINE,
        _ => OF_LINE + (OF_RIM - OF_LINE) * slope * slope,
    }
}

/// Of a point between others, where the third of three is the middle of a line.
fn on_line(contacts: &[ContactPoint], contact: &ContactPoint, level: f64) -> f64 {
    let points: Vec<&ContactPoint> = contacts.iter().filter(|other| other.geoms == contact.geoms).collect();
    let &[first, second, third] = &points[..] else { return 1.0 };
    if (third.position - (first.position + second.position) * 0.5).norm() > 1e-12 {
        1.0
    } else if std::ptr::eq(contact, third) {
        2.0 - 2.0 * level
    } else {
        of_end(level, (second.gap - first.gap) / (second.position - first.position).norm())
    }
}
