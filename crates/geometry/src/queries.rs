//! Questions about a scene that contacts do not answer: what a ray meets, how far two geoms are apart.

mod ray;

use std::sync::Arc;
use std::sync::OnceLock;

use parry3d_f64::shape::TriMesh;
use spatial::{Pose, Vec3};

use crate::narrow::{Convex, nearest_points};
use crate::prepared::triangle_mesh;
use crate::scene::Scene;
use crate::shape::{HeightField, Shape};
use crate::solid::{PlacedSolid, Placement, Solid};

/// Where a ray meets a geom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RayHit {
    /// The geom, an index into the scene.
    pub geom: usize,
    /// From the ray's origin, m.
    pub distance: f64,
    /// Unit normal of the surface there, world, on the side that the ray comes from.
    pub normal: Vec3<f64>,
}

/// How two geoms are apart.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Separation {
    /// Distance of the surfaces, m; negative where the geoms overlap: the least way apart.
    pub distance: f64,
    /// Points of the surfaces of the first and the second geom that are so far apart, world, m.
    pub points: [Vec3<f64>; 2],
    /// Unit normal from the first geom towards the second, world.
    pub normal: Vec3<f64>,
}

/// Casts rays into a scene and measures distances of its geoms; what it needs of a geom is made when it is first asked about.
#[derive(Debug)]
pub struct SceneQueries {
    scene: Arc<Scene>,
    /// Bounding balls, in the geoms' frames; none of what has no convex hull.
    balls: Vec<Option<(Vec3<f64>, f64)>>,
    solids: Vec<OnceLock<Option<Solid>>>,
    triangles: Vec<OnceLock<Option<Arc<TriMesh>>>>,
    workspace: Convex,
}

impl SceneQueries {
    /// For the geoms of a scene.
    pub fn new(scene: Arc<Scene>) -> Self {
        let n = scene.geoms.len();
        let ball = |geom: &crate::Geom| match &geom.shape {
            Shape::Mesh(mesh) => mesh.prepared.ball(&mesh.vertices),
            shape => shape.bounding_ball(),
        };
        Self {
            balls: scene.geoms.iter().map(ball).collect(),
            solids: vec![OnceLock::new(); n],
            triangles: (0..n).map(|_| OnceLock::new()).collect(),
            workspace: Convex::default(),
            scene,
        }
    }

    /// The first geom that a ray from `origin` along the unit vector `direction` meets within `limit`, m, and where: its surface from either
    /// side, so that a ray which begins inside a shape meets it where it leaves. Planes are met from above alone, and where they are
    /// drawn; meshes by their triangles, not their convex hulls; height fields by their surface, sides and bottom.
    ///
    /// `pose` places a geom, or is none where the ray goes through.
    pub fn ray(
        &self,
        origin: Vec3<f64>,
        direction: Vec3<f64>,
        limit: f64,
        mut pose: impl FnMut(usize) -> Option<Pose<f64>>,
    ) -> Option<RayHit> {
        let mut hit: Option<RayHit> = None;
        let mut reach = limit;
        for (geom, (of, ball)) in self.scene.geoms.iter().zip(&self.balls).enumerate() {
            let Some((centre, radius)) = *ball else { continue };
            let Some(pose) = pose(geom) else { continue };
            if radius.is_finite() && is_beside(pose.transform_point(centre) - origin, direction, radius, reach) {
                continue;
            }
            let rot = pose.rot.to_mat3();
            let (from, along) = (rot.transpose_mul(origin - pose.pos), rot.transpose_mul(direction));
            let met = match &of.shape {
                Shape::Mesh(_) | Shape::HeightField(_) => {
                    self.triangles(geom).and_then(|mesh| ray::triangles(mesh, from, along, reach))
                }
                shape => ray::surface(shape, from, along),
            };
            if let Some((distance, normal)) = met.filter(|(distance, _)| *distance < reach) {
                reach = distance;
                let normal = rot * normal;
                let normal = if normal.dot(direction) > 0.0 { -normal } else { normal };
                hit = Some(RayHit { geom, distance, normal });
            }
        }
        hit
    }

