//! Triangles of a closed surface: their points nearest to convex shapes outside.

use spatial::Vec3;

use super::Convex;
use super::convex::Overlap;
use super::placed::{Detail, Placed};
use super::weights::nearest_weights;
use crate::solid::PlacedSolid;

/// Share of a triangle's height by which a point may be beside it that counts as over it.
const BESIDE: f64 = 1e-9;

/// cos of the angle between a triangle's normal and the way out of what overlaps it, above which the way leads out of the surface.
const OUTWARD: f64 = 0.2;

/// A point of a triangle that touches a shape.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TriangleContact {
    /// The weights of the triangle's corners, which sum to 1 and are not negative.
    pub weights: [f64; 3],
    /// Unit vector from the triangle to the shape.
    pub normal: Vec3<f64>,
    /// From the triangle to the shape's surface along the normal, m; negative where they overlap.
    pub distance: f64,
}

/// The point of a triangle that is nearest to a convex shape, or deepest in it; none where they are more than `limit` apart, where the shape
/// is on the inner side, and where the way out of the shape does not lead out of the surface. A shape that reaches through the triangle by
/// up to `most` is on the outer side all the same.
pub(crate) fn triangle_contact(
    corners: [Vec3<f64>; 3],
    placed: PlacedSolid<'_>,
    limit: f64,
    most: f64,
    workspace: &mut Convex,
) -> Option<TriangleContact> {
    let PlacedSolid { solid, at } = placed;
    let shape = Placed::new(solid, at, at.pos)?;
    let corners = corners.map(|corner| corner - at.pos);
    let [a, b, c] = corners;
    let outward = (b - a).cross(c - a).normalized()?;
    let triangle = Placed::triangle(corners);
    let through = |depth_limit: f64| {
        let lowest = shape.support(-outward);
        let distance = (lowest - a).dot(outward) - shape.radius;
        let weights = weights_under(corners, outward, lowest).filter(|_| distance >= -depth_limit)?;
        Some(TriangleContact { weights, normal: outward, distance })
    };
    let nearest = match workspace.nearest_apart(&triangle, &shape, limit) {
        Ok(nearest) => {
            let nearest = nearest?;
            if nearest.normal.dot(outward) < 0.0 {
                // The axis of a rounded shape is behind the triangle, and some of the shape in front of it.
                return if nearest.distance < 0.0 { through(most) } else { None };
            }
            nearest
        }
        Err(Overlap) => {
            if let Some(contact) = through(most) {
                return Some(contact);
            }
            shape.detail.set(Detail::Coarse);
            workspace.nearest(&triangle, &shape, limit).filter(|n| n.normal.dot(outward) > OUTWARD)?
        }
    };
    let on_triangle = nearest.position.add_scaled(-0.5 * nearest.distance, nearest.normal);
    let weights = nearest_weights(corners, on_triangle);
    (nearest.distance >= -most).then_some(TriangleContact {
        weights,
        normal: nearest.normal,
        distance: nearest.distance,
    })
}

/// The weights of the point under `p`, seen along the triangle's normal; none where there is no such point.
fn weights_under(corners: [Vec3<f64>; 3], normal: Vec3<f64>, p: Vec3<f64>) -> Option<[f64; 3]> {
    let [a, b, c] = corners;
    let twice = |s: Vec3<f64>, e: Vec3<f64>| (e - s).cross(p - s).dot(normal);
    let areas = [twice(b, c), twice(c, a), twice(a, b)];
    let sum = areas.iter().sum::<f64>();
    areas.iter().all(|&area| area >= -BESIDE * sum).then(|| areas.map(|area| area.max(0.0) / sum))
}
