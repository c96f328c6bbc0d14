//! MSH, the binary mesh format of MuJoCo, in the byte order of the machines that it runs on (little-endian):
//! four `i32` (numbers of vertices, normals, texture coordinates and faces), then `f32` vertices × 3, normals × 3 and
//! texture coordinates × 2, then `i32` faces × 3.

use std::path::Path;

use spatial::Vec3;

use super::{MeshFileError, TriangleSoup, assemble};

const WORD: usize = 4;
const HEADER: usize = 4 * WORD;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let malformed = |what: String| MeshFileError::malformed(path, what);
    let header = bytes.first_chunk::<HEADER>().ok_or_else(|| {
        malformed(format!("{} bytes: expected a MuJoCo mesh, which begins with {HEADER} bytes of counts", bytes.len()))
    })?;
    let [vertices, normals, texcoords, faces] = counts(header).ok_or_else(|| {
        malformed("negative counts: expected a MuJoCo mesh, which begins with the numbers of its parts".into())
    })?;
    let expected = HEADER + WORD * (3 * vertices + 3 * normals + 2 * texcoords + 3 * faces);
    if bytes.len() != expected {
        let what = format!(
            "{} bytes: expected {expected} for {vertices} vertices, {normals} normals, {texcoords} texture coordinates \
             and {faces} faces",
            bytes.len()
        );
        return Err(malformed(what));
    }
    let (position_bytes, rest) = bytes[HEADER..].split_at(WORD * 3 * vertices);
    let face_bytes = &rest[WORD * (3 * normals + 2 * texcoords)..];
    let positions: Vec<Vec3<f64>> =
        triples(position_bytes).map(|t| t.map(|w| f64::from(f32::from_le_bytes(w))).into()).collect();
    let faces = triples(face_bytes).map(|t| t.map(|w| i64::from(i32::from_le_bytes(w))));
    // As many as vertices, or of no use.
    let places: Vec<[f32; 2]> = rest[WORD * 3 * normals..][..WORD * 2 * texcoords]
        .as_chunks::<WORD>()
        .0
        .as_chunks::<2>()
        .0
        .iter()
        .map(|uv| uv.map(f32::from_le_bytes))
        .collect();
    let places = (places.len() == positions.len() && !places.is_empty()).then_some(&places[..]);
    assemble::indexed(&positions, places, faces, path)
}

/// The four numbers of the header; `None` when one is negative.
fn counts(header: &[u8; HEADER]) -> Option<[usize; 4]> {
    let mut counts = [0; 4];
    for (count, word) in counts.iter_mut().zip(header.as_chunks::<WORD>().0) {
        *count = usize::try_from(i32::from_le_bytes(*word)).ok()?;
    }
    Some(counts)
}

/// The words of `bytes`, three by three.
fn triples(bytes: &[u8]) -> impl Iterator<Item = [[u8; WORD]; 3]> + '_ {
    bytes.as_chunks::<WORD>().0.as_chunks::<3>().0.iter().copied()
}
