//! Triangles with normals at their corners.

use std::collections::HashMap;

use geometry::{HeightField, Mesh, MeshSurface};
use spatial::Vec3;

type Vector = Vec3<f64>;

/// Faces that meet at a smaller angle than this share a normal: its cosine, of 35°.
const SMOOTH: f64 = 0.819_152;

/// Corners with more faces than this keep each face's own normal: smoothing compares all of a corner with one another.
const MAX_FACES: usize = 256;

/// A mesh as it is drawn.
#[derive(Clone, Debug)]
pub(crate) struct DrawnMesh {
    pub vertices: Vec<Vector>,
    pub triangles: Vec<[u32; 3]>,
    /// Unit normals at the corners of every triangle.
    pub normals: Vec<[[f32; 3]; 3]>,
    /// The corners of the box around it.
    pub bounds: [Vector; 2],
    /// What its file says of the looks of its triangles.
    pub surface: MeshSurface,
    /// Colours of the vertices; none, where it has those of its item.
    pub colours: Vec<[f32; 3]>,
}

impl DrawnMesh {
    /// The mesh with normals that are smooth where faces meet at small angles.
    pub fn new(vertices: Vec<Vector>, triangles: Vec<[u32; 3]>) -> Self {
        let faces: Vec<Vector> = triangles.iter().map(|t| face_normal(&vertices, t)).collect();
        let normals = corner_normals(&vertices, &triangles, &faces);
        let bounds = vertices.iter().fold([Vec3::new(f64::MAX, f64::MAX, f64::MAX); 2], |[low, high], v| {
            let high = if high.x == f64::MAX { *v } else { high };
            let pick = |a: Vector, b: Vector, f: fn(f64, f64) -> f64| Vec3::new(f(a.x, b.x), f(a.y, b.y), f(a.z, b.z));
            [pick(low, *v, f64::min), pick(high, *v, f64::max)]
        });
        Self { vertices, triangles, normals, bounds, surface: MeshSurface::default(), colours: Vec::new() }
    }

    /// That of a model.
    pub fn of_mesh(mesh: &Mesh) -> Self {
        let len = mesh.vertices.len() as u32;
        let inside = |t: &&[u32; 3]| t.iter().all(|&v| v < len);
        let drawn = Self::new(mesh.vertices.clone(), mesh.triangles.iter().filter(inside).copied().collect());
        let whole = drawn.triangles.len() == mesh.triangles.len() && mesh.surface.fits(mesh.triangles.len());
        Self { surface: if whole { mesh.surface.clone() } else { MeshSurface::default() }, ..drawn }
    }

    /// The top of a height field, its sides and its bottom.
    pub fn of_height_field(field: &HeightField) -> Self {
        let [rows, columns] = field.size;
        if rows < 2 || columns < 2 || field.heights.len() < rows * columns {
            return Self::new(Vec::new(), Vec::new());
        }
        let [hx, hy] = field.half_extents;
        let place = |row: usize, column: usize, z: f64| {
            let part = |k: usize, n: usize| 2.0 * k as f64 / (n - 1) as f64 - 1.0;
            Vec3::new(hx * part(column, columns), hy * part(row, rows), z)
        };
        let mut vertices = Vec::with_capacity(rows * columns + 4 * (rows + columns));
        for row in 0..rows {
            vertices.extend((0..columns).map(|column| place(row, column, field.heights[row * columns + column])));
        }
        let mut triangles = Vec::with_capacity(2 * (rows - 1) * (columns - 1));
        for row in 0..rows - 1 {
            for column in 0..columns - 1 {
                let corner = |down: usize, right: usize| ((row + down) * columns + column + right) as u32;
                let [a, b, c, d] = [corner(0, 0), corner(0, 1), corner(1, 1), corner(1, 0)];
                triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
        // Around it, counter-clockwise seen from above: walls down to the base, and a bottom.
        let south = (0..columns).map(|k| (0, k));
        let east = (1..rows).map(|k| (k, columns - 1));
        let north = (0..columns - 1).rev().map(|k| (rows - 1, k));
        let west = (1..rows - 1).rev().map(|k| (k, 0));
        let rim: Vec<(usize, usize)> = south.chain(east).chain(north).chain(west).collect();
        let low = vertices.len() as u32;
        vertices.extend(rim.iter().map(|&(row, column)| place(row, column, -field.base)));
        for k in 0..rim.len() {
            let next = (k + 1) % rim.len();
            let top = |k: usize| (rim[k].0 * columns + rim[k].1) as u32;
            triangles.extend([[top(k), low + k as u32, low + next as u32], [top(k), low + next as u32, top(next)]]);
        }
        let corner = |k: usize| low + k as u32;
        let (b, c, d) = (columns - 1, columns + rows - 2, 2 * columns + rows - 3);
        triangles.extend([[corner(0), corner(c), corner(b)], [corner(0), corner(d), corner(c)]]);
        Self::new(vertices, triangles)
    }
}

pub(crate) fn face_normal(vertices: &[Vector], t: &[u32; 3]) -> Vector {
    let [a, b, c] = t.map(|v| vertices[v as usize]);
    (b - a).cross(c - a).normalized().unwrap_or_default()
}

fn corner_normals(vertices: &[Vector], triangles: &[[u32; 3]], faces: &[Vector]) -> Vec<[[f32; 3]; 3]> {
    let places = welded(vertices);
    // The corners (triangle, weight by angle) at every place, place by place.
    let mut first = vec![0usize; vertices.len() + 1];
    for vertex in triangles.iter().flatten() {
        first[places[*vertex as usize] as usize + 1] += 1;
    }
    for k in 0..vertices.len() {
        first[k + 1] += first[k];
    }
    let mut free = first.clone();
    let mut corners = vec![(0u32, 0.0f64); triangles.len() * 3];
    for (face, t) in triangles.iter().enumerate() {
        for k in 0..3 {
            let [a, b, c] = [0, 1, 2].map(|n| vertices[t[(k + n) % 3] as usize]);
            let (x, y) = (b - a, c - a);
            let weight = libm::atan2(x.cross(y).norm(), x.dot(y));
            let slot = &mut free[places[t[k] as usize] as usize];
            corners[*slot] = (face as u32, weight);
            *slot += 1;
        }
    }
    let normal = |face: usize, vertex: u32| {
        let place = places[vertex as usize] as usize;
        let around = &corners[first[place]..first[place + 1]];
        let own = faces[face];
        if around.len() > MAX_FACES {
            return own;
        }
        let near = around.iter().filter(|(other, _)| faces[*other as usize].dot(own) > SMOOTH);
        let sum = near.fold(Vec3::ZERO, |sum, &(other, weight)| sum + faces[other as usize] * weight);
        sum.normalized().unwrap_or(own)
    };
    let of_face = |(face, t): (usize, &[u32; 3])| t.map(|vertex| normal(face, vertex).map(|x| x as f32).to_array());
    triangles.iter().enumerate().map(of_face).collect()
}

/// For every vertex the first one at the same place.
fn welded(vertices: &[Vector]) -> Vec<u32> {
    let mut known = HashMap::with_capacity(vertices.len());
    // 0 and −0 are the same place.
    let key = |v: &Vector| v.to_array().map(|x| (x + 0.0).to_bits());
    vertices.iter().enumerate().map(|(k, v)| *known.entry(key(v)).or_insert(k as u32)).collect()
}
