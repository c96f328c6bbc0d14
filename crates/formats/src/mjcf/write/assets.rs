//! Meshes and height fields.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use geometry::{HeightField, Mesh, Scene, Shape};

use super::numbers::{list, number};
use super::xml::Xml;
use super::{MeshFiles, free_name};

/// Every mesh and height field once, with a name of its own.
#[derive(Default)]
pub(super) struct Assets {
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
        let mut assets = Self::default();
        let (mut names, mut short) = (Vec::new(), Vec::new());
        for geom in &scene.geoms {
            match &geom.shape {
                Shape::Mesh(mesh) => {
                    let key = Arc::as_ptr(mesh);
                    if !assets.mesh_of.contains_key(&key) {
                        let name = asset_name(&mut names, &mesh.name, "mesh");
                        let short = asset_name(&mut short, file_stem(&mesh.name), "mesh");
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
    pub fn write(&self, xml: &mut Xml, meshes: MeshFiles, stem: &str) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        if self.meshes.is_empty() && self.fields.is_empty() {
            return files;
        }
        xml.open("asset", &[]);
        for NamedMesh { name, short, mesh } in &self.meshes {
            // As a shell a mesh needs no volume: its inertia is that of its body, not of what is drawn.
            let mut attributes = vec![("name", name.clone()), ("inertia", "shell".into())];
            match meshes {
                MeshFiles::Inline => {
                    let vertices: Vec<f64> = mesh.vertices.iter().flat_map(|v| v.to_array()).collect();
                    let faces: Vec<String> = mesh.triangles.iter().flatten().map(u32::to_string).collect();
                    attributes.push(("vertex", list(&vertices)));
                    if !faces.is_empty() {
                        attributes.push(("face", faces.join(" ")));
                    }
                }
                MeshFiles::Obj => {
                    let safe: String =
                        short.chars().map(|c| if c.is_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect();
                    let file = format!("{stem}_{safe}.obj");
                    files.push((PathBuf::from(&file), obj(mesh)));
                    attributes.push(("file", file));
                }
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

/// A mesh as an OBJ file, in single precision.
fn obj(mesh: &Mesh) -> String {
    let mut text = String::new();
    for v in &mesh.vertices {
        let [x, y, z] = v.to_array().map(|c| number(f64::from(c as f32) + 0.0));
        let short = |s: String| s.parse::<f32>().map_or(s.clone(), |c| c.to_string());
        text.push_str(&format!("v {} {} {}\n", short(x), short(y), short(z)));
    }
    for [a, b, c] in &mesh.triangles {
        text.push_str(&format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    }
    text
}

/// Of an address the last part without what follows a dot.
fn file_stem(name: &str) -> &str {
    let last = name.rsplit('/').next().and_then(|file| file.split('.').next());
    if name.contains('/') { last.unwrap_or_default() } else { name }
}

/// A name that no other asset has.
fn asset_name(names: &mut Vec<String>, name: &str, kind: &str) -> String {
    let wanted = if name.is_empty() { kind } else { name };
    let found = if names.iter().any(|n| n == wanted) {
        (2..).map(|k| format!("{wanted}_{k}")).find(|n| !names.contains(n)).unwrap_or_default()
    } else {
        free_name(names, wanted)
    };
    names.push(found.clone());
    found
}
