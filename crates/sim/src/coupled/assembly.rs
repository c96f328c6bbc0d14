//! H of a coupled problem: as impedances of nodes for the recursive factor, as blocks for the sparse one.

use sap::{Block, BlockCholesky, BlockMut};
use spatial::{ArticulatedInertia, Twist};

use super::{CliqueSlot, Coupled, CoupledScratch, Patch, TreeFactor};
use crate::clique::Clique;
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Term, push_relative_motion, to_world};
use crate::free_body::add_coupling;
use crate::tree_workspace::TreeWorkspace;

impl Coupled<'_> {
    /// Spreads the Hessian blocks over nodes and patches; each node has those of the patches on it, too.
    pub(super) fn gather_impedances(&mut self, hessian: &[Block]) {
        self.gather_own_impedances(hessian);
        self.add_patches();
    }

    /// Spreads the Hessian blocks over nodes and patches.
    pub(super) fn gather_own_impedances(&mut self, hessian: &[Block]) {
        let CoupledScratch { impedance, patches, patch_of, .. } = &mut *self.scratch;
        impedance.fill(ArticulatedInertia::ZERO);
        for patch in patches.iter_mut() {
            patch.impedance = ArticulatedInertia::ZERO;
            patch.active = false;
        }
        for ((jacobian, block), patch) in self.jacobians.iter().zip(hessian).zip(patch_of) {
            let ConstraintJacobian::Ends { ends, basis, motion } = jacobian else { continue };
            if !block.is_active() {
                continue;
            }
            let g = to_world(basis, block);
            match (patch, ends) {
                (Some(p), [_, Some(b)]) => {
                    patches[*p].impedance += b.impedance(g, *motion);
                    patches[*p].active = true;
                }
                (_, [Some(end), None] | [None, Some(end)]) => {
                    impedance[self.slots[end.tree].node + end.node] += end.impedance(g, *motion);
                }
                _ => {}
            }
        }
    }

    /// Adds what patches are to the nodes of either tree.
    pub(super) fn add_patches(&mut self) {
        let CoupledScratch { impedance, patches, .. } = &mut *self.scratch;
        for patch in patches.iter().filter(|p| p.active && !p.is_within_a_tree()) {
            let [a, b] = patch.ends;
            let place = |end: ConstraintEnd| self.cliques.get(self.slots[end.tree].tree).origin(end.node);
            impedance[self.slots[a.tree].node + a.node] += patch.impedance.shifted_back(place(b) - place(a));
            impedance[self.slots[b.tree].node + b.node] += patch.impedance;
        }
    }

    /// Factors every tree by itself.
    pub(super) fn factor_recursively(&mut self, hessian: &[Block]) {
        self.gather_joint_impedances(hessian);
        let CoupledScratch { factors, impedance, .. } = &mut *self.scratch;
        for (slot, TreeFactor { joints, symmetric, .. }) in self.slots.iter().zip(factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            symmetric.resize(tree.len());
            symmetric.factor(tree, tree.all(), kin, joints, Some(&impedance[slot.node..]));
        }
    }

    /// Sets the joint impedances of every tree to those of free motion with the limits.
    pub(super) fn gather_joint_impedances(&mut self, hessian: &[Block]) {
        let factors = &mut self.scratch.factors;
        for (slot, TreeFactor { joints, .. }) in self.slots.iter().zip(factors.iter_mut()) {
            let Clique::Tree(workspace) = self.cliques.get(slot.tree) else { continue };
            // Field by field: only a vector's own `clone_from` keeps its memory.
            joints.diagonal.clone_from(&workspace.impedance.diagonal);
            joints.ball.clone_from(&workspace.impedance.ball);
        }
        for (jacobian, block) in self.jacobians.iter().zip(hessian) {
            if let ConstraintJacobian::Joint { tree, node, dof, width, axis } = jacobian {
                let (joints, g) = (&mut factors[*tree].joints, block.0[0]);
                for k in 0..*width {
                    joints.diagonal[dof + k] += g * axis[k] * axis[k];
                }
                if *width == 3 {
                    let [x, y, z] = *axis;
                    let b = &mut joints.ball[*node];
                    *b = [b[0] + g * x * y, b[1] + g * x * z, b[2] + g * y * z];
                }
            }
        }
    }

    /// Tells the factor which blocks H has: those that it had earlier in the step stay, so that a contact that comes and goes
    /// does not cost an analysis every time.
    pub(super) fn couple(&mut self) {
        let Self { cholesky, scratch: CoupledScratch { patches, .. }, .. } = self;
        cholesky.begin(self.slots.iter().map(|slot| self.cliques.get(slot.tree).nv()));
        for jacobian in self.jacobians {
            let ConstraintJacobian::Sum { terms } = jacobian else { continue };
            let trees = || self.terms[terms.clone()].chunk_by(is_in_one_tree).map(|own| own[0].tree);
            for (k, a) in trees().enumerate() {
                trees().skip(k + 1).for_each(|b| cholesky.couple(a, b));
            }
        }
        for patch in patches.iter_mut() {
            patch.was_active |= patch.active;
        }
        for patch in patches.iter().filter(|p| p.was_active) {
            cholesky.couple(patch.ends[0].tree, patch.ends[1].tree);
        }
        cholesky.analyze();
    }

    pub(super) fn assemble(&mut self, hessian: &[Block]) {
        self.assemble_trees();
        self.assemble_patches();
        let cholesky = &mut *self.cholesky;
        for (jacobian, block) in self.jacobians.iter().zip(hessian) {
            match jacobian {
                ConstraintJacobian::Ends { .. } => {}
                ConstraintJacobian::Joint { tree, dof, width, axis, .. } => {
                    let BlockMut { values, stride, .. } = cholesky.block_mut(*tree, *tree);
                    for j in 0..*width {
                        for i in j..*width {
                            values[dof + i + (dof + j) * stride] += block.0[0] * axis[i] * axis[j];
                        }
                    }
                }
                ConstraintJacobian::Sum { terms } => add_sum(&self.terms[terms.clone()], block.0[0], cholesky),
            }
        }
    }

    /// Sets the blocks on the diagonal to A with all impedances of nodes.
    fn assemble_trees(&mut self) {
        let CoupledScratch { impedance, crba, .. } = &mut *self.scratch;
        for (k, slot) in self.slots.iter().enumerate() {
            let mut block = self.cholesky.block_mut(k, k);
            self.cliques.get(slot.tree).assemble(&impedance[slot.node..], crba, &mut block);
        }
    }

    fn assemble_patches(&mut self) {
        let view = |slot: usize| (self.cliques.get(self.slots[slot].tree), self.slots[slot].dof);
        let CoupledScratch { patches, columns, rows, .. } = &mut *self.scratch;
        for patch in patches.iter_mut().filter(|p| p.active) {
            let [a, b] = patch.ends;
            if patch.of_free_bodies {
                let trees = patch.ends.map(|end| self.cliques.get(self.slots[end.tree].tree));
                let [Clique::Tree(a_part), Clique::Tree(b_part)] = trees else { continue };
                let (a_frame, b_frame) = (&a_part.kin.frames[0], &b_part.kin.frames[0]);
                let mut block = self.cholesky.block_mut(a.tree, b.tree);
                let (rots, rows_are_of_a) = ([a_frame.rot, b_frame.rot], block.row == a.tree);
                add_coupling(&patch.impedance, b_frame.pos - a_frame.pos, rots, rows_are_of_a, &mut block);
            } else {
                if patch.columns.is_empty() {
                    let start = columns.len();
                    push_relative_motion(&[Some(a), Some(b)], view(b.tree).0.origin(b.node), view, columns, rows);
                    patch.columns = start..columns.len();
                }
                let (columns, rows) = (&columns[patch.columns.clone()], &rows[patch.columns.clone()]);
                add_patch(patch, columns, rows, self.slots, self.cholesky);
            }
        }
    }
}

