//! Triangle meshes and height fields: construction with every check that later code relies on.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use parry3d_f64::math::Vector;
use parry3d_f64::transformation::try_convex_hull;
use spatial::Vec3;

use crate::prepared::Surface;
use crate::shape::{HeightField, Mesh};

/// The greatest size of a height field, m: MuJoCo's greatest number. Products of greater ones overflow.
const MAX_EXTENT: f64 = 1e10;

/// Why a mesh cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshError {
    /// No vertex.
    #[error("mesh \"{mesh}\" has no vertices")]
    Empty {
        /// The mesh's name.
        mesh: String,
    },
    /// An infinite or undefined coordinate.
    #[error("mesh \"{mesh}\": vertex {vertex} is not finite: ({}, {}, {})", .at[0], .at[1], .at[2])]
    NotFinite {
        /// The mesh's name.
        mesh: String,
        /// The vertex, from 0.
        vertex: usize,
        /// Its coordinates.
        at: [f64; 3],
    },
    /// A triangle that names a vertex that is not there.
    #[error("mesh \"{mesh}\": triangle {triangle} names vertex {vertex}, but there are only {vertices}")]
    Index {
        /// The mesh's name.
        mesh: String,
        /// The triangle, from 0.
        triangle: usize,
        /// The vertex that it names.
        vertex: u32,
        /// Number of vertices.
        vertices: usize,
    },
    /// More vertices than a 32-bit index can name.
    #[error("mesh \"{mesh}\" has {vertices} vertices; at most 2³² − 1 can be indexed")]
    TooLarge {
        /// The mesh's name.
        mesh: String,
        /// Number of vertices.
        vertices: usize,
    },
}

/// Why a height field cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum HeightFieldError {
    /// Fewer than 2 rows or columns.
    #[error("height field \"{field}\" has {rows} × {columns} samples; at least 2 × 2 are needed")]
    TooSmall {
        /// The field's name.
        field: String,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Not as many heights as rows × columns.
    #[error("height field \"{field}\" of {rows} × {columns} samples has {heights} heights")]
    Count {
        /// The field's name.
        field: String,
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
        /// Heights given.
        heights: usize,
    },
    /// A half extent that is not positive, or a base that is negative.
    #[error("height field \"{field}\": {what} is {value}, which is not {expected}")]
    Extent {
        /// The field's name.
        field: String,
        /// Which number.
        what: &'static str,
        /// Its value.
        value: f64,
        /// What it should be.
        expected: &'static str,
    },
    /// A height that is undefined, or no length that anything has.
    #[error(
        "height field \"{field}\": the height in row {row}, column {column} is {value}, which is not from -1e10 to 1e10"
    )]
    Height {
        /// The field's name.
        field: String,
        /// Row, from 0.
        row: usize,
        /// Column, from 0.
        column: usize,
        /// The height.
        value: f64,
    },
}

impl Mesh {
    /// A mesh. `triangles` may be empty; contacts need the vertices alone.
    ///
    /// # Errors
    /// When there is no vertex, a coordinate is not finite, or a triangle names a vertex that is not there.
    pub fn new(name: impl Into<String>, vertices: Vec<Vec3<f64>>, triangles: Vec<[u32; 3]>) -> Result<Self, MeshError> {
        let mesh = name.into();
        if vertices.is_empty() {
            return Err(MeshError::Empty { mesh });
        }
        if vertices.len() > u32::MAX as usize {
            return Err(MeshError::TooLarge { mesh, vertices: vertices.len() });
        }
        if let Some(vertex) = vertices.iter().position(|v| !v.is_finite()) {
            return Err(MeshError::NotFinite { mesh, vertex, at: vertices[vertex].to_array() });
        }
        let n = vertices.len();
        for (triangle, corners) in triangles.iter().enumerate() {
            if let Some(&vertex) = corners.iter().find(|&&c| c as usize >= n) {
                return Err(MeshError::Index { mesh, triangle, vertex, vertices: n });
            }
        }
        Ok(Self { name: mesh, vertices, triangles, ..Self::default() })
    }

    /// The convex hull, its triangles counter-clockwise seen from outside; none when the vertices span no volume: such a mesh can be shown but
    /// not touched. It is made when it is first asked for, since most meshes are there to be seen alone.
    pub fn hull(&self) -> Option<&Surface> {
        self.prepared.hull_surface(|| convex_hull(&self.vertices))
    }

