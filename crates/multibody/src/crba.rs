//! The joint-space mass matrix: the composite-rigid-body algorithm (RBDA §6.2).

use std::ops::Range;

use spatial::{ArticulatedInertia, Real, Wrench};

use crate::kinematics::{joint_axis, joint_force};
use crate::{Kinematics, NO_PARENT, Tree};

/// Scratch of [`mass_matrix`].
#[derive(Clone, Debug, Default)]
pub struct CrbaWorkspace<T: Real> {
    composites: Vec<ArticulatedInertia<T>>,
}

impl<T: Real> CrbaWorkspace<T> {
    /// Scratch for a tree.
    pub fn new(tree: &Tree<T>) -> Self {
        let mut ws = Self { composites: Vec::new() };
        ws.resize(tree);
        ws
    }

    /// Makes room for a tree; allocates only when it never had as much.
    pub fn resize(&mut self, tree: &Tree<T>) {
        self.composites.resize(tree.len(), ArticulatedInertia::ZERO);
    }
}

/// The mass matrix of the nodes of `range` (a union of whole trees), armature not included; with `impedance`, one
/// operator per node about its origin in world axes, M + Σ_b J_bᵀ Ĝ_b J_b: an impedance is one more inertia.
///
/// Written to `m`, a square matrix of `stride` rows whose first row and column belong to the degree of freedom
/// `first`; both triangles, blocks of different trees not touched.
pub fn mass_matrix<T: Real>(
    tree: &Tree<T>,
    range: Range<usize>,
    kin: &Kinematics<T>,
    impedance: Option<&[ArticulatedInertia<T>]>,
    ws: &mut CrbaWorkspace<T>,
    m: &mut [T],
    stride: usize,
    first: usize,
) {
    for i in range.clone() {
        ws.composites[i] = kin.frames[i].inertia.articulated();
    }
    if let Some(g) = impedance {
        for i in range.clone() {
            ws.composites[i] += g[i];
        }
    }
    for i in range.rev() {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        let composite = ws.composites[i];
        if node.parent != NO_PARENT {
            ws.composites[node.parent] += composite.shifted_back(frame.offset);
        }
        for k in 0..node.joint.nv() {
            let force = composite.apply(joint_axis(node, frame, k));
            write_column(tree, kin, i, node.v + k, force, m, stride, first);
        }
    }
}

/// Projects the force of one unit acceleration onto the node itself and all its ancestors.
fn write_column<T: Real>(
    tree: &Tree<T>,
    kin: &Kinematics<T>,
    start: usize,
    dof: usize,
    mut force: Wrench<T>,
    m: &mut [T],
    stride: usize,
    first: usize,
) {
    let mut i = start;
    loop {
        let (node, frame) = (&tree.nodes[i], &kin.frames[i]);
        joint_force(node, frame, force, |row, x| {
            m[(row - first) + (dof - first) * stride] = x;
            m[(dof - first) + (row - first) * stride] = x;
        });
        if node.parent == NO_PARENT {
            break;
        }
        force = force.shifted_back(frame.offset);
        i = node.parent;
    }
}
