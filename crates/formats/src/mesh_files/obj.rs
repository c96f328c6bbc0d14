//! Wavefront OBJ: `v`, `vt` and `f` lines, all groups together, and the materials of `mtllib` files.

use std::path::Path;

use geometry::{Mesh, MeshSurface};
use spatial::Vec3;

use super::assemble::{Assembler, Looks};
use super::materials::Materials;
use super::{MeshFileError, TriangleSoup, lines, polygon, single};
use crate::limits::{MAX_ASSET_FILE_BYTES, MAX_MESH_VERTICES, read_file};
use crate::nearby;
use crate::text::lossy;

/// How OBJ files of `to_mjcf` begin whose numbers count with all their digits. Others are read in single precision.
pub(crate) const ALL_DIGITS: &str = "# Sapwood: numbers with all digits\n";

pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<TriangleSoup, MeshFileError> {
    super::check_encoding(bytes, path)?;
    // Names of groups and materials may be in any encoding; numbers are ASCII.
    let text = lossy(bytes);
    let mut vertices: Vec<Vec3<f64>> = Vec::new();
    let mut assembler = Assembler::default();
    let mut corners: Vec<Corner> = Vec::new();
    let mut texcoords: Vec<[f32; 2]> = Vec::new();
    let mut materials = Materials::new(path);
    let mut paint = None;
    let mut has_faces = false;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let all_digits = text.starts_with(ALL_DIGITS);
    let read = |word: &str| if all_digits { word.parse::<f64>().ok() } else { single(word) };
    let mut lines = lines(text).enumerate();
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
                let mut coordinate = || words.next().and_then(read);
                let (Some(x), Some(y), Some(z)) = (coordinate(), coordinate(), coordinate()) else {
                    return Err(malformed("v: expected three numbers".into()));
                };
                vertices.push(Vec3::new(x, y, z));
                if vertices.len() > MAX_MESH_VERTICES {
                    return Err(malformed(format!("too many vertices: expected at most {MAX_MESH_VERTICES}")));
                }
            }
            Some("vt") => {
                let mut coordinate = || words.next().and_then(read).unwrap_or_default();
                // Upwards from the lower edge; what is no number is no place. One less a number in single precision is rounded once.
                let [u, v] = [coordinate() as f32, (1.0 - coordinate()) as f32];
                texcoords.push(if u.is_finite() && v.is_finite() { [u, v] } else { [0.0; 2] });
            }
            // A name may have blanks in it.
            Some("mtllib") => materials.read_library(line.trim_start().get("mtllib".len()..).unwrap_or("").trim()),
            Some("usemtl") => paint = materials.index(line.trim_start().get("usemtl".len()..).unwrap_or("").trim()),
            Some("f") => {
                has_faces = true;
                corners.clear();
                for word in words {
                    corners.push(corner(word, &vertices, &texcoords).map_err(malformed)?);
                }
                let places: Vec<Vec3<f64>> = corners.iter().map(|corner| corner.0).collect();
                for triangle in polygon::triangles(&places) {
                    let [a, b, c] = triangle.map(|k| corners[k]);
                    let places = a.1.zip(b.1).zip(c.1).map(|((a, b), c)| [a, b, c]);
                    assembler.push_with([a.0, b.0, c.0], Looks { texcoords: places, paint }, path)?;
                }
            }
            _ => {}
        }
    }
    if !has_faces {
        return hull(vertices).ok_or_else(|| MeshFileError::Empty { path: path.into() });
    }
    assembler.finish_painted(materials.finish(), path)
}

/// The vertices of a file, and the ends of the segments of its lines (`l`), two after the other.
pub(crate) fn segments(path: &Path) -> Result<(Vec<Vec3<f64>>, Vec<u32>), MeshFileError> {
    let unreadable = |source| MeshFileError::Unreadable { path: path.into(), source, hint: nearby::hint(path) };
    let bytes = read_file(path, MAX_ASSET_FILE_BYTES).map_err(unreadable)?;
    super::check_encoding(&bytes, path)?;
    let (mut vertices, mut ends) = (Vec::new(), Vec::new());
    for (number, line) in lossy(&bytes).lines().enumerate() {
        let malformed = |what: &str| MeshFileError::malformed(path, format!("line {}: {what}", number + 1));
        let mut words = line.split_ascii_whitespace();
        match words.next() {
            Some("v") => {
                let mut coordinate =
                    || words.next().and_then(single).ok_or_else(|| malformed("v: expected three numbers"));
                vertices.push(Vec3::new(coordinate()?, coordinate()?, coordinate()?));
            }
            Some("l") => {
                let index = |word: &str| {
                    let index = word.split('/').next().and_then(|index| position(index.parse().ok()?, vertices.len()));
                    let index = index.filter(|index| *index < vertices.len());
                    index.map(|index| index as u32).ok_or_else(|| malformed("l: expected vertices before it"))
                };
                let line = words.map(index).collect::<Result<Vec<u32>, _>>()?;
                ends.extend(line.windows(2).flatten());
            }
            _ => {}
        }
    }
    match ends.is_empty() {
        true => Err(MeshFileError::malformed(path, "no lines: expected some (l)")),
        false => Ok((vertices, ends)),
    }
}

/// The convex hull, which points without faces stand for.
fn hull(vertices: Vec<Vec3<f64>>) -> Option<TriangleSoup> {
    let Mesh { vertices, triangles, .. } = Mesh::new(String::new(), vertices, Vec::new()).ok()?.stand_for_hull()?;
    Some(TriangleSoup { vertices, triangles, surface: MeshSurface::default() })
}

/// A vertex, and its place in a texture.
type Corner = (Vec3<f64>, Option<[f32; 2]>);

/// The vertex that a corner of a face names, and its place in a texture if it has one: `vertex`, `vertex/texture`, `vertex//normal` or `vertex/texture/normal`, each
/// corner as it likes. Vertices count from 1, or back from the last one, which is −1.
fn corner(word: &str, vertices: &[Vec3<f64>], texcoords: &[[f32; 2]]) -> Result<Corner, String> {
    let mut parts = word.split('/');
    let index = parts.next().unwrap_or_default();
    let count = vertices.len();
    let number = index.parse().map_err(|_| format!("f: {word:?}: expected indices of vertices"))?;
    let vertex = position(number, count).and_then(|position| vertices.get(position).copied());
    let vertex = vertex
        .ok_or_else(|| format!("f: vertex {index}: expected an index of one of the {count} vertices before it"))?;
    let place = parts.next().and_then(|index| position(index.parse().ok()?, texcoords.len()));
    Ok((vertex, place.and_then(|place| texcoords.get(place).copied())))
}

/// The position in a list of so many that an index names.
fn position(index: i64, count: usize) -> Option<usize> {
    match index {
        1.. => usize::try_from(index - 1).ok(),
        _ => usize::try_from(index.unsigned_abs()).ok().and_then(|back| count.checked_sub(back)),
    }
}
