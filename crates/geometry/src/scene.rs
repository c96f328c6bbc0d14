//! What can touch: shapes fixed in bodies, and which pairs of them may meet.

use std::sync::Arc;

use spatial::{Pose, Vec3};

use crate::looks::{Look, MeshSurface, Texture};

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
    /// Centre and radius of a ball that holds the shape, m, the radius infinite for a plane; none of a mesh without a convex hull, which
    /// cannot touch.
    #[must_use]
    pub fn bounding_ball(&self) -> Option<(Vec3<f64>, f64)> {
        crate::solid::Solid::new(self).map(|solid| (solid.centre(), solid.bounding_radius()))
    }

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
            Self::Mesh(mesh) => mesh.hull_vertices.iter().map(|p| p.dot(d)).fold(f64::NEG_INFINITY, f64::max),
            Self::Plane { .. } | Self::HeightField(_) => f64::NEG_INFINITY,
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
            Self::Mesh(mesh) => mesh.inner_radius(),
        }
    }
}

/// Triangles, and the convex hull of their vertices.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Mesh {
    /// Name.
    pub name: String,
    /// Vertices.
    pub vertices: Vec<Vec3<f64>>,
    /// Triangles, counter-clockwise seen from outside.
    pub triangles: Vec<[u32; 3]>,
    /// Vertices of the convex hull.
    pub hull_vertices: Vec<Vec3<f64>>,
    /// Triangles of the convex hull, counter-clockwise seen from outside.
    pub hull_triangles: Vec<[u32; 3]>,
    /// What its file says of its looks.
    pub surface: MeshSurface,
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

/// A shape fixed in a body.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Geom {
    /// Name; empty when the file gives none.
    pub name: String,
    /// The body that it moves with.
    pub body: usize,
    /// Its frame in the body's frame.
    pub pose: Pose<f64>,
    /// Its shape.
    pub shape: Shape,
    /// Two geoms may touch when one's `contype` and the other's `conaffinity` share a bit.
    pub contype: u32,
    /// See `contype`.
    pub conaffinity: u32,
    /// Its surface: an index that the caller gives a meaning.
    pub material: usize,
    /// Contact force begins at this distance from the surface, m.
    pub margin: f64,
    /// Red, green, blue, opacity in 0..=1.
    pub rgba: [f32; 4],
    /// The group that pictures select by: 3 and above are hidden at first, by convention collision shapes beside visual ones.
    pub group: u32,
    /// What it shows in the place of that colour.
    pub look: Option<Look>,
}

/// A pair that may touch whatever its bits say, with a surface of its own.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct PairSpec {
    /// The two geoms.
    pub geoms: [usize; 2],
    /// The pair's own surface.
    pub material: usize,
    /// Contact force begins at this distance, m.
    pub margin: f64,
}

/// The geoms of a model.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Scene {
    /// The geoms.
    pub geoms: Vec<Geom>,
    /// Explicit pairs.
    pub pairs: Vec<PairSpec>,
    /// Pairs of bodies whose geoms never touch.
    pub excluded: Vec<[usize; 2]>,
    /// What is seen where nothing else is: a cube.
    pub sky: Option<Arc<Texture>>,
    /// Soft bodies.
    pub soft_bodies: Vec<Arc<deformable::SoftBody>>,
    /// Nodes of soft bodies that are held by bodies.
    pub soft_attachments: Vec<SoftAttachment>,
}

/// A node of a soft body that is held by a body, where it is when the model is in its default configuration.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SoftAttachment {
    /// The soft body, an index of [`Scene::soft_bodies`].
    pub soft: usize,
    /// The node of its mesh.
    pub node: u32,
    /// The body that holds it.
    pub body: usize,
    /// The point of the body where the node is held, in the body's frame, m.
    pub point: Vec3<f64>,
}
