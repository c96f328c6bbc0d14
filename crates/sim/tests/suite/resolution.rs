//! Steps that do not resolve the motion are made in parts, and no others: of the midpoint rule, left to itself, and of heaps.

use crate::common::{self, DOUBLE_PENDULUM, run, simulation};
use models::scenes;
use sapwood_sim::{Options, Scheme, Simulation};
use support::SplitMix64;

fn midpoint(mjcf: &str, dt: f64) -> Simulation {
    simulation(mjcf, Options { scheme: Scheme::Midpoint, conserve: false, timestep: Some(dt), ..Options::default() })
}

/// Parts of all these steps.
fn parts(s: &mut Simulation, steps: usize) -> usize {
    (0..steps)
        .map(|_| {
            run(s, 1);
            s.stats().substeps
        })
        .sum()
}

#[test]
fn the_energy_of_a_flung_arm_stays_bounded_at_10_ms() {
    let mjcf = scenes::mjcf("flung-arm".parse().unwrap());
    // The motion is chaotic: each of these starts leads elsewhere. In steps that are all whole, six of seven err by more than
    // 20 %.
    let runs = [0.0, 1e-9, 2e-9, 3e-9].map(|nudge| {
        let mut s = midpoint(&mjcf, 0.01);
        s.state_mut().q[1] = std::f64::consts::PI;
        let hanging = s.energy().total();
        s.reset(Some("flung")).unwrap();
        s.state_mut().q[0] += nudge;
        let start = s.energy().total();
        let (mut quarters, mut all) = ([0.0_f64; 4], 0);
        for k in 0..10_000 {
            all += parts(&mut s, 1);
            let error = (s.energy().total() - start) / (start - hanging);
            let worst = &mut quarters[k / 2500];
            *worst = worst.max(error.abs());
        }
        assert!(quarters.iter().all(|q| *q < 0.2), "{quarters:?}");
        // Nor is that bought by halving every step.
        assert!((11_000..19_000).contains(&all), "{all} parts");
        quarters
    });
    let sum = |quarter: usize| runs.iter().map(|quarters| quarters[quarter]).sum::<f64>();
    assert!(sum(3) < 3.0 * sum(0), "drifts: {runs:?}");
}

/// A free body with an arm, and a wheel on it whose centre of mass is `eccentricity` off its axis.
fn with_wheel(eccentricity: f64) -> Simulation {
    let mjcf = format!(
        r#"<mujoco><option gravity="0 0 -9.81"/><worldbody><body><freejoint/><geom type="box" size=".3 .1 .1" mass="2"/>
        <body pos=".3 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".02" fromto="0 0 0 .3 0 0" mass=".3"/></body>
        <body pos="-.3 0 0"><joint axis="0 1 0"/>
        <inertial pos="{eccentricity} 0 0" mass="1" diaginertia=".005 .01 .005"/></body></body></worldbody></mujoco>"#
    );
    midpoint(&mjcf, 0.01)
}

#[test]
fn what_spins_without_changing_inertia_is_left_whole() {
    let spinning = |eccentricity| {
        let mut s = with_wheel(eccentricity);
        // Three radians of the wheel in a step, on a body that tumbles slowly.
        s.state_mut().v.copy_from_slice(&[0.0, 0.0, 0.0, 0.5, 1.0, 0.3, 0.0, 300.0]);
        parts(&mut s, 50)
    };
    assert_eq!(spinning(0.0), 50);
    assert!(spinning(0.05) > 100);
    // A body by itself keeps its energy however fast it tumbles.
    let mut s = midpoint(common::TUMBLING, 0.01);
    s.state_mut().v[3..].copy_from_slice(&[30.0, 100.0, 50.0]);
    assert_eq!(parts(&mut s, 50), 50);
}

/// Of a body by itself that is hit, the energy of its spin is set right: none asks all others of a heap for halves, and none gains energy.
#[test]
fn a_heap_of_bodies_that_tumble_is_left_whole() {
    let body = |i: usize| {
        let (x, y, z) = (0.3 * (i % 2) as f64, 0.3 * (i / 2 % 2) as f64, 0.3 + 0.25 * (i / 4) as f64);
        format!(
            r#"<body pos="{x} {y} {z}"><freejoint/><geom type="capsule" fromto="0 0 0 .15 0 0" size=".02" mass=".5"/>
            <geom type="capsule" fromto="0 0 0 0 .1 .05" size=".03" mass=".3"/></body>"#
        )
    };
    let bodies: String = (0..8).map(body).collect();
    let ground = r#"<geom type="plane" size="0 0 1"/>"#;
    let mjcf = format!(r#"<mujoco><option timestep=".01"/><worldbody>{ground}{bodies}</worldbody></mujoco>"#);
    for seed in 0..4 {
        let (mut s, mut random) = (simulation(&mjcf, Options::default()), SplitMix64(seed));
        for v in s.state_mut().v.chunks_exact_mut(6) {
            v[2] = -2.0;
            v[3..].fill_with(|| 25.0 * random.symmetric());
        }
        let start = s.energy().total();
        let (mut before, mut made) = (start, 0);
        for step in 0..100 {
            made += parts(&mut s, 1);
            let energy = s.energy().total();
            assert!(energy < before + 2e-3 * start, "seed {seed}, step {step}: {before} to {energy} J of {start}");
            before = energy;
        }
        assert_eq!(made, 100, "seed {seed}");
    }
}

#[test]
fn resolution_does_not_depend_on_who_looks() {
    let flailing = |speed: f64| {
        let mut s = with_wheel(0.0);
        s.state_mut().v.copy_from_slice(&[speed, 0.0, 0.0, 0.5, 1.0, 0.3, 60.0, 0.0]);
        parts(&mut s, 50)
    };
    let at_rest = flailing(0.0);
    assert!(at_rest > 55, "{at_rest}");
    assert_eq!(flailing(100.0), at_rest);
}

#[test]
fn parts_are_counted_with_what_was_given_up() {
    let mut s = midpoint(DOUBLE_PENDULUM, 0.05);
    s.state_mut().q.copy_from_slice(&[2.0, 1.0]);
    s.state_mut().v.copy_from_slice(&[10.0, -25.0]);
    run(&mut s, 1);
    let stats = *s.stats();
    assert!(stats.substeps > 1);
    // Each part evaluates forces at least twice, and so does each step that was given up.
    assert!(stats.force_evaluations >= 2 * (2 * stats.substeps - 1), "{stats:?}");
    assert!((s.state().time - 0.05).abs() < 1e-15 && s.state().step == 1);
}
