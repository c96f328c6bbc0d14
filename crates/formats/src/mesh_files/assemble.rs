//! From corners, as a file lists them, to checked triangles over shared vertices.

use std::collections::HashMap;
use std::path::Path;

use geometry::Paint;
use spatial::Vec3;

use super::{MeshFileError, TriangleSoup};
use crate::limits::{MAX_MESH_TRIANGLES, MAX_MESH_VERTICES};

/// The paint of triangles that have none, beside others that have, until all are known.
const UNPAINTED: u32 = u32::MAX;

/// The colour of such triangles.
const GREY: f32 = 0.6;

/// Collects triangles; corners that coincide exactly become one vertex.
#[derive(Default)]
pub(super) struct Assembler {
    soup: TriangleSoup,
    /// Vertex by the bits of its coordinates. Only looked up, never walked: the order of the file decides.
    index_of: HashMap<[u64; 3], u32>,
    seen: usize,
}

/// The looks of a triangle, as far as its file tells.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Looks {
    /// Where its corners are in a texture.
    pub texcoords: Option<[[f32; 2]; 3]>,
    /// The index of its paint.
    pub paint: Option<u32>,
}

impl Assembler {
    /// Adds a triangle, unless two of its corners coincide.
    pub fn push(&mut self, corners: [Vec3<f64>; 3], path: &Path) -> Result<(), MeshFileError> {
        self.push_with(corners, Looks::default(), path)
    }

    /// Adds a triangle with its looks.
    pub fn push_with(&mut self, corners: [Vec3<f64>; 3], looks: Looks, path: &Path) -> Result<(), MeshFileError> {
        self.check(corners, path)?;
        let before = self.soup.vertices.len();
        let indices = corners.map(|c| self.vertex(c));
        if are_distinct(indices) {
            self.soup.triangles.push(indices);
            self.note(looks);
        } else {
            self.forget_from(before);
        }
        Ok(())
    }

    /// Counts a triangle, whose corners must be finite.
    fn check(&mut self, corners: [Vec3<f64>; 3], path: &Path) -> Result<(), MeshFileError> {
        let triangle = self.seen;
        self.seen += 1;
        if self.seen > MAX_MESH_TRIANGLES || self.soup.vertices.len() > MAX_MESH_VERTICES {
            return Err(MeshFileError::TooLarge { path: path.into() });
        }
        match corners.iter().position(|c| !c.is_finite()) {
            Some(corner) => Err(MeshFileError::NotFinite { path: path.into(), triangle, corner }),
            None => Ok(()),
        }
    }

    /// Notes the looks of the last triangle. Lists begin with the first that has some.
    fn note(&mut self, looks: Looks) {
        let (count, surface) = (self.soup.triangles.len(), &mut self.soup.surface);
        if looks.texcoords.is_some() || !surface.texcoords.is_empty() {
            surface.texcoords.resize(3 * (count - 1), [0.0; 2]);
            surface.texcoords.extend(looks.texcoords.unwrap_or_default());
        }
        if looks.paint.is_some() || !surface.paint_of.is_empty() {
            surface.paint_of.resize(count - 1, UNPAINTED);
            surface.paint_of.push(looks.paint.unwrap_or(UNPAINTED));
        }
    }

    /// The triangles with these paints.
    pub fn finish_painted(mut self, paints: Vec<Paint>, path: &Path) -> Result<TriangleSoup, MeshFileError> {
        let surface = &mut self.soup.surface;
        surface.paints = paints;
        if surface.paint_of.contains(&UNPAINTED) {
            let grey = surface.paints.len() as u32;
            surface.paints.push(Paint { rgb: [GREY; 3], texture: None });
            surface.paint_of.iter_mut().filter(|paint| **paint == UNPAINTED).for_each(|paint| *paint = grey);
        }
        self.finish(path)
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

fn are_distinct([a, b, c]: [u32; 3]) -> bool {
    a != b && b != c && c != a
}

/// The triangles between `vertices`, which have places in a texture or not; as [`Assembler::push_with`] makes them, but each vertex is looked up once.
pub(super) fn indexed(
    vertices: &[Vec3<f64>],
    texcoords: Option<&[[f32; 2]]>,
    faces: impl Iterator<Item = [i64; 3]>,
    path: &Path,
) -> Result<TriangleSoup, MeshFileError> {
    let mut assembler = Assembler::default();
    // Of each vertex the first with its coordinates, and the index that this has once a triangle uses it.
    let mut first_of = HashMap::with_capacity(vertices.len());
    let first: Vec<u32> = (0..).zip(vertices).map(|(i, &at)| *first_of.entry(key(at)).or_insert(i)).collect();
    let mut used = vec![None; vertices.len()];
    for (triangle, face) in faces.enumerate() {
        let mut places = [0; 3];
        for (place, index) in places.iter_mut().zip(face) {
            *place = usize::try_from(index).ok().filter(|i| *i < vertices.len()).ok_or_else(|| {
                MeshFileError::NoSuchVertex { path: path.into(), triangle, index, count: vertices.len() }
            })?;
        }
        assembler.check(places.map(|i| vertices[i]), path)?;
        let corners = places.map(|i| first[i]);
        if !are_distinct(corners) {
            continue;
        }
        let soup = &mut assembler.soup;
        let indices = corners.map(|i| {
            *used[i as usize].get_or_insert_with(|| {
                soup.vertices.push(vertices[i as usize]);
                (soup.vertices.len() - 1) as u32
            })
        });
        soup.triangles.push(indices);
        let texcoords = texcoords.map(|of| places.map(|i| of.get(i).copied().unwrap_or_default()));
        assembler.note(Looks { texcoords, paint: None });
    }
    assembler.finish(path)
}
