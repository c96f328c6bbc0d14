//! Meshes from files that the tests write.

mod collada;
mod formats_agree;
mod rejected;

use std::path::PathBuf;

use sapwood_formats::mesh_files::{MeshFileError, TriangleSoup};
use spatial::Vec3;

/// A tetrahedron, corners and outward faces.
const CORNERS: [[f32; 3]; 4] = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 3.0]];
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];

/// Writes a file of this name and reads the mesh in it.
fn read(name: &str, bytes: &[u8]) -> Result<TriangleSoup, MeshFileError> {
    sapwood_formats::mesh_files::read(&write(name, bytes))
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("mesh_files");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

/// The enclosed volume, by the divergence theorem.
fn volume(soup: &TriangleSoup) -> f64 {
    let pyramid = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| soup.vertices[i as usize]);
        a.dot(b.cross(c)) / 6.0
    };
    soup.triangles.iter().map(pyramid).sum()
}

/// The smallest and largest coordinates.
fn bounds(soup: &TriangleSoup) -> ([f64; 3], [f64; 3]) {
    let fold = |start: f64, pick: fn(f64, f64) -> f64| {
        soup.vertices
            .iter()
            .map(|v: &Vec3<f64>| v.to_array())
            .fold([start; 3], |acc, v| [pick(acc[0], v[0]), pick(acc[1], v[1]), pick(acc[2], v[2])])
    };
    (fold(f64::INFINITY, f64::min), fold(f64::NEG_INFINITY, f64::max))
}

/// A binary STL of these triangles whose header begins with `header`.
fn binary_stl(header: &[u8], triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes[..header.len()].copy_from_slice(header);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

/// The tetrahedron as a MuJoCo mesh with one normal and one texture coordinate.
fn msh() -> Vec<u8> {
    let mut bytes = Vec::new();
    bytes.extend([4_i32, 1, 1, 4].iter().flat_map(|n| n.to_le_bytes()));
    bytes.extend(CORNERS.iter().flatten().chain(&[0.0; 5]).flat_map(|x| x.to_le_bytes()));
    bytes.extend(FACES.iter().flatten().flat_map(|&i| (i as i32).to_le_bytes()));
    bytes
}

fn tetrahedron() -> Vec<[[f32; 3]; 3]> {
    FACES.iter().map(|f| f.map(|i| CORNERS[i])).collect()
}
