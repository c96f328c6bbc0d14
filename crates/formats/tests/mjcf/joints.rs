//! Joints: kinds, units, limits, references, several at a body, the default configuration.

use multibody::JointKind;

use sapwood_formats::{Loaded, WriteOptions, to_mjcf};

use crate::{close, load, try_load, world};

const BALL: &str = r#"<geom size="1" mass="1"/>"#;

#[test]
fn kinds_and_layout_of_coordinates() {
    let model = world(&format!(
        r#"<body pos="1 2 3" quat="0 1 0 0"><freejoint name="f"/>{BALL}<body><joint name="s" type="slide" axis="0 2 0"/>
        <joint name="h"/><joint name="b" type="ball"/>{BALL}</body></body>"#
    ))
    .model;
    let kinds: Vec<&str> = model.joints.iter().map(|j| j.kind.name()).collect();
    assert_eq!(kinds, ["free", "prismatic", "revolute", "ball"]);
    assert_eq!((model.nq(), model.nv()), (13, 11));
    assert_eq!(model.q0, [1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    // The default axis of a hinge is z.
    assert!(matches!(model.joints[2].kind, JointKind::Revolute { axis } if axis.z == 1.0));
}

#[test]
fn angles_are_degrees_and_lengths_are_not() {
    let content = format!(
        r#"<body><joint range="-90 180" ref="30" springref="60"/>{BALL}<body>
        <joint type="slide" range="-90 180" ref="30" springref="60"/>{BALL}</body></body>"#
    );
    let degrees = world(&content).model;
    let half_turn = std::f64::consts::PI;
    assert!(close(&degrees.q0, &[half_turn / 6.0, 30.0], 1e-15));
    assert!(close(&degrees.spring_reference, &[half_turn / 3.0, 60.0], 1e-15));
    let (low, high) = degrees.joints[0].range.unwrap_or_default();
    assert!(close(&[low, high], &[-half_turn / 2.0, half_turn], 1e-15));
    assert_eq!(degrees.joints[1].range, Some((-90.0, 180.0)));
    let radians = load(&format!("<mujoco><compiler angle='radian'/><worldbody>{content}</worldbody></mujoco>")).model;
    assert_eq!(radians.q0, [30.0, 30.0]);
}

#[test]
fn a_range_alone_is_a_limit_only_with_autolimits() {
    let model = |compiler: &str, joint: &str| {
        try_load(&format!(
            "<mujoco><compiler {compiler}/><worldbody><body><joint {joint}/>{BALL}</body></worldbody></mujoco>"
        ))
    };
    let range = |compiler, joint| model(compiler, joint).map(|m| m.model.joints[0].range.is_some());
    assert_eq!(range("", r#"range="0 1""#), Ok(true));
    assert_eq!(range("", r#"range="0 1" limited="false""#), Ok(false));
    assert_eq!(range(r#"autolimits="false""#, r#"range="0 1" limited="true""#), Ok(true));
    let error = range(r#"autolimits="false""#, r#"range="0 1""#).expect_err("ambiguous");
    assert!(error.message().contains("limited"), "{error}");
    assert!(range("", r#"limited="true""#).is_err(), "a limit needs a range");
}

#[test]
fn passive_forces_fill_every_degree_of_freedom() {
    let joint = r#"<joint type="ball" armature="1" damping="2" stiffness="3" frictionloss="4"/>"#;
    let model = world(&format!("<body>{joint}{BALL}</body>")).model;
    assert_eq!((model.armature, model.damping), (vec![1.0; 3], vec![2.0; 3]));
    assert_eq!((model.stiffness, model.friction_loss), (vec![3.0; 3], vec![4.0; 3]));
}

#[test]
fn an_effort_limit_has_two_ends() {
    let limit = |joint: &str| world(&format!("<body><joint {joint}/>{BALL}</body>")).model.joints[0].effort_limit;
    assert_eq!(limit(r#"actuatorfrcrange="-3 3""#), Some((-3.0, 3.0)));
    assert_eq!(limit(r#"actuatorfrcrange="-3 3" actuatorfrclimited="false""#), None);
    assert_eq!(limit(r#"actuatorfrcrange="-3 2""#), Some((-3.0, 2.0)));
    assert_eq!(limit(""), None);
}

#[test]
fn springdamper_means_time_constant_and_damping_ratio() {
    // A ball of mass 1 and radius 1 about its centre: inertia 0.4.
    let model = world(&format!(r#"<body><joint springdamper="0.1 0.5"/>{BALL}</body>"#)).model;
    assert!(close(&model.stiffness, &[0.4 / (0.1 * 0.5_f64).powi(2)], 1e-11));
    assert!(close(&model.damping, &[2.0 * 0.4 / 0.1], 1e-13));
}

#[test]
fn bodies_are_numbered_depth_first_and_unnamed_ones_stay_unnamed() {
    let model = world(r#"<body name="a"><body name="b"><body/></body></body><body name="c"/>"#).model;
    let names: Vec<&str> = model.bodies.iter().map(|b| b.name.as_str()).collect();
    assert_eq!(names, ["world", "a", "b", "", "c"]);
    assert_eq!(model.bodies.iter().map(|b| b.parent).collect::<Vec<_>>(), [0, 0, 1, 2, 0]);
}

#[test]
fn flags_switch_springs_dampers_and_limits_off() {
    let model = load(&format!(
        r#"<mujoco><option><flag spring="disable" damper="disable" limit="disable" gravity="disable"/></option><worldbody>
        <body><joint stiffness="1" damping="1" range="0 1"/>{BALL}</body></worldbody></mujoco>"#
    ))
    .model;
    assert_eq!((model.stiffness[0], model.damping[0], model.joints[0].range), (0.0, 0.0, None));
    assert_eq!(model.gravity.to_array(), [0.0; 3]);
}

#[test]
fn keyframes_place_bodies_that_are_moved_from_outside() {
    let text = format!(
        r#"<mujoco><worldbody><body mocap="true" pos="1 2 3">{BALL}</body><body><freejoint/>{BALL}</body>
        <body mocap="true" euler="0 0 90">{BALL}</body></worldbody>
        <keyframe><key mpos="4 5 6 7 8 9" mquat="0 0 0 2 1 0 0 0"/><key mpos="4 5 6"/></keyframe></mujoco>"#
    );
    let Loaded { model, scene } = load(&text);
    let half = 0.5f64.sqrt();
    assert_eq!(model.keyframes[0].mocap, [4.0, 5.0, 6.0, 0.0, 0.0, 0.0, 1.0, 7.0, 8.0, 9.0, 1.0, 0.0, 0.0, 0.0]);
    // What a key does not say is as in the model.
    let second = &model.keyframes[1].mocap;
    assert!(close(second, &[4.0, 5.0, 6.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, half, 0.0, 0.0, half], 1e-15));
    let written = to_mjcf(&model, &scene, &WriteOptions::default()).expect("MJCF").text;
    let again = load(&written).model.keyframes;
    assert!(again.iter().zip(&model.keyframes).all(|(again, first)| again.mocap == first.mocap) && again.len() == 2);
    let zero = try_load(&text.replace("0 0 0 2", "0 0 0 0")).expect_err("no rotation");
    assert!(zero.message().contains("quaternion is zero"));
}

#[test]
fn keyframes_fill_in_what_is_missing() {
    let text = format!(
        r#"<mujoco><worldbody><body pos="0 0 2"><freejoint/>{BALL}</body><body><joint name="j" ref="180"/>{BALL}</body>
        </worldbody><actuator><motor joint="j"/></actuator>
        <keyframe><key name="k" time="3" qvel="1 2 3 4 5 6 7"/><key qpos="0 0 5 3 0 0 4 0.5" ctrl="9"/></keyframe></mujoco>"#
    );
    let model = load(&text).model;
    let named = model.keyframe(Some("k")).expect("the named keyframe");
    assert_eq!((named.time, named.q, named.ctrl), (3.0, model.q0.clone(), vec![0.0]));
    assert_eq!(named.v, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    // Quaternions become unit quaternions.
    assert!(close(&model.keyframes[1].q[3..7], &[0.6, 0.0, 0.0, 0.8], 1e-16));
    // Coordinates of keyframes are radians whatever the compiler says.
    assert_eq!((model.keyframes[1].q[7], model.keyframes[1].ctrl[0]), (0.5, 9.0));
    // By index, from the end as well, and by an index in text; there are two.
    let nameless = [model.keyframe(1), model.keyframe(-1), model.keyframe("1")].map(|key| key.expect("the second").q);
    assert!(nameless.iter().all(|q| *q == model.keyframes[1].q));
    assert!(model.keyframe(-2).is_some_and(|key| key.name == "k"));
    assert!(model.keyframe(2).is_none() && model.keyframe(-3).is_none() && model.keyframe("-3").is_none());
    // As in MuJoCo, a size may ask for more.
    let more = load(&text.replace("<worldbody>", "<size nkey='4'/><worldbody>")).model;
    assert_eq!(more.keyframes.len(), 4);
    assert!(more.keyframe(0).is_some_and(|key| key.name == "k"));
    assert!(more.keyframe(3).is_some_and(|key| key.q == model.q0));
}

/// MuJoCo takes both.
#[test]
fn free_joints_have_no_range_and_ball_joints_may_not_turn_at_all() {
    let range = |attributes: &str| {
        let text = format!("<body><joint {attributes}/><geom size=\"1\"/></body>");
        crate::world(&text).model.joints[0].range
    };
    assert_eq!(range("type='free' limited='true' range='0 0'"), None);
    assert_eq!(range("type='free' limited='true' range='2 1'"), None);
    assert_eq!(range("type='ball' range='0 0'"), None);
    assert_eq!(range("type='ball' limited='true' range='0 0'"), Some((0.0, 0.0)));
    let hinge =
        "<mujoco><worldbody><body><joint limited='true' range='0 0'/><geom size='1'/></body></worldbody></mujoco>";
    assert!(crate::try_load(hinge).is_err());
}

#[test]
fn margins_move_limits_inwards() {
    // Radians, whatever angles are: as MuJoCo has it.
    let content = format!(
        r#"<body><joint type="slide" range="-1 2" margin=".25"/>{BALL}<body><joint range="-90 90" margin=".5"/>{BALL}
        <body><joint type="ball" range="0 90" margin=".5"/>{BALL}</body></body></body>"#
    );
    let model = world(&content).model;
    let quarter = std::f64::consts::FRAC_PI_2;
    assert_eq!(model.joints[0].range, Some((-0.75, 1.75)));
    assert_eq!(model.joints[1].range, Some((0.5 - quarter, quarter - 0.5)));
    assert_eq!(model.joints[2].range, Some((0.0, quarter - 0.5)));
    assert!(!model.warnings.iter().any(|warning| warning.element.contains("margin")), "{:?}", model.warnings);
    let wide = world(&format!(r#"<body><joint type="slide" range="-1 1" margin="2"/>{BALL}</body>"#)).model;
    assert_eq!(wide.joints[0].range, Some((-1.0, 1.0)));
    assert!(wide.warnings.len() == 1 && wide.warnings[0].element.contains("margin"), "{:?}", wide.warnings);
}
