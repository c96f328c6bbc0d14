//! How a constraint couples to the trees: the geometry of its rows of J.

use std::ops::Range;

use spatial::{ArticulatedInertia, Mat3, Sym3, Twist, Vec3, Wrench};

use crate::clique::Clique;

/// One side of a contact: a point of a node. A side that is fixed in the world is left out.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConstraintEnd {
    /// Index of the tree.
    pub tree: usize,
    /// Node within the tree.
    pub node: usize,
    /// The point from the node's origin, world axes.
    pub arm: Vec3<f64>,
}

impl ConstraintEnd {
    /// Whether both are points of the same node.
    pub fn is_on_node_of(&self, other: &ConstraintEnd) -> bool {
        self.tree == other.tree && self.node == other.node
    }

    /// The velocity of the point, or of its body's rotation, when the nodes of its tree move with `motions`.
    #[inline(always)]
    pub fn velocity(&self, motions: &[Twist<f64>], motion: Motion) -> Vec3<f64> {
        match motion {
            Motion::Linear => motions[self.node].shifted(self.arm).lin,
            Motion::Angular => motions[self.node].ang,
        }
    }

    /// The wrench of a force at the point, or of a torque, about the node's origin.
    #[inline(always)]
    pub fn wrench(&self, load: Vec3<f64>, motion: Motion) -> Wrench<f64> {
        match motion {
            Motion::Linear => Wrench { ang: self.arm.cross(load), lin: load },
            Motion::Angular => Wrench { ang: load, lin: Vec3::ZERO },
        }
    }

    /// The impedance Xᵀ G X of rows with the world-axes impedance G.
    #[inline(always)]
    pub fn impedance(&self, g: Sym3<f64>, motion: Motion) -> ArticulatedInertia<f64> {
        match motion {
            Motion::Linear => ArticulatedInertia { a: Sym3::ZERO, b: Mat3::ZERO, c: g }.shifted_back(self.arm),
            Motion::Angular => ArticulatedInertia { a: g, b: Mat3::ZERO, c: Sym3::ZERO },
        }
    }
}

/// Which motion of a body the rows of a constraint see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    /// The velocity of a point.
    Linear,
    /// The angular velocity.
    Angular,
}

/// A degree of freedom in a sum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Term {
    pub tree: usize,
    /// Node and degree of freedom within the tree.
    pub node: usize,
    pub dof: usize,
    pub coefficient: f64,
}

/// The rows of one constraint.
#[derive(Clone, Debug)]
pub(crate) enum ConstraintJacobian {
    /// Three rows: the motion of the second end relative to the first along the columns (t1, t2, n) of `basis`, orthogonal unit vectors but for
    /// t2 of contacts with friction of two directions: [`multibody::Material::friction_tangents`].
    Ends { ends: [Option<ConstraintEnd>; 2], basis: Mat3<f64>, motion: Motion },
    /// One row on the first `width` degrees of freedom of a node.
    Joint { tree: usize, node: usize, dof: usize, width: usize, axis: [f64; 3] },
    /// One row: a weighted sum of degrees of freedom, given apart, ascending, of one tree or several.
    Sum { terms: Range<usize> },
}

