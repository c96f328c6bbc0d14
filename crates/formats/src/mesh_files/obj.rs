//! Wavefront OBJ: `v` and `f` lines, all groups together.

use std::path::Path;

use spatial::Vec3;

use super::assemble::Assembler;
use super::{MeshFileError, TriangleSoup, single};
use crate::limits::MAX_MESH_VERTICES;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    // Names of groups and materials may be in any encoding; numbers are ASCII.
    let text = String::from_utf8_lossy(bytes);
    let mut vertices: Vec<Vec3<f64>> = Vec::new();
    let mut assembler = Assembler::default();
    let mut corners: Vec<Vec3<f64>> = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, first)) = lines.next() {
        let mut line = std::borrow::Cow::Borrowed(first);
        // A backslash at its end continues a line.
        while line.ends_with('\\') {
            line.to_mut().pop();
            line.to_mut().push_str(lines.next().map_or("", |(_, next)| next));
        }
        let malformed = |what: String| MeshFileError::malformed(path, format!("line {}: {what}", number + 1));
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate = || words.next().and_then(single);
                let (Some(x), Some(y), Some(z)) = (coordinate(), coordinate(), coordinate()) else {
                    return Err(malformed("v: expected three numbers".into()));
                };
                vertices.push(Vec3::new(x, y, z));
                if vertices.len() > MAX_MESH_VERTICES {
                    return Err(malformed(format!("too many vertices: expected at most {MAX_MESH_VERTICES}")));
                }
            }
            Some("f") => {
                corners.clear();
                for word in words {
                    corners.push(corner(word, &vertices).map_err(malformed)?);
                }
                if corners.len() < 3 {
                    return Err(malformed(format!("f: {} corners: expected three or more", corners.len())));
                }
                for pair in corners.windows(2).skip(1) {
                    assembler.push([corners[0], pair[0], pair[1]], path)?;
                }
            }
            _ => {}
        }
    }
    assembler.finish(path)
}

/// The vertex that a corner of a face names: `vertex`, `vertex/texture`, `vertex//normal` or `vertex/texture/normal`, each
/// corner as it likes. Vertices count from 1, or back from the last one, which is −1.
fn corner(word: &str, vertices: &[Vec3<f64>]) -> Result<Vec3<f64>, String> {
    let index = word.split('/').next().unwrap_or_default();
    let count = vertices.len();
    let position = match index.parse::<i64>() {
        Ok(index) if index > 0 => usize::try_from(index - 1).ok(),
        Ok(index) => usize::try_from(index.unsigned_abs()).ok().and_then(|back| count.checked_sub(back)),
        Err(_) => return Err(format!("f: {word:?}: expected indices of vertices")),
    };
    let vertex = position.and_then(|position| vertices.get(position).copied());
    vertex.ok_or_else(|| format!("f: vertex {index}: expected an index of one of the {count} vertices before it"))
}
