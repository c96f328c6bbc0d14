//! STL, binary and ASCII.

use std::path::Path;

use spatial::Vec3;

use super::assemble::Assembler;
use super::{MeshFileError, TriangleSoup, lines, single};
use crate::text::lossy;

const WORD: usize = 4;
/// Bytes of the header of a binary file, its count of triangles included.
const HEADER: usize = 84;
/// Bytes of a triangle of a binary file: normal, corners, attributes.
const TRIANGLE: usize = 50;

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    // A mark of the encoding is no part of a text.
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if has_announced_length(bytes) {
        return parse_binary(bytes, path);
    }
    super::check_encoding(bytes, path)?;
    if is_binary(bytes) {
        return parse_binary(bytes, path);
    }
    parse_ascii(&lossy(bytes), path)
}

/// `vertex` lines, three to a facet; what else is in the file (names, normals, ends of facets) follows from them.
fn parse_ascii(text: &str, path: &Path) -> Result<TriangleSoup, MeshFileError> {
    let malformed = |line: usize, what: &str| MeshFileError::malformed(path, format!("line {}: {what}", line + 1));
    let mut assembler = Assembler::default();
    let mut corners = Vec::with_capacity(3);
    for (number, line) in lines(text).enumerate() {
        let mut words = line.split_ascii_whitespace();
        match words.next().unwrap_or_default().to_ascii_lowercase().as_str() {
            "vertex" => {
                let mut coordinate = || words.next().and_then(single);
                let (Some(x), Some(y), Some(z)) = (coordinate(), coordinate(), coordinate()) else {
                    return Err(malformed(number, "vertex: expected three numbers"));
                };
                if corners.len() == 3 {
                    return Err(malformed(number, "a fourth vertex: expected three to a facet"));
                }
                corners.push(Vec3::new(x, y, z));
            }
            "endfacet" => {
                let facet: [Vec3<f64>; 3] = corners[..].try_into().map_err(|_| {
                    malformed(number, &format!("{} vertices: expected three to a facet", corners.len()))
                })?;
                assembler.push(facet, path)?;
                corners.clear();
            }
            "" | "solid" | "endsolid" | "facet" | "outer" | "endloop" => {}
            _ => return Err(malformed(number, "expected STL, binary or ASCII (`solid … facet normal …`)")),
        }
    }
    if !corners.is_empty() {
        return Err(MeshFileError::malformed(path, "it breaks off in a facet: expected `endfacet`"));
    }
    assembler.finish(path)
}

/// The number of triangles that a binary file announces.
fn announced(bytes: &[u8]) -> Option<usize> {
    let count = bytes.get(HEADER - WORD..)?.first_chunk::<WORD>()?;
    Some(u32::from_le_bytes(*count) as usize)
}

fn has_announced_length(bytes: &[u8]) -> bool {
    announced(bytes).is_some_and(|announced| bytes.len() == HEADER + TRIANGLE * announced)
}

/// Of a file without the length that it would announce. ASCII files begin with `solid`, but so do the headers of many binary ones: what
/// follows a name decides, which may be in any language, or bytes that are no text.
fn is_binary(bytes: &[u8]) -> bool {
    if announced(bytes).is_none() || has_facet_after_name(bytes) {
        return false;
    }
    let text = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
    !bytes.iter().take(HEADER + TRIANGLE).all(text)
}

/// Whether the second line begins as in ASCII.
fn has_facet_after_name(bytes: &[u8]) -> bool {
    let mut lines = bytes.splitn(2, |byte| matches!(byte, b'\n' | b'\r'));
    let [Some(first), Some(rest)] = [lines.next(), lines.next()] else { return false };
    let begins = |bytes: &[u8], word: &[u8]| {
        let bytes = bytes.trim_ascii_start();
        bytes.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word))
    };
    begins(first, b"solid") && (begins(rest, b"facet") || begins(rest, b"endsolid"))
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
