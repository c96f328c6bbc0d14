//! Shapes as the player takes them.

use std::io;
use std::sync::Arc;

use geometry::{Geom, HeightField, Look, Mapping, Mesh, MeshSurface, Scene, Shape};
use serde_json::{Value, json};
use spatial::Vec3;

use crate::binary::base64;
use crate::textures::Textures;

/// What there is to see, as `docs/replay-format.md` describes it; geoms that share a mesh or a texture share it here too.
#[derive(Debug)]
pub struct Encoded {
    /// The geoms.
    pub geoms: Vec<Value>,
    /// The meshes that they refer to.
    pub meshes: Vec<Value>,
    /// The textures that geoms, meshes and the sky refer to.
    pub textures: Vec<Value>,
    /// The texture of the sky.
    pub sky: Option<usize>,
}

/// Encodes the looks of a scene.
///
/// # Errors
/// When a texture could not be packed.
pub fn encode(scene: &Scene) -> io::Result<Encoded> {
    let mut shared = Shared::default();
    let geoms = scene.geoms.iter().map(|geom| encode_geom(geom, &mut shared)).collect();
    let sky = scene.sky.as_ref().map(|sky| shared.textures.index(sky));
    Ok(Encoded { geoms, meshes: shared.meshes, textures: shared.textures.encode()?, sky })
}

fn encode_geom(geom: &Geom, shared: &mut Shared) -> Value {
    let (kind, size, mesh) = match &geom.shape {
        Shape::Plane { half_extents } => ("plane", half_extents.to_vec(), None),
        Shape::Sphere { radius } => ("sphere", vec![*radius], None),
        Shape::Capsule { radius, half_length } => ("capsule", vec![*radius, *half_length], None),
        Shape::Cylinder { radius, half_length } => ("cylinder", vec![*radius, *half_length], None),
        Shape::Ellipsoid { radii } => ("ellipsoid", radii.to_vec(), None),
        Shape::Box { half_extents } => ("box", half_extents.to_vec(), None),
        Shape::Mesh(mesh) => ("mesh", vec![], Some(shared.mesh(mesh))),
        Shape::HeightField(field) => ("hfield", vec![], Some(shared.height_field(field))),
    };
    let (p, q) = (geom.pose.pos, geom.pose.rot);
    let mut value = json!({
        "name": geom.name, "body": geom.body, "type": kind, "size": size,
        "pos": p.to_array(), "quat": q.to_array(), "rgba": geom.rgba, "group": geom.group, "mesh": mesh,
    });
    if let Some((texture, mapping)) = geom.texture() {
        let mut look = encode_mapping(mapping);
        look["image"] = shared.textures.index(texture).into();
        value["texture"] = look;
    }
    if matches!(geom.look, Some(Look::Paints)) {
        value["painted"] = true.into();
    }
    value
}

fn encode_mapping(mapping: Mapping) -> Value {
    match mapping {
        Mapping::Plane { scale, offset } => json!({ "map": "plane", "scale": scale, "offset": offset }),
        Mapping::Cube { scale } => json!({ "map": "cube", "scale": scale }),
        Mapping::Around { size, repeat, straight: false } => json!({ "map": "sphere", "size": size, "repeat": repeat }),
        Mapping::Around { size, repeat, straight: true } => {
            json!({ "map": "cylinder", "size": size, "repeat": repeat })
        }
        Mapping::Sides { size, repeat } => json!({ "map": "box", "size": size, "repeat": repeat }),
        Mapping::Corners { repeat } => json!({ "map": "corners", "repeat": repeat }),
    }
}

/// What geoms share: meshes so far, each with the address of what it was made from, and textures.
#[derive(Default)]
struct Shared {
    sources: Vec<*const ()>,
    meshes: Vec<Value>,
    textures: Textures,
}

