//! Meshes and height fields; looks are in `textures.rs`.

use std::collections::BTreeMap;
use std::sync::Arc;

use geometry::{HeightField, Mesh, Scene, Shape};

use super::asset_names::{asset_name, file_part};
use super::numbers::{list, number};
use super::textures::Looks;
use super::xml::{Attributes, Xml};
use super::{MeshFiles, WriteOptions, WrittenFile};
use crate::mesh_files::ALL_DIGITS;

/// Every mesh, height field and texture once, with a name of its own.
#[derive(Default)]
pub(super) struct Assets {
    pub looks: Looks,
    meshes: Vec<NamedMesh>,
    fields: Vec<(String, Arc<HeightField>)>,
    mesh_of: BTreeMap<*const Mesh, usize>,
    field_of: BTreeMap<*const HeightField, usize>,
}

struct NamedMesh {
    name: String,
    /// What its file is called after.
    short: String,
    mesh: Arc<Mesh>,
}

impl Assets {
    pub fn new(scene: &Scene) -> Self {
        let mut assets = Self { looks: Looks::new(scene), ..Self::default() };
        let (mut names, mut short) = (Vec::new(), Vec::new());
        for geom in &scene.geoms {
            match &geom.shape {
                Shape::Mesh(mesh) => {
                    let key = Arc::as_ptr(mesh);
                    if !assets.mesh_of.contains_key(&key) {
                        let name = asset_name(&mut names, &mesh.name, "mesh");
                        let short = file_part(&mut short, file_stem(&mesh.name), "mesh");
                        assets.mesh_of.insert(key, assets.meshes.len());
                        assets.meshes.push(NamedMesh { name, short, mesh: mesh.clone() });
                    }
                }
                Shape::HeightField(field) => {
                    let key = Arc::as_ptr(field);
                    if !assets.field_of.contains_key(&key) {
                        let name = asset_name(&mut names, &field.name, "hfield");
                        assets.field_of.insert(key, assets.fields.len());
                        assets.fields.push((name, field.clone()));
                    }
                }
                _ => {}
            }
        }
        assets
    }

    pub fn mesh(&self, mesh: &Arc<Mesh>) -> &str {
        self.mesh_of.get(&Arc::as_ptr(mesh)).map_or("", |&index| &self.meshes[index].name)
    }

    pub fn height_field(&self, field: &Arc<HeightField>) -> &str {
        self.field_of.get(&Arc::as_ptr(field)).map_or("", |&index| &self.fields[index].0)
    }

    /// Writes the assets and returns the files that they refer to.
    pub fn write(&mut self, xml: &mut Xml, options: &WriteOptions<'_>, notes: &mut Vec<String>) -> Vec<WrittenFile> {
        let mut files = Vec::new();
        if self.looks.is_empty() && self.meshes.is_empty() && self.fields.is_empty() {
            return files;
        }
        xml.open("asset", &[]);
        self.looks.write(xml, options.stem, &mut files, notes);
        for NamedMesh { name, short, mesh } in &self.meshes {
            // As a shell a mesh needs no volume: its inertia is that of its body, not of what is drawn.
            let mut attributes = vec![("name", name.clone()), ("inertia", "shell".into())];
            let corners = Corners::new(mesh);
            let digits = match options.meshes {
                MeshFiles::Obj => Some(Digits::Single),
                // The text has one place in a texture for every vertex.
                MeshFiles::Inline if corners.of_vertices(mesh).is_none() => Some(Digits::All),
                MeshFiles::Inline => None,
            };
            match (digits, options.stem) {
                (Some(digits), Some(stem)) => {
                    let file = format!("{stem}_{short}.obj");
                    attributes.push(("file", file.clone()));
                    files.push(WrittenFile { name: file, content: obj(mesh, &corners, digits).into_bytes() });
                }
                _ => attributes.extend(inline(mesh, &corners)),
            }
            xml.empty("mesh", &attributes);
        }
        for (name, field) in &self.fields {
            height_field(xml, name, field);
        }
        xml.close("asset");
        files
    }
}

/// Vertices, faces, and where vertices are in a texture, with all digits.
fn inline(mesh: &Mesh, corners: &Corners) -> Attributes {
    let vertices: Vec<f64> = mesh.vertices.iter().flat_map(|v| v.to_array()).collect();
    let faces: Vec<String> = mesh.triangles.iter().flatten().map(u32::to_string).collect();
    let mut attributes = vec![("vertex", list(&vertices))];
    if !faces.is_empty() {
        attributes.push(("face", faces.join(" ")));
    }
    let places = corners.of_vertices(mesh).unwrap_or_default();
    if !places.is_empty() {
        let places: Vec<String> = places.iter().map(|[u, v]| format!("{u} {v}")).collect();
        attributes.push(("texcoord", places.join(" ")));
    }
    attributes
}

