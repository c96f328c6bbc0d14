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
            Self::Points { ends: [a, b], .. } => [a.map(|e| e.tree), b.map(|e| e.tree)],
            Self::Joint { tree, .. } => [Some(*tree), None],
        }
    }

    /// A velocity along the rows in world axes; of a joint, the first entry as it is.
    pub fn in_world(&self, rows: [f64; 3]) -> Vec3<f64> {
        let rows = Vec3::new(rows[0], rows[1], rows[2]);
        match self {
            Self::Points { basis, .. } => *basis * rows,
            Self::Joint { .. } => rows,
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

/// Appends the motion of the second end's node relative to the first's, seen at the world point `origin`, per unit of each
/// degree of freedom that has a share in it: columns ascending. An end that is fixed in the world does not move; common
/// ancestors move both alike and are left out. `part(tree)` gives a tree, its kinematics and its first column.
pub(crate) fn push_relative_motion<'a>(
    ends: &[Option<End>; 2],
    origin: Vec3<f64>,
    part: impl Fn(usize) -> (&'a Tree<f64>, &'a Kinematics<f64>, usize),
    columns: &mut Vec<u32>,
    motions: &mut Vec<Twist<f64>>,
) {
    let start = columns.len();
    let mut push = |end: &End, i: usize, sign: f64| {
        let (tree, kin, first) = part(end.tree);
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        for k in (0..node.joint.nv()).rev() {
            columns.push((first + node.v + k) as u32);
            motions.push(joint_axis(node, frame, k).shifted(origin - frame.pos) * sign);
        }
        node.parent
    };
    // From the leaves, descending in the columns; turned round at the end.
    match ends {
        [Some(a), Some(b)] if a.tree == b.tree => {
            let (mut i, mut j) = (a.node, b.node);
            while i != j {
                if j == NO_PARENT || (i != NO_PARENT && i > j) {
                    i = push(a, i, -1.0);
                } else {
                    j = push(b, j, 1.0);
                }
            }
        }
        _ => {
            let mut sides = [(ends[0], -1.0), (ends[1], 1.0)];
            sides.sort_by_key(|(end, _)| std::cmp::Reverse(end.map(|e| e.tree)));
            for (end, sign) in sides {
                let Some(end) = end else { continue };
                let mut i = end.node;
                while i != NO_PARENT {
                    i = push(&end, i, sign);
                }
            }
        }
    }
    columns[start..].reverse();
    motions[start..].reverse();
}

/// The rows of one constraint, gathered for a problem of matrices.
#[derive(Clone, Debug, Default)]
pub(crate) struct SparseRows {
    motions: Vec<Twist<f64>>,
    pub columns: Vec<u32>,
    pub values: Vec<f64>,
}

impl SparseRows {
    /// Writes the nonzero columns of `link` to `columns` and its rows to `values`, row-major; `part` is that of
    /// [`push_relative_motion`].
    pub fn gather<'a>(&mut self, link: &Link, part: impl Fn(usize) -> (&'a Tree<f64>, &'a Kinematics<f64>, usize)) {
        self.columns.clear();
        self.values.clear();
        match link {
            Link::Joint { tree, dof, width, axis, .. } => {
                let first = part(*tree).2 + dof;
                self.columns.extend((first..first + width).map(|column| column as u32));
                self.values.extend(&axis[..*width]);
            }
            Link::Points { ends, basis } => {
                let Some(end) = ends[0].or(ends[1]) else { return };
                let point = part(end.tree).1.frames[end.node].pos + end.arm;
                self.motions.clear();
                push_relative_motion(ends, point, part, &mut self.columns, &mut self.motions);
                for axis in [basis.x, basis.y, basis.z] {
                    self.values.extend(self.motions.iter().map(|motion| axis.dot(motion.lin)));
                }
            }
        }
    }
}