impl Shared {
    fn mesh(&mut self, mesh: &Arc<Mesh>) -> usize {
        self.shared(Arc::as_ptr(mesh).cast(), |textures| {
            // A mesh may be given by its vertices alone: then its hull is what there is to see.
            if mesh.triangles.is_empty() {
                let hull = mesh.hull().cloned().unwrap_or_default();
                return encode_mesh(&hull.vertices, &hull.triangles);
            }
            let mut value = encode_mesh(&mesh.vertices, &mesh.triangles);
            encode_surface(&mesh.surface, mesh.triangles.len(), textures, &mut value);
            value
        })
    }

    fn height_field(&mut self, field: &Arc<HeightField>) -> usize {
        self.shared(Arc::as_ptr(field).cast(), |_| {
            let (vertices, triangles) = triangulate(field);
            encode_mesh(&vertices, &triangles)
        })
    }

    fn shared(&mut self, source: *const (), encode: impl FnOnce(&mut Textures) -> Value) -> usize {
        self.sources.iter().position(|&known| known == source).unwrap_or_else(|| {
            self.sources.push(source);
            self.meshes.push(encode(&mut self.textures));
            self.meshes.len() - 1
        })
    }
}

/// Adds what the file of a mesh says of its looks.
fn encode_surface(surface: &MeshSurface, triangles: usize, textures: &mut Textures, mesh: &mut Value) {
    if !surface.fits(triangles) {
        return;
    }
    if !surface.texcoords.is_empty() {
        let bytes: Vec<u8> = surface.texcoords.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
        mesh["texcoords"] = base64(&bytes).into();
    }
    if !surface.paint_of.is_empty() {
        let bytes: Vec<u8> = surface.paint_of.iter().flat_map(|&paint| paint.to_le_bytes()).collect();
        let paint = |paint: &geometry::Paint| match &paint.texture {
            Some(texture) => json!({ "rgb": paint.rgb, "image": textures.index(texture) }),
            None => json!({ "rgb": paint.rgb }),
        };
        mesh["paints"] = surface.paints.iter().map(paint).collect();
        mesh["paint_of"] = base64(&bytes).into();
    }
}

fn encode_mesh(vertices: &[Vec3<f64>], triangles: &[[u32; 3]]) -> Value {
    let positions: Vec<u8> =
        vertices.iter().flat_map(|v| v.to_array()).flat_map(|x| (x as f32).to_le_bytes()).collect();
    let (triangles, index_bits) = encode_triangles(triangles, vertices.len());
    json!({ "vertices": base64(&positions), "triangles": triangles, "index_bits": index_bits })
}

/// The indices, and how many bits each has.
fn encode_triangles(triangles: &[[u32; 3]], vertices: usize) -> (String, u32) {
    let indices = triangles.as_flattened();
    if vertices <= 1 << 16 {
        (base64(&indices.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect::<Vec<u8>>()), 16)
    } else {
        (base64(&indices.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<u8>>()), 32)
    }
}

/// The surfaces of soft bodies, without the positions of their nodes.
pub fn encode_soft(scene: &Scene) -> Vec<Value> {
    let encode = |body: &Arc<deformable::SoftBody>| {
        let surface = body.surface();
        let place = |node: u32| surface.nodes.binary_search(&node).unwrap_or(0) as u32;
        let triangles: Vec<[u32; 3]> = surface.triangles.iter().map(|corners| corners.map(place)).collect();
        let (triangles, index_bits) = encode_triangles(&triangles, surface.nodes.len());
        json!({
            "name": body.name, "rgba": body.colour, "nodes": surface.nodes.len(),
            "triangles": triangles, "index_bits": index_bits,
        })
    };
    scene.soft_bodies.iter().map(encode).collect()
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
        let mut shared = Shared::default();
        assert_eq!([&mesh, &other, &mesh].map(|m| shared.mesh(m)), [0, 1, 0]);
        assert_eq!(shared.meshes.len(), 2);
    }
}
