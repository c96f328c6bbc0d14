//! What stands on a body that is moved from outside goes along.

use std::sync::Arc;

use crate::common::beside;
use sapwood_sim::{ContactLaw, Frame, Options, Scheme, Simulation};
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

/// A hand that is led by a soft weld comes down on one loose box, presses on it, with more points than the lane takes, and shoves it away.
#[test]
fn a_hand_that_is_led_and_one_loose_box_are_stepped_in_the_lane() {
    let text = r#"<mujoco><option timestep="0.0025"/><default><geom condim="4" friction=".8 .01 .001" solref=".02 1"/></default><worldbody>
      <geom type="plane" size="3 3 .1"/><body name="lead" mocap="true" pos=".4 0 .13"/>
      <body pos="0 0 .13"><joint type="slide" axis="1 0 0" damping="1"/><joint type="slide" axis="0 1 0" damping="1"/>
        <geom type="box" size=".03 .03 .03" mass=".5" contype="0" conaffinity="0"/>
        <body name="hand" pos=".4 0 0"><joint type="slide" axis="0 0 1" damping="1"/><joint axis="0 0 1" damping=".1"/>
          <geom type="box" size=".02 .04 .02" mass=".3" contype="0" conaffinity="0"/>
          <geom type="box" size=".02 .02 .02" pos=".05 .03 0" mass=".1"/><geom type="box" size=".02 .02 .02" pos=".05 -.03 0" mass=".1"/></body></body>
      <body name="box" pos=".45 0 .0398"><freejoint/><geom type="box" size=".04 .06 .04" mass=".2"/></body></worldbody>
      <equality><weld body1="lead" body2="hand" relpose="0 0 0 1 0 0 0" solref=".05 1"/></equality></mujoco>"#;
    let options = Options { tolerance: 1e-12, ..Options::default() };
    let mut most = 0;
    let (worst, in_lane) = beside(text, &options, |sim, step| {
        most = most.max(sim.stats().active_contacts);
        let t = step as f64 * 0.0025;
        let (along, down) = ((t - 0.4).max(0.0), 0.04 * (4.0 * t).min(1.0) - 0.1 * (t - 0.6).max(0.0));
        let mocap = &mut sim.state_mut().mocap;
        mocap.clear();
        mocap.extend([0.4 + 0.1 * along, 0.02 * along, 0.13 - down, 1.0, 0.0, 0.0, 0.0]);
    });
    println!("{worst:e}, {in_lane} in the lane, up to {most} points push");
    assert!(worst < 1e-9 && (100..280).contains(&in_lane) && most > 10, "{worst:e} {in_lane} {most}");
}

/// What a text describes, at its start.
fn of_text(text: &str, options: Options) -> Simulation {
    let loaded = formats::load_str(text, None, &formats::LoadOptions::default()).unwrap();
    Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options).unwrap()
}

/// Puts the only body that is moved from outside at a position and an angle about z, and makes a step.
fn put(sim: &mut Simulation, position: Vec3<f64>, angle: f64) {
    let turn = Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), angle);
    let pose = [position.x, position.y, position.z, turn.w, turn.x, turn.y, turn.z];
    sim.state_mut().mocap.copy_from_slice(&pose);
    sim.step().unwrap();
}

const BEAD: &str = r#"<mujoco><option timestep=".001" gravity="0 0 0"/><worldbody>
  <body name="base" mocap="true"><body name="bead" pos=".1 0 0">
    <joint type="slide" axis="1 0 0"/><joint type="slide" axis="0 1 0"/><geom size=".02" mass="2"/></body></body>
</worldbody></mujoco>"#;

