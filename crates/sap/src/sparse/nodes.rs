//! Which velocities are eliminated together.

use std::ops::Range;

use crate::SparseMatrix;
use crate::jacobian::Jacobian;

/// An entry of `A` within its block.
#[derive(Clone, Copy, Debug)]
pub(super) struct Entry {
    pub row: u32,
    pub column: u32,
    pub value: f64,
}

/// The entries of `A` between two nodes, `row` not before `column`; of a node with itself, those of the lower triangle.
#[derive(Clone, Debug)]
pub(super) struct ABlock {
    pub row: usize,
    pub column: usize,
    pub entries: Range<usize>,
}

/// Velocities next to each other that meet the same others in `H`, all constraints pushing, are one node.
#[derive(Clone, Debug, Default)]
pub(super) struct Nodes {
    /// The first velocity of each node, and the end of the last.
    first: Vec<usize>,
    /// The node of every velocity.
    of: Vec<usize>,
    pub blocks: Vec<ABlock>,
    pub entries: Vec<Entry>,
    /// The nodes that each patch of `J` touches, ascending: where they start in `touched`.
    starts: Vec<usize>,
    touched: Vec<usize>,
}

impl Nodes {
    pub fn new(lower: &SparseMatrix, jacobian: &Jacobian) -> Nodes {
        let mut nodes = Nodes::default();
        nodes.group(lower, jacobian);
        nodes.gather_blocks(lower);
        nodes.starts.push(0);
        for patch in jacobian.patches() {
            let start = nodes.touched.len();
            for column in jacobian.columns(patch) {
                let node = nodes.of[*column];
                if nodes.touched.len() == start || nodes.touched.last() != Some(&node) {
                    nodes.touched.push(node);
                }
            }
            nodes.starts.push(nodes.touched.len());
        }
        nodes
    }

    fn group(&mut self, lower: &SparseMatrix, jacobian: &Jacobian) {
        let nv = lower.rows();
        let (mut neighbours, mut patches) = (vec![Vec::new(); nv], vec![Vec::new(); nv]);
        for i in 0..nv {
            for j in lower.row(i).0.iter().map(|j| *j as usize).filter(|j| *j < i) {
                neighbours[i].push(j);
                neighbours[j].push(i);
            }
        }
        for (k, patch) in jacobian.patches().iter().enumerate() {
            jacobian.columns(patch).iter().for_each(|column| patches[*column].push(k));
        }
        // Marks of the velocities that the present one meets, and of those that the one before met.
        let (mut met, mut met_before) = (vec![usize::MAX; nv], vec![usize::MAX; nv]);
        let mut met_count = 0;
        for i in 0..nv {
            let (mut count, mut is_same) = (0, true);
            let others = patches[i].iter().flat_map(|k| jacobian.columns(&jacobian.patches()[*k]));
            for &j in neighbours[i].iter().chain(others).chain([&i]) {
                if met[j] != i {
                    met[j] = i;
                    count += 1;
                    is_same &= i > 0 && met_before[j] == i - 1;
                }
            }
            if !(is_same && count == met_count) {
                self.first.push(i);
            }
            self.of.push(self.first.len() - 1);
            met_count = count;
            std::mem::swap(&mut met, &mut met_before);
        }
        self.first.push(nv);
    }

    fn gather_blocks(&mut self, lower: &SparseMatrix) {
        let mut places = Vec::new();
        for i in 0..lower.rows() {
            let (columns, values) = lower.row(i);
            for (&j, &value) in columns.iter().zip(values) {
                let (row, column) = (self.of[i], self.of[j as usize]);
                let entry = Entry { row: (i - self.first[row]) as u32, column: j - self.first[column] as u32, value };
                places.push(((row, column), entry));
            }
        }
        places.sort_by_key(|(place, _)| *place);
        for (k, ((row, column), entry)) in places.into_iter().enumerate() {
            self.entries.push(entry);
            match self.blocks.last_mut() {
                Some(block) if (block.row, block.column) == (row, column) => block.entries.end = k + 1,
                _ => self.blocks.push(ABlock { row, column, entries: k..k + 1 }),
            }
        }
    }

    /// The number of velocities of each node.
    pub fn sizes(&self) -> impl Iterator<Item = usize> {
        self.first.windows(2).map(|pair| pair[1] - pair[0])
    }

    /// The velocities of a node.
    pub fn rows(&self, node: usize) -> Range<usize> {
        self.first[node]..self.first[node + 1]
    }

    /// The nodes that a patch of `J` touches.
    pub fn of_patch(&self, patch: usize) -> &[usize] {
        &self.touched[self.starts[patch]..self.starts[patch + 1]]
    }

    /// Sets a vector to zero at the nodes of a patch.
    pub fn clear(&self, patch: usize, x: &mut [f64]) {
        self.of_patch(patch).iter().for_each(|node| x[self.rows(*node)].fill(0.0));
    }

    /// The runs of ascending columns within one node each, and the node.
    pub fn runs<'a>(&'a self, columns: &'a [usize]) -> impl Iterator<Item = (Range<usize>, usize)> + use<'a> {
        let mut start = 0;
        std::iter::from_fn(move || {
            let node = self.of[*columns.get(start)?];
            let end = self.first[node + 1];
            let len = columns[start..].iter().take_while(|column| **column < end).count();
            let run = start..start + len;
            start = run.end;
            Some((run, node))
        })
    }
}
