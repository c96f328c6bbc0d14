//! The contact solver on matrices of your own: a block of 2 kg that slides on the ground.

use sapwood::contact::{Factorization, FrictionLaw, Kind, Options, Problem, SparseMatrix};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mass, dt, mu, speed) = (2.0, 0.01, 0.5, 1.0);
    let a = SparseMatrix::from_dense("A", 3, 3, &[mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass])?;
    let mut problem = Problem::new(a, vec![speed, 0.0, -9.81 * dt])?;
    let rows = SparseMatrix::from_dense("J", 3, 3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0])?; // t1, t2, n
    let contact = Kind::Contact { mu, r_t: Some(1e-7), r_n: Some(1e-7), v_hat: [0.0; 3], normal_impulse: None };
    problem.push(&[contact], &rows)?;
    let solution = problem.solve(FrictionLaw::Coulomb, Factorization::Auto, &Options::default(), None)?;
    let [friction, _, normal] = solution.impulses[..] else { return Err("three rows".into()) };
    println!("v = {:?}, friction {friction:.4} N s, normal {normal:.4} N s", solution.v);
    assert!((friction + mu * normal).abs() < 1e-9, "friction is at its bound, against the motion");
    Ok(())
}
