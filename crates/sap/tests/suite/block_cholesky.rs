//! The block Cholesky factorisation against the schoolbook, on random matrices over random graphs.

use sapwood_sap::BlockCholesky;
use support::SplitMix64;

/// A symmetric positive definite matrix of blocks: row-major, the caller's order.
struct Matrix {
    sizes: Vec<usize>,
    edges: Vec<(usize, usize)>,
    n: usize,
    entries: Vec<f64>,
}

impl Matrix {
    /// Random blocks over `edges`, the diagonal larger than the rest of its row.
    fn random(rng: &mut SplitMix64, sizes: Vec<usize>, edges: Vec<(usize, usize)>) -> Matrix {
        let n = sizes.iter().sum();
        let mut matrix = Matrix { sizes, edges, n, entries: vec![0.0; n * n] };
        let nodes = matrix.sizes.len();
        for (i, j) in (0..nodes).map(|i| (i, i)).chain(matrix.edges.clone()) {
            for row in matrix.rows(i) {
                for column in matrix.rows(j) {
                    let value = rng.uniform(-1.0, 1.0);
                    matrix.entries[row * n + column] = value;
                    matrix.entries[column * n + row] = value;
                }
            }
        }
        for row in 0..n {
            let sum: f64 = matrix.entries[row * n..(row + 1) * n].iter().map(|x| x.abs()).sum();
            matrix.entries[row * (n + 1)] = sum * rng.uniform(1.0, 1.1);
        }
        matrix
    }

    fn rows(&self, node: usize) -> std::ops::Range<usize> {
        let start = self.sizes[..node].iter().sum();
        start..start + self.sizes[node]
    }

    /// Couples and fills `cholesky`. What is there already is a sign that it was not zero.
    fn fill(&self, cholesky: &mut BlockCholesky, rng: &mut SplitMix64) {
        cholesky.begin(self.sizes.iter().copied());
        let mut edges = self.edges.clone();
        for k in (1..edges.len()).rev() {
            edges.swap(k, rng.below(k + 1));
        }
        for &(i, j) in &edges {
            if rng.below(2) == 0 { cholesky.couple(i, j) } else { cholesky.couple(j, i) }
        }
        cholesky.analyze();
        self.add(cholesky);
    }

    fn add(&self, cholesky: &mut BlockCholesky) {
        for (i, j) in (0..self.sizes.len()).map(|i| (i, i)).chain(self.edges.iter().copied()) {
            let block = cholesky.block_mut(i, j);
            assert!((block.row, block.column) == (i, j) || (block.row, block.column) == (j, i));
            let (rows, columns) = (self.rows(block.row), self.rows(block.column));
            for (c, column) in columns.enumerate() {
                for (r, row) in rows.clone().enumerate() {
                    if i != j || row >= column {
                        block.values[c * block.stride + r] += self.entries[row * self.n + column];
                    }
                }
            }
        }
    }

    /// `H⁻¹ b` by the schoolbook.
    fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut l = self.entries.clone();
        let mut x = b.to_vec();
        for i in 0..n {
            for j in 0..=i {
                let sum = l[i * n + j] - (0..j).map(|k| l[i * n + k] * l[j * n + k]).sum::<f64>();
                l[i * n + j] = if i == j { sum.sqrt() } else { sum / l[j * n + j] };
            }
            x[i] = (x[i] - (0..i).map(|k| l[i * n + k] * x[k]).sum::<f64>()) / l[i * n + i];
        }
        for i in (0..n).rev() {
            x[i] = (x[i] - (i + 1..n).map(|k| l[k * n + i] * x[k]).sum::<f64>()) / l[i * n + i];
        }
        x
    }

    fn check(&self, cholesky: &mut BlockCholesky, rng: &mut SplitMix64) {
        cholesky.factor().unwrap();
        let b = rng.vector(self.n, 1.0);
        let mut x = vec![f64::NAN; self.n];
        cholesky.solve(&b, &mut x);
        let expected = self.solve(&b);
        let error: f64 = x.iter().zip(&expected).map(|(x, y)| (x - y) * (x - y)).sum();
        let size: f64 = expected.iter().map(|y| y * y).sum();
        assert!(error.sqrt() <= 1e-11 * size.sqrt(), "{} {}: off by {error:e}", self.n, self.edges.len());
    }
}

