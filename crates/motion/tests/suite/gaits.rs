//! Gaits on the characters: feet that stand, soles that stay above the ground, smooth and periodic motion.

use crate::common::{self, frame_of, humanoid, v};
use models::characters::{self, Character, Options};
use multibody::{Kinematics, Model, forward_kinematics};
use sapwood_motion::gait::{self, GaitError, GaitPattern, LeggedGait, Slither, SlitherPattern};
use sapwood_motion::{Binding, BindingOptions, Motion, Posture, Skeleton};
use spatial::{Pose, Vec3};

fn character(character: Character) -> Model {
    let text = characters::mjcf(character, &Options::default());
    formats::load_str(&text, None, &formats::LoadOptions::default()).unwrap_or_else(|e| panic!("{e}")).model
}

/// The configurations of one cycle, at `n` + 1 instants.
fn cycle(model: &Model, motion: &impl Motion, n: usize) -> Vec<Vec<f64>> {
    let mut binding = Binding::new(model, motion, &BindingOptions::default()).unwrap_or_else(|e| panic!("{e}"));
    let mut q = model.q0.clone();
    let mut at = |k: usize| {
        binding.positions(motion, motion.duration() * k as f64 / n as f64, &mut q);
        q.clone()
    };
    (0..=n).map(&mut at).collect()
}

/// What the soles do over a cycle.
#[derive(Debug)]
struct Ground {
    /// Greatest way along the ground of a foot that stands, in one stance, m.
    slip: f64,
    /// Lowest and highest position of the lowest sole point of all feet, m.
    lowest: (f64, f64),
    /// Share of instants at which some foot touches (within 1 mm).
    touching: f64,
}

/// Follows `points` of the bodies `feet` through a cycle. A point stands while it is within 1 mm of the ground.
fn ground(model: &Model, motion: &impl Motion, feet: &[String], points: &[Vec3<f64>]) -> Ground {
    let n = 2000;
    let poses = cycle(model, motion, n);
    let mut slips = vec![0.0; feet.len()];
    let mut before: Vec<Vec<Vec3<f64>>> = Vec::new();
    let (mut least, mut most, mut touching) = (f64::INFINITY, f64::NEG_INFINITY, 0);
    for q in &poses {
        let now: Vec<Vec<Vec3<f64>>> = feet
            .iter()
            .map(|foot| frame_of(model, foot, q))
            .map(|frame: Pose<f64>| points.iter().map(|&p| frame.transform_point(p)).collect())
            .collect();
        let lowest = now.iter().flatten().map(|p| p.z).fold(f64::INFINITY, f64::min);
        (least, most) = (least.min(lowest), most.max(lowest));
        touching += usize::from(lowest < 1e-3);
        for (k, before) in before.iter().enumerate() {
            let moved = before.iter().zip(&now[k]).filter(|(a, b)| a.z < 1e-3 && b.z < 1e-3);
            // Of two points that touch, the foot turns about the one that moves less.
            let step = moved.map(|(a, b)| ((b.x - a.x).powi(2) + (b.y - a.y).powi(2)).sqrt());
            slips[k] += step.reduce(f64::min).unwrap_or(0.0);
        }
        before = now;
    }
    let slip = slips.into_iter().fold(0.0, f64::max);
    Ground { slip, lowest: (least, most), touching: touching as f64 / poses.len() as f64 }
}

/// Checks that a motion repeats after its stride and that positions and velocities do not jump: halving the step halves
/// the change of the velocity.
fn assert_smooth_and_periodic(model: &Model, motion: &impl Motion, stride: f64, name: &str) {
    let jump = |n: usize| {
        let poses = cycle(model, motion, n);
        let mut v = vec![vec![0.0; model.nv()]; n];
        for k in 0..n {
            multibody::difference(&model.tree, &poses[k], &poses[k + 1], &mut v[k]);
        }
        let scale = n as f64 / motion.duration();
        let change =
            |k: usize| v[k].iter().zip(&v[(k + 1) % n]).map(|(a, b)| (a - b).abs() * scale).fold(0.0, f64::max);
        (0..n).map(change).fold(0.0, f64::max)
    };
    let (coarse, fine) = (jump(2000), jump(8000));
    assert!(fine < 0.3 * coarse, "{name}: velocity changes by {coarse} and {fine}: a kink");
    let (mut now, mut later) = (Posture::default(), Posture::default());
    for t in [0.0, 0.37, 0.81] {
        motion.sample(t, &mut now);
        motion.sample(t + 3.0 * motion.duration(), &mut later);
        now.root.pos.x += 3.0 * stride;
        assert!((later.root.pos - now.root.pos).norm() < 1e-12, "{name}");
        for (a, b) in now.joints.iter().zip(&later.joints) {
            let ball = sapwood_motion::ChannelKind::Ball;
            assert!((a.rotation(ball).conjugate() * b.rotation(ball)).rotation_vector().norm() < 1e-11, "{name}");
        }
    }
}

