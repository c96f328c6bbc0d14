//! The contact problem of an island as recursions over its trees.
//!
//! Products with A and J are recursions always. H = A + JᵀGJ is one too, the impedance ABA, O(n + n_c) and without a
//! matrix, while every contact that pushes is with the world: contacts are body impedances then, limits joint
//! impedances. Contacts that push between two nodes couple their dofs, and H becomes a sparse matrix of blocks, one for
//! every tree and one for every two that touch. Contacts between two nodes are gathered by pair into one 6×6 impedance,
//! so that however many points touch, six rows of J are formed. Seen from either tree alone it is an impedance of its
//! node, as contacts with the world are: all of them enter the composite inertias of the tree's block.

mod assembly;
mod friction;
mod operator;

use std::ops::Range;

use multibody::{CrbaWorkspace, Dyad, Factor, JointImpedance, UnsymmetricFactor};
use sap::{Block, BlockCholesky, Constraint, FactorError, HessianOperator, Structure};
use spatial::{ArticulatedInertia, Twist, Vec3, Wrench};
use support::Interrupt;

use crate::clique::{Clique, Cliques};
use crate::constraint_jacobian::{ConstraintEnd, ConstraintJacobian, Term};
use crate::tree_workspace::{KnownMotion, TreeWorkspace};
use friction::FrictionScratch;
use operator::OperatorScratch;

/// A clique in an island: where its degrees of freedom and nodes start in the island's vectors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CliqueSlot {
    /// Index of the tree.
    pub tree: usize,
    pub dof: usize,
    pub node: usize,
}

/// All contacts between the same two nodes.
#[derive(Clone, Debug)]
struct Patch {
    ends: [ConstraintEnd; 2],
    /// Columns of J, ascending, into the scratch's `columns`, and the six rows for each of them into `rows`; none of
    /// free bodies, and none before they are needed.
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

/// How H was factored.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Factored {
    /// Not yet, of this problem.
    #[default]
    None,
    /// As a sparse matrix of blocks.
    Blocks,
    /// Every tree by itself.
    Recursively,
}

/// The recursive factors of a tree.
#[derive(Default)]
struct TreeFactor {
    /// The joint impedances with the limits.
    joints: JointImpedance<f64>,
    symmetric: Factor<f64>,
    /// That of Coulomb's law.
    unsymmetric: UnsymmetricFactor,
    dyads: Vec<Dyad>,
}

/// Scratch of a coupled problem, reused from step to step.
#[derive(Default)]
pub(crate) struct CoupledScratch {
    motions: Vec<Twist<f64>>,
    wrenches: Vec<Wrench<f64>>,
    impedance: Vec<ArticulatedInertia<f64>>,
    operator: OperatorScratch,
    patches: Vec<Patch>,
    /// The patch of every constraint; none for those with the world and within joints.
    patch_of: Vec<Option<usize>>,
    columns: Vec<u32>,
    /// The relative motion of the two nodes, at the origin of the second, per unit of each column.
    rows: Vec<Twist<f64>>,
    crba: CrbaWorkspace<f64>,
    friction: FrictionScratch,
    /// One of every slot.
    factors: Vec<TreeFactor>,
    /// What the last factor is.
    factored: Factored,
}

impl CoupledScratch {
    /// The greatest speed of a point within `extents` of the origins of the model's nodes where the trees move with `v`, m/s.
    pub fn greatest_speed(&mut self, cliques: Cliques<'_>, slots: &[CliqueSlot], extents: &[f64], v: &[f64]) -> f64 {
        let mut greatest = 0.0;
        for slot in slots {
            let clique = cliques.get(slot.tree);
            self.motions.resize(self.motions.len().max(slot.node + clique.len()), Twist::ZERO);
            let v = &v[slot.dof..slot.dof + clique.nv()];
            greatest = f64::max(greatest, clique.greatest_speed(extents, v, &mut self.motions[slot.node..]));
        }
        greatest
    }
}

/// The trees of an island, the constraints on them, and scratch. Jacobians and slots use indices of the island.
pub(crate) struct Coupled<'a> {
    pub cliques: Cliques<'a>,
    /// The velocities that the step starts from, the model's.
    v0: &'a [f64],
    pub slots: &'a [CliqueSlot],
    pub jacobians: &'a [ConstraintJacobian],
    /// What Jacobians that are sums refer to.
    pub terms: &'a [Term],
    pub scratch: &'a mut CoupledScratch,
    pub cholesky: &'a mut BlockCholesky,
    interrupt: &'a Interrupt,
    pub nv: usize,
    /// Whether the recursive factor may be used where it applies.
    may_recurse: bool,
}