    /// The mesh of the convex hull in place of bare points; none when they span no volume.
    #[must_use]
    pub fn stand_for_hull(self) -> Option<Self> {
        let Surface { vertices, triangles } = self.hull()?.clone();
        Some(Self { name: self.name, vertices, triangles, ..Self::default() })
    }
}

impl Surface {
    /// The radius of the largest ball in a convex surface about the mean of its vertices, m.
    pub(crate) fn inner_radius(&self) -> f64 {
        let corners = &self.vertices;
        let centre = corners.iter().fold(Vec3::ZERO, |sum, v| sum + *v) * (1.0 / corners.len().max(1) as f64);
        let height = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| corners[i as usize]);
            (b - a).cross(c - a).normalized().map_or(f64::INFINITY, |normal| normal.dot(a - centre))
        };
        let least = self.triangles.iter().map(height).fold(f64::INFINITY, f64::min);
        if least.is_finite() { least.max(0.0) } else { 0.0 }
    }
}

impl HeightField {
    /// A height field of `size` = \[rows, columns\] samples, row by row from −y, each from −x.
    ///
    /// # Errors
    /// When there are fewer than 2 rows or columns, `heights` has another length than rows × columns or holds a
    /// number that is not within ±1e10 m, a half extent is not positive or `base` is negative.
    pub fn new(
        name: impl Into<String>,
        size: [usize; 2],
        half_extents: [f64; 2],
        heights: Vec<f64>,
        base: f64,
    ) -> Result<Self, HeightFieldError> {
        let field = name.into();
        let [rows, columns] = size;
        if rows < 2 || columns < 2 {
            return Err(HeightFieldError::TooSmall { field, rows, columns });
        }
        if rows.checked_mul(columns) != Some(heights.len()) {
            return Err(HeightFieldError::Count { field, rows, columns, heights: heights.len() });
        }
        for (what, value) in [("half extent along x", half_extents[0]), ("half extent along y", half_extents[1])] {
            if !(value > 0.0 && value <= MAX_EXTENT) {
                return Err(HeightFieldError::Extent { field, what, value, expected: "above 0 and at most 1e10" });
            }
        }
        if !(0.0..=MAX_EXTENT).contains(&base) {
            return Err(HeightFieldError::Extent {
                field,
                what: "base",
                value: base,
                expected: "≥ 0 and at most 1e10",
            });
        }
        if let Some(i) = heights.iter().position(|h| !(-MAX_EXTENT..=MAX_EXTENT).contains(h)) {
            let (row, column) = (i / columns, i % columns);
            return Err(HeightFieldError::Height { field, row, column, value: heights[i] });
        }
        Ok(Self { name: field, size, half_extents, heights, base })
    }
}

/// How much farther out the farthest points are taken to be, relative to the size of all. Points that stand out of a face by less are lost.
const HOLLOW: f64 = 1e-9;
/// By how much points are moved at random, relative to that size: round-off is a ten thousandth of it.
const ROUGH: f64 = 1e-12;

/// The convex hull, or `None` when it has no volume.
fn convex_hull(vertices: &[Vec3<f64>]) -> Option<Surface> {
    let points = distinct(vertices);
    if points.len() < 4 || is_flat(&points) {
        return None;
    }
    let dented: Vec<_> = without_flat_faces(&points).map(|p| Vector::new(p.x, p.y, p.z)).collect();
    let bits = |p: &Vector| [p.x, p.y, p.z].map(f64::to_bits);
    let place_of: HashMap<_, _> = dented.iter().enumerate().map(|(i, p)| (bits(p), i)).collect();
    // The library asserts its own invariants, which round-off can break on nearly flat sets; to the caller that
    // is one more set of points without a usable hull.
    let (vertices, triangles) = catch_unwind(AssertUnwindSafe(|| try_convex_hull(&dented).ok())).ok()??;
    let vertices = vertices.iter().map(|p| place_of.get(&bits(p)).map(|i| points[*i])).collect::<Option<Vec<_>>>()?;
    (triangles.len() >= 4).then_some(Surface { vertices, triangles })
}

