//! Triangle meshes from files: STL, OBJ, COLLADA and MuJoCo's binary MSH.
//!
//! Whatever the format, a mesh comes out in one form: corners that coincide exactly are one vertex, triangles
//! without area because two of their corners coincide are left out, every coordinate is finite and every index
//! points to a vertex. Hulls, volumes and inertias can rely on that.
//!
//! The readers are our own: `mesh-loader` 0.1.13 panics on 14 of 15 COLLADA documents of the tests, refuses OBJ faces that continue on the next
//! line, and leaves vertices apart that coincide.

mod assemble;
mod collada;
mod gmsh_binary;
mod materials;
mod msh;
pub(crate) mod obj;
mod polygon;
mod stl;
pub mod volume;

use std::path::{Path, PathBuf};

use geometry::MeshSurface;
use spatial::Vec3;

use crate::limits::{MAX_ASSET_FILE_BYTES, MAX_MESH_TRIANGLES, MAX_MESH_VERTICES, read_file};
use crate::{nearby, text};
pub(crate) use obj::ALL_DIGITS;

/// Triangles over shared vertices, in the order of the file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriangleSoup {
    /// Vertices, no two of them equal, m (or what unit the file uses: only COLLADA says).
    pub vertices: Vec<Vec3<f64>>,
    /// Triangles, three different vertices each, in the winding of the file.
    pub triangles: Vec<[u32; 3]>,
    /// Their looks: places in textures of OBJ, COLLADA and MSH, colours and textures of the first two.
    pub surface: MeshSurface,
}

impl TriangleSoup {
    /// Swaps the second and the third corner of every triangle, for a mirror image, which turns them inside out.
    pub fn turn_around(&mut self) {
        self.triangles.iter_mut().for_each(|t| t.swap(1, 2));
        self.surface.turn_around();
    }
}

/// A mesh file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum MeshFileError {
    /// It cannot be read.
    #[error("{}: cannot be read ({source}): expected a mesh{hint}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
        /// Files that may have been meant, as the message has them; empty where there are none.
        hint: String,
    },
    /// Its name does not end like that of a format that is known.
    #[error("{}: a mesh in an unknown format: expected .stl, .obj, .dae or .msh", path.display())]
    UnknownFormat {
        /// The file.
        path: PathBuf,
    },
    /// It breaks off or breaks the rules of its format.
    #[error("{}: {what}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What came and what was expected.
        what: String,
    },
    /// A coordinate is NaN or infinite.
    #[error("{}: corner {corner} of triangle {triangle} is not finite: expected finite coordinates", path.display())]
    NotFinite {
        /// The file.
        path: PathBuf,
        /// The triangle, from 0.
        triangle: usize,
        /// The corner, 0 to 2.
        corner: usize,
    },
    /// A triangle refers to a vertex that is not there.
    #[error("{}: triangle {triangle} refers to vertex {index}: expected an index below {count}", path.display())]
    NoSuchVertex {
        /// The file.
        path: PathBuf,
        /// The triangle, from 0.
        triangle: usize,
        /// The index.
        index: i64,
        /// The number of vertices.
        count: usize,
    },
    /// It has more vertices or triangles than the meshes of a model may have.
    #[error("{}: too many triangles: expected at most {MAX_MESH_TRIANGLES} with {MAX_MESH_VERTICES} vertices", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// There is no triangle in it, or none with three different corners.
    #[error("{}: no triangles: expected at least one with three different corners", path.display())]
    Empty {
        /// The file.
        path: PathBuf,
    },
}

impl MeshFileError {
    fn malformed(path: &Path, what: impl Into<String>) -> Self {
        Self::Malformed { path: path.into(), what: what.into() }
    }
}

/// Reads a mesh; the end of the file's name, in upper or lower case, tells the format.
///
/// * `.stl`: binary or ASCII, all solids of the file together.
/// * `.obj`: all groups together; polygons are cut into fans; vertices without a face are their convex hull; of the materials in its `mtllib` files the
///   diffuse colour and the diffuse texture are read.
/// * `.dae`: every instance in the scene at its place, with the diffuse colour or texture of its material, scaled to metres by `<unit>`. `<up_axis>` is **not** applied,
///   which is what the tools that read URDF do (RViz, Gazebo, Pinocchio): the axes of the file are the link's.
///   Pinocchio leaves the unit unapplied, too; RViz and Gazebo apply it, and so does this function.
/// * `.msh`: the binary format of MuJoCo (counts, vertices, normals, texture coordinates, faces).
///
/// Textures are PNG or JPEG. Material and texture files that cannot be read, or are beyond the limit of textures, leave their triangles
/// without: they change nothing but looks.
///
/// # Errors
/// When the file is missing or no regular file, breaks off, breaks the rules of its format, is beyond a limit
/// ([`crate::limits`]), or has no triangle, a coordinate that is not finite, or an index that points to nothing.
pub fn read(path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let unknown = || MeshFileError::UnknownFormat { path: path.into() };
    let extension = path.extension().and_then(|e| e.to_str()).ok_or_else(unknown)?.to_ascii_lowercase();
    let parse = match extension.as_str() {
        "stl" => stl::parse,
        "obj" => obj::parse,
        "dae" => collada::parse,
        "msh" => msh::parse,
        _ => return Err(unknown()),
    };
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES).map_err(|source| MeshFileError::Unreadable {
        path: path.into(),
        source,
        hint: nearby::hint(path),
    })?;
    parse(&bytes, path)
}

/// That a text is none of an encoding in which nothing would be found.
fn check_encoding(bytes: &[u8], path: &Path) -> Result<(), MeshFileError> {
    text::other_encoding(bytes).map_or(Ok(()), |what| Err(MeshFileError::malformed(path, what)))
}

/// The lines of a text, which end as those of the system that wrote it.
fn lines(text: &str) -> impl Iterator<Item = &str> {
    let end = if text.contains('\n') { '\n' } else { '\r' };
    text.split(end).map(|line| line.trim_end_matches('\r'))
}

/// A number of a text file. Single precision, like the binary formats, and like MuJoCo reads it.
fn single(word: &str) -> Option<f64> {
    word.parse::<f32>().ok().map(f64::from)
}
