//! The contact problem of an island as recursions over its trees.
//!
//! Products with A and J are recursions always. H = A + JᵀGJ is one too, the impedance ABA, O(n + n_c) and without a
//! matrix, while every contact that pushes is with the world: contacts are body impedances then, limits joint
//! impedances. Contacts that push between two nodes couple their dofs, and H becomes a sparse matrix of blocks, one for
//! every tree and one for every two that touch. Contacts between two nodes are gathered by pair into one 6×6 impedance,
//! so that however many points touch, six rows of J are formed. Seen from either tree alone it is an impedance of its
//! node, as contacts with the world are: all of them enter the composite inertias of the tree's block.

use std::ops::Range;

use multibody::{CrbaWorkspace, Factor, JointImpedance, add_generalized_forces, mass_matrix};
use sap::{Block, BlockCholesky, BlockMut, Constraint, FactorError, Structure};
use spatial::{ArticulatedInertia, Twist, Vec3, Wrench};

use crate::free_body::{add_coupling, is_free_body, set_own_block};
use crate::link::{End, Link, Term, push_relative_motion, to_world};
use crate::part::Part;

/// A tree of an island: where its degrees of freedom and nodes start in the island's vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    /// Index of the tree.
    pub tree: usize,
    pub dof: usize,
    pub node: usize,
}

/// All contacts between the same two nodes.
#[derive(Clone, Debug)]
struct Patch {
    ends: [End; 2],
    /// Columns of J, ascending, into the scratch's `columns`, and the six rows for each of them into `rows`; none of
    /// free bodies.
    columns: Range<usize>,
    /// Σ_k X_kᵀ G_k X_k about the origin of the second node.
    impedance: ArticulatedInertia<f64>,
    active: bool,
    /// Whether it has been active in this step.
    was_active: bool,
    /// Whether its nodes are two free bodies.
    of_free_bodies: bool,
}

impl Patch {
    fn is_within_a_tree(&self) -> bool {
        self.ends[0].tree == self.ends[1].tree
    }
}

/// Scratch of a coupled problem, reused from step to step.
#[derive(Default)]
pub(crate) struct CoupledScratch {
    motions: Vec<Twist<f64>>,
    wrenches: Vec<Wrench<f64>>,
    impedance: Vec<ArticulatedInertia<f64>>,
    patches: Vec<Patch>,
    /// The patch of every link; none for links with the world and within joints.
    patch_of: Vec<Option<usize>>,
    columns: Vec<u32>,
    /// The relative motion of the two nodes, at the origin of the second, per unit of each column.
    rows: Vec<Twist<f64>>,
    crba: CrbaWorkspace<f64>,
    cholesky: BlockCholesky,
    /// The recursive factor of every slot, and the joint impedances with the limits that it is made of.
    factors: Vec<(Factor<f64>, JointImpedance<f64>)>,
    /// Whether the last factor is the recursive one.
    recursive: bool,
}

/// The trees of an island, the constraints on them, and scratch. Links and slots use indices of the island.
pub(crate) struct Coupled<'a> {
    pub parts: &'a [Part],
    pub slots: &'a [Slot],
    pub links: &'a [Link],
    /// What the links that are sums refer to.
    pub terms: &'a [Term],
    pub scratch: &'a mut CoupledScratch,
    pub nv: usize,
    /// Whether the recursive factor may be used where it applies.
    may_recurse: bool,
}

impl<'a> Coupled<'a> {
    /// Gathers the patches and their rows.
    pub fn new(
        parts: &'a [Part],
        slots: &'a [Slot],
        (links, terms): (&'a [Link], &'a [Term]),
        scratch: &'a mut CoupledScratch,
        may_recurse: bool,
    ) -> Self {
        let nodes = slots.last().map_or(0, |s| s.node + parts[s.tree].tree.len());
        let nv = slots.last().map_or(0, |s| s.dof + parts[s.tree].tree.nv);
        scratch.motions.resize(nodes, Twist::ZERO);
        scratch.wrenches.resize(nodes, Wrench::ZERO);
        scratch.impedance.resize(nodes, ArticulatedInertia::ZERO);
        if scratch.factors.len() < slots.len() {
            scratch.factors.resize_with(slots.len(), Default::default);
        }
        // A sum couples joints as no recursion does.
        let may_recurse = may_recurse && terms.is_empty();
        let mut problem = Self { parts, slots, links, terms, scratch, nv, may_recurse };
        problem.gather_patches();
        problem
    }

