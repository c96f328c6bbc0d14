//! Torsional and rolling friction, and surfaces that move, against closed forms.

use crate::common::{run, simulation};
use sapwood_sim::{ContactLaw, Options, Simulation};

const G: f64 = 9.81;
const LAWS: [ContactLaw; 3] = [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb];
const STEPS: [f64; 2] = [0.01, 0.001];

fn options(contact: ContactLaw, timestep: f64) -> Options {
    Options { contact, timestep: Some(timestep), ..Options::default() }
}

/// A ball of 1 kg and 0.1 m on a plane, both with these contact parameters, gravity at `angle` from the normal towards x.
fn ball(parameters: &str, angle: f64, options: Options) -> Simulation {
    let (s, c) = angle.sin_cos();
    let mjcf = format!(
        r#"<mujoco><option gravity="{} 0 {}"/><worldbody><geom type="plane" size="9 9 1" {parameters}/>
        <body pos="0 0 0.1"><freejoint/><geom type="sphere" size="0.1" mass="1" {parameters}/></body>
        </worldbody></mujoco>"#,
        G * s,
        -G * c
    );
    let mut s = simulation(&mjcf, options);
    // Let it come to rest in its hollow.
    run(&mut s, 20);
    let rest = s.state().q[2];
    s.reset(None).unwrap();
    s.state_mut().q[2] = rest;
    run(&mut s, 2);
    s
}

