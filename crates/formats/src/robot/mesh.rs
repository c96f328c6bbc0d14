//! Meshes, each file read and each size of it made once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use geometry::Mesh;
use spatial::Vec3;

use super::resolve::Resolver;
use crate::LoadError;
use crate::limits::Budget;
use crate::mesh_files::{self, TriangleSoup};
use crate::xml::Element;

/// What a mesh is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Purpose {
    /// Pictures: the triangles and their looks.
    Picture,
    /// Contact: what it looks like is nothing to it.
    Contact,
}

/// The meshes of a robot.
pub(crate) struct Meshes {
    resolver: Resolver,
    files: BTreeMap<PathBuf, TriangleSoup>,
    /// By file, the bits of the scale, and purpose.
    meshes: BTreeMap<(PathBuf, [u64; 3], Purpose), Arc<Mesh>>,
    budget: Budget,
}

impl Meshes {
    /// No meshes yet.
    pub fn new(resolver: Resolver) -> Self {
        Self { resolver, files: BTreeMap::new(), meshes: BTreeMap::new(), budget: Budget::default() }
    }

    /// The mesh at an address that an element gives, at this size.
    pub fn get(
        &mut self,
        element: Element<'_>,
        address: &str,
        scale: [f64; 3],
        purpose: Purpose,
    ) -> Result<Arc<Mesh>, LoadError> {
        if scale.contains(&0.0) {
            return Err(element.error("scale with a 0 in it: expected numbers other than 0"));
        }
        let path = self.resolver.find(element, address).map_err(|message| element.error(message))?;
        let key = (path, scale.map(f64::to_bits), purpose);
        if let Some(mesh) = self.meshes.get(&key) {
            return Ok(mesh.clone());
        }
        if !self.files.contains_key(&key.0) {
            let mut soup = mesh_files::read(&key.0).map_err(|error| element.error(error.to_string()))?;
            for paint in &mut soup.surface.paints {
                let pixels = paint.texture.as_ref().map_or(0, |texture| texture.size[0] * texture.size[1]);
                if self.budget.take_pixels(pixels).is_err() {
                    paint.texture = None;
                }
            }
            self.files.insert(key.0.clone(), soup);
        }
        let soup = &self.files[&key.0];
        let taken = self.budget.take_mesh(soup.vertices.len(), soup.triangles.len());
        taken.map_err(|message| element.error(message))?;
        // Sizes of one file have names of their own.
        let count = self.meshes.keys().filter(|(path, _, _)| *path == key.0).count();
        let name = if count == 0 { address.to_owned() } else { format!("{address}_{}", count + 1) };
        let mesh = scaled(soup, scale, &name, purpose);
        let mesh = Arc::new(mesh.map_err(|error| element.error(error.to_string()))?);
        self.meshes.insert(key, mesh.clone());
        Ok(mesh)
    }
}

fn scaled(soup: &TriangleSoup, scale: [f64; 3], name: &str, purpose: Purpose) -> Result<Mesh, geometry::MeshError> {
    let [x, y, z] = scale;
    let mut soup = soup.clone();
    // Zeros without a sign, as MJCF has them.
    soup.vertices.iter_mut().for_each(|v| *v = Vec3::new(x * v.x, y * v.y, z * v.z) + Vec3::ZERO);
    if x * y * z < 0.0 {
        soup.turn_around();
    }
    let TriangleSoup { vertices, triangles, surface } = soup;
    match purpose {
        Purpose::Picture => Ok(Mesh { name: name.into(), vertices, triangles, surface, ..Mesh::default() }),
        Purpose::Contact => Mesh::new(name, vertices, triangles),
    }
}
