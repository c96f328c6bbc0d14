//! Mass matrices of meshes.

use crate::mesh::TetMesh;
use crate::shape::{Barycentric, reference_gradients, tangents, values};

/// Points and weights (summing up to 1/6) that integrate polynomials of degree 5: Gauss–Legendre points of a cube, folded onto the
/// tetrahedron.
fn mass_points() -> Vec<(Barycentric, f64)> {
    const GAUSS: [(f64, f64); 4] = [
        (0.069_431_844_202_973_71, 0.173_927_422_568_726_93),
        (0.330_009_478_207_571_87, 0.326_072_577_431_273_1),
        (0.669_990_521_792_428_1, 0.326_072_577_431_273_1),
        (0.930_568_155_797_026_3, 0.173_927_422_568_726_93),
    ];
    let mut points = Vec::with_capacity(64);
    for (u, wu) in GAUSS {
        for (v, wv) in GAUSS {
            for (w, ww) in GAUSS {
                let (b, c, d) = (u, (1.0 - u) * v, (1.0 - u) * (1.0 - v) * w);
                let weight = wu * wv * ww * (1.0 - u) * (1.0 - u) * (1.0 - v);
                points.push(([1.0 - b - c - d, b, c, d], weight));
            }
        }
    }
    points
}

/// Calls `visit` with every element and its consistent mass matrix per density ∫ N Nᵀ, of which only the first 4 or 10 rows and columns count, m³.
pub(crate) fn for_each_mass_matrix(mesh: &TetMesh, mut visit: impl FnMut(usize, &[[f64; 10]; 10])) {
    let order = mesh.order();
    let n = order.nodes_per_element();
    let points = mass_points();
    let shapes: Vec<[f64; 10]> = points.iter().map(|(l, _)| values(order, *l)).collect();
    for e in 0..mesh.element_count() {
        let x = |k: usize| mesh.positions()[mesh.element(e)[k] as usize];
        let mut m = [[0.0; 10]; 10];
        for ((l, weight), shape) in points.iter().zip(&shapes) {
            let [a, b, c] = tangents(order, &reference_gradients(order, *l), x);
            let weight = weight * a.dot(b.cross(c));
            for i in 0..n {
                for j in 0..=i {
                    m[i][j] += weight * shape[i] * shape[j];
                }
            }
        }
        for i in 0..n {
            for j in 0..i {
                m[j][i] = m[i][j];
            }
        }
        visit(e, &m);
    }
}

/// Lumped masses of the nodes for a density (kg/m³), kg: of each element in proportion to the diagonal of its consistent mass, which keeps them
/// positive (Hinton, Rock, Zienkiewicz 1976; the sums of rows of P2 are negative at corners).
pub(crate) fn lumped_masses(mesh: &TetMesh, density: f64) -> Vec<f64> {
    let n = mesh.order().nodes_per_element();
    let mut masses = vec![0.0; mesh.positions().len()];
    for_each_mass_matrix(mesh, |e, m| {
        let all: f64 = m.iter().flatten().sum();
        let diagonal: f64 = (0..n).map(|i| m[i][i]).sum();
        for (i, &node) in mesh.element(e).iter().enumerate() {
            masses[node as usize] += density * all * m[i][i] / diagonal;
        }
    });
    masses
}
