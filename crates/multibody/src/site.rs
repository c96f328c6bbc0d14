//! Sites: frames of interest, each with a volume around it.

use spatial::{Pose, Vec3};

/// A frame of interest, fixed in a body.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Site {
    /// Name.
    pub name: String,
    /// The body.
    pub body: usize,
    /// Its frame in the body's frame.
    pub pose: Pose<f64>,
    /// The volume around it, which sensors look into. It has no mass and touches nothing.
    pub shape: SiteShape,
}

/// The volume of a site, in its frame, m.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum SiteShape {
    /// A ball.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A cylinder along z with hemispherical caps.
    Capsule {
        /// Radius.
        radius: f64,
        /// Half the length of the cylindrical part.
        half_length: f64,
    },
    /// A cylinder along z.
    Cylinder {
        /// Radius.
        radius: f64,
        /// Half the length.
        half_length: f64,
    },
    /// An ellipsoid.
    Ellipsoid {
        /// Semi-axes.
        radii: [f64; 3],
    },
    /// A box.
    Box {
        /// Half extents.
        half_extents: [f64; 3],
    },
}

impl Default for SiteShape {
    fn default() -> Self {
        Self::Sphere { radius: 0.005 }
    }
}

/// The part of a ray, as an interval of its parameter; empty where it ends before it begins.
type Interval = (f64, f64);

const EMPTY: Interval = (f64::INFINITY, f64::NEG_INFINITY);

impl SiteShape {
    /// Whether a point, in the site's frame, is inside.
    pub fn contains(&self, point: Vec3<f64>) -> bool {
        let Vec3 { x, y, z, .. } = point;
        match *self {
            Self::Sphere { radius } => point.norm_squared() < radius * radius,
            Self::Capsule { radius, half_length } => {
                let beyond = z - z.clamp(-half_length, half_length);
                x * x + y * y + beyond * beyond < radius * radius
            }
            Self::Cylinder { radius, half_length } => z.abs() < half_length && x * x + y * y < radius * radius,
            Self::Ellipsoid { radii: [a, b, c] } => Vec3::new(x / a, y / b, z / c).norm_squared() < 1.0,
            Self::Box { half_extents: [a, b, c] } => x.abs() < a && y.abs() < b && z.abs() < c,
        }
    }

    /// Whether a ray, in the site's frame, meets the volume; always where it begins inside.
    pub fn is_hit_by(&self, origin: Vec3<f64>, direction: Vec3<f64>) -> bool {
        match *self {
            Self::Sphere { radius } => is_ahead(ball(origin, direction, radius)),
            Self::Capsule { radius, half_length } => {
                let cap = |side: f64| ball(origin - Vec3::new(0.0, 0.0, side * half_length), direction, radius);
                let tube = both(tube(origin, direction, radius), slab(origin.z, direction.z, half_length));
                [tube, cap(-1.0), cap(1.0)].into_iter().any(is_ahead)
            }
            Self::Cylinder { radius, half_length } => {
                is_ahead(both(tube(origin, direction, radius), slab(origin.z, direction.z, half_length)))
            }
            Self::Ellipsoid { radii: [a, b, c] } => {
                let scaled = |v: Vec3<f64>| Vec3::new(v.x / a, v.y / b, v.z / c);
                is_ahead(ball(scaled(origin), scaled(direction), 1.0))
            }
            Self::Box { half_extents } => {
                let (from, along) = (origin.to_array(), direction.to_array());
                let slabs = (0..3).map(|k| slab(from[k], along[k], half_extents[k]));
                is_ahead(slabs.fold((f64::NEG_INFINITY, f64::INFINITY), both))
            }
        }
    }
}

/// Whether a part of a line lies ahead of its origin.
fn is_ahead((low, high): Interval) -> bool {
    low <= high && high >= 0.0
}

fn both(a: Interval, b: Interval) -> Interval {
    (a.0.max(b.0), a.1.min(b.1))
}

/// Where a t² + 2 b t + c ≤ 0.
fn inside(a: f64, b: f64, c: f64) -> Interval {
    if a == 0.0 {
        return if c <= 0.0 { (f64::NEG_INFINITY, f64::INFINITY) } else { EMPTY };
    }
    let discriminant = b * b - a * c;
    if discriminant < 0.0 {
        return EMPTY;
    }
    let root = discriminant.sqrt();
    ((-b - root) / a, (-b + root) / a)
}

fn ball(from: Vec3<f64>, along: Vec3<f64>, radius: f64) -> Interval {
    inside(along.norm_squared(), from.dot(along), from.norm_squared() - radius * radius)
}

/// An endless tube around the z axis.
fn tube(from: Vec3<f64>, along: Vec3<f64>, radius: f64) -> Interval {
    let flat = |v: Vec3<f64>| Vec3::new(v.x, v.y, 0.0);
    ball(flat(from), flat(along), radius)
}

/// Between two planes at a distance `half` from the origin.
fn slab(from: f64, along: f64, half: f64) -> Interval {
    if along == 0.0 {
        return if from.abs() <= half { (f64::NEG_INFINITY, f64::INFINITY) } else { EMPTY };
    }
    let ends = [(-half - from) / along, (half - from) / along];
    (ends[0].min(ends[1]), ends[0].max(ends[1]))
}
