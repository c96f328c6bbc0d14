//! Tiny problems by hand.

use sapwood_sap::{Error, Factorization, FrictionLaw, Kind, Options, Problem, ProblemSolution, SparseMatrix};

const IDENTITY: [f64; 9] = [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];

/// Contacts in plain arrays, rows of `J` t1, t2, n.
#[derive(Clone, Copy)]
struct Contacts<'a> {
    a: &'a [f64],
    v_star: &'a [f64],
    j: &'a [f64],
    mu: &'a [f64],
    r_t: f64,
    r_n: f64,
    vn_hat: f64,
}

/// A unit point mass on the ground.
fn point() -> Contacts<'static> {
    Contacts { a: &IDENTITY, v_star: &[0.0, 0.0, -1.0], j: &IDENTITY, mu: &[0.5], r_t: 0.25, r_n: 1.0, vn_hat: 0.0 }
}

/// The solution by the convex law.
fn solve(contacts: &Contacts) -> Result<ProblemSolution, Error> {
    let &Contacts { a, v_star, j, mu, r_t, r_n, vn_hat } = contacts;
    let nv = v_star.len();
    let mut problem = Problem::new(SparseMatrix::from_dense("A", nv, nv, a)?, v_star.to_vec())?;
    let v_hat = [0.0, 0.0, vn_hat];
    let contact = |mu: &f64| Kind::Contact { mu: *mu, r_t: Some(r_t), r_n: Some(r_n), v_hat, normal_impulse: None };
    let kinds: Vec<Kind> = mu.iter().map(contact).collect();
    problem.push(&kinds, &SparseMatrix::from_dense("J", 3 * mu.len(), nv, j)?)?;
    let options = Options { tolerance: 1e-14, ..Options::default() };
    problem.solve(FrictionLaw::Sap, Factorization::Sparse, &options, None)
}

fn solved(contacts: &Contacts) -> (Vec<f64>, Vec<f64>) {
    let solution = solve(contacts).unwrap();
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
    let (v, impulses) = solved(&Contacts { v_star: &[3.0, 4.0, 2.5], ..point() });
    assert_close(&v, &[3.0, 4.0, 2.5]);
    assert_close(&impulses, &[0.0; 3]);
    // Slower, and the convex law still holds it.
    let (_, impulses) = solved(&Contacts { v_star: &[3.0, 4.0, 2.4], ..point() });
    assert!(impulses[2] > 0.0);
}

#[test]
fn slow_point_sticks() {
    // γ_t = −4 v_t, v_t + 4 v_t = 0.1.
    let (v, impulses) = solved(&Contacts { v_star: &[0.1, 0.0, -1.0], ..point() });
    assert_close(&v, &[0.02, 0.0, -0.5]);
    assert_close(&impulses, &[-0.08, 0.0, 0.5]);
}

#[test]
fn fast_point_slides() {
    // Stationarity along the edge of the cone, γ = n (−μ, 0, 1): the velocity v* + γ dotted with the edge is −R γ dotted with it,
    // (−μ, 0, 1)·(v* + γ) = −(μ² R_t + R_n) n, so n = (μ v*_x − v*_z) / (1 + μ² + μ² R_t + R_n).
    let n = (0.5 * 3.0 + 1.0) / (1.0 + 0.25 + 0.25 * 0.25 + 1.0);
    let (v, impulses) = solved(&Contacts { v_star: &[3.0, 0.0, -1.0], ..point() });
    assert_close(&impulses, &[-0.5 * n, 0.0, n]);
    assert_close(&v, &[3.0 - 0.5 * n, 0.0, n - 1.0]);
}

#[test]
fn bias_lifts() {
    // v_n = 0 would be a push of v̂/R = 2: v = γ = 2 − v.
    let (v, _) = solved(&Contacts { v_star: &[0.0; 3], vn_hat: 2.0, ..point() });
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
    let problem = Contacts { a: &a, v_star: &[0.1, 0.0, -1.0, 0.0, 0.0, -1.0], j: &j, mu: &[0.5; 2], ..point() };
    let (v, _) = solved(&problem);
    assert_close(&v, &[0.02, 0.0, -0.5, 0.0, 0.0, -0.5]);
}

#[test]
fn coupled_blocks_of_a_are_kept() {
    // Rows 0 and 2 coupled, so one block; against Cramer's rule on (v_x, v_z): no friction, no push sideways.
    let problem = Contacts { a: &[2.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 2.0], mu: &[0.0], ..point() };
    // A (v − v*) = (0, 0, γ): 2 v_x + (v_z + 1) = 0, v_x + 2 (v_z + 1) = −v_z  ⇒  v_z = −3/5, v_x = −1/5.
    let (v, impulses) = solved(&problem);
    assert_close(&v, &[-0.2, 0.0, -0.6]);
    assert_close(&impulses, &[0.0, 0.0, 0.6]);
}

#[test]
fn nothing_at_all() {
    let free = Contacts { j: &[], mu: &[], ..point() };
    assert!(solved(&Contacts { a: &[], v_star: &[], ..free }).0.is_empty());
    assert_close(&solved(&free).0, &[0.0, 0.0, -1.0]);
}

#[test]
fn contact_without_columns_pushes_nothing() {
    let (v, impulses) = solved(&Contacts { j: &[0.0; 9], vn_hat: 1.0, ..point() });
    assert_close(&v, &[0.0, 0.0, -1.0]);
    assert_close(&impulses, &[0.0, 0.0, 1.0]);
}

#[test]
fn refusals_name_the_argument() {
    let refused = |contacts: Contacts| match solve(&contacts) {
        Err(Error::Dimension { argument, .. } | Error::Value { argument, .. }) => argument,
        other => panic!("{:?}", other.map(|solution| solution.v)),
    };
    assert_eq!(refused(Contacts { a: &IDENTITY[..8], ..point() }), "A");
    assert_eq!(refused(Contacts { j: &IDENTITY[..6], ..point() }), "J");
    assert_eq!(refused(Contacts { mu: &[-0.1], ..point() }), "mu");
    assert_eq!(refused(Contacts { mu: &[f64::NAN], ..point() }), "mu");
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-320] {
        assert_eq!(refused(Contacts { r_t: bad, ..point() }), "R_t");
        assert_eq!(refused(Contacts { r_n: bad, ..point() }), "R_n");
    }
    assert_eq!(refused(Contacts { v_star: &[0.0, f64::NAN, 0.0], ..point() }), "v_star");
    assert_eq!(refused(Contacts { vn_hat: f64::INFINITY, ..point() }), "vn_hat");
    let asymmetric = [1.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(refused(Contacts { a: &asymmetric, ..point() }), "A");
    let indefinite = [1.0, 2.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 1.0];
    assert_eq!(refused(Contacts { a: &indefinite, ..point() }), "A");
    assert_eq!(refused(Contacts { a: &[0.0; 9], ..point() }), "A");
}
