//! Surfaces of soft bodies: their shape is that of the nodes, their edges are those of the body at rest.

use deformable::SoftBody;
use spatial::Vec3;

use crate::mesh::{DrawnMesh, face_normal};

/// Faces that meet at a smaller angle than this at rest share a normal: its cosine, of 60°. Coarse balls are round, cubes have edges.
const SMOOTH: f64 = 0.5;

/// The surface of a soft body.
#[derive(Debug)]
pub(crate) struct Skin {
    /// The node of every vertex.
    nodes: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    /// Where the faces of a triangle's three corners begin in `faces`, and where the last ends.
    first: Vec<u32>,
    /// For every corner of every triangle the faces whose mean its normal is.
    faces: Vec<u32>,
    /// At rest.
    pub mesh: DrawnMesh,
}

impl Skin {
    pub fn new(body: &SoftBody) -> Self {
        let surface = body.surface();
        let nodes = surface.nodes.clone();
        let vertex = |node: u32| nodes.binary_search(&node).unwrap_or_default() as u32;
        let triangles: Vec<[u32; 3]> = surface.triangles.iter().map(|t| t.map(vertex)).collect();
        let vertices: Vec<_> = nodes.iter().map(|&node| body.mesh.positions()[node as usize]).collect();
        let mesh = DrawnMesh::new(vertices, triangles.clone());
        let mut around = vec![Vec::new(); nodes.len()];
        for (face, t) in triangles.iter().enumerate() {
            t.iter().for_each(|&v| around[v as usize].push(face as u32));
        }
        let normals: Vec<_> = triangles.iter().map(|t| face_normal(&mesh.vertices, t)).collect();
        let (mut first, mut faces) = (vec![0], Vec::new());
        for (face, t) in triangles.iter().enumerate() {
            for &v in t {
                let near = |other: &&u32| normals[face].dot(normals[**other as usize]) > SMOOTH;
                faces.extend(around[v as usize].iter().filter(near));
                first.push(faces.len() as u32);
            }
        }
        Self { nodes, triangles, first, faces, mesh }
    }

    /// Gives the vertices of a mesh of this skin the colours of their nodes.
    pub fn paint(&self, colours: &[[f32; 3]], mesh: &mut DrawnMesh) {
        mesh.colours.clear();
        mesh.colours.extend(self.nodes.iter().map(|&node| colours[node as usize]));
    }

    /// Moves a mesh of this skin to where the nodes are, three coordinates each.
    pub fn place(&self, positions: &[f64], mesh: &mut DrawnMesh) {
        let nodes = positions.as_chunks::<3>().0;
        mesh.vertices.clear();
        mesh.vertices.extend(self.nodes.iter().map(|&node| Vec3::from(nodes[node as usize])));
        let vertices = &mesh.vertices;
        let (mut low, mut high) = ([f64::INFINITY; 3], [f64::NEG_INFINITY; 3]);
        for x in vertices.iter().map(|v| v.to_array()) {
            (0..3).for_each(|k| (low[k], high[k]) = (low[k].min(x[k]), high[k].max(x[k])));
        }
        mesh.bounds = [low.into(), high.into()];
        // Twice the areas: large faces count for more.
        let areas: Vec<Vec3<f64>> = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| vertices[v as usize]);
                (b - a).cross(c - a)
            })
            .collect();
        let normal = |corner: usize| {
            let faces = &self.faces[self.first[corner] as usize..self.first[corner + 1] as usize];
            let sum = faces.iter().fold(Vec3::ZERO, |sum, &face| sum + areas[face as usize]);
            sum.normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0)).map(|x| x as f32).to_array()
        };
        mesh.normals.clear();
        mesh.normals.extend((0..self.triangles.len()).map(|t| [normal(3 * t), normal(3 * t + 1), normal(3 * t + 2)]));
    }
}
