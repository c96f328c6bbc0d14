//! Springs of every kind neither gain nor lose under the default step where it resolves them, as a lane and as a step for all models.

use std::sync::Arc;

use sapwood_sim::{Options, Simulation};

/// A simulation of this MJCF at a step of `dt` s.
fn simulation(mjcf: &str, dt: f64, in_lane: bool) -> Simulation {
    let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let options = Options { timestep: Some(dt), ..Options::default() };
    let make = if in_lane { Simulation::new } else { Simulation::without_lane };
    make(model, scene, options).unwrap()
}

/// The largest deviation of the first coordinate in the last of `periods`, over that in the first one.
fn amplitude_left(simulation: &mut Simulation, dt: f64, start: f64, frequency: f64, seconds: f64) -> f64 {
    let q = &mut simulation.state_mut().q;
    let last = q.len() - 1;
    if q.len() == 4 {
        (q[0], q[3]) = ((0.5 * start).cos(), (0.5 * start).sin());
    } else {
        q[0] = start;
    }
    let (steps, period) = ((seconds / dt).round() as usize, (1.0 / (frequency * dt)).ceil() as usize + 1);
    let (mut first, mut end) = (0.0_f64, 0.0_f64);
    for step in 0..steps {
        simulation.step().unwrap();
        let q = simulation.state().q[last].abs();
        if step < period {
            first = first.max(q);
        } else if step + period >= steps {
            end = end.max(q);
        }
    }
    end / first
}

/// A mass of 2 kg (or moments of inertia of 2 kg m²) on a spring of this kind and frequency.
fn swing(kind: &str, frequency: f64) -> String {
    let on_lever = kind == "ball on a lever";
    let (moment, inertial) = if on_lever {
        // About its own axis the bob would be turned 50 times as easily.
        (0.51, r#"pos=".5 0 0" diaginertia=".01 .01 .01""#)
    } else {
        (2.0, r#"pos="0 0 0" diaginertia="2 2 2""#)
    };
    let k = moment * (std::f64::consts::TAU * frequency).powi(2);
    let (joint, below) = match kind {
        "slide" => (format!(r#"<joint name="j" type="slide" axis="1 0 0" stiffness="{k}"/>"#), String::new()),
        "hinge" => (format!(r#"<joint name="j" axis="0 0 1" stiffness="{k}"/>"#), String::new()),
        "ball" | "ball on a lever" => (format!(r#"<joint name="j" type="ball" stiffness="{k}"/>"#), String::new()),
        "tendon" => (
            r#"<joint name="j" type="slide" axis="1 0 0"/>"#.into(),
            format!(
                r#"<tendon><fixed stiffness="{}" springlength="0"><joint joint="j" coef="2"/></fixed></tendon>"#,
                k / 4.0
            ),
        ),
        "servo" => (
            r#"<joint name="j" type="slide" axis="1 0 0"/>"#.into(),
            format!(r#"<actuator><position joint="j" kp="{}" gear="2"/></actuator>"#, k / 4.0),
        ),
        "servo of a tendon" => (
            r#"<joint name="j" type="slide" axis="1 0 0"/>"#.into(),
            format!(
                r#"<tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
                <actuator><position tendon="t" kp="{}"/></actuator>"#,
                k / 4.0
            ),
        ),
        _ => unreachable!("{kind}"),
    };
    format!(
        r#"<mujoco><option gravity="0 0 0"/><worldbody><body>{joint}
        <inertial mass="2" {inertial}/></body></worldbody>{below}</mujoco>"#
    )
}

#[test]
fn every_kind_of_spring_keeps_its_swing() {
    for kind in ["slide", "hinge", "ball", "ball on a lever", "tendon", "servo", "servo of a tendon"] {
        for (frequency, dt, least) in
            [(1.0, 2e-3, 0.99), (5.0, 2e-3, 0.99), (20.0, 2e-3, 0.95), (25.0, 1e-3, 0.95), (5.0, 5e-3, 0.95)]
        {
            for in_lane in [true, false] {
                let mut simulation = simulation(&swing(kind, frequency), dt, in_lane);
                let left = amplitude_left(&mut simulation, dt, 0.1, frequency, 10.0);
                assert!(left > least && left < 1.02, "{kind}, {frequency} Hz at {dt} s: {left} left");
            }
        }
    }
}

#[test]
fn a_spring_beyond_the_step_comes_to_rest() {
    for in_lane in [true, false] {
        let left = amplitude_left(&mut simulation(&swing("slide", 2e3), 2e-3, in_lane), 2e-3, 0.1, 10.0, 1.0);
        assert!(left < 1e-6, "{left}");
    }
}

#[test]
fn a_lossless_ball_comes_back() {
    // Dropped by 1 m on a spring as MJCF has it, without damping: z = dt² k of 0.08.
    for (stiffness, dt, tolerance) in [(2e4, 2e-3, 0.05), (2e4, 5e-4, 0.03), (2e5, 5e-4, 0.05)] {
        let mjcf = format!(
            r#"<mujoco><worldbody><geom type="plane" size="1 1 .1"/><body pos="0 0 1.05"><freejoint/>
            <geom size=".05" mass="1" solref="-{stiffness} 0" solimp=".5 .5 .001"/></body></worldbody></mujoco>"#
        );
        for in_lane in [true, false] {
            let mut simulation = simulation(&mjcf, dt, in_lane);
            let (mut highest, mut has_touched) = (0.0_f64, false);
            for _ in 0..(1.0 / dt) as usize {
                simulation.step().unwrap();
                let state = simulation.state();
                has_touched |= state.q[2] < 0.05;
                if has_touched && state.v[2] > 0.0 {
                    highest = highest.max(state.q[2]);
                }
            }
            assert!((highest - 1.05).abs() < tolerance, "{stiffness} at {dt} s, in lane {in_lane}: {highest} m");
        }
    }
}

#[test]
fn springs_in_physical_units_have_no_end() {
    // Balls of 0.1 m, the middle of one 0.02 m from that of the other: 0.18 m deep, where a spring of `solref` ends at 0.1 m.
    let (stiffness, mass, dt) = (1e3, 1.0, 1e-4);
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><geom size=".1"/>
        <body pos="0 0 .02"><joint type="slide" axis="0 0 1"/><geom size=".1" mass="1"/></body></worldbody></mujoco>"#;
    for in_lane in [true, false] {
        let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap();
        let (mut model, scene) = (loaded.model, Arc::new(loaded.scene));
        for material in &mut model.materials {
            material.compliance = multibody::Compliance::Physical { stiffness, relaxation: 0.0 };
        }
        let options = Options { timestep: Some(dt), ..Options::default() };
        let make = if in_lane { Simulation::new } else { Simulation::without_lane };
        let mut simulation = make(Arc::new(model), scene, options).unwrap();
        simulation.step().unwrap();
        // In a row are the springs of both surfaces.
        let expected = 0.5 * stiffness * 0.18 / mass * dt;
        let v = simulation.state().v[0];
        assert!((v / expected - 1.0).abs() < 1e-2, "in lane {in_lane}: {v} m/s, expected {expected}");
    }
}