fn random_sizes(rng: &mut SplitMix64, nodes: usize) -> Vec<usize> {
    let largest = [6, 1, 3, 40][rng.below(4)];
    let alike = rng.below(2) == 0;
    (0..nodes).map(|_| if alike { largest } else { 1 + rng.below(largest) }).collect()
}

/// Chains, stars, complete and random graphs, of one part or several; some edges twice.
fn random_edges(rng: &mut SplitMix64, nodes: usize) -> Vec<(usize, usize)> {
    let mut edges = vec![];
    match rng.below(6) {
        0 => {}
        1 => edges.extend((1..nodes).map(|i| (i - 1, i))),
        2 => {
            let hub = rng.below(nodes);
            edges.extend((0..nodes).filter(|&i| i != hub).map(|i| (i, hub)));
        }
        3 => edges.extend((0..nodes).flat_map(|i| (0..i).map(move |j| (i, j)))),
        4 => {
            // A grid.
            let width = 1 + rng.below(5);
            for i in 0..nodes {
                if i % width != 0 {
                    edges.push((i - 1, i));
                }
                if i >= width {
                    edges.push((i - width, i));
                }
            }
        }
        _ => {
            for _ in 0..rng.below(3 * nodes) {
                let (i, j) = (rng.below(nodes), rng.below(nodes));
                if i != j && !edges.contains(&(i, j)) && !edges.contains(&(j, i)) {
                    edges.push((i, j));
                }
            }
        }
    }
    edges
}

#[test]
fn agrees_with_the_schoolbook() {
    let mut rng = SplitMix64(1);
    // One matrix after the other in the same memory.
    let mut cholesky = BlockCholesky::new();
    for _ in 0..600 {
        let nodes = 1 + rng.below(16);
        let sizes = random_sizes(&mut rng, nodes);
        let edges = random_edges(&mut rng, nodes);
        let matrix = Matrix::random(&mut rng, sizes, edges);
        matrix.fill(&mut cholesky, &mut rng);
        matrix.check(&mut cholesky, &mut rng);
    }
}

/// Adds outer products that spoil the symmetry, within nodes and between coupled ones, of entries up to `size`.
fn spoil_symmetry(matrix: &mut Matrix, cholesky: &mut BlockCholesky, size: f64, rng: &mut SplitMix64) {
    let (n, nodes) = (matrix.n, matrix.sizes.len());
    cholesky.make_unsymmetric();
    for _ in 0..2 * nodes {
        let (i, j) = match rng.below(2) {
            0 if !matrix.edges.is_empty() => matrix.edges[rng.below(matrix.edges.len())],
            _ => (rng.below(nodes), usize::MAX),
        };
        let (i, j) = if j == usize::MAX {
            (i, i)
        } else if rng.below(2) == 0 {
            (i, j)
        } else {
            (j, i)
        };
        let (rows, columns) = (matrix.rows(i), matrix.rows(j));
        let (c, r) = (rng.vector(rows.len(), size), rng.vector(columns.len(), size));
        cholesky.add_outer_product(i, &c, j, &r);
        for (row, c) in rows.zip(&c) {
            for (column, r) in columns.clone().zip(&r) {
                matrix.entries[row * n + column] += c * r;
            }
        }
    }
}

/// The factors solve what was put together.
#[test]
fn unsymmetric_matrices_are_solved() {
    let mut rng = SplitMix64(6);
    let mut cholesky = BlockCholesky::new();
    for _ in 0..600 {
        let nodes = 1 + rng.below(16);
        let sizes = random_sizes(&mut rng, nodes);
        let edges = random_edges(&mut rng, nodes);
        let mut matrix = Matrix::random(&mut rng, sizes, edges);
        let n = matrix.n;
        matrix.fill(&mut cholesky, &mut rng);
        spoil_symmetry(&mut matrix, &mut cholesky, 0.5, &mut rng);
        cholesky.factor_unsymmetric().unwrap();
        let expected = rng.vector(n, 1.0);
        let row = |i: usize| &matrix.entries[i * n..(i + 1) * n];
        let b: Vec<f64> = (0..n).map(|i| row(i).iter().zip(&expected).map(|(a, x)| a * x).sum()).collect();
        let mut x = vec![f64::NAN; n];
        cholesky.solve_unsymmetric(&b, &mut x);
        let error = x.iter().zip(&expected).fold(0.0, |m, (x, e)| f64::max(m, (x - e).abs()));
        assert!(error <= 1e-10, "{n}: off by {error:e}");
    }
}

