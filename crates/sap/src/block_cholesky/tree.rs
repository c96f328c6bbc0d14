//! The elimination tree of a graph in a given order, and how many rows its columns have.

use super::graph::Graph;

pub(super) const NONE: usize = usize::MAX;

/// The elimination tree: the parent of a column is the first later one that has an entry in it, in the factor.
///
/// Columns are numbered in the order of elimination.
#[derive(Clone, Debug, Default)]
pub(super) struct EliminationTree {
    pub parent: Vec<usize>,
    /// Rows of each column of the factor: the column's own and those of all blocks below.
    pub rows: Vec<usize>,
    ancestor: Vec<usize>,
    mark: Vec<usize>,
}

impl EliminationTree {
    /// The tree for the nodes of `graph` eliminated in `order`; `position` is its inverse.
    pub fn rebuild(&mut self, graph: &Graph, sizes: &[usize], order: &[usize], position: &[usize]) {
        let n = order.len();
        for list in [&mut self.parent, &mut self.ancestor, &mut self.mark] {
            list.clear();
            list.resize(n, NONE);
        }
        self.rows.clear();
        self.rows.extend(order.iter().map(|&node| sizes[node]));
        for (i, &node) in order.iter().enumerate() {
            for &neighbour in graph.neighbours(node) {
                if position[neighbour] < i {
                    self.connect(position[neighbour], i);
                }
            }
        }
        // Row i of the factor has its entries on the paths from the neighbours before it up to i.
        for (i, &node) in order.iter().enumerate() {
            self.mark[i] = i;
            for &neighbour in graph.neighbours(node) {
                let mut j = position[neighbour];
                while j < i && self.mark[j] != i {
                    self.mark[j] = i;
                    self.rows[j] += sizes[node];
                    j = self.parent[j];
                }
            }
        }
    }

    /// Makes `i` the parent of the root of the tree that `j` is in so far.
    fn connect(&mut self, mut j: usize, i: usize) {
        while j != i {
            let next = std::mem::replace(&mut self.ancestor[j], i);
            if next == NONE {
                self.parent[j] = i;
                return;
            }
            j = next;
        }
    }
}