    /// How far two geoms are apart, placed by `poses`; none of two that have no inside (planes, height fields), and of a mesh without a convex
    /// hull. Meshes count as their convex hulls, as in contact, planes as half-spaces without end.
    pub fn separation(&mut self, geoms: [usize; 2], poses: [Pose<f64>; 2]) -> Option<Separation> {
        let [Some(a), Some(b)] = geoms.map(|geom| self.solid(geom).clone()) else { return None };
        let [at, bt] = poses.map(Placement::from);
        let (a, b) = (PlacedSolid { solid: &a, at: &at }, PlacedSolid { solid: &b, at: &bt });
        if b.solid.rank() < a.solid.rank() {
            let Separation { distance, points: [p, q], normal } = self.in_order([geoms[1], geoms[0]], b, a)?;
            return Some(Separation { distance, points: [q, p], normal: -normal });
        }
        self.in_order(geoms, a, b)
    }

    /// The same of geoms in the canonical order of shapes.
    fn in_order(&mut self, geoms: [usize; 2], a: PlacedSolid<'_>, b: PlacedSolid<'_>) -> Option<Separation> {
        let Self { scene, triangles, workspace, .. } = self;
        let surface = triangles[geoms[0]].get_or_init(|| surface_mesh(&scene.geoms[geoms[0]].shape)).as_deref();
        let (normal, position, distance) = nearest_points(a, b, surface, workspace)?;
        let half = normal * (0.5 * distance);
        Some(Separation { distance, points: [position - half, position + half], normal })
    }

    fn solid(&self, geom: usize) -> &Option<Solid> {
        self.solids[geom].get_or_init(|| Solid::new(&self.scene.geoms[geom].shape))
    }

    fn triangles(&self, geom: usize) -> Option<&TriMesh> {
        self.triangles[geom].get_or_init(|| surface_mesh(&self.scene.geoms[geom].shape)).as_deref()
    }
}

/// The triangles of a mesh or a height field.
fn surface_mesh(shape: &Shape) -> Option<Arc<TriMesh>> {
    match shape {
        Shape::Mesh(mesh) => mesh.prepared.triangles(&mesh.vertices, &mesh.triangles),
        Shape::HeightField(field) => {
            let (vertices, triangles) = surface_of(field);
            triangle_mesh(&vertices, triangles).map(Arc::new)
        }
        _ => None,
    }
}

/// Whether a ball at `to` from the ray's origin is out of its way, behind it or beyond its reach.
fn is_beside(to: Vec3<f64>, direction: Vec3<f64>, radius: f64, reach: f64) -> bool {
    // Wider by some round-off.
    let radius = radius * (1.0 + 1e-12) + 1e-12 * to.norm();
    let along = to.dot(direction);
    along < -radius || along > reach + radius || (to - direction * along).norm_squared() > radius * radius
}

/// The surface of a height field, its sides and its bottom.
fn surface_of(field: &HeightField) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
    let [rows, columns] = field.size;
    let [hx, hy] = field.half_extents;
    let at = |i: usize, n: usize, h: f64| h * (2.0 * i as f64 / (n.max(2) - 1) as f64 - 1.0);
    let grid = |height: &dyn Fn(usize) -> f64| -> Vec<Vec3<f64>> {
        let cells = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        cells.map(|(r, c)| Vec3::new(at(c, columns, hx), at(r, rows, hy), height(r * columns + c))).collect()
    };
    let mut vertices = grid(&|k| field.heights[k]);
    vertices.extend(grid(&|_| -field.base));
    let vertex = |layer: usize, row: usize, column: usize| (layer * rows * columns + row * columns + column) as u32;
    let mut triangles = Vec::new();
    let mut quad = |[a, b, c, d]: [u32; 4]| triangles.extend([[a, b, c], [a, c, d]]);
    for row in 1..rows {
        for column in 1..columns {
            let corners = [(row - 1, column - 1), (row - 1, column), (row, column), (row, column - 1)];
            quad(corners.map(|(row, column)| vertex(0, row, column)));
        }
        for column in [0, columns - 1] {
            quad([(1, row - 1), (1, row), (0, row), (0, row - 1)].map(|(layer, row)| vertex(layer, row, column)));
        }
    }
    for column in 1..columns {
        for row in [0, rows - 1] {
            let corners = [(1, column - 1), (1, column), (0, column), (0, column - 1)];
            quad(corners.map(|(layer, column)| vertex(layer, row, column)));
        }
    }
    let (r, c) = (rows - 1, columns - 1);
    quad([(0, 0), (0, c), (r, c), (r, 0)].map(|(row, column)| vertex(1, row, column)));
    (vertices, triangles)
}
