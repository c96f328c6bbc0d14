//! Plain matrices: tiny problems by hand, and what is refused.

use sapwood_sap::{Error, MatrixProblem, Options, solve_matrices};

const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// A unit point mass on the ground.
fn point() -> MatrixProblem<'static> {
    MatrixProblem {
        a: &IDENTITY,
        v_star: &[0.0, 0.0, -1.0],
        j: &IDENTITY,
        mu: &[0.5],
        r_t: &[0.25],
        r_n: &[1.0],
        vn_hat: &[0.0],
    }
}

fn solved(problem: &MatrixProblem) -> (Vec<f64>, Vec<f64>) {
    let options = Options { tolerance: 1e-14, ..Options::default() };
    let solution = solve_matrices(problem, &options).unwrap();
    (solution.v, solution.impulses)
}

fn assert_close(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-14, "{found:?}, expected {expected:?}");
    }
}

#[test]
fn falling_point_is_caught() {
    // v + 1 = γ, γ = −v.
    let (v, impulses) = solved(&point());
    assert_close(&v, &[0.0, 0.0, -0.5]);
    assert_close(&impulses, &[0.0, 0.0, 0.5]);
}

#[test]
fn rising_point_is_let_go() {
    // y_r = 5/R_t = 20, μ̂ = μ R_t/R_n = 1/8: free from y_n = −2.5 on.
    let (v, impulses) = solved(&MatrixProblem { v_star: &[3.0, 4.0, 2.5], ..point() });
    assert_close(&v, &[3.0, 4.0, 2.5]);
    assert_close(&impulses, &[0.0; 3]);
    // Slower, and the convex law still holds it.
    let (_, impulses) = solved(&MatrixProblem { v_star: &[3.0, 4.0, 2.4], ..point() });
    assert!(impulses[2] > 0.0);
}

#[test]
fn slow_point_sticks() {
    // γ_t = −4 v_t, v_t + 4 v_t = 0.1.
    let (v, impulses) = solved(&MatrixProblem { v_star: &[0.1, 0.0, -1.0], ..point() });
    assert_close(&v, &[0.02, 0.0, -0.5]);
    assert_close(&impulses, &[-0.08, 0.0, 0.5]);
}

#[test]
fn fast_point_slides() {
    // Stationarity along the edge of the cone, γ = n (−μ, 0, 1): the velocity v* + γ dotted with the edge is −R γ dotted with it,
    // (−μ, 0, 1)·(v* + γ) = −(μ² R_t + R_n) n, so n = (μ v*_x − v*_z) / (1 + μ² + μ² R_t + R_n).
    let n = (0.5 * 3.0 + 1.0) / (1.0 + 0.25 + 0.25 * 0.25 + 1.0);
    let (v, impulses) = solved(&MatrixProblem { v_star: &[3.0, 0.0, -1.0], ..point() });
    assert_close(&impulses, &[-0.5 * n, 0.0, n]);
    assert_close(&v, &[3.0 - 0.5 * n, 0.0, n - 1.0]);
}

#[test]
fn bias_lifts() {
    // v_n = 0 would be a push of v̂/R = 2: v = γ = 2 − v.
    let (v, _) = solved(&MatrixProblem { v_star: &[0.0; 3], vn_hat: &[2.0], ..point() });
    assert_close(&v, &[0.0, 0.0, 1.0]);
}

#[test]
fn two_points_are_two_problems() {
    let mut a = [0.0; 36];
    let mut j = [0.0; 36];
    for i in 0..6 {
        a[7 * i] = 1.0;
        j[7 * i] = 1.0;
    }
    let problem = MatrixProblem {
        a: &a,
        v_star: &[0.1, 0.0, -1.0, 0.0, 0.0, -1.0],
        j: &j,
        mu: &[0.5; 2],
        r_t: &[0.25; 2],
        r_n: &[1.0; 2],
        vn_hat: &[0.0; 2],
    };
    let (v, _) = solved(&problem);
    assert_close(&v, &[0.02, 0.0, -0.5, 0.0, 0.0, -0.5]);
}

