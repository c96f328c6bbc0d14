//! Contact problems that do not touch each other: each connected set of trees and constraints is one.

use multibody::{CrbaWorkspace, mass_matrix};
use sap::{Constraint, Dense, Error, Report};

use crate::Factorization;
use crate::constrain::ConstraintSet;
use crate::coupled::{Coupled, CoupledScratch, Slot};
use crate::link::{Link, SparseRows, Term};
use crate::part::Part;

/// One contact problem, and its scratch, reused from step to step.
#[derive(Default)]
pub(crate) struct Island {
    /// The trees, ascending.
    pub slots: Vec<Slot>,
    /// Indices into the constraint set.
    pub members: Vec<usize>,
    pub laws: Vec<Constraint>,
    /// Rows of J; their trees are indices into `slots`.
    links: Vec<Link>,
    terms: Vec<Term>,
    v_star: Vec<f64>,
    /// The solution.
    pub v: Vec<f64>,
    pub ws: sap::Workspace,
    pub outcome: Option<Result<Report, Error>>,
    coupled: CoupledScratch,
    dense: Dense,
    blocks: Vec<std::ops::Range<usize>>,
    rows: SparseRows,
    crba: CrbaWorkspace<f64>,
}

impl std::fmt::Debug for Island {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Island").field("slots", &self.slots).field("members", &self.members).finish_non_exhaustive()
    }
}

impl Island {
    fn clear(&mut self) {
        self.slots.clear();
        self.members.clear();
        self.laws.clear();
        self.links.clear();
        self.terms.clear();
        self.outcome = None;
    }

    /// Minimises the cost of the island's problem, starting from v* or the present velocities.
    pub fn solve(&mut self, parts: &[Part], v0: &[f64], choice: Factorization, options: &sap::Options) {
        self.v_star.clear();
        self.v.clear();
        for slot in &self.slots {
            let part = &parts[slot.tree];
            self.v_star.extend_from_slice(&part.v_star);
            self.v.extend_from_slice(&v0[part.dofs.clone()]);
        }
        let (laws, v_star, v, ws) = (&self.laws, &self.v_star, &mut self.v, &mut self.ws);
        self.outcome = Some(match choice {
            Factorization::Auto | Factorization::Coupled => {
                let may_recurse = choice == Factorization::Auto;
                let mut problem =
                    Coupled::new(parts, &self.slots, (&self.links, &self.terms), &mut self.coupled, may_recurse);
                sap::solve(&mut problem, laws, v_star, v, options, ws)
            }
            Factorization::Dense => self.assemble(parts).and_then(|()| {
                sap::solve(&mut self.dense, &self.laws, &self.v_star, &mut self.v, options, &mut self.ws)
            }),
        });
    }

    /// Writes A and J of the island as matrices.
    fn assemble(&mut self, parts: &[Part]) -> Result<(), Error> {
        let nv = self.v_star.len();
        self.dense.reset(nv);
        self.blocks.clear();
        self.blocks.extend(self.slots.iter().map(|s| s.dof..s.dof + parts[s.tree].tree.nv));
        self.dense.set_blocks(&self.blocks)?;
        for (k, slot) in self.slots.iter().enumerate() {
            let Part { tree, kin, impedance, .. } = &parts[slot.tree];
            self.crba.resize(tree);
            let (a, n) = (self.dense.a_block_mut(k), tree.nv);
            mass_matrix(tree, tree.all(), kin, None, &mut self.crba, a, n, 0);
            impedance.add_to_matrix(tree, a, n);
        }
        let slots = &self.slots;
        let part = |slot: usize| {
            let Part { tree, kin, .. } = &parts[slots[slot].tree];
            (tree, kin, slots[slot].dof)
        };
        for link in &self.links {
            self.rows.gather(link, &self.terms, part);
            self.dense.push_jacobian(&self.rows.columns, &self.rows.values)?;
        }
        Ok(())
    }
}

/// The islands of a step.
#[derive(Debug, Default)]
pub(crate) struct Islands {
    islands: Vec<Island>,
    /// How many of them are in use.
    active: usize,
    /// Union-find over trees, roots the smallest of their sets; then the island of each root.
    parent: Vec<usize>,
    island_of: Vec<usize>,
    /// The slot of every tree in its island.
    slot_of: Vec<usize>,
}

const NONE: usize = usize::MAX;

impl Islands {
    /// Groups trees that share a constraint; trees without any are in no island.
    ///
    /// Islands are in the order of their first trees, constraints in the order of the set: the result depends on
    /// nothing else.
    pub fn partition(&mut self, set: &ConstraintSet, parts: &[Part]) {
        self.parent.clear();
        self.parent.extend(0..parts.len());
        self.island_of.clear();
        self.island_of.resize(parts.len(), NONE);
        self.slot_of.resize(parts.len(), 0);
        for link in &set.links {
            let mut trees = link.trees(&set.terms);
            let Some(first) = trees.next() else { continue };
            for tree in trees {
                let (a, b) = (self.root(first), self.root(tree));
                self.parent[a.max(b)] = a.min(b);
            }
        }
        // Mark the roots that have a constraint, then number them in the order of their trees.
        for link in &set.links {
            if let Some(tree) = link.trees(&set.terms).next() {
                let root = self.root(tree);
                self.island_of[root] = 0;
            }
        }
        self.active = 0;
        for tree in 0..parts.len() {
            let root = self.root(tree);
            if self.island_of[root] == NONE {
                continue;
            }
            if root == tree {
                self.island_of[root] = self.open();
            }
            let island = &mut self.islands[self.island_of[root]];
            let slot = match island.slots.last() {
                Some(last) => {
                    let part = &parts[last.tree];
                    Slot { tree, dof: last.dof + part.tree.nv, node: last.node + part.tree.len() }
                }
                None => Slot { tree, dof: 0, node: 0 },
            };
            self.slot_of[tree] = island.slots.len();
            island.slots.push(slot);
        }
        for (k, (law, link)) in set.laws.iter().zip(&set.links).enumerate() {
            if let Some(tree) = link.trees(&set.terms).next() {
                let root = self.root(tree);
                let island = &mut self.islands[self.island_of[root]];
                island.members.push(k);
                island.laws.push(*law);
                let link = link.with_trees(|tree| self.slot_of[tree], &set.terms, &mut island.terms);
                island.links.push(link);
            }
        }
    }

    fn open(&mut self) -> usize {
        if self.active == self.islands.len() {
            self.islands.push(Island::default());
        }
        self.islands[self.active].clear();
        self.active += 1;
        self.active - 1
    }

    fn root(&mut self, mut tree: usize) -> usize {
        while self.parent[tree] != tree {
            // Path halving keeps the forest flat.
            self.parent[tree] = self.parent[self.parent[tree]];
            tree = self.parent[tree];
        }
        tree
    }

    pub fn active(&self) -> &[Island] {
        &self.islands[..self.active]
    }

    pub fn active_mut(&mut self) -> &mut [Island] {
        &mut self.islands[..self.active]
    }
}
