//! What can be wrong with a soft body, and what can go wrong in a step.

/// Why a mesh, a material or a soft body was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A list of numbers has a length that does not fit.
    #[error("the list of elements has {len} node indices, no multiple of the {per_element} that an element has")]
    ElementList {
        /// Entries of the list.
        len: usize,
        /// Nodes of an element.
        per_element: usize,
    },
    /// There is nothing to simulate.
    #[error("the mesh has no elements; a soft body needs at least one tetrahedron")]
    Empty,
    /// There is more than fits into memory.
    #[error("the mesh has {elements} elements of {nodes} nodes; the most is {limit} nodes: use a coarser mesh")]
    TooLarge {
        /// Elements of the mesh.
        elements: usize,
        /// Nodes of the mesh.
        nodes: usize,
        /// Most nodes that a mesh may have.
        limit: usize,
    },
    /// A generator was asked for cells that no mesh has.
    #[error("{what} has {got} cells; from {least} to {limit} are possible")]
    Cells {
        /// The direction.
        what: &'static str,
        /// What came.
        got: usize,
        /// The fewest.
        least: usize,
        /// The most.
        limit: usize,
    },
    /// A length of a generator is not positive.
    #[error("{what} is {got} m; a positive, finite length is expected")]
    Length {
        /// The length's name.
        what: &'static str,
        /// What came.
        got: f64,
    },
    /// A coordinate is no number.
    #[error("node {node} is at ({x}, {y}, {z}); coordinates must be finite numbers")]
    Coordinate {
        /// Index of the node.
        node: usize,
        /// Its coordinates, m.
        x: f64,
        /// Its coordinates, m.
        y: f64,
        /// Its coordinates, m.
        z: f64,
    },
    /// An element names a node that is not there.
    #[error("element {element} has node {node}; the mesh has nodes 0 to {last}")]
    NodeIndex {
        /// Index of the element.
        element: usize,
        /// The node.
        node: u32,
        /// Index of the last node.
        last: usize,
    },
    /// An element has a node twice.
    #[error("element {element} has node {node} twice")]
    RepeatedNode {
        /// Index of the element.
        element: usize,
        /// The node.
        node: u32,
    },
    /// An element is turned inside out.
    #[error("element {element} is inverted (volume {volume:e} m³): swap two of its nodes")]
    Inverted {
        /// Index of the element.
        element: usize,
        /// Its volume (smallest Jacobian over 6 where it is curved), m³.
        volume: f64,
    },
    /// An element has no volume to speak of.
    #[error("element {element} is flat: volume {volume:e} m³, longest edge {edge:e} m")]
    Flat {
        /// Index of the element.
        element: usize,
        /// Its volume (smallest Jacobian over 6 where it is curved), m³.
        volume: f64,
        /// Its longest edge, m.
        edge: f64,
    },
    /// A node belongs to no element.
    #[error("node {node} belongs to no element ({count} such nodes): remove it")]
    LooseNode {
        /// The first such node.
        node: usize,
        /// How many there are.
        count: usize,
    },
    /// A parameter of the material is out of its range.
    #[error("{what} is {got}; expected is {expected}")]
    Parameter {
        /// The parameter.
        what: &'static str,
        /// What came.
        got: f64,
        /// The range.
        expected: &'static str,
    },
    /// No model of materials has this name.
    #[error(
        "no material model is called {name:?}; there are linear, linear-corotated, corotated and stable-neo-hookean"
    )]
    Model {
        /// What came.
        name: String,
    },
    /// A pinned node is not there.
    #[error("pinned node {node} is not one of the mesh's nodes 0 to {last}")]
    PinnedNode {
        /// The node.
        node: u32,
        /// Index of the last node.
        last: usize,
    },
}

/// Why a step was not made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum StepError {
    /// Positions, velocities or forces that are no numbers.
    #[error("{what} of node {node} is not a finite number")]
    NotFinite {
        /// Positions, velocities or applied forces.
        what: &'static str,
        /// The first such node.
        node: usize,
    },
    /// A slice of the wrong length.
    #[error("{what} has {got} entries; {expected} are expected, three a node")]
    Length {
        /// The argument.
        what: &'static str,
        /// What came.
        got: usize,
        /// What was expected.
        expected: usize,
    },
    /// A touched node that is not there, is pinned, or is named twice.
    #[error("touched node {node} is pinned, named twice or not in the mesh")]
    Touched {
        /// The node.
        node: u32,
    },
    /// A has a pivot that is not positive.
    #[error("the system matrix is not positive definite at node {node}")]
    NotPositiveDefinite {
        /// The node of the pivot.
        node: usize,
    },
    /// Newton's method did not solve the step.
    #[error(
        "Newton's method met the soft body's step to {residual:.1e} only in {iterations} iterations; a shorter step may do"
    )]
    NotConverged {
        /// Iterations made.
        iterations: usize,
        /// What is missing of the balance of impulses, as a part of the largest on a node.
        residual: f64,
    },
    /// The step was told to stop.
    #[error("interrupted")]
    Interrupted,
}
