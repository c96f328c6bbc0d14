//! A solve allocates nothing once its memory has the size.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{Problem, tower, tree};
use counting_allocator::allocations;
use sapwood_sap::{BlockCholesky, FrictionLaw, Options, Workspace, solve};
use support::SplitMix64;

/// Solves problems by turns, each from the state of a first solve.
#[test]
fn nothing_is_allocated_after_warm_up() {
    let piled = tower(12, 1.0).lagged(|_| 0.01);
    let problems = [tower(8, 0.5), tree(0), tower(3, 0.1), piled];
    let (mut structures, mut ws, mut v) = (problems.each_ref().map(Problem::sparse), Workspace::new(), vec![0.0; 72]);
    let mut pass = |friction| {
        let options = Options { friction, ..Options::default() };
        let mut iterations = 0;
        for (problem, sparse) in problems.iter().zip(&mut structures) {
            sparse.forget();
            let v = &mut v[..problem.nv];
            v.fill(0.0);
            let report = solve(sparse, &problem.constraints, &problem.v_star, v, &options, &mut ws).unwrap();
            iterations += report.iterations;
        }
        iterations
    };
    let [warm_up, other] = [FrictionLaw::Coulomb, FrictionLaw::Lagged].map(&mut pass);
    let before = allocations();
    let again = [FrictionLaw::Coulomb, FrictionLaw::Lagged].map(&mut pass);
    assert_eq!(allocations() - before, 0);
    assert_eq!([warm_up, other], again);
    assert!(other > 3, "the problems were really solved");
}

/// Patterns that come and go, each analysed anew.
#[test]
fn a_block_cholesky_allocates_nothing_after_warm_up() {
    let mut rng = SplitMix64(1);
    let mut pattern = || {
        let nodes = 2 + rng.below(40);
        let sizes: Vec<usize> = (0..nodes).map(|_| 1 + rng.below(12)).collect();
        let edges: Vec<_> = (0..rng.below(3 * nodes)).map(|_| (rng.below(nodes), rng.below(nodes))).collect();
        (sizes, edges)
    };
    let patterns: Vec<_> = (0..20).map(|_| pattern()).collect();
    let mut h = BlockCholesky::new();
    let (b, mut x) = (vec![4.0; 41 * 12], vec![0.0; 41 * 12]);
    let mut pass = || {
        for (sizes, edges) in &patterns {
            h.begin(sizes.iter().copied());
            edges.iter().for_each(|&(i, j)| h.couple(i, j));
            h.analyze();
            for i in 0..sizes.len() {
                let block = h.block_mut(i, i);
                block.values.iter_mut().step_by(block.stride + 1).for_each(|diagonal| *diagonal = 4.0);
            }
            h.factor().unwrap();
            let rows = sizes.iter().sum();
            h.solve(&b[..rows], &mut x[..rows]);
            assert!(x[..rows].iter().all(|&x| x == 1.0));
        }
    };
    pass();
    let before = allocations();
    pass();
    assert_eq!(allocations() - before, 0);
}