#[test]
fn a_spinning_ball_stops_as_its_torsional_friction_says() {
    // τ N / I
    let rate = 0.005 * G / (0.4 * 0.01);
    for law in LAWS {
        for dt in STEPS {
            for condim in [4, 6] {
                let parameters = format!(r#"condim="{condim}" friction="1 0.005 0.0001""#);
                let mut s = ball(&parameters, 0.0, options(law, dt));
                s.state_mut().v[5] = 10.0;
                run(&mut s, (0.5 / dt) as usize);
                let slowed = (10.0 - s.state().v[5]) / 0.5;
                assert!((slowed / rate - 1.0).abs() < 1e-3, "{law:?} {dt}: {slowed} {rate}");
                run(&mut s, ((10.0 / rate - 0.5) / dt) as usize - 1);
                assert!(s.state().v[5] > 0.0, "{law:?} {dt}");
                run(&mut s, 3);
                assert!(s.state().v[5].abs() < 1e-6, "{law:?} {dt}: {}", s.state().v[5]);
            }
        }
    }
}

#[test]
fn a_ball_without_torsional_friction_spins_on() {
    let mut s = ball(r#"condim="3""#, 0.0, options(ContactLaw::Coulomb, 0.01));
    s.state_mut().v[5] = 10.0;
    run(&mut s, 100);
    assert!((s.state().v[5] - 10.0).abs() < 1e-9, "{}", s.state().v[5]);
}

#[test]
fn a_rolling_ball_stops_as_its_rolling_friction_says() {
    // About the point of contact: (I + m r²) a/r = ρ m g
    let (rho, r) = (0.002, 0.1);
    let rate = rho * G / (1.4 * r);
    for law in LAWS {
        for dt in STEPS {
            let mut s = ball(r#"condim="6" friction="1 0.005 0.002""#, 0.0, options(law, dt));
            (s.state_mut().v[0], s.state_mut().v[4]) = (0.2, 2.0);
            run(&mut s, (0.5 / dt) as usize);
            let v = s.state().v.clone();
            let slowed = (0.2 - v[0]) / 0.5;
            assert!((slowed / rate - 1.0).abs() < 2e-3, "{law:?} {dt}: {slowed} {rate}");
            assert!((v[4] * r - v[0]).abs() < 1e-4, "{law:?} {dt}: slips {v:?}");
            run(&mut s, ((0.2 / rate - 0.5) / dt) as usize + 3);
            assert!(s.state().v[0].abs() < 1e-6, "{law:?} {dt}: {}", s.state().v[0]);
        }
    }
}

#[test]
fn rolling_friction_holds_a_ball_on_a_slope_below_its_angle() {
    let (rho, r) = (0.02, 0.1);
    for law in LAWS {
        for dt in STEPS {
            let parameters = r#"condim="6" friction="1 0.005 0.02""#;
            let mut s = ball(parameters, 0.15, options(law, dt));
            run(&mut s, (1.0 / dt) as usize);
            // σ g dt r²/… : the creep of a stuck contact.
            assert!(s.state().v[0].abs() < 1e-5, "{law:?} {dt}: {}", s.state().v[0]);
            let mut s = ball(parameters, 0.3, options(law, dt));
            let v = s.state().v[0];
            run(&mut s, (1.0 / dt) as usize);
            let a = s.state().v[0] - v;
            let expected = G * (0.3_f64.sin() - rho / r * 0.3_f64.cos()) / 1.4;
            assert!((a / expected - 1.0).abs() < 2e-3, "{law:?} {dt}: {a} {expected}");
        }
    }
}

/// A box of 1 kg on a belt that runs at 1 m/s towards x and rises by `angle`.
fn on_belt(mu: f64, angle: f64, options: Options) -> Simulation {
    let (s, c) = angle.sin_cos();
    let mjcf = format!(
        r#"<mujoco><option gravity="{} 0 {}"/><worldbody><geom type="box" size="9 1 .1" friction="{mu}"/>
        <body pos="0 0 0.15"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="1" friction="{mu}"/></body>
        </worldbody></mujoco>"#,
        -G * s,
        -G * c
    );
    let mut s = simulation(&mjcf, options);
    s.state_mut().surface_velocity = vec![1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    s
}

#[test]
fn a_belt_takes_a_box_along() {
    for law in LAWS {
        for dt in STEPS {
            for (mu, angle) in [(0.3_f64, 0.0_f64), (0.7, 0.25)] {
                let mut s = on_belt(mu, angle, options(law, dt));
                let a = G * (mu * angle.cos() - angle.sin());
                // The first step finds the normal force, of which the lagged law knows nothing.
                let early = (0.9 / a / dt) as usize;
                run(&mut s, early / 2);
                let v = s.state().v[0];
                run(&mut s, early - early / 2);
                let slope = (s.state().v[0] - v) / ((early - early / 2) as f64 * dt);
                // The cone lifts what slides: the box hops and lands.
                if law != ContactLaw::Sap {
                    assert!((slope / a - 1.0).abs() < 1e-3, "{law:?} {dt} {mu}: {slope} {a}");
                }
                run(&mut s, (0.15 / a / dt) as usize + 5);
                assert!((s.state().v[0] - 1.0).abs() < 1e-4, "{law:?} {dt} {mu}: {}", s.state().v[0]);
                run(&mut s, (1.0 / dt) as usize);
                let drift = s.state().v[0] - 1.0;
                assert!(drift.abs() < 2e-6, "{law:?} {dt} {mu}: carried along but for {drift}");
            }
        }
    }
}

#[test]
fn a_belt_on_a_free_body_pushes_back() {
    // The lower box is free on ice and has the belt: momentum stays.
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="9 9 1" friction="0"/><default/>
        <body pos="0 0 .1"><freejoint/><geom type="box" size="1 1 .1" mass="3" friction="0"/></body>
        <body pos="0 0 .25"><freejoint/><geom type="box" size=".1 .1 .05" mass="1" friction=".5"/></body>
        </worldbody></mujoco>"#
        .replace("<default/>", "");
    for law in LAWS {
        let mut s = simulation(&mjcf, options(law, 0.005));
        s.state_mut().surface_velocity = vec![0.0, 0.0, 0.0, 0.4, 0.0, 0.0, 0.0, 0.0, 0.0];
        run(&mut s, 200);
        let v = &s.state().v;
        assert!((v[6] - v[0] - 0.4).abs() < 1e-5, "{law:?}: {v:?}");
        assert!((v[6] + 3.0 * v[0]).abs() < 1e-8, "{law:?}: {v:?}");
    }
}

/// A geom's `surfacevel` is in its own frame, and what of it turns turns about its origin.
#[test]
fn belts_and_turntables_of_files() {
    let on = |motion: &str, at: [f64; 2], options: Options| {
        let mjcf = format!(
            r#"<mujoco><compiler angle="radian"/><worldbody>
            <geom type="box" size="9 9 .1" pos=".3 .2 0" euler="0 0 0.5" surfacevel="{motion}"/>
            <body pos="{} {} 0.12"><freejoint/><geom type="box" size="0.04 0.04 0.02" mass="1"/></body></worldbody></mujoco>"#,
            at[0] + 0.3,
            at[1] + 0.2
        );
        simulation(&mjcf, options)
    };
    for (law, dt) in LAWS.into_iter().zip([0.005; 3]) {
        let mut belt = on("0.5 -0.2", [0.0, 0.0], options(law, dt));
        run(&mut belt, 200);
        let (s, c) = 0.5_f64.sin_cos();
        let expected = [0.5 * c + 0.2 * s, 0.5 * s - 0.2 * c];
        for k in 0..2 {
            assert!((belt.state().v[k] - expected[k]).abs() < 1e-5, "{law:?}: {:?}", belt.state().v);
        }
        // A new state has it again, and a program may stop it.
        belt.state_mut().surface_velocity.fill(0.0);
        run(&mut belt, 200);
        assert!(belt.state().v[0].abs() < 1e-5, "{law:?}: {:?}", belt.state().v);
        belt.reset(None).unwrap();
        run(&mut belt, 200);
        assert!((belt.state().v[0] - expected[0]).abs() < 1e-5, "{law:?}: {:?}", belt.state().v);
        // Carried round: v = ω × r, and turning with it.
        let mut table = on("0 0 0 0 0 0.8", [0.5, 0.1], options(law, dt));
        run(&mut table, 100);
        let (q, v) = (&table.state().q, &table.state().v);
        let (x, y) = (q[0] - 0.3, q[1] - 0.2);
        assert!((v[0] + 0.8 * y).abs() < 2e-3 && (v[1] - 0.8 * x).abs() < 2e-3, "{law:?}: {x} {y} {v:?}");
        assert!((v[5] - 0.8).abs() < 2e-3, "{law:?}: {v:?}");
        assert!((x.hypot(y) - 0.5_f64.hypot(0.1)).abs() < 5e-3, "{law:?}: {x} {y}");
    }
}
