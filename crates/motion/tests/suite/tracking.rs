//! Controllers against their equations, errors against closed forms.

use std::sync::Arc;

use geometry::Scene;
use models::characters;
use multibody::{Kinematics, Model, RneaWorkspace, difference, difference_ahead, forward_kinematics, rnea, velocities};
use sapwood_motion::tracking::{
    Control, Controller, End, Error, Gains, JOINT_GAINS, LOST, Reference, Target, Task, Tracker, Tracking, errors_svg,
    track,
};
use sapwood_motion::{
    Binding, BindingOptions, BoundMotion, Channel, ChannelKind, JointValue, Motion, Posture, Source, SourceOptions,
};
use spatial::{Pose, Quat, Vec3};
use support::Interrupt;

/// An arm of 0.5 m to both sides of a hinge of a floating base: balanced, so that it does not pull at the base, and nothing else does.
const ARM: &str = r#"<mujoco model="arm">
  <option gravity="0 0 0"/>
  <worldbody>
    <body name="base"><freejoint name="base"/><geom type="sphere" size=".2"/>
      <body name="arm"><joint name="hinge" axis="0 1 0"/><geom type="capsule" size=".02" fromto="-.5 0 0 .5 0 0"/>
        <body name="tip" pos=".5 0 0"/>
      </body>
    </body>
  </worldbody>
</mujoco>"#;
/// Angular velocity of the arm, rad/s.
const SPEED: f64 = 2.0;

/// The arm turns at a constant speed, the base rests.
struct Turning([Channel; 1]);

impl Motion for Turning {
    fn channels(&self) -> &[Channel] {
        &self.0
    }
    fn duration(&self) -> f64 {
        100.0
    }
    fn sample(&self, time: f64, out: &mut Posture) {
        *out = Posture { root: Pose::new(Vec3::ZERO, Quat::IDENTITY), joints: vec![JointValue::Angle(SPEED * time)] };
    }
}

fn load(text: &str) -> (Arc<Model>, Arc<Scene>) {
    let loaded = formats::load_str(text, None, &formats::LoadOptions::default()).expect("a model");
    (Arc::new(loaded.model), Arc::new(loaded.scene))
}

fn turning(model: &Model) -> BoundMotion {
    let axis = Vec3::new(0.0, 1.0, 0.0);
    let motion = Arc::new(Turning([Channel { name: "hinge".into(), kind: ChannelKind::Hinge { axis } }]));
    let binding = Binding::new(model, &motion, &BindingOptions::default()).expect("a hinge");
    BoundMotion { motion, binding, notes: Vec::new() }
}

fn task(control: Control, target: Target, gains: Gains, dt: f64, seconds: f64) -> Task {
    let controller = Controller { control, target, gains, effort_limit: f64::INFINITY };
    Task { controller, dt, seconds, effectors: Vec::new(), lost: LOST, frames_per_second: 0.0 }
}

fn follow(model: &Arc<Model>, scene: &Arc<Scene>, motion: &BoundMotion, task: &Task) -> Tracking {
    track(model, scene, motion, task, &Interrupt::default(), |_| ()).expect("a task")
}

/// A joint of constant speed ω lags behind a target at rest by K_d ω / K_p, as damping takes what stiffness gives, and behind the
/// target of the step's start by another dt ω; a target that moves as the joint does is reached.
#[test]
fn a_joint_lags_as_its_target_says() {
    let (model, scene) = load(ARM);
    let motion = turning(&model);
    let damped = JOINT_GAINS[1] / JOINT_GAINS[0];
    for control in [Control::Embedded, Control::Unconditional, Control::NAMED[3].1] {
        for dt in [1.0 / 30.0, 1.0 / 240.0] {
            let lags = [(Target::Start, damped + dt), (Target::End, damped), (Target::EndWithVelocity, 0.0)];
            for (target, lag) in lags {
                let mut task = task(control, target, Gains::default(), dt, 20.0);
                task.effectors = vec!["tip".into()];
                let out = follow(&model, &scene, &motion, &task);
                assert_eq!(out.end, End::Completed);
                let (angle, chord) = (SPEED * lag, (0.5 * SPEED * lag).sin());
                // At 1/30 s the beginning dies away by 0.925 a step, the root of z² + (2 a − 1) z = a, a = dt K_p / K_d.
                let last = [*out.joint_error.last().unwrap(), *out.effector_errors.last().unwrap()];
                assert!((last[0] - angle).abs() < 1e-8, "{control:?} {target:?} {dt}: {last:?}, {angle}");
                assert!((last[1] - chord).abs() < 1e-8, "{control:?} {target:?} {dt}: {last:?}, {chord}");
                assert!(*out.root_error.last().unwrap() < 1e-8);
            }
        }
    }
}

fn dog() -> (Arc<Model>, Arc<Scene>, BoundMotion) {
    let options = characters::Options { ground: false, self_collision: false };
    let (model, scene) = load(&characters::mjcf(characters::Character::Dog, &options));
    let trot = Source::open("trot").and_then(|trot| trot.on(&model, &SourceOptions::default())).expect("a trot");
    (model, scene, trot)
}

/// The force in which the step's acceleration results, M (v⁺ − v) / dt + C, is that of the law.
#[test]
fn a_step_of_the_dog_obeys_the_law() {
    for (name, control, _) in Control::NAMED {
        // Gains that explicit PD survives for two steps.
        let joints = if control == Control::Explicit { [30.0, 0.02] } else { JOINT_GAINS };
        // Conjugate gradients end at 1e-6 of the right-hand side.
        let tolerance = if name == "pcg" { 1e-5 } else { 1e-9 };
        for (_, target, _) in Target::NAMED {
            check_law(control, target, Gains { joints, root: Some(joints) }, tolerance);
        }
        // With nobody's hand the root is pushed by nothing.
        check_law(control, Target::End, Gains { joints, root: None }, tolerance);
    }
}

