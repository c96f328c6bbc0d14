//! Adhesion beside closed forms: what hangs, what slides, what falls.

use crate::common::{G, beside, simulation};
use sapwood_sim::{Options, Scheme, Simulation};

/// A block of 0.5 kg that adheres with up to 20 N, `at` the height; gravity along x besides that along −z.
fn block(height: f64, gravity: [f64; 2], friction: f64, scheme: Scheme) -> Simulation {
    let [x, z] = gravity;
    let mjcf = format!(
        r#"<mujoco><option timestep="0.002" gravity="{x} 0 {z}"/><worldbody>
        <body name="plate" pos="0 0 1"><geom type="box" size="5 .2 .01" friction="{friction}"/></body>
        <body name="part" pos="0 0 {height}"><freejoint/><geom type="box" size=".05 .05 .05" mass=".5" friction="{friction}"/>
        </body></worldbody><actuator><adhesion body="part" ctrlrange="0 1" gain="20"/></actuator></mujoco>"#
    );
    simulation(&mjcf, Options { scheme, ..Options::default() })
}

fn schemes() -> [Scheme; 2] {
    [Scheme::Bilinear, Scheme::ImplicitEuler]
}

/// The sum of the normal forces on the part.
fn pressure(s: &Simulation) -> f64 {
    let mut forces = Vec::new();
    s.contact_forces_of_bodies(&mut forces);
    forces[2].z
}

#[test]
fn a_block_hangs_by_adhesion_and_falls_without() {
    // Touching, and half a millimetre apart.
    for (scheme, height) in schemes().into_iter().zip([0.9395, 0.94]).chain([(Scheme::Bilinear, 0.94)]) {
        let mut s = block(height, [0.0, -G], 1.0, scheme);
        s.state_mut().ctrl[0] = 1.0;
        (0..500).for_each(|_| s.step().unwrap());
        let z = s.state().q[2];
        assert!((z - 0.94).abs() < 1e-4, "{z}");
        // The plate pushes down what the adhesion has too much.
        let expected = 0.5 * G - 20.0;
        assert!((pressure(&s) - expected).abs() < 1e-3 * expected.abs(), "{} {expected}", pressure(&s));
        assert_eq!(s.step_forces().actuators, [20.0]);
        // Beyond the range of the control, and too little for the weight.
        s.state_mut().ctrl[0] = 5.0;
        s.step().unwrap();
        assert!((pressure(&s) - expected).abs() < 1e-2);
        s.state_mut().ctrl[0] = 0.2;
        (0..100).for_each(|_| s.step().unwrap());
        assert!(s.state().q[2] < 0.9);
    }
}

#[test]
fn friction_bears_by_adhesion() {
    // Gravity is along the plate: the friction of the attraction alone bears it, or not all of it.
    for scheme in schemes() {
        for ctrl in [0.5, 0.35] {
            let mut s = block(0.94, [G, 0.0], 0.6, scheme);
            s.state_mut().ctrl[0] = ctrl;
            (0..250).for_each(|_| s.step().unwrap());
            let bearing: f64 = 0.6 * 20.0 * ctrl;
            let expected = (G - bearing / 0.5).max(0.0) * s.state().time;
            let v = s.state().v[0];
            assert!((v - expected).abs() < 1e-2 * expected.max(0.1), "{v} {expected}");
        }
    }
}

#[test]
fn nothing_far_away_is_pulled_and_momentum_stays() {
    let mut s = block(0.90, [0.0, 0.0], 1.0, Scheme::Bilinear);
    s.state_mut().ctrl[0] = 1.0;
    (0..100).for_each(|_| s.step().unwrap());
    assert_eq!(s.state().v, [0.0; 6]);
    let mjcf = r#"<mujoco><option gravity="0 0 0"/><worldbody><body pos="0 0 0"><freejoint/><geom type="box" size=".1 .1 .1"/></body>
        <body name="b" pos=".02 .01 .2" euler="0 0 20"><freejoint/><geom type="box" size=".1 .1 .1"/></body></worldbody>
        <actuator><adhesion body="b" ctrlrange="0 1" gain="50"/></actuator></mujoco>"#;
    let mut s = simulation(mjcf, Options::default());
    s.state_mut().ctrl[0] = 1.0;
    (0..200).for_each(|_| s.step().unwrap());
    let momentum = s.observe().momentum(0);
    assert!(momentum.lin.norm() < 1e-9 && momentum.ang.norm() < 1e-9, "{momentum:?}");
}

#[test]
fn sleepers_wake_when_adhesion_is_switched() {
    let mjcf = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/><body name="magnet" pos="0 0 .21"><geom type="box" size=".1 .1 .01"/></body>
        <body name="part" pos="0 0 .1"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody>
        <actuator><adhesion body="magnet" ctrlrange="0 1" gain="50"/></actuator></mujoco>"#;
    let mut s = simulation(mjcf, Options { sleep_after: Some(0.1), ..Options::default() });
    (0..200).for_each(|_| s.step().unwrap());
    assert_eq!(s.stats().asleep, 1);
    s.state_mut().ctrl[0] = 1.0;
    s.step().unwrap();
    assert_eq!(s.stats().asleep, 0);
    (0..200).for_each(|_| s.step().unwrap());
    assert_eq!(s.stats().asleep, 0);
    s.state_mut().ctrl[0] = 0.0;
    (0..200).for_each(|_| s.step().unwrap());
    assert_eq!(s.stats().asleep, 1);
}

#[test]
fn steps_in_lanes_are_those_of_the_step_for_all_models() {
    let finger = |name: &str, y: f64| {
        format!(
            r#"<body name="{name}" pos="0 {y} -.3"><joint name="{name}" type="slide" axis="0 0 1" damping="5"/>
            <geom type="capsule" size=".02" fromto="0 -.05 0 0 .05 .01" mass=".1"/></body>"#
        )
    };
    let text = format!(
        r#"<mujoco><option timestep="0.004"/><default><geom friction=".8"/></default><worldbody>
        <geom type="plane" size="9 9 1"/>
        <body pos="0 0 .5"><joint name="swing" axis="0 1 0" damping=".5"/><geom type="sphere" size=".05" mass="1"/>{}{}</body>
        <body name="box" pos="0 0 .08"><freejoint/><geom type="box" size=".1 .1 .05" mass=".4"/></body></worldbody>
        <actuator><adhesion body="left" ctrlrange="0 1" gain="6"/><adhesion body="right" ctrlrange="0 1" gain="4"/>
        <motor joint="swing" gear="2"/><motor joint="left"/><motor joint="right"/></actuator></mujoco>"#,
        finger("left", -0.06),
        finger("right", 0.06)
    );
    let options = Options { tolerance: 1e-12, ..Options::default() };
    let mut pulled = 0;
    let (worst, in_lane) = beside(&text, &options, |sim, step| {
        let (swing, down) = (libm::sin(0.02 * step as f64), if step < 80 { -3.0 } else { 3.0 });
        let on = f64::from(u8::from((20..220).contains(&step)));
        sim.state_mut().ctrl.copy_from_slice(&[on, 0.7 * on, swing, down, 0.5 * down]);
        pulled += usize::from(on > 0.0 && !sim.contacts().is_empty());
    });
    println!("{worst:e}, {in_lane}, {pulled}");
    assert!(worst < 1e-9 && in_lane > 100 && pulled > 100, "{worst:e}, {in_lane}, {pulled}");
}
