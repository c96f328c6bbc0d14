//! The islands of a world, whose problems are solved one after another: each takes the steps that it needs, of a matrix of its own rows.
//! Lanes side by side are solved whole, but for those that do not settle so.

use sap::contact_blocks::{Block3, BlockRows};
use spatial::Real;
use spatial::masks::positive;

use super::super::Bundle;
use super::ContactSpace;
use crate::forest::{find, join};
use crate::plan::Plan;

/// Which blocks are joined, and the problem of the island at hand.
#[derive(Clone, Debug)]
pub(crate) struct Islands<T: Real> {
    /// The islands that have blocks, each named by a tree; none where all blocks are of one problem.
    names: Vec<usize>,
    /// Whether the velocities of the step were found with these blocks.
    pub are_solved: bool,
    /// The island of every tree, and of every block that acts on any.
    of_trees: Vec<usize>,
    of_blocks: Vec<Option<usize>>,
    /// The island at hand: its blocks, and the place there of every block.
    name: usize,
    blocks: Vec<usize>,
    places: Vec<usize>,
    pub rows: Vec<BlockRows<T>>,
    pub w: Vec<Block3<T>>,
}

impl<T: Real> Islands<T> {
    pub fn new(plan: &Plan, blocks: usize) -> Self {
        let of_several = if plan.trees.len() > 1 { blocks } else { 0 };
        Self {
            names: Vec::with_capacity(plan.trees.len()),
            are_solved: false,
            of_trees: vec![0; plan.trees.len()],
            of_blocks: Vec::with_capacity(of_several),
            name: 0,
            blocks: Vec::with_capacity(of_several),
            places: Vec::with_capacity(of_several),
            rows: Vec::with_capacity(of_several),
            w: Vec::with_capacity(of_several * of_several),
        }
    }

    /// How many problems there are to solve.
    pub fn parts(&self) -> usize {
        self.names.len().max(1)
    }

    /// All blocks are of one problem.
    pub fn clear(&mut self) {
        self.names.clear();
    }

    /// Blocks of the largest island.
    pub fn most_blocks(&self) -> usize {
        let of = |name: &usize| self.of_blocks.iter().filter(|island| island.as_ref() == Some(name)).count();
        self.names.iter().map(of).max().unwrap_or_default()
    }

    /// The velocities of the step were found.
    #[inline(always)]
    pub fn note_solution(&mut self) {
        self.are_solved = !self.names.is_empty();
    }

    /// Whether velocities that move positions are those that were found; `recovers` says of trees whether anything in their islands recovers.
    #[inline(always)]
    pub fn is_known(&self, part: usize, recovers: &[T]) -> bool {
        self.are_solved && self.names.get(part).is_some_and(|name| positive(recovers[*name]) == 0)
    }

    /// Whether two blocks are of one problem.
    #[inline(always)]
    pub fn are_one(&self, b: usize, c: usize) -> bool {
        self.names.is_empty() || self.of_blocks[b] == self.of_blocks[c]
    }

    /// Takes an island, or all, in hand.
    #[inline(always)]
    pub fn choose(&mut self, part: usize) {
        self.name = self.names.get(part).copied().unwrap_or_default();
    }

    /// Whether a tree is of the problem at hand.
    #[inline(always)]
    pub fn has_tree(&self, tree: usize) -> bool {
        self.names.is_empty() || self.of_trees[tree] == self.name
    }

    /// Whether a block is of the problem at hand.
    pub fn is_at_hand(&self, b: usize) -> bool {
        self.names.is_empty() || self.of_blocks[b] == Some(self.name)
    }

    /// Whether all is solved as one.
    #[inline(always)]
    pub fn are_all_one(&self) -> bool {
        self.names.is_empty()
    }
}

impl<T: Bundle> ContactSpace<T> {
    /// Joins the trees that the blocks of these lanes act on.
    #[inline(always)]
    pub(crate) fn find_islands(&mut self, plan: &Plan, lanes: u32) {
        let Self { blocks, count, islands, .. } = self;
        let Islands { names, are_solved, of_trees, of_blocks, .. } = islands;
        of_trees.clear();
        of_blocks.clear();
        names.clear();
        *are_solved = false;
        of_trees.extend(0..plan.trees.len());
        for block in &blocks[..*count] {
            let mut first = None;
            for entry in block.entries.iter().filter(|entry| entry.lanes & lanes != 0) {
                plan.constraints.each_node(entry.constraint, &plan.node_of_dof, |node| {
                    let tree = plan.nodes[node].tree;
                    join(of_trees, *first.get_or_insert(tree), tree);
                });
            }
            of_blocks.push(first);
        }
        for name in of_blocks.iter_mut().flatten() {
            *name = find(of_trees, *name);
            if !names.contains(name) {
                names.push(*name);
            }
        }
        for tree in 0..of_trees.len() {
            of_trees[tree] = find(of_trees, tree);
        }
    }

    /// v*ᵀ A v* of the island at hand.
    #[inline(always)]
    pub(crate) fn energy(&self) -> T {
        let mut energy = T::ZERO;
        for (tree, kinetic) in self.kinetic.iter().enumerate() {
            if self.islands.has_tree(tree) {
                energy += *kinetic + *kinetic;
            }
        }
        energy
    }

    /// Gathers the problem of the island at hand.
    #[inline(always)]
    pub(crate) fn take_part(&mut self) {
        let Self { rows, count, w, islands, .. } = self;
        let Islands { name, of_blocks, blocks, places, rows: of_island, w: of_w, .. } = islands;
        blocks.clear();
        places.clear();
        of_island.clear();
        of_w.clear();
        for (b, rows) in rows[..*count].iter().enumerate() {
            places.push(blocks.len());
            if of_blocks[b] == Some(*name) {
                let mut rows = *rows;
                // What is no friction of a contact's rotation may name contacts that the island does not have.
                let last = blocks.len().saturating_sub(1);
                rows.contacts = rows.contacts.map(|contact| places[contact].min(last));
                blocks.push(b);
                of_island.push(rows);
            }
        }
        for &b in &*blocks {
            for &c in &*blocks {
                of_w.push(w[b * *count + c]);
            }
        }
    }

    /// Puts back what was found of the island at hand.
    #[inline(always)]
    pub(crate) fn put_back_part(&mut self) {
        let Self { rows, islands, .. } = self;
        for (&b, of_island) in islands.blocks.iter().zip(&islands.rows) {
            let contacts = std::mem::replace(&mut rows[b], *of_island).contacts;
            rows[b].contacts = contacts;
        }
    }
}
