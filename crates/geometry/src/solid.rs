//! Shapes as contact detection sees them.

use std::ops::Deref;
use std::sync::Arc;

use spatial::{Mat3, Pose, Vec3};

use crate::hull::Hull;
use crate::shape::{HeightField, Shape};

/// The share of each of the three points of a cylinder's line in the stiffness of a point that bears alone: together they are as stiff as two. A
/// middle that bears much less than the ends does not keep a wheel from rolling on one of these.
pub const OF_LINE: f64 = 2.0 / 3.0;

/// The share of either end of a capsule's line: on soft ground it bears on two points, as in MuJoCo, and tilts as little under a load off its
/// middle. Between near-rigid surfaces the third bears its part whatever its share.
pub const OF_CAPSULE: f64 = 0.99;

/// A shape that can touch.
///
/// The order of the variants is the canonical order of a pair: narrow-phase functions exist for (earlier, later).
#[derive(Clone, Debug)]
pub(crate) enum Solid {
    /// z ≤ 0.
    Plane,
    HeightField(Ground),
    Sphere {
        radius: f64,
    },
    Capsule {
        radius: f64,
        half_length: f64,
    },
    Ellipsoid {
        radii: Vec3<f64>,
    },
    Cylinder {
        radius: f64,
        half_length: f64,
    },
    Box {
        half: Vec3<f64>,
    },
    Hull(Arc<Hull>),
}

/// A shape in its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlacedSolid<'a> {
    pub solid: &'a Solid,
    pub at: &'a Placement,
}

/// A height field, and how high it is.
#[derive(Clone, Debug)]
pub(crate) struct Ground {
    field: Arc<HeightField>,
    /// Its highest sample, or its bottom where that is higher.
    pub top: f64,
}

impl Ground {
    fn new(field: &Arc<HeightField>) -> Self {
        let top = field.heights.iter().fold(-field.base, |top, &h| top.max(h));
        Self { field: field.clone(), top }
    }
}

impl Deref for Ground {
    type Target = HeightField;

    fn deref(&self) -> &HeightField {
        &self.field
    }
}

impl Shape {
    /// Centre and radius of a ball that holds the shape, m, the radius infinite for a plane; none of a mesh without a convex hull, which
    /// cannot touch.
    #[must_use]
    pub fn bounding_ball(&self) -> Option<(Vec3<f64>, f64)> {
        Solid::new(self).map(|solid| (solid.centre(), solid.bounding_radius()))
    }
}

impl Solid {
    /// `None` for a mesh without a convex hull, which cannot touch.
    pub fn new(shape: &Shape) -> Option<Self> {
        Some(match shape {
            Shape::Plane { .. } => Self::Plane,
            Shape::Sphere { radius } => Self::Sphere { radius: *radius },
            &Shape::Capsule { radius, half_length } => Self::Capsule { radius, half_length },
            &Shape::Cylinder { radius, half_length } => Self::Cylinder { radius, half_length },
            Shape::Ellipsoid { radii } => Self::Ellipsoid { radii: Vec3::from(*radii) },
            Shape::Box { half_extents } => Self::Box { half: Vec3::from(*half_extents) },
            Shape::Mesh(mesh) => Self::Hull(mesh.prepared.hull(mesh.hull()?)),
            Shape::HeightField(field) => Self::HeightField(Ground::new(field)),
        })
    }

    /// Place in the canonical order.
    pub fn rank(&self) -> u8 {
        match self {
            Self::Plane => 0,
            Self::HeightField(_) => 1,
            Self::Sphere { .. } => 2,
            Self::Capsule { .. } => 3,
            Self::Ellipsoid { .. } => 4,
            Self::Cylinder { .. } => 5,
            Self::Box { .. } => 6,
            Self::Hull(_) => 7,
        }
    }

    /// Of what has a round side that touches along a line, on which it rolls, the share of an end of that line: see
    /// [`share_of_end`](crate::share_of_end).
    pub fn share_of_line(&self) -> Option<f64> {
        match self {
            Self::Capsule { .. } => Some(OF_CAPSULE),
            Self::Cylinder { .. } => Some(OF_LINE),
            _ => None,
        }
    }

    /// Half extents of the smallest box around the shape, along its own axes; `None` for a plane.
    pub fn half_extents(&self) -> Option<Vec3<f64>> {
        Some(match self {
            Self::Plane => return None,
            Self::HeightField(ground) => {
                Vec3::new(ground.half_extents[0], ground.half_extents[1], 0.5 * (ground.top + ground.base))
            }
            &Self::Sphere { radius: r } => Vec3::new(r, r, r),
            &Self::Capsule { radius: r, half_length: h } => Vec3::new(r, r, h + r),
            &Self::Cylinder { radius: r, half_length: h } => Vec3::new(r, r, h),
            &Self::Ellipsoid { radii } => radii,
            &Self::Box { half } => half,
            Self::Hull(hull) => hull.half_extents,
        })
    }

    /// Centre of that box.
    pub fn centre(&self) -> Vec3<f64> {
        match self {
            Self::Hull(hull) => hull.centre,
            Self::HeightField(ground) => Vec3::new(0.0, 0.0, 0.5 * (ground.top - ground.base)),
            _ => Vec3::ZERO,
        }
    }

    /// Radius of a ball about [`Solid::centre`] that holds the shape; infinite for a plane.
    pub fn bounding_radius(&self) -> f64 {
        match self {
            Self::Plane => f64::INFINITY,
            &Self::Sphere { radius } => radius,
            &Self::Capsule { radius, half_length } => radius + half_length,
            &Self::Cylinder { radius, half_length } => (radius * radius + half_length * half_length).sqrt(),
            Self::Ellipsoid { radii } => radii.x.max(radii.y).max(radii.z),
            Self::Box { half } => half.norm(),
            Self::Hull(hull) => hull.radius,
            Self::HeightField(_) => self.half_extents().unwrap_or(Vec3::ZERO).norm(),
        }
    }
}

/// Where a geom is in the world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Placement {
    pub rot: Mat3<f64>,
    pub pos: Vec3<f64>,
}

impl Placement {
    /// The image of a point.
    #[inline(always)]
    pub fn point(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.rot * p + self.pos
    }

    /// The point in the geom's own frame.
    #[inline(always)]
    pub fn local(&self, p: Vec3<f64>) -> Vec3<f64> {
        self.rot.transpose_mul(p - self.pos)
    }
}

impl From<Pose<f64>> for Placement {
    fn from(pose: Pose<f64>) -> Self {
        Self { rot: pose.rot.to_mat3(), pos: pose.pos }
    }
}
