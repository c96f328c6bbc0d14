//! Sparse supernodal Cholesky factorisation of matrices made of blocks.

mod graph;
mod kernel;
mod layout;
mod minimum_degree;
mod numeric;
mod substitution;
mod supernodes;
mod tree;
mod unsymmetric;

use std::ops::Range;

use crate::FactorError;
use graph::Graph;
use layout::Layout;
use minimum_degree::MinimumDegree;
use supernodes::Supernodes;
use support::Interrupt;
use tree::EliminationTree;

/// A sparse symmetric positive definite matrix of dense blocks, and its factorisation `P H Pᵀ = L Lᵀ`.
///
/// The rows belong to nodes, to each some that follow each other: the trees of a scene and their degrees of freedom. Two nodes
/// have a block of entries if they were coupled. The order of elimination comes from an approximate minimum degree over the
/// graph of nodes; columns of the factor with the same rows below, or nearly the same, are stored together as one dense panel
/// (a supernode) and eliminated at once.
///
/// In order: [`begin`](Self::begin), [`couple`](Self::couple) what has entries, [`analyze`](Self::analyze), fill what
/// [`block_mut`](Self::block_mut) returns, [`factor`](Self::factor), [`solve`](Self::solve). The order of elimination and all
/// that follows from it depend on the graph alone; they are kept as long as it stays the same. No memory is allocated once
/// there is enough, and the results have the same bits on every machine.
///
/// # Example
///
/// ```
/// use sapwood_sap::BlockCholesky;
///
/// let mut h = BlockCholesky::new();
/// h.begin([2, 1]);
/// h.couple(0, 1);
/// h.analyze();
/// for (node, size) in [(0, 2), (1, 1)] {
///     let block = h.block_mut(node, node);
///     for i in 0..size {
///         block.values[i * block.stride + i] = 2.0;
///     }
/// }
/// let block = h.block_mut(0, 1);
/// block.values[0] = 1.0; // the first entry of the first column, whichever of the two nodes has the columns
/// h.factor().unwrap();
///
/// let mut x = [0.0; 3];
/// h.solve(&[3.0, 2.0, 3.0], &mut x);
/// assert!(x.iter().all(|x| (x - 1.0).abs() < 1e-15));
/// ```
#[derive(Clone, Debug, Default)]
pub struct BlockCholesky {
    sizes: Vec<usize>,
    /// The first row of each node in the user's order.
    first_row: Vec<usize>,
    edges: Vec<(usize, usize)>,
    /// Those of the last analysis, as they were named.
    analyzed_edges: Vec<(usize, usize)>,
    graph: Graph,
    /// The graph and sizes that the layout is for, and how many nodes come last.
    analyzed: (Graph, Vec<usize>),
    analyzed_trailing: usize,
    /// The nodes in the order of elimination, and the position of each.
    order: Vec<usize>,
    position: Vec<usize>,
    layout: Layout,
    symbolic: Symbolic,
    values: Vec<f64>,
    /// The upper triangle, transposed, in panels like those of the lower one: while the matrix is not symmetric.
    upper: Vec<f64>,
    rows: usize,
    /// Vectors in the order of elimination, and the part of one that a panel has rows of.
    permuted: Vec<f64>,
    local: Vec<f64>,
}

/// Scratch of the symbolic phase.
#[derive(Clone, Debug, Default)]
struct Symbolic {
    minimum_degree: MinimumDegree,
    tree: EliminationTree,
    supernodes: Supernodes,
    order: Vec<usize>,
}

/// A block of the matrix, column-major: entry `(i, j)` is `values[j * stride + i]`.
#[derive(Debug)]
pub struct BlockMut<'a> {
    /// The node whose rows these are.
    pub row: usize,
    /// The node whose columns these are.
    pub column: usize,
    /// Distance of one column to the next.
    pub stride: usize,
    /// From the first entry to the last.
    pub values: &'a mut [f64],
}

impl BlockCholesky {
    /// A matrix without rows.
    pub fn new() -> BlockCholesky {
        BlockCholesky::default()
    }

    /// Starts a new matrix: `sizes` are the numbers of rows of the nodes, none of them coupled yet.
    pub fn begin(&mut self, sizes: impl IntoIterator<Item = usize>) {
        self.sizes.clear();
        self.sizes.extend(sizes);
        self.edges.clear();
    }

