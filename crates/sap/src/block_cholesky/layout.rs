//! Where everything is in the factor: the panels of the supernodes, and where in the later ones each of them subtracts.

use std::ops::Range;

use super::graph::Graph;
use super::supernodes::Supernodes;
use super::tree::NONE;

/// Columns start on multiples of this many numbers.
const ALIGNMENT: usize = 4;

/// A supernode: a dense column-major panel, whose first rows are those of its own columns.
#[derive(Clone, Debug)]
pub(super) struct Panel {
    /// Its nodes, by position.
    pub nodes: Range<usize>,
    /// Its first column among all.
    pub first: usize,
    pub width: usize,
    /// Distance of one column to the next.
    pub stride: usize,
    /// Where it is in the values.
    pub values: usize,
    /// The nodes below, into `Layout::rows`.
    pub rows: Range<usize>,
    /// Which rows below are next to each other in all, into `Layout::runs`.
    pub segments: Range<usize>,
    /// The later panels that it changes, into `Layout::updates`.
    pub updates: Range<usize>,
}

/// A node that a panel has rows of, below its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row {
    pub position: usize,
    /// Its first row in the panel.
    pub offset: usize,
}

/// What one panel subtracts from a later one.
#[derive(Clone, Debug)]
pub(super) struct Update {
    pub panel: usize,
    /// Into `Layout::runs`.
    pub runs: Range<usize>,
    /// How many of the runs are in the later panel's own columns.
    pub columns: usize,
}

/// Rows that are next to each other here as well as there.
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub source: usize,
    pub target: usize,
    pub len: usize,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    pub panels: Vec<Panel>,
    pub rows: Vec<Row>,
    pub runs: Vec<Run>,
    pub updates: Vec<Update>,
    /// The panel of each position.
    pub panel_of: Vec<usize>,
    /// The first row of each position in the order of elimination, and the number of all.
    pub first_row: Vec<usize>,
    /// How many numbers the panels have together.
    pub len: usize,
    count: Vec<usize>,
    mark: Vec<usize>,
}

impl Layout {
    /// Lays out the factor; `node` gives the node at each position and `position` its inverse.
    pub fn rebuild(
        &mut self,
        graph: &Graph,
        sizes: &[usize],
        node: &[usize],
        position: &[usize],
        supernodes: &Supernodes,
    ) {
        self.place_columns(sizes, node, supernodes);
        self.place_rows(graph, node, position, supernodes);
        self.place_values();
        self.updates.clear();
        self.runs.clear();
        for s in 0..self.panels.len() {
            self.find_segments(s);
            self.find_updates(s);
        }
    }

    fn place_columns(&mut self, sizes: &[usize], node: &[usize], supernodes: &Supernodes) {
        self.first_row.clear();
        let mut first = 0;
        for &node in node {
            self.first_row.push(first);
            first += sizes[node];
        }
        self.first_row.push(first);
        self.panels.clear();
        self.panel_of.clear();
        for (s, nodes) in supernodes.start.windows(2).map(|w| w[0]..w[1]).enumerate() {
            let (first, end) = (self.first_row[nodes.start], self.first_row[nodes.end]);
            self.panel_of.resize(nodes.end, s);
            self.panels.push(Panel {
                nodes,
                first,
                width: end - first,
                stride: 0,
                values: 0,
                rows: 0..0,
                segments: 0..0,
                updates: 0..0,
            });
        }
    }

    /// Finds the rows below of every panel, in order: each node's neighbours before it, and from there on all panels on the
    /// way up the tree to its own, have its rows.
    fn place_rows(&mut self, graph: &Graph, node: &[usize], position: &[usize], supernodes: &Supernodes) {
        let panels = self.panels.len();
        self.count.clear();
        self.count.resize(panels, 0);
        let Layout { count, mark, panel_of, .. } = self;
        for_each_row(graph, node, position, supernodes, panel_of, mark, |s, _| count[s] += 1);
        let mut start = 0;
        for (panel, count) in self.panels.iter_mut().zip(&mut self.count) {
            let end = start + *count;
            panel.rows = start..end;
            *count = start;
            start = end;
        }
        self.rows.clear();
        self.rows.resize(start, Row { position: 0, offset: 0 });
        let Layout { count, mark, panel_of, rows, .. } = self;
        for_each_row(graph, node, position, supernodes, panel_of, mark, |s, position| {
            rows[count[s]].position = position;
            count[s] += 1;
        });
    }

    fn place_values(&mut self) {
        let mut values = 0;
        for panel in &mut self.panels {
            let mut offset = panel.width;
            for row in &mut self.rows[panel.rows.clone()] {
                row.offset = offset;
                offset += self.first_row[row.position + 1] - self.first_row[row.position];
            }
            panel.stride = offset.next_multiple_of(ALIGNMENT);
            panel.values = values;
            values += panel.stride * panel.width;
        }
        self.len = values;
    }

    fn size(&self, position: usize) -> usize {
        self.first_row[position + 1] - self.first_row[position]
    }

    fn find_segments(&mut self, s: usize) {
        let start = self.runs.len();
        for k in self.panels[s].rows.clone() {
            let Row { position, offset } = self.rows[k];
            self.extend_runs(start, offset, self.first_row[position], self.size(position));
        }
        self.panels[s].segments = start..self.runs.len();
    }

    fn find_updates(&mut self, s: usize) {
        let first_update = self.updates.len();
        let rows = self.panels[s].rows.clone();
        let mut k = rows.start;
        while k < rows.end {
            let t = self.panel_of[self.rows[k].position];
            let target = self.panels[t].clone();
            let start = self.runs.len();
            while k < rows.end && self.rows[k].position < target.nodes.end {
                let Row { position, offset } = self.rows[k];
                self.extend_runs(start, offset, self.first_row[position] - target.first, self.size(position));
                k += 1;
            }
            let columns_end = self.runs.len();
            let mut there = target.rows.start;
            for k in k..rows.end {
                let Row { position, offset } = self.rows[k];
                while self.rows[there].position != position {
                    there += 1;
                }
                self.extend_runs(columns_end, offset, self.rows[there].offset, self.size(position));
            }
            self.updates.push(Update { panel: t, runs: start..self.runs.len(), columns: columns_end - start });
        }
        self.panels[s].updates = first_update..self.updates.len();
    }

    /// Appends rows to the last of the runs from `start` on, or as a new one.
    fn extend_runs(&mut self, start: usize, source: usize, target: usize, len: usize) {
        match self.runs[start..].last_mut() {
            Some(run) if run.source + run.len == source && run.target + run.len == target => run.len += len,
            _ => self.runs.push(Run { source, target, len }),
        }
    }
}

/// Calls `visit` with every panel and every position that it has rows of below its own, the positions ascending.
fn for_each_row(
    graph: &Graph,
    node: &[usize],
    position: &[usize],
    supernodes: &Supernodes,
    panel_of: &[usize],
    mark: &mut Vec<usize>,
    mut visit: impl FnMut(usize, usize),
) {
    mark.clear();
    mark.resize(supernodes.parent.len(), NONE);
    for (i, &node) in node.iter().enumerate() {
        mark[panel_of[i]] = i;
        for &neighbour in graph.neighbours(node) {
            if position[neighbour] > i {
                continue;
            }
            let mut s = panel_of[position[neighbour]];
            while mark[s] != i {
                mark[s] = i;
                visit(s, i);
                s = supernodes.parent[s];
            }
        }
    }
}
