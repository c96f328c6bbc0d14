//! Cylinders and balls: their elements are of good shape, their volumes those of the bodies, their surfaces closed.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::f64::consts::PI;

use sapwood_deformable::TetMesh;
use spatial::Vec3;

/// Least and greatest angle between two faces of an element, degrees; ratio of the greatest and the least volume; all volume, m³.
fn quality(mesh: &TetMesh) -> (f64, f64, f64, f64) {
    let (mut angles, mut volumes) = (Vec::new(), Vec::new());
    for e in 0..mesh.element_count() {
        let x: Vec<Vec3<f64>> = mesh.element(e).iter().map(|&k| mesh.positions()[k as usize]).collect();
        volumes.push((x[1] - x[0]).cross(x[2] - x[0]).dot(x[3] - x[0]) / 6.0);
        // The angle at the edge ab between the faces with c and with d.
        for [a, b, c, d] in [[0, 1, 2, 3], [0, 2, 1, 3], [0, 3, 1, 2], [1, 2, 0, 3], [1, 3, 0, 2], [2, 3, 0, 1]] {
            let edge = (x[b] - x[a]).normalized().unwrap();
            let across = |k: usize| (x[k] - x[a] - edge * edge.dot(x[k] - x[a])).normalized().unwrap();
            angles.push(across(c).dot(across(d)).clamp(-1.0, 1.0).acos().to_degrees());
        }
    }
    let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
    let most = |list: &[f64]| list.iter().copied().fold(0.0, f64::max);
    (least(&angles), most(&angles), most(&volumes) / least(&volumes), volumes.iter().sum())
}

/// Every edge of a closed, oriented surface comes once in each direction; χ = 2 for a sphere.
fn assert_is_closed(mesh: &TetMesh) {
    let surface = mesh.surface();
    let mut edges: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for [a, b, c] in &surface.triangles {
        for (a, b) in [(a, b), (b, c), (c, a)] {
            *edges.entry((*a.min(b), *a.max(b))).or_default() += if a < b { 1 } else { 1000 };
        }
    }
    assert!(edges.values().all(|count| *count == 1001));
    assert_eq!(surface.nodes.len() + surface.triangles.len(), edges.len() + 2);
}

#[test]
fn balls() {
    for cells in [3, 4, 5, 6, 8, 11, 16] {
        let mesh = TetMesh::ball(0.3, cells).unwrap();
        let (least, most, ratio, volume) = quality(&mesh);
        assert!(least > if cells == 3 { 21.5 } else { 25.0 } && most < 137.0, "{cells}: {least} to {most}");
        assert!(ratio < 12.0, "{cells}: {ratio}");
        assert_is_closed(&mesh);
        // A polyhedron inside the ball: what is missing falls with the square of an edge.
        let missing = 1.0 - volume / (4.0 / 3.0 * PI * 0.3f64.powi(3));
        assert!(missing > 0.0 && missing < 6.0 / (cells * cells) as f64, "{cells}: {missing}");
        for &node in &mesh.surface().nodes {
            assert!((mesh.positions()[node as usize].norm() - 0.3).abs() < 1e-15);
        }
    }
}

#[test]
fn cylinders() {
    for cells in [3, 4, 5, 6, 8, 11, 16] {
        let mesh = TetMesh::cylinder(0.3, 0.6, [cells, cells]).unwrap();
        let (least, most, ratio, volume) = quality(&mesh);
        assert!(least > 27.0 && most < 136.0, "{cells}: {least} to {most}");
        assert!(ratio < 5.0, "{cells}: {ratio}");
        assert_is_closed(&mesh);
        let missing = 1.0 - volume / (PI * 0.09 * 0.6);
        assert!(missing > 0.0 && missing < 4.0 / (cells * cells) as f64, "{cells}: {missing}");
        let mut mean = Vec3::ZERO;
        for x in mesh.positions() {
            assert!(x.x.hypot(x.y) < 0.3 + 1e-15 && x.z.abs() <= 0.3);
            mean += *x;
        }
        assert!(mean.norm() < 1e-12);
    }
}
