//! The tasks of what walks, runs and hops.

use std::f64::consts::{PI, SQRT_2};

use geometry::Shape;
use multibody::{Kinematics, Model};
use spatial::{Mat3, Vec3};

use super::parts::{Names, fast, length, part, small_control, suite, varied};
use super::quantity::{Axes, Point, Quantity, subtree};
use super::reward::{Fall, Join, Reward, Tolerance};
use super::variation::Variation;
use super::{Part, Suite};
use crate::error::EnvError;

const INFINITY: f64 = f64::INFINITY;

// Entries of a rotation: the component along the first axis, of the world, of the second, of the body.
const XX: (usize, usize) = (0, 0);
const XZ: (usize, usize) = (0, 2);
const ZX: (usize, usize) = (2, 0);
const ZY: (usize, usize) = (2, 1);
const ZZ: (usize, usize) = (2, 2);

pub(super) fn cheetah(names: &Names<'_>) -> Result<Suite, EnvError> {
    let observation = vec![part("position", [names.q_from(1)]), part("velocity", [names.v()])];
    suite(observation, Reward::score(names.center_velocity("torso", &[0])?, fast(10.0, 10.0, 0.0)), 0)
}

pub(super) fn dog(names: &Names<'_>, speed: f64) -> Result<Suite, EnvError> {
    let (torso, pelvis) = (names.body("torso")?, names.body("pelvis")?);
    let bodies = vec![names.body("skull")?, torso, pelvis];
    let height = |body| Quantity::Position(Point::InBody(body, Vec3::ZERO), &[2]);
    let of_torso = subtree(names.model, torso);
    let mass: f64 = of_torso.iter().map(|body| names.model.bodies[*body].inertia.mass).sum();
    let moves = Quantity::CenterVelocity(of_torso, &[0, 1, 2]);
    let [angles, rates] = names.hinges();
    let soles = names.sensors(&["palm_L", "palm_R", "sole_L", "sole_R"])?;
    let head = names.site("head")?;
    let observation = vec![
        part("joint_angles", [angles]),
        part("joint_velocites", [rates]),
        part("torso_pelvis_height", [height(torso), height(pelvis)]),
        part("z_projection", [Quantity::Rotations(bodies.clone(), &[ZX, ZY, ZZ])]),
        part("torso_com_velocity", [Quantity::InBody(torso, Box::new(moves.clone()), 3)]),
        part(
            "inertial_sensors",
            [names.sensors(&["accelerometer"])?, Quantity::SiteVelocity(head, &[0, 1, 2, 3, 4, 5])],
        ),
        part("foot_forces", [names.sensors(&["foot_L", "foot_R", "hand_L", "hand_R"])?]),
        part("touch_sensors", [soles.clone()]),
        part("actuator_state", [names.activations()]),
    ];
    let standing = |body| {
        let least = 0.9 * default_height(names.model, body);
        Reward::score(height(body), Tolerance::within(least, INFINITY).margin(least))
    };
    let cosine = libm::cos(PI / 6.0);
    let upright = fast(cosine, cosine + 1.0, 0.0);
    let weight = -names.model.gravity.z * mass;
    let mut factors = vec![
        standing(torso),
        standing(pelvis),
        Reward::Score(Quantity::Rotations(bodies, &[ZZ]), upright, Join::Product),
        Reward::score(Quantity::Sum(Box::new(soles)), fast(weight, weight, 0.9)),
    ];
    if speed > 0.0 {
        let tolerance = Tolerance { bounds: (speed, 2.0 * speed), ..fast(speed, speed.max(1.0), 0.0) };
        let forward = Quantity::InBody(torso, Box::new(moves), 1);
        factors.push(Reward::score(forward, tolerance).scaled(0.2, 0.8));
    }
    suite(observation, Reward::Product(factors), 0)
}