/// A particle that slides freely in the plane of its base stays where it is, or flies on straight, whatever the base does below it.
#[test]
fn what_slides_freely_on_a_moving_base_does_not_feel_it() {
    for scheme in [Scheme::Bilinear, Scheme::SymplecticEuler] {
        let mut sim = of_text(BEAD, Options { scheme, ..Options::default() });
        sim.state_mut().v.copy_from_slice(&[0.0, 0.2]);
        // The first step shows where the base is.
        put(&mut sim, Vec3::ZERO, 0.0);
        for step in 1..=1000 {
            let t = 1e-3 * f64::from(step);
            put(&mut sim, Vec3::new(0.05 * t * t, 0.02 * (3.0 * t).sin(), 0.0), 0.5 * t * t);
        }
        let mut now = sim.observe();
        let bead = now.model().body("bead").unwrap();
        let (pose, velocity) = (now.pose(Frame::Body(bead)), now.velocity(Frame::Body(bead)));
        let missed = (pose.pos - Vec3::new(0.1, 0.2002, 0.0)).norm();
        // A first-order step of 1 ms.
        assert!(missed < 1e-3, "{scheme:?}: {:?}", pose.pos);
        assert!((velocity.lin - Vec3::new(0.0, 0.2, 0.0)).norm() < 2e-3, "{scheme:?}: {velocity:?}");
        let momentum = now.momentum(0).lin;
        assert!((momentum - velocity.lin * 2.0).norm() < 1e-12, "{scheme:?}: {momentum:?}");
        // A ball of 20 mm, which turns with the base.
        let kinetic = velocity.lin.dot(velocity.lin) + 0.5 * 0.4 * 2.0 * 0.02 * 0.02 * velocity.ang.dot(velocity.ang);
        assert!((sim.energy().kinetic - kinetic).abs() < 1e-12, "{scheme:?}: {:?}", sim.energy());
    }
}

/// On a base that starts to move at once, without turning, it stays in place to round-off, and so does its acceleration.
#[test]
fn a_base_that_starts_leaves_what_slides_on_it_behind() {
    let mut sim = of_text(BEAD, Options::default());
    put(&mut sim, Vec3::ZERO, 0.0);
    for step in 1..=100 {
        put(&mut sim, Vec3::new(0.0005 * f64::from(step), 0.0, 0.0), 0.0);
        let mut now = sim.observe();
        let (pose, acceleration) = (now.pose(Frame::Body(2)), now.acceleration(Frame::Body(2)));
        assert!((pose.pos.x - 0.1).abs() < 1e-12 && acceleration.lin.norm() < 1e-9, "{pose:?} {acceleration:?}");
        assert!((now.velocity(Frame::Body(1)).lin.x - 0.5).abs() < 1e-12);
    }
}

/// A bead on a spoke of a base that turns evenly: r̈ = ω² r.
#[test]
fn a_turning_base_drives_a_bead_outwards() {
    let text = r#"<mujoco><option timestep=".0005" gravity="0 0 0"/><worldbody><body mocap="true">
      <body pos=".1 0 0"><joint type="slide" axis="1 0 0"/><geom size=".02" mass="2"/></body></body></worldbody></mujoco>"#;
    let mut sim = of_text(text, Options::default());
    let (dt, omega) = (5e-4, 2.0);
    put(&mut sim, Vec3::ZERO, 0.0);
    for step in 1..=1000 {
        put(&mut sim, Vec3::ZERO, omega * dt * f64::from(step));
    }
    let expected = 0.1 * (omega * 0.5_f64).cosh();
    assert!((0.1 + sim.state().q[0] - expected).abs() < 2e-4, "{} {expected}", 0.1 + sim.state().q[0]);
}