fn legged(model: &Model, pattern: &GaitPattern) -> LeggedGait {
    let skeleton = Skeleton::of_model(model).expect("a free root");
    LeggedGait::new(&skeleton, pattern).unwrap_or_else(|e| panic!("{e}"))
}

#[test]
fn people_run_with_both_feet_in_the_air() {
    let model = character(Character::Humanoid);
    let run = legged(&model, &gait::run());
    let height = Skeleton::of_model(&model).expect("a free root").rest_positions()[0].z;
    let [heel, toe] = gait::run().legs[0].sole.map(|x| x * height);
    let feet = ["right_ankle".to_string(), "left_ankle".to_string()];
    let ground = ground(&model, &run, &feet, &[v(heel, 0.0, -0.055), v(toe, 0.0, -0.055)]);
    println!("run {:.2} m/s, lowered {:.3} m, {ground:?}", run.speed(), run.lowered());
    assert!((2.2..3.2).contains(&run.speed()));
    // Soles stay above the ground and leave it: of each foot's 0.34 of the cycle on it, and a few parts in a hundred within 1 mm.
    assert!(ground.lowest.0 > -1e-9 && ground.lowest.1 > 0.01, "{ground:?}");
    assert!((0.68..0.82).contains(&ground.touching), "{ground:?}");
    assert!(ground.slip < 2.5e-3, "{ground:?}");
    // In the middle of the flight nothing but gravity acts on the middle of the body, whose path the root's is about.
    let (mut posture, h) = (Posture::default(), 1e-3);
    let mut at = |time: f64| {
        run.sample(time, &mut posture);
        posture.root.pos.z
    };
    let flight = 0.42 * run.duration();
    let acceleration = (at(flight + h) - 2.0 * at(flight) + at(flight - h)) / (h * h);
    assert!((acceleration + 9.81).abs() < 1.0, "{acceleration}");
    assert_smooth_and_periodic(&model, &run, run.stride(), "run");
}

#[test]
fn people_walk_without_sliding() {
    let model = character(Character::Humanoid);
    let walk = legged(&model, &gait::walk());
    let height = Skeleton::of_model(&model).expect("a free root").rest_positions()[0].z;
    let [heel, toe] = gait::walk().legs[0].sole.map(|x| x * height);
    let ankle = 0.055;
    let feet = ["right_ankle".to_string(), "left_ankle".to_string()];
    let ground = ground(&model, &walk, &feet, &[v(heel, 0.0, -ankle), v(toe, 0.0, -ankle)]);
    println!(
        "walk {:.2} m/s, {:.2} m a cycle, lowered {:.3} m, {ground:?}",
        walk.speed(),
        walk.stride(),
        walk.lowered()
    );
    assert!((1.0..1.6).contains(&walk.speed()));
    // A sole that lifts or lands is within 1 mm of the ground for 4.5 % of the swing, in which it goes 10 (4.5 %)³ of the
    // stride: 1.2 mm at each end. Standing, it does not move.
    assert!(ground.slip < 2.5e-3, "{ground:?}");
    assert!(ground.lowest.0 > -1e-9 && ground.lowest.1 < 1e-9, "{ground:?}");
    assert_smooth_and_periodic(&model, &walk, walk.stride(), "walk");
    let knee = model.joints[model.joint("right_knee").expect("a knee")].q;
    let angles: Vec<f64> = cycle(&model, &walk, 200).iter().map(|q| q[knee]).collect();
    let (least, most) = angles.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &x| (a.min(x), b.max(x)));
    println!("the knee bends from {:.0}° to {:.0}°", least.to_degrees(), most.to_degrees());
    assert!(least > 0.1 && (0.8..1.6).contains(&most), "the knee bends backwards: {least} to {most}");
}

#[test]
fn other_people_walk_too() {
    let model = humanoid();
    let walk = legged(&model, &gait::walk());
    let poses = cycle(&model, &walk, 400);
    for q in &poses {
        let lowest = ["right_ankle", "left_ankle"].map(|f| frame_of(&model, f, q).pos.z);
        assert!(lowest.iter().all(|&z| z > common::ANKLE - 1e-9), "{lowest:?}");
    }
}

#[test]
fn dogs_trot_pace_and_canter_without_sliding() {
    let model = character(Character::Dog);
    let feet: Vec<String> =
        ["front_right", "front_left", "hind_right", "hind_left"].map(|leg| format!("{leg}_toe")).to_vec();
    for (name, pattern, airborne) in
        [("trot", gait::trot(), 0.05..0.16), ("pace", gait::pace(), 0.0..0.1), ("canter", gait::canter(), 0.05..0.25)]
    {
        let gait = legged(&model, &pattern);
        // The paw turns about its joint, which is 34 mm over the ground where it stands, and reaches 65 mm ahead of it.
        let paw = [v(0.0, 0.0, -0.034), v(0.046, 0.0, -0.034), v(0.065, 0.0, -0.015)];
        let ground = ground(&model, &gait, &feet, &paw);
        println!(
            "{name} {:.2} m/s, {:.2} m in {:.2} s, lowered {:.3} m, {ground:?}",
            gait.speed(),
            gait.stride(),
            gait.duration(),
            gait.lowered()
        );
        // Standing, a paw does not move; lifted, its tip goes a little way before it is 1 mm up.
        assert!(ground.slip < 1e-3, "{name}: {ground:?}");
        assert!(ground.lowest.0 > -1e-9, "{name}: {ground:?}");
        assert!(airborne.contains(&(1.0 - ground.touching)), "{name}: {ground:?}");
        assert_smooth_and_periodic(&model, &gait, gait.stride(), name);
    }
}

