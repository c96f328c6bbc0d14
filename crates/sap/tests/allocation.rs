//! A solve allocates nothing once its memory has the size.

mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{tower, tree};
use counting_allocator::allocations;
use sapwood_sap::{BlockCholesky, Dense, FrictionLaw, Options, Workspace, solve};
use support::SplitMix64;

/// Refills the structure with `J` and `A` kept outside, as a simulation does in every step, and solves.
#[test]
fn nothing_is_allocated_after_warm_up() {
    let piled = tower(12, 1.0).lagged(|_| 0.01);
    let problems = [tower(8, 0.5), tree(0), tower(3, 0.1), piled];
    let prepared: Vec<_> = problems
        .iter()
        .map(|problem| {
            let mut ranges = vec![];
            for &size in &problem.blocks {
                let start = ranges.last().map_or(0, |range: &std::ops::Range<usize>| range.end);
                ranges.push(start..start + size);
            }
            let jacobians: Vec<(Vec<u32>, Vec<f64>)> = (0..problem.constraints.len())
                .map(|k| {
                    let rows = &problem.j[3 * k..3 * k + 3];
                    let columns: Vec<u32> =
                        (0..problem.nv).filter(|&i| rows.iter().any(|r| r[i] != 0.0)).map(|i| i as u32).collect();
                    let values = rows.iter().flat_map(|r| columns.iter().map(|&i| r[i as usize])).collect();
                    (columns, values)
                })
                .collect();
            (problem, ranges, jacobians)
        })
        .collect();
    let (mut dense, mut ws, mut v) = (Dense::new(), Workspace::new(), vec![0.0; 72]);
    let mut pass = |friction| {
        let options = Options { friction, ..Options::default() };
        let mut iterations = 0;
        for (problem, ranges, jacobians) in &prepared {
            dense.reset(problem.nv);
            dense.set_blocks(ranges).unwrap();
            for (b, range) in ranges.iter().enumerate() {
                let values = dense.a_block_mut(b);
                for (c, j) in range.clone().enumerate() {
                    for (r, i) in range.clone().enumerate() {
                        values[c * range.len() + r] = problem.a[i * problem.nv + j];
                    }
                }
            }
            for (columns, values) in jacobians {
                dense.push_jacobian(columns, values).unwrap();
            }
            let v = &mut v[..problem.nv];
            v.fill(0.0);
            let report = solve(&mut dense, &problem.constraints, &problem.v_star, v, &options, &mut ws).unwrap();
            iterations += report.iterations;
        }
        iterations
    };
    let warm_up = pass(FrictionLaw::Coulomb);
    let before = allocations();
    let again = pass(FrictionLaw::Coulomb);
    let other = pass(FrictionLaw::Lagged);
    assert_eq!(allocations() - before, 0);
    assert_eq!(warm_up, again);
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
            h.solve(&b, &mut x);
            assert!(x[..sizes.iter().sum()].iter().all(|&x| x == 1.0));
        }
    };
    pass();
    let before = allocations();
    pass();
    assert_eq!(allocations() - before, 0);
}
