//! A tree laid out for one pass after the other.

use spatial::{Quat, Real, Sym3, Vec3};

use crate::{JointType, NO_PARENT, Tree};

/// What the kernels read of a node. Numbers are scalars, broadcast to lanes as they are used.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedNode<S> {
    pub joint: JointType,
    pub parent: usize,
    pub q: usize,
    pub v: usize,
    /// Whether `rot` is not the identity.
    pub turned: bool,
    /// Whether siblings of its first child have left their inertias for it in the store.
    pub gathers: bool,
    /// Whether the next node is its child: that one's inertia is then at hand.
    pub carries: bool,
    /// How its own inertia goes to the parent.
    pub hand_over: HandOver,
    pub pos: Vec3<S>,
    pub rot: Quat<S>,
    pub axis: Vec3<S>,
    pub pitch: S,
    pub q_ref: S,
    pub mass: S,
    /// Mass times centre of mass, in the node's frame.
    pub moment: Vec3<S>,
    /// Rotational inertia about the node's origin, in its frame.
    pub inertia: Sym3<S>,
}

/// What becomes of the inertia of a node whose joint has been eliminated. Leaves come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HandOver {
    /// The parent is next: it takes it at once.
    Carry,
    /// The parent comes later; this is the first of its children to put something there.
    Put,
    /// The same, and others have.
    Add,
    /// There is no parent.
    Drop,
}

/// A tree laid out for the kernels, in scalars.
#[derive(Clone, Debug)]
pub struct PackedTree<S> {
    pub(crate) nodes: Vec<PackedNode<S>>,
    /// Number of position coordinates.
    pub nq: usize,
    /// Number of degrees of freedom.
    pub nv: usize,
}

impl<S: Real<Scalar = S>> PackedTree<S> {
    /// Lays out a tree.
    pub fn new(tree: &Tree<f64>) -> Self {
        let scalar = S::from_f64;
        // From the leaves, as the recursion goes: whether anything is in a node's store before it is reached.
        let mut stored = vec![false; tree.len()];
        let pack = |(i, node): (usize, &crate::Node<f64>)| {
            let hand_over = if node.parent == NO_PARENT {
                HandOver::Drop
            } else if node.parent + 1 == i {
                HandOver::Carry
            } else if std::mem::replace(&mut stored[node.parent], true) {
                HandOver::Add
            } else {
                HandOver::Put
            };
            let about_origin = node.inertia.articulated().a;
            PackedNode {
                joint: node.joint,
                parent: node.parent,
                q: node.q,
                v: node.v,
                turned: node.rot != Quat::IDENTITY,
                gathers: stored[i],
                carries: tree.nodes.get(i + 1).is_some_and(|n| n.parent == i),
                hand_over,
                pos: node.pos.map(scalar),
                rot: node.rot.map(scalar),
                axis: node.axis.map(scalar),
                pitch: scalar(node.pitch),
                q_ref: scalar(node.q_ref),
                mass: scalar(node.inertia.mass),
                moment: (node.inertia.com * node.inertia.mass).map(scalar),
                inertia: about_origin.map(scalar),
            }
        };
        let mut nodes: Vec<_> = tree.nodes.iter().enumerate().rev().map(pack).collect();
        nodes.reverse();
        Self { nodes, nq: tree.nq, nv: tree.nv }
    }

    /// Whether an impedance, (nv), is the same about all axes of every ball and free joint.
    pub fn is_uniform(&self, impedance: &[S]) -> bool
    where
        S: PartialEq,
    {
        self.nodes.iter().all(|node| {
            let first = match node.joint {
                JointType::Ball => node.v,
                JointType::Free => node.v + 3,
                _ => return true,
            };
            impedance[first..first + 3] == [impedance[first]; 3]
        })
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}
