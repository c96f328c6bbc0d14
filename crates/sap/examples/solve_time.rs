//! Times a whole solve and its parts with the structure of matrices: `cargo run --release -p sapwood-sap --example solve_time`.

#[path = "../tests/suite/common/mod.rs"]
mod common;

use std::hint::black_box;
use std::time::Instant;

use common::{Problem, tower, tree};
use sapwood_sap::{Block, Options, Sparse, Structure, Workspace, solve};

/// The least mean time of a call, µs, over batches of some 50 µs: short enough to fit between other programs' turns.
fn time(mut f: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let mut batch = 1;
    for _ in 0..2000 {
        let start = Instant::now();
        for _ in 0..batch {
            f();
        }
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / batch as f64);
        batch = ((50.0 / best) as usize).max(1);
    }
    best
}

fn report(name: &str, problem: &Problem, guess: &[f64]) {
    let mut sparse = problem.sparse();
    let mut ws = Workspace::new();
    let mut v = guess.to_vec();
    for tolerance in [1e-6, 1e-10] {
        let options = Options { tolerance, ..Options::default() };
        let mut run = || {
            v.copy_from_slice(guess);
            solve(&mut sparse, &problem.constraints, &problem.v_star, &mut v, &options, &mut ws).unwrap()
        };
        let result = run();
        let micros = time(|| {
            black_box(run());
        });
        println!(
            "{name:24} tolerance {tolerance:e}: {micros:7.2} µs, {} iterations, {} evaluations, residual {:.1e}",
            result.iterations, result.line_search_evaluations, result.residual
        );
    }
    parts(problem, &mut sparse, &ws, &v);
}

fn parts(problem: &Problem, sparse: &mut Sparse, ws: &Workspace, v: &[f64]) {
    let nv = problem.nv;
    let (mut a_x, mut x) = (vec![0.0; nv], vec![0.0; nv]);
    let mut j_x = vec![0.0; problem.j.len()];
    let mut gamma = j_x.clone();
    let mut g = Block::ZERO;
    let active = ws.hessian().iter().filter(|g| g.is_active()).count();
    let fill = time(|| problem_fill(sparse, problem));
    let products = time(|| sparse.products(black_box(v), &mut a_x, &mut j_x));
    let transpose = time(|| sparse.add_transpose(black_box(ws.impulses()), &mut a_x));
    let constraints = time(|| {
        let mut row = 0;
        for constraint in &problem.constraints {
            let end = row + constraint.rows();
            black_box(constraint.evaluate(&ws.velocities()[row..end], &mut gamma[row..end], &mut g));
            row = end;
        }
    });
    let factor = time(|| sparse.factor(&problem.constraints, ws.hessian()).unwrap());
    let inactive = vec![Block::ZERO; problem.constraints.len()];
    let factor_a = time(|| sparse.factor(&problem.constraints, &inactive).unwrap());
    let substitute = time(|| sparse.solve(black_box(v), &mut x));
    println!(
        "{:24} fill (allocating) {fill:.2}, products {products:.2}, Jᵀγ {transpose:.2}, constraints {constraints:.2}, \
         factor {factor:.2} (without JᵀGJ {factor_a:.2}), substitution {substitute:.2} µs; {active} active",
        ""
    );
}

fn problem_fill(sparse: &mut Sparse, problem: &Problem) {
    problem.fill(sparse);
}

fn main() {
    let rest = |problem: &Problem| vec![0.0; problem.nv];
    let still = tower(10, 0.0);
    report("tower 10, at rest", &still, &rest(&still));
    let hit = tower(10, 1.0);
    report("tower 10, hit", &hit, &rest(&hit));
    let small = tower(4, 0.1);
    report("tower 4, hit", &small, &rest(&small));
    for seed in 0..3 {
        let thrown = tree(seed);
        report(&format!("tree 23, seed {seed}"), &thrown, &thrown.v_star);
    }
}
