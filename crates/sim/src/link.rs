//! How a constraint couples to the trees: the geometry of its rows of J.

use multibody::{Kinematics, NO_PARENT, Tree, joint_axis};
use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench};

/// One side of a contact: a point of a node. A side that is fixed in the world is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct End {
    /// Index of the tree.
    pub tree: usize,
    /// Node within the tree.
    pub node: usize,
    /// The point from the node's origin, world axes.
    pub arm: Vec3<f64>,
}

impl End {
    /// Whether both are points of the same node.
    pub fn is_on_node_of(&self, other: &End) -> bool {
        self.tree == other.tree && self.node == other.node
    }

    /// The velocity of the point when the nodes of its tree move with `motions`.
    #[inline(always)]
    pub fn velocity(&self, motions: &[Twist<f64>]) -> Vec3<f64> {
        motions[self.node].shifted(self.arm).lin
    }

    /// The wrench of a force at the point, about the node's origin.
    #[inline(always)]
    pub fn wrench(&self, force: Vec3<f64>) -> Wrench<f64> {
        Wrench { ang: self.arm.cross(force), lin: force }
    }

    /// The impedance Xᵀ G X of a point with the world-axes impedance G.
    #[inline(always)]
    pub fn impedance(&self, g: Sym3<f64>) -> ArticulatedInertia<f64> {
        ArticulatedInertia { a: Sym3::ZERO, b: Mat3::ZERO, c: g }.shifted_back(self.arm)
    }
}

/// The rows of one constraint.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Link {
    /// Three rows: the velocity of the second point relative to the first along the columns (t1, t2, n) of `basis`.
    Points { ends: [Option<End>; 2], basis: Mat3<f64> },
    /// One row on the first `width` degrees of freedom of a node.
    Joint { tree: usize, node: usize, dof: usize, width: usize, axis: [f64; 3] },
}

impl Link {
    /// The trees that it couples; twice the same for a contact of a tree with itself.
    pub fn trees(&self) -> [Option<usize>; 2] {
        match self {
            Self::Points { ends, .. } => ends.map(|e| e.map(|e| e.tree)),
            Self::Joint { tree, .. } => [Some(*tree), None],
        }
    }

    /// The link with the trees renamed.
    pub fn with_trees(mut self, rename: impl Fn(usize) -> usize) -> Self {
        match &mut self {
            Self::Points { ends, .. } => ends.iter_mut().flatten().for_each(|e| e.tree = rename(e.tree)),
            Self::Joint { tree, .. } => *tree = rename(*tree),
        }
        self
    }
}

/// E diag-block Eᵀ: a 3×3 block in the basis (t1, t2, n) as a symmetric matrix in world axes.
#[inline(always)]
pub(crate) fn to_world(basis: &Mat3<f64>, block: &sap::Block) -> Sym3<f64> {
    let [xx, xy, xz, yy, yz, zz] = block.0;
    Sym3 { xx, xy, xz, yy, yz, zz }.rotated(*basis)
}

/// The columns of a Jacobian row block, gathered for a dense problem: (column, its three rows), descending.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseRows {
    entries: Vec<(u32, [f64; 3])>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl SparseRows {
    /// Writes the nonzero columns of `link` to `columns` and its rows to `values`, row-major. `part(tree)` gives the
    /// tree, its kinematics and the column of its first degree of freedom.
    pub fn gather<'a>(&mut self, link: &Link, part: impl Fn(usize) -> (&'a Tree<f64>, &'a Kinematics<f64>, usize)) {
        self.entries.clear();
        let rows = match link {
            Link::Joint { tree, dof, width, axis, .. } => {
                let (_, _, first) = part(*tree);
                let row = (0..*width).rev().map(|k| ((first + dof + k) as u32, [axis[k], 0.0, 0.0]));
                self.entries.extend(row);
                1
            }
            Link::Points { ends, basis } => {
                self.gather_points(ends, basis, part);
                3
            }
        };
        self.columns.clear();
        self.columns.extend(self.entries.iter().rev().map(|e| e.0));
        self.values.clear();
        for row in 0..rows {
            self.values.extend(self.entries.iter().rev().map(|e| e.1[row]));
        }
    }

    fn gather_points<'a>(
        &mut self,
        ends: &[Option<End>; 2],
        basis: &Mat3<f64>,
        part: impl Fn(usize) -> (&'a Tree<f64>, &'a Kinematics<f64>, usize),
    ) {
        match *ends {
            [Some(a), Some(b)] if a.tree == b.tree => {
                // Common ancestors move both points alike: walk both branches up to where they meet.
                let view = part(a.tree);
                let (mut i, mut j) = (a.node, b.node);
                while i != j {
                    if j == NO_PARENT || (i != NO_PARENT && i > j) {
                        i = self.push_node(view, i, &a, basis, -1.0);
                    } else {
                        j = self.push_node(view, j, &b, basis, 1.0);
                    }
                }
                // The point moves with the common ancestors as seen from both arms; the two points coincide, so
                // nothing is left of them.
            }
            _ => {
                // Trees in descending order of their columns.
                let mut sides = [ends[0].map(|e| (e, -1.0)), ends[1].map(|e| (e, 1.0))];
                let column = |side: &Option<(End, f64)>| side.map_or(0, |(e, _)| part(e.tree).2);
                if column(&sides[0]) < column(&sides[1]) {
                    sides.swap(0, 1);
                }
                for (end, sign) in sides.into_iter().flatten() {
                    let view = part(end.tree);
                    let mut i = end.node;
                    while i != NO_PARENT {
                        i = self.push_node(view, i, &end, basis, sign);
                    }
                }
            }
        }
    }

    /// Appends the columns of node `i`'s joint for a point of a node behind it; returns the parent.
    fn push_node(
        &mut self,
        (tree, kin, first): (&Tree<f64>, &Kinematics<f64>, usize),
        i: usize,
        end: &End,
        basis: &Mat3<f64>,
        sign: f64,
    ) -> usize {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let arm = end.arm + kin.frames[end.node].pos - frame.pos;
        for k in (0..node.joint.nv()).rev() {
            let velocity = joint_axis(node, frame, k).shifted(arm).lin * sign;
            self.entries.push(((first + node.v + k) as u32, basis.transpose_mul(velocity).to_array()));
        }
        node.parent
    }
}
