//! A plate on three legs, twisted: statics that are known in closed form.

use std::f64::consts::PI;

use sapwood_sap::{Constraint, FrictionLaw, Law, Options, Sparse, SparseMatrix, Workspace, solve};

const MASS: f64 = 2.0;
const RADIUS: f64 = 0.3;
const GRAVITY: f64 = 9.81;
const DT: f64 = 0.01;
const MU: f64 = 0.4;
/// R_n of a leg over 1/m.
const COMPLIANCE: f64 = 1e-8;
/// About the vertical axis.
const INERTIA: f64 = 0.5 * MASS * RADIUS * RADIUS;

/// Velocities (x, y, z, ω_z, ω_x, ω_y) of the plate and impulses (t1, t2, n) of its legs after a step under a torque about the
/// vertical. `law` is made from (R_t, R_n).
fn twist(torque: f64, law: impl Fn(f64, f64) -> Constraint) -> (Vec<f64>, Vec<f64>) {
    let diagonal = [MASS, MASS, MASS, INERTIA, 0.5 * INERTIA, 0.5 * INERTIA];
    let a = SparseMatrix::from_rows("A", 6, &[0, 1, 2, 3, 4, 5, 6], &[0, 1, 2, 3, 4, 5], &diagonal).unwrap();
    let mut sparse = Sparse::new();
    sparse.reset(&a);
    let mut constraints = vec![];
    for leg in 0..3 {
        let angle = 2.0 * PI * leg as f64 / 3.0;
        let (x, y) = (RADIUS * angle.cos(), RADIUS * angle.sin());
        #[rustfmt::skip]
        let rows = [
            1.0, 0.0, 0.0,  -y, 0.0, 0.0,
            0.0, 1.0, 0.0,   x, 0.0, 0.0,
            0.0, 0.0, 1.0, 0.0,   y,  -x,
        ];
        sparse.push_jacobian(&[0, 1, 2, 3, 4, 5], &rows).unwrap();
        constraints.push(law(1e-9 / MASS, COMPLIANCE / MASS));
    }
    let v_star = [0.0, 0.0, -GRAVITY * DT, DT * torque / INERTIA, 0.0, 0.0];
    let options = Options { tolerance: 1e-12, friction: FrictionLaw::Coulomb, ..Options::default() };
    let (mut v, mut ws) = (v_star.to_vec(), Workspace::new());
    solve(&mut sparse, &constraints, &v_star, &mut v, &options, &mut ws).unwrap();
    (v, ws.impulses().to_vec())
}

/// Tangential and normal impulse of each leg.
fn legs(gamma: &[f64]) -> impl Iterator<Item = (f64, f64)> {
    gamma.chunks(3).map(|g| (g[0].hypot(g[1]), g[2]))
}

#[test]
fn a_small_torque_is_shared_by_three_legs_that_stick() {
    let limit = MU * MASS * GRAVITY * RADIUS;
    for share in [0.0, 0.5, 0.99] {
        let cone = |r_t, r_n| Law::cone(MU, r_t, r_n, 0.0).into();
        let lagged = |r_t, r_n| Law::bounded_friction(MU, r_t, r_n, 0.0, 0.0).into();
        for (_, gamma) in [twist(share * limit, cone), twist(share * limit, lagged)] {
            for (t, n) in legs(&gamma) {
                assert!((n / (MASS * GRAVITY * DT / 3.0) - 1.0).abs() < 1e-6);
                assert!((t - share * limit * DT / (3.0 * RADIUS)).abs() < 1e-6 * limit * DT);
            }
        }
    }
}

#[test]
fn a_large_torque_turns_the_plate_as_coulomb_says() {
    let limit = MU * MASS * GRAVITY * RADIUS;
    let torque = 1.7 * limit;
    let (v, gamma) = twist(torque, |r_t, r_n| Law::bounded_friction(MU, r_t, r_n, 0.0, 0.0).into());
    let load: f64 = legs(&gamma).map(|(_, n)| n).sum();
    for (t, n) in legs(&gamma) {
        assert!((t / (MU * n) - 1.0).abs() < 1e-9, "{t} {n}");
    }
    // The plate gives way to its weight by the compliance of the legs, and by nothing else.
    assert!((load - MASS * (GRAVITY * DT + v[2])).abs() < 1e-12);
    assert!((v[2] + load * COMPLIANCE / MASS / 3.0).abs() < 1e-12);
    let expected = DT * torque / INERTIA - MU * load * RADIUS / INERTIA;
    assert!((v[3] / expected - 1.0).abs() < 1e-6, "{} {expected}", v[3]);
    assert!(v[0].abs() < 1e-12 && v[1].abs() < 1e-12);
}
