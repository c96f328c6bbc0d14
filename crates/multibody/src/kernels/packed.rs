//! A tree laid out for one pass after the other.

use spatial::{Quat, Real, Sym3, Vec3};

use crate::{JointType, NO_PARENT, Node, Tree};

/// What the kernels read of a node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PackedNode<S> {
    pub joint: JointType,
    pub parent: usize,
    pub q: usize,
    pub v: usize,
    /// Whether the frame is turned against the parent's at rest.
    pub turned: bool,
    /// Whether siblings of its first child have left their inertias for it in the store.
    pub gathers: bool,
    /// Whether the next node is its child: that one's inertia is then at hand.
    pub carries: bool,
    /// How its own inertia goes to the parent.
    pub hand_over: HandOver,
    pub constants: Constants<S>,
}

/// The numbers of a node: scalars, which are broadcast to lanes as they are used, or lanes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Constants<C> {
    pub pos: Vec3<C>,
    pub rot: Quat<C>,
    pub axis: Vec3<C>,
    pub pitch: C,
    pub q_ref: C,
    pub mass: C,
    /// Mass times centre of mass, in the node's frame.
    pub moment: Vec3<C>,
    /// Rotational inertia about the node's origin, in its frame.
    pub inertia: Sym3<C>,
    /// The same as λ 1 + x xᵀ + y yᵀ: (λ, x, y).
    pub deflated: (C, Vec3<C>, Vec3<C>),
}

impl<S: Real<Scalar = S>> Constants<S> {
    /// Of a node.
    pub fn new(node: &Node<f64>) -> Self {
        let scalar = S::from_f64;
        let inertia = node.inertia.articulated().a;
        let (least, x, y) = inertia.deflated();
        Self {
            pos: node.pos.map(scalar),
            rot: node.rot.map(scalar),
            axis: node.axis.map(scalar),
            pitch: scalar(node.pitch),
            q_ref: scalar(node.q_ref),
            mass: scalar(node.inertia.mass),
            moment: (node.inertia.com * node.inertia.mass).map(scalar),
            inertia: inertia.map(scalar),
            deflated: (scalar(least), x.map(scalar), y.map(scalar)),
        }
    }
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
        // From the leaves, as the recursion goes: whether anything is in a node's store before it is reached.
        let mut stored = vec![false; tree.len()];
        let pack = |(i, node): (usize, &Node<f64>)| {
            let hand_over = if node.parent == NO_PARENT {
                HandOver::Drop
            } else if node.parent + 1 == i {
                HandOver::Carry
            } else if std::mem::replace(&mut stored[node.parent], true) {
                HandOver::Add
            } else {
                HandOver::Put
            };
            PackedNode {
                joint: node.joint,
                parent: node.parent,
                q: node.q,
                v: node.v,
                turned: node.rot != Quat::IDENTITY,
                gathers: stored[i],
                carries: tree.nodes.get(i + 1).is_some_and(|n| n.parent == i),
                hand_over,
                constants: Constants::new(node),
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
            let Some(offset) = node.joint.rotation_offset() else { return true };
            let first = node.v + offset;
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