    fn gather_patches(&mut self) {
        let CoupledScratch { patches, patch_of, columns, rows, .. } = &mut *self.scratch;
        patches.clear();
        patch_of.clear();
        columns.clear();
        rows.clear();
        for link in self.links {
            let Link::Ends { ends: [Some(a), Some(b)], .. } = link else {
                patch_of.push(None);
                continue;
            };
            let same = |p: &Patch| p.ends[0].is_on_node_of(a) && p.ends[1].is_on_node_of(b);
            if !patches.last().is_some_and(same) {
                let start = columns.len();
                let part = |end: &End| &self.parts[self.slots[end.tree].tree];
                let of_free_bodies = a.tree != b.tree && is_free_body(&part(a).tree) && is_free_body(&part(b).tree);
                if !of_free_bodies {
                    let view = |slot: usize| {
                        let Part { tree, kin, .. } = &self.parts[self.slots[slot].tree];
                        (tree, kin, self.slots[slot].dof)
                    };
                    let origin = part(b).kin.frames[b.node].pos;
                    push_relative_motion(&[Some(*a), Some(*b)], origin, view, columns, rows);
                }
                let impedance = ArticulatedInertia::ZERO;
                patches.push(Patch {
                    ends: [*a, *b],
                    columns: start..columns.len(),
                    impedance,
                    active: false,
                    was_active: false,
                    of_free_bodies,
                });
            }
            patch_of.push(Some(patches.len() - 1));
        }
    }

    /// Spreads the Hessian blocks over nodes and patches.
    fn gather_impedances(&mut self, hessian: &[Block]) {
        let CoupledScratch { impedance, patches, patch_of, .. } = &mut *self.scratch;
        impedance.fill(ArticulatedInertia::ZERO);
        for patch in patches.iter_mut() {
            patch.impedance = ArticulatedInertia::ZERO;
            patch.active = false;
        }
        for ((link, block), patch) in self.links.iter().zip(hessian).zip(patch_of) {
            let Link::Ends { ends, basis, motion } = link else { continue };
            if !block.is_active() {
                continue;
            }
            let g = to_world(basis, block);
            match (patch, ends) {
                (Some(p), [_, Some(b)]) => {
                    patches[*p].impedance += b.impedance(g, *motion);
                    patches[*p].active = true;
                    patches[*p].was_active = true;
                }
                (_, [Some(end), None] | [None, Some(end)]) => {
                    impedance[self.slots[end.tree].node + end.node] += end.impedance(g, *motion);
                }
                _ => {}
            }
        }
        for patch in patches.iter().filter(|p| p.active && !p.is_within_a_tree()) {
            let [a, b] = patch.ends;
            let place = |end: End| self.parts[self.slots[end.tree].tree].kin.frames[end.node].pos;
            impedance[self.slots[a.tree].node + a.node] += patch.impedance.shifted_back(place(b) - place(a));
            impedance[self.slots[b.tree].node + b.node] += patch.impedance;
        }
    }

