//! Motions by name or file on models: a figure in a T-pose, in centimetres, with other names and other axes, against the same
//! figure's joints worked out by hand.

use std::f64::consts::FRAC_PI_2;

use models::characters;
use multibody::Model;
use sapwood_motion::{Axes, RetargetOptions, Source, SourceOptions};

/// A person who stands with level arms, y up and z forwards, in centimetres; joints that the humanoid does not have lie between.
/// Rows: at rest; arms hanging, the right knee bent by 90°; turned to the left by 90° and 2 m on, the right forearm forwards.
const TEXT: &str = "HIERARCHY
ROOT mixamorig:Hips { OFFSET 0 92 0 CHANNELS 6 Xposition Yposition Zposition Yrotation Xrotation Zrotation
  JOINT mixamorig:Spine { OFFSET 0 12 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT mixamorig:Spine1 { OFFSET 0 10 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT mixamorig:Neck { OFFSET 0 30 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 15 0 } }
      JOINT mixamorig:RightShoulder { OFFSET -5 25 0 CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT mixamorig:RightArm { OFFSET -13 0 0 CHANNELS 3 Xrotation Yrotation Zrotation
          JOINT mixamorig:RightForeArm { OFFSET -28 0 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET -25 0 0 } } } }
      JOINT mixamorig:LeftShoulder { OFFSET 5 25 0 CHANNELS 3 Zrotation Xrotation Yrotation
        JOINT mixamorig:LeftArm { OFFSET 13 0 0 CHANNELS 3 Zrotation Xrotation Yrotation
          JOINT mixamorig:LeftForeArm { OFFSET 28 0 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 25 0 0 } } } } } }
  JOINT mixamorig:RightUpLeg { OFFSET -9 -4 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT mixamorig:RightLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT mixamorig:RightFoot { OFFSET 0 -40 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 -5 12 } } } }
  JOINT mixamorig:LeftUpLeg { OFFSET 9 -4 0 CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT mixamorig:LeftLeg { OFFSET 0 -42 0 CHANNELS 3 Zrotation Xrotation Yrotation
      JOINT mixamorig:LeftFoot { OFFSET 0 -40 0 CHANNELS 3 Zrotation Xrotation Yrotation End Site { OFFSET 0 -5 12 } } } }
}
MOTION
Frames: 3
Frame Time: 0.5
0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0
0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 90 0 0 0  0 0 0 -90 0 0 0 0 0  0 0 0 0 90 0 0 0 0  0 0 0 0 0 0 0 0 0
0 0 200 90 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 90  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0  0 0 0 0 0 0 0 0 0
";

fn humanoid() -> Model {
    let text = characters::mjcf(characters::Character::Humanoid, &characters::Options::default());
    formats::load_str(&text, None, &formats::LoadOptions::default()).expect("a character").model
}

fn source(text: &str) -> Source {
    Source::parse(text, "tpose.bvh", true).expect("a figure")
}

/// The coordinates of a joint at a time.
fn at(model: &Model, options: &SourceOptions, text: &str, time: f64, joint: &str) -> Vec<f64> {
    let mut bound = source(text).on(model, options).expect("a person");
    let mut q = model.q0.clone();
    bound.binding.positions(&bound.motion, time, &mut q);
    let joint = &model.joints[model.joint(joint).expect("a joint")];
    q[joint.q..joint.q + joint.kind.nq()].to_vec()
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len());
    // A quaternion and its negative are one rotation.
    let sign = if found.iter().zip(expected).map(|(a, b)| a * b).sum::<f64>() < 0.0 { -1.0 } else { 1.0 };
    let sign = if found.len() == 4 { sign } else { 1.0 };
    for (a, b) in found.iter().zip(expected) {
        assert!((sign * a - b).abs() < 1e-9, "{found:?}, expected {expected:?}");
    }
}

#[test]
fn a_figure_in_another_rest_pose_is_put_on_the_model() {
    let (model, options) = (humanoid(), SourceOptions::default());
    let joint = |time, joint| at(&model, &options, TEXT, time, joint);
    let half = 0.5_f64.sqrt();
    // Level arms: hanging ones turned by 90° about x, the right one out to the right.
    assert_near(&joint(0.0, "right_shoulder"), &[half, -half, 0.0, 0.0]);
    assert_near(&joint(0.0, "left_shoulder"), &[half, half, 0.0, 0.0]);
    assert_near(&joint(0.0, "right_elbow"), &[0.0]);
    assert_near(&joint(0.5, "right_shoulder"), &[1.0, 0.0, 0.0, 0.0]);
    assert_near(&joint(0.5, "left_shoulder"), &[1.0, 0.0, 0.0, 0.0]);
    assert_near(&joint(0.5, "right_knee"), &[FRAC_PI_2]);
    // Facing y; a forearm that points forwards of a level arm is an elbow bent by 90°.
    let root = joint(1.0, "root");
    assert_near(&root[3..], &[half, 0.0, 0.0, half]);
    assert_near(&joint(1.0, "right_elbow"), &[FRAC_PI_2]);
    // 2 m of a figure whose bones are some per cent longer or shorter than the humanoid's.
    assert!((root[0] - 2.0).abs() < 0.4 && root[1].abs() < 1e-9 && (root[2] - 0.92).abs() < 0.15, "{root:?}");
}