impl ConstraintJacobian {
    /// The trees that it couples, some of them more than once; `terms` are those that sums refer to.
    pub fn trees<'a>(&self, terms: &'a [Term]) -> impl Iterator<Item = usize> + use<'a> {
        let (pair, sum) = match self {
            Self::Ends { ends: [a, b], .. } => ([a.map(|e| e.tree), b.map(|e| e.tree)], 0..0),
            Self::Joint { tree, .. } => ([Some(*tree), None], 0..0),
            Self::Sum { terms } => ([None, None], terms.clone()),
        };
        pair.into_iter().flatten().chain(terms[sum].iter().map(|term| term.tree))
    }

    /// Of one row on degrees of freedom: their trees, their places there and their coefficients; `terms` are those that sums refer to.
    #[inline(always)]
    pub fn coordinates<'a>(&'a self, terms: &'a [Term]) -> impl Iterator<Item = (usize, usize, f64)> + Clone + use<'a> {
        let (tree, first, axis, sum) = match self {
            Self::Ends { .. } => (0, 0, &[][..], 0..0),
            Self::Joint { tree, dof, width, axis, .. } => (*tree, *dof, &axis[..*width], 0..0),
            Self::Sum { terms } => (0, 0, &[][..], terms.clone()),
        };
        let of_joint = axis.iter().enumerate().map(move |(k, axis)| (tree, first + k, *axis));
        of_joint.chain(terms[sum].iter().map(|term| (term.tree, term.dof, term.coefficient)))
    }

    /// A velocity along the rows in world axes; of a joint, the first entry as it is.
    pub fn in_world(&self, rows: [f64; 3]) -> Vec3<f64> {
        let rows = Vec3::new(rows[0], rows[1], rows[2]);
        match self {
            Self::Ends { basis, .. } if is_elliptic(basis) => {
                *basis * Vec3::new(rows.x, rows.y / basis.y.norm_squared(), rows.z)
            }
            Self::Ends { basis, .. } => *basis * rows,
            Self::Joint { .. } | Self::Sum { .. } => rows,
        }
    }

    /// Impulse and velocity of a contact along the rows, both along the unit tangents of its normal and along that.
    pub fn along_tangents(&self, [impulse, velocity]: [&[f64]; 2]) -> [[f64; 3]; 2] {
        let [impulse, velocity] = [impulse, velocity].map(|rows| [rows[0], rows[1], rows[2]]);
        match self {
            Self::Ends { basis, .. } if is_elliptic(basis) => {
                let (t1, t2) = basis.z.tangents();
                let along = |v: Vec3<f64>| [t1.dot(v), t2.dot(v), basis.z.dot(v)];
                [along(*basis * Vec3::from(impulse)), along(self.in_world(velocity))]
            }
            _ => [impulse, velocity],
        }
    }

    /// Renames the trees of its ends or its joint; those of sums are in the terms.
    pub fn rename_trees(&mut self, rename: impl Fn(usize) -> usize) {
        match self {
            Self::Ends { ends, .. } => ends.iter_mut().flatten().for_each(|e| e.tree = rename(e.tree)),
            Self::Joint { tree, .. } => *tree = rename(*tree),
            Self::Sum { .. } => {}
        }
    }
}

/// Whether t2 is shorter than a unit vector: friction of two directions.
pub(crate) fn is_elliptic(basis: &Mat3<f64>) -> bool {
    const ROUND_OFF: f64 = 1e-12;
    basis.y.norm_squared() < 1.0 - ROUND_OFF
}

/// E diag-block Eᵀ: a 3×3 block in the basis (t1, t2, n) as a symmetric matrix in world axes.
#[inline(always)]
pub(crate) fn to_world(basis: &Mat3<f64>, block: &sap::Block) -> Sym3<f64> {
    Sym3::new(block.0).rotated(*basis)
}

/// Appends the motion of the second end's node relative to the first's, seen at the world point `origin`, per unit of each
/// degree of freedom that has a share in it: columns ascending. An end that is fixed in the world does not move; common
/// ancestors move both alike and are left out. `clique(tree)` gives a clique and its first column.
pub(crate) fn push_relative_motion<'a>(
    ends: &[Option<ConstraintEnd>; 2],
    origin: Vec3<f64>,
    clique: impl Fn(usize) -> (Clique<'a>, usize),
    columns: &mut Vec<u32>,
    motions: &mut Vec<Twist<f64>>,
) {
    let start = columns.len();
    let mut push = |first: usize, column: usize, motion: Twist<f64>| {
        columns.push((first + column) as u32);
        motions.push(motion);
    };
    // From the leaves, descending in the columns; turned round at the end.
    match ends {
        [Some(a), Some(b)] if a.tree == b.tree => {
            let (clique, first) = clique(a.tree);
            clique.each_relative_column([a.node, b.node], origin, |column, motion| push(first, column, motion));
        }
        _ => {
            let mut sides = [(ends[0], -1.0), (ends[1], 1.0)];
            sides.sort_by_key(|(end, _)| std::cmp::Reverse(end.map(|e| e.tree)));
            for (end, sign) in sides {
                let Some(end) = end else { continue };
                let (clique, first) = clique(end.tree);
                clique.each_column(end.node, origin, |column, motion| push(first, column, motion * sign));
            }
        }
    }
    columns[start..].reverse();
    motions[start..].reverse();
}