#[test]
fn standing_feet_do_not_move_at_all() {
    let model = character(Character::Dog);
    let gait = legged(&model, &gait::trot());
    let mut binding = Binding::new(&model, &gait, &BindingOptions::default()).expect("all joints");
    let mut q = model.q0.clone();
    for (leg, foot) in ["front_right_toe", "front_left_toe", "hind_right_toe", "hind_left_toe"].iter().enumerate() {
        let mut place: Option<Pose<f64>> = None;
        for k in 0..600 {
            let time = 2.0 * gait.duration() * f64::from(k) / 600.0;
            binding.positions(&gait, time, &mut q);
            let now = frame_of(&model, foot, &q);
            let stood = place.take();
            if gait.stands(leg, time) {
                if let Some(stood) = stood {
                    assert!((stood.pos - now.pos).norm() < 1e-12, "{foot} at {time}");
                    assert!((stood.rot.conjugate() * now.rot).rotation_vector().norm() < 1e-12, "{foot} at {time}");
                }
                place = Some(now);
            }
        }
    }
}

#[test]
fn snakes_follow_their_own_track() {
    for (which, waves) in [(Character::Snake36, 1.25), (Character::Snake72, 1.75), (Character::Snake195, 2.5)] {
        let model = character(which);
        let skeleton = Skeleton::of_model(&model).expect("a free root");
        let slither = Slither::new(&skeleton, &SlitherPattern { waves, ..SlitherPattern::default() });
        let slither = slither.unwrap_or_else(|e| panic!("{e}"));
        assert_smooth_and_periodic(&model, &slither, slither.stride(), which.name());
        let slide = sideways(&model, &slither);
        println!(
            "{}: {:.2} m/s, slides sideways at {slide:.4} of its speed",
            which.name(),
            slither.stride() / slither.duration()
        );
        // Sums over middles of links stand for integrals along the curve: the error goes with the square of the phase
        // kL of the wave along a link, with a factor below the greatest change of direction along the body, 2 sin A.
        let links = skeleton.joints().len() as f64 - 1.5;
        let phase = std::f64::consts::TAU * waves / links;
        assert!(slide < 0.2 * phase * phase, "{}: {slide}", which.name());
    }
}

/// The greatest speed of a link's middle across the link, over the greatest along it.
fn sideways(model: &Model, motion: &impl Motion) -> f64 {
    let n = 400;
    let poses = cycle(model, motion, n);
    let frames = |q: &[f64]| {
        let mut kinematics = Kinematics::new(&model.tree);
        forward_kinematics(&model.tree, 0..model.tree.len(), q, &mut kinematics);
        kinematics.frames
    };
    let (mut across, mut along) = (0.0_f64, 0.0_f64);
    for pair in poses.windows(2) {
        let (a, b) = (frames(&pair[0]), frames(&pair[1]));
        for k in 2..a.len() - 1 {
            let middle = |f: &[multibody::NodeFrame<f64>]| (f[k].pos + f[k + 1].pos) * 0.5;
            let moved = a[k].rot.transpose_mul(middle(&b) - middle(&a));
            (across, along) = (across.max(moved.y.abs()), along.max(moved.x.abs()));
        }
    }
    across / along
}

#[test]
fn errors_name_joints_and_numbers() {
    let skeleton = Skeleton::of_model(&humanoid()).expect("a free root");
    let error = |pattern: &GaitPattern| LeggedGait::new(&skeleton, pattern).map(|_| ()).expect_err("a bad pattern");
    assert_eq!(error(&gait::trot()), GaitError::NoJoint { name: "front_right_shoulder".into() });
    let mut far = gait::walk();
    far.stride = 4.0;
    assert!(matches!(error(&far), GaitError::TooFar { .. }));
    let mut long = gait::walk();
    long.legs[0].duty = 1.0;
    assert!(error(&long).to_string().starts_with("duty: 1: expected a number between 0 and 1"));
    let mut crooked = gait::walk();
    crooked.legs[0].ankle = "left_ankle".into();
    let message = error(&crooked).to_string();
    assert_eq!(message, "joint \"left_ankle\": expected it to hang on \"right_knee\"");
    let snake = Slither::new(&skeleton, &SlitherPattern::default()).map(|_| ()).expect_err("a humanoid is no snake");
    assert!(matches!(snake, GaitError::NotBelow { .. }));
}
