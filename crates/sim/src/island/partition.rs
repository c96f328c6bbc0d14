//! Which trees are in which island.

use std::ops::Range;

use geometry::TouchingPair;

use super::{Island, Islands, NONE};
use crate::clique::Cliques;
use crate::constrain::ConstraintSet;
use crate::coupled::CliqueSlot;

/// In some island that has no number yet.
const UNNUMBERED: usize = NONE - 1;

impl Islands {
    /// Groups trees that share a constraint; trees without any are in no island. The `pairs` are those of `points` contact
    /// points; `tree_of_geom` is [`NONE`] for geoms that are fixed in the world.
    ///
    /// Islands are in the order of their first trees, constraints in the order in which they are given: the result
    /// depends on nothing else.
    pub fn partition(
        &mut self,
        pairs: &[TouchingPair],
        points: usize,
        tree_of_geom: &[usize],
        others: &ConstraintSet,
        cliques: Cliques<'_>,
    ) {
        // Constraints beside contacts change no island where there is one tree.
        let others_count = others.jacobians.len();
        let counts = (others_count == 0 || cliques.len() == 1).then_some((points, others_count));
        if counts.is_some() && counts == self.points && self.pairs == pairs {
            // What rests is joined as it was.
            return;
        }
        self.points = counts;
        self.pairs.clear();
        self.pairs.extend_from_slice(pairs);
        self.parent.clear();
        self.parent.extend(0..cliques.len());
        self.island_of.clear();
        self.island_of.resize(cliques.len(), NONE);
        self.slot_of.resize(cliques.len(), 0);
        let trees = |pair: &TouchingPair| pair.geoms.map(|geom| tree_of_geom[geom as usize]);
        for pair in pairs {
            // Fixed geoms touch none that are fixed.
            let [a, b] = trees(pair);
            self.join(a.min(b), if a.max(b) == NONE { a.min(b) } else { a.max(b) });
        }
        for jacobian in &others.jacobians {
            let mut trees = jacobian.trees(&others.terms);
            let Some(first) = trees.next() else { continue };
            self.join(first, first);
            trees.for_each(|tree| self.join(first, tree));
        }
        self.number(cliques);
        self.place_of.clear();
        let ends = pairs.iter().skip(1).map(|pair| pair.first).chain([points as u32]);
        for (pair, end) in pairs.iter().zip(ends) {
            let [a, b] = trees(pair);
            let island = self.island_of[a.min(b)];
            let contacts = &mut self.islands[island].contacts;
            let count = (end - pair.first) as usize;
            self.place_of.extend((contacts.len() as u32..).map(|k| (island as u32, k)).take(count));
            contacts.extend(pair.first..end);
        }
        for (k, jacobian) in (0..).zip(&others.jacobians) {
            if let Some(tree) = jacobian.trees(&others.terms).next() {
                self.islands[self.island_of[tree]].members.push(k);
            }
        }
    }

    /// Puts two trees, or one, into the same island.
    fn join(&mut self, a: usize, b: usize) {
        self.island_of[a] = UNNUMBERED;
        self.island_of[b] = UNNUMBERED;
        let (a, b) = (self.root(a), self.root(b));
        self.parent[a.max(b)] = a.min(b);
    }

    /// Numbers the islands in the order of their first trees, and gives every tree its slot.
    fn number(&mut self, cliques: Cliques<'_>) {
        self.active = 0;
        for tree in 0..cliques.len() {
            if self.island_of[tree] == NONE {
                continue;
            }
            let root = self.root(tree);
            self.island_of[tree] = if root == tree { self.open() } else { self.island_of[root] };
            let slots = &mut self.islands[self.island_of[tree]].slots;
            let slot = match slots.last() {
                Some(last) => {
                    let clique = cliques.get(last.tree);
                    CliqueSlot { tree, dof: last.dof + clique.nv(), node: last.node + clique.len() }
                }
                None => CliqueSlot { tree, dof: 0, node: 0 },
            };
            self.slot_of[tree] = slots.len();
            slots.push(slot);
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

    /// The solution for a tree, and what it was expected to be, if anything; none when it is in no island.
    pub fn velocities_of(&self, tree: usize) -> Option<(&[f64], Option<&[f64]>)> {
        let (island, dofs) = self.place_of_tree(tree)?;
        Some((&island.v[dofs.clone()], island.predicted.get(dofs)))
    }

    /// Whether a tree is in an island that hardly moves.
    pub fn is_calm(&self, tree: usize) -> bool {
        self.place_of_tree(tree).is_some_and(|(island, _)| island.is_calm)
    }

    /// The velocities that move the positions of a tree where those are righted; none where the solution moves them.
    pub fn recovery_velocities_of(&self, tree: usize) -> Option<&[f64]> {
        let (island, dofs) = self.place_of_tree(tree)?;
        island.recovery_v.get(dofs)
    }

    /// The island of a tree, and the tree's degrees of freedom there.
    fn place_of_tree(&self, tree: usize) -> Option<(&Island, Range<usize>)> {
        let island = self.islands.get(*self.island_of.get(tree)?)?;
        let slots = &island.slots[self.slot_of[tree]..];
        let end = slots.get(1).map_or(island.v.len(), |next| next.dof);
        Some((island, slots[0].dof..end))
    }
}
