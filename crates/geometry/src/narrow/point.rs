//! A point against every shape: its signed distance and the direction in which that grows fastest.

use spatial::{Mat3, Vec3};

use super::Convex;
use super::ellipsoid::closest_point;
use super::placed::Placed;
use crate::hull::Hull;
use crate::shape::HeightField;
use crate::solid::{PlacedSolid, Placement, Solid};

/// Outward unit normal of a shape's surface, and the distance to it, m: negative inside.
pub(crate) type Signed = (Vec3<f64>, f64);

/// Share of a polygon's size by which a point may be beside it that still counts as over it.
const BESIDE: f64 = 1e-9;

const UP: Vec3<f64> = Vec3::new(0.0, 0.0, 1.0);

/// Signed distance of the point `p`, in the world, from a shape, and its gradient there; none where it is certainly more than `limit`, or
/// where the point is not over a height field.
///
/// Height fields count as their triangle under the point, which is exact where the point's foot lies in that triangle, and below the
/// distance of a convex ridge elsewhere.
pub(crate) fn signed_distance(
    placed: PlacedSolid<'_>,
    p: Vec3<f64>,
    limit: f64,
    workspace: &mut Convex,
) -> Option<Signed> {
    let PlacedSolid { solid, at } = placed;
    let local = at.local(p);
    let (away, distance) = match solid {
        Solid::Plane => (UP, local.z),
        &Solid::Sphere { radius } => ball(local, radius),
        &Solid::Capsule { radius, half_length } => capsule(local, radius, half_length),
        &Solid::Cylinder { radius, half_length } => cylinder(local, radius, half_length),
        &Solid::Ellipsoid { radii } => ellipsoid(local, radii),
        &Solid::Box { half } => cuboid(local, half),
        Solid::Hull(hull) => polytope(solid, hull, local, limit, workspace)?,
        Solid::HeightField(field) => height_field(field, local)?,
    };
    (distance <= limit).then(|| (at.rot * away, distance))
}

/// A ball about the origin.
#[inline]
fn ball(p: Vec3<f64>, radius: f64) -> Signed {
    let length = p.norm();
    (if length > 0.0 { p * (1.0 / length) } else { UP }, length - radius)
}

/// A capsule along z.
#[inline]
fn capsule(p: Vec3<f64>, radius: f64, half_length: f64) -> Signed {
    let across = Vec3::new(p.x, p.y, p.z - p.z.clamp(-half_length, half_length));
    let length = across.norm();
    // On the axis every way across it is the shortest.
    let away = if length > 0.0 { across * (1.0 / length) } else { Vec3::new(1.0, 0.0, 0.0) };
    (away, length - radius)
}

/// A cylinder along z: from inside the nearer of its side and its cap.
#[inline]
pub(super) fn cylinder(p: Vec3<f64>, radius: f64, half_length: f64) -> Signed {
    let radial = (p.x * p.x + p.y * p.y).sqrt();
    let outward = if radial > 0.0 { Vec3::new(p.x / radial, p.y / radial, 0.0) } else { Vec3::new(1.0, 0.0, 0.0) };
    let up = Vec3::new(0.0, 0.0, 1.0_f64.copysign(p.z));
    let (side, cap) = (radial - radius, p.z.abs() - half_length);
    if side <= 0.0 && cap <= 0.0 {
        return if side > cap { (outward, side) } else { (up, cap) };
    }
    let d = outward * side.max(0.0) + up * cap.max(0.0);
    let length = d.norm();
    (d * (1.0 / length), length)
}

