//! Steps under error control.

use crate::common::{DOUBLE_PENDULUM, TUMBLING, run, simulation};
use sapwood_sim::{Options, Scheme, Simulation, SimulationError};

const THROWN: &str = r#"<mujoco><worldbody><geom type="plane" size="5 5 1" friction=".5"/>
    <body pos="0 0 .5" euler="20 30 0"><freejoint/><geom type="box" size=".1 .1 .1" mass="1" friction=".5"/></body></worldbody></mujoco>"#;

fn start(mjcf: &str, scheme: Scheme, accuracy: Option<f64>, dt: f64) -> Simulation {
    let mut s =
        simulation(mjcf, Options { scheme, accuracy, timestep: Some(dt), tolerance: 1e-10, ..Options::default() });
    match mjcf {
        DOUBLE_PENDULUM => s.state_mut().q.copy_from_slice(&[1.5, 0.5]),
        TUMBLING => s.state_mut().v.copy_from_slice(&[0.1, 0.2, 0.3, 0.05, 3.0, 0.02]),
        _ => {}
    }
    s
}

fn greatest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
}

#[test]
fn what_is_asked_for_is_what_comes() {
    for (mjcf, time) in [(DOUBLE_PENDULUM, 1.0_f64), (TUMBLING, 1.0), (THROWN, 0.2)] {
        let mut reference = start(mjcf, Scheme::Midpoint, None, 2e-5);
        run(&mut reference, (time / 2e-5).round() as usize);
        for scheme in [Scheme::Midpoint, Scheme::SymplecticEuler, Scheme::ImplicitEuler] {
            let accuracy = 1e-3;
            let mut s = start(mjcf, scheme, Some(accuracy), 0.01);
            s.advance_to(time).unwrap();
            assert_eq!(s.state().time, time);
            let error = greatest_difference(&s.state().q, &reference.state().q);
            assert!(error < 3.0 * accuracy, "{scheme}: {error} in {mjcf}");
        }
    }
}

#[test]
fn impacts_are_no_obstacle() {
    let mut s = start(THROWN, Scheme::Midpoint, Some(1e-4), 0.01);
    s.advance_to(2.0).unwrap();
    assert!(s.state().v.iter().all(|v| v.abs() < 1e-3), "{:?}", s.state().v);
    assert!((s.state().q[2] - 0.1).abs() < 1e-5);
    // It does not crawl: thousands of steps, not millions.
    assert!(s.stats().substeps < 20_000 && s.stats().rejected < 1_000, "{:?}", s.stats());
}

#[test]
fn frames_between_steps_are_as_good_as_steps() {
    let times: Vec<f64> = (0..=100).map(|k| 0.01 * f64::from(k)).collect();
    let mut frames = Vec::new();
    let mut s = start(DOUBLE_PENDULUM, Scheme::Midpoint, Some(1e-5), 0.01);
    s.trajectory(&times, |q, v| frames.push((q.to_vec(), v.to_vec()))).unwrap();
    assert_eq!((frames.len(), s.state().time), (101, 1.0));
    let mut fine = start(DOUBLE_PENDULUM, Scheme::Midpoint, Some(1e-7), 0.01);
    for (time, (q, v)) in times.iter().zip(&frames) {
        fine.advance_to(*time).unwrap();
        assert!(greatest_difference(q, &fine.state().q) < 3e-5);
        assert!(greatest_difference(v, &fine.state().v) < 3e-5);
    }
}

#[test]
fn a_trajectory_that_is_given_up_ends_with_a_step_and_can_go_on() {
    let times: Vec<f64> = (0..=20).map(|k| 0.05 * f64::from(k)).collect();
    for accuracy in [None, Some(1e-4)] {
        let new = || start(DOUBLE_PENDULUM, Scheme::Midpoint, accuracy, 0.01);
        let (mut whole, mut expected) = (new(), Vec::new());
        whole.trajectory(&times, |q, _| expected.push(q.to_vec())).unwrap();
        let (mut s, mut frames, mut asked) = (new(), Vec::new(), 0);
        let goes_on = || {
            asked += 1;
            asked < 9
        };
        let flow = s.trajectory_while(&times, |q, _| frames.push(q.to_vec()), goes_on).unwrap();
        assert!(flow.is_break() && s.state().step == 9 && s.state().time < 1.0, "{accuracy:?}");
        assert!(frames.len() > 1 && frames[..] == expected[..frames.len()], "{accuracy:?}");
        s.advance_to(1.0).unwrap();
        assert!(s.state().to_bytes() == whole.state().to_bytes(), "{accuracy:?}");
    }
}

#[test]
fn the_state_knows_the_next_step() {
    let mut s = start(THROWN, Scheme::Midpoint, Some(1e-3), 0.02);
    run(&mut s, 10);
    let bytes = s.state().to_bytes();
    let mut other = start(THROWN, Scheme::Midpoint, Some(1e-3), 0.02);
    other.state_mut().restore(&bytes).unwrap();
    run(&mut s, 20);
    run(&mut other, 20);
    assert_eq!(s.state().to_bytes(), other.state().to_bytes());
    assert!((s.state().time - 0.6).abs() < 1e-12);
}

#[test]
fn times_that_make_no_sense_are_refused() {
    let mut s = start(DOUBLE_PENDULUM, Scheme::Midpoint, Some(1e-3), 0.01);
    assert!(matches!(s.advance_to(f64::NAN), Err(SimulationError::Option { name: "time", .. })));
    for times in [[1.0, 0.5], [1.0, f64::NAN]] {
        assert!(matches!(s.trajectory(&times, |_, _| ()), Err(SimulationError::Times { index: 1, .. })));
    }
    assert!(matches!(s.trajectory(&[-0.5, 0.5], |_, _| ()), Err(SimulationError::Passed { now: 0.0, .. })));
    s.advance_to(-1.0).unwrap();
    assert_eq!(s.state().time, 0.0);
}

#[test]
fn without_an_accuracy_the_last_step_is_cut() {
    let mut s = start(DOUBLE_PENDULUM, Scheme::Midpoint, None, 0.01);
    s.advance_to(0.025).unwrap();
    assert_eq!((s.state().step, s.state().time), (3, 0.025));
}