    /// Factors every tree by itself.
    fn factor_recursively(&mut self, hessian: &[Block]) {
        let CoupledScratch { factors, impedance, .. } = &mut *self.scratch;
        for (slot, (factor, joints)) in self.slots.iter().zip(factors.iter_mut()) {
            let part = &self.parts[slot.tree];
            factor.resize(part.tree.len());
            // Field by field: only a vector's own `clone_from` keeps its memory.
            joints.diagonal.clone_from(&part.impedance.diagonal);
            joints.ball.clone_from(&part.impedance.ball);
        }
        for (link, block) in self.links.iter().zip(hessian) {
            if let Link::Joint { tree, node, dof, width, axis } = link {
                let (joints, g) = (&mut factors[*tree].1, block.0[0]);
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
        for (slot, (factor, joints)) in self.slots.iter().zip(factors) {
            let Part { tree, kin, .. } = &self.parts[slot.tree];
            factor.factor(tree, tree.all(), kin, joints, Some(&impedance[slot.node..]));
        }
    }

    /// Tells the factor which blocks H has: those that it had earlier in the step stay, so that a contact that comes and goes
    /// does not cost an analysis every time.
    fn couple(&mut self) {
        let CoupledScratch { cholesky, patches, .. } = &mut *self.scratch;
        cholesky.begin(self.slots.iter().map(|slot| self.parts[slot.tree].tree.nv));
        for link in self.links {
            let Link::Sum { terms } = link else { continue };
            let terms = &self.terms[terms.clone()];
            for (k, a) in terms.iter().enumerate() {
                terms[k + 1..].iter().for_each(|b| cholesky.couple(a.tree, b.tree));
            }
        }
        for patch in patches.iter().filter(|p| p.was_active) {
            cholesky.couple(patch.ends[0].tree, patch.ends[1].tree);
        }
        cholesky.analyze();
    }

    fn assemble(&mut self, hessian: &[Block]) {
        self.assemble_trees();
        self.assemble_patches();
        let cholesky = &mut self.scratch.cholesky;
        for (link, block) in self.links.iter().zip(hessian) {
            match link {
                Link::Ends { .. } => {}
                Link::Joint { tree, dof, width, axis, .. } => {
                    let BlockMut { values, stride, .. } = cholesky.block_mut(*tree, *tree);
                    for j in 0..*width {
                        for i in j..*width {
                            values[dof + i + (dof + j) * stride] += block.0[0] * axis[i] * axis[j];
                        }
                    }
                }
                Link::Sum { terms } => add_sum(&self.terms[terms.clone()], block.0[0], cholesky),
            }
        }
    }

    /// Sets the blocks on the diagonal to A with all impedances of nodes.
    fn assemble_trees(&mut self) {
        let CoupledScratch { cholesky, impedance, crba, .. } = &mut *self.scratch;
        for (k, slot) in self.slots.iter().enumerate() {
            let Part { tree, kin, impedance: joints, .. } = &self.parts[slot.tree];
            let mut block = cholesky.block_mut(k, k);
            if is_free_body(tree) {
                let mut own = kin.frames[0].inertia.articulated();
                own += impedance[slot.node];
                set_own_block(&own, kin.frames[0].rot, &mut block);
            } else {
                crba.resize(tree);
                let impedance = Some(&impedance[slot.node..]);
                mass_matrix(tree, tree.all(), kin, impedance, crba, block.values, block.stride, 0);
            }
            joints.add_to_matrix(tree, block.values, block.stride);
        }
    }

    fn assemble_patches(&mut self) {
        let CoupledScratch { cholesky, patches, columns, rows, .. } = &mut *self.scratch;
        for patch in patches.iter().filter(|p| p.active) {
            let [a, b] = patch.ends;
            if patch.of_free_bodies {
                let [a_frame, b_frame] = patch.ends.map(|end| &self.parts[self.slots[end.tree].tree].kin.frames[0]);
                let mut block = cholesky.block_mut(a.tree, b.tree);
                let (rots, rows_are_of_a) = ([a_frame.rot, b_frame.rot], block.row == a.tree);
                add_coupling(&patch.impedance, b_frame.pos - a_frame.pos, rots, rows_are_of_a, &mut block);
            } else {
                let (columns, rows) = (&columns[patch.columns.clone()], &rows[patch.columns.clone()]);
                add_patch(patch, columns, rows, self.slots, cholesky);
            }
        }
    }
}

/// Adds what a patch couples: entries between its two trees, or all of its entries within one. `columns` and `rows` are the
/// patch's own.
fn add_patch(patch: &Patch, columns: &[u32], rows: &[Twist<f64>], slots: &[Slot], h: &mut BlockCholesky) {
    let [a, b] = patch.ends;
    let BlockMut { row, column, stride, values } = h.block_mut(a.tree, b.tree);
    let (first_row, first_column) = (slots[row].dof, slots[column].dof);
    // The columns of the tree that comes first in the island come first.
    let later = slots[a.tree.max(b.tree)].dof;
    let split = columns.partition_point(|&column| (column as usize) < later);
    let of = |tree: usize| match () {
        () if patch.is_within_a_tree() => 0..columns.len(),
        () if slots[tree].dof == later => split..columns.len(),
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
    for (k, a) in terms.iter().enumerate() {
        for b in &terms[k..] {
            // In a tree's own block the later term has the row, as there are the entries of the lower triangle alone.
            let BlockMut { row, stride, values, .. } = h.block_mut(b.tree, a.tree);
            let (i, j) = if row == b.tree { (b.dof, a.dof) } else { (a.dof, b.dof) };
            values[i + j * stride] += g * a.coefficient * b.coefficient;
        }
    }
}

impl Structure for Coupled<'_> {
    fn nv(&self) -> usize {
        self.nv
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        let CoupledScratch { motions, wrenches, .. } = &mut *self.scratch;
        for slot in self.slots {
            let Part { tree, kin, impedance, .. } = &self.parts[slot.tree];
            let (x, a_x) = (&x[slot.dof..], &mut a_x[slot.dof..]);
            let (motions, wrenches) = (&mut motions[slot.node..], &mut wrenches[slot.node..]);
            multibody::apply(tree, tree.all(), kin, impedance, x, motions, wrenches, a_x);
        }
        let mut row = 0;
        for link in self.links {
            match link {
                Link::Ends { ends: [a, b], basis, motion } => {
                    let of = |e: &Option<End>| match e {
                        Some(e) => e.velocity(&motions[self.slots[e.tree].node..], *motion),
                        None => Vec3::ZERO,
                    };
                    j_x[row..row + 3].copy_from_slice(&basis.transpose_mul(of(b) - of(a)).to_array());
                    row += 3;
                }
                Link::Joint { tree, dof, width, axis, .. } => {
                    let x = &x[self.slots[*tree].dof + dof..];
                    j_x[row] = (0..*width).map(|k| axis[k] * x[k]).sum();
                    row += 1;
                }
                Link::Sum { terms } => {
                    let of = |t: &Term| t.coefficient * x[self.slots[t.tree].dof + t.dof];
                    j_x[row] = self.terms[terms.clone()].iter().map(of).sum();
                    row += 1;
                }
            }
        }
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        let wrenches = &mut self.scratch.wrenches;
        wrenches.fill(Wrench::ZERO);
        let mut row = 0;
        for link in self.links {
            match link {
                Link::Ends { ends: [a, b], basis, motion } => {
                    let impulse = *basis * Vec3::new(gamma[row], gamma[row + 1], gamma[row + 2]);
                    if let Some(a) = a {
                        wrenches[self.slots[a.tree].node + a.node] += a.wrench(-impulse, *motion);
                    }
                    if let Some(b) = b {
                        wrenches[self.slots[b.tree].node + b.node] += b.wrench(impulse, *motion);
                    }
                    row += 3;
                }
                Link::Joint { tree, dof, width, axis, .. } => {
                    let out = &mut out[self.slots[*tree].dof + dof..];
                    for k in 0..*width {
                        out[k] += axis[k] * gamma[row];
                    }
                    row += 1;
                }
                Link::Sum { terms } => {
                    for term in &self.terms[terms.clone()] {
                        out[self.slots[term.tree].dof + term.dof] += term.coefficient * gamma[row];
                    }
                    row += 1;
                }
            }
        }
        for slot in self.slots {
            let Part { tree, kin, .. } = &self.parts[slot.tree];
            add_generalized_forces(tree, tree.all(), kin, &mut wrenches[slot.node..], &mut out[slot.dof..]);
        }
    }

    fn factor(&mut self, _: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        self.gather_impedances(hessian);
        self.scratch.recursive = self.may_recurse && !self.scratch.patches.iter().any(|p| p.active);
        if self.scratch.recursive {
            self.factor_recursively(hessian);
            return Ok(());
        }
        self.couple();
        self.assemble(hessian);
        self.scratch.cholesky.factor()
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let CoupledScratch { factors, cholesky, recursive, .. } = &mut *self.scratch;
        if !*recursive {
            return cholesky.solve(b, x);
        }
        for (slot, (factor, _)) in self.slots.iter().zip(factors) {
            let Part { tree, kin, .. } = &self.parts[slot.tree];
            factor.solve(tree, tree.all(), kin, &b[slot.dof..], None, &mut x[slot.dof..]);
        }
    }

    fn scale(&mut self, d: &mut [f64]) {
        for slot in self.slots {
            let part = &self.parts[slot.tree];
            part.factor.diagonal(&part.tree, part.tree.all(), &mut d[slot.dof..]);
        }
        for d in d {
            *d = 1.0 / d.sqrt();
        }
    }
}
