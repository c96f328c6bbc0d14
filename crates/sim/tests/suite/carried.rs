//! What stands on a body that is moved from outside goes along.

use std::sync::Arc;

use crate::common::beside;
use sapwood_sim::{ContactLaw, Options, Simulation};
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

/// A cart of two links on a platform that is moved from outside, with a rail and a ball beside it; steps in the lane and for all models.
const CART: &str = r#"<mujoco><option timestep="0.004"/><default><geom friction=".6"/></default><worldbody>
  <geom type="plane" size="9 9 1" pos="0 0 -.5"/>
  <body name="platform" mocap="true"><geom name="deck" type="box" size="1 1 .05" BELT/>
    <geom type="capsule" size=".05" fromto="-.8 .3 .1 .8 .3 .1"/></body>
  <body name="ball" mocap="true" pos=".8 0 .2"><geom type="sphere" size=".1"/></body>
  <body name="cart" pos="0 0 .12"><freejoint/><geom name="bed" type="box" size=".2 .1 .05" mass="1"/>
    <body pos=".2 0 .05"><joint type="hinge" axis="0 1 0" damping=".01"/>
      <geom name="tip" type="capsule" size=".03" fromto="0 0 0 .3 0 .1" mass=".3" TRACK/></body></body>
</worldbody>EXTRA</mujoco>"#;

const GRASP: &str = r#"<equality><weld body1="ball" body2="cart" active="false"/></equality>"#;
const PAIRS: &str = r#"<contact><pair geom1="bed" geom2="deck" condim="3" friction=".2 .8"/>
  <pair geom1="deck" geom2="tip" condim="3" friction=".8 .1"/></contact>"#;

/// Moves both bodies from outside.
fn drive(sim: &mut Simulation, step: u64) {
    let t = step as f64 * 0.004;
    let turn = Quat::from_axis_angle(Vec3::new(0.1, 0.0, 1.0).normalized().unwrap(), 0.5 * t * t);
    let state = sim.state_mut();
    state.mocap.clear();
    state.mocap.extend([0.2 * t * t, 0.0, 0.02 * libm::sin(9.0 * t), turn.w, turn.x, turn.y, turn.z]);
    state.mocap.extend([0.8 - 0.7 * t, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0]);
}

#[test]
fn steps_in_lanes_are_those_of_the_step_for_all_models() {
    let (belt, track) = (r#"surfacevel=".3 .1 0 0 0 .5""#, r#"surfacevel="0 0 .4 0 2 0""#);
    let soft = r#"solref=".02 1""#;
    for contact in [ContactLaw::Coulomb, ContactLaw::Lagged, ContactLaw::Sap] {
        for (belt, track, extra) in [("", "", GRASP), (belt, track, ""), (soft, "", PAIRS), (belt, track, PAIRS)] {
            let options = Options { contact, tolerance: 1e-12, ..Options::default() };
            let text = CART.replace("BELT", belt).replace("TRACK", track).replace("EXTRA", extra);
            let (worst, in_lane) = beside(&text, &options, |sim, step| {
                drive(sim, step);
                let active = &mut sim.state_mut().equality_active;
                active.iter_mut().for_each(|active| *active = f64::from(u8::from(step > 200)));
                // A belt that is switched on, and off again.
                if belt.is_empty() && !extra.is_empty() {
                    let state = sim.state_mut();
                    state.surface_velocity.clear();
                    state.surface_velocity.resize(3 * 6, if (50..90).contains(&step) { 0.3 } else { 0.0 });
                }
            });
            println!("{contact:?}, {belt}, {track}, {extra}: {worst:e}, {in_lane}");
            assert!(worst < 1e-9 && in_lane > 100, "{contact:?}, {belt}, {track}, {extra}: {worst:e}, {in_lane}");
        }
    }
}
