//! BVH: a hand-written figure against positions worked out on paper, and what is wrong with bad files.

use crate::common::v;
use sapwood_motion::{Axes, LoopMode, Motion, Posture, bvh};
use spatial::Vec3;

/// A hip that travels with a leg of two bones of 40 and 35 cm, and a head. In y-up, z-forward axes.
const TEXT: &str = "HIERARCHY
ROOT Hips
{
  OFFSET 0 100 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Leg
  {
    OFFSET 10 -10 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    JOINT Shin
    {
\tOFFSET 0 -40 0
\tCHANNELS 1 Xrotation
\tEnd Site
\t{
\t  OFFSET 0 -35 0
\t}
    }
  }
  JOINT Head
  {
    OFFSET 0 50 0
    CHANNELS 3 Yrotation Xrotation Zrotation
    End Site
    {
      OFFSET 0 20 0
    }
  }
}
MOTION
Frames: 3
Frame Time: 0.1
0 0 0   0 0 0   0 0 0   0   0 0 0
0 0 30  0 0 0   0 -90 0 90  0 0 0
20 -5 60  0 0 90   0 0 0 0  0 0 0
";

fn options() -> bvh::Options {
    bvh::Options { scale: 0.01, ..bvh::Options::default() }
}

/// Positions of all joints and of the ends of bones at a time.
fn positions(loaded: &bvh::Loaded, time: f64) -> Vec<Vec3<f64>> {
    let mut posture = Posture::default();
    loaded.clip.sample(time, &mut posture);
    let mut positions = Vec::new();
    for (k, joint) in loaded.skeleton.joints().iter().enumerate() {
        let frame = loaded.skeleton.frame(k, &posture);
        positions.push(frame.pos);
        positions.extend(joint.ends.iter().map(|&e| frame.transform_point(e)));
    }
    positions
}

fn assert_close(found: &[Vec3<f64>], expected: &[Vec3<f64>]) {
    assert_eq!(found.len(), expected.len());
    for (k, (a, b)) in found.iter().zip(expected).enumerate() {
        assert!((*a - *b).norm() < 1e-14, "point {k}: {a:?}, expected {b:?}");
    }
}

#[test]
fn positions_are_those_worked_out_by_hand() {
    let loaded = bvh::parse(TEXT, "leg.bvh", &options()).expect("a figure");
    assert!(loaded.warnings.is_empty() && loaded.clip.loop_mode() == LoopMode::Clamp);
    let names: Vec<&str> = loaded.skeleton.joints().iter().map(|j| j.name.as_str()).collect();
    assert_eq!(names, ["Hips", "Leg", "Shin", "Head"]);
    let parents: Vec<Option<usize>> = loaded.skeleton.joints().iter().map(|j| j.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(0)]);
    // Order: hips, leg, shin, its end, head, its end. The file's x (left), y (up), z (forwards) are our y, z, x.
    let rest = [v(0., 0., 1.), v(0., 0.1, 0.9), v(0., 0.1, 0.5), v(0., 0.1, 0.15), v(0., 0., 1.5), v(0., 0., 1.7)];
    assert_close(&positions(&loaded, 0.0), &rest);
    // The leg turned by −90° about x points along z, forwards; the shin turned back hangs down.
    let kick =
        [v(0.3, 0., 1.), v(0.3, 0.1, 0.9), v(0.7, 0.1, 0.9), v(0.7, 0.1, 0.55), v(0.3, 0., 1.5), v(0.3, 0., 1.7)];
    assert_close(&positions(&loaded, 0.1), &kick);
    // A quarter turn to the left about y: what was to the left (x) is now behind.
    let turned = [
        v(0.6, 0.2, 0.95),
        v(0.5, 0.2, 0.85),
        v(0.5, 0.2, 0.45),
        v(0.5, 0.2, 0.1),
        v(0.6, 0.2, 1.45),
        v(0.6, 0.2, 1.65),
    ];
    assert_close(&positions(&loaded, 0.2), &turned);
}

