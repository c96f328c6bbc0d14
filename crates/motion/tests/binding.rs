//! Motions on models: names, rest poses, velocities, and no allocation while it runs.

#[path = "suite/common/mod.rs"]
mod common;
#[path = "../../../tests/counting_allocator.rs"]
mod counting_allocator;

use common::{frame_of, humanoid, limb, v};
use counting_allocator::allocations;
use multibody::{BodySpec, JointKind, JointSpec, Model, ModelBuilder};
use sapwood_motion::gait::{self, LeggedGait, Slither, SlitherPattern};
use sapwood_motion::{
    Binding, BindingError, BindingOptions, Channel, ChannelKind, Clip, JointValue, LoopMode, Motion, Posture, Skeleton,
};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

/// A clip of two frames in which a thigh lifts by a quarter turn to the front, as a ball, and a knee bends by one.
fn kick() -> Clip {
    let quarter = std::f64::consts::FRAC_PI_2;
    let channels = vec![
        Channel { name: "thigh".into(), kind: ChannelKind::Ball },
        Channel { name: "knee".into(), kind: ChannelKind::Hinge { axis: v(0.0, -1.0, 0.0) } },
    ];
    let frame = |u: f64| Posture {
        root: Pose::new(v(u, 0.0, 1.0), Quat::from_axis_angle(v(0.0, 0.0, 1.0), u)),
        joints: vec![
            JointValue::Rotation(Quat::from_axis_angle(v(0.0, -1.0, 0.0), quarter * u)),
            JointValue::Angle(-quarter * u),
        ],
    };
    Clip::new("kick", channels, vec![0.0, 0.5], vec![frame(0.0), frame(1.0)], LoopMode::Clamp).expect("two frames")
}

/// Root, thigh, shin; every body's frame is drawn turned by `turn` against the world at rest, the joints as told.
fn leg(turn: Quat<f64>, thigh: JointKind, knee: JointKind) -> Model {
    let mut b = ModelBuilder::new("leg");
    let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(v(0.1, 0.1, 0.1)) };
    let back = turn.conjugate();
    let mut parent = 0;
    for (name, kind, pose) in [
        ("root", JointKind::Free, Pose::new(v(0.0, 0.0, 1.0), turn)),
        ("thigh", thigh, Pose::new(back * v(0.0, 0.1, 0.0), Quat::IDENTITY)),
        ("knee", knee, Pose::new(back * v(0.0, 0.0, -0.4), Quat::IDENTITY)),
        ("foot", JointKind::Weld, Pose::new(back * v(0.0, 0.0, -0.3), Quat::IDENTITY)),
    ] {
        let body = BodySpec { name: name.into(), parent, pose, inertia, ..BodySpec::default() };
        parent = b.add_body(body).expect("a body");
        b.add_joint(parent, JointSpec { name: name.into(), ..JointSpec::new(kind) }).expect("a joint");
    }
    b.build().expect("a leg")
}

#[test]
fn a_motion_does_not_depend_on_how_a_model_draws_its_frames() {
    let clip = kick();
    let odd = Quat::from_rotation_vector(v(0.7, -0.4, 1.9));
    for turn in [Quat::IDENTITY, odd] {
        let axis = |x, y, z| turn.conjugate() * v(x, y, z);
        for (thigh, knee) in [
            (JointKind::Ball, JointKind::Revolute { axis: axis(0.0, 1.0, 0.0) }),
            (JointKind::Ball, JointKind::Revolute { axis: axis(0.0, -1.0, 0.0) }),
            (JointKind::Revolute { axis: axis(0.0, 1.0, 0.0) }, JointKind::Ball),
        ] {
            let model = leg(turn, thigh, knee);
            let mut binding = Binding::new(&model, &clip, &BindingOptions::default()).expect("the same names");
            let mut q = model.q0.clone();
            binding.positions(&clip, 0.5, &mut q);
            // The root has turned by 1 rad to the left; seen from it, the thigh points forwards and the shin down.
            let heading = Quat::from_axis_angle(v(0.0, 0.0, 1.0), 1.0);
            let knee = v(1.0, 0.0, 1.0) + heading * v(0.4, 0.1, 0.0);
            let foot = knee + v(0.0, 0.0, -0.3);
            assert!((frame_of(&model, "knee", &q).pos - knee).norm() < 1e-14, "{turn:?} {thigh:?}");
            assert!((frame_of(&model, "foot", &q).pos - foot).norm() < 1e-14, "{turn:?} {thigh:?}");
        }
    }
}

