//! DeepMimic's format: a hand-written clip, and the published ones where they are at hand.

use std::path::PathBuf;

use crate::common::{self, frame_of, humanoid, sole, v};
use sapwood_motion::{Binding, BindingOptions, JointValue, LoopMode, Motion, Posture, deepmimic};
use spatial::{Quat, Vec3};

/// A row with everything at rest, `changes` laid over it.
fn row(duration: f64, root: [f64; 3], changes: &[(usize, &[f64])]) -> String {
    let mut row = vec![0.0; 44];
    row[0] = duration;
    row[1..4].copy_from_slice(&root);
    for w in [4, 8, 12, 16, 21, 25, 30, 35, 39] {
        row[w] = 1.0;
    }
    for (at, values) in changes {
        row[*at..at + values.len()].copy_from_slice(values);
    }
    let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
    format!("[{}]", numbers.join(", "))
}

fn file(rows: &[String]) -> String {
    format!("{{\n\"Loop\": \"wrap\",\n\"Frames\":\n[\n{}\n]\n}}\n", rows.join(",\n"))
}

/// One step of 0.5 s: right knee and elbow bent by a quarter turn, left hip lifted to the front, then at rest again.
fn sample() -> String {
    let c = std::f64::consts::FRAC_1_SQRT_2;
    let quarter = std::f64::consts::FRAC_PI_2;
    let bent: [(usize, &[f64]); 3] = [(20, &[-quarter]), (29, &[quarter]), (30, &[c, 0.0, 0.0, c])];
    file(&[row(0.25, [0.0, 0.9, 0.0], &[]), row(0.25, [0.5, 0.9, 0.25], &bent), row(0.0, [1.0, 0.95, 0.5], &[])])
}

#[test]
fn y_up_becomes_z_up_and_joints_bend_as_people_do() {
    let clip = deepmimic::parse(&sample(), "sample.txt").expect("a clip").clip;
    assert_eq!((clip.name(), clip.duration(), clip.loop_mode()), ("sample", 0.5, LoopMode::Wrap));
    let model = humanoid();
    let mut binding = Binding::new(&model, &clip, &BindingOptions::default()).expect("the same joints");
    let mut q = model.q0.clone();
    binding.positions(&clip, 0.25, &mut q);
    // x forwards stays, y up is z, z to the right is −y.
    assert_eq!(q[..3], [0.5, -0.25, 0.9]);
    let part = |name| frame_of(&model, name, &q);
    let (knee, ankle) = (part("right_knee").pos, part("right_ankle").pos);
    assert!((ankle - (knee + v(-common::SHANK, 0.0, 0.0))).norm() < 1e-12, "the shin points backwards");
    let forearm = part("right_elbow").rot * v(0.0, 0.0, -1.0);
    assert!((forearm - v(1.0, 0.0, 0.0)).norm() < 1e-12, "the forearm points forwards");
    let thigh = part("left_knee").pos - part("left_hip").pos;
    assert!((thigh - v(common::THIGH, 0.0, 0.0)).norm() < 1e-12, "the thigh is lifted to the front");
    assert!(part("left_hip").pos.y > part("right_hip").pos.y, "left is to the left");
}

#[test]
fn a_loop_carries_its_travel_on_but_not_its_height() {
    let clip = deepmimic::parse(&sample(), "").expect("a clip").clip;
    let mut posture = Posture::default();
    clip.sample(3.0 * 0.5 + 0.125, &mut posture);
    let at = posture.root.pos;
    assert!((at - v(3.25, -1.625, 0.9)).norm() < 1e-12, "{at:?}");
    let knee = posture.joints[3];
    let JointValue::Angle(angle) = knee else { panic!("{knee:?}") };
    assert!((angle + std::f64::consts::FRAC_PI_4).abs() < 1e-12, "half-way: {angle}");
    let JointValue::Rotation(hip) = posture.joints[7] else { panic!("a hip is a ball") };
    // An eighth of a turn about DeepMimic's z, which is our −y.
    let expected = Quat::from_axis_angle(v(0.0, -1.0, 0.0), std::f64::consts::FRAC_PI_4);
    assert!((hip.conjugate() * expected).rotation_vector().norm() < 1e-12);

    let clip = clip.with_loop_mode(LoopMode::Clamp);
    clip.sample(1e3, &mut posture);
    assert_eq!(posture.root.pos, v(1.0, -0.5, 0.95));
}

