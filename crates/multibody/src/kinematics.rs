//! Where everything is and how it moves.

use std::ops::Range;

use spatial::{Mat3, Quat, Real, RigidInertia, Twist, Vec3, Wrench};

use crate::{JointType, NO_PARENT, Node, Tree};

/// The placement of a node, in world axes.
#[derive(Clone, Copy, Debug)]
pub struct NodeFrame<T: Real> {
    /// Orientation.
    pub quat: Quat<T>,
    /// Orientation as a matrix.
    pub rot: Mat3<T>,
    /// Origin, m.
    pub pos: Vec3<T>,
    /// Origin less the parent's origin (the world's at a root), m.
    pub offset: Vec3<T>,
    /// Joint axis, in world axes.
    pub axis: Vec3<T>,
    /// The node's inertia, in world axes about its origin.
    pub inertia: RigidInertia<T>,
}

impl<T: Real> Default for NodeFrame<T> {
    fn default() -> Self {
        Self {
            quat: Quat::IDENTITY,
            rot: Mat3::IDENTITY,
            pos: Vec3::ZERO,
            offset: Vec3::ZERO,
            axis: Vec3::ZERO,
            inertia: RigidInertia::ZERO,
        }
    }
}

/// Placements and velocities of all nodes: the result of [`forward_kinematics`] and [`velocities`].
#[derive(Clone, Debug, Default)]
pub struct Kinematics<T: Real> {
    /// Placements, one per node.
    pub frames: Vec<NodeFrame<T>>,
    /// Velocities at the nodes' origins, one per node.
    pub twists: Vec<Twist<T>>,
}

impl<T: Real> Kinematics<T> {
    /// Storage for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        Self { frames: vec![NodeFrame::default(); tree.len()], twists: vec![Twist::ZERO; tree.len()] }
    }
}

/// Places every node of `range` (a union of whole trees) at the configuration `q` (nq).
pub fn forward_kinematics<T: Real>(tree: &Tree<T>, range: Range<usize>, q: &[T], kin: &mut Kinematics<T>) {
    for i in range {
        let node = &tree.nodes[i];
        let parent = (node.parent != NO_PARENT).then(|| &kin.frames[node.parent]);
        kin.frames[i] = place(node, parent, q);
    }
}

/// The same without inertias, which are zero then: for what is only looked at.
pub fn place_nodes<T: Real>(tree: &Tree<T>, range: Range<usize>, q: &[T], kin: &mut Kinematics<T>) {
    for i in range {
        let node = &tree.nodes[i];
        let parent = (node.parent != NO_PARENT).then(|| &kin.frames[node.parent]);
        kin.frames[i] = place_massless(node, parent, q);
    }
}

#[inline(always)]
pub(crate) fn place<T: Real>(node: &Node<T>, parent: Option<&NodeFrame<T>>, q: &[T]) -> NodeFrame<T> {
    let frame = place_massless(node, parent, q);
    NodeFrame { inertia: node.inertia.rotated(frame.rot), ..frame }
}

#[inline(always)]
fn place_massless<T: Real>(node: &Node<T>, parent: Option<&NodeFrame<T>>, q: &[T]) -> NodeFrame<T> {
    // The joint's frame before it moves.
    let (base, mut offset) = match parent {
        Some(p) => (p.quat * node.rot, p.rot * node.pos),
        None => (node.rot, node.pos),
    };
    let mut axis = Vec3::ZERO;
    let quat = match node.joint {
        JointType::Revolute => base * Quat::from_axis_angle(node.axis, q[node.q] - node.q_ref),
        JointType::Prismatic => {
            axis = base * node.axis;
            offset = offset.add_scaled(q[node.q] - node.q_ref, axis);
            base
        }
        JointType::Screw => {
            let angle = q[node.q] - node.q_ref;
            offset = offset.add_scaled(angle * node.pitch, base * node.axis);
            base * Quat::from_axis_angle(node.axis, angle)
        }
        JointType::Ball => base * quaternion(&q[node.q..]),
        JointType::Free => {
            offset = Vec3::new(q[node.q], q[node.q + 1], q[node.q + 2]);
            quaternion(&q[node.q + 3..])
        }
    };
    let rot = quat.to_mat3();
    if node.joint.turns_about_axis() {
        axis = rot * node.axis;
    }
    let pos = parent.map_or(offset, |p| p.pos + offset);
    NodeFrame { quat, rot, pos, offset, axis, inertia: RigidInertia::ZERO }
}

/// The unit quaternion stored at the head of `q`. Inputs a few ulp off unit norm would make the recursions
/// disagree with each other by as much, so it is normalised here.
#[inline(always)]
pub(crate) fn quaternion<T: Real>(q: &[T]) -> Quat<T> {
    Quat::new(q[0], q[1], q[2], q[3]).unit()
}

/// The velocity of every node of `range` at joint velocities `v` (nv), after [`forward_kinematics`].
pub fn velocities<T: Real>(tree: &Tree<T>, range: Range<usize>, v: &[T], kin: &mut Kinematics<T>) {
    let Kinematics { frames, twists } = kin;
    propagate(tree, range, frames, v, twists);
}

