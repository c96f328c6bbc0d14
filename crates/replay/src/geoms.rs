//! Shapes as the player takes them.

use std::sync::Arc;

use geometry::{Geom, HeightField, Mesh, Scene, Shape};
use serde_json::{Value, json};
use spatial::Vec3;

use crate::binary::base64;

/// The geoms and the meshes that they refer to, as `docs/replay-format.md` describes them; geoms that share a mesh share it here too.
pub fn encode(scene: &Scene) -> (Vec<Value>, Vec<Value>) {
    let mut meshes = Meshes::default();
    let geoms = scene.geoms.iter().map(|geom| encode_geom(geom, &mut meshes)).collect();
    (geoms, meshes.encoded)
}

fn encode_geom(geom: &Geom, meshes: &mut Meshes) -> Value {
    let (kind, size, mesh) = match &geom.shape {
        Shape::Plane { half_extents } => ("plane", half_extents.to_vec(), None),
        Shape::Sphere { radius } => ("sphere", vec![*radius], None),
        Shape::Capsule { radius, half_length } => ("capsule", vec![*radius, *half_length], None),
        Shape::Cylinder { radius, half_length } => ("cylinder", vec![*radius, *half_length], None),
        Shape::Ellipsoid { radii } => ("ellipsoid", radii.to_vec(), None),
        Shape::Box { half_extents } => ("box", half_extents.to_vec(), None),
        Shape::Mesh(mesh) => ("mesh", vec![], Some(meshes.mesh(mesh))),
        Shape::HeightField(field) => ("hfield", vec![], Some(meshes.height_field(field))),
    };
    let (p, q) = (geom.pose.pos, geom.pose.rot);
    json!({
        "name": geom.name, "body": geom.body, "type": kind, "size": size,
        "pos": p.to_array(), "quat": [q.w, q.x, q.y, q.z], "rgba": geom.rgba, "group": geom.group, "mesh": mesh,
    })
}

/// The meshes so far, each with the address of what it was made from.
#[derive(Default)]
struct Meshes {
    sources: Vec<*const ()>,
    encoded: Vec<Value>,
}

impl Meshes {
    fn mesh(&mut self, mesh: &Arc<Mesh>) -> usize {
        self.shared(Arc::as_ptr(mesh).cast(), || {
            // A mesh may be given by its vertices alone: then its hull is what there is to see.
            if mesh.triangles.is_empty() {
                encode_mesh(&mesh.hull_vertices, &mesh.hull_triangles)
            } else {
                encode_mesh(&mesh.vertices, &mesh.triangles)
            }
        })
    }

    fn height_field(&mut self, field: &Arc<HeightField>) -> usize {
        self.shared(Arc::as_ptr(field).cast(), || {
            let (vertices, triangles) = triangulate(field);
            encode_mesh(&vertices, &triangles)
        })
    }

    fn shared(&mut self, source: *const (), encode: impl FnOnce() -> Value) -> usize {
        self.sources.iter().position(|&known| known == source).unwrap_or_else(|| {
            self.sources.push(source);
            self.encoded.push(encode());
            self.encoded.len() - 1
        })
    }
}

fn encode_mesh(vertices: &[Vec3<f64>], triangles: &[[u32; 3]]) -> Value {
    let positions: Vec<u8> =
        vertices.iter().flat_map(|v| v.to_array()).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let indices = triangles.as_flattened();
    let narrow = vertices.len() <= 1 << 16;
    let bytes: Vec<u8> = if narrow {
        indices.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect()
    } else {
        indices.iter().flat_map(|i| i.to_le_bytes()).collect()
    };
    json!({
        "vertices": base64(&positions),
        "triangles": base64(&bytes),
        "index_bits": if narrow { 16 } else { 32 },
    })
}

/// The surface of a height field, two triangles per cell, seen from above.
fn triangulate(field: &HeightField) -> (Vec<Vec3<f64>>, Vec<[u32; 3]>) {
    let [rows, columns] = field.size;
    let [hx, hy] = field.half_extents;
    let at = |half: f64, i: usize, n: usize| half * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
    let vertices = (0..rows * columns).map(|i| {
        let (row, column) = (i / columns, i % columns);
        Vec3::new(at(hx, column, columns), at(hy, row, rows), field.heights[i])
    });
    let cells = (0..rows - 1).flat_map(|row| (0..columns - 1).map(move |column| row * columns + column));
    let triangles = cells.flat_map(|corner| {
        let [a, b, c, d] = [corner, corner + 1, corner + columns, corner + columns + 1].map(|i| i as u32);
        [[a, b, c], [c, b, d]]
    });
    (vertices.collect(), triangles.collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn height_fields_face_up_and_span_their_extents() {
        let field = HeightField {
            name: String::new(),
            size: [2, 3],
            half_extents: [2.0, 1.0],
            heights: vec![0.0, 0.1, 0.2, 0.3, 0.4, 0.5],
            base: 1.0,
        };
        let (vertices, triangles) = triangulate(&field);
        assert_eq!(vertices[0].to_array(), [-2.0, -1.0, 0.0]);
        assert_eq!(vertices[5].to_array(), [2.0, 1.0, 0.5]);
        assert_eq!(triangles.len(), 4);
        for [a, b, c] in triangles.iter().map(|t| t.map(|i| vertices[i as usize])) {
            assert!((b - a).cross(c - a).z > 0.0);
        }
    }

    #[test]
    fn geoms_that_share_a_mesh_share_it_in_the_file() {
        let corners = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let vertices = corners.map(|[x, y, z]| Vec3::new(x, y, z)).to_vec();
        let mesh = Arc::new(Mesh { vertices: vertices.clone(), triangles: vec![[0, 2, 1]], ..Mesh::default() });
        let other = Arc::new(Mesh { vertices, triangles: vec![[0, 1, 3]], ..Mesh::default() });
        let mut meshes = Meshes::default();
        assert_eq!([&mesh, &other, &mesh].map(|m| meshes.mesh(m)), [0, 1, 0]);
        assert_eq!(meshes.encoded.len(), 2);
    }
}
