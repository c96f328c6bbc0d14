//! The methods against each other on the five characters, and what they promise.

use models::characters::{self, Character};
use multibody::Model;
use sapwood_sim::stable_pd::{Command, Error, Method, Solver};
use support::SplitMix64;

const METHODS: [Method; 4] = [Method::Maba, Method::Dense, Method::Sparse, Method::Pcg];

fn character(character: Character) -> Model {
    let text = characters::mjcf(character, &characters::Options::default());
    formats::load_str(&text, None, &formats::LoadOptions::default()).unwrap().model
}

fn configuration(random: &mut SplitMix64, model: &Model, size: f64) -> Vec<f64> {
    let mut q = model.q0.clone();
    multibody::integrate(&model.tree, &mut q, &random.vector(model.nv(), size), 1.0);
    q
}

fn norm(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    norm(&a.iter().zip(b).map(|(a, b)| a - b).collect::<Vec<_>>()) / norm(b)
}

#[test]
fn all_methods_find_the_same_acceleration() {
    let mut random = SplitMix64(1);
    for which in Character::ALL {
        let model = character(which);
        let mut solvers = METHODS.map(|method| Solver::new(&model, method));
        for gain in [0.0, 1.0, 1e3, 1e6] {
            let (q, target) = (configuration(&mut random, &model, 1.0), configuration(&mut random, &model, 1.0));
            let v = random.vector(model.nv(), 2.0);
            let kp: Vec<f64> = random.vector(model.nv(), gain).into_iter().map(f64::abs).collect();
            let kd: Vec<f64> = random.vector(model.nv(), 0.1 * gain).into_iter().map(f64::abs).collect();
            let command = Command { kp: &kp, kd: &kd, target: &target, target_velocity: None, effort_limit: None };
            let [maba, rest @ ..] = &mut solvers;
            maba.solve(&q, &v, &command, 1.0 / 60.0).unwrap();
            for solver in rest {
                let report = solver.solve(&q, &v, &command, 1.0 / 60.0).unwrap();
                let error = apart(solver.acceleration(), maba.acceleration());
                println!("{which:?}, gain {gain:e}, {:?}: {error:e}", solver.method());
                if solver.method() == Method::Pcg {
                    // The error is the residual magnified by the condition of the matrix: without gains, by any factor.
                    assert!(report.residual <= Solver::PCG_TOLERANCE, "{report:?}");
                    assert!(gain == 0.0 || error < 1e-3, "{which:?}, gain {gain:e}: {error:e}");
                } else {
                    // With small gains or none the matrices of the snakes are ill-conditioned: those who form them lose digits.
                    let bound = if gain < 1e3 { 1e-9 } else { 1e-12 };
                    assert!(error < bound, "{which:?}, gain {gain:e}, {:?}: {error:e}", solver.method());
                }
            }
        }
    }
}

#[test]
fn the_torque_is_the_controllers() {
    // τ = Q − dt K_d q̈, formed by inverse dynamics.
    let model = character(Character::Humanoid);
    let mut random = SplitMix64(2);
    let (q, target) = (configuration(&mut random, &model, 0.5), configuration(&mut random, &model, 0.5));
    let (v, dt) = (random.vector(model.nv(), 1.0), 1.0 / 30.0);
    let (kp, kd) = (vec![500.0; model.nv()], vec![50.0; model.nv()]);
    let command = Command { kp: &kp, kd: &kd, target: &target, target_velocity: None, effort_limit: None };
    let mut solver = Solver::new(&model, Method::Maba);
    solver.solve(&q, &v, &command, dt).unwrap();
    let mut force = vec![0.0; model.nv()];
    sapwood_sim::stable_pd::pd_force(&model.tree, &q, &v, &command, dt, &mut force);
    let expected: Vec<f64> = force.iter().zip(solver.acceleration()).map(|(f, a)| f - dt * 50.0 * a).collect();
    assert!(apart(solver.torque(&q, &v, &command), &expected) < 1e-11);

    let limit = vec![20.0; model.nv()];
    let limited = Command { effort_limit: Some(&limit), ..command };
    let torque = solver.torque(&q, &v, &limited);
    for (limited, free) in torque.iter().zip(&expected) {
        assert!((limited - free.clamp(-20.0, 20.0)).abs() < 1e-9 * free.abs().max(1.0));
    }
}

