//! Figures for the tests.
#![allow(dead_code)]

use multibody::{BodySpec, JointKind, JointSpec, Kinematics, Model, ModelBuilder, forward_kinematics};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

pub fn v(x: f64, y: f64, z: f64) -> Vec3<f64> {
    Vec3::new(x, y, z)
}

/// Adds a body that is not looked at for its mass, with one joint of its name.
pub fn limb(builder: &mut ModelBuilder, name: &str, parent: usize, at: Vec3<f64>, kind: JointKind) -> usize {
    let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(v(0.01, 0.01, 0.01)) };
    let pose = Pose::new(at, Quat::IDENTITY);
    let body = builder.add_body(BodySpec { name: name.into(), parent, pose, inertia, ..BodySpec::default() });
    let body = body.expect("a body with mass");
    builder.add_joint(body, JointSpec { name: name.into(), ..JointSpec::new(kind) }).expect("an axis");
    body
}

pub const THIGH: f64 = 0.421546;
pub const SHANK: f64 = 0.40987;
/// From the ankle down to the sole, and along it to heel and toe.
pub const ANKLE: f64 = 0.05;
pub const HEEL: f64 = -0.0435;
pub const TOE: f64 = 0.1335;

/// A humanoid with the proportions of DeepMimic's, in Sapwood's axes, standing on z = 0.
pub fn humanoid() -> Model {
    let mut b = ModelBuilder::new("humanoid");
    let knee = JointKind::Revolute { axis: v(0.0, 1.0, 0.0) };
    let elbow = JointKind::Revolute { axis: v(0.0, -1.0, 0.0) };
    let root = limb(&mut b, "root", 0, v(0.0, 0.0, THIGH + SHANK + ANKLE), JointKind::Free);
    let chest = limb(&mut b, "chest", root, v(0.0, 0.0, 0.236151), JointKind::Ball);
    limb(&mut b, "neck", chest, v(0.0, 0.0, 0.223894), JointKind::Ball);
    for (side, y) in [("right", -1.0), ("left", 1.0)] {
        let shoulder = v(-0.02405, 0.18311 * y, 0.2435);
        let shoulder = limb(&mut b, &format!("{side}_shoulder"), chest, shoulder, JointKind::Ball);
        limb(&mut b, &format!("{side}_elbow"), shoulder, v(0.0, 0.0, -0.274788), elbow);
    }
    for (side, y) in [("right", -1.0), ("left", 1.0)] {
        let hip = limb(&mut b, &format!("{side}_hip"), root, v(0.0, 0.084887 * y, 0.0), JointKind::Ball);
        let knee = limb(&mut b, &format!("{side}_knee"), hip, v(0.0, 0.0, -THIGH), knee);
        limb(&mut b, &format!("{side}_ankle"), knee, v(0.0, 0.0, -SHANK), JointKind::Ball);
    }
    b.build().expect("a humanoid")
}

/// The frame of a body at a configuration.
pub fn frame_of(model: &Model, body: &str, q: &[f64]) -> Pose<f64> {
    let mut kinematics = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, 0..model.tree.len(), q, &mut kinematics);
    let body = &model.bodies[model.body(body).expect("a body of this name")];
    let frame = &kinematics.frames[body.node.expect("a body that moves")];
    Pose::new(frame.pos, frame.quat) * body.pose
}

/// Heel and toe in the frame of an ankle of [`humanoid`].
pub fn sole() -> [Vec3<f64>; 2] {
    [v(HEEL, 0.0, -ANKLE), v(TOE, 0.0, -ANKLE)]
}
