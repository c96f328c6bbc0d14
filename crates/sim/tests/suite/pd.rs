//! Stable PD control within the step.

use crate::common::{run, simulation};
use models::characters::{self, Character, Options as CharacterOptions};
use sapwood_sim::stable_pd as spd;
use sapwood_sim::{Options, Pd, Scheme, Simulation};

fn character(character: Character, timestep: f64) -> Simulation {
    character_with(character, Options { timestep: Some(timestep), ..Options::default() })
}

fn character_with(character: Character, options: Options) -> Simulation {
    simulation(&characters::mjcf(character, &CharacterOptions::default()), options)
}

fn wave(n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|i| size * (1.7 * i as f64).sin()).collect()
}

/// The paper's gains: joints 75000 and 4000, root 20000 and 2000.
fn gains(s: &Simulation) -> Pd {
    let nv = s.model().nv();
    let (mut kp, mut kd) = (vec![75_000.0; nv], vec![4_000.0; nv]);
    kp[..6].fill(20_000.0);
    kd[..6].fill(2_000.0);
    Pd { kp, kd, target: s.model().q0.clone(), target_velocity: vec![0.0; nv], effort_limit: vec![f64::INFINITY; nv] }
}

#[test]
fn a_step_in_the_air_is_the_dense_methods_acceleration() {
    for which in [Character::Humanoid, Character::Dog] {
        // The dense method takes Coriolis forces at the beginning of the step.
        let options = Options { timestep: Some(1.0 / 60.0), scheme: Scheme::SymplecticEuler, ..Options::default() };
        let mut s = character_with(which, options);
        let model = s.model().clone();
        let pd = Pd { target_velocity: wave(model.nv(), 0.5), ..gains(&s) };
        let v = wave(model.nv(), 1.0);
        let mut q = model.q0.clone();
        q[2] += 5.0;
        multibody::integrate(&model.tree, &mut q, &wave(model.nv(), 0.3), 1.0);
        (s.state_mut().q, s.state_mut().v, s.state_mut().pd) = (q.clone(), v.clone(), pd.clone());
        s.step().unwrap();
        assert_eq!(s.stats().contacts, 0);
        let Pd { kp, kd, target, target_velocity, .. } = &pd;
        let command = spd::Command { kp, kd, target, target_velocity: Some(target_velocity), effort_limit: None };
        let mut dense = spd::Solver::new(&model, spd::Method::Dense);
        dense.solve(&q, &v, &command, 1.0 / 60.0).unwrap();
        for (i, a) in dense.acceleration().iter().enumerate() {
            let change = a / 60.0;
            assert!((s.state().v[i] - v[i] - change).abs() < 1e-10 * change.abs().max(1.0), "{which:?}, dof {i}");
        }
    }
}

#[test]
fn large_gains_hold_a_pose_on_the_ground_at_a_thirtieth_of_a_second() {
    for which in [Character::Humanoid, Character::Dog] {
        for rate in [30.0, 60.0, 600.0] {
            let mut s = character(which, 1.0 / rate);
            s.state_mut().pd = gains(&s);
            run(&mut s, (3.0 * rate) as usize);
            let mut error = vec![0.0; s.model().nv()];
            multibody::difference(&s.model().tree, &s.state().pd.target, &s.state().q, &mut error);
            let worst = error.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            let speed = s.state().v.iter().fold(0.0_f64, |m, x| m.max(x.abs()));
            // Weights against gains: m g / kp of the root is 30 kg · 9.81 / 20000 = 15 mm.
            assert!(worst < 0.05 && speed < 1e-3, "{which:?} at {rate} Hz: {worst} {speed}");
        }
    }
}

#[test]
fn a_limited_joint_pushes_with_its_limit() {
    let mjcf = r#"<mujoco><option gravity="0 0 0" timestep="0.01"/><worldbody><body><joint axis="0 1 0"/>
        <geom type="sphere" size=".1" pos="0 0 -1" mass="1"/></body></worldbody></mujoco>"#;
    let mut s = simulation(mjcf, Options::default());
    let inertia = 1.0 + 0.4 * 0.01;
    let one = |x: f64| vec![x];
    let limited = |limit: f64| Pd {
        kp: one(1e5),
        kd: one(1e3),
        target: one(1.0),
        target_velocity: one(0.0),
        effort_limit: one(limit),
    };
    s.state_mut().pd = limited(3.0);
    s.step().unwrap();
    assert!((s.state().v[0] - 0.01 * 3.0 / inertia).abs() < 1e-15);
    // Restored, it goes on with the same bits; reset, it is gone.
    let saved = s.state().to_bytes();
    run(&mut s, 50);
    let then = s.state().to_bytes();
    let mut fresh = simulation(mjcf, Options::default());
    fresh.state_mut().restore(&saved).unwrap();
    assert_eq!(fresh.state().pd, limited(3.0));
    run(&mut fresh, 50);
    assert!(fresh.state().to_bytes() == then);
    s.reset(None).unwrap();
    assert!(!s.state().pd.is_active());
}

#[test]
fn a_controller_that_does_not_fit_is_refused_and_nothing_moves() {
    let mut s = character(Character::Snake36, 0.01);
    let good = gains(&s);
    let before = s.state().q.clone();
    s.state_mut().pd = Pd { kp: vec![1.0; 35], ..good.clone() };
    assert_eq!(s.step().unwrap_err().to_string(), "pd: kp has 35 entries: expected 36");
    s.state_mut().pd = Pd { kd: vec![-1.0; 36], ..good };
    assert_eq!(s.step().unwrap_err().to_string(), "pd: kd[0] = -1: expected a finite number, 0 or more");
    assert_eq!(s.state().q, before);
}