/// The points with flat faces slightly hollow and their rims slightly rough: of n points in one plane the library keeps n² numbers, and what
/// lies within a face or an edge is no corner of the hull.
fn without_flat_faces(points: &[Vec3<f64>]) -> impl Iterator<Item = Vec3<f64>> + '_ {
    let bound =
        |f: fn(f64, f64) -> f64| points.iter().fold(points[0], |a, b| Vec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)));
    let (low, high) = (bound(f64::min), bound(f64::max));
    let (centre, size) = ((low + high) * 0.5, (high - low).norm() * 0.5);
    let mut random = support::SplitMix64(0);
    points.iter().map(move |&p| {
        let arm = p - centre;
        let rough = Vec3::new(random.symmetric(), random.symmetric(), random.symmetric());
        p + arm * (HOLLOW * arm.norm_squared() / (size * size)) + rough * (ROUGH * size)
    })
}

/// The points without repetitions, in lexicographic order.
fn distinct(vertices: &[Vec3<f64>]) -> Vec<Vec3<f64>> {
    // Adding zero turns −0 into 0, so that equal coordinates compare equal in the total order.
    let mut points: Vec<_> = vertices.iter().map(|v| [v.x + 0.0, v.y + 0.0, v.z + 0.0]).collect();
    points.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])).then(a[2].total_cmp(&b[2])));
    points.dedup();
    points.into_iter().map(Vec3::from).collect()
}