#[test]
fn the_order_of_channels_is_the_order_of_rotations() {
    // In Z X Y order the vector −y (down) goes first about y (stays), then about x by 90° (to −z), then about z (stays);
    // in Y X Z order it goes about z by 90° (to x), then about x (stays), then about y by 90° (to −z).
    let angles = |text: &str| text.replace("0 0 30  0 0 0   0 -90 0 90", "0 0 0  0 0 0   90 90 90 0");
    let zxy = bvh::parse(&angles(TEXT), "", &options()).expect("a figure");
    let knee = positions(&zxy, 0.1)[2] - positions(&zxy, 0.1)[1];
    assert!((knee - v(-0.4, 0.0, 0.0)).norm() < 1e-14, "{knee:?}");
    let renamed = TEXT.replace("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Yrotation Xrotation Zrotation");
    let yxz = bvh::parse(&angles(&renamed), "", &options()).expect("a figure");
    let knee = positions(&yxz, 0.1)[2] - positions(&yxz, 0.1)[1];
    assert!((knee - v(-0.4, 0.0, 0.0)).norm() < 1e-14, "{knee:?}");
    // X Z Y: about y (stays), about z by 90° (to x), about x (stays): to the left.
    let renamed = TEXT.replace("CHANNELS 3 Zrotation Xrotation Yrotation", "CHANNELS 3 Xrotation Zrotation Yrotation");
    let xzy = bvh::parse(&angles(&renamed), "", &options()).expect("a figure");
    let knee = positions(&xzy, 0.1)[2] - positions(&xzy, 0.1)[1];
    assert!((knee - v(0.0, 0.4, 0.0)).norm() < 1e-14, "{knee:?}");
}

#[test]
fn case_space_and_line_ends_do_not_matter() {
    let plain = bvh::parse(TEXT, "", &options()).expect("a figure");
    let loud = TEXT.to_uppercase().replace("HEAD\n  {", "HEAD{").replace("{\n", "{  \r\n\r\n");
    let loud = loud.replace("FRAMES: 3", "  frames : 3").replace("TIME: 0.1", "Time:0.1");
    let loud = bvh::parse(&loud, "", &options()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(positions(&plain, 0.13), positions(&loud, 0.13));
    let ours = bvh::Options { axes: Axes::ZUpXForward, ..options() };
    let ours = bvh::parse(TEXT, "", &ours).expect("a figure");
    assert_eq!(ours.skeleton.joints()[3].offset, v(0.0, 0.5, 0.0));
}

#[test]
fn bones_that_stretch_are_a_warning() {
    let six = TEXT
        .replace("CHANNELS 1 Xrotation", "CHANNELS 4 Xposition Yposition Zposition Xrotation")
        .replace("0 0 0   0 0 0   0 0 0   0   0 0 0", "0 0 0  0 0 0  0 0 0  0 -40 0 0  0 0 0")
        .replace("0 -90 0 90  0", "0 -90 0  0 -40 0 90  0");
    let still = six.replace("0 0 90   0 0 0 0  0", "0 0 90   0 0 0  0 -40 0 0  0");
    assert!(bvh::parse(&still, "", &options()).expect("a figure").warnings.is_empty());
    let long = six.replace("0 0 90   0 0 0 0  0", "0 0 90   0 0 0  0 -50 0 0  0");
    let warnings = bvh::parse(&long, "leg.bvh", &options()).expect("a figure").warnings;
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].to_string().starts_with("leg.bvh:10: Shin: its position channels move it by up to 10 units"));
}

