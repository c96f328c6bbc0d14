//! STL, binary and ASCII.

use std::path::Path;

use super::assemble::{self, Assembler};
use super::{MeshFileError, TriangleSoup};

const WORD: usize = 4;
/// Bytes of the header of a binary file, its count of triangles included.
const HEADER: usize = 84;
/// Bytes of a triangle of a binary file: normal, corners, attributes.
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    if is_binary(bytes) {
        return parse_binary(bytes, path);
    }
    let scene = mesh_loader::Loader::default().load_stl_from_slice(bytes, "").map_err(|error| {
        MeshFileError::malformed(path, format!("{error}: expected STL, binary or ASCII (`solid … facet normal …`)"))
    })?;
    assemble::from_meshes(&scene.meshes, path)
}

/// The number of triangles that a binary file announces.
fn announced(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER - WORD..)?.first_chunk::<WORD>()?;
    Some(u32::from_le_bytes(*count) as usize)
}

/// ASCII files begin with `solid`, but so do the headers of many binary ones: their length decides, or bytes that are
/// no text. (The mesh loader, asked for either, takes some of these for broken ASCII, and does not look at the count.)
fn is_binary(bytes: &[u8]) -> bool {
    let Some(announced) = announced(bytes) else {
        return false;
    };
    let text = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    bytes.len() == HEADER + TRIANGLE * announced || !bytes.iter().take(HEADER + TRIANGLE).all(text)
}

fn parse_binary(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let announced = announced(bytes).unwrap_or_default();
    let triangles = bytes[HEADER..].as_chunks::<TRIANGLE>().0;
    if triangles.len() < announced {
        let present = triangles.len();
        let what = format!("binary STL with {present} triangles: expected {announced}, as its header says");
        return Err(MeshFileError::malformed(path, what));
    }
    let mut assembler = Assembler::default();
    for triangle in &triangles[..announced] {
        let coordinates = triangle.as_chunks::<WORD>().0;
        let point = |k: usize| [0, 1, 2].map(|i| f64::from(f32::from_le_bytes(coordinates[k + i]))).into();
        // The normal comes first; it follows from the corners.
        assembler.push([point(3), point(6), point(9)], path)?;
    }
    assembler.finish(path)
}
