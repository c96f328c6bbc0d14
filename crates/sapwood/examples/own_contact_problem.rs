//! The contact solver on matrices of your own: a block of 2 kg that slides on the ground.

use sapwood::contact::{MatrixProblem, Options, solve_matrices};

pub(crate) fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mass, dt, mu, speed) = (2.0, 0.01, 0.5, 1.0);
    let problem = MatrixProblem {
        a: &[mass, 0.0, 0.0, 0.0, mass, 0.0, 0.0, 0.0, mass],
        v_star: &[speed, 0.0, -9.81 * dt],
        j: &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], // rows t1, t2, n
        mu: &[mu],
        r_t: &[1e-7],
        r_n: &[1e-7],
        vn_hat: &[0.0],
    };
    let solution = solve_matrices(&problem, &Options::default())?;
    let [friction, _, normal] = solution.impulses[..] else { return Err("three rows".into()) };
    println!("v = {:?}, friction {friction:.4} N s, normal {normal:.4} N s", solution.v);
    assert!((friction + mu * normal).abs() < 1e-9, "friction is on the edge of its cone, against the motion");
    Ok(())
}
