//! The nearest points of two shapes, however far apart.

use parry3d_f64::shape::TriMesh;
use spatial::Vec3;

use super::convex::Nearest;
use super::placed::{Detail, Placed};
use super::{Convex, Points, Sink, height_field};
use crate::movement::Motion;
use crate::solid::{PlacedSolid, Solid};

/// Unit normal from the first shape to the second, the point midway between their nearest points, and their distance, negative where they
/// overlap. Shapes are in canonical order; none of two that are not convex. `surface` is that of a height field, in its frame.
pub(crate) fn nearest_points(
    a: PlacedSolid<'_>,
    b: PlacedSolid<'_>,
    surface: Option<&TriMesh>,
    workspace: &mut Convex,
) -> Option<(Vec3<f64>, Vec3<f64>, f64)> {
    let (at, origin) = (a.at, b.at.pos);
    let shape = Placed::new(b.solid, b.at, origin)?;
    shape.detail.set(Detail::Exact);
    match a.solid {
        Solid::Plane => {
            let normal = at.rot.z;
            let lowest = shape.support(-normal).add_scaled(-shape.radius, normal);
            let distance = (lowest + origin - at.pos).dot(normal);
            Some((normal, (lowest + origin).add_scaled(-0.5 * distance, normal), distance))
        }
        Solid::HeightField(_) => {
            if let Some(deepest) = overlap(a, b, workspace) {
                return Some(deepest);
            }
            let mut best: Option<Nearest> = None;
            for corners in surface?.triangles() {
                let corners = [corners.a, corners.b, corners.c].map(|p| at.point(Vec3::new(p.x, p.y, p.z)) - origin);
                let centre = (corners[0] + corners[1] + corners[2]) * (1.0 / 3.0);
                let own = corners.iter().fold(0.0, |most, corner| f64::max(most, (*corner - centre).norm()));
                let (apart, radius) = ((centre - shape.centre).norm(), own + b.solid.bounding_radius());
                if best.is_some_and(|best| apart - radius > best.distance) {
                    continue;
                }
                let triangle = Placed::triangle(corners);
                let limit = best.map_or(apart + radius, |best| best.distance);
                if let Ok(Some(nearest)) = workspace.nearest_apart(&triangle, &shape, limit)
                    && best.is_none_or(|best| nearest.distance < best.distance)
                {
                    best = Some(nearest);
                }
            }
            best.map(|Nearest { normal, position, distance }| (normal, position + origin, distance))
        }
        _ => {
            let other = Placed::new(a.solid, at, origin)?;
            let limit = (other.centre - shape.centre).norm() + a.solid.bounding_radius() + b.solid.bounding_radius();
            let Nearest { normal, position, distance } = workspace.nearest(&other, &shape, limit)?;
            Some((normal, position + origin, distance))
        }
    }
}

/// The deepest contact point of a shape that overlaps a height field.
fn overlap(a: PlacedSolid<'_>, b: PlacedSolid<'_>, workspace: &mut Convex) -> Option<(Vec3<f64>, Vec3<f64>, f64)> {
    let Solid::HeightField(field) = a.solid else { return None };
    let mut found = Vec::new();
    let (mut points, still) = (Points::new(&mut [], &mut found), Motion::default());
    let mut sink = Sink {
        out: &mut points,
        geoms: [0, 1],
        flipped: false,
        margin: 0.0,
        pair: None,
        limit: 0.0,
        motions: [&still; 2],
    };
    height_field::collide(field, a.at, b, workspace, &mut sink);
    let deepest = found.iter().min_by(|a, b| a.gap.total_cmp(&b.gap))?;
    Some((deepest.normal, deepest.position, deepest.gap))
}
