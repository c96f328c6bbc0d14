//! Which trees are in which island.

use super::{Island, Islands, NONE};
use crate::constrain::ConstraintSet;
use crate::coupled::Slot;
use crate::part::Part;

/// Contact points in a row.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Run {
    /// The first.
    start: u32,
    /// The trees that they concern, or one twice.
    trees: [usize; 2],
}

/// In some island that has no number yet.
const UNNUMBERED: usize = NONE - 1;

impl Islands {
    /// Groups trees that share a constraint; trees without any are in no island. `tree_of_geom` is [`NONE`] for geoms that
    /// are fixed in the world.
    ///
    /// Islands are in the order of their first trees, constraints in the order in which they are given: the result
    /// depends on nothing else.
    pub fn partition(
        &mut self,
        detected: &[geometry::Contact],
        tree_of_geom: &[usize],
        others: &ConstraintSet,
        parts: &[Part],
    ) {
        self.find_runs(detected, tree_of_geom);
        let points = others.links.is_empty().then_some(detected.len());
        if points.is_some() && points == self.points && self.runs == self.last_runs {
            // What rests is joined as it was.
            return;
        }
        self.points = points;
        self.parent.clear();
        self.parent.extend(0..parts.len());
        self.island_of.clear();
        self.island_of.resize(parts.len(), NONE);
        self.slot_of.resize(parts.len(), 0);
        for k in 0..self.runs.len() {
            let [a, b] = self.runs[k].trees;
            self.join(a, b);
        }
        for link in &others.links {
            let mut trees = link.trees(&others.terms);
            let Some(first) = trees.next() else { continue };
            self.join(first, first);
            trees.for_each(|tree| self.join(first, tree));
        }
        self.number(parts);
        self.place_of.clear();
        let ends = self.runs.iter().skip(1).map(|run| run.start).chain([detected.len() as u32]);
        for (&Run { start: c, trees }, end) in self.runs.iter().zip(ends) {
            let island = self.island_of[trees[0]];
            let contacts = &mut self.islands[island].contacts;
            self.place_of.extend((contacts.len() as u32..).map(|k| (island as u32, k)).take((end - c) as usize));
            contacts.extend(c..end);
        }
        for (k, link) in (0..).zip(&others.links) {
            if let Some(tree) = link.trees(&others.terms).next() {
                self.islands[self.island_of[tree]].members.push(k);
            }
        }
    }

    /// Finds neighbours of the same trees; fixed geoms touch none that are fixed.
    fn find_runs(&mut self, detected: &[geometry::Contact], tree_of_geom: &[usize]) {
        std::mem::swap(&mut self.runs, &mut self.last_runs);
        self.runs.clear();
        let mut last = [NONE; 2];
        for (start, contact) in (0..).zip(detected) {
            let [a, b] = [tree_of_geom[contact.geoms[0]], tree_of_geom[contact.geoms[1]]];
            if [a, b] != last {
                last = [a, b];
                self.runs.push(Run { start, trees: [a.min(b), if a.max(b) == NONE { a.min(b) } else { a.max(b) }] });
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
    fn number(&mut self, parts: &[Part]) {
        self.active = 0;
        for tree in 0..parts.len() {
            if self.island_of[tree] == NONE {
                continue;
            }
            let root = self.root(tree);
            self.island_of[tree] = if root == tree { self.open() } else { self.island_of[root] };
            let slots = &mut self.islands[self.island_of[tree]].slots;
            let slot = match slots.last() {
                Some(last) => {
                    let part = &parts[last.tree];
                    Slot { tree, dof: last.dof + part.tree.nv, node: last.node + part.tree.len() }
                }
                None => Slot { tree, dof: 0, node: 0 },
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

    /// Those of `trees` that are in no island: all, before there ever was one.
    pub fn alone(&self, trees: usize) -> impl Iterator<Item = usize> {
        (0..trees).filter(|tree| self.island_of.get(*tree).is_none_or(|island| *island == NONE))
    }
}