#[test]
fn a_closed_loop_ends_where_it_began() {
    let quarter = std::f64::consts::FRAC_PI_2;
    let rows = [
        row(0.5, [0.0, 0.9, 0.0], &[]),
        row(0.5, [1.0, 0.9, 0.0], &[]),
        row(0.0, [2.0, 0.8, 0.0], &[(20, &[-quarter])]),
    ];
    let clip = deepmimic::parse(&file(&rows), "").expect("a clip").clip.with_closed_loop(0.4);
    let (mut end, mut start) = (Posture::default(), Posture::default());
    clip.sample(1.0 - 1e-12, &mut end);
    clip.sample(1.0 + 1e-12, &mut start);
    assert!((end.root.pos - start.root.pos).norm() < 1e-9 && (end.root.pos.x - 2.0).abs() < 1e-9);
    assert!((end.root.pos.z - 0.9).abs() < 1e-9);
    let (JointValue::Angle(a), JointValue::Angle(b)) = (end.joints[3], start.joints[3]) else { panic!("hinges") };
    assert!((a - b).abs() < 1e-9 && b.abs() < 1e-9);
}

#[test]
fn errors_name_the_line_the_frame_and_what_was_expected() {
    let text = sample();
    let message = |text: &str| deepmimic::parse(text, "walk.txt").map(|_| ()).expect_err("a bad file").to_string();
    let cut = message(&text.replacen(", 0.25,", ",", 1));
    assert!(cut.starts_with("walk.txt:6: frame 1: 43 numbers: expected 44"), "{cut}");
    let loops = message(&text.replace("wrap", "swap"));
    assert_eq!(loops, "walk.txt:2: Loop \"swap\": expected \"wrap\" or \"none\"");
    let still = message(&text.replacen("[0.25,", "[0,", 2));
    assert!(still.starts_with("walk.txt:5: frame 0: duration 0 s: expected a number above 0"), "{still}");
    let milliseconds = message(&text.replacen("[0.25,", "[250,", 1));
    assert!(milliseconds.starts_with("walk.txt:5: frame 0: duration 250 s: expected the seconds"), "{milliseconds}");
    let z_up = message(&file(&[row(0.1, [0.0, 0.02, 0.9], &[]), row(0.1, [0.3, 0.0, 0.85], &[])]));
    assert_eq!(z_up, "walk.txt:5: frame 0: joint \"root\": it is at y = 0.02 m, z = 0.9 m: expected y up");
    let zero = message(&file(&[row(0.1, [0.0; 3], &[(8, &[0.0])])]));
    assert!(zero.starts_with("walk.txt:5: frame 0: chest: quaternion [0.0, 0.0, 0.0, 0.0]"), "{zero}");
    let nan = message(&text.replacen("0.9", "NaN", 1));
    assert!(nan.starts_with("walk.txt:5: "), "{nan}");
    assert!(message("{}").contains("missing field `Loop`"));
    assert!(message(&file(&[])).contains("no frames"));
    let unused = text.replace("\"Loop\"", "\"CycleSyncRootPos\": true,\n\"Loop\"");
    let warnings = deepmimic::parse(&unused, "walk.txt").expect("a clip").warnings;
    assert_eq!(warnings.len(), 1);
    assert_eq!(warnings[0].to_string(), "walk.txt:2: CycleSyncRootPos: is not used by this reader");
}

#[test]
fn no_text_cut_short_brings_the_reader_down() {
    let text = sample();
    for end in 0..text.trim_end().len() {
        let error = deepmimic::parse(&text[..end], "").map(|_| ()).expect_err("a part of a file");
        assert!(error.line() > 0 || end == 0, "{error}");
    }
}

/// The folder of the published clips beside the repository, or a note that there is none.
fn published() -> Option<Vec<PathBuf>> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data/deepmimic/motions");
    let Ok(entries) = std::fs::read_dir(&folder) else {
        println!("skipped: no DeepMimic clips beside the repository ({})", folder.display());
        return None;
    };
    let mut files: Vec<PathBuf> = entries.flatten().map(|e| e.path()).collect();
    files.sort();
    Some(files)
}