/// The places in a texture, each once, and that of every corner.
struct Corners {
    places: Vec<[f32; 2]>,
    of_corner: Vec<u32>,
}

impl Corners {
    fn new(mesh: &Mesh) -> Self {
        let (mut places, mut known) = (Vec::new(), BTreeMap::new());
        let index = |place: &[f32; 2]| {
            *known.entry(place.map(f32::to_bits)).or_insert_with(|| {
                places.push(*place);
                places.len() as u32 - 1
            })
        };
        let of_corner = mesh.surface.texcoords.iter().map(index).collect();
        Self { places, of_corner }
    }

    /// The place of every vertex, of a mesh without places none; None where corners at one vertex have several.
    fn of_vertices(&self, mesh: &Mesh) -> Option<Vec<[f32; 2]>> {
        if self.of_corner.is_empty() {
            return Some(Vec::new());
        }
        let mut of_vertex = vec![None; mesh.vertices.len()];
        for (vertex, place) in mesh.triangles.as_flattened().iter().zip(&self.of_corner) {
            if *of_vertex[*vertex as usize].get_or_insert(*place) != *place {
                return None;
            }
        }
        Some(of_vertex.iter().map(|place| place.map_or([0.0; 2], |place| self.places[place as usize])).collect())
    }
}

/// How numbers of an OBJ file are written.
#[derive(Clone, Copy)]
enum Digits {
    Single,
    All,
}

/// The least height, and how far the greatest is above it.
pub(super) fn heights(field: &HeightField) -> (f64, f64) {
    let least = field.heights.iter().copied().fold(f64::INFINITY, f64::min);
    let most = field.heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least, most - least)
}

/// Heights of MJCF begin at 0, so that the geom rises by the least height.
fn height_field(xml: &mut Xml, name: &str, field: &HeightField) {
    let (least, range) = heights(field);
    let ([rows, columns], [x, y]) = (field.size, field.half_extents);
    let height = if range > 0.0 { range } else { 1.0 };
    // There must be something below height 0.
    let base = (field.base + least).max(1e-6);
    // The first row of the text is the one at +y.
    let elevation: Vec<f64> = field.heights.chunks_exact(columns).rev().flatten().map(|h| h - least).collect();
    let attributes = [
        ("name", name.to_owned()),
        ("size", list(&[x, y, height, base])),
        ("nrow", rows.to_string()),
        ("ncol", columns.to_string()),
        ("elevation", list(&elevation)),
    ];
    xml.empty("hfield", &attributes);
}

/// A mesh as an OBJ file.
fn obj(mesh: &Mesh, corners: &Corners, digits: Digits) -> String {
    let mut text = match digits {
        Digits::Single => String::new(),
        Digits::All => ALL_DIGITS.to_owned(),
    };
    let written = |x: f64| match digits {
        Digits::Single => (x as f32 + 0.0).to_string(),
        Digits::All => number(x),
    };
    for v in &mesh.vertices {
        let [x, y, z] = v.to_array().map(written);
        text.push_str(&format!("v {x} {y} {z}\n"));
    }
    let Corners { places, of_corner } = corners;
    // OBJ counts from the lower edge.
    for [u, v] in places {
        match digits {
            Digits::Single => text.push_str(&format!("vt {u} {}\n", 1.0 - v)),
            Digits::All => text.push_str(&format!("vt {u} {}\n", 1.0 - f64::from(*v))),
        }
    }
    for (k, triangle) in mesh.triangles.iter().enumerate() {
        let corner = |i: usize| match of_corner.get(3 * k + i) {
            Some(place) => format!(" {}/{}", triangle[i] + 1, place + 1),
            None => format!(" {}", triangle[i] + 1),
        };
        text.push_str(&format!("f{}{}{}\n", corner(0), corner(1), corner(2)));
    }
    text
}

/// Of an address the last part without what follows a dot.
fn file_stem(name: &str) -> &str {
    let last = name.rsplit('/').next().and_then(|file| file.split('.').next());
    if name.contains('/') { last.unwrap_or_default() } else { name }
}
