//! Dry friction of joints against closed forms.

use crate::common::{both_ways, run, simulation};
use sapwood_sim::{Options, Simulation};

fn at(timestep: f64) -> Options {
    Options { timestep: Some(timestep), ..Options::default() }
}

/// A wheel of 0.4 kg·m² on a joint of this type, with a dry friction of 0.5.
fn wheel(joint: &str, dt: f64) -> Simulation {
    simulation(&wheel_with(joint, r#"frictionloss=".5""#), at(dt))
}

fn wheel_with(joint: &str, friction: &str) -> String {
    format!(
        r#"<mujoco><option gravity="0 0 0"/><worldbody><body><joint type="{joint}" {friction}/>
        <inertial pos="0 0 0" mass=".4" diaginertia=".4 .4 .4"/></body></worldbody></mujoco>"#
    )
}

#[test]
fn a_joint_sticks_below_its_friction_and_accelerates_above() {
    for joint in ["hinge", "slide", "ball", "free"] {
        for dt in [0.01, 0.001] {
            let mut s = wheel(joint, dt);
            s.state_mut().applied_force[0] = 0.499;
            run(&mut s, (1.0 / dt) as usize);
            let creep = s.state().v[0].abs();
            assert!(creep < 1e-6, "{joint} {dt}: {creep}");
            s.state_mut().applied_force[0] = 0.7;
            run(&mut s, (1.0 / dt) as usize);
            let expected = (0.7 - 0.5) / 0.4;
            let speed = s.state().v[0];
            assert!((speed / expected - 1.0).abs() < 1e-5, "{joint} {dt}: {speed} {expected}");
            // The force gone, friction stops it, and it stays.
            s.state_mut().applied_force[0] = 0.0;
            let stops = expected / (0.5 / 0.4);
            run(&mut s, (0.95 * stops / dt) as usize);
            assert!(s.state().v[0] > 0.04 * expected);
            run(&mut s, (0.1 * stops / dt) as usize + 5);
            assert!(s.state().v[0].abs() < 1e-9, "{joint} {dt}: {}", s.state().v[0]);
        }
    }
}

/// f = (−b v − v̇)/R, R = (1 − d)/d over the inertia: under a load within the friction v = f R/b, beyond it friction is what it is.
#[test]
fn friction_with_a_reference_creeps_by_its_law() {
    for joint in ["hinge", "slide", "ball"] {
        for (reference, damping) in [(r#""-9 -40""#, 40.0 / 0.95), (r#""0.05 0.3""#, 2.0 / (0.95 * 0.05))] {
            for dt in [0.01, 0.001] {
                let friction = format!(r#"frictionloss=".5" solreffriction={reference} solimpfriction=".8 .95 .01""#);
                let mjcf = wheel_with(joint, &friction);
                // What the solver leaves adds up over the steps in which the creep settles.
                let options = Options { tolerance: 1e-10, ..at(dt) };
                for mut s in both_ways(|| simulation(&mjcf, options.clone())) {
                    s.state_mut().applied_force[0] = 0.3;
                    run(&mut s, (2.0 / dt) as usize);
                    let (speed, expected) = (s.state().v[0], 0.3 * 0.25 / 0.4 / damping);
                    assert!((speed / expected - 1.0).abs() < 1e-6, "{joint} {reference} {dt}: {speed} {expected}");
                    s.state_mut().applied_force[0] = 0.7;
                    let before = s.state().v[0];
                    run(&mut s, (3.0 / dt) as usize);
                    let rate = (s.state().v[0] - before) / 3.0;
                    assert!((rate / ((0.7 - 0.5) / 0.4) - 1.0).abs() < 0.02, "{joint} {reference} {dt}: {rate}");
                }
            }
        }
    }
}

/// The turning points of an oscillation, their distances from 0. Within `band`, where friction holds, there are none.
fn turning_points(s: &mut Simulation, steps: usize, band: f64) -> Vec<f64> {
    let mut turns = Vec::new();
    for _ in 0..steps {
        let (q, v) = (s.state().q[0].abs(), s.state().v[0]);
        run(s, 1);
        if v * s.state().v[0] < 0.0 && q > band {
            turns.push(q.max(s.state().q[0].abs()));
        }
    }
    turns
}

#[test]
fn a_half_swing_on_a_spring_loses_twice_friction_over_stiffness() {
    // k = 40, J = 0.4, f = 0.5: 110 mrad, then 25 mrad less every half swing, until |q| ≤ f/k.
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><body><joint frictionloss=".5" stiffness="40"/>
        <inertial pos="0 0 0" mass="1" diaginertia=".4 .4 .4"/></body></worldbody></mujoco>"#;
    let (dt, omega) = (2e-5, 10.0);
    let mut s = simulation(mjcf, at(dt));
    s.state_mut().q[0] = 0.11;
    let turns = turning_points(&mut s, (2.0 / dt) as usize, 0.5 / 40.0);
    let mut expected = 0.11;
    assert_eq!(turns.len(), 3, "{turns:?}");
    for turn in turns {
        expected -= 0.025;
        // Steps end next to a turning point.
        assert!((turn - expected).abs() < (omega * dt).powi(2), "{turn}, {expected}");
    }
    assert!(s.state().v[0].abs() < 1e-9 && (s.state().q[0] - 0.01).abs() < 1e-3, "{:?}", s.state());
}

#[test]
fn a_pendulum_loses_the_work_of_friction() {
    let mjcf = r#"<mujoco><worldbody><body><joint axis="0 1 0" frictionloss=".05"/>
        <inertial pos="0 0 -.5" mass="1" diaginertia=".001 .001 .001"/></body></worldbody></mujoco>"#;
    let dt = 1e-4;
    let mut s = simulation(mjcf, at(dt));
    s.state_mut().q[0] = 1.2;
    let band = (0.05_f64 / (9.81 * 0.5)).asin();
    let mut amplitude = 1.2_f64;
    let turns = turning_points(&mut s, (60.0 / dt) as usize, band);
    assert!(turns.len() > 40, "{turns:?}");
    for (swing, next) in turns.into_iter().enumerate() {
        // m g l (cos a' − cos a) = f (a + a')
        let (lost, work) = (9.81 * 0.5 * (next.cos() - amplitude.cos()), 0.05 * (next + amplitude));
        assert!((lost / work - 1.0).abs() < 2e-3, "swing {swing}: {lost} {work}");
        amplitude = next;
    }
    // It stops where friction carries the weight.
    assert!(s.state().v[0].abs() < 1e-8 && s.state().q[0].abs() < band, "{:?}", s.state());
}

#[test]
fn friction_of_a_urdf_joint_holds_a_link() {
    let urdf = |friction: f64| {
        format!(
            r#"<robot name="arm"><link name="base"/><link name="a"><inertial><origin xyz="0.2 0 0"/><mass value="1"/>
            <inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>
            <joint name="j" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
            <dynamics friction="{friction}"/></joint></robot>"#
        )
    };
    // The weight turns it with 1.962 N·m.
    let mut held = simulation(&urdf(2.0), at(0.002));
    run(&mut held, 500);
    assert!(held.state().v[0].abs() < 1e-6, "{}", held.state().v[0]);
    let mut falls = simulation(&urdf(1.0), at(0.002));
    run(&mut falls, 1);
    let expected = 0.002 * (1.962 - 1.0) / (0.01 + 0.04);
    assert!((falls.state().v[0] / expected - 1.0).abs() < 1e-6, "{} {expected}", falls.state().v[0]);
}
