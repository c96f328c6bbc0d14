//! Newton's convergence, its termination, and what happens when it cannot go on.

use crate::common::{Problem, difference, random, tower, tree};
use sapwood_sap::{Constraint, Criterion, Error, Law, Options, Report, Sparse, SparseMatrix, Workspace, solve};
use support::SplitMix64;

fn run(problem: &Problem, guess: &[f64], options: &Options) -> (Result<Report, Error>, Vec<f64>, Workspace) {
    let mut ws = Workspace::new();
    let mut v = guess.to_vec();
    let result = solve(&mut problem.sparse(), &problem.constraints, &problem.v_star, &mut v, options, &mut ws);
    (result, v, ws)
}

fn suite() -> Vec<Problem> {
    let mut problems: Vec<Problem> = (1000..1060).map(|seed| random(seed, 40, 20, true)).collect();
    problems.extend((0..20).map(tree));
    problems.extend([tower(1, 0.2), tower(4, 0.0), tower(4, 0.1), tower(10, 0.0), tower(10, 1.0)]);
    problems
}

#[test]
fn momentum_balances_to_the_tolerance_asked_for() {
    let mut by_round_off = 0;
    for (index, problem) in suite().iter().enumerate() {
        for tolerance in [1e-6, 1e-9, 1e-12] {
            let options = Options { tolerance, ..Options::default() };
            let (report, v, ws) = run(problem, &problem.v_star, &options);
            let report = report.unwrap_or_else(|error| panic!("problem {index}, tolerance {tolerance:e}: {error}"));
            // Formed afresh from v and γ; A(v − v*) itself has round-off.
            let residual = problem.residual(&v, ws.impulses());
            let reached = match report.criterion {
                Criterion::Gradient => tolerance,
                _ => problem.residual_round_off(&v, &ws),
            };
            assert!(residual <= reached + 1e-13, "problem {index}, {tolerance:e}: {residual:e}, {report:?}");
            assert!(report.residual <= reached, "problem {index}: {report:?}, {reached:e}");
            by_round_off += usize::from(report.criterion == Criterion::RoundOff);
            assert!(tolerance < 1e-9 || report.criterion == Criterion::Gradient, "problem {index}: {report:?}");
        }
    }
    println!("1e-12 was below round-off in {by_round_off} of {} problems", suite().len());
    assert!(by_round_off <= 5);
}

#[test]
fn quadratic_near_the_solution() {
    let mut observed = 0;
    for problem in suite() {
        // The residual after 0, 1, 2… iterations, by capping them.
        let mut residuals = vec![];
        for max_iterations in 0..100 {
            let options = Options { tolerance: 0.0, absolute_tolerance: 0.0, max_iterations, ..Options::default() };
            match run(&problem, &problem.v_star, &options).0 {
                Err(Error::NotConverged { residual, .. }) => residuals.push(residual),
                Ok(report) => {
                    residuals.push(report.residual);
                    break;
                }
                Err(error) => panic!("{error}"),
            }
        }
        // e → c e²: from 1e-6 to round-off in a few steps, however long the way there was.
        let below = |bound: f64| residuals.iter().position(|&e| e < bound);
        let (Some(near), Some(there)) = (below(1e-5), below(1e-10)) else { panic!("{residuals:?}") };
        assert!(there - near <= 3, "{residuals:?}");
        observed += 1;
    }
    println!("observed on {observed} problems");
    assert!(observed > 50);
}

#[test]
fn round_off_ends_the_iteration() {
    for (index, problem) in suite().iter().enumerate() {
        let options = Options { tolerance: 0.0, absolute_tolerance: 0.0, ..Options::default() };
        let (report, v, ws) = run(problem, &problem.v_star, &options);
        let report = report.unwrap_or_else(|error| panic!("problem {index}: {error}"));
        let floor = problem.residual_round_off(&v, &ws);
        assert!(report.residual <= floor, "problem {index}: {report:?}, {floor:e}");
        assert_ne!(report.criterion, Criterion::Unconstrained);
    }
}

#[test]
fn any_guess_leads_to_the_same_velocity() {
    let mut rng = SplitMix64(7);
    for problem in suite().iter().take(20) {
        let options = Options { tolerance: 1e-12, ..Options::default() };
        let (_, v, _) = run(problem, &problem.v_star, &options);
        for size in [1e-3, 1.0, 1e3] {
            let guess: Vec<f64> = v.iter().zip(rng.vector(problem.nv, size)).map(|(v, d)| v + d).collect();
            let (report, other, _) = run(problem, &guess, &options);
            report.unwrap();
            let apart = problem.a_norm(&difference(&v, &other)) / problem.a_norm(&problem.v_star);
            assert!(apart < 1e-10, "{apart:e}");
        }
    }
}

