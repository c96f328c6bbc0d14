//! Inverse kinematics: what was reached is reached again, limits hold, freedom goes to the reference.

use sapwood_multibody::{
    InverseKinematicsError, InverseKinematicsOptions, Kinematics, Model, PoseTarget, difference, forward_kinematics,
    inverse_kinematics,
};
use spatial::{Pose, Quat, Vec3};
use support::SplitMix64;

/// An arm of seven hinges, all within limits, whose joints turn as those of an arm and a wrist do; and one that starts on a free base with a
/// ball and a slide.
const ARM: &str = r#"<mujoco><compiler angle="radian" autolimits="true"/><worldbody>
  <body><joint name="a" axis="0 0 1" range="-2.9 2.9"/><geom size=".05" pos="0 0 .3"/>
  <body pos="0 0 .3"><joint name="b" axis="0 1 0" range="-1.8 1.8"/><geom size=".05"/>
  <body pos="0 0 .3"><joint name="c" axis="0 0 1" range="-2.9 2.9"/><geom size=".05"/>
  <body pos=".08 0 .1"><joint name="d" axis="0 -1 0" range="-3 0"/><geom size=".05"/>
  <body pos="-.08 0 .3"><joint name="e" axis="0 0 1" range="-2.9 2.9"/><geom size=".05"/>
  <body pos="0 0 .1"><joint name="f" axis="0 -1 0" range="0 3.7"/><geom size=".05"/>
  <body name="hand" pos=".09 0 0"><joint name="g" axis="0 0 1" range="-2.9 2.9"/><geom size=".05"/>
  </body></body></body></body></body></body></body></worldbody></mujoco>"#;
const FLOATING: &str = r#"<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="0 0 1"><freejoint/><geom size=".1"/>
  <body pos=".2 0 0"><joint type="ball" range="0 1" limited="true"/><geom size=".05"/>
    <body name="left" pos=".3 0 0"><joint type="slide" axis="1 0 0" range="-.1 .1" limited="true"/><geom size=".05"/></body></body>
  <body name="right" pos="-.2 0 0"><joint axis="0 1 0"/><geom size=".05"/></body></body></worldbody></mujoco>"#;

fn model(text: &str) -> Model {
    formats::load_str(text, None, &formats::LoadOptions::default()).expect("a model").model
}

fn pose(model: &Model, q: &[f64], target: &PoseTarget) -> Pose<f64> {
    let mut kinematics = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), q, &mut kinematics);
    let body = &model.bodies[target.body];
    let frame = &kinematics.frames[body.node.expect("it moves")];
    Pose::new(frame.pos, frame.quat) * body.pose * target.frame
}

/// A target for a body where `q` has it.
fn reached(model: &Model, q: &[f64], body: &str) -> PoseTarget {
    let mut target = PoseTarget::new(model.body(body).expect("a body"), None, None);
    target.frame = Pose::new(Vec3::new(0.1, 0.02, 0.03), Quat::new(0.5, 0.5, -0.5, 0.5));
    let Pose { pos, rot } = pose(model, q, &target);
    PoseTarget { position: Some(pos), orientation: Some(rot), ..target }
}

fn within(model: &Model, random: &mut SplitMix64) -> Vec<f64> {
    let mut q = model.q0.clone();
    for joint in &model.joints {
        let (low, high) = joint.range.expect("limits");
        q[joint.q] = random.uniform(low, high);
    }
    q
}

#[test]
fn an_arm_reaches_again_what_it_reached() {
    let model = model(ARM);
    let mut random = SplitMix64(5);
    let mut first = 0;
    for _ in 0..300 {
        let target = reached(&model, &within(&model, &mut random), "hand");
        let start = within(&model, &mut random);
        let options = InverseKinematicsOptions { tolerance: 1e-9, restarts: 0, ..Default::default() };
        first += usize::from(
            inverse_kinematics(&model, std::slice::from_ref(&target), &start, &options).expect("targets").converged,
        );
        let options = InverseKinematicsOptions { restarts: 50, ..options };
        let found = inverse_kinematics(&model, std::slice::from_ref(&target), &start, &options).expect("targets");
        assert!(found.converged, "{found:?}");
        let there = pose(&model, &found.q, &target);
        let (position, orientation) = (target.position.expect("one"), target.orientation.expect("one"));
        assert!((there.pos - position).norm() < 1e-8);
        assert!((orientation.conjugate() * there.rot).rotation_vector().norm() < 1e-8);
        for joint in &model.joints {
            let (low, high) = joint.range.expect("limits");
            assert!((low..=high).contains(&found.q[joint.q]));
        }
    }
    // From one start, anywhere, the way to a target, anywhere, ends at limits half of the times.
    assert!(first > 120, "{first}");
}