pub(super) fn dog_fetch(names: &Names<'_>) -> Result<Suite, EnvError> {
    let Suite { mut observation, reward: standing, .. } = dog(names, 0.0)?;
    let head = &names.model.sites[names.site("head")?];
    let axes = Axes { body: head.body, rot: head.pose.rot.to_mat3() };
    let from = Point::InBody(head.body, head.pose.pos);
    let (ball, target) = (names.center_of_geom("ball")?, names.center_of_geom("target")?);
    let between = |to| Quantity::Between { from, to, axes: Some(axes), entries: &[0, 1, 2] };
    observation.push(part("ball_state", [between(ball), Quantity::MovesApart { from, to: ball, axes }]));
    observation.push(part("target_position", [between(target)]));
    let bites = [names.site_point("upper_bite")?, names.site_point("lower_bite")?];
    let to_mouth = Quantity::Average(bites.map(|bite| length(ball, bite, &[0, 1, 2])).into());
    let bite = Tolerance::within(0.0, names.site_radius("upper_bite")?).margin(2.0).falling(Fall::Reciprocal, 0.1);
    let reached = Reward::score(to_mouth, bite).scaled(1.0 / 7.0, 6.0 / 7.0);
    let (to_target, radius) = (length(ball, target, &[0, 1, 2]), names.radius("target")?);
    // A ball that has been fetched may be let go.
    let is_there = Reward::score(to_target.clone(), Tolerance::within(0.0, 2.0 * radius));
    let bring = Tolerance::within(0.0, radius).margin(names.floor()?).falling(Fall::Reciprocal, 0.1);
    let fetched = Reward::score(to_target, bring).scaled(0.5, 0.5);
    suite(observation, Reward::Product(vec![standing, Reward::Greatest(vec![reached, is_there]), fetched]), 0)
}

/// How high a body is in the default configuration, m.
fn default_height(model: &Model, body: usize) -> f64 {
    let mut kinematics = Kinematics::new(&model.tree);
    multibody::forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
    let body = &model.bodies[body];
    body.node.map_or(body.pose.pos.z, |node| {
        let frame = &kinematics.frames[node];
        (frame.pos + frame.rot * body.pose.pos).z
    })
}

pub(super) fn hopper(names: &Names<'_>, hops: bool) -> Result<Suite, EnvError> {
    let observation = vec![
        part("position", [names.q_from(1)]),
        part("velocity", [names.v()]),
        part("touch", [names.touch(&["touch_toe", "touch_heel"])?]),
    ];
    let (from, to) = (names.center("foot")?, names.center("torso")?);
    let height = Quantity::Between { from, to, axes: None, entries: &[2] };
    let standing = Reward::score(height, Tolerance::within(0.6, 2.0));
    let other =
        if hops { Reward::score(names.center_velocity("torso", &[0])?, fast(2.0, 1.0, 0.5)) } else { small_control() };
    suite(observation, Reward::Product(vec![standing, other]), 0)
}

