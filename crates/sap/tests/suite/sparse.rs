//! The structure of matrices against the schoolbook, and what it refuses.

use crate::common::{self, Problem, dot, norm, random, tower, tree};
use sapwood_sap::{Block, Constraint, Error, LawKind, Sparse, SparseMatrix, Structure};
use support::SplitMix64;

/// `H = A + Jᵀ G J`, row-major.
fn hessian(problem: &Problem, g: &[Block]) -> Vec<f64> {
    let nv = problem.nv;
    let mut h = problem.a.clone();
    let mut row = 0;
    for (constraint, block) in problem.constraints.iter().zip(g) {
        let rows = constraint.rows();
        for i in 0..nv {
            for j in 0..nv {
                let column = |c: usize| std::array::from_fn(|r| if r < rows { problem.j[row + r][c] } else { 0.0 });
                h[i * nv + j] += dot(&column(i) as &[f64; 3], &block.apply(column(j)));
            }
        }
        row += rows;
    }
    h
}

fn blocks(problem: &Problem, rng: &mut SplitMix64) -> Vec<Block> {
    let block = |constraint: &Constraint, rng: &mut SplitMix64| match &constraint.law.kind {
        _ if rng.below(4) == 0 => Block::ZERO,
        LawKind::One => Block::scalar(rng.uniform(0.1, 9.0)),
        LawKind::Cone => {
            constraint.law.evaluate([rng.uniform(-1.0, 1.0), rng.uniform(-1.0, 1.0), -rng.uniform(0.0, 1.0)]).2
        }
        law => unreachable!("{law:?} is not in these problems"),
    };
    problem.constraints.iter().map(|c| block(c, rng)).collect()
}

#[test]
fn agrees_with_full_matrices() {
    let mut rng = SplitMix64(1);
    let problems: Vec<Problem> = (0..40).map(|s| random(s, 40, 12, true)).chain([tower(5, 0.1), tree(1)]).collect();
    for problem in problems {
        let nv = problem.nv;
        let mut sparse = problem.sparse();
        assert_eq!((sparse.nv(), sparse.rows()), (nv, Some(problem.j.len())));

        let x = rng.vector(nv, 1.0);
        let (mut a_x, mut j_x) = (vec![9.0; nv], vec![9.0; problem.j.len()]);
        sparse.products(&x, &mut a_x, &mut j_x);
        assert_near(&a_x, &problem.a_times(&x));
        assert_near(&j_x, &problem.j_times(&x));

        let gamma = rng.vector(problem.j.len(), 1.0);
        let mut out = x.clone();
        sparse.add_transpose(&gamma, &mut out);
        let expected: Vec<f64> = problem.jt_times(&gamma).iter().zip(&x).map(|(a, b)| a + b).collect();
        assert_near(&out, &expected);

        let mut d = vec![0.0; nv];
        sparse.scale(&mut d);
        for i in 0..nv {
            assert!((d[i] * d[i] * problem.a[i * (nv + 1)] - 1.0).abs() < 1e-14);
        }

        let g = blocks(&problem, &mut rng);
        let h = hessian(&problem, &g);
        sparse.factor(&problem.constraints, &g).unwrap();
        let mut solution = vec![0.0; nv];
        sparse.solve(&x, &mut solution);
        // Backward error, relative to ‖H‖ ‖x‖.
        let back: Vec<f64> = (0..nv).map(|i| dot(&h[i * nv..(i + 1) * nv], &solution)).collect();
        let error = norm(&common::difference(&back, &x)) / (norm(&h) * norm(&solution));
        assert!(error < 1e-14, "{error:e}");
    }
}

fn assert_near(a: &[f64], b: &[f64]) {
    let error = norm(&common::difference(a, b));
    assert!(error <= 1e-14 * norm(b).max(1.0), "{error:e}");
}

#[test]
fn only_the_lower_triangle_is_read() {
    let mut sparse = Sparse::new();
    sparse.reset(&SparseMatrix::from_dense("A", 2, 2, &[4.0, 7.0, 1.0, 9.0]).unwrap());
    let (mut a_x, mut x) = ([0.0; 2], [0.0; 2]);
    sparse.products(&[1.0, 2.0], &mut a_x, &mut []);
    assert_eq!(a_x, [6.0, 19.0]);
    sparse.factor(&[], &[]).unwrap();
    sparse.solve(&[6.0, 19.0], &mut x);
    assert!((x[0] - 1.0).abs() < 1e-15 && (x[1] - 2.0).abs() < 1e-15);
}

#[test]
fn refuses_what_does_not_fit_and_stays_as_it_was() {
    let mut sparse = Sparse::new();
    sparse.reset(&SparseMatrix::from_dense("A", 4, 4, &[0.0; 16]).unwrap());
    let refused = |result: Result<(), Error>, name: &str| match result {
        Err(Error::Value { argument, .. }) => assert_eq!(argument, name),
        other => panic!("{other:?}"),
    };
    refused(sparse.push_jacobian(&[], &[]), "columns");
    refused(sparse.push_jacobian(&[1, 1], &[0.0; 2]), "columns");
    refused(sparse.push_jacobian(&[2, 1], &[0.0; 2]), "columns");
    refused(sparse.push_jacobian(&[4], &[0.0]), "columns");
    refused(sparse.push_jacobian(&[0, 1], &[0.0; 3]), "values");
    refused(sparse.push_jacobian(&[0, 1], &[0.0; 4]), "values");
    assert_eq!(sparse.rows(), Some(0));
    sparse.push_jacobian(&[0, 3], &[0.0; 6]).unwrap();
    sparse.push_jacobian(&[0, 3], &[0.0; 2]).unwrap();
    assert_eq!(sparse.rows(), Some(4));
}

#[test]
fn not_positive_definite_names_the_row() {
    let mut sparse = Sparse::new();
    sparse.reset(&SparseMatrix::from_dense("A", 3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 2.0, 0.0, 2.0, 1.0]).unwrap());
    assert_eq!(sparse.factor(&[], &[]).unwrap_err().row, 2);
}

/// Large matrices: one without zeros, and a tower's.
#[test]
fn large_matrices() {
    let mut rng = SplitMix64(3);
    let mut full = Problem::new(210, vec![210]);
    for i in 0..210 {
        for j in 0..=i {
            let value = if i == j { 20.0 } else { rng.uniform(-1.0, 1.0) };
            full.a[i * 210 + j] = value;
            full.a[j * 210 + i] = value;
        }
    }
    full.j = vec![rng.vector(210, 1.0), rng.vector(210, 1.0)];
    full.constraints = vec![sapwood_sap::Law::limit(1.0, 0.0).into(); 2];
    for problem in [full, tower(40, 0.1)] {
        let g = blocks(&problem, &mut rng);
        let h = hessian(&problem, &g);
        let mut sparse = problem.sparse();
        let b = rng.vector(problem.nv, 1.0);
        let mut x = vec![0.0; problem.nv];
        for _ in 0..2 {
            sparse.factor(&problem.constraints, &g).unwrap();
            sparse.solve(&b, &mut x);
            let back: Vec<f64> = (0..problem.nv).map(|i| dot(&h[i * problem.nv..(i + 1) * problem.nv], &x)).collect();
            let error = norm(&common::difference(&back, &b)) / (norm(&h) * norm(&x));
            assert!(error < 1e-14, "{error:e}");
        }
    }
}