#[test]
fn free_velocities_of_the_solution_foretell_it() {
    let mut rng = SplitMix64(11);
    let (mut cold, mut warm) = (0, 0);
    for mut problem in suite() {
        problem.set_delassus();
        let options = Options::default();
        let (report, v, ws) = run(&problem, &problem.v_star, &Options { tolerance: 1e-12, ..options });
        cold += report.unwrap().iterations;
        let (gamma, v_c) = (ws.impulses().to_vec(), ws.velocities().to_vec());
        for size in [0.0, 1.0] {
            let mut row = 0;
            let mut guessed = problem.clone();
            for constraint in &mut guessed.constraints {
                let rows = row..row + constraint.rows();
                let mut free = [0.0; 3];
                constraint.free_velocity(&v_c[rows.clone()], &gamma[rows.clone()], &mut free);
                let free = free.map(|x| x + rng.uniform(-size, size));
                *constraint = constraint.with_free_velocity(free);
                row = rows.end;
            }
            let (report, other, _) = run(&guessed, &problem.v_star, &Options { tolerance: 1e-12, ..options });
            let report = report.unwrap();
            // A wrong guess leads to the same velocity, a right one there at once.
            let apart = problem.a_norm(&difference(&v, &other)) / problem.a_norm(&problem.v_star);
            assert!(apart < 1e-10, "{apart:e}");
            warm += if size == 0.0 { report.iterations } else { 0 };
        }
    }
    println!("{cold} iterations without a guess, {warm} with the solution's free velocities");
    assert!(warm * 3 < cold);
}

#[test]
fn the_solution_as_guess_takes_no_iteration() {
    for problem in suite() {
        let (_, v, _) = run(&problem, &problem.v_star, &Options { tolerance: 1e-12, ..Options::default() });
        let (report, again, ws) = run(&problem, &v, &Options { tolerance: 1e-6, ..Options::default() });
        let report = report.unwrap();
        assert_eq!(report.iterations, 0);
        assert_eq!(report.criterion, Criterion::Gradient);
        assert_eq!(again, v);
        assert!(problem.residual(&again, ws.impulses()) < 1e-6);
    }
}

#[test]
fn no_push_returns_the_free_velocity_bit_for_bit() {
    let mut problem = tower(3, 0.0);
    problem.v_star.iter_mut().for_each(|v| *v = 0.0);
    for (b, v) in [(0, 0.1), (1, 0.3), (2, 1.0 / 3.0)] {
        problem.v_star[6 * b + 5] = v; // they part
    }
    let (report, v, ws) = run(&problem, &[7.0; 18], &Options::default());
    let report = report.unwrap();
    assert_eq!(v, problem.v_star);
    assert_eq!(report.criterion, Criterion::Unconstrained);
    assert_eq!((report.iterations, report.line_search_evaluations, report.cost), (0, 0, 0.0));
    assert!(ws.impulses().iter().all(|&gamma| gamma == 0.0));
    assert_eq!(ws.velocities()[2], 0.1);
}

#[test]
fn no_constraints_and_no_velocities() {
    let free = Problem { constraints: vec![], j: vec![], ..tower(1, 0.3) };
    let (report, v, _) = run(&free, &[0.0; 6], &Options::default());
    assert_eq!(report.unwrap().criterion, Criterion::Unconstrained);
    assert_eq!(v, free.v_star);
    let (report, ..) = run(&Problem::new(0, vec![]), &[], &Options::default());
    assert_eq!(report.unwrap().iterations, 0);
}

#[test]
fn iteration_cap_is_an_error_with_the_residual() {
    let problem = tower(10, 1.0);
    let (needed, ..) = run(&problem, &problem.v_star, &Options::default());
    let needed = needed.unwrap().iterations;
    assert!(needed > 2);
    let options = Options { max_iterations: needed - 1, ..Options::default() };
    let (result, v, ws) = run(&problem, &problem.v_star, &options);
    let Err(Error::NotConverged { iterations, residual }) = result else { panic!("{result:?}") };
    assert_eq!(iterations, needed - 1);
    assert!(residual > 1e-6);
    // What is reported is the residual of what is returned.
    let formed = problem.residual(&v, ws.impulses());
    assert!((formed - residual).abs() < 1e-6 * residual, "{formed:e} {residual:e}");
}

