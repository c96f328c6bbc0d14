//! The joint-space mass matrix: the composite-rigid-body algorithm (RBDA §6.2).

use std::ops::Range;

use spatial::{ArticulatedInertia, Real, Wrench};

use crate::kinematics::{forward_kinematics, joint_axis, joint_force};
use crate::{Kinematics, Model, NO_PARENT, Tree};

/// A pivot of M below this share of its entry on the diagonal is round-off.
const NO_INERTIA: f64 = 1e-13;

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

/// The first degree of freedom that moves nothing with inertia, or nothing that those before it do not move alike: the mass matrix at `q` (nq),
/// armature included, is singular there.
///
/// # Panics
/// When `q` has another length.
pub fn singular_dof(model: &Model, q: &[f64]) -> Option<usize> {
    let tree = &model.tree;
    let (mut kin, mut ws) = (Kinematics::new(tree), CrbaWorkspace::new(tree));
    forward_kinematics(tree, tree.all(), q, &mut kin);
    tree.trees.iter().zip(&tree.dofs).find_map(|(nodes, dofs)| {
        let n = dofs.len();
        let mut m = vec![0.0; n * n];
        mass_matrix(tree, nodes.clone(), &kin, None, &mut ws, &mut m, n, dofs.start);
        dofs.clone().zip(&model.armature[dofs.clone()]).for_each(|(dof, armature)| {
            m[(dof - dofs.start) * (n + 1)] += armature;
        });
        first_without_pivot(&mut m, n).map(|row| dofs.start + row)
    })
}

/// Factors a matrix of `n` rows as far as pivots are positive; the first row of which that is not so.
fn first_without_pivot(m: &mut [f64], n: usize) -> Option<usize> {
    for i in 0..n {
        let (above, rows) = m.split_at_mut((i + 1) * n);
        let own = &mut above[i * n..];
        let diagonal = own[i];
        let pivot = diagonal - own[..i].iter().map(|x| x * x).sum::<f64>();
        // What is no number is no pivot either.
        if pivot.is_nan() || pivot <= NO_INERTIA * diagonal {
            return Some(i);
        }
        own[i] = pivot.sqrt();
        for row in rows.chunks_exact_mut(n) {
            let known: f64 = row[..i].iter().zip(&own[..i]).map(|(a, b)| a * b).sum();
            row[i] = (row[i] - known) / own[i];
        }
    }
    None
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