#[test]
fn velocities_lead_to_the_next_configuration() {
    let model = humanoid();
    let walk = LeggedGait::new(&Skeleton::of_model(&model).expect("free"), &gait::walk()).expect("a walk");
    let mut binding = Binding::new(&model, &walk, &BindingOptions::default()).expect("the same joints");
    let (mut q, mut next, mut vel) = (model.q0.clone(), model.q0.clone(), vec![0.0; model.nv()]);
    let dt = 1.0 / 60.0;
    for k in 0..100 {
        let time = 0.017 * f64::from(k);
        binding.positions(&walk, time + dt, &mut next);
        binding.positions_and_velocities(&walk, time, dt, &mut q, &mut vel);
        multibody::integrate(&model.tree, &mut q, &vel, dt);
        let mut gap = vec![0.0; model.nv()];
        multibody::difference(&model.tree, &q, &next, &mut gap);
        assert!(gap.iter().all(|x| x.abs() < 1e-13), "{gap:?}");
    }
}

#[test]
fn scale_and_offset_move_the_root() {
    let model = leg(Quat::IDENTITY, JointKind::Ball, JointKind::Ball);
    let options = BindingOptions { scale: 0.5, offset: v(0.0, 2.0, 0.1), ..BindingOptions::default() };
    let mut q = model.q0.clone();
    Binding::new(&model, &kick(), &options).expect("the same names").positions(&kick(), 0.5, &mut q);
    assert_eq!(q[..3], [0.5, 2.0, 0.6]);
}

#[test]
fn joints_without_a_counterpart_are_named() {
    let clip = kick();
    let error = |model: &Model, options: &BindingOptions| Binding::new(model, &clip, options).map(|_| ());
    let mut model = leg(Quat::IDENTITY, JointKind::Ball, JointKind::Ball);
    model.joints[2].name = "left_knee".into();
    let strict = BindingOptions::default();
    let unknown = error(&model, &strict).expect_err("no knee");
    assert_eq!(unknown, BindingError::UnknownJoints { model: "leg".into(), names: vec!["knee".into()] });
    let dropping = BindingOptions { drop_unknown: true, ..strict.clone() };
    let unnamed = error(&model, &dropping).expect_err("nothing for the left knee");
    assert_eq!(unnamed, BindingError::UnnamedJoints { model: "leg".into(), names: vec!["left_knee".into()] });
    assert!(unnamed.to_string().contains("left_knee"));
    assert!(error(&model, &BindingOptions { keep_unnamed: true, ..dropping }).is_ok());
    let renamed = BindingOptions { rename: vec![("knee".into(), "left_knee".into())], ..strict.clone() };
    assert!(error(&model, &renamed).is_ok());
    let other = BindingOptions { root: Some("pelvis".into()), ..strict.clone() };
    assert!(error(&model, &other).expect_err("no pelvis").to_string().contains("no free joint named \"pelvis\""));
    let slide = leg(Quat::IDENTITY, JointKind::Prismatic { axis: v(1.0, 0.0, 0.0) }, JointKind::Ball);
    let kind = error(&slide, &strict).expect_err("a slide");
    assert_eq!(kind, BindingError::Kind { joint: "thigh".into(), kind: "prismatic" });
}