#[test]
fn errors_of_ball_joints_are_rotation_vectors_by_the_shorter_arc() {
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="ball"/>
        <geom type="sphere" size=".1" mass="1"/></body></worldbody></mujoco>"#;
    let model = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap().model;
    let inertia = 0.4 * 0.01;
    let (kp, kd, dt) = ([2.0; 3], [0.0; 3], 0.01);
    for angle in [1e-12, 1e-6, 0.3, 3.0, std::f64::consts::PI - 1e-9, -2.0, std::f64::consts::PI + 0.2] {
        let q = [(0.5 * angle).cos(), 0.0, (0.5 * angle).sin(), 0.0];
        let command =
            Command { kp: &kp, kd: &kd, target: &[1.0, 0.0, 0.0, 0.0], target_velocity: None, effort_limit: None };
        let shorter = if angle > std::f64::consts::PI { angle - std::f64::consts::TAU } else { angle };
        for method in METHODS {
            let mut solver = Solver::new(&model, method);
            solver.solve(&q, &[0.0; 3], &command, dt).unwrap();
            let expected = -2.0 * shorter / inertia;
            let found = solver.acceleration()[1];
            assert!((found - expected).abs() < 1e-12 * expected.abs() + 1e-18, "{angle}: {found} {expected}");
        }
    }
}

#[test]
fn a_command_that_does_not_fit_is_refused() {
    let model = character(Character::Snake36);
    let (q, v) = (model.q0.clone(), vec![0.0; model.nv()]);
    let gains = vec![1.0; model.nv()];
    let command = Command { kp: &gains, kd: &gains, target: &q, target_velocity: None, effort_limit: None };
    let mut solver = Solver::new(&model, Method::Maba);
    assert!(solver.solve(&q, &v, &command, 0.01).is_ok());
    let short = Command { kp: &gains[1..], ..command };
    let error = solver.solve(&q, &v, &short, 0.01).unwrap_err();
    assert_eq!(error.to_string(), "kp has 35 entries: expected 36");
    let negative = vec![-1.0; model.nv()];
    let error = solver.solve(&q, &v, &Command { kd: &negative, ..command }, 0.01).unwrap_err();
    assert_eq!(error.to_string(), "kd[0] = -1: expected a finite number, 0 or more");
    assert!(matches!(solver.solve(&q, &v, &command, f64::NAN), Err(Error::Value { name: "dt", .. })));
}

#[test]
fn any_gain_is_stable_at_a_thirtieth_of_a_second() {
    // The humanoid held at its default pose from a disturbed one, hand of God included.
    let model = character(Character::Humanoid);
    let (n, dt) = (model.nv(), 1.0 / 30.0);
    let (mut kp, mut kd) = (vec![75_000.0; n], vec![4_000.0; n]);
    kp[..6].fill(20_000.0);
    kd[..6].fill(2_000.0);
    let target = model.q0.clone();
    for method in [Method::Maba, Method::Dense, Method::Sparse] {
        let mut solver = Solver::new(&model, method);
        let mut q = configuration(&mut SplitMix64(5), &model, 0.3);
        let mut v = SplitMix64(6).vector(n, 1.0);
        let command = Command { kp: &kp, kd: &kd, target: &target, target_velocity: None, effort_limit: None };
        for _ in 0..150 {
            solver.solve(&q, &v, &command, dt).unwrap();
            v.iter_mut().zip(solver.acceleration()).for_each(|(v, a)| *v += dt * a);
            multibody::integrate(&model.tree, &mut q, &v, dt);
        }
        // Only gravity is left, against these gains: (M g) / kp.
        let mut error = vec![0.0; n];
        multibody::difference(&model.tree, &target, &q, &mut error);
        assert!(norm(&error) < 0.05 && norm(&v) < 1e-3, "{method:?}: {} {}", norm(&error), norm(&v));
    }
}