#[test]
fn errors_name_the_line_and_what_was_expected() {
    let cases = [
        (TEXT.replace("HIERARCHY", "HIERACHY"), "leg.bvh:1: \"HIERACHY\": expected HIERARCHY"),
        (
            TEXT.replace("OFFSET 10 -10 0", "OFFSET 10 -10"),
            "leg.bvh:9: OFFSET z: \"CHANNELS\": expected a finite number",
        ),
        (TEXT.replace("OFFSET 0 50 0", "OFFSET 0 inf 0"), "leg.bvh:22: OFFSET y: \"inf\": expected a finite number"),
        (
            TEXT.replace("CHANNELS 1 Xrotation", "CHANNELS 1 Wrotation"),
            "leg.bvh:13: channel \"Wrotation\": expected Xpos",
        ),
        (TEXT.replace("CHANNELS 1 X", "CHANNELS 2 X"), "leg.bvh:14: channel \"End\": expected Xpos"),
        (TEXT.replace("CHANNELS 1 X", "CHANNELS one X"), "leg.bvh:13: number of CHANNELS: \"one\": expected a whole"),
        (TEXT.replace("JOINT Head", "JOINT Leg"), "leg.bvh:20: joint \"Leg\": line 6 has one of this name"),
        (TEXT.replace("JOINT Head", "JOINT"), "leg.bvh:20: JOINT without a name: expected one"),
        (TEXT.replace("Frames: 3", "Frames: 4"), "leg.bvh:31: Frames: 4, but 3 rows follow"),
        (TEXT.replace("Frames: 3", "Frames: 2"), "leg.bvh:35: more rows than the 2 frames of line 31"),
        (TEXT.replace("Frames: 3", "Frames: 0"), "leg.bvh:31: Frames: 0: expected 1 or more"),
        (
            TEXT.replace("Frame Time: 0.1", "Frame Time: -0.1"),
            "leg.bvh:32: Frame Time: -0.1 s: expected a number above 0",
        ),
        (
            TEXT.replace("0 -90 0 90", "0 -90 0"),
            "leg.bvh:34: frame 1: 12 numbers: expected 13, one for each channel; it ends before joint \"Head\" Zrotation",
        ),
        (
            TEXT.replace("0 -90 0 90", "0 NaN 0 90"),
            "leg.bvh:34: frame 1: joint \"Leg\" Xrotation: number 8 is \"NaN\": expected a finite number",
        ),
        (TEXT.replace("MOTION", ""), "leg.bvh:31: \"Frames:\": expected MOTION"),
        (TEXT.replace("MOTION", "}"), "leg.bvh:30: \"}\": expected MOTION"),
        (
            TEXT.split("JOINT Head").next().unwrap_or("").into(),
            "leg.bvh:19: the file ends here: expected OFFSET, CHANNELS",
        ),
        (String::new(), "leg.bvh:1: the file ends here: expected HIERARCHY"),
    ];
    for (text, expected) in cases {
        let message = bvh::parse(&text, "leg.bvh", &options()).map(|_| ()).expect_err(expected).to_string();
        assert!(message.contains(expected), "{message}\nexpected {expected}");
    }
    let scale = bvh::Options { scale: 0.0, ..options() };
    assert!(bvh::parse(TEXT, "", &scale).is_err());
}

#[test]
fn no_word_out_of_place_brings_the_reader_down() {
    let words: Vec<&str> = TEXT.split_inclusive(char::is_whitespace).collect();
    for k in 0..words.len() {
        for other in ["", "NaN ", "{ ", "} ", "-1 ", "99999999999999999999 ", "1e999 ", "JOINT ", "End ", ": "] {
            let text: String = words.iter().enumerate().map(|(i, w)| if i == k { other } else { w }).collect();
            if let Err(error) = bvh::parse(&text, "", &options()) {
                assert!(error.line() > 0, "{error}");
            }
        }
    }
    // What is cut off within the last number is still a number.
    for end in 0..TEXT.trim_end().len() - 1 {
        let error = bvh::parse(&TEXT[..end], "", &options()).map(|_| ()).expect_err("a part of a file");
        assert!(error.line() > 0, "{error}");
    }
}
