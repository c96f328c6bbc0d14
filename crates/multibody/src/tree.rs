//! The tree that the recursions run over.

use std::ops::Range;

use spatial::{Quat, Real, RigidInertia, Vec3};

/// The parent of a node that hangs on the world.
pub const NO_PARENT: usize = usize::MAX;

/// The kinds of motion that a node can have. Joints of a model with other kinds are chains of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum JointType {
    /// Turns about `axis`: 1 q, 1 v.
    Revolute,
    /// Moves along `axis`: 1 q, 1 v.
    Prismatic,
    /// Turns about `axis` while it moves `pitch` metres per radian along it: 1 q, 1 v.
    Screw,
    /// Turns about its origin: q is a quaternion w x y z, v the angular velocity in the child's frame.
    Ball,
    /// Moves freely in the world: q is a position and a quaternion, v the velocity of the origin in the world and
    /// the angular velocity in the body's frame. Only at a root.
    Free,
}

impl JointType {
    /// The number of position coordinates.
    pub const fn nq(self) -> usize {
        match self {
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Ball => 4,
            Self::Free => 7,
        }
    }

    /// The number of degrees of freedom.
    pub const fn nv(self) -> usize {
        match self {
            Self::Revolute | Self::Prismatic | Self::Screw => 1,
            Self::Ball => 3,
            Self::Free => 6,
        }
    }

    /// Where among a joint's coordinates its quaternion starts, and among its degrees of freedom the angular velocity; none where it does
    /// not rotate about a point.
    #[inline(always)]
    pub const fn rotation_offset(self) -> Option<usize> {
        match self {
            Self::Revolute | Self::Prismatic | Self::Screw => None,
            Self::Ball => Some(0),
            Self::Free => Some(3),
        }
    }

    /// Whether its origin moves along its axis with its coordinate.
    #[inline(always)]
    pub const fn slides(self) -> bool {
        match self {
            Self::Prismatic | Self::Screw => true,
            Self::Revolute | Self::Ball | Self::Free => false,
        }
    }

    /// Whether it turns about its axis with its coordinate.
    #[inline(always)]
    pub const fn turns_about_axis(self) -> bool {
        match self {
            Self::Revolute | Self::Screw => true,
            Self::Prismatic | Self::Ball | Self::Free => false,
        }
    }
}

/// One moving joint with everything that is rigidly attached behind it.
///
/// The node's frame has its origin at the joint. In the parent's frame it is placed by `pos`, `rot` at q = `q_ref`,
/// then moved by the joint.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Node<T: Real> {
    /// The parent node, less than this one's index, or [`NO_PARENT`].
    pub parent: usize,
    /// The kind of motion.
    pub joint: JointType,
    /// Index of the first position coordinate.
    pub q: usize,
    /// Index of the first degree of freedom.
    pub v: usize,
    /// Origin in the parent's frame, m.
    pub pos: Vec3<T>,
    /// Axes in the parent's frame.
    pub rot: Quat<T>,
    /// Unit axis in the node's frame; unused by ball and free nodes.
    pub axis: Vec3<T>,
    /// Metres per radian of a screw, 0 otherwise.
    pub pitch: T,
    /// The coordinate at which the joint adds nothing to `pos` and `rot`; unused by ball and free nodes.
    pub q_ref: T,
    /// The bodies of this node as one, in the node's frame.
    pub inertia: RigidInertia<T>,
}

/// A forest of nodes, each tree a contiguous range, parents before children.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Tree<T: Real> {
    /// The nodes, parents first.
    pub nodes: Vec<Node<T>>,
    /// The ranges of `nodes` that are connected: the trees of the forest.
    pub trees: Vec<Range<usize>>,
    /// The ranges of degrees of freedom of the trees.
    pub dofs: Vec<Range<usize>>,
    /// Number of position coordinates.
    pub nq: usize,
    /// Number of degrees of freedom.
    pub nv: usize,
}

impl<T: Real> Node<T> {
    /// The first of the three degrees of freedom with which it rotates about a point; none where it does not.
    pub fn rotation(&self) -> Option<usize> {
        Some(self.v + self.joint.rotation_offset()?)
    }

    /// The first of the four coordinates of its quaternion; none where it has none.
    pub fn quaternion(&self) -> Option<usize> {
        Some(self.q + self.joint.rotation_offset()?)
    }
}

impl<T: Real + PartialEq> Node<T> {
    /// Whether its origin is always the parent's, as between the hinges of a shoulder.
    #[inline(always)]
    pub(crate) fn is_at_parent(&self) -> bool {
        matches!(self.joint, JointType::Revolute | JointType::Ball) && self.pos == Vec3::ZERO
    }
}

impl<T: Real> Tree<T> {
    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// One tree of the forest alone, with indices of its own: nodes, coordinates and degrees of freedom from 0.
    ///
    /// # Panics
    /// When there is no tree `k`.
    pub fn part(&self, k: usize) -> Self {
        let range = self.trees[k].clone();
        let (q, v) = (self.nodes[range.start].q, self.nodes[range.start].v);
        let own = |n: &Node<T>| {
            let parent = if n.parent == NO_PARENT { NO_PARENT } else { n.parent - range.start };
            Node { parent, q: n.q - q, v: n.v - v, ..*n }
        };
        let nodes: Vec<Node<T>> = self.nodes[range.clone()].iter().map(own).collect();
        let nq = nodes.iter().map(|n| n.joint.nq()).sum();
        let nv = nodes.iter().map(|n| n.joint.nv()).sum();
        let len = nodes.len();
        Self { nodes, trees: std::iter::once(0..len).collect(), dofs: std::iter::once(0..nv).collect(), nq, nv }
    }

    /// The nodes from a node to its root; none from [`NO_PARENT`].
    #[inline]
    pub fn path_to_root(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        let next = |node: usize| (node != NO_PARENT).then_some(node);
        std::iter::successors(next(node), move |node| next(self.nodes[*node].parent))
    }

    /// The nodes, from the last to the first, that move one of two nodes and not the other, each with which of the two it moves, 0 or 1. What moves
    /// both alike is left out: to subtract it would cost digits.
    #[inline]
    pub fn path_between(&self, ends: [usize; 2]) -> impl Iterator<Item = (usize, usize)> + '_ {
        let [mut i, mut j] = ends;
        std::iter::from_fn(move || {
            if i == j {
                return None;
            }
            let side = usize::from(!(j == NO_PARENT || (i != NO_PARENT && i > j)));
            let at = if side == 0 { &mut i } else { &mut j };
            let node = std::mem::replace(at, self.nodes[*at].parent);
            Some((node, side))
        })
    }

    /// Whether nothing moves.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The range of all nodes.
    pub fn all(&self) -> Range<usize> {
        0..self.nodes.len()
    }
}

impl Tree<f64> {
    /// The same tree in another scalar.
    pub fn cast<T: Real>(&self) -> Tree<T> {
        let nodes = self.nodes.iter().map(|n| Node {
            parent: n.parent,
            joint: n.joint,
            q: n.q,
            v: n.v,
            pos: n.pos.map(T::from_f64),
            rot: n.rot.map(T::from_f64),
            axis: n.axis.map(T::from_f64),
            pitch: T::from_f64(n.pitch),
            q_ref: T::from_f64(n.q_ref),
            inertia: n.inertia.map(T::from_f64),
        });
        Tree { nodes: nodes.collect(), trees: self.trees.clone(), dofs: self.dofs.clone(), nq: self.nq, nv: self.nv }
    }
}
