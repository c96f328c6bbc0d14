//! How near a character is to the reference.

use multibody::Kinematics;
use spatial::{Quat, Vec3};

use super::action::quaternion;
use super::figure::{Figure, MotorKind};
use super::observation::{heading_frame, place};
use super::options::RewardKind;

/// The terms of a reward, each from 0 to 1 and before it is weighted; the root's is 1 in that of the paper.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RewardTerms {
    /// Rotations of joints.
    pub pose: f64,
    /// Velocities of joints.
    pub velocity: f64,
    /// End effectors.
    pub end_effector: f64,
    /// The root.
    pub root: f64,
    /// The centre of mass.
    pub com: f64,
}

impl RewardTerms {
    /// The weighted sum.
    pub fn reward(&self, kind: RewardKind) -> f64 {
        let terms = [self.pose, self.velocity, self.end_effector, self.root, self.com];
        terms.iter().zip(kind.weights()).map(|(term, weight)| term * weight).sum()
    }
}

/// A state with its placements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moving<'a> {
    pub q: &'a [f64],
    pub v: &'a [f64],
    pub kinematics: &'a Kinematics<f64>,
}

impl Moving<'_> {
    fn root_velocities(&self, figure: &Figure) -> (Vec3<f64>, Vec3<f64>) {
        let twist = &self.kinematics.twists[figure.root_node];
        (twist.lin, twist.ang)
    }

    /// Where the centre of mass is and how it moves.
    pub fn center_of_mass(&self) -> (Vec3<f64>, Vec3<f64>) {
        let (mut mass, mut at, mut speed) = (0.0, Vec3::ZERO, Vec3::ZERO);
        for (frame, twist) in self.kinematics.frames.iter().zip(&self.kinematics.twists) {
            let (m, com) = (frame.inertia.mass, frame.inertia.com);
            mass += m;
            at = at.add_scaled(m, frame.pos + com);
            speed = speed.add_scaled(m, twist.lin + twist.ang.cross(com));
        }
        (at * (1.0 / mass), speed * (1.0 / mass))
    }
}

fn squared(v: Vec3<f64>) -> f64 {
    v.dot(v)
}

fn angle_squared(a: Quat<f64>, b: Quat<f64>) -> f64 {
    squared((a.conjugate() * b).rotation_vector())
}

/// The terms of a reward: `now` is the character, `reference` where it should be.
pub(crate) fn terms(figure: &Figure, kind: RewardKind, now: &Moving<'_>, reference: &Moving<'_>) -> RewardTerms {
    let root_turn = {
        let [a, b] = [now, reference].map(|m| m.kinematics.frames[figure.root_node].quat);
        angle_squared(a, b)
    };
    let (root_lin, root_ang) = {
        let [a, b] = [now, reference].map(|m| m.root_velocities(figure));
        (squared(a.0 - b.0), squared(a.1 - b.1))
    };
    // The root has weight 1 in both, before scaling.
    let (mut total, mut pose, mut velocity) = (1.0, root_turn, root_ang);
    for motor in &figure.motors {
        let weight = if kind == RewardKind::Code { motor.weight } else { 1.0 };
        let (turn, rate) = match motor.kind {
            MotorKind::Ball => {
                let [a, b] = [now, reference].map(|m| quaternion(&m.q[motor.q..]));
                let rate: f64 = (motor.v..motor.v + 3).map(|k| (now.v[k] - reference.v[k]).powi(2)).sum();
                (angle_squared(a, b), rate)
            }
            MotorKind::Single => {
                ((now.q[motor.q] - reference.q[motor.q]).powi(2), (now.v[motor.v] - reference.v[motor.v]).powi(2))
            }
        };
        total += weight;
        pose += weight * turn;
        velocity += weight * rate;
    }
    let (com, com_speed) = {
        let [a, b] = [now, reference].map(Moving::center_of_mass);
        (squared(a.0 - b.0), squared(a.1 - b.1))
    };
    match kind {
        RewardKind::Paper => RewardTerms {
            pose: libm::exp(-2.0 * pose),
            velocity: libm::exp(-0.1 * velocity),
            end_effector: libm::exp(-40.0 * end_effectors(figure, now, reference)),
            root: 1.0,
            com: libm::exp(-10.0 * com),
        },
        RewardKind::Code => {
            // The code's scales are for DeepMimic's 15 joints, fixed ones among them, as there are parts here.
            let scale = figure.parts.len() as f64 / 15.0 / total;
            let at = squared(
                now.kinematics.frames[figure.root_node].pos - reference.kinematics.frames[figure.root_node].pos,
            );
            RewardTerms {
                pose: libm::exp(-2.0 * scale * pose),
                velocity: libm::exp(-0.1 * scale * velocity),
                end_effector: libm::exp(-10.0 * seen_end_effectors(figure, now, reference)),
                root: libm::exp(-5.0 * (at + 0.1 * root_turn + 0.01 * root_lin + 0.001 * root_ang)),
                com: libm::exp(-10.0 * 0.1 * com_speed),
            }
        }
    }
}

/// Squared distances of end effectors in the world.
fn end_effectors(figure: &Figure, now: &Moving<'_>, reference: &Moving<'_>) -> f64 {
    let distance = |part| squared(place(part, now.kinematics) - place(part, reference.kinematics));
    figure.end_effectors.iter().map(distance).sum()
}

/// Squared distances of end effectors, horizontally as seen from the root along its heading, vertically above the ground.
fn seen_end_effectors(figure: &Figure, now: &Moving<'_>, reference: &Moving<'_>) -> f64 {
    let frames = [now, reference].map(|m| {
        let root = m.kinematics.frames[figure.root_node].pos;
        (heading_frame(figure, m.kinematics).0, Vec3::new(root.x, root.y, 0.0))
    });
    let distance = |part| {
        let seen = |k: usize, m: &Moving<'_>| frames[k].0 * (place(part, m.kinematics) - frames[k].1);
        squared(seen(0, now) - seen(1, reference))
    };
    figure.end_effectors.iter().map(distance).sum()
}