/// A pendulum below a base that gathers speed evenly hangs askew: tan = a / g.
#[test]
fn a_pendulum_hangs_back_on_a_base_that_gathers_speed() {
    let text = r#"<mujoco><worldbody><body mocap="true"><body>
      <joint axis="0 1 0" damping=".5"/><geom size=".02" pos="0 0 -.3" mass="1"/></body></body></worldbody></mujoco>"#;
    for scheme in [Scheme::Bilinear, Scheme::SymplecticEuler, Scheme::Midpoint] {
        let mut sim = of_text(text, Options { scheme, ..Options::default() });
        put(&mut sim, Vec3::ZERO, 0.0);
        for step in 1..=2000 {
            let t = 2e-3 * f64::from(step);
            put(&mut sim, Vec3::new(t * t, 0.0, 0.0), 0.0);
        }
        assert!((sim.state().q[0].tan() - 2.0 / 9.81).abs() < 1e-4, "{scheme:?}: {}", sim.state().q[0].tan());
    }
}

/// A gripper of two fingers, which hold a cube by friction, is lifted and carried: the cube goes along, and has its velocity.
#[test]
fn fingers_on_a_moved_hand_carry_a_cube() {
    let text = r#"<mujoco><option timestep=".002"/><worldbody><geom type="plane" size="3 3 .1"/>
      <body name="hand" mocap="true" pos="0 0 .2"><geom type="box" size=".08 .03 .01" pos="0 0 .05"/>
        <body name="left"><joint name="l" type="slide" axis="1 0 0"/><geom type="box" size=".01 .02 .04" pos="-.06 0 0" mass=".1"/></body>
        <body name="right"><joint name="r" type="slide" axis="-1 0 0"/><geom type="box" size=".01 .02 .04" pos=".06 0 0" mass=".1"/></body></body>
      <body name="cube" pos="0 0 .2"><freejoint/><geom type="box" size=".03 .03 .03" mass=".1"/></body></worldbody>
      <equality><joint joint1="l" joint2="r"/></equality>
      <actuator><motor joint="l" ctrlrange="0 20"/><motor joint="r" ctrlrange="0 20"/></actuator></mujoco>"#;
    let mut sim = of_text(text, Options::default());
    sim.state_mut().ctrl.fill(10.0);
    sim.state_mut().q[2 + 2] = 0.2;
    // The fingers close before the cube falls out.
    sim.state_mut().q[..2].fill(0.02);
    for _ in 0..100 {
        sim.step().unwrap();
    }
    let before = sim.state().q[2..5].to_vec();
    let way = |t: f64| Vec3::new(0.3 * t * t, 0.1 * t * t, 0.2 + 0.2 * t * t);
    for step in 1..=500 {
        put(&mut sim, way(2e-3 * f64::from(step)), 0.0);
    }
    let q = sim.state().q.clone();
    let moved = Vec3::new(q[2] - before[0], q[3] - before[1], q[4] - before[2]);
    let expected = way(1.0) - way(0.0);
    assert!((moved - expected).norm() < 3e-3, "{moved:?} {expected:?}");
    let v = &sim.state().v[2..5];
    let speed = Vec3::new(v[0] - 0.6, v[1] - 0.2, v[2] - 0.4);
    assert!(speed.norm() < 5e-3, "{v:?}");
}

/// What a finger is welded to goes along with the hand, also in the step in which this starts.
#[test]
fn what_is_tied_to_a_finger_is_carried() {
    let text = r#"<mujoco><option timestep=".002" gravity="0 0 0"/><worldbody>
      <body mocap="true"><body name="finger"><joint type="slide" axis="0 1 0"/><geom size=".02" mass=".1"/></body></body>
      <body name="load" pos=".1 0 0"><freejoint/><geom size=".02" mass=".1"/></body></worldbody>
      <equality><weld body1="finger" body2="load"/></equality></mujoco>"#;
    let mut sim = of_text(text, Options::default());
    put(&mut sim, Vec3::ZERO, 0.0);
    for step in 1..=200 {
        put(&mut sim, Vec3::new(1e-3 * f64::from(step), 0.0, 0.0), 0.0);
    }
    let state = sim.state();
    assert!((state.q[1] - 0.3).abs() < 2e-4 && (state.v[1] - 0.5).abs() < 1e-4, "{:?} {:?}", state.q, state.v);
}
