//! Fixed tendons against closed forms: springs, limits, friction, actuators, inertia.

use crate::common::{measured_period, run, simulation};
use sapwood_sim::{Options, Simulation};

/// Two sliders of 1 kg and 2 kg, apart, and a tendon of length 2 x − y with these attributes.
fn sliders(attributes: &str, actuator: &str, dt: f64) -> Simulation {
    let mjcf = format!(
        r#"<mujoco><option gravity="0 0 0"/><worldbody>
        <body><joint name="x" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
        <body><joint name="y" type="slide" axis="1 0 0"/><inertial pos="0 0 0" mass="2" diaginertia="1 1 1"/></body>
        </worldbody><tendon><fixed name="t" {attributes}>
        <joint joint="x" coef="2"/><joint joint="y" coef="-1"/></fixed></tendon>
        <actuator>{actuator}</actuator></mujoco>"#
    );
    simulation(&mjcf, Options { timestep: Some(dt), ..Options::default() })
}

fn length(s: &Simulation) -> f64 {
    2.0 * s.state().q[0] - s.state().q[1]
}

/// c M⁻¹ cᵀ: how easily the tendon's length is moved, 1/kg.
const MOBILITY: f64 = 4.0 / 1.0 + 1.0 / 2.0;

#[test]
fn a_spring_swings_at_its_rate() {
    let mut s = sliders(r#"stiffness="50" springlength="0.1""#, "", 1e-4);
    s.state_mut().q[0] = 0.15;
    let period = measured_period(&mut s, 4.0, |s| length(s) - 0.1);
    let expected = std::f64::consts::TAU / (50.0 * MOBILITY).sqrt();
    assert!((period / expected - 1.0).abs() < 1e-4, "{period} {expected}");
}

#[test]
fn a_spring_with_a_dead_band_swings_between_its_ends() {
    let mut s = sliders(r#"stiffness="50" springlength="-0.1 0.1""#, "", 2e-5);
    let omega = (50.0 * MOBILITY).sqrt();
    // The length starts at 0 at 1 m/s; both sliders share it by their mobilities.
    s.state_mut().v.copy_from_slice(&[2.0 / MOBILITY, -0.5 / MOBILITY]);
    let period = measured_period(&mut s, 4.0, length);
    let expected = 2.0 * (std::f64::consts::PI / omega + 0.2);
    // The implicit spring brakes by ½ π ω dt in each half swing.
    assert!((period / expected - 1.0).abs() < 5e-3, "{period} {expected}");
}

#[test]
fn damping_slows_at_its_rate() {
    let mut s = sliders(r#"damping="0.4""#, "", 1e-4);
    s.state_mut().v.copy_from_slice(&[2.0 / MOBILITY, -0.5 / MOBILITY]);
    run(&mut s, 10_000);
    let rate = 2.0 * s.state().v[0] - s.state().v[1];
    let expected = (-0.4 * MOBILITY).exp();
    assert!((rate / expected - 1.0).abs() < 1e-3, "{rate} {expected}");
}

#[test]
fn limits_hold() {
    for dt in [0.01, 0.001] {
        let mut s = sliders(r#"range="-0.1 0.2" limited="true""#, "", dt);
        for (force, limit) in [(3.0, 0.2), (-3.0, -0.1)] {
            // Along c: nothing moves but the length.
            s.state_mut().applied_force.copy_from_slice(&[2.0 * force, -force]);
            for _ in 0..(2.0 / dt) as usize {
                run(&mut s, 1);
                assert!(length(&s) < 0.2 + 1e-4 && length(&s) > -0.1 - 1e-4, "{dt}: {}", length(&s));
            }
            assert!((length(&s) - limit).abs() < 1e-5, "{dt}: {} {limit}", length(&s));
            assert!(s.stats().limits == 1 && s.state().v.iter().all(|v| v.abs() < 1e-8), "{dt}: {:?}", s.state().v);
        }
    }
}

#[test]
fn friction_sticks_below_and_slides_above() {
    for dt in [0.01, 0.001] {
        let mut s = sliders(r#"frictionloss="0.5""#, "", dt);
        let push = |s: &mut Simulation, force: f64| {
            s.state_mut().applied_force.copy_from_slice(&[2.0 * force, -force]);
            run(s, (1.0 / dt) as usize);
        };
        push(&mut s, 0.499);
        assert!(s.state().v[0].abs() < 1e-6, "{dt}: {:?}", s.state().v);
        push(&mut s, 0.8);
        let expected = 2.0 * (0.8 - 0.5);
        assert!((s.state().v[0] / expected - 1.0).abs() < 1e-5, "{dt}: {:?}", s.state().v);
        // Motion that leaves the length alone meets no friction.
        s.state_mut().v.copy_from_slice(&[1.0, 2.0]);
        push(&mut s, 0.0);
        assert!((s.state().v[0] - 1.0).abs() < 1e-9, "{dt}: {:?}", s.state().v);
    }
}

#[test]
fn an_actuator_pulls_within_its_range() {
    // A motor: gear 3, force at most 2 N, so 6 N along the tendon.
    let motor = r#"<motor tendon="t" gear="3" forcelimited="true" forcerange="-2 2"/>"#;
    // A servo of the length, far from its target: at its limit as well.
    let servo = r#"<position tendon="t" gear="3" kp="1e4" kv="100" forcelimited="true" forcerange="-2 2"/>"#;
    for (actuator, ctrl) in [(motor, 9.0), (servo, 1e3)] {
        for dt in [0.01, 0.001] {
            let mut s = sliders("", actuator, dt);
            s.state_mut().ctrl[0] = ctrl;
            run(&mut s, (0.5 / dt) as usize);
            let v = &s.state().v;
            let expected = [0.5 * 2.0 * 6.0, 0.5 * -6.0 / 2.0];
            assert!((v[0] / expected[0] - 1.0).abs() < 1e-9, "{ctrl} {dt}: {v:?} {expected:?}");
            assert!((v[1] / expected[1] - 1.0).abs() < 1e-9, "{ctrl} {dt}: {v:?} {expected:?}");
        }
    }
}

#[test]
fn a_servo_takes_the_length_to_its_target() {
    let servo = r#"<position tendon="t" kp="1e6" kv="1e4" forcelimited="true" forcerange="-5 5"/>"#;
    let mut s = sliders("", servo, 0.01);
    s.state_mut().ctrl[0] = 0.3;
    run(&mut s, 1000);
    assert!((length(&s) - 0.3).abs() < 1e-6 && s.state().v[0].abs() < 1e-6, "{} {:?}", length(&s), s.state().v);
    // The tendon's force is along c: m x / 2 + 2 m y stays.
    let still = s.state().q[0] * 1.0 / 2.0 + s.state().q[1] * 2.0;
    assert!(still.abs() < 1e-9, "{still}");
}

#[test]
fn armature_is_inertia_along_the_length() {
    for dt in [0.01, 0.001] {
        let mut s = sliders(r#"armature="0.7""#, "", dt);
        s.state_mut().applied_force[0] = 1.0;
        run(&mut s, (1.0 / dt) as usize);
        // (M + A c cᵀ) a = f
        let determinant = (1.0 + 0.7 * 4.0) * (2.0 + 0.7) - (0.7 * 2.0) * (0.7 * 2.0);
        let expected = [(2.0 + 0.7) / determinant, 0.7 * 2.0 / determinant];
        let v = s.state().v.clone();
        assert!((v[0] / expected[0] - 1.0).abs() < 1e-9, "{dt}: {v:?} {expected:?}");
        assert!((v[1] / expected[1] - 1.0).abs() < 1e-9, "{dt}: {v:?} {expected:?}");
        // The work of the force: ½ f v t and half a step, all of it kinetic.
        let rate = 2.0 * v[0] - v[1];
        let kinetic = 0.5 * (v[0] * v[0] + 2.0 * v[1] * v[1] + 0.7 * rate * rate);
        assert!((s.energy().kinetic / kinetic - 1.0).abs() < 1e-12, "{dt}: {} {kinetic}", s.energy().kinetic);
        assert!((kinetic / (0.5 * v[0]) - 1.0).abs() < 1e-9, "{dt}: {kinetic}");
    }
}