#[test]
fn published_clips_are_read() {
    let Some(files) = published() else { return };
    assert_eq!(files.len(), 20);
    let model = humanoid();
    let mut q = model.q0.clone();
    for path in files {
        let loaded = deepmimic::load(&path).unwrap_or_else(|e| panic!("{e}"));
        let clip = loaded.clip;
        let mut binding = Binding::new(&model, &clip, &BindingOptions::default()).expect("the same joints");
        for k in 0..=200 {
            binding.positions(&clip, 0.015 * clip.duration() * f64::from(k), &mut q);
            for joint in model.joints.iter().filter(|j| j.kind.nq() >= 4) {
                let w = joint.q + joint.kind.nq() - 4;
                let norm: f64 = q[w..w + 4].iter().map(|x| x * x).sum();
                assert!((norm - 1.0).abs() < 1e-14, "{}: {}", path.display(), joint.name);
            }
            // Limits that the format's own skeleton gives to knees and elbows, with what captured motion overshoots.
            for hinge in ["right_knee", "left_knee", "right_elbow", "left_elbow"] {
                let angle = q[model.joints[model.joint(hinge).expect("a hinge")].q];
                assert!((-0.5..3.2).contains(&angle), "{}: {hinge} at {angle}", path.display());
            }
        }
        if clip.loop_mode() == LoopMode::Wrap {
            let (open, closed) = (seam(&clip), seam(&clip.clone().with_closed_loop(0.25)));
            println!("{}: {open:.1}° across the seam, closed {closed:.1e}°", path.display());
            assert!(closed < 1e-4, "{}: {closed}", path.display());
        }
    }
}

/// The greatest turn of a joint within no time at the end of a clip, in degrees.
fn seam(clip: &sapwood_motion::Clip) -> f64 {
    let (mut end, mut start) = (Posture::default(), Posture::default());
    clip.sample(clip.duration() * (1.0 - 1e-9), &mut end);
    clip.sample(clip.duration() * (1.0 + 1e-9), &mut start);
    let turn = |c: usize| {
        let kind = clip.channels()[c].kind;
        (end.joints[c].rotation(kind).conjugate() * start.joints[c].rotation(kind)).rotation_vector().norm()
    };
    (0..clip.channels().len()).map(turn).fold(0.0, f64::max).to_degrees()
}

/// The lowest point of the soles over a clip at each of `n` instants.
fn lowest_points(clip: &sapwood_motion::Clip, n: u32) -> Vec<f64> {
    let model = humanoid();
    let mut binding = Binding::new(&model, clip, &BindingOptions::default()).expect("the same joints");
    let mut q = model.q0.clone();
    let mut lowest = |k: u32| {
        binding.positions(clip, clip.duration() * f64::from(k) / f64::from(n), &mut q);
        let feet = ["right_ankle", "left_ankle"].map(|foot| frame_of(&model, foot, &q));
        let points = feet.iter().flat_map(|f| sole().map(|p| f.transform_point(p).z));
        points.fold(f64::INFINITY, f64::min)
    };
    (0..n).map(&mut lowest).collect()
}

#[test]
fn walking_feet_stay_near_the_ground() {
    let Some(files) = published() else { return };
    for name in ["humanoid3d_walk.txt", "humanoid3d_zombie_walk.txt"] {
        let path = files.iter().find(|f| f.ends_with(name)).expect("the clip");
        let clip = deepmimic::load(path).unwrap_or_else(|e| panic!("{e}")).clip;
        let lowest = lowest_points(&clip, 200);
        let (least, most) = lowest.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
        println!("{name}: the lower sole is between {least:.3} m and {most:.3} m");
        assert!(least > -0.06 && most < 0.06, "{name}: {least} to {most}");
    }
}

#[test]
fn forwards_is_where_the_walk_goes() {
    let Some(files) = published() else { return };
    let path = files.iter().find(|f| f.ends_with("humanoid3d_walk.txt")).expect("the clip");
    let clip = deepmimic::load(path).unwrap_or_else(|e| panic!("{e}")).clip;
    let mut posture = Posture::default();
    clip.sample(0.5 * clip.duration(), &mut posture);
    let nose: Vec3<f64> = posture.root.rot * v(1.0, 0.0, 0.0);
    assert!(nose.x > 0.9 && posture.root.pos.x > 0.3, "{nose:?} {:?}", posture.root.pos);
}
