//! Shapes, in frames of their own.

use std::sync::Arc;

use spatial::Vec3;

use crate::looks::MeshSurface;
use crate::prepared::{PreparedMesh, Surface};

/// The shape of a geom, in its own frame, in metres.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub enum Shape {
    /// The half-space z ≤ 0. The half extents are for pictures only; 0 stands for infinite.
    Plane {
        /// Half extents along x and y.
        half_extents: [f64; 2],
    },
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
    /// A triangle mesh. Contacts see its convex hull, pictures the triangles.
    Mesh(Arc<Mesh>),
    /// A height field over x and y.
    HeightField(Arc<HeightField>),
}

impl Shape {
    /// How far the shape reaches from its origin in a direction, unit, in its frame, m; a mesh by its convex hull. Minus infinity for
    /// planes and height fields.
    ///
    /// ```
    /// # use sapwood_geometry::Shape;
    /// # use spatial::Vec3;
    /// let capsule = Shape::Capsule { radius: 0.1, half_length: 0.3 };
    /// assert_eq!(capsule.reach(Vec3::new(0.0, 0.0, -1.0)), 0.4);
    /// assert_eq!(capsule.reach(Vec3::new(1.0, 0.0, 0.0)), 0.1);
    /// ```
    #[must_use]
    pub fn reach(&self, direction: Vec3<f64>) -> f64 {
        let d = direction;
        match self {
            Self::Sphere { radius } => *radius,
            Self::Capsule { radius, half_length } => radius + half_length * d.z.abs(),
            Self::Cylinder { radius, half_length } => radius * (d.x * d.x + d.y * d.y).sqrt() + half_length * d.z.abs(),
            Self::Ellipsoid { radii: [a, b, c] } => ((a * d.x).powi(2) + (b * d.y).powi(2) + (c * d.z).powi(2)).sqrt(),
            Self::Box { half_extents: [a, b, c] } => a * d.x.abs() + b * d.y.abs() + c * d.z.abs(),
            Self::Mesh(mesh) => {
                let corners = mesh.hull().map_or(&[][..], |hull| &hull.vertices);
                corners.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max)
            }
            Self::Plane { .. } | Self::HeightField(_) => f64::NEG_INFINITY,
        }
    }

    /// Whether it is the same shape: of meshes and height fields the same one, not one like it.
    pub(crate) fn is(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Plane { .. }, Self::Plane { .. }) => true,
            (Self::Sphere { radius: a }, Self::Sphere { radius: b }) => a == b,
            (Self::Capsule { radius: a, half_length: b }, Self::Capsule { radius: c, half_length: d })
            | (Self::Cylinder { radius: a, half_length: b }, Self::Cylinder { radius: c, half_length: d }) => {
                (a, b) == (c, d)
            }
            (Self::Ellipsoid { radii: a }, Self::Ellipsoid { radii: b })
            | (Self::Box { half_extents: a }, Self::Box { half_extents: b }) => a == b,
            (Self::Mesh(a), Self::Mesh(b)) => Arc::ptr_eq(a, b),
            (Self::HeightField(a), Self::HeightField(b)) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }

    /// The radius of a ball inside the shape, m: half its least thickness, for a mesh that of its convex hull as seen from the mean of
    /// the hull's vertices. Infinite for planes and height fields, which have an inside and an outside but no thickness that counts.
    #[must_use]
    pub fn inner_radius(&self) -> f64 {
        match self {
            Self::Plane { .. } | Self::HeightField(_) => f64::INFINITY,
            Self::Sphere { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Cylinder { radius, half_length } => radius.min(*half_length),
            Self::Ellipsoid { radii: sizes } | Self::Box { half_extents: sizes } => {
                sizes.iter().copied().fold(f64::INFINITY, f64::min)
            }
            Self::Mesh(mesh) => mesh.prepared.inner_radius(|| mesh.hull().map_or(0.0, Surface::inner_radius)),
        }
    }
}

/// Triangles. Contacts see the convex hull of their vertices: [`Mesh::hull`].
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Mesh {
    /// Name.
    pub name: String,
    /// Vertices.
    pub vertices: Vec<Vec3<f64>>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// What its file says of its looks.
    pub surface: MeshSurface,
    /// What contacts and rays need of it, made when they first ask: all scenes that have the mesh share it.
    #[serde(skip)]
    pub prepared: PreparedMesh,
}

/// Heights over a regular grid, linear on triangles.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct HeightField {
    /// Name.
    pub name: String,
    /// Number of rows (along y) and columns (along x).
    pub size: [usize; 2],
    /// Half extents along x and y.
    pub half_extents: [f64; 2],
    /// Heights, row by row from −y, in each from −x; m above the frame's origin.
    pub heights: Vec<f64>,
    /// Thickness below height 0.
    pub base: f64,
}