#[test]
fn axes_and_units_are_found_and_wrong_ones_refused() {
    let model = humanoid();
    let bound = source(TEXT).on(&model, &SourceOptions::default()).expect("a person");
    assert!(bound.notes[0].starts_with("axes y-up-z-forward, 0.0"), "{:?}", bound.notes);
    assert!(bound.notes[1].contains("mixamorig:RightUpLeg=right_hip"), "{:?}", bound.notes);
    let with = |axes, scale| SourceOptions {
        retarget: RetargetOptions { axes, scale, ..RetargetOptions::default() },
        ..SourceOptions::default()
    };
    let refused = |axes, scale| source(TEXT).on(&model, &with(axes, scale)).err().expect("an error").to_string();
    let message = refused(Some(Axes::ZUpXForward), None);
    assert!(message.starts_with("tpose.bvh: frame 0: in axes z-up-x-forward the bone to joint \""), "{message}");
    assert!(message.contains("expected y-up-z-forward"), "{message}");
    let message = refused(None, Some(1.0));
    assert!(message.contains("with scale 1 the bone to joint \"") && message.contains("42.000 m long"), "{message}");
    assert!(source(TEXT).on(&model, &with(Some(Axes::YUpZForward), Some(0.01))).is_ok());
}

#[test]
fn other_joints_are_named() {
    let model = humanoid();
    let message = |text: &str, options: &SourceOptions| match source(text).on(&model, options) {
        Ok(_) => panic!("bound"),
        Err(error) => error.to_string(),
    };
    let limp = TEXT.replace("RightLeg", "Stick");
    let options = SourceOptions::default();
    let missing = message(&limp, &options);
    assert!(missing.starts_with("tpose.bvh: frame 0: the file has no joints for \"right_knee\""), "{missing}");
    assert!(missing.contains("\"mixamorig:Stick\""), "{missing}");
    let with = |pairs: &[(&str, &str)], keep_unnamed| SourceOptions {
        retarget: RetargetOptions {
            rename: pairs.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
            keep_unnamed,
            ..RetargetOptions::default()
        },
        ..SourceOptions::default()
    };
    let renamed = with(&[("mixamorig:Stick", "right_knee")], false);
    assert_near(&at(&model, &renamed, &limp, 0.5, "right_knee"), &[FRAC_PI_2]);
    assert_near(&at(&model, &with(&[], true), &limp, 0.5, "right_knee"), &[0.0]);
    assert!(
        message(TEXT, &with(&[("Hip", "right_hip")], false)).contains("rename \"Hip\": the file has no such joint")
    );
    let dog = characters::mjcf(characters::Character::Dog, &characters::Options::default());
    let dog = formats::load_str(&dog, None, &formats::LoadOptions::default()).expect("a character").model;
    let on_dog = source(TEXT).on(&dog, &options).err().expect("no dog").to_string();
    assert!(on_dog.contains("\"front_right_toe\""), "{on_dog}");
    let Err(error) = Source::open("trot").expect("a gait").on(&model, &options) else { panic!("a trotting person") };
    let error = error.to_string();
    assert!(
        error.contains("\"trot\" on model \"humanoid\"") && error.ends_with("it can go in \"walk\", \"run\""),
        "{error}"
    );
}

#[test]
fn names_that_are_misspelt_are_suggested() {
    let error = Source::open("cantre").expect_err("no such gait").to_string();
    assert_eq!(error, "there is no gait and no file \"cantre\": did you mean \"canter\"?");
    let error = Source::open("xyzzy").expect_err("no such gait").to_string();
    assert!(
        error.ends_with("expected a file (DeepMimic's text or BVH) or one of walk, run, trot, pace, canter, slither")
    );
}

#[test]
fn broken_rows_name_frame_and_joint() {
    let error = |text: String| Source::parse(&text, "walk.bvh", true).expect_err("broken").to_string();
    let rows: Vec<&str> = TEXT.lines().collect();
    let line = rows.len() - 1;
    let nan = error(TEXT.replacen("0 0 0  0 0 0 0 90 0", "0 0 0  0 0 0 0 nan 0", 1));
    assert!(nan.contains(":23: frame 1: joint \"mixamorig:RightLeg\" Xrotation: number 38 is \"nan\""), "{nan}");
    let cut = error(TEXT[..TEXT.len() - 40].to_owned());
    assert!(cut.starts_with(&format!("walk.bvh:{}: frame 2: ", line + 1)), "{cut}");
    assert!(cut.contains("it ends before joint \"mixamorig:"), "{cut}");
    let cut = error(rows[..line].join("\n"));
    assert!(cut.ends_with("the file is cut in or before frame 2"), "{cut}");
    let rate = error(TEXT.replace("Frame Time: 0.5", "Frame Time: 120"));
    assert!(rate.contains("expected the seconds between frames; of 120 a second they are 0.00833"), "{rate}");

    let error = |text: &str| Source::parse(text, "walk.txt", false).expect_err("broken").to_string();
    let row = vec!["1"; 44].join(",");
    let nan = vec!["1"; 20].join(",") + ",NaN," + &vec!["1"; 23].join(",");
    let text = error(&format!("{{\"Loop\": \"wrap\", \"Frames\": [[{row}],\n[{nan}]]}}"));
    assert!(text.starts_with("walk.txt:2: frame 1: joint \"right_knee\": \"NaN\" is no finite number"), "{text}");
    let text = error(&format!("{{\"Loop\": \"wrap\", \"Frames\": [[{row}],\n[1,1,1"));
    assert!(text.contains("frame 1: the file is cut at the root's position"), "{text}");
}