#[test]
fn bad_frames_are_errors() {
    let channel = || vec![Channel { name: "hip".into(), kind: ChannelKind::Ball }];
    let frame =
        |w: f64| Posture { root: Pose::IDENTITY, joints: vec![JointValue::Rotation(Quat::new(w, 0.0, 0.0, 0.0))] };
    let make = |times: &[f64], frames: Vec<Posture>| {
        Clip::new("c", channel(), times.to_vec(), frames, LoopMode::Wrap).map(|_| ()).map_err(|e| e.to_string())
    };
    assert_eq!(make(&[0.0], vec![frame(2.0)]), Ok(()));
    let message = |result: Result<(), String>| result.expect_err("a bad clip");
    let hinge = vec![Channel { name: "knee".into(), kind: ChannelKind::Hinge { axis: Vec3::ZERO } }];
    let flat =
        Clip::new("c", hinge, vec![0.0], vec![frame(1.0)], LoopMode::Wrap).map(|_| ()).map_err(|e| e.to_string());
    assert!(message(flat).starts_with("joint \"knee\": axis of zero length"));
    assert!(message(make(&[], vec![])).contains("no frames"));
    assert!(message(make(&[0.0], vec![frame(1.0); 2])).contains("1 times for 2 frames"));
    assert!(message(make(&[0.0, 0.0], vec![frame(1.0); 2])).starts_with("frame 1: time 0 s"));
    assert!(message(make(&[0.0, f64::NAN], vec![frame(1.0); 2])).starts_with("frame 1: time NaN s"));
    assert!(message(make(&[0.0], vec![frame(0.0)])).starts_with("frame 0: hip: expected a finite quaternion"));
    assert!(message(make(&[0.0], vec![Posture::default()])).starts_with("frame 0: 0 joint values: expected 1"));
    let angle = Posture { joints: vec![JointValue::Angle(0.1)], ..Posture::default() };
    assert!(message(make(&[0.0], vec![angle])).starts_with("frame 0: hip: expected a rotation"));
}

#[test]
fn sampling_allocates_nothing() {
    let model = humanoid();
    let skeleton = Skeleton::of_model(&model).expect("a free root");
    let walk = LeggedGait::new(&skeleton, &gait::walk()).expect("a walk");
    let times: Vec<f64> = (0..40).map(|k| f64::from(k) / 30.0).collect();
    let record = |&t: &f64| {
        let mut posture = Posture::default();
        walk.sample(t, &mut posture);
        posture
    };
    let frames = times.iter().map(record).collect();
    let clip = Clip::new("walk", skeleton.channels(), times, frames, LoopMode::Wrap).expect("a clip");
    let (mut chain, mut parent) = (ModelBuilder::new("snake"), 0);
    for k in 0..20 {
        let kind = if k == 0 { JointKind::Free } else { JointKind::Ball };
        parent = limb(&mut chain, &format!("link_{k}"), parent, v(if k > 1 { -0.1 } else { 0.0 }, 0.0, 0.0), kind);
    }
    let snake = chain.build().expect("a snake");
    let slither =
        Slither::new(&Skeleton::of_model(&snake).expect("free"), &SlitherPattern::default()).expect("a chain");
    let motions: [(&Model, &dyn Motion); 3] = [(&model, &walk), (&model, &clip), (&snake, &slither)];
    for (model, motion) in motions {
        let mut binding = Binding::new(model, &motion, &BindingOptions::default()).expect("the same joints");
        let (mut q, mut vel) = (model.q0.clone(), vec![0.0; model.nv()]);
        binding.positions_and_velocities(&motion, 0.0, 0.01, &mut q, &mut vel);
        let before = allocations();
        for k in 0..500 {
            binding.positions_and_velocities(&motion, 0.013 * f64::from(k), 0.01, &mut q, &mut vel);
        }
        assert_eq!(allocations() - before, 0);
        assert!(before > 0, "the allocator counts");
    }
}
