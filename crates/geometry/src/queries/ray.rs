//! Where a ray meets the surface of a shape, in the shape's own frame: distance along a unit vector and normal.

use parry3d_f64::math::Vector;
use parry3d_f64::query::{Ray, RayCast};
use parry3d_f64::shape::TriMesh;
use spatial::Vec3;

use crate::shape::Shape;

type Met = Option<(f64, Vec3<f64>)>;

/// Directions are parallel below this sine.
const PARALLEL: f64 = 1e-15;

/// A plane, or the whole surface of a solid: the first point that lies ahead.
pub(super) fn surface(shape: &Shape, o: Vec3<f64>, d: Vec3<f64>) -> Met {
    match shape {
        Shape::Plane { half_extents } => plane(*half_extents, o, d),
        Shape::Sphere { radius } => ball(*radius, o, d, |_| true),
        Shape::Capsule { radius, half_length } => {
            let mut met = side(*radius, *half_length, o, d);
            for sign in [1.0, -1.0] {
                let up = Vec3::new(0.0, 0.0, sign * half_length);
                met = first(met, ball(*radius, o - up, d, |p| p.z * sign >= 0.0));
            }
            met
        }
        Shape::Cylinder { radius, half_length } => {
            let mut met = side(*radius, *half_length, o, d);
            if d.z.abs() > PARALLEL {
                for sign in [1.0, -1.0] {
                    let t = (sign * half_length - o.z) / d.z;
                    let p = o + d * t;
                    if t >= 0.0 && p.x * p.x + p.y * p.y <= radius * radius {
                        met = first(met, Some((t, Vec3::new(0.0, 0.0, sign))));
                    }
                }
            }
            met
        }
        Shape::Ellipsoid { radii: [x, y, z] } => {
            let scaled = |p: Vec3<f64>| Vec3::new(p.x / x, p.y / y, p.z / z);
            let direction = scaled(d);
            let speed = direction.norm();
            let (t, normal) = ball(1.0, scaled(o), direction * (1.0 / speed), |_| true)?;
            Some((t / speed, scaled(normal).normalized()?))
        }
        Shape::Box { half_extents } => cuboid(*half_extents, o, d),
        Shape::Mesh(_) | Shape::HeightField(_) => None,
    }
}

/// Triangles.
pub(super) fn triangles(mesh: &TriMesh, o: Vec3<f64>, d: Vec3<f64>, reach: f64) -> Met {
    let vector = |v: Vec3<f64>| Vector::new(v.x, v.y, v.z);
    let ray = Ray { origin: vector(o), dir: vector(d) };
    // Not solid: of what the ray begins in, the surface counts.
    let met = mesh.cast_local_ray_and_get_normal(&ray, reach.min(f64::MAX), false)?;
    Some((met.time_of_impact, Vec3::new(met.normal.x, met.normal.y, met.normal.z)))
}

/// The nearer of two.
fn first(a: Met, b: Met) -> Met {
    match (a, b) {
        (Some((s, _)), Some((t, _))) => {
            if t < s {
                b
            } else {
                a
            }
        }
        _ => a.or(b),
    }
}

/// From above, within the half extents that are not 0.
fn plane([x, y]: [f64; 2], o: Vec3<f64>, d: Vec3<f64>) -> Met {
    if d.z > -PARALLEL || o.z < 0.0 {
        return None;
    }
    let t = -o.z / d.z;
    let p = o + d * t;
    let within = |p: f64, half: f64| half <= 0.0 || p.abs() <= half;
    (within(p.x, x) && within(p.y, y)).then_some((t, Vec3::new(0.0, 0.0, 1.0)))
}

/// A ball about the origin, of which the points count that `counts`.
fn ball(radius: f64, o: Vec3<f64>, d: Vec3<f64>, counts: impl Fn(Vec3<f64>) -> bool) -> Met {
    let middle = -o.dot(d);
    // From the point that is nearest to the centre: from far away, |o|² − r² would have no digits left.
    let nearest = o + d * middle;
    let half = (radius * radius - nearest.norm_squared()).max(-1.0);
    if half < 0.0 {
        return None;
    }
    let half = half.sqrt();
    [middle - half, middle + half].into_iter().filter(|t| *t >= 0.0).find_map(|t| {
        let p = o + d * t;
        counts(p).then(|| (t, p * (1.0 / radius)))
    })
}

/// The side of a cylinder along z.
fn side(radius: f64, half_length: f64, o: Vec3<f64>, d: Vec3<f64>) -> Met {
    let across = (d.x * d.x + d.y * d.y).sqrt();
    if across < PARALLEL {
        return None;
    }
    let flat = |v: Vec3<f64>| Vec3::new(v.x, v.y, 0.0);
    let (from, along) = (flat(o), flat(d) * (1.0 / across));
    let middle = -from.dot(along);
    let half = radius * radius - (from + along * middle).norm_squared();
    if half < 0.0 {
        return None;
    }
    let half = half.sqrt();
    [middle - half, middle + half].into_iter().map(|s| s / across).filter(|t| *t >= 0.0).find_map(|t| {
        let p = o + d * t;
        (p.z.abs() <= half_length).then(|| (t, flat(p) * (1.0 / radius)))
    })
}

fn cuboid(half: [f64; 3], o: Vec3<f64>, d: Vec3<f64>) -> Met {
    let (o, d) = (o.to_array(), d.to_array());
    let (mut enter, mut leave) = ((f64::NEG_INFINITY, 0), (f64::INFINITY, 0));
    for k in 0..3 {
        if d[k].abs() < PARALLEL {
            if o[k].abs() > half[k] {
                return None;
            }
            continue;
        }
        let far = half[k].copysign(d[k]);
        let (near, far) = ((-far - o[k]) / d[k], (far - o[k]) / d[k]);
        if near > enter.0 {
            enter = (near, k);
        }
        if far < leave.0 {
            leave = (far, k);
        }
    }
    if enter.0 > leave.0 {
        return None;
    }
    let (t, k, sign) = if enter.0 >= 0.0 { (enter.0, enter.1, -1.0) } else { (leave.0, leave.1, 1.0) };
    let mut normal = [0.0; 3];
    normal[k] = sign * 1.0_f64.copysign(d[k]);
    (t >= 0.0).then(|| (t, Vec3::from(normal)))
}
