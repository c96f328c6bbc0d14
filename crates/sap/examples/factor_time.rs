//! Times sparse Cholesky factorisations of the matrices that scenes make:
//! `cargo run --release -p sapwood-sap --example factor_time [part of a name]`.
//!
//! The block factorisation and faer's sparse supernodal one factor the same matrices and solve with them once,
//! the symbolic phase done before. faer is timed twice: as it comes, its own order and all, and on a matrix already in that
//! order, whose values it need not move. It picks the widest vectors the processor has at run time.

use std::time::Instant;

use faer::Par;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{CholeskySymbolicParams, SymmetricOrdering, factorize_symbolic_cholesky};
use faer::sparse::{SparseColMat, SymbolicSparseColMat};
use faer::{Conj, MatMut, Side};
use sapwood_sap::BlockCholesky;
use support::SplitMix64;

/// The least mean time of a call, µs.
fn time(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let mut batch = 1;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 0.7 {
        let start = Instant::now();
        for _ in 0..batch {
            f();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / batch as f64);
        batch = ((100.0 / best) as usize).max(1);
    }
    best
}

/// Blocks over a graph, positive definite.
struct Matrix {
    sizes: Vec<usize>,
    first: Vec<usize>,
    edges: Vec<(usize, usize)>,
    /// Column-major, of the nodes first and then of the edges, whose rows are those of the second node.
    blocks: Vec<Vec<f64>>,
    n: usize,
}

impl Matrix {
    fn random(sizes: Vec<usize>, mut edges: Vec<(usize, usize)>) -> Matrix {
        edges.iter_mut().for_each(|(i, j)| (*i, *j) = (*i.min(j), *i.max(j)));
        let mut rng = SplitMix64(7);
        let nodes = sizes.len();
        let first: Vec<usize> = (0..nodes).map(|i| sizes[..i].iter().sum()).collect();
        let n = sizes.iter().sum();
        let blocks = (0..nodes).map(|i| (i, i)).chain(edges.clone()).map(|(i, j)| {
            let mut block = rng.vector(sizes[i] * sizes[j], 1.0);
            if i == j {
                (0..sizes[i]).for_each(|k| block[k * (sizes[i] + 1)] += 30.0 * sizes[i] as f64);
            }
            block
        });
        Matrix { blocks: blocks.collect(), sizes, first, edges, n }
    }

    /// The nodes of all blocks.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> {
        (0..self.sizes.len()).map(|i| (i, i)).chain(self.edges.iter().copied())
    }

    fn begin(&self, h: &mut BlockCholesky) {
        h.begin(self.sizes.iter().copied());
        for &(i, j) in &self.edges {
            h.couple(i, j);
        }
        h.analyze();
    }

    fn fill(&self, h: &mut BlockCholesky) {
        self.begin(h);
        for ((i, j), values) in self.pairs().zip(&self.blocks) {
            let block = h.block_mut(i, j);
            let rows = self.sizes[j];
            for (c, column) in values.chunks(rows).enumerate() {
                if block.row == j {
                    for (r, value) in column.iter().enumerate() {
                        block.values[c * block.stride + r] += value;
                    }
                } else {
                    for (r, value) in column.iter().enumerate() {
                        block.values[r * block.stride + c] += value;
                    }
                }
            }
        }
    }

    /// One triangle of the matrix with its rows moved to `position`, by columns.
    fn triangle(&self, position: &[usize], upper: bool) -> SparseColMat<usize, f64> {
        let mut columns = vec![vec![]; self.n];
        for ((i, j), block) in self.pairs().zip(&self.blocks) {
            for (c, column) in block.chunks(self.sizes[j]).enumerate() {
                for (r, &value) in column.iter().enumerate().skip(if i == j { c } else { 0 }) {
                    let (a, b) = (position[self.first[i] + c], position[self.first[j] + r]);
                    let (column, row) = if upper == (a < b) { (b, a) } else { (a, b) };
                    columns[column].push((row, value));
                }
            }
        }
        let (mut starts, mut rows, mut values) = (vec![0], vec![], vec![]);
        for mut column in columns {
            column.sort_unstable_by_key(|&(row, _)| row);
            rows.extend(column.iter().map(|&(row, _)| row));
            values.extend(column.iter().map(|&(_, value)| value));
            starts.push(rows.len());
        }
        SparseColMat::new(SymbolicSparseColMat::new_checked(self.n, self.n, starts, None, rows), values)
    }
}

/// Symbolic time, and numeric time of factor and solution, µs; with the solution.
type Times = (f64, f64, Vec<f64>);

fn time_block(matrix: &Matrix, b: &[f64]) -> Times {
    let mut h = BlockCholesky::new();
    let mut x = b.to_vec();
    // Two graphs by turns, so that neither is the one before.
    let mut other = false;
    let with_analysis = time(|| {
        if std::mem::replace(&mut other, true) {
            h.begin([]);
            h.analyze();
        }
        matrix.begin(&mut h);
    });
    let begin = time(|| matrix.begin(&mut h));
    let fill = time(|| matrix.fill(&mut h));
    let all = time(|| {
        matrix.fill(&mut h);
        h.factor().unwrap();
        h.solve(b, &mut x);
    });
    let solve = time(|| h.solve(b, &mut x));
    println!("{:20} block: start {begin:.1}, fill {:.1}, substitution {solve:.1} µs", "", fill - begin);
    (with_analysis - begin, all - fill, x)
}

