//! Supernodes: columns whose rows below are the same, or nearly, stored and eliminated together as one dense panel.

use super::tree::{EliminationTree, NONE};

/// A panel of up to this many columns may hold this share of zeros that the factor does not need. Few columns cost more in
/// finding their places than in products with zeros.
const RELAXED: [(usize, f64); 3] = [(12, 0.5), (36, 0.2), (72, 0.05)];

/// A supernode of more columns is cut into pieces: its panel should stay in the cache while it updates others.
const WIDEST: usize = 96;

/// A partition of the columns into supernodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Supernodes {
    /// The columns by supernode.
    pub columns: Vec<usize>,
    /// Where in `columns` each supernode starts, and where the last one ends.
    pub start: Vec<usize>,
    /// For each supernode the next that its columns have rows in, or [`NONE`]: going on from there leads to all of them.
    pub parent: Vec<usize>,
    merged: Vec<Merged>,
    /// The columns of a supernode under way, linked.
    next_column: Vec<usize>,
    /// The children in the elimination tree, linked.
    first_child: Vec<usize>,
    next_sibling: Vec<usize>,
    supernode_of: Vec<usize>,
    /// Columns from here on are not merged with those before.
    barrier: usize,
}

/// A supernode under way, kept at its last column.
#[derive(Clone, Copy, Debug)]
struct Merged {
    first_column: usize,
    width: usize,
    /// Rows below the columns.
    below: usize,
    /// Entries that are stored for the panel's sake alone.
    zeros: usize,
    /// Whether this has not been merged into its parent.
    is_top: bool,
}

impl Supernodes {
    /// Merges the columns of `tree`, column `i` of which has `sizes(i)` numbers. Those from `barrier` on stay last, in their order.
    pub fn rebuild(&mut self, tree: &EliminationTree, size: impl Fn(usize) -> usize, barrier: usize) {
        let n = tree.parent.len();
        self.barrier = barrier;
        self.merged.clear();
        self.merged.extend((0..n).map(|i| Merged {
            first_column: i,
            width: size(i),
            below: tree.rows[i] - size(i),
            zeros: 0,
            is_top: true,
        }));
        for list in [&mut self.next_column, &mut self.first_child, &mut self.next_sibling, &mut self.supernode_of] {
            list.clear();
            list.resize(n, NONE);
        }
        for i in (0..n).rev() {
            let parent = tree.parent[i];
            if parent != NONE {
                self.next_sibling[i] = std::mem::replace(&mut self.first_child[parent], i);
            }
        }
        for i in 0..n {
            self.merge_children(i, true);
            self.merge_children(i, false);
        }
        self.number(tree, size);
    }

    /// Merges into `parent` those of its children that lose nothing by it, or not much.
    fn merge_children(&mut self, parent: usize, lossless: bool) {
        let mut child = self.first_child[parent];
        while child != NONE {
            if child < self.barrier && parent >= self.barrier {
                child = self.next_sibling[child];
                continue;
            }
            let (c, p) = (self.merged[child], self.merged[parent]);
            let width = c.width + p.width;
            // All rows of the child are among the parent's.
            let added = c.width * (p.width + p.below - c.below);
            let zeros = c.zeros + p.zeros + added;
            let entries = width * (width + 1) / 2 + width * p.below;
            let allowed = RELAXED.iter().find(|(widest, _)| width <= *widest).map_or(0.0, |(_, share)| *share);
            if c.is_top && if lossless { added == 0 } else { zeros as f64 <= allowed * entries as f64 } {
                self.next_column[child] = p.first_column;
                self.merged[parent] = Merged { first_column: c.first_column, width, zeros, ..p };
                self.merged[child].is_top = false;
            }
            child = self.next_sibling[child];
        }
    }

    /// Numbers the supernodes by their last columns, and cuts the wide ones.
    fn number(&mut self, tree: &EliminationTree, size: impl Fn(usize) -> usize) {
        self.columns.clear();
        self.start.clear();
        for top in 0..tree.parent.len() {
            if !self.merged[top].is_top {
                continue;
            }
            let Merged { first_column: mut column, width: all, .. } = self.merged[top];
            // Pieces of about the same width.
            let widest = all.div_ceil(all.div_ceil(WIDEST).max(1));
            let mut width = 0;
            self.start.push(self.columns.len());
            while column != NONE {
                if width > 0 && width + size(column) / 2 > widest {
                    self.start.push(self.columns.len());
                    width = 0;
                }
                width += size(column);
                self.columns.push(column);
                self.supernode_of[column] = self.start.len() - 1;
                column = self.next_column[column];
            }
        }
        self.start.push(self.columns.len());
        self.parent.clear();
        for s in 1..self.start.len() {
            let last = self.columns[self.start[s] - 1];
            self.parent.push(match tree.parent[last] {
                _ if !self.merged[last].is_top => s,
                NONE => NONE,
                column => self.supernode_of[column],
            });
        }
    }
}