#[test]
fn what_the_targets_leave_free_goes_to_the_reference() {
    let model = model(ARM);
    let mut random = SplitMix64(8);
    for _ in 0..50 {
        let target = reached(&model, &within(&model, &mut random), "hand");
        let reference = within(&model, &mut random);
        let options = InverseKinematicsOptions { tolerance: 1e-9, restarts: 50, ..Default::default() };
        let plain = inverse_kinematics(&model, std::slice::from_ref(&target), &reference, &options).expect("targets");
        let options = InverseKinematicsOptions { reference: Some(reference.clone()), ..options };
        let found = inverse_kinematics(&model, std::slice::from_ref(&target), &reference, &options).expect("targets");
        assert!(found.converged, "{found:?}");
        let distance = |q: &[f64]| {
            let mut v = vec![0.0; model.nv()];
            difference(&model.tree, q, &reference, &mut v);
            v.iter().map(|x| x * x).sum::<f64>().sqrt()
        };
        let nearest = distance(&found.q);
        assert!(nearest <= distance(&plain.q));
        // A little to either side along the freedom of one degree nothing is nearer.
        let is_inside = model.joints.iter().all(|joint| {
            let (low, high) = joint.range.expect("limits");
            (low + 0.01..=high - 0.01).contains(&found.q[joint.q])
        });
        for push in [-1e-3, 1e-3].into_iter().filter(|_| is_inside) {
            let pushed: Vec<f64> =
                found.q.iter().enumerate().map(|(k, q)| if k == 2 { q + push } else { *q }).collect();
            let options = InverseKinematicsOptions { reference: None, tolerance: 1e-12, ..Default::default() };
            let beside = inverse_kinematics(&model, std::slice::from_ref(&target), &pushed, &options).expect("targets");
            if beside.converged {
                assert!(distance(&beside.q) > nearest - 1e-7, "{} {nearest}", distance(&beside.q));
            }
        }
    }
}

#[test]
fn a_free_base_and_a_ball_reach_two_targets() {
    let model = model(FLOATING);
    let mut q = model.q0.clone();
    q[..7].copy_from_slice(&[0.3, -0.2, 1.4, 0.1, 0.9, -0.3, 0.2]);
    let turn = Quat::from_rotation_vector(Vec3::new(0.3, -0.6, 0.4));
    q[7..11].copy_from_slice(&[turn.w, turn.x, turn.y, turn.z]);
    (q[11], q[12]) = (0.05, 0.7);
    let targets = ["left", "right"].map(|body| reached(&model, &q, body));
    let found = inverse_kinematics(&model, &targets, &model.q0, &InverseKinematicsOptions::default()).expect("targets");
    assert!(found.converged && found.error < 1e-6, "{found:?}");
    for target in &targets {
        assert!((pose(&model, &found.q, target).pos - target.position.expect("one")).norm() < 2e-6);
    }
    assert!((found.q[3..7].iter().map(|x| x * x).sum::<f64>() - 1.0).abs() < 1e-12);
    // The base held, the ball turns as far as it may.
    let joints = Some(vec![1, 2]);
    let far = PoseTarget { position: Some(Vec3::new(0.2, 5.0, 1.0)), orientation: None, ..targets[0].clone() };
    let options = InverseKinematicsOptions { joints, ..Default::default() };
    let found = inverse_kinematics(&model, &[far], &model.q0, &options).expect("targets");
    let angle = Quat::new(found.q[7], found.q[8], found.q[9], found.q[10]).rotation_vector().norm();
    assert!(!found.converged && found.q[..7] == model.q0[..7] && (angle - 1.0).abs() < 1e-6, "{found:?}");
    assert!((found.q[11] - 0.1).abs() < 1e-9);
}

#[test]
fn weights_of_nothing_leave_directions_free() {
    let model = model(ARM);
    let mut q = model.q0.clone();
    (q[1], q[3], q[5]) = (0.4, -1.5, 1.9);
    let mut target = reached(&model, &q, "hand");
    target.orientation_weights = Vec3::new(1.0, 1.0, 0.0);
    let [x, y, z] = target.position.expect("one").to_array();
    target.position = Some(Vec3::new(x, y + 0.1, z));
    let found = inverse_kinematics(&model, std::slice::from_ref(&target), &q, &InverseKinematicsOptions::default());
    let found = found.expect("targets");
    let turn = target.orientation.expect("one").conjugate() * pose(&model, &found.q, &target).rot;
    let turn = turn.rotation_vector();
    assert!(found.converged && turn.x.abs() < 1e-6 && turn.y.abs() < 1e-6, "{found:?} {turn:?}");
}

#[test]
fn what_cannot_be_asked_is_an_error_that_says_so() {
    let model = model(ARM);
    let ask = |targets: &[PoseTarget], options: &InverseKinematicsOptions| {
        inverse_kinematics(&model, targets, &model.q0, options).expect_err("nothing to search")
    };
    let plain = InverseKinematicsOptions::default();
    assert_eq!(ask(&[], &plain), InverseKinematicsError::NoTargets);
    let hand = model.body("hand").expect("a hand");
    assert_eq!(ask(&[PoseTarget::new(hand, None, None)], &plain), InverseKinematicsError::EmptyTarget { target: 0 });
    let target = PoseTarget::new(0, Some(Vec3::ZERO), None);
    assert!(matches!(ask(&[target], &plain), InverseKinematicsError::NotMovable { target: 0, .. }));
    let target = PoseTarget::new(1, Some(Vec3::ZERO), None);
    let options = InverseKinematicsOptions { joints: Some(vec![3]), ..plain.clone() };
    assert!(ask(&[target], &options).to_string().contains("no joint that may move"));
    let target = PoseTarget::new(hand, Some(Vec3::new(f64::NAN, 0.0, 0.0)), None);
    assert!(matches!(ask(&[target], &plain), InverseKinematicsError::Invalid { .. }));
}