/// Whether the points lie in a plane, to 1e-7 of their extent.
fn is_flat(points: &[Vec3<f64>]) -> bool {
    let a = points[0];
    let farthest = |measure: &dyn Fn(Vec3<f64>) -> f64| {
        let mut best = (0.0, a);
        for &p in points {
            let m = measure(p);
            if m > best.0 {
                best = (m, p);
            }
        }
        best
    };
    let (extent, b) = farthest(&|p| (p - a).norm());
    let Some(ab) = (b - a).normalized() else { return true };
    let (width, c) = farthest(&|p| (p - a).cross(ab).norm());
    let Some(normal) = ab.cross(c - a).normalized() else { return true };
    let (thickness, _) = farthest(&|p| (p - a).dot(normal).abs());
    width <= 1e-7 * extent || thickness <= 1e-7 * extent
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cube() -> Vec<Vec3<f64>> {
        (0..8).map(|i| Vec3::new((i & 1) as f64, (i >> 1 & 1) as f64, (i >> 2) as f64)).collect()
    }

    #[test]
    fn hull_of_a_cube_ignores_inner_and_repeated_points() {
        let mut points = cube();
        points.extend(cube());
        points.push(Vec3::new(0.5, 0.5, 0.25));
        let mesh = Mesh::new("cube", points, vec![]).unwrap();
        let hull = mesh.hull().unwrap();
        assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
        let centre = Vec3::new(0.5, 0.5, 0.5);
        for t in &hull.triangles {
            let [a, b, c] = t.map(|i| hull.vertices[i as usize]);
            assert!((b - a).cross(c - a).dot(a - centre) > 0.0, "outward");
        }
    }

    #[test]
    fn points_within_faces_and_edges_are_no_corners() {
        let of = |i: usize| (i % 21) as f64 / 20.0;
        let grid = (0..21 * 21 * 21).map(|i| Vec3::new(of(i), of(i / 21), of(i / 441)));
        let turn = spatial::Quat::from_rotation_vector(Vec3::new(0.3, -0.7, 0.2));
        for points in [grid.clone().collect::<Vec<_>>(), grid.map(|p| turn * p * 0.01).collect()] {
            let mesh = Mesh::new("grid", points, vec![]).unwrap();
            let hull = mesh.hull().unwrap();
            assert_eq!((hull.vertices.len(), hull.triangles.len()), (8, 12));
        }
    }

    #[test]
    fn a_face_of_many_corners_costs_no_more_than_a_round_one() {
        let corners = 8000;
        let at = |i: usize| (std::f64::consts::TAU * i as f64 / corners as f64).sin_cos();
        let rim = |z: f64| (0..corners).map(move |i| Vec3::new(at(i).1, at(i).0, z));
        let mesh = Mesh::new("drum", rim(0.0).chain(rim(1.0)).collect(), vec![]).unwrap();
        // All corners, and triangles as Euler has them.
        let hull = mesh.hull().unwrap();
        assert_eq!((hull.vertices.len(), hull.triangles.len()), (2 * corners, 4 * corners - 4));
    }

    #[test]
    fn flat_and_tiny_sets_have_no_hull_and_do_not_panic() {
        let square: Vec<_> = cube().into_iter().filter(|p| p.z == 0.0).collect();
        let line: Vec<_> = (0..9).map(|i| Vec3::new(0.1, 0.2, 0.3) * i as f64).collect();
        let sliver: Vec<_> = cube().into_iter().map(|p| Vec3::new(p.x, p.y, 1e-12 * p.z)).collect();
        for points in [square, line, sliver, vec![Vec3::ZERO; 7], cube()[..3].to_vec()] {
            assert!(Mesh::new("flat", points, vec![]).unwrap().hull().is_none());
        }
        let thin: Vec<_> = cube().into_iter().map(|p| Vec3::new(p.x, p.y, 1e-4 * p.z)).collect();
        assert!(Mesh::new("thin", thin, vec![]).unwrap().hull().is_some());
    }

    #[test]
    fn only_what_may_touch_has_a_hull_made() {
        use crate::{Attachment, Collider, Geom, PairCollider, PairSpec, Scene, Shape};
        let mesh = || std::sync::Arc::new(Mesh::new("cube", cube(), vec![]).unwrap());
        let (seen, touched, paired) = (mesh(), mesh(), mesh());
        let geom = |mesh: &std::sync::Arc<Mesh>, bits: u32| Geom {
            contype: bits,
            conaffinity: bits,
            ..Geom::new(0, Shape::Mesh(mesh.clone()))
        };
        let geoms = vec![geom(&seen, 0), geom(&touched, 1), geom(&paired, 0)];
        let pairs = vec![PairSpec { geoms: [1, 2], material: 0, margin: 0.0 }];
        let mut scene = Scene { geoms, pairs, ..Scene::default() };
        let at = |frame: Option<usize>| Attachment {
            frame,
            pose: spatial::Pose::IDENTITY,
            group: frame.map_or(0, |i| i + 1),
            parent_group: 0,
        };
        let attachments = [at(Some(0)), at(Some(1)), at(None)];
        let _ = Collider::new(std::sync::Arc::new(scene.clone()), attachments.to_vec());
        let _ = PairCollider::new(&scene, &attachments, &[0.0; 3]);
        let has_hull = [&seen, &touched, &paired].map(|mesh| mesh.prepared.has_hull_surface());
        assert_eq!(has_hull, [false, true, true]);
        // Contact may be switched on later.
        (scene.geoms[0].contype, scene.geoms[0].conaffinity) = (1, 1);
        let _ = Collider::new(std::sync::Arc::new(scene), attachments.to_vec());
        assert!(seen.prepared.has_hull_surface());
    }

    #[test]
    fn bad_input_is_named() {
        assert!(matches!(Mesh::new("m", vec![], vec![]), Err(MeshError::Empty { .. })));
        let mut points = cube();
        points[3].y = f64::NAN;
        assert!(Mesh::new("m", points, vec![]).unwrap_err().to_string().contains("vertex 3"));
        let e = Mesh::new("m", cube(), vec![[0, 1, 2], [0, 1, 8]]).unwrap_err();
        assert!(matches!(e, MeshError::Index { triangle: 1, vertex: 8, vertices: 8, .. }));
        let field = |size, heights, base| HeightField::new("f", size, [1.0, 1.0], heights, base);
        assert!(field([2, 2], vec![0.0; 4], 0.1).is_ok());
        assert!(matches!(field([1, 4], vec![0.0; 4], 0.1), Err(HeightFieldError::TooSmall { .. })));
        assert!(matches!(field([2, 2], vec![0.0; 5], 0.1), Err(HeightFieldError::Count { heights: 5, .. })));
        assert!(matches!(field([2, 2], vec![0.0; 4], -0.1), Err(HeightFieldError::Extent { .. })));
        let wide = HeightField::new("f", [2, 2], [1.0, 1e308], vec![0.0; 4], 0.1);
        assert!(matches!(wide, Err(HeightFieldError::Extent { what: "half extent along y", .. })));
        let nan = vec![0.0, 0.0, f64::INFINITY, 0.0];
        assert!(matches!(field([2, 2], nan, 0.0), Err(HeightFieldError::Height { row: 1, column: 0, .. })));
        let high = vec![0.0, 1e308, 0.0, 0.0];
        assert!(matches!(field([2, 2], high, 0.0), Err(HeightFieldError::Height { row: 0, column: 1, .. })));
    }
}
