//! What stands on a body that is moved from outside goes along.

use std::sync::Arc;

use sapwood_sim::{Options, Simulation};
use spatial::{Quat, Vec3};

/// A box of 0.1 kg on a platform that is moved from outside.
fn simulation() -> Simulation {
    let text = r#"<mujoco><worldbody>
      <body name="platform" mocap="true"><geom type="box" size="1 1 .05"/></body>
      <body name="box" pos="0 0 .1"><freejoint/><geom type="box" size=".05 .05 .05" mass=".1"/></body>
    </worldbody></mujoco>"#;
    let loaded = formats::load_str(text, None, &formats::LoadOptions::default()).unwrap();
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), Options::default()).unwrap();
    for _ in 0..50 {
        simulation.step().unwrap();
    }
    simulation
}

/// Where the box is.
fn position(simulation: &Simulation) -> Vec3<f64> {
    let q = &simulation.state().q;
    Vec3::new(q[0], q[1], q[2])
}

/// Moves the platform by `way` (its position, and its angle about z, after a time) for `steps`, in calls of `each` steps.
fn carry(simulation: &mut Simulation, way: impl Fn(f64) -> (Vec3<f64>, f64), steps: usize, each: usize) {
    let dt = simulation.timestep();
    for call in 1..=steps / each {
        let (position, angle) = way((call * each) as f64 * dt);
        let turn = Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), angle);
        let pose = [position.x, position.y, position.z, turn.w, turn.x, turn.y, turn.z];
        simulation.state_mut().mocap.copy_from_slice(&pose);
        simulation.set_steps_ahead(each);
        for _ in 0..each {
            simulation.step().unwrap();
        }
    }
}

#[test]
fn a_platform_carries() {
    for each in [1, 5] {
        let mut sim = simulation();
        // It gathers speed with 1 m/s², then goes on with 0.5 m/s.
        let way = |t: f64| if t < 0.5 { 0.5 * t * t } else { 0.125 + 0.5 * (t - 0.5) };
        carry(&mut sim, |t| (Vec3::new(way(t), 0.0, 0.0), 0.0), 500, each);
        let found = position(&sim);
        assert!((found.x - way(1.0)).abs() < 0.002 * each as f64 && found.y.abs() < 1e-9, "{each}: {found:?}");
    }
}

#[test]
fn a_lift_lifts() {
    let mut sim = simulation();
    carry(&mut sim, |t| (Vec3::new(0.0, 0.0, 0.3 * t), 0.0), 500, 1);
    let (z, speed) = (position(&sim).z, sim.state().v[2]);
    assert!((z - 0.4).abs() < 1e-3 && (speed - 0.3).abs() < 1e-6, "{z} {speed}");
    // It stops: the box is thrown up by no more than its speed.
    carry(&mut sim, |_| (Vec3::new(0.0, 0.0, 0.3), 0.0), 500, 1);
    assert!((position(&sim).z - 0.4).abs() < 1e-4, "{:?}", position(&sim));
}

#[test]
fn a_turntable_turns_what_stands_on_it() {
    let mut sim = simulation();
    let q = sim.state_mut();
    q.q[0] = 0.3;
    carry(&mut sim, |t| (Vec3::ZERO, 0.5 * t * t), 500, 1);
    let found = position(&sim);
    let (expected_x, expected_y) = (0.3 * 0.5_f64.cos(), 0.3 * 0.5_f64.sin());
    assert!((found.x - expected_x).abs() < 2e-3 && (found.y - expected_y).abs() < 2e-3, "{found:?}");
}

#[test]
fn what_is_put_elsewhere_has_no_speed() {
    let mut sim = simulation();
    carry(&mut sim, |_| (Vec3::new(0.5, 0.0, 0.0), 0.0), 1, 1);
    assert!(position(&sim).x.abs() < 1e-9 && sim.state().v[0].abs() < 1e-9);
}

#[test]
fn states_hold_where_it_comes_from() {
    let mut sim = simulation();
    let way = |t: f64| (Vec3::new(0.3 * t, 0.0, 0.0), 0.2 * t);
    carry(&mut sim, way, 50, 1);
    let bytes = sim.state().to_bytes();
    let mut other = simulation();
    other.state_mut().restore(&bytes).unwrap();
    let on = |t: f64| way(t + 0.1);
    carry(&mut sim, on, 50, 1);
    carry(&mut other, on, 50, 1);
    assert_eq!(sim.state().to_bytes(), other.state().to_bytes());
}