impl<'a> Coupled<'a> {
    /// Gathers the patches.
    pub fn new(
        cliques: Cliques<'a>,
        v0: &'a [f64],
        slots: &'a [CliqueSlot],
        jacobians: &'a [ConstraintJacobian],
        terms: &'a [Term],
        scratch: &'a mut CoupledScratch,
        cholesky: &'a mut BlockCholesky,
        interrupt: &'a Interrupt,
    ) -> Self {
        let nodes = slots.last().map_or(0, |s| s.node + cliques.get(s.tree).len());
        let nv = slots.last().map_or(0, |s| s.dof + cliques.get(s.tree).nv());
        scratch.motions.resize(nodes, Twist::ZERO);
        scratch.wrenches.resize(nodes, Wrench::ZERO);
        scratch.impedance.resize(nodes, ArticulatedInertia::ZERO);
        if scratch.factors.len() < slots.len() {
            scratch.factors.resize_with(slots.len(), Default::default);
        }
        // A sum couples joints as no recursion does; soft bodies come last.
        let is_soft = slots.last().is_some_and(|s| cliques.get(s.tree).is_soft());
        let may_recurse = terms.is_empty() && !is_soft;
        scratch.factored = Factored::None;
        let mut problem = Self { cliques, v0, slots, jacobians, terms, scratch, cholesky, interrupt, nv, may_recurse };
        problem.gather_patches();
        problem
    }

    fn gather_patches(&mut self) {
        let CoupledScratch { patches, patch_of, columns, rows, .. } = &mut *self.scratch;
        patches.clear();
        patch_of.clear();
        columns.clear();
        rows.clear();
        for jacobian in self.jacobians {
            let ConstraintJacobian::Ends { ends: [Some(a), Some(b)], .. } = jacobian else {
                patch_of.push(None);
                continue;
            };
            let same = |p: &Patch| p.ends[0].is_on_node_of(a) && p.ends[1].is_on_node_of(b);
            if !patches.last().is_some_and(same) {
                let is_free_body = |end: &ConstraintEnd| self.cliques.get(self.slots[end.tree].tree).is_free_body();
                patches.push(Patch {
                    ends: [*a, *b],
                    columns: 0..0,
                    impedance: ArticulatedInertia::ZERO,
                    active: false,
                    was_active: false,
                    of_free_bodies: a.tree != b.tree && is_free_body(a) && is_free_body(b),
                });
            }
            patch_of.push(Some(patches.len() - 1));
        }
    }

    /// Chooses how H is factored: every tree by itself where no two nodes push each other; whether that is so.
    fn choose_recursion(&mut self) -> bool {
        let recurses = self.may_recurse && !self.scratch.patches.iter().any(|p| p.active);
        self.scratch.factored = if recurses { Factored::Recursively } else { Factored::Blocks };
        recurses
    }

    /// Whether nodes may push against each other, or sums couple joints: no recursion factors that.
    pub fn has_pairs(&self) -> bool {
        !self.may_recurse || !self.scratch.patches.is_empty()
    }

    /// How many nodes its trees have.
    pub fn nodes(&self) -> usize {
        self.scratch.motions.len()
    }

    /// Sets `x` to A⁻¹ x by what the factors of free motion say of it, x being the sum that `multibody::Factor::carry` makes, and the
    /// motions of the nodes in the scratch to J x.
    pub fn respond(&mut self, x: &mut [f64]) {
        for slot in self.slots {
            let motions = &mut self.scratch.motions[slot.node..];
            self.cliques.get(slot.tree).respond(&mut x[slot.dof..], motions);
        }
    }

    /// J x, the motions of the nodes under x being in the scratch.
    pub fn rows_of_motions(&self, x: &[f64], j_x: &mut [f64]) {
        let motions = &self.scratch.motions;
        let mut row = 0;
        for jacobian in self.jacobians {
            match jacobian {
                ConstraintJacobian::Ends { ends, basis, motion } => {
                    let mut velocity = Vec3::ZERO;
                    if let Some(b) = &ends[1] {
                        velocity = b.velocity(&motions[self.slots[b.tree].node..], *motion);
                    }
                    if let Some(a) = &ends[0] {
                        velocity -= a.velocity(&motions[self.slots[a.tree].node..], *motion);
                    }
                    j_x[row..row + 3].copy_from_slice(&basis.transpose_mul(velocity).to_array());
                    row += 3;
                }
                _ => {
                    let of = |(tree, dof, c): (usize, usize, f64)| c * x[self.slots[tree].dof + dof];
                    j_x[row] = jacobian.coordinates(self.terms).map(of).sum();
                    row += 1;
                }
            }
        }
    }
}

