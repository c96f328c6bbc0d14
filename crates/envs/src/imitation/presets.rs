//! Gains, effort limits and weights of characters.

use multibody::{Kinematics, Model, forward_kinematics};
use spatial::Vec3;

/// What is known of a joint: stiffness, N·m/rad, greatest torque, N·m, weight in the reward of the code. Damping is a tenth of the stiffness.
#[derive(Clone, Copy, Debug)]
pub(crate) struct JointPreset {
    pub kp: f64,
    pub effort_limit: f64,
    pub weight: f64,
}

/// A joint by name, without its side.
type Row = (&'static str, f64, f64, f64);

/// What is known of a character.
#[derive(Debug)]
pub(crate) struct Preset {
    joints: &'static [Row],
    /// Bodies whose tips are end effectors.
    pub end_effectors: &'static [&'static str],
    /// Bodies whose tips are observed as bodies of their own, and what they are called; and the bodies that would be these.
    pub hands: &'static [(&'static str, &'static str, &'static str)],
}

/// Gains of `humanoid3d_ctrl.txt`, limits and weights of `humanoid3d.txt` of DeepMimic.
const HUMANOID: Preset = Preset {
    joints: &[
        ("chest", 1000.0, 200.0, 0.5),
        ("neck", 100.0, 50.0, 0.3),
        ("hip", 500.0, 200.0, 0.5),
        ("knee", 500.0, 150.0, 0.3),
        ("ankle", 400.0, 90.0, 0.2),
        ("shoulder", 400.0, 100.0, 0.3),
        ("elbow", 300.0, 60.0, 0.2),
    ],
    end_effectors: &["right_ankle", "left_ankle", "right_elbow", "left_elbow"],
    hands: &[("right_elbow", "right_hand", "right_wrist"), ("left_elbow", "left_hand", "left_wrist")],
};

/// Gains of `dog3d_ctrl.txt`, limits and weights of `dog3d.txt`, whose dog weighs as much as ours.
const DOG: Preset = Preset {
    joints: &[
        ("spine_1", 500.0, 200.0, 0.5),
        ("spine_2", 500.0, 200.0, 0.5),
        ("neck", 100.0, 80.0, 0.5),
        ("head", 50.0, 50.0, 0.4),
        ("front_shoulder", 200.0, 150.0, 0.4),
        ("front_elbow", 200.0, 100.0, 0.3),
        ("front_wrist", 100.0, 80.0, 0.2),
        ("front_toe", 50.0, 50.0, 0.1),
        ("hind_hip", 300.0, 200.0, 0.4),
        ("hind_knee", 200.0, 150.0, 0.3),
        ("hind_ankle", 150.0, 100.0, 0.2),
        ("hind_toe", 80.0, 50.0, 0.1),
        ("tail_1", 20.0, 50.0, 0.1),
        ("tail_2", 10.0, 25.0, 0.05),
    ],
    end_effectors: &["front_right_toe", "front_left_toe", "hind_right_toe", "hind_left_toe"],
    hands: &[],
};

impl Preset {
    /// That of a model, by names of its joints.
    pub fn of(model: &Model) -> Option<&'static Self> {
        let has = |names: &[&str]| names.iter().all(|name| model.joint(name).is_some());
        if has(&["chest", "right_hip", "right_knee", "right_ankle", "left_hip", "left_knee", "left_ankle"]) {
            Some(&HUMANOID)
        } else if has(&["front_right_shoulder", "front_left_shoulder", "hind_right_hip", "hind_left_hip"]) {
            Some(&DOG)
        } else {
            None
        }
    }

    /// What is known of a joint.
    pub fn joint(&self, name: &str) -> Option<JointPreset> {
        let name = name.replace("right_", "").replace("left_", "");
        let found = self.joints.iter().find(|(known, ..)| *known == name)?;
        Some(JointPreset { kp: found.1, effort_limit: found.2, weight: found.3 })
    }
}

/// For a joint of which nothing is known: by the torque that holds the weight at the radius of gyration of the whole figure, which of a
/// person of 60 kg is about 250 N·m. Twice that a radian, and six tenths of it at most.
pub(crate) fn general(model: &Model) -> JointPreset {
    let tree = &model.tree;
    let mut kinematics = Kinematics::new(tree);
    forward_kinematics(tree, tree.all(), &model.q0, &mut kinematics);
    let masses = kinematics.frames.iter().map(|frame| (frame.inertia.mass, frame.pos + frame.inertia.com));
    let (mut mass, mut first, mut second) = (0.0, Vec3::ZERO, 0.0);
    for (m, at) in masses {
        mass += m;
        first = first.add_scaled(m, at);
        second += m * at.dot(at);
    }
    let center = first * (1.0 / mass.max(f64::MIN_POSITIVE));
    let radius = (second / mass.max(f64::MIN_POSITIVE) - center.dot(center)).max(0.0).sqrt();
    let torque = mass * 9.81 * radius;
    JointPreset { kp: 2.0 * torque, effort_limit: 0.6 * torque, weight: 0.3 }
}
