//! Coulomb's law: the bounds of friction are the problem's own normal impulses.

use crate::common::{self, Problem, random_within, tower};
use sapwood_sap::{Constraint, Criterion, FrictionLaw, LawKind, Options, Report, Strategy, Workspace, solve};
use support::SplitMix64;

/// What is left of the balance of momentum when every bound is the contact's own normal impulse at `v`.
fn coulomb_residual(problem: &Problem, v: &[f64]) -> f64 {
    let v_c = problem.j_times(v);
    let mut row = 0;
    let own: Vec<Constraint> = problem
        .constraints
        .iter()
        .map(|constraint| {
            let n = row + 2;
            row += constraint.rows();
            let mut own = *constraint;
            if own.law.kind == LawKind::BoundedFriction {
                own.law.set_normal_impulse(((own.law.v_hat[2] - v_c[n]) / own.law.r[2]).max(0.0));
            }
            own
        })
        .collect();
    let own = Problem { constraints: own, ..problem.clone() };
    own.residual(v, &own.impulses(&v_c).0)
}

/// Towers pushed from standing to toppling and random problems, small ones and such where Newton's method moves the bounds,
/// from bounds that are far off.
#[test]
fn bounds_are_the_normal_impulses() {
    let ranges =
        common::Ranges { max_nv: 60, max_contacts: 40, limits: true, mass: (-1.0, 1.0), mu: 0.5, r: (-5.0, -3.0) };
    let mut problems: Vec<Problem> = (0..60).map(|seed| random_within(seed, &ranges)).collect();
    for push in [0.0, 0.01, 0.1, 0.3, 1.0] {
        problems.push(tower(4, push));
        problems.push(tower(12, push));
    }
    for problem in &problems {
        let (report, residual) = solve_from_afar(problem);
        assert!(report.criterion != Criterion::FrictionBounds && residual < 1e-8, "{residual:e}, {report:?}");
    }
}

/// The report of a solve from bounds that are far off, and how far the solution is from Coulomb's law.
fn solve_from_afar(problem: &Problem) -> (Report, f64) {
    let mut problem = problem.clone().lagged(|k| 0.01 * (k % 3) as f64);
    problem.set_delassus();
    let mut v = problem.v_star.clone();
    let mut ws = Workspace::new();
    let options =
        Options { tolerance: 1e-10, friction: FrictionLaw::Coulomb, factorization_budget: None, ..Options::default() };
    let report =
        solve(&mut problem.sparse(), &problem.constraints, &problem.v_star, &mut v, &options, &mut ws).unwrap();
    (report, coulomb_residual(&problem, &v))
}

/// With much friction Newton's method cycles on most of these problems; the proximal point method solves them.
#[test]
fn the_proximal_point_method_leads_where_newtons_does_not() {
    let ranges =
        common::Ranges { max_nv: 30, max_contacts: 40, limits: false, mass: (-1.0, 1.0), mu: 1.0, r: (-5.0, -3.0) };
    let mut hard = 0;
    for seed in (0..60).chain([357, 497]) {
        let (report, residual) = solve_from_afar(&random_within(seed, &ranges));
        hard += usize::from(report.strategy == Strategy::ProximalPoint);
        assert!(report.criterion != Criterion::FrictionBounds && residual < 1e-8, "{seed}: {residual:e}, {report:?}");
    }
    assert!(hard > 40, "{hard}");
}

/// The solution as a guess that is expected to be it takes nothing, one near it a step or two, and whatever it is, it changes nothing:
/// with few contacts and many, from bounds that are far off.
#[test]
fn an_expected_guess_is_looked_at() {
    let ranges =
        common::Ranges { max_nv: 40, max_contacts: 20, limits: true, mass: (-1.0, 1.0), mu: 0.5, r: (-4.0, -2.0) };
    let mut problems: Vec<Problem> = (0..40).map(|seed| random_within(seed, &ranges)).collect();
    problems.extend([tower(2, 0.01), tower(12, 0.01)]);
    let (mut solved, mut near) = (0, 0);
    for problem in &problems {
        let mut problem = problem.clone().lagged(|k| 0.01 * (k % 3) as f64);
        problem.set_delassus();
        let solve_from = |guess: &[f64], tolerance: f64, expects_guess: bool| {
            let (mut v, mut ws) = (guess.to_vec(), Workspace::new());
            let options = Options {
                tolerance,
                friction: FrictionLaw::Coulomb,
                factorization_budget: None,
                expects_guess,
                ..Options::default()
            };
            let report =
                solve(&mut problem.sparse(), &problem.constraints, &problem.v_star, &mut v, &options, &mut ws).unwrap();
            let residual = problem.residual(&v, ws.impulses()).max(coulomb_residual(&problem, &v));
            (report, v, residual)
        };
        let (_, solution, _) = solve_from(&problem.v_star, 1e-12, false);
        if solution == problem.v_star {
            continue;
        }
        let (report, v, residual) = solve_from(&solution, 1e-6, true);
        assert_eq!((report.iterations, report.criterion), (0, Criterion::Gradient));
        assert!(v == solution && residual < 1e-6, "{residual:e}");
        solved += 1;
        for error in [1e-9, 1e-7, 1e-5, 1e-2, 10.0] {
            let guess: Vec<f64> = solution.iter().enumerate().map(|(i, v)| v + error * (i as f64).sin()).collect();
            let (report, v, residual) = solve_from(&guess, 1e-9, true);
            assert!(residual < 1e-7, "{error:e}: {residual:e}, {report:?}");
            near += usize::from((1..3).contains(&report.iterations));
            let off = v.iter().zip(&solution).fold(0.0_f64, |most, (v, solution)| most.max((v - solution).abs()));
            let size = solution.iter().fold(0.0_f64, |most, v| most.max(v.abs()));
            assert!(off < 1e-5 * size, "{error:e}: {off:e} of {size:e}");
        }
    }
    assert!(solved > 30 && near > 10, "{solved} {near}");
}

/// What a workspace was used for before changes no bit of a solution, wherever the guess is.
#[test]
fn a_used_workspace_is_as_good_as_a_new_one() {
    let ranges =
        common::Ranges { max_nv: 40, max_contacts: 12, limits: true, mass: (-1.0, 1.0), mu: 0.8, r: (-5.0, -2.0) };
    let mut used = Workspace::new();
    for seed in 0..200 {
        let mut problem = random_within(seed, &ranges).lagged(|k| 0.01 * (k % 3) as f64);
        problem.set_delassus();
        let solve_from = |guess: &[f64], expects_guess: bool, ws: &mut Workspace| {
            let mut v = guess.to_vec();
            let options = Options { friction: FrictionLaw::Coulomb, expects_guess, ..Options::default() };
            let report =
                solve(&mut problem.sparse(), &problem.constraints, &problem.v_star, &mut v, &options, ws).unwrap();
            (report.iterations, v)
        };
        let (_, solution) = solve_from(&problem.v_star, false, &mut Workspace::new());
        for error in [1e-4, 1e-2, 0.1] {
            let mut rng = SplitMix64(seed);
            let guess: Vec<f64> = solution.iter().map(|v| v + error * rng.symmetric()).collect();
            let new = solve_from(&guess, true, &mut Workspace::new());
            assert_eq!(solve_from(&guess, true, &mut used), new, "{seed}, {error}");
        }
    }
}