/// Two boxes' worth of rows next to two long chains: panels that are cut, tiles of every width.
#[test]
fn wide_and_large_matrices() {
    let mut rng = SplitMix64(2);
    let mut cholesky = BlockCholesky::new();
    for (nodes, size) in [(2, 34), (3, 67), (1, 195), (40, 6), (90, 6), (300, 1), (5, 41)] {
        for all in [true, false] {
            let edges = (0..nodes).flat_map(|i| (0..i).map(move |j| (i, j)));
            let edges = edges.filter(|_| all || rng.below(nodes) < 5).collect();
            let matrix = Matrix::random(&mut rng, vec![size; nodes], edges);
            matrix.fill(&mut cholesky, &mut rng);
            matrix.check(&mut cholesky, &mut rng);
        }
    }
}

/// What was found for one graph is right for it again after others, and the same bits come out however the edges are named.
#[test]
fn results_do_not_depend_on_the_past() {
    let mut rng = SplitMix64(3);
    let matrices: Vec<Matrix> = (0..8)
        .map(|_| {
            let sizes = random_sizes(&mut rng, 20);
            let edges = random_edges(&mut rng, 20);
            Matrix::random(&mut rng, sizes, edges)
        })
        .collect();
    let mut reused = BlockCholesky::new();
    for _ in 0..100 {
        let matrix = &matrices[rng.below(matrices.len())];
        let b = rng.vector(matrix.n, 1.0);
        let mut solutions = [vec![0.0; matrix.n], vec![0.0; matrix.n]];
        for (cholesky, x) in [&mut reused, &mut BlockCholesky::new()].into_iter().zip(&mut solutions) {
            matrix.fill(cholesky, &mut rng);
            cholesky.factor().unwrap();
            cholesky.solve(&b, x);
        }
        assert_eq!(solutions[0], solutions[1]);
    }
}

#[test]
fn names_the_row_that_is_not_positive() {
    let mut rng = SplitMix64(4);
    let mut cholesky = BlockCholesky::new();
    for _ in 0..200 {
        let nodes = 1 + rng.below(12);
        let sizes = random_sizes(&mut rng, nodes);
        let edges = random_edges(&mut rng, nodes);
        let mut matrix = Matrix::random(&mut rng, sizes, edges);
        let row = rng.below(matrix.n);
        matrix.entries[row * (matrix.n + 1)] = [-1.0, f64::NAN, 0.0][rng.below(3)] * 1e3;
        if matrix.entries[row * (matrix.n + 1)] == 0.0 {
            // Zero with something beside it would still be found at this row; alone it is the plainest case.
            for i in (0..matrix.n).filter(|&i| i != row) {
                matrix.entries[row * matrix.n + i] = 0.0;
                matrix.entries[i * matrix.n + row] = 0.0;
            }
        }
        matrix.fill(&mut cholesky, &mut rng);
        assert_eq!(cholesky.factor().unwrap_err().row, row);
    }
}

#[test]
fn nodes_without_rows_and_no_nodes() {
    let mut cholesky = BlockCholesky::new();
    cholesky.begin([]);
    cholesky.analyze();
    cholesky.factor().unwrap();
    cholesky.solve(&[], &mut []);

    let mut rng = SplitMix64(5);
    let edges = vec![(0, 1), (1, 2), (1, 3), (3, 4), (2, 4)];
    let matrix = Matrix::random(&mut rng, vec![0, 3, 2, 0, 6], edges);
    matrix.fill(&mut cholesky, &mut rng);
    matrix.check(&mut cholesky, &mut rng);
}

#[test]
#[should_panic(expected = "not coupled")]
fn blocks_of_what_is_not_coupled_are_refused() {
    let mut cholesky = BlockCholesky::new();
    cholesky.begin([6, 6]);
    cholesky.analyze();
    cholesky.block_mut(0, 1);
}
