//! The joint-space mass matrix: the composite-rigid-body algorithm (RBDA §6.2).

use std::ops::Range;

use spatial::{Real, RigidInertia, Sym3, Twist, Vec3, Wrench};

use crate::kinematics::{NodeFrame, add_joint_force, joint_twist};
use crate::{JointType, Kinematics, NO_PARENT, Node, Tree};

/// The inertia of a node and everything behind it, about the node's origin: mass, first moment, second moment.
#[derive(Clone, Copy, Debug, Default)]
struct Composite<T> {
    mass: T,
    h: Vec3<T>,
    a: Sym3<T>,
}

impl<T: Real> Composite<T> {
    fn of(body: &RigidInertia<T>) -> Self {
        Self { mass: body.mass, h: body.com * body.mass, a: body.articulated().a }
    }

    fn momentum(&self, v: Twist<T>) -> Wrench<T> {
        Wrench { ang: self.a * v.ang + self.h.cross(v.lin), lin: v.lin * self.mass + v.ang.cross(self.h) }
    }

    /// About a point that lies `r` before the present origin.
    fn shifted_back(&self, r: Vec3<T>) -> Self {
        let h = self.h.add_scaled(self.mass, r);
        // a + (h·r + h'·r) 1 − (h rᵀ + r h'ᵀ), symmetric because h' = h + m r.
        let trace = self.h.dot(r) + h.dot(r);
        let cross = Sym3::lower(spatial::Mat3::outer(self.h, r) + spatial::Mat3::outer(r, h));
        Self { mass: self.mass, h, a: self.a + Sym3::diagonal(Vec3::new(trace, trace, trace)) - cross }
    }
}

/// Scratch of [`mass_matrix`].
#[derive(Clone, Debug, Default)]
pub struct CrbaWorkspace<T> {
    composites: Vec<Composite<T>>,
    column: Vec<T>,
}

impl<T: Real> CrbaWorkspace<T> {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        let mut ws = Self { composites: Vec::new(), column: Vec::new() };
        ws.resize(tree);
        ws
    }

    /// Makes room for a tree; allocates only when it never had as much.
    pub fn resize(&mut self, tree: &Tree<T>) {
        self.composites.resize(tree.len(), Composite::default());
        self.column.resize(tree.nv, T::ZERO);
    }
}

/// The mass matrix of the nodes of `range` (a union of whole trees), armature not included.
///
/// Written to `m`, a square matrix of `stride` rows whose first row and column belong to the degree of freedom
/// `first`; both triangles, blocks of different trees not touched.
pub fn mass_matrix<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    ws: &mut CrbaWorkspace<T>,
    m: &mut [T],
    stride: usize,
    first: usize,
) {
    for i in range.clone() {
        ws.composites[i] = Composite::of(&kin.frames[i].inertia);
    }
    for i in range.rev() {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let composite = ws.composites[i];
        if node.parent != NO_PARENT {
            let p = &mut ws.composites[node.parent];
            let c = composite.shifted_back(frame.offset);
            *p = Composite { mass: p.mass + c.mass, h: p.h + c.h, a: p.a + c.a };
        }
        for k in 0..node.joint.nv() {
            let force = composite.momentum(unit_twist(node, frame, k));
            write_column(tree, kin, i, node.v + k, force, &mut ws.column, m, stride, first);
        }
    }
}

/// The motion of one degree of freedom at unit rate.
fn unit_twist<T: Real>(node: &Node<T>, frame: &NodeFrame<T>, k: usize) -> Twist<T> {
    let mut x = [T::ZERO; 6];
    x[k] = T::ONE;
    debug_assert!(matches!(node.joint, JointType::Free) || k < 3);
    joint_twist(&Node { v: 0, ..*node }, frame, &x)
}

/// Projects the force of one unit acceleration onto the node itself and all its ancestors.
fn write_column<T: Real>(
    tree: &Tree<T>,
    kin: &Kinematics<T>,
    start: usize,
    dof: usize,
    mut force: Wrench<T>,
    column: &mut [T],
    m: &mut [T],
    stride: usize,
    first: usize,
) {
    let mut i = start;
    loop {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let rows = node.v..node.v + node.joint.nv();
        column[rows.clone()].fill(T::ZERO);
        add_joint_force(node, frame, force, column);
        for row in rows {
            m[(row - first) + (dof - first) * stride] = column[row];
            m[(dof - first) + (row - first) * stride] = column[row];
        }
        if node.parent == NO_PARENT {
            break;
        }
        force = force.shifted_back(frame.offset);
        i = node.parent;
    }
}