/// Adds what a patch couples: entries between its two trees, or all of its entries within one. `columns` and `rows` are the
/// patch's own.
fn add_patch(patch: &Patch, columns: &[u32], rows: &[Twist<f64>], slots: &[CliqueSlot], h: &mut BlockCholesky) {
    let [a, b] = patch.ends;
    let BlockMut { row, column, stride, values } = h.block_mut(a.tree, b.tree);
    let (first_row, first_column) = (slots[row].dof, slots[column].dof);
    // The columns of the tree that comes first in the island come first; it has none where all that is touched of a soft body is held.
    let later = a.tree.max(b.tree);
    let split = columns.partition_point(|&column| (column as usize) < slots[later].dof);
    let of = |tree: usize| match () {
        () if patch.is_within_a_tree() => 0..columns.len(),
        () if tree == later => split..columns.len(),
        () => 0..split,
    };
    for j in of(column) {
        let force = patch.impedance.apply(rows[j]);
        let values = &mut values[(columns[j] as usize - first_column) * stride..];
        // Of a block on the diagonal, the lower triangle.
        let of_row = if row == column { j..columns.len() } else { of(row) };
        for i in of_row {
            values[columns[i] as usize - first_row] += rows[i].dot(force);
        }
    }
}

/// Adds g c cᵀ for the coefficients c of a sum.
fn add_sum(terms: &[Term], g: f64, h: &mut BlockCholesky) {
    for (k, a) in terms.chunk_by(is_in_one_tree).enumerate() {
        for (l, b) in terms.chunk_by(is_in_one_tree).enumerate().skip(k) {
            let BlockMut { column, stride, values, .. } = h.block_mut(b[0].tree, a[0].tree);
            let (columns, rows) = if column == a[0].tree { (a, b) } else { (b, a) };
            for (j, column) in columns.iter().enumerate() {
                let (values, g) = (&mut values[column.dof * stride..], g * column.coefficient);
                // In a tree's own block the later term has the row, as there are the entries of the lower triangle alone.
                for row in &rows[if k == l { j } else { 0 }..] {
                    values[row.dof] += g * row.coefficient;
                }
            }
        }
    }
}

fn is_in_one_tree(a: &Term, b: &Term) -> bool {
    a.tree == b.tree
}
