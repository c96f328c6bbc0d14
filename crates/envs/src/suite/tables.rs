//! The tasks.

use std::f64::consts::PI;

use multibody::SiteShape;
use spatial::Vec3;

use super::legged::{
    HUMANOID, HUMANOID_CMU, cheetah, dog, dog_fetch, hopper, humanoid, pure_humanoid, quadruped, quadruped_escape,
    quadruped_fetch, walker,
};
use super::parts::{Names, length, part, small_control, suite, varied};
use super::quantity::{Axes, Coordinate, Point, Quantity, center_of};
use super::reward::{Fall, Join, Reward, Tolerance};
use super::variation::Variation;
use super::{Part, Suite};
use crate::error::EnvError;

type Build = fn(&Names<'_>) -> Result<Suite, EnvError>;

/// A task and how it is made.
#[derive(Debug)]
pub(super) struct Entry {
    pub name: &'static str,
    pub build: Build,
}

const fn entry(name: &'static str, build: Build) -> Entry {
    Entry { name, build }
}

/// The tasks, by dm_control's names.
pub(super) const TASKS: &[Entry] = &[
    entry("acrobot-swingup", |names| acrobot(names, 1.0)),
    entry("acrobot-swingup_sparse", |names| acrobot(names, 0.0)),
    entry("ball_in_cup-catch", ball_in_cup),
    entry("cartpole-balance", |names| cartpole(names, false)),
    entry("cartpole-balance_sparse", |names| cartpole(names, true)),
    entry("cartpole-swingup", |names| cartpole(names, false)),
    entry("cartpole-swingup_sparse", |names| cartpole(names, true)),
    entry("cartpole-three_poles", |names| cartpole(names, false)),
    entry("cartpole-two_poles", |names| cartpole(names, false)),
    entry("cheetah-run", cheetah),
    entry("dog-fetch", dog_fetch),
    entry("dog-run", |names| dog(names, 9.0)),
    entry("dog-stand", |names| dog(names, 0.0)),
    entry("dog-trot", |names| dog(names, 3.0)),
    entry("dog-walk", |names| dog(names, 1.0)),
    entry("finger-spin", |names| finger(names, None)),
    entry("finger-turn_easy", |names| finger(names, Some(0.07))),
    entry("finger-turn_hard", |names| finger(names, Some(0.03))),
    entry("fish-swim", |names| fish(names, true)),
    entry("fish-upright", |names| fish(names, false)),
    entry("hopper-hop", |names| hopper(names, true)),
    entry("hopper-stand", |names| hopper(names, false)),
    entry("humanoid-run", |names| humanoid(names, &HUMANOID, 10.0)),
    entry("humanoid-run_pure_state", pure_humanoid),
    entry("humanoid-stand", |names| humanoid(names, &HUMANOID, 0.0)),
    entry("humanoid-walk", |names| humanoid(names, &HUMANOID, 1.0)),
    entry("humanoid_CMU-run", |names| humanoid(names, &HUMANOID_CMU, 10.0)),
    entry("humanoid_CMU-stand", |names| humanoid(names, &HUMANOID_CMU, 0.0)),
    entry("humanoid_CMU-walk", |names| humanoid(names, &HUMANOID_CMU, 1.0)),
    entry("lqr-lqr_2_1", lqr),
    entry("lqr-lqr_6_2", lqr),
    entry("manipulator-bring_ball", |names| manipulator(names, false)),
    entry("manipulator-bring_peg", |names| manipulator(names, true)),
    entry("manipulator-insert_ball", |names| insert(names, false)),
    entry("manipulator-insert_peg", |names| insert(names, true)),
    entry("pendulum-swingup", pendulum),
    entry("point_mass-easy", point_mass),
    entry("point_mass-hard", |names| Ok(varied(point_mass(names)?, Variation::Directions))),
    entry("quadruped-escape", quadruped_escape),
    entry("quadruped-fetch", quadruped_fetch),
    entry("quadruped-run", |names| quadruped(names, 5.0)),
    entry("quadruped-walk", |names| quadruped(names, 0.5)),
    entry("reacher-easy", |names| reacher(names, 0.05)),
    entry("reacher-hard", |names| reacher(names, 0.015)),
    entry("stacker-stack_2", |names| stacker(names, &["box0", "box1"])),
    entry("stacker-stack_4", |names| stacker(names, &["box0", "box1", "box2", "box3"])),
    entry("swimmer-swimmer15", |names| swimmer(names, 15)),
    entry("swimmer-swimmer6", |names| swimmer(names, 6)),
    entry("walker-run", |names| walker(names, 8.0)),
    entry("walker-stand", |names| walker(names, 0.0)),
    entry("walker-walk", |names| walker(names, 1.0)),
];

const INFINITY: f64 = f64::INFINITY;

// Entries of a rotation: the component along the first axis, of the world, of the second, of the body.
const XZ: (usize, usize) = (0, 2);
const ZZ: (usize, usize) = (2, 2);

fn acrobot(names: &Names<'_>, margin: f64) -> Result<Suite, EnvError> {
    let arms = vec![names.body("upper_arm")?, names.body("lower_arm")?];
    let target = &names.model.sites[names.site("target")?];
    let SiteShape::Sphere { radius } = target.shape else { return names.find(None, "ball site", "target") };
    let to_target = length(names.site_point("tip")?, names.site_point("target")?, &[0, 1, 2]);
    let observation = vec![
        part("orientations", [Quantity::Rotations(arms.clone(), &[XZ]), Quantity::Rotations(arms, &[ZZ])]),
        part("velocity", [names.v()]),
    ];
    suite(observation, Reward::score(to_target, Tolerance::within(0.0, radius).margin(margin)), 0)
}

fn ball_in_cup(names: &Names<'_>) -> Result<Suite, EnvError> {
    let target = &names.model.sites[names.site("target")?];
    let SiteShape::Box { half_extents } = target.shape else { return names.find(None, "box site", "target") };
    let observation = vec![part("position", [names.q_from(0)]), part("velocity", [names.v()])];
    let (from, to) = (names.origin("ball")?, names.site_point("target")?);
    let radius = names.radius("ball")?;
    let inside = [(&[0][..], half_extents[0]), (&[2], half_extents[2])].map(|(entries, half)| {
        let apart = Quantity::Between { from, to, axes: None, entries };
        Reward::score(apart, Tolerance::within(radius - half, half - radius))
    });
    suite(observation, Reward::Product(inside.into()), 0)
}

fn cartpole(names: &Names<'_>, is_sparse: bool) -> Result<Suite, EnvError> {
    let poles: Vec<_> = (2..names.model.bodies.len()).collect();
    let cart = names.positions(&["slider"])?;
    let observation = vec![
        part("position", [cart.clone(), Quantity::Rotations(poles.clone(), &[ZZ, XZ])]),
        part("velocity", [names.v()]),
    ];
    let cosines = Quantity::Rotations(poles, &[ZZ]);
    let reward = if is_sparse {
        Reward::Product(vec![
            Reward::score(cart, Tolerance::within(-0.25, 0.25)),
            Reward::Score(cosines, Tolerance::within(0.995, 1.0), Join::Product),
        ])
    } else {
        let angular = Quantity::V((1..names.model.nv()).collect());
        Reward::Product(vec![
            Reward::Mean(cosines).scaled(0.5, 0.5),
            small_control(),
            Reward::Score(angular, Tolerance::within(0.0, 0.0).margin(5.0), Join::Least).scaled(0.5, 0.5),
            Reward::score(cart, Tolerance::within(0.0, 0.0).margin(2.0)).scaled(0.5, 0.5),
        ])
    };
    suite(observation, reward, 0)
}

fn finger(names: &Names<'_>, target: Option<f64>) -> Result<Suite, EnvError> {
    const XZ_ENTRIES: &[usize] = &[0, 2];
    let (tip, hinge) = (names.site_point("tip")?, names.origin("spinner")?);
    let from_hinge = |to| Quantity::Between { from: hinge, to, axes: None, entries: XZ_ENTRIES };
    let mut observation = vec![
        part("position", [names.positions(&["proximal", "distal"])?, from_hinge(tip)]),
        part("velocity", [names.velocities(&["proximal", "distal", "hinge"])?]),
        part("touch", [names.touch(&["touchtop", "touchbottom"])?]),
    ];
    let Some(radius) = target else {
        let spin = Reward::score(names.velocities(&["hinge"])?, Tolerance::within(-INFINITY, -15.0));
        return suite(observation, spin, 0);
    };
    let goal = Point::Goal([Coordinate::Entry(0), Coordinate::Fixed(0.0), Coordinate::Entry(1)]);
    let to_target = Quantity::Between { from: tip, to: goal, axes: None, entries: XZ_ENTRIES };
    let distance = Quantity::Length(Box::new(to_target), radius);
    observation.push(part("target_position", [from_hinge(goal)]));
    observation.push(part("dist_to_target", [distance.clone()]));
    suite(observation, Reward::score(distance, Tolerance::within(-INFINITY, 0.0)), 2)
}

fn fish(names: &Names<'_>, swims: bool) -> Result<Suite, EnvError> {
    let joints = ["tail1", "tail_twist", "tail2", "finright_roll", "finright_pitch", "finleft_roll", "finleft_pitch"];
    let upright = names.rotation("torso", &[ZZ])?;
    let mut observation = vec![part("joint_angles", [names.positions(&joints)?]), part("upright", [upright.clone()])];
    let reward = if swims {
        let mouth = names.geom("mouth")?;
        let goal = Point::Goal([Coordinate::Entry(0), Coordinate::Entry(1), Coordinate::Entry(2)]);
        let axes = Some(Axes { body: mouth.body, rot: mouth.pose.rot.to_mat3() });
        let to_target = Quantity::Between { from: center_of(mouth), to: goal, axes, entries: &[0, 1, 2] };
        observation.push(part("target", [to_target.clone()]));
        let radii = names.radius("mouth")? + names.radius("target")?;
        let distance = Quantity::Length(Box::new(to_target), 0.0);
        let there = Reward::score(distance, Tolerance::within(0.0, radii).margin(2.0 * radii));
        Reward::Sum(0.5 / 8.0, vec![(7.0 / 8.0, there), (0.5 / 8.0, Reward::Mean(upright))])
    } else {
        Reward::score(upright, Tolerance::within(1.0, 1.0).margin(1.0))
    };
    observation.push(part("velocity", [names.v()]));
    suite(observation, reward, if swims { 3 } else { 0 })
}

fn lqr(names: &Names<'_>) -> Result<Suite, EnvError> {
    let observation = vec![part("position", [names.q_from(0)]), part("velocity", [names.v()])];
    let cost = vec![(-0.5, Reward::Squares(names.q_from(0))), (-0.05, Reward::Squares(Quantity::Controls))];
    Ok(Suite { rest: 1e-6, ..suite(observation, Reward::Sum(1.0, cost), 0)? })
}

/// The joints of the arm of manipulator and stacker.
const ARM: [&str; 8] =
    ["arm_root", "arm_shoulder", "arm_elbow", "arm_wrist", "finger", "fingertip", "thumb", "thumbtip"];
const HAND: [&str; 5] = ["palm_touch", "finger_touch", "thumb_touch", "fingertip_touch", "thumbtip_touch"];

/// What the observations of manipulator and stacker begin with.
fn arm(names: &Names<'_>) -> Result<Vec<Part>, EnvError> {
    let angles = ARM.iter().map(|name| Ok(names.joint(name)?.q)).collect::<Result<_, EnvError>>()?;
    Ok(vec![
        part("arm_pos", [Quantity::SinesAndCosines(angles)]),
        part("arm_vel", [names.velocities(&ARM)?]),
        part("touch", [names.touch(&HAND)?]),
        part("hand_pos", [Quantity::PlanarPose(names.body("hand")?)]),
    ])
}

fn manipulator(names: &Names<'_>, is_peg: bool) -> Result<Suite, EnvError> {
    let (object, target) = if is_peg { ("peg", "target_peg") } else { ("ball", "target_ball") };
    let joints = ["x", "z", "y"].map(|axis| format!("{object}_{axis}"));
    let mut observation = arm(names)?;
    observation.push(part("object_pos", [Quantity::PlanarPose(names.body(object)?)]));
    observation.push(part("object_vel", [names.velocities(&joints.each_ref().map(String::as_str))?]));
    observation.push(part("target_pos", [Quantity::GoalPose { has_angle: true }]));
    let depth = names.model.bodies[names.body(target)?].pose.pos.y;
    let on_target = |name: &str| {
        let site = &names.model.sites[names.site(name)?];
        Ok::<_, EnvError>(Point::OnGoal(site.pose.pos, depth))
    };
    let close = |from, to| Reward::score(length(from, to, &[0, 1, 2]), Tolerance::within(0.0, 0.01).margin(0.02));
    let site = |name| names.site_point(name);
    let reward = if is_peg {
        let grasping = [("peg_grasp", "grasp"), ("peg_pinch", "pinch")];
        let grasping = grasping.map(|(a, b)| Ok::<_, EnvError>((1.0 / 6.0, close(site(a)?, site(b)?))));
        let bringing = [("peg", "target_peg"), ("peg_tip", "target_peg_tip")];
        let bringing = bringing.map(|(a, b)| Ok::<_, EnvError>((0.5, close(site(a)?, on_target(b)?))));
        Reward::Greatest(vec![
            Reward::Sum(0.0, bringing.into_iter().collect::<Result<_, _>>()?),
            Reward::Sum(0.0, grasping.into_iter().collect::<Result<_, _>>()?),
        ])
    } else {
        close(site("ball")?, on_target("target_ball")?)
    };
    suite(observation, reward, 3)
}

/// As bringing, into a receptacle that stands elsewhere in every episode, with the target in it.
fn insert(names: &Names<'_>, is_peg: bool) -> Result<Suite, EnvError> {
    let fixed = if is_peg { ["slot", "target_peg"] } else { ["cup", "target_ball"] };
    let bodies = fixed.map(|name| names.body(name)).into_iter().collect::<Result<_, _>>()?;
    Ok(varied(manipulator(names, is_peg)?, Variation::Place(bodies)))
}

fn stacker(names: &Names<'_>, boxes: &[&str]) -> Result<Suite, EnvError> {
    let poses = boxes.iter().map(|name| Ok(Quantity::PlanarPose(names.body(name)?)));
    let axes = boxes.iter().flat_map(|name| ["x", "y", "z"].map(|axis| format!("{name}_{axis}")));
    let joints = axes.map(|name| Ok(names.joint(&name)?.v)).collect::<Result<_, EnvError>>()?;
    let mut observation = arm(names)?;
    observation.push(Part { name: "box_pos", quantities: poses.collect::<Result<_, EnvError>>()? });
    observation.push(part("box_vel", [Quantity::V(joints)]));
    observation.push(part("target_pos", [Quantity::GoalPose { has_angle: false }]));
    let depth = names.model.bodies[names.body("target")?].pose.pos.y;
    let goal = Point::Goal([Coordinate::Entry(0), Coordinate::Fixed(depth), Coordinate::Entry(1)]);
    let to_goal = |name: &str| Ok::<_, EnvError>(length(names.site_point(name)?, goal, &[0, 1, 2]));
    let nearest = Quantity::Least(boxes.iter().map(|name| to_goal(name)).collect::<Result<_, _>>()?);
    let size = names.radius("target")?;
    let reward = Reward::Product(vec![
        Reward::score(nearest, Tolerance::within(0.0, 0.0).margin(2.0 * size)),
        Reward::score(to_goal("grasp")?, Tolerance::within(0.1, INFINITY).margin(0.01)),
    ]);
    suite(observation, reward, 2)
}

fn pendulum(names: &Names<'_>) -> Result<Suite, EnvError> {
    let observation = vec![
        part("orientation", [names.rotation("pole", &[ZZ, XZ])?]),
        part("velocity", [names.velocities(&["hinge"])?]),
    ];
    let cosine = libm::cos(8.0 * PI / 180.0);
    suite(observation, Reward::score(names.rotation("pole", &[ZZ])?, Tolerance::within(cosine, 1.0)), 0)
}

fn point_mass(names: &Names<'_>) -> Result<Suite, EnvError> {
    let observation = vec![part("position", [names.q_from(0)]), part("velocity", [names.v()])];
    let distance = length(names.center_of_geom("pointmass")?, names.center_of_geom("target")?, &[0, 1, 2]);
    let radius = names.radius("target")?;
    let near = Reward::score(distance, Tolerance::within(0.0, radius).margin(radius));
    suite(observation, Reward::Product(vec![near, small_control()]), 0)
}

fn reacher(names: &Names<'_>, radius: f64) -> Result<Suite, EnvError> {
    let goal = Point::Goal([Coordinate::Entry(0), Coordinate::Entry(1), Coordinate::Fixed(0.0)]);
    let from = names.center_of_geom("finger")?;
    let observation = vec![
        part("position", [names.q_from(0)]),
        part("to_target", [Quantity::Between { from, to: goal, axes: None, entries: &[0, 1] }]),
        part("velocity", [names.v()]),
    ];
    let near = Tolerance::within(0.0, radius + names.radius("finger")?);
    suite(observation, Reward::score(length(from, goal, &[0, 1]), near), 2)
}

fn swimmer(names: &Names<'_>, links: usize) -> Result<Suite, EnvError> {
    const XY_AND_TURN: &[usize] = &[0, 1, 5];
    let Point::InBody(_, Vec3 { z: height, .. }) = names.center_of_geom("target")? else {
        return names.find(None, "geom", "target");
    };
    let goal = Point::Goal([Coordinate::Entry(0), Coordinate::Entry(1), Coordinate::Fixed(height)]);
    let axes = Some(Axes { body: names.body("head")?, rot: spatial::Mat3::IDENTITY });
    let to_target = Quantity::Between { from: names.center_of_geom("nose")?, to: goal, axes, entries: &[0, 1] };
    let mut velocities = vec![Quantity::SiteVelocity(names.site("head")?, XY_AND_TURN)];
    for link in 0..links - 1 {
        velocities.push(Quantity::SiteVelocity(names.site(&format!("site_{link}"))?, XY_AND_TURN));
    }
    let observation = vec![
        part("joints", [names.q_from(3)]),
        part("to_target", [to_target.clone()]),
        Part { name: "body_velocities", quantities: velocities },
    ];
    let radius = names.radius("target")?;
    let near = Tolerance::within(0.0, radius).margin(5.0 * radius).falling(Fall::LongTail, 0.1);
    suite(observation, Reward::score(Quantity::Length(Box::new(to_target), 0.0), near), 2)
}
