//! Meshes of tetrahedra with four (P1) or ten nodes (P2).

mod generators;
mod round;
mod surface;

use serde::{Deserialize, Serialize};
use spatial::Vec3;

pub use crate::order::{EDGES, Order};
pub use surface::Surface;

use crate::Error;

/// Most nodes of a mesh. The factor of a compact body of that many takes about 10 GB.
pub const MAX_NODES: usize = 100_000;

/// An element is flat if its volume is less than this part of the cube of its longest edge. A regular tetrahedron has 0.118.
const FLAT: f64 = 1e-7;

/// A mesh of tetrahedra.
///
/// The first four nodes of an element are its corners, ordered so that (x₁ − x₀) × (x₂ − x₀) points to x₃; nodes 4 to 9 of a quadratic one
/// are on the edges in the order [`EDGES`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Raw", into = "Raw")]
pub struct TetMesh {
    order: Order,
    positions: Vec<Vec3<f64>>,
    elements: Vec<u32>,
}

/// What is stored of a mesh.
#[derive(Serialize, Deserialize)]
struct Raw {
    order: Order,
    positions: Vec<Vec3<f64>>,
    elements: Vec<u32>,
}

impl From<TetMesh> for Raw {
    fn from(mesh: TetMesh) -> Self {
        let TetMesh { order, positions, elements } = mesh;
        Self { order, positions, elements }
    }
}

impl TryFrom<Raw> for TetMesh {
    type Error = Error;
    fn try_from(raw: Raw) -> Result<Self, Error> {
        TetMesh::new(raw.order, raw.positions, raw.elements)
    }
}

impl TetMesh {
    /// The mesh of these nodes (m) and elements (4 or 10 node indices each).
    ///
    /// # Errors
    /// If there are no elements or too many nodes, an index or coordinate is not valid, an element is inverted or flat, or a node belongs to no
    /// element; the error names it.
    pub fn new(order: Order, positions: Vec<Vec3<f64>>, elements: Vec<u32>) -> Result<Self, Error> {
        let mesh = Self { order, positions, elements };
        mesh.validate()?;
        Ok(mesh)
    }

    /// Degree of the elements.
    pub fn order(&self) -> Order {
        self.order
    }

    /// The nodes' positions, m.
    pub fn positions(&self) -> &[Vec3<f64>] {
        &self.positions
    }

    /// Number of elements.
    pub fn element_count(&self) -> usize {
        self.elements.len() / self.order.nodes_per_element()
    }

    /// The node indices of element `e`: 4 or 10.
    pub fn element(&self, e: usize) -> &[u32] {
        let n = self.order.nodes_per_element();
        &self.elements[e * n..(e + 1) * n]
    }

    /// The node indices of all elements, one after the other.
    pub fn elements(&self) -> &[u32] {
        &self.elements
    }

    /// The mesh with its nodes moved by `placement`.
    ///
    /// # Errors
    /// As [`new`](Self::new): a placement that mirrors inverts every element.
    pub fn transformed(mut self, placement: impl Fn(Vec3<f64>) -> Vec3<f64>) -> Result<Self, Error> {
        self.positions.iter_mut().for_each(|x| *x = placement(*x));
        self.validate()?;
        Ok(self)
    }

    /// The same tetrahedra with ten nodes, the new ones in the middle of the edges. A quadratic mesh stays as it is.
    ///
    /// # Errors
    /// If it has too many nodes then.
    pub fn to_quadratic(&self) -> Result<Self, Error> {
        if self.order == Order::Quadratic {
            return Ok(self.clone());
        }
        let mut edges: Vec<[u32; 2]> =
            self.elements.chunks_exact(4).flat_map(|e| EDGES.map(|edge| edge_key(e, edge))).collect();
        edges.sort_unstable();
        edges.dedup();
        let mut positions = self.positions.clone();
        positions.extend(edges.iter().map(|[a, b]| (self.positions[*a as usize] + self.positions[*b as usize]) * 0.5));
        let mut elements = Vec::with_capacity(self.element_count() * 10);
        for e in self.elements.chunks_exact(4) {
            elements.extend_from_slice(e);
            elements.extend(EDGES.map(|edge| {
                let at = edges.binary_search(&edge_key(e, edge)).unwrap_or_else(|at| at);
                (self.positions.len() + at) as u32
            }));
        }
        Self::new(Order::Quadratic, positions, elements)
    }

    /// The boundary, and the nodes on it.
    pub fn surface(&self) -> Surface {
        Surface::of(self)
    }

    fn validate(&self) -> Result<(), Error> {
        let per_element = self.order.nodes_per_element();
        if !self.elements.len().is_multiple_of(per_element) {
            return Err(Error::ElementList { len: self.elements.len(), per_element });
        }
        let (nodes, elements) = (self.positions.len(), self.element_count());
        if elements == 0 {
            return Err(Error::Empty);
        }
        if nodes > MAX_NODES || elements > 8 * MAX_NODES {
            return Err(Error::TooLarge { elements, nodes, limit: MAX_NODES });
        }
        if let Some((node, x)) = self.positions.iter().enumerate().find(|(_, x)| !x.is_finite()) {
            return Err(Error::Coordinate { node, x: x.x, y: x.y, z: x.z });
        }
        let mut is_used = vec![false; nodes];
        for element in 0..elements {
            let indices = self.element(element);
            for (k, &node) in indices.iter().enumerate() {
                let Some(used) = is_used.get_mut(node as usize) else {
                    return Err(Error::NodeIndex { element, node, last: nodes.saturating_sub(1) });
                };
                *used = true;
                if indices[..k].contains(&node) {
                    return Err(Error::RepeatedNode { element, node });
                }
            }
            self.check_volume(element)?;
        }
        let count = is_used.iter().filter(|used| !**used).count();
        match is_used.iter().position(|used| !used) {
            Some(node) => Err(Error::LooseNode { node, count }),
            None => Ok(()),
        }
    }

    fn check_volume(&self, element: usize) -> Result<(), Error> {
        let x = |k: usize| self.positions[self.element(element)[k] as usize];
        let edge = EDGES.iter().map(|&[a, b]| (x(a) - x(b)).norm()).fold(0.0, f64::max);
        let jacobian = crate::shape::least_jacobian(self.order, x);
        let volume = jacobian / 6.0;
        let least = FLAT * edge * edge * edge;
        if volume >= least && volume > 0.0 {
            Ok(())
        } else if volume <= -least && volume < 0.0 {
            Err(Error::Inverted { element, volume })
        } else {
            Err(Error::Flat { element, volume, edge })
        }
    }
}

fn edge_key(element: &[u32], [a, b]: [usize; 2]) -> [u32; 2] {
    let (a, b) = (element[a], element[b]);
    [a.min(b), a.max(b)]
}
