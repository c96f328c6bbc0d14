/// An undirected graph in a normal form: of every node its neighbours, ascending, each once.
///
/// Two sets of edges are the same exactly if their graphs are equal, in whatever order and however often they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Graph {
    /// Where the neighbours of each node start, and where the last ones end.
    start: Vec<usize>,
    neighbours: Vec<usize>,
}

impl Graph {
    /// Makes this the graph of `edges` between `n` nodes. Edges from a node to itself are left out.
    pub fn rebuild(&mut self, n: usize, edges: &[(usize, usize)]) {
        let Graph { start, neighbours } = self;
        let edges = || edges.iter().filter(|(a, b)| a != b);
        // Counted one place further on than where they start, so that filling moves each start to its place.
        start.clear();
        start.resize(n + 2, 0);
        for &(a, b) in edges() {
            start[a + 2] += 1;
            start[b + 2] += 1;
        }
        for node in 2..n + 2 {
            start[node] += start[node - 1];
        }
        neighbours.clear();
        neighbours.resize(start[n + 1], 0);
        for &(a, b) in edges() {
            for (a, b) in [(a, b), (b, a)] {
                neighbours[start[a + 1]] = b;
                start[a + 1] += 1;
            }
        }
        start.truncate(n + 1);
        self.normalize();
    }

    /// Sorts each node's neighbours and closes the gaps that repeated ones leave.
    fn normalize(&mut self) {
        let Graph { start, neighbours } = self;
        let mut kept = 0;
        let mut first = 0;
        for node in 0..start.len() - 1 {
            let end = start[node + 1];
            neighbours[first..end].sort_unstable();
            start[node] = kept;
            for k in first..end {
                let neighbour = neighbours[k];
                if kept == start[node] || neighbours[kept - 1] != neighbour {
                    neighbours[kept] = neighbour;
                    kept += 1;
                }
            }
            first = end;
        }
        *start.last_mut().unwrap_or(&mut first) = kept;
        neighbours.truncate(kept);
    }

    /// The number of nodes.
    pub fn len(&self) -> usize {
        self.start.len().saturating_sub(1)
    }

    /// The neighbours of `node`, ascending.
    pub fn neighbours(&self, node: usize) -> &[usize] {
        &self.neighbours[self.start[node]..self.start[node + 1]]
    }
}