    /// Makes room for entries between the rows of two nodes. Saying so again changes nothing.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn couple(&mut self, i: usize, j: usize) {
        if self.sizes[i] > 0 && self.sizes[j] > 0 {
            self.edges.push((i, j));
        }
    }

    /// Finds an order of elimination, unless the sizes and the coupled nodes are those of the last time, and sets the matrix
    /// to zero.
    pub fn analyze(&mut self) {
        self.analyze_with(0);
    }

    /// As [`analyze`](Self::analyze), but the last `trailing` nodes are eliminated last, in exactly their order. These have to be coupled with each
    /// other, all of them.
    ///
    /// The last rows of the factor are then that of a Schur complement: see [`trailing_factor`](Self::trailing_factor).
    ///
    /// # Panics
    /// If there are fewer nodes.
    pub fn analyze_with_last(&mut self, trailing: usize) {
        assert!(trailing <= self.sizes.len(), "{trailing} of {} nodes cannot be last", self.sizes.len());
        self.analyze_with(trailing);
    }

    fn analyze_with(&mut self, trailing: usize) {
        let is_other_order = self.analyzed_trailing != trailing;
        self.analyzed_trailing = trailing;
        // From one factor to the next mostly the same are named in the same order: no need to sort them.
        if is_other_order || self.analyzed_edges != self.edges || self.analyzed.1 != self.sizes {
            self.graph.rebuild(self.sizes.len(), &self.edges);
            if is_other_order || self.analyzed.0 != self.graph || self.analyzed.1 != self.sizes {
                self.find_layout();
                std::mem::swap(&mut self.analyzed.0, &mut self.graph);
                self.analyzed.1.clone_from(&self.sizes);
            }
            // No later growth than that of `edges`.
            self.analyzed_edges.clear();
            self.analyzed_edges.reserve(self.edges.capacity());
            self.analyzed_edges.extend_from_slice(&self.edges);
        }
        self.set_zero();
    }

    /// Sets the matrix to zero, to be filled again for the same graph.
    pub fn set_zero(&mut self) {
        self.values.clear();
        self.values.resize(self.layout.len, 0.0);
    }

    fn find_layout(&mut self) {
        let BlockCholesky { sizes, graph, order, position, layout, .. } = self;
        let Symbolic { minimum_degree, tree, supernodes, order: first_order } = &mut self.symbolic;
        minimum_degree.order(graph, sizes, self.analyzed_trailing, first_order);
        invert(first_order, position);
        tree.rebuild(graph, sizes, first_order, position);
        supernodes.rebuild(tree, |i| sizes[first_order[i]], sizes.len() - self.analyzed_trailing);
        order.clear();
        order.extend(supernodes.columns.iter().map(|&column| first_order[column]));
        invert(order, position);
        layout.rebuild(graph, sizes, order, position, supernodes);
        self.first_row.clear();
        let mut first = 0;
        for size in sizes {
            self.first_row.push(first);
            first += *size;
        }
        self.rows = first;
    }

    /// The block of entries between two coupled nodes, or of one node with itself, for values to be added to it.
    ///
    /// Of the two blocks that a pair of nodes has, one the transpose of the other, only one is stored: which node has the rows
    /// and which the columns is said in the block. Of a node's block with itself only the lower triangle is read.
    ///
    /// # Panics
    /// If the nodes are not coupled.
    #[inline]
    pub fn block_mut(&mut self, i: usize, j: usize) -> BlockMut<'_> {
        let (row, column) = if self.position[i] >= self.position[j] { (i, j) } else { (j, i) };
        let (stride, range) = self.place(row, column);
        BlockMut { row, column, stride, values: &mut self.values[range] }
    }

    /// Where the block of two nodes is, `row` not before `column` in the order of elimination, and the distance of its columns.
    fn place(&self, row: usize, column: usize) -> (usize, Range<usize>) {
        let (rows, columns) = (self.sizes[row], self.sizes[column]);
        if rows == 0 || columns == 0 {
            return (0, 0..0);
        }
        let (p, q) = (self.position[row], self.position[column]);
        let layout = &self.layout;
        let panel = &layout.panels[layout.panel_of[q]];
        let first_row = if p < panel.nodes.end {
            layout.first_row[p] - panel.first
        } else {
            let below = &layout.rows[panel.rows.clone()];
            match below.binary_search_by_key(&p, |row| row.position) {
                Ok(k) => below[k].offset,
                Err(_) => panic!("nodes {row} and {column} are not coupled"),
            }
        };
        let start = panel.values + (layout.first_row[q] - panel.first) * panel.stride + first_row;
        let len = (columns - 1) * panel.stride + rows;
        (panel.stride, start..start + len)
    }

    /// Where [`block_mut`](Self::block_mut) finds its entries among [`values_mut`](Self::values_mut): whether node `i` has the rows, the
    /// distance of columns, and the index of the first entry. It holds until the graph is another one.
    ///
    /// # Panics
    /// If the nodes are not coupled.
    pub fn block_place(&self, i: usize, j: usize) -> (bool, usize, usize) {
        let i_has_rows = self.position[i] >= self.position[j];
        let (stride, range) = if i_has_rows { self.place(i, j) } else { self.place(j, i) };
        (i_has_rows, stride, range.start)
    }

    /// The numbers of all blocks, to be written where [`block_place`](Self::block_place) says.
    pub fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }

    /// Replaces the matrix by its factor.
    ///
    /// # Errors
    /// If the matrix is not numerically positive definite: the row, in the caller's order, whose pivot is not positive.
    pub fn factor(&mut self) -> Result<(), FactorError> {
        self.factor_unless(&Interrupt::default())
    }

    /// [`factor`](Self::factor), unless it is told to stop.
    ///
    /// # Errors
    /// As [`factor`](Self::factor); and of any row once `interrupt` is raised.
    pub fn factor_unless(&mut self, interrupt: &Interrupt) -> Result<(), FactorError> {
        numeric::factor(&self.layout, &mut self.values, interrupt).map_err(|row| self.factor_error(row))
    }

    fn factor_error(&self, row: usize) -> FactorError {
        let position = self.layout.first_row.partition_point(|&first| first <= row) - 1;
        FactorError { row: self.first_row[self.order[position]] + row - self.layout.first_row[position] }
    }

    /// `x = H⁻¹ b` with the last factor; `b` and `x` are one vector or several, one after the other.
    pub fn solve(&mut self, b: &[f64], x: &mut [f64]) {
        let rows = self.permute(b);
        numeric::solve(&self.layout, &self.values, &self.values, &mut self.permuted, rows, &mut self.local);
        self.permute_back(x);
    }

    /// `x = P L⁻ᵀ Pᵀ y` with the last factor, `P` the order of elimination: the second half of [`solve`](Self::solve).
    ///
    /// With `y` = (0, `L`ₜᵀ d), `L`ₜ being [`trailing_factor`](Self::trailing_factor), `x` is `H⁻¹ (0, S d)`, `S` the Schur complement: where
    /// all nodes go if the trailing ones go by `d`.
    pub fn substitute_back(&mut self, y: &[f64], x: &mut [f64]) {
        let rows = self.permute(y);
        numeric::solve_back(&self.layout, &self.values, &mut self.permuted, rows, &mut self.local);
        self.permute_back(x);
    }

    /// The last `rows` rows and columns of the factor, `rows`×`rows` column-major with zeros above the diagonal. Where
    /// these are all rows of the nodes that [`analyze_with_last`](Self::analyze_with_last) keeps last, in their order, it is the factor of
    /// the Schur complement of all other rows.
    ///
    /// # Panics
    /// If `l` is not of that size.
    pub fn trailing_factor(&self, rows: usize, l: &mut [f64]) {
        assert_eq!(l.len(), rows * rows, "the factor of {rows} rows");
        l.fill(0.0);
        let before = self.rows - rows;
        for panel in self.layout.panels.iter().rev().take_while(|panel| panel.first + panel.width > before) {
            for column in 0..panel.width {
                let Some(j) = (panel.first + column).checked_sub(before) else { continue };
                let from = panel.values + column * (panel.stride + 1);
                let values = &self.values[from..];
                let own = panel.width - column;
                l[j * rows + j..j * rows + j + own].copy_from_slice(&values[..own]);
                // The inverse is kept.
                l[j * rows + j] = 1.0 / values[0];
                for run in &self.layout.runs[panel.segments.clone()] {
                    let (source, target) = (run.source - column, run.target - before);
                    l[j * rows + target..j * rows + target + run.len]
                        .copy_from_slice(&values[source..source + run.len]);
                }
            }
        }
    }

    /// Makes the matrix, once it is filled, one that is symmetric in its pattern alone:
    /// [`add_outer_product`](Self::add_outer_product), [`factor_unsymmetric`](Self::factor_unsymmetric) and
    /// [`solve_unsymmetric`](Self::solve_unsymmetric) come next.
    pub fn make_unsymmetric(&mut self) {
        self.upper.clear();
        self.upper.reserve(self.values.capacity());
        self.upper.extend_from_slice(&self.values);
    }

    /// Adds `c rᵀ` to the rows of node `i` and the columns of node `j`.
    ///
    /// # Panics
    /// If the nodes are not coupled, or a vector is shorter than its node's rows.
    pub fn add_outer_product(&mut self, i: usize, c: &[f64], j: usize, r: &[f64]) {
        let (m, n) = (self.sizes[i], self.sizes[j]);
        let is_lower = self.position[i] >= self.position[j];
        let (stride, range) = if is_lower { self.place(i, j) } else { self.place(j, i) };
        let (lower, upper) = (&mut self.values[range.clone()], &mut self.upper[range]);
        // Rows of J have few entries: a soft body's contact those of three nodes among hundreds.
        let (rows, columns) = (span(&c[..m]), span(&r[..n]));
        // Loops run along columns of the one and rows of the other: entries next to each other.
        if i == j || is_lower {
            for b in columns.clone() {
                let own = if i == j { rows.start.max(b)..rows.end.max(b) } else { rows.clone() };
                add_scaled(r[b], &c[own.clone()], &mut lower[b * stride..][own]);
            }
        }
        if i == j || !is_lower {
            for a in rows {
                let own = if i == j { columns.start.max(a + 1)..columns.end.max(a + 1) } else { columns.clone() };
                add_scaled(c[a], &r[own.clone()], &mut upper[a * stride..][own]);
            }
        }
    }

    /// Replaces the matrix by its factors `L U`. There are no pivots: the factors are as accurate as these happen to be large, and
    /// the caller has to look at what they solve.
    ///
    /// # Errors
    /// If a pivot is zero or not a number: its row, in the caller's order.
    pub fn factor_unsymmetric(&mut self) -> Result<(), FactorError> {
        self.factor_unsymmetric_unless(&Interrupt::default())
    }

    /// [`factor_unsymmetric`](Self::factor_unsymmetric), unless it is told to stop.
    ///
    /// # Errors
    /// As [`factor_unsymmetric`](Self::factor_unsymmetric); and of any row once `interrupt` is raised.
    pub fn factor_unsymmetric_unless(&mut self, interrupt: &Interrupt) -> Result<(), FactorError> {
        let Self { layout, values, upper, .. } = self;
        unsymmetric::factor(layout, values, upper, interrupt).map_err(|row| self.factor_error(row))
    }

    /// `x = K⁻¹ b` with the last factors of [`factor_unsymmetric`](Self::factor_unsymmetric).
    pub fn solve_unsymmetric(&mut self, b: &[f64], x: &mut [f64]) {
        let rows = self.permute(b);
        numeric::solve(&self.layout, &self.values, &self.upper, &mut self.permuted, rows, &mut self.local);
        self.permute_back(x);
    }

    /// Puts the vectors of `b` into the order of elimination; how many numbers each has.
    fn permute(&mut self, b: &[f64]) -> usize {
        let rows = self.rows.max(1);
        debug_assert_eq!(b.len() % rows, 0, "whole vectors of {rows} rows");
        self.permuted.resize(b.len(), 0.0);
        for (permuted, b) in self.permuted.chunks_exact_mut(rows).zip(b.chunks_exact(rows)) {
            for (&node, &to) in self.order.iter().zip(&self.layout.first_row) {
                let (from, size) = (self.first_row[node], self.sizes[node]);
                permuted[to..to + size].copy_from_slice(&b[from..from + size]);
            }
        }
        rows
    }

    fn permute_back(&self, x: &mut [f64]) {
        let rows = self.rows.max(1);
        for (permuted, x) in self.permuted.chunks_exact(rows).zip(x.chunks_exact_mut(rows)) {
            for (&node, &from) in self.order.iter().zip(&self.layout.first_row) {
                let (to, size) = (self.first_row[node], self.sizes[node]);
                x[to..to + size].copy_from_slice(&permuted[from..from + size]);
            }
        }
    }
}

/// `y += f x`
#[inline(always)]
fn add_scaled(f: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += f * x;
    }
}

/// From the first entry that is not zero to the last.
fn span(x: &[f64]) -> Range<usize> {
    let first = x.iter().position(|x| *x != 0.0).unwrap_or(x.len());
    first..x.iter().rposition(|x| *x != 0.0).map_or(first, |last| last + 1)
}

/// `position[order[k]] = k`
fn invert(order: &[usize], position: &mut Vec<usize>) {
    position.clear();
    position.resize(order.len(), 0);
    for (k, &node) in order.iter().enumerate() {
        position[node] = k;
    }
}
