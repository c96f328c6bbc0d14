//! The boundary of a mesh.

use super::{EDGES, Order, TetMesh};

/// The boundary of a mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Surface {
    /// Triangles, counter-clockwise seen from outside; the face of a quadratic element is four of them.
    pub triangles: Vec<[u32; 3]>,
    /// The nodes of the triangles, ascending.
    pub nodes: Vec<u32>,
}

/// The faces of a tetrahedron, counter-clockwise seen from outside.
const FACES: [[usize; 3]; 4] = [[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]];

impl Surface {
    pub(super) fn of(mesh: &TetMesh) -> Self {
        // (sorted corners, element, face): faces that come twice are inside.
        let mut faces: Vec<([u32; 3], u32, u8)> = (0..mesh.element_count())
            .flat_map(|e| (0..4).map(move |f| (e, f)))
            .map(|(e, f)| {
                let mut corners = FACES[f].map(|k| mesh.element(e)[k]);
                corners.sort_unstable();
                (corners, e as u32, f as u8)
            })
            .collect();
        faces.sort_unstable();
        let mut outside: Vec<(u32, u8)> = faces
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|same| same.len() == 1)
            .map(|same| (same[0].1, same[0].2))
            .collect();
        outside.sort_unstable();
        let mut triangles = Vec::new();
        for (e, f) in outside {
            let element = mesh.element(e as usize);
            let face = FACES[f as usize];
            let [a, b, c] = face.map(|k| element[k]);
            match mesh.order() {
                Order::Linear => triangles.push([a, b, c]),
                Order::Quadratic => {
                    let middle = |i: usize, j: usize| {
                        let (low, high) = (face[i].min(face[j]), face[i].max(face[j]));
                        let edge = EDGES.iter().position(|edge| *edge == [low, high]).unwrap_or(0);
                        element[4 + edge]
                    };
                    let (ab, bc, ca) = (middle(0, 1), middle(1, 2), middle(2, 0));
                    triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
                }
            }
        }
        let mut nodes: Vec<u32> = triangles.as_flattened().to_vec();
        nodes.sort_unstable();
        nodes.dedup();
        Self { triangles, nodes }
    }
}
