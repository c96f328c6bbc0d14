//! The nodes of a tetrahedron.

use serde::{Deserialize, Serialize};

/// The edges of a tetrahedron in the order of the nodes 4 to 9 of a quadratic one: that of VTK and Abaqus. (Gmsh has the last two the
/// other way round.)
pub const EDGES: [[usize; 2]; 6] = [[0, 1], [1, 2], [0, 2], [0, 3], [1, 3], [2, 3]];

/// Degree of the elements' shape functions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// P1: four nodes, constant strain. Stiff in bending.
    #[default]
    Linear,
    /// P2: ten nodes, linear strain.
    Quadratic,
}

impl Order {
    /// Nodes of an element: 4 or 10.
    pub fn nodes_per_element(self) -> usize {
        match self {
            Self::Linear => 4,
            Self::Quadratic => 10,
        }
    }
}