/// Spatial velocities J v of the nodes' origins for any `v`, down the tree.
#[inline(always)]
pub fn propagate<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    frames: &[NodeFrame<T>],
    v: &[T],
    twists: &mut [Twist<T>],
) {
    for i in range {
        let (node, frame) = (&tree.nodes[i], &frames[i]);
        let own = joint_twist(node, frame, v);
        twists[i] = if node.parent == NO_PARENT { own } else { twists[node.parent].shifted(frame.offset) + own };
    }
}

/// S x: the motion that the joint adds to its parent's, at the node's origin. `x` is indexed by dof.
#[inline(always)]
pub(crate) fn joint_twist<T: Real>(node: &Node<T>, frame: &NodeFrame<T>, x: &[T]) -> Twist<T> {
    let v = node.v;
    match node.joint {
        JointType::Revolute => Twist { ang: frame.axis * x[v], lin: Vec3::ZERO },
        JointType::Prismatic => Twist { ang: Vec3::ZERO, lin: frame.axis * x[v] },
        JointType::Screw => Twist { ang: frame.axis * x[v], lin: frame.axis * (node.pitch * x[v]) },
        JointType::Ball => Twist { ang: frame.rot * vec3(&x[v..]), lin: Vec3::ZERO },
        JointType::Free => Twist { ang: frame.rot * vec3(&x[v + 3..]), lin: vec3(&x[v..]) },
    }
}

/// The column of S for degree of freedom `k` of the joint: the motion at unit rate, at the node's origin.
#[inline(always)]
pub fn joint_axis<T: Real>(node: &Node<T>, frame: &NodeFrame<T>, k: usize) -> Twist<T> {
    let column = |m: &Mat3<T>, k: usize| match k {
        0 => m.x,
        1 => m.y,
        _ => m.z,
    };
    match node.joint {
        JointType::Revolute => Twist { ang: frame.axis, lin: Vec3::ZERO },
        JointType::Prismatic => Twist { ang: Vec3::ZERO, lin: frame.axis },
        JointType::Screw => Twist { ang: frame.axis, lin: frame.axis * node.pitch },
        JointType::Ball => Twist { ang: column(&frame.rot, k), lin: Vec3::ZERO },
        JointType::Free if k < 3 => Twist { ang: Vec3::ZERO, lin: column(&Mat3::IDENTITY, k) },
        JointType::Free => Twist { ang: column(&frame.rot, k - 3), lin: Vec3::ZERO },
    }
}

/// The degrees of freedom of the joint of a node, and the motion per unit of each of what moves with the node, as it is at the world point `at`.
#[inline(always)]
pub fn joint_columns<'a, T: Real>(
    tree: &'a Tree<T>,
    kin: &'a Kinematics<T>,
    node: usize,
    at: Vec3<T>,
) -> impl DoubleEndedIterator<Item = (usize, Twist<T>)> + 'a {
    let (node, frame) = (&tree.nodes[node], &kin.frames[node]);
    (0..node.joint.nv()).map(move |k| (node.v + k, joint_axis(node, frame, k).shifted(at - frame.pos)))
}

/// Sᵀ f added to `out`, indexed by dof: the joint's share of a wrench at the node's origin.
#[inline(always)]
pub(crate) fn add_joint_force<T: Real>(node: &Node<T>, frame: &NodeFrame<T>, f: Wrench<T>, out: &mut [T]) {
    joint_force(node, frame, f, |dof, x| out[dof] += x);
}

/// Sᵀ f: calls `each` with the degrees of freedom and the entries.
#[inline(always)]
pub(crate) fn joint_force<T: Real>(node: &Node<T>, frame: &NodeFrame<T>, f: Wrench<T>, mut each: impl FnMut(usize, T)) {
    let v = node.v;
    let mut vector = |first: usize, x: Vec3<T>| {
        each(first, x.x);
        each(first + 1, x.y);
        each(first + 2, x.z);
    };
    match node.joint {
        JointType::Revolute => each(v, frame.axis.dot(f.ang)),
        JointType::Prismatic => each(v, frame.axis.dot(f.lin)),
        JointType::Screw => each(v, frame.axis.dot(f.ang) + node.pitch * frame.axis.dot(f.lin)),
        JointType::Ball => vector(v, frame.rot.transpose_mul(f.ang)),
        JointType::Free => {
            vector(v, f.lin);
            vector(v + 3, frame.rot.transpose_mul(f.ang));
        }
    }
}

/// The first three numbers of a slice, as those of one joint are read.
#[inline(always)]
pub fn vec3<T: Real>(x: &[T]) -> Vec3<T> {
    Vec3::new(x[0], x[1], x[2])
}

#[inline(always)]
pub(crate) fn set3<T: Real>(out: &mut [T], x: Vec3<T>) {
    out[0] = x.x;
    out[1] = x.y;
    out[2] = x.z;
}

#[inline(always)]
pub(crate) fn add3<T: Real>(out: &mut [T], x: Vec3<T>) {
    out[0] += x.x;
    out[1] += x.y;
    out[2] += x.z;
}

/// out += Jᵀ w for wrenches `w` on the nodes, each about its node's origin; `w` is used up as scratch.
pub fn add_generalized_forces<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    w: &mut [Wrench<T>],
    out: &mut [T],
) {
    for i in range.rev() {
        let (node, frame, f) = (&tree.nodes[i], &kin.frames[i], w[i]);
        add_joint_force(node, frame, f, out);
        if node.parent != NO_PARENT {
            w[node.parent] += f.shifted_back(frame.offset);
        }
    }
}