#[test]
fn coupled_blocks_of_a_are_kept() {
    // Rows 0 and 2 coupled, so one block; against Cramer's rule on (v_x, v_z): no friction, no push sideways.
    let problem = MatrixProblem { a: &[2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0], mu: &[0.0], ..point() };
    // A (v − v*) = (0, 0, γ): 2 v_x + (v_z + 1) = 0, v_x + 2 (v_z + 1) = −v_z  ⇒  v_z = −3/5, v_x = −1/5.
    let (v, impulses) = solved(&problem);
    assert_close(&v, &[-0.2, 0.0, -0.6]);
    assert_close(&impulses, &[0.0, 0.0, 0.6]);
}

#[test]
fn nothing_at_all() {
    let empty = MatrixProblem { a: &[], v_star: &[], j: &[], mu: &[], r_t: &[], r_n: &[], vn_hat: &[] };
    assert!(solve_matrices(&empty, &Options::default()).unwrap().v.is_empty());
    let free = MatrixProblem { j: &[], mu: &[], r_t: &[], r_n: &[], vn_hat: &[], ..point() };
    assert_close(&solved(&free).0, &[0.0, 0.0, -1.0]);
}

#[test]
fn contact_without_columns_pushes_nothing() {
    let (v, impulses) = solved(&MatrixProblem { j: &[0.0; 9], vn_hat: &[1.0], ..point() });
    assert_close(&v, &[0.0, 0.0, -1.0]);
    assert_close(&impulses, &[0.0, 0.0, 1.0]);
}

#[test]
fn refusals_name_the_argument() {
    let refused = |problem: MatrixProblem| match solve_matrices(&problem, &Options::default()) {
        Err(Error::Dimension { argument, .. } | Error::Value { argument, .. }) => argument,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(MatrixProblem { a: &IDENTITY[..8], ..point() }), "A");
    assert_eq!(refused(MatrixProblem { j: &IDENTITY[..6], ..point() }), "J");
    assert_eq!(refused(MatrixProblem { r_t: &[1.0, 1.0], ..point() }), "R_t");
    assert_eq!(refused(MatrixProblem { r_n: &[], ..point() }), "R_n");
    assert_eq!(refused(MatrixProblem { vn_hat: &[], ..point() }), "vn_hat");
    assert_eq!(refused(MatrixProblem { mu: &[-0.1], ..point() }), "mu");
    assert_eq!(refused(MatrixProblem { mu: &[f64::NAN], ..point() }), "mu");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        assert_eq!(refused(MatrixProblem { r_t: &[bad], ..point() }), "R_t");
        assert_eq!(refused(MatrixProblem { r_n: &[bad], ..point() }), "R_n");
    }
    assert_eq!(refused(MatrixProblem { v_star: &[0.0, f64::NAN, 0.0], ..point() }), "v_star");
    assert_eq!(refused(MatrixProblem { vn_hat: &[f64::INFINITY], ..point() }), "vn_hat");
    let asymmetric = [1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(refused(MatrixProblem { a: &asymmetric, ..point() }), "A");
    let indefinite = [1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(refused(MatrixProblem { a: &indefinite, ..point() }), "A");
    assert_eq!(refused(MatrixProblem { a: &[0.0; 9], ..point() }), "A");
}

#[test]
fn messages_say_what_came_and_what_was_expected() {
    let message =
        solve_matrices(&MatrixProblem { r_n: &[-1.0], ..point() }, &Options::default()).unwrap_err().to_string();
    assert_eq!(message, "R_n: entry 0 is -1, expected a finite value > 0");
    let message = solve_matrices(&MatrixProblem { mu: &[], ..point() }, &Options::default()).unwrap_err().to_string();
    assert_eq!(message, "J has 9 entries, expected 0");
}