/// Names of a humanoid's parts.
pub(super) struct Humanoid {
    torso: &'static str,
    /// The axis that is up when it stands.
    up: &'static [(usize, usize)],
    extremities: [&'static str; 4],
}

pub(super) const HUMANOID: Humanoid =
    Humanoid { torso: "torso", up: &[ZZ], extremities: ["left_hand", "left_foot", "right_hand", "right_foot"] };
pub(super) const HUMANOID_CMU: Humanoid =
    Humanoid { torso: "thorax", up: &[ZY], extremities: ["lhand", "lfoot", "rhand", "rfoot"] };

fn humanoid_reward(names: &Names<'_>, of: &Humanoid, speed: f64) -> Result<Reward, EnvError> {
    let head = Quantity::Position(names.origin("head")?, &[2]);
    let moves = names.center_velocity(of.torso, &[0, 1])?;
    let motion = if speed == 0.0 {
        Reward::score(moves, Tolerance::within(0.0, 0.0).margin(2.0))
    } else {
        Reward::score(Quantity::Length(Box::new(moves), 0.0), fast(speed, speed, 0.0)).scaled(1.0 / 6.0, 5.0 / 6.0)
    };
    Ok(Reward::Product(vec![
        small_control(),
        Reward::score(head, Tolerance::within(1.4, INFINITY).margin(1.4 / 4.0)),
        Reward::score(names.rotation(of.torso, of.up)?, fast(0.9, 1.9, 0.0)),
        motion,
    ]))
}

pub(super) fn humanoid(names: &Names<'_>, of: &Humanoid, speed: f64) -> Result<Suite, EnvError> {
    let torso = names.body(of.torso)?;
    let axes = Some(Axes { body: torso, rot: Mat3::IDENTITY });
    let from = Point::InBody(torso, Vec3::ZERO);
    let reach =
        |name: &&str| Ok::<_, EnvError>(Quantity::Between { from, to: names.origin(name)?, axes, entries: &[0, 1, 2] });
    let observation = vec![
        part("joint_angles", [names.q_from(7)]),
        part("head_height", [Quantity::Position(names.origin("head")?, &[2])]),
        Part { name: "extremities", quantities: of.extremities.iter().map(reach).collect::<Result<_, _>>()? },
        part("torso_vertical", [names.rotation(of.torso, &[ZX, ZY, ZZ])?]),
        part("com_velocity", [names.center_velocity(of.torso, &[0, 1, 2])?]),
        part("velocity", [names.v()]),
    ];
    suite(observation, humanoid_reward(names, of, speed)?, 0)
}

pub(super) fn pure_humanoid(names: &Names<'_>) -> Result<Suite, EnvError> {
    let observation = vec![part("position", [names.q_from(0)]), part("velocity", [names.v()])];
    suite(observation, humanoid_reward(names, &HUMANOID, 10.0)?, 0)
}

/// What the observations of a quadruped begin with.
fn quadruped_parts(names: &Names<'_>) -> Result<Vec<Part>, EnvError> {
    const FORCES: [&str; 8] = [
        "force_toe_front_left",
        "force_toe_front_right",
        "force_toe_back_right",
        "force_toe_back_left",
        "torque_toe_front_left",
        "torque_toe_front_right",
        "torque_toe_back_right",
        "torque_toe_back_left",
    ];
    let torso = names.site("torso")?;
    let [angles, rates] = names.hinges();
    Ok(vec![
        part("egocentric_state", [angles, rates, names.activations()]),
        part("torso_velocity", [Quantity::SiteVelocity(torso, &[0, 1, 2])]),
        part("torso_upright", [names.rotation("torso", &[ZZ])?]),
        part("imu", [names.sensors(&["imu_accel"])?, Quantity::SiteVelocity(torso, &[3, 4, 5])]),
        part("force_torque", [Quantity::InverseSinh(Box::new(names.sensors(&FORCES)?))]),
    ])
}

/// 1 where the torso is upright to an angle of this cosine, 0 where it is upside down.
fn quadruped_upright(names: &Names<'_>, cosine: f64) -> Result<Reward, EnvError> {
    Ok(Reward::score(names.rotation("torso", &[ZZ])?, fast(cosine, 1.0 + cosine, 0.0)))
}

pub(super) fn quadruped(names: &Names<'_>, speed: f64) -> Result<Suite, EnvError> {
    let moving = Reward::score(Quantity::SiteVelocity(names.site("torso")?, &[0]), fast(speed, speed, 0.5));
    suite(quadruped_parts(names)?, Reward::Product(vec![quadruped_upright(names, 1.0)?, moving]), 0)
}

pub(super) fn quadruped_escape(names: &Names<'_>) -> Result<Suite, EnvError> {
    let terrain = names.scene.geoms.iter().position(|geom| geom.name == "terrain");
    let terrain = names.find(terrain, "geom", "terrain")?;
    let Shape::HeightField(field) = &names.scene.geoms[terrain].shape else {
        return names.find(None, "height field as geom", "terrain");
    };
    let torso = names.body("torso")?;
    let axes = Some(Axes { body: torso, rot: Mat3::IDENTITY });
    let (from, to) = (Point::InBody(torso, Vec3::ZERO), Point::InBody(0, Vec3::ZERO));
    let finders: Vec<_> = (0..20).map(|k| format!("rf_{}{}", k / 5, k % 5)).collect();
    let finders: Vec<_> = finders.iter().map(String::as_str).collect();
    let mut observation = quadruped_parts(names)?;
    observation.push(part("origin", [Quantity::Between { from, to, axes, entries: &[0, 1, 2] }]));
    observation.push(part("rangefinder", [Quantity::Range(Box::new(names.sensors(&finders)?))]));
    let distance = Quantity::Length(Box::new(Quantity::Position(names.site_point("workspace")?, &[0, 1, 2])), 0.0);
    let size = field.half_extents[0];
    let escaped = Reward::score(distance, fast(size, size, 0.0));
    let upright = quadruped_upright(names, libm::cos(PI / 9.0))?;
    let escape = suite(observation, Reward::Product(vec![upright, escaped]), 0)?;
    Ok(varied(escape, Variation::Bowl(terrain)))
}

pub(super) fn quadruped_fetch(names: &Names<'_>) -> Result<Suite, EnvError> {
    let torso = names.body("torso")?;
    let axes = Axes { body: torso, rot: Mat3::IDENTITY };
    let (from, ball, target) = (Point::InBody(torso, Vec3::ZERO), names.origin("ball")?, names.site_point("target")?);
    let spin = names.joint("ball_root")?.v + 3;
    let between = |to| Quantity::Between { from, to, axes: Some(axes), entries: &[0, 1, 2] };
    let mut observation = quadruped_parts(names)?;
    observation.push(part(
        "ball_state",
        [
            between(ball),
            Quantity::MovesApart { from, to: ball, axes },
            // The ball's rates about its own axes, turned as if they were about the world's: as dm_control has it.
            Quantity::InBody(torso, Box::new(Quantity::V((spin..spin + 3).collect())), 3),
        ],
    ));
    observation.push(part("target_position", [between(target)]));
    let arena = names.floor()? * SQRT_2;
    let near = |from, to, radius| {
        let tolerance = Tolerance::within(0.0, radius).margin(arena).falling(Fall::Linear, 0.0);
        Reward::score(length(from, to, &[0, 1]), tolerance)
    };
    let workspace = names.site_radius("workspace")? + names.radius("ball")?;
    let fetched = near(ball, target, names.site_radius("target")?).scaled(0.5, 0.5);
    let reached = near(names.site_point("workspace")?, ball, workspace);
    suite(observation, Reward::Product(vec![quadruped_upright(names, 1.0)?, reached, fetched]), 0)
}

pub(super) fn walker(names: &Names<'_>, speed: f64) -> Result<Suite, EnvError> {
    let torso = names.body("torso")?;
    let height = Quantity::Position(Point::InBody(torso, Vec3::ZERO), &[2]);
    let bodies = (1..names.model.bodies.len()).collect();
    let observation = vec![
        part("orientations", [Quantity::Rotations(bodies, &[XX, XZ])]),
        part("height", [height.clone()]),
        part("velocity", [names.v()]),
    ];
    let standing = Reward::score(height, Tolerance::within(1.2, INFINITY).margin(0.6));
    let upright = Reward::Mean(names.rotation("torso", &[ZZ])?);
    let standing = Reward::Sum(1.0 / 8.0, vec![(3.0 / 4.0, standing), (1.0 / 8.0, upright)]);
    if speed == 0.0 {
        return suite(observation, standing, 0);
    }
    let moving = Reward::score(names.center_velocity("torso", &[0])?, fast(speed, speed / 2.0, 0.5));
    suite(observation, Reward::Product(vec![standing, moving.scaled(1.0 / 6.0, 5.0 / 6.0)]), 0)
}