#[test]
fn nan_and_infinity_are_errors() {
    for bad in [f64::NAN, f64::INFINITY] {
        let is_error = |problem: &Problem, guess: &[f64]| {
            let (result, ..) = run(problem, guess, &Options::default());
            assert!(matches!(result, Err(Error::NotFinite { .. })), "{bad}: {result:?}");
        };
        let good = tower(2, 0.3);
        for i in [0, 5, 11] {
            let mut problem = good.clone();
            problem.v_star[i] = bad;
            is_error(&problem, &[0.0; 12]);
            let mut guess = [0.0; 12];
            guess[i] = bad;
            is_error(&good, &guess);
        }
        assert!(matches!(SparseMatrix::from_dense("A", 1, 1, &[bad]), Err(Error::Value { .. })));
        let mut problem = good.clone();
        problem.constraints[0] = Law::cone(0.5, 1e-5, 1e-4, bad).into();
        is_error(&problem, &[0.0; 12]);
    }
}

#[test]
fn indefinite_matrix_is_an_error() {
    let mut problem = tower(1, 0.3);
    problem.constraints.iter_mut().for_each(|c| *c = Law::cone(0.5, 1.0, 1.0, 1e-3).into());
    problem.a[0] = -50.0;
    let (result, ..) = run(&problem, &problem.v_star, &Options::default());
    assert!(matches!(result, Err(Error::Factorization { .. } | Error::NotFinite { .. })), "{result:?}");
}

#[test]
fn sizes_that_do_not_fit_are_errors() {
    let problem = tower(1, 0.0);
    let mut ws = Workspace::new();
    let mut sparse = problem.sparse();
    let constraints = &problem.constraints;
    let options = Options::default();
    let mut check = |constraints: &[Constraint], v_star: &[f64], v: &mut [f64], name: &str| match solve(
        &mut sparse,
        constraints,
        v_star,
        v,
        &options,
        &mut ws,
    ) {
        Err(Error::Dimension { argument, .. }) => assert_eq!(argument, name),
        other => panic!("{other:?}"),
    };
    check(constraints, &[0.0; 5], &mut [0.0; 6], "v_star");
    check(constraints, &[0.0; 6], &mut [0.0; 7], "v");
    check(&constraints[..3], &[0.0; 6], &mut [0.0; 6], "J (rows)");
}

#[test]
fn mass_ratio_of_a_million() {
    // A heavy cube on a light one, both on the ground.
    for ratio in [1e3, 1e6] {
        let mut problem = Problem { constraints: vec![], j: vec![], ..tower(2, 0.0) };
        for i in 6..12 {
            problem.a[i * 13] *= ratio;
        }
        let shape = tower(2, 0.0);
        for (k, _) in shape.constraints.iter().enumerate() {
            let rows: [Vec<f64>; 3] = std::array::from_fn(|i| shape.j[3 * k + i].clone());
            problem.contact(rows, 0.7, 1e-10, 1e-10, 0.0);
        }
        let options = Options { tolerance: 1e-9, ..Options::default() };
        let (report, _, ws) = run(&problem, &[0.0; 12], &options);
        let report = report.unwrap();
        let dt_g = -problem.v_star[5];
        let normal = |first: usize| (0..4).map(|k| ws.impulses()[3 * (first + k) + 2]).sum::<f64>();
        // R γ is about 1e-10 ratio/4 of dt g.
        assert!((normal(4) / (ratio * dt_g) - 1.0).abs() < 1e-3, "{report:?} {}", normal(4));
        assert!((normal(0) / ((1.0 + ratio) * dt_g) - 1.0).abs() < 1e-3, "{report:?} {}", normal(0));
    }
}

#[test]
fn reused_memory_changes_nothing() {
    let (mut sparse, mut ws) = (Sparse::new(), Workspace::new());
    for problem in suite() {
        problem.fill(&mut sparse);
        let mut v = problem.v_star.clone();
        let report =
            solve(&mut sparse, &problem.constraints, &problem.v_star, &mut v, &Options::default(), &mut ws).unwrap();
        let (fresh, expected, _) = run(&problem, &problem.v_star, &Options::default());
        assert_eq!(v, expected);
        assert_eq!(report, fresh.unwrap());
    }
}

#[test]
fn limit_stops_a_joint() {
    // 2 kg m² at −1 rad/s; limit at rest, R = 0.5: y = −v/R, momentum 2 (v + 1) = −2 v, v = −1/2.
    let mut problem = Problem::new(1, vec![1]);
    problem.a[0] = 2.0;
    problem.v_star[0] = -1.0;
    problem.j.push(vec![1.0]);
    problem.constraints.push(Law::limit(0.5, 0.0).into());
    let (report, v, ws) = run(&problem, &[0.0], &Options::default());
    assert!((v[0] + 0.5).abs() < 1e-15);
    assert!((ws.impulses()[0] - 1.0).abs() < 1e-15);
    assert_eq!(report.unwrap().iterations, 1);
}