fn time_faer(matrix: &Matrix, b: &[f64], ordered: bool) -> Times {
    let n = matrix.n;
    let params = || CholeskySymbolicParams {
        supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
        ..Default::default()
    };
    let identity: Vec<usize> = (0..n).collect();
    let mut upper = matrix.triangle(&identity, true);
    let analyze = |upper: &SparseColMat<usize, f64>, order| {
        factorize_symbolic_cholesky(upper.symbolic(), Side::Upper, order, params()).unwrap()
    };
    let mut symbolic = analyze(&upper, SymmetricOrdering::Amd);
    let mut position = identity;
    if ordered {
        position = symbolic.perm().unwrap().arrays().1.to_vec();
        upper = matrix.triangle(&position, true);
        symbolic = analyze(&upper, SymmetricOrdering::Identity);
    }
    let analysis = time(|| {
        let order = if ordered { SymmetricOrdering::Identity } else { SymmetricOrdering::Amd };
        std::hint::black_box(analyze(&upper, order));
    });
    let (a, side) = if ordered { (matrix.triangle(&position, false), Side::Lower) } else { (upper, Side::Upper) };
    let factor_scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
    let mut memory = MemBuffer::new(factor_scratch.or(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq)));
    let mut l = vec![0.0; symbolic.len_val()];
    let mut permuted = vec![0.0; n];
    for (i, b) in b.iter().enumerate() {
        permuted[position[i]] = *b;
    }
    let mut x = permuted.clone();
    let numeric = time(|| {
        let stack = MemStack::new(&mut memory);
        let regularization = LltRegularization::default();
        let factor = symbolic
            .factorize_numeric_llt(&mut l, a.as_ref(), side, regularization, Par::Seq, stack, Default::default())
            .unwrap();
        x.copy_from_slice(&permuted);
        let x = MatMut::from_column_major_slice_mut(&mut x, n, 1);
        factor.solve_in_place_with_conj(Conj::No, x, Par::Seq, stack);
    });
    (analysis, numeric, position.iter().map(|&i| x[i]).collect())
}

fn report(name: &str, matrix: &Matrix) {
    let b = SplitMix64(3).vector(matrix.n, 1.0);
    let (symbolic, block, x) = time_block(matrix, &b);
    let others = [("faer", time_faer(matrix, &b, false)), ("faer ordered", time_faer(matrix, &b, true))];
    println!("{name:20} {:13} symbolic {symbolic:8.1} µs, factor and solve {block:8.1} µs", "block");
    for (label, (symbolic, numeric, other)) in others {
        let difference = x.iter().zip(&other).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
        assert!(difference < 1e-10, "{label} differs by {difference}");
        println!(
            "{:20} {label:13} symbolic {symbolic:8.1} µs, factor and solve {numeric:8.1} µs: {:.2} × block",
            "",
            numeric / block
        );
    }
}

/// Bodies scattered over a cube, each coupled to those within `reach` of the mean distance.
fn pile(side: usize, reach: f64) -> Matrix {
    let mut rng = SplitMix64(side as u64);
    let points: Vec<[f64; 3]> = (0..side.pow(3))
        .map(|i| [i % side, i / side % side, i / side / side].map(|x| x as f64 + rng.uniform(-0.4, 0.4)))
        .collect();
    let near = |a: &[f64; 3], b: &[f64; 3]| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>() < reach * reach;
    let edges: Vec<(usize, usize)> = (0..points.len())
        .flat_map(|i| (0..i).map(move |j| (j, i)))
        .filter(|&(i, j)| near(&points[i], &points[j]))
        .collect();
    println!("{} bodies, {:.1} neighbours each", points.len(), 2.0 * edges.len() as f64 / points.len() as f64);
    Matrix::random(vec![6; points.len()], edges)
}

fn chain(bodies: usize) -> Matrix {
    Matrix::random(vec![6; bodies], (1..bodies).map(|i| (i - 1, i)).collect())
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    let run = |name: &str, matrix: &dyn Fn() -> Matrix| {
        if name.contains(&wanted) {
            report(name, &matrix());
        }
    };
    run("pile 27", &|| pile(3, 1.15));
    run("pile 64", &|| pile(4, 1.15));
    run("pile 125", &|| pile(5, 1.15));
    run("pile 125, dense", &|| pile(5, 1.8));
    run("pile 1000", &|| pile(10, 1.15));
    run("tower 50", &|| chain(50));
    run("tower 10", &|| chain(10));
    run("two boxes", &|| chain(2));
    run("two humanoids", &|| Matrix::random(vec![34; 2], vec![(0, 1)]));
    run("humanoid, 8 boxes", &|| Matrix::random([vec![34], vec![6; 8]].concat(), (0..8).map(|i| (0, i + 1)).collect()));
    run("one humanoid", &|| Matrix::random(vec![34], vec![]));
    run("one box", &|| Matrix::random(vec![6], vec![]));
    run("one snake", &|| Matrix::random(vec![195], vec![]));
}
