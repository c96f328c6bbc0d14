//! What a step tells of its contact points stays as it is until the next step, whatever becomes of the state.

use crate::common::{run, simulation, towers};
use sapwood_sim::{ContactPoint, Options, Scheme, Simulation, SimulationError};

/// What is told, made anew from what the simulation knows.
fn told(simulation: &Simulation) -> Vec<ContactPoint> {
    simulation.contacts().to_vec()
}

fn options(scheme: Scheme) -> Options {
    Options { scheme, timestep: Some(0.005), ..Options::default() }
}

#[test]
fn contacts_are_the_same_whenever_they_are_asked_for() {
    for scheme in [Scheme::SymplecticEuler, Scheme::Midpoint] {
        let (mut often, mut once) = (simulation(&towers(2), options(scheme)), simulation(&towers(2), options(scheme)));
        for _ in 0..30 {
            run(&mut often, 1);
            assert_eq!(told(&often).len(), often.stats().contacts);
        }
        run(&mut once, 30);
        let expected = told(&often);
        assert!(expected.iter().any(|contact| contact.impulse[2] > 0.0));
        // What is done to the state says nothing about the last step.
        once.state_mut().q[2] += 1.0;
        once.state_mut().v.fill(0.5);
        once.energy();
        assert_eq!(told(&once), expected);
        assert_eq!(told(&once), expected);
    }
}

#[test]
fn a_step_that_fails_leaves_what_the_last_one_told() {
    for (is_asked_before, threads) in [(false, 1), (true, 1), (false, 2), (true, 2)] {
        let options = || Options { threads, ..options(Scheme::SymplecticEuler) };
        let mut s = simulation(&towers(2), options());
        run(&mut s, 10);
        let mut fresh = simulation(&towers(2), options());
        run(&mut fresh, 10);
        let (expected, stats) = (told(&fresh), *fresh.stats());
        if is_asked_before {
            assert_eq!(told(&s), expected);
        }
        // The first fails before it begins, the second when contacts have been found, elsewhere.
        let nv = s.model().nv();
        for (height, force) in [(0.0, f64::NAN), (10.0, 1e30)] {
            s.state_mut().q[2] += height;
            s.state_mut().applied_force[nv - 1] = force;
            let before = s.state().to_bytes();
            s.step().unwrap_err();
            assert!(s.state().to_bytes() == before);
            assert_eq!((told(&s), *s.stats()), (expected.clone(), stats));
        }
        s.reset(None).unwrap();
        assert!(told(&s).is_empty());
    }
}

/// Four slides in three directions, and a hinge whose child turns about the same axis: nothing resists the last of them.
#[test]
fn a_joint_that_nothing_resists_is_named() {
    let slides = r#"<body><joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
        <joint name="z" type="slide"/><joint name="more" type="slide" axis="1 1 0"/><geom size=".1"/></body>"#;
    let hinges = r#"<body><joint name="first"/><body><joint name="more"/><geom size=".1"/></body></body>"#;
    for body in [slides, hinges] {
        let world = |body: &str| format!(r#"<mujoco><worldbody>{body}</worldbody></mujoco>"#);
        let mut s = simulation(&world(body), Options::default());
        let error = s.step().unwrap_err();
        let SimulationError::Singular { joint, dof, .. } = &error else { panic!("{error}") };
        assert_eq!((&joint[..], *dof), ("more", s.model().nv() - 1), "{error}");
        let armature = body.replace(r#"name="more""#, r#"name="more" armature=".01""#);
        simulation(&world(&armature), Options::default()).step().unwrap();
    }
}

#[test]
fn what_runs_away_is_named() {
    // Explicit Euler makes a stiff spring's swings 8 times as wide in every step.
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><default><geom contype="0" conaffinity="0"/></default><worldbody>
        <body><joint name="still" axis="1 0 0"/><geom type="sphere" size=".1" mass="1"/></body>
        <body><joint name="stiff" axis="0 1 0" stiffness="1e4"/><geom type="sphere" size=".1" mass="1" pos=".1 0 0"/></body>
        </worldbody></mujoco>"#;
    let mut s = simulation(mjcf, Options { timestep: Some(0.01), ..options(Scheme::ExplicitEuler) });
    s.state_mut().q[1] = 0.1;
    let error = loop {
        let before = s.state().to_bytes();
        if let Err(error) = s.step() {
            assert!(s.state().to_bytes() == before);
            break error;
        }
        assert!(s.state().step < 20);
    };
    let SimulationError::Diverged { joint, dof, value, .. } = &error else { panic!("{error}") };
    assert_eq!((&joint[..], *dof), ("stiff", 1));
    // Before there is no number for it.
    assert!(value.abs() > 1e10 && value.abs() < 1e12, "{value}");
    assert!(error.to_string().contains("diverged (joint \"stiff\""), "{error}");
}