/// A box along the axes: from inside its nearest face.
#[inline]
pub(super) fn cuboid(p: Vec3<f64>, half: Vec3<f64>) -> Signed {
    let over = Vec3::new(p.x.abs() - half.x, p.y.abs() - half.y, p.z.abs() - half.z);
    if over.x <= 0.0 && over.y <= 0.0 && over.z <= 0.0 {
        return if over.x >= over.y && over.x >= over.z {
            (Vec3::new(1.0_f64.copysign(p.x), 0.0, 0.0), over.x)
        } else if over.y >= over.z {
            (Vec3::new(0.0, 1.0_f64.copysign(p.y), 0.0), over.y)
        } else {
            (Vec3::new(0.0, 0.0, 1.0_f64.copysign(p.z)), over.z)
        };
    }
    let d = Vec3::new(over.x.max(0.0).copysign(p.x), over.y.max(0.0).copysign(p.y), over.z.max(0.0).copysign(p.z));
    let length = d.norm();
    (d * (1.0 / length), length)
}

/// An ellipsoid along the axes.
pub(super) fn ellipsoid(p: Vec3<f64>, radii: Vec3<f64>) -> Signed {
    let nearest = closest_point(p, radii);
    let outward =
        Vec3::new(nearest.x / (radii.x * radii.x), nearest.y / (radii.y * radii.y), nearest.z / (radii.z * radii.z));
    let outward = outward * (1.0 / outward.norm());
    (outward, (p - nearest).dot(outward))
}

/// A convex polytope: from inside its nearest face, from outside by GJK where the point is not over a face.
fn polytope(solid: &Solid, hull: &Hull, p: Vec3<f64>, limit: f64, workspace: &mut Convex) -> Option<Signed> {
    let (mut face, mut most) = (0, f64::NEG_INFINITY);
    for (i, normal) in hull.normals.iter().enumerate() {
        let height = hull.face(i).next().map_or(f64::NEG_INFINITY, |corner| (p - corner).dot(*normal));
        if height > limit {
            return None;
        }
        if height > most {
            (face, most) = (i, height);
        }
    }
    if most <= 0.0 || is_over_face(hull, face, p) {
        return Some((hull.normals[face], most));
    }
    let here = Placement { rot: Mat3::IDENTITY, pos: Vec3::ZERO };
    let hull = Placed::new(solid, &here, Vec3::ZERO)?;
    workspace.nearest(&hull, &Placed::point(p), limit).map(|nearest| (nearest.normal, nearest.distance))
}

/// Whether a point lies over a face, seen along the face's normal.
fn is_over_face(hull: &Hull, face: usize, p: Vec3<f64>) -> bool {
    let normal = hull.normals[face];
    let Some(last) = hull.face(face).last() else { return false };
    let mut from = last;
    hull.face(face).all(|to| {
        let edge = to - from;
        let inside = edge.cross(p - from).dot(normal) >= -BESIDE * edge.norm_squared();
        from = to;
        inside
    })
}

/// The triangle of a height field under a point; none beside the field and below its base.
pub(super) fn height_field(field: &HeightField, p: Vec3<f64>) -> Option<Signed> {
    let ([rows, columns], [hx, hy]) = (field.size, field.half_extents);
    let (dx, dy) = (2.0 * hx / (columns - 1) as f64, 2.0 * hy / (rows - 1) as f64);
    let (x, y) = ((p.x + hx) / dx, (p.y + hy) / dy);
    let is_over = x >= 0.0 && y >= 0.0 && x <= (columns - 1) as f64 && y <= (rows - 1) as f64;
    if !is_over || p.z < -field.base {
        return None;
    }
    let (column, row) = ((x as usize).min(columns - 2), (y as usize).min(rows - 2));
    let (u, v) = (x - column as f64, y - row as f64);
    let height = |r: usize, c: usize| field.heights[(row + r) * columns + column + c];
    // Each cell is cut along its diagonal from low row and column to high row and column.
    let (low, high) = (height(0, 0), height(1, 1));
    let (slope_x, slope_y) = if u >= v {
        let corner = height(0, 1);
        (corner - low, high - corner)
    } else {
        let corner = height(1, 0);
        (high - corner, corner - low)
    };
    let over = p.z - (low + slope_x * u + slope_y * v);
    let normal = Vec3::new(-slope_x / dx, -slope_y / dy, 1.0);
    let cosine = 1.0 / normal.norm();
    Some((normal * cosine, over * cosine))
}