fn check_law(control: Control, target: Target, gains: Gains, tolerance: f64) {
    let (model, scene, trot) = dog();
    let (tree, nv, dt) = (&model.tree, model.nv(), 1.0 / 120.0);
    let controller = Controller { control, target, gains, effort_limit: f64::INFINITY };
    let reference = Reference::new(&model, &trot, dt, 3).expect("a reference");
    let mut tracker = Tracker::new(&model, &scene, reference, controller).expect("a tracker");
    tracker.step().expect("a step");
    let (q, v) = (tracker.simulation().state().q.clone(), tracker.simulation().state().v.clone());
    tracker.step().expect("a step");
    let after = &tracker.simulation().state().v;
    let acceleration: Vec<f64> = after.iter().zip(&v).map(|(b, a)| (b - a) / dt).collect();

    let (mut kin, mut ws) = (Kinematics::new(tree), RneaWorkspace::new(tree));
    let mut force = vec![0.0; nv];
    forward_kinematics(tree, tree.all(), &q, &mut kin);
    velocities(tree, tree.all(), &v, &mut kin);
    rnea(tree, tree.all(), &kin, &v, Some(&acceleration), model.gravity, &mut ws, &mut force);

    let pose = tracker.reference().at(if target == Target::Start { 1 } else { 2 });
    let (mut error, mut speed) = (vec![0.0; nv], vec![0.0; nv]);
    let (lead, end) = if control == Control::Explicit { (0.0, &v) } else { (dt, after) };
    difference_ahead(tree, pose, &q, &v, lead, &mut error);
    if target == Target::EndWithVelocity {
        difference(tree, tracker.reference().at(1), tracker.reference().at(2), &mut speed);
    }
    let [kp, kd] = gains.joints;
    let terms: Vec<[f64; 2]> = (0..nv).map(|i| [-kp * error[i], -kd * (end[i] - speed[i] / dt)]).collect();
    let scale = terms.iter().flatten().fold(0.0, |most: f64, term| most.max(term.abs()));
    for (i, (force, terms)) in force.iter().zip(&terms).enumerate() {
        let law = if i < 6 && gains.root.is_none() { 0.0 } else { terms[0] + terms[1] };
        assert!((force - law).abs() < tolerance * scale, "{control:?} {target:?} {i}: {force}, {law}, scale {scale}");
    }
}

#[test]
fn what_the_law_cannot_hold_is_lost_or_held_by_another() {
    let (model, scene, trot) = dog();
    let dt = 1.0 / 60.0;
    // At K_d = ½ dt K_p the paper's law is unstable of joints of less inertia than ½ dt² K_p = 10 kg m²: of all that the dog has.
    let gains = Gains { joints: [75_000.0, 0.5 * dt * 75_000.0], root: Some([20_000.0, 2_000.0]) };
    let run = |control| follow(&model, &scene, &trot, &task(control, Target::End, gains, dt, 1.0));
    let (lost, held) = (run(Control::Embedded), run(Control::Unconditional));
    assert!(
        matches!(lost.end, End::Lost { time, .. } if time < 0.5) || matches!(lost.end, End::Failed(_)),
        "{:?}",
        lost.end
    );
    assert!(held.end == End::Completed && held.rms() < 0.05, "{:?} {}", held.end, held.rms());
}

#[test]
fn what_does_not_fit_is_said() {
    let (model, scene, trot) = dog();
    let good = task(Control::Embedded, Target::End, Gains::default(), 0.01, 1.0);
    let message = |change: fn(&mut Task)| {
        let mut task = good.clone();
        change(&mut task);
        track(&model, &scene, &trot, &task, &Interrupt::default(), |_| ()).expect_err("an error").to_string()
    };
    type Case = (fn(&mut Task), &'static str);
    let cases: [Case; 6] = [
        (|task| task.dt = -1.0, "the time step is -1: expected a finite number above 0"),
        (|task| task.seconds = f64::NAN, "the time is NaN: expected a finite number above 0"),
        (|task| task.seconds = 1e9, "100000000000 steps of 0.01 s: expected at most "),
        (|task| task.controller.gains.joints[1] = -2.0, "joint gain kd is -2: expected a finite number, 0 or more"),
        (|task| task.effectors = vec!["front_right_too".into()], "did you mean \"front_right_toe\""),
        (
            |task| (task.controller.effort_limit, task.controller.gains.joints[1]) = (100.0, 10.0),
            "expected control \"stable\", \"maba-standalone\" or greater damping",
        ),
    ];
    for (change, expected) in cases {
        assert!(message(change).contains(expected), "{}", message(change));
    }
    assert!(matches!(Reference::held(&model, &trot, 1e-6, 10_000_000, 5), Err(Error::TooLong { .. })));
}

#[test]
fn errors_are_drawn() {
    let (model, scene, trot) = dog();
    let mut task = task(Control::Embedded, Target::End, Gains::default(), 1.0 / 60.0, 0.5);
    task.frames_per_second = 30.0;
    let out = follow(&model, &scene, &trot, &task);
    assert_eq!((out.recording.len(), out.reference.len()), (16, 16 * model.nq()));
    let svg = errors_svg("dog <trot>", &out).expect("a picture");
    for words in ["<svg", "dog &lt;trot&gt;", "root, in the world", "front_right_toe", "time (s)", "degrees"] {
        assert!(svg.contains(words), "{words}");
    }
}