impl Structure for Coupled<'_> {
    fn nv(&self) -> usize {
        self.nv
    }

    fn products(&mut self, x: &[f64], a_x: &mut [f64], j_x: &mut [f64]) {
        self.momentum(x, a_x);
        self.rows_of_motions(x, j_x);
    }

    fn momentum(&mut self, x: &[f64], a_x: &mut [f64]) {
        let CoupledScratch { motions, wrenches, .. } = &mut *self.scratch;
        for slot in self.slots {
            let (motions, wrenches) = (&mut motions[slot.node..], &mut wrenches[slot.node..]);
            self.cliques.get(slot.tree).apply(&x[slot.dof..], motions, wrenches, &mut a_x[slot.dof..]);
        }
    }

    fn products_at(&mut self, v: &[f64], x: &[f64], a_x: &mut [f64], j_v: &mut [f64]) {
        let rests = |slot: &CliqueSlot| {
            let clique = self.cliques.get(slot.tree);
            clique.known_motions_of(&v[slot.dof..slot.dof + clique.nv()], self.v0) == Some(KnownMotion::Start)
        };
        if self.slots.iter().all(rests) {
            for slot in self.slots {
                self.cliques.get(slot.tree).momentum_to_start(&mut self.scratch.wrenches, &mut a_x[slot.dof..]);
            }
        } else {
            self.momentum(x, a_x);
        }
        self.row_velocities(v, j_v);
    }

    fn row_velocities(&mut self, x: &[f64], j_x: &mut [f64]) {
        for slot in self.slots {
            let clique = self.cliques.get(slot.tree);
            let motions = &mut self.scratch.motions[slot.node..];
            let x = &x[slot.dof..slot.dof + clique.nv()];
            let start = clique.twists();
            match clique.known_motions_of(x, self.v0) {
                Some(KnownMotion::Start) => motions[..start.len()].copy_from_slice(start),
                Some(KnownMotion::Free) => {
                    let both = start.iter().zip(clique.changes());
                    motions.iter_mut().zip(both).for_each(|(motion, (start, change))| *motion = *start + *change);
                }
                None => clique.propagate(x, motions),
            }
        }
        self.rows_of_motions(x, j_x);
    }

    fn add_transpose(&mut self, gamma: &[f64], out: &mut [f64]) {
        let wrenches = &mut self.scratch.wrenches;
        wrenches.fill(Wrench::ZERO);
        let mut row = 0;
        for jacobian in self.jacobians {
            match jacobian {
                ConstraintJacobian::Ends { ends: [a, b], basis, motion } => {
                    let impulse = Vec3::new(gamma[row], gamma[row + 1], gamma[row + 2]);
                    row += 3;
                    if impulse == Vec3::ZERO {
                        continue;
                    }
                    let impulse = *basis * impulse;
                    if let Some(a) = a {
                        wrenches[self.slots[a.tree].node + a.node] += a.wrench(-impulse, *motion);
                    }
                    if let Some(b) = b {
                        wrenches[self.slots[b.tree].node + b.node] += b.wrench(impulse, *motion);
                    }
                }
                _ => {
                    let impulse = gamma[row];
                    let terms = jacobian.coordinates(self.terms);
                    terms.for_each(|(tree, dof, c)| out[self.slots[tree].dof + dof] += c * impulse);
                    row += 1;
                }
            }
        }
        for slot in self.slots {
            self.cliques.get(slot.tree).add_generalized_forces(&mut wrenches[slot.node..], &mut out[slot.dof..]);
        }
    }

    fn factor(&mut self, _: &[Constraint], hessian: &[Block]) -> Result<(), FactorError> {
        self.gather_impedances(hessian);
        if self.choose_recursion() {
            self.factor_recursively(hessian);
            return Ok(());
        }
        self.couple();
        self.assemble(hessian);
        self.cholesky.factor_unless(self.interrupt)
    }

    fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let CoupledScratch { factors, factored, .. } = &mut *self.scratch;
        match factored {
            Factored::None | Factored::Blocks => return self.cholesky.solve(b, x),
            Factored::Recursively => {}
        }
        for (slot, factor) in self.slots.iter().zip(factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            factor.symmetric.solve(tree, tree.all(), kin, &b[slot.dof..], None, &mut x[slot.dof..]);
        }
    }

    fn factor_unsymmetric(
        &mut self,
        constraints: &[Constraint],
        hessian: &[Block],
        slopes: &[[f64; 3]],
    ) -> Result<(), FactorError> {
        self.gather_impedances(hessian);
        if self.choose_recursion() {
            return self.factor_unsymmetric_recursively(constraints, hessian, slopes);
        }
        self.couple();
        self.assemble(hessian);
        self.cholesky.make_unsymmetric();
        self.add_friction(constraints, hessian, slopes);
        self.cholesky.factor_unsymmetric_unless(self.interrupt)
    }

    fn solve_unsymmetric(&mut self, b: &[f64], x: &mut [f64]) {
        let CoupledScratch { factors, factored, .. } = &mut *self.scratch;
        match factored {
            Factored::None | Factored::Blocks => return self.cholesky.solve_unsymmetric(b, x),
            Factored::Recursively => {}
        }
        for (slot, factor) in self.slots.iter().zip(factors) {
            let Clique::Tree(TreeWorkspace { tree, kin, .. }) = self.cliques.get(slot.tree) else { continue };
            factor.unsymmetric.solve(tree, kin, &b[slot.dof..], &mut x[slot.dof..]);
        }
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    fn operator(&mut self) -> Option<&mut dyn HessianOperator> {
        if self.may_recurse { Some(self) } else { None }
    }

    fn scale(&mut self, d: &mut [f64]) {
        for slot in self.slots {
            self.cliques.get(slot.tree).diagonal(&mut d[slot.dof..]);
        }
        for d in d {
            *d = 1.0 / d.sqrt();
        }
    }
}
