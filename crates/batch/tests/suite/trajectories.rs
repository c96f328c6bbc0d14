//! Two seconds in lanes and alone, of scenes that do not make great differences of small ones.

use crate::common::load;
use sapwood_batch::{Batch, BatchOptions};
use sim::Simulation;

const SECONDS: f64 = 2.0;

/// Positions at every step may differ by this much, of the way that the coordinate has gone: both meet the law to 1e-6 of momentum in a step.
const AGREEMENT: f64 = 1e-6;

fn compare(name: &str, bodies: &str, rest: &str, v: &[f64]) {
    assert_eq!(steps_left(name, bodies, rest, v), 0, "{name}");
}

/// Compares, and tells how many steps of the four worlds the lanes left to a simulation.
fn steps_left(name: &str, bodies: &str, rest: &str, v: &[f64]) -> u64 {
    let loaded = load(&format!(
        r#"<mujoco><compiler autolimits="true"/><option timestep=".004"/><default><geom friction=".5"/></default>
        <worldbody><geom type="plane" size="0 0 1"/>{bodies}</worldbody>{rest}</mujoco>"#
    ));
    let mut options = BatchOptions::default();
    options.threads = Some(1);
    let mut batch = Batch::new(loaded.model.clone(), loaded.scene.clone(), 4, options).unwrap();
    assert_eq!(batch.alone(), None, "{name}");
    let mut one =
        Simulation::without_lane(loaded.model.clone(), loaded.scene.clone(), batch.options().clone()).unwrap();
    one.state_mut().v[..v.len()].copy_from_slice(v);
    for of_world in batch.v_mut().chunks_exact_mut(loaded.model.nv()) {
        of_world[..v.len()].copy_from_slice(v);
    }
    let (start, nq) = (one.state().q.clone(), loaded.model.nq());
    let (mut error, mut way) = (0.0_f64, 0.0_f64);
    for _ in 0..(SECONDS / one.timestep()).round() as usize {
        one.step().unwrap();
        batch.step(1).unwrap();
        for ((q, of_batch), start) in one.state().q.iter().zip(&batch.q()[nq..2 * nq]).zip(&start) {
            error = error.max((q - of_batch).abs());
            way = way.max((q - start).abs());
        }
    }
    assert!(way > 0.05, "{name}: nothing moved");
    assert!(error <= AGREEMENT * way, "{name}: {error:e} on a way of {way}");
    batch.stats().left
}

#[test]
fn what_slides_and_rolls() {
    let body = |geom: &str| format!(r#"<body pos="0 0 .1"><freejoint/>{geom}</body>"#);
    compare("a box that stops", &body(r#"<geom type="box" size=".2 .1 .1"/>"#), "", &[2.0]);
    compare("a ball that begins to roll", &body(r#"<geom type="sphere" size=".1"/>"#), "", &[2.0]);
    compare("a ball that is thrown", &body(r#"<geom type="sphere" size=".1"/>"#), "", &[1.0, 0.0, 2.0, 0.0, 9.0, 0.0]);
}

#[test]
fn what_joints_hold() {
    let arm = r#"<body pos="0 0 2"><joint name="a" axis="0 1 0" damping=".1" range="-60 60"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
        <body pos=".4 0 0"><joint name="b" axis="0 1 0" stiffness="3" damping=".2"/>
        <geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/></body></body>"#;
    compare("an arm that falls to its limit", arm, "", &[]);
    let four_bar = r#"<body pos="0 0 2"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 -.5" size=".02"/>
        <body pos="0 0 -.5"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .6 0 0" size=".02"/>
        <body name="last" pos=".6 0 0"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .4" size=".02"/></body></body></body>"#;
    let loop_ = r#"<equality><connect body1="last" anchor="0 0 .4"/></equality>"#;
    compare("a four-bar", four_bar, loop_, &[0.5, -0.5, 0.5]);
}

/// Joints whose dry friction slides, sticks and turns round, and drives at their limits: what is at a bound is a part of free motion.
#[test]
fn what_joints_resist() {
    let arm = r#"<body pos="0 0 2"><joint name="a" axis="0 1 0" frictionloss=".4"/><geom type="capsule" fromto="0 0 0 .4 0 0" size=".03"/>
        <body pos=".4 0 0"><joint name="b" axis="0 1 0" frictionloss=".05"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".03"/>
        <body pos=".3 0 0"><joint name="c" axis="1 1 0" frictionloss=".02"/><geom type="capsule" fromto="0 0 0 .2 0 0" size=".02"/>
        </body></body></body>"#;
    compare("an arm that swings and comes to rest", arm, "", &[0.0, 3.0, -5.0]);
    let servos = r#"<actuator><position joint="a" kp="40" kv="4" forcerange="-3 3"/><position joint="b" kp="20" kv="1" forcerange="-.5 .5"/></actuator>"#;
    compare("an arm with weak servos", arm, servos, &[1.0, 3.0, -5.0]);
}

/// Two fingers close around a box and turn it: contacts with torsional friction beside joints with dry friction.
#[test]
fn what_a_gripper_holds() {
    let finger = |name: &str, y: f64| {
        format!(
            r#"<body pos="0 {y} 0"><joint name="{name}" type="slide" axis="0 {} 0" frictionloss=".2" damping="1"/>
            <geom type="box" size=".01 .008 .01" mass=".1" condim="4" friction="1 .005 .0001"/></body>"#,
            -y.signum()
        )
    };
    let palm = format!(
        r#"<body pos="0 0 .5"><joint name="turn" axis="1 0 0"/>
        <geom type="sphere" size=".02" mass="1" contype="0" conaffinity="0"/>{}{}</body>
        <body pos="0 0 .5"><freejoint/><geom type="box" size=".02 .03 .02" mass=".2" condim="4" friction="1 .005 .0001"/></body>"#,
        finger("left", 0.0385),
        finger("right", -0.0385),
    );
    let servo = |joint: &str| {
        format!(r#"<general joint="{joint}" biastype="affine" biasprm="20 -100 -10" forcerange="-15 15"/>"#)
    };
    let servos = format!("<actuator>{}{}</actuator>", servo("left"), servo("right"));
    // Of 500 steps lanes leave 0 to 3, as gains and friction differ by a hundredth: over ten such grippers 1 in 500.
    assert!(steps_left("a gripper", &palm, &servos, &[0.5]) <= 3 * 4);
}
