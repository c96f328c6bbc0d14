//! What contacts and rays need of a mesh, made once for all that have it.

use std::sync::{Arc, OnceLock};

use parry3d_f64::math::Vector;
use parry3d_f64::shape::TriMesh;
use spatial::Vec3;

use crate::hull::Hull;

/// Vertices and triangles.
#[derive(Clone, Debug, Default)]
pub struct Surface {
    /// Vertices.
    pub vertices: Vec<Vec3<f64>>,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
}

/// What follows from the vertices and triangles of a mesh. A clone begins without any, since its mesh may be changed.
#[derive(Default)]
pub struct PreparedMesh {
    hull_surface: OnceLock<Option<Surface>>,
    hull: OnceLock<Arc<Hull>>,
    inner_radius: OnceLock<f64>,
    ball: OnceLock<Option<(Vec3<f64>, f64)>>,
    triangles: OnceLock<Option<Arc<TriMesh>>>,
}

impl Clone for PreparedMesh {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl std::fmt::Debug for PreparedMesh {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PreparedMesh").finish_non_exhaustive()
    }
}

impl PreparedMesh {
    /// See [`Mesh::hull`](crate::Mesh::hull).
    pub(crate) fn hull_surface(&self, find: impl FnOnce() -> Option<Surface>) -> Option<&Surface> {
        self.hull_surface.get_or_init(find).as_ref()
    }

    #[cfg(test)]
    pub(crate) fn has_hull_surface(&self) -> bool {
        self.hull_surface.get().is_some()
    }

    /// The hull of its mesh for contacts, whose surface is this.
    pub(crate) fn hull(&self, of: &Surface) -> Arc<Hull> {
        self.hull.get_or_init(|| Arc::new(Hull::new(&of.vertices, &of.triangles))).clone()
    }

    /// See [`Shape::inner_radius`](crate::Shape::inner_radius).
    pub(crate) fn inner_radius(&self, find: impl FnOnce() -> f64) -> f64 {
        *self.inner_radius.get_or_init(find)
    }

    /// A ball around its vertices.
    pub(crate) fn ball(&self, vertices: &[Vec3<f64>]) -> Option<(Vec3<f64>, f64)> {
        *self.ball.get_or_init(|| ball_of(vertices))
    }

    /// Its triangles, for rays.
    pub(crate) fn triangles(&self, vertices: &[Vec3<f64>], triangles: &[[u32; 3]]) -> Option<Arc<TriMesh>> {
        let make = || triangle_mesh(vertices, triangles.to_vec()).map(Arc::new);
        self.triangles.get_or_init(make).clone()
    }
}

/// A ball around points.
fn ball_of(points: &[Vec3<f64>]) -> Option<(Vec3<f64>, f64)> {
    let first = *points.first()?;
    let (low, high) = points.iter().fold((first, first), |(low, high), p| {
        (
            Vec3::new(low.x.min(p.x), low.y.min(p.y), low.z.min(p.z)),
            Vec3::new(high.x.max(p.x), high.y.max(p.y), high.z.max(p.z)),
        )
    });
    let centre = (low + high) * 0.5;
    Some((centre, points.iter().fold(0.0, |most, p| f64::max(most, (*p - centre).norm()))))
}

pub(crate) fn triangle_mesh(vertices: &[Vec3<f64>], triangles: Vec<[u32; 3]>) -> Option<TriMesh> {
    let vertices = vertices.iter().map(|v| Vector::new(v.x, v.y, v.z)).collect();
    TriMesh::new(vertices, triangles).ok()
}
