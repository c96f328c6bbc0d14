//! From corners, as a file lists them, to checked triangles over shared vertices.

use std::collections::HashMap;
use std::path::Path;

use spatial::Vec3;

use super::{MeshFileError, TriangleSoup};
use crate::limits::{MAX_MESH_TRIANGLES, MAX_MESH_VERTICES};

/// Collects triangles; corners that coincide exactly become one vertex.
#[derive(Default)]
pub(super) struct Assembler {
    soup: TriangleSoup,
    /// Vertex by the bits of its coordinates. Only looked up, never walked: the order of the file decides.
    index_of: HashMap<[u64; 3], u32>,
    seen: usize,
}

impl Assembler {
    /// Adds a triangle, unless two of its corners coincide.
    pub fn push(&mut self, corners: [Vec3<f64>; 3], path: &Path) -> Result<(), MeshFileError> {
        let triangle = self.seen;
        self.seen += 1;
        if self.seen > MAX_MESH_TRIANGLES || self.soup.vertices.len() > MAX_MESH_VERTICES {
            return Err(MeshFileError::TooLarge { path: path.into() });
        }
        if let Some(corner) = corners.iter().position(|c| !c.is_finite()) {
            return Err(MeshFileError::NotFinite { path: path.into(), triangle, corner });
        }
        let before = self.soup.vertices.len();
        let indices = corners.map(|c| self.vertex(c));
        let [a, b, c] = indices;
        if a != b && b != c && c != a {
            self.soup.triangles.push(indices);
        } else {
            self.forget_from(before);
        }
        Ok(())
    }

    /// The triangles.
    pub fn finish(self, path: &Path) -> Result<TriangleSoup, MeshFileError> {
        if self.soup.triangles.is_empty() {
            return Err(MeshFileError::Empty { path: path.into() });
        }
        Ok(self.soup)
    }

    fn vertex(&mut self, at: Vec3<f64>) -> u32 {
        let vertices = &mut self.soup.vertices;
        *self.index_of.entry(key(at)).or_insert_with(|| {
            vertices.push(at);
            (vertices.len() - 1) as u32
        })
    }

    /// Removes the vertices from index `first` on, which only a triangle without area used.
    fn forget_from(&mut self, first: usize) {
        for vertex in self.soup.vertices.drain(first..) {
            self.index_of.remove(&key(vertex));
        }
    }
}

/// The bits of the coordinates, with −0 as 0.
fn key(at: Vec3<f64>) -> [u64; 3] {
    at.to_array().map(|x| (x + 0.0).to_bits())
}

/// The triangles between `vertices`.
pub(super) fn indexed(
    vertices: &[Vec3<f64>],
    faces: impl Iterator<Item = [i64; 3]>,
    path: &Path,
) -> Result<TriangleSoup, MeshFileError> {
    let mut assembler = Assembler::default();
    for (triangle, face) in faces.enumerate() {
        let mut corners = [Vec3::ZERO; 3];
        for (corner, index) in corners.iter_mut().zip(face) {
            *corner = usize::try_from(index).ok().and_then(|i| vertices.get(i).copied()).ok_or_else(|| {
                MeshFileError::NoSuchVertex { path: path.into(), triangle, index, count: vertices.len() }
            })?;
        }
        assembler.push(corners, path)?;
    }
    assembler.finish(path)
}
