//! How fast the rate of a string's length changes while velocities stay as they are: J̇ v, with J the row of the length.

use spatial::{Pose, Quat, Vec3};

use super::path::{Span, each_span};
use super::{Branch, Obstacle, Tendon, TendonPath};
use crate::{Kinematics, Model, NodeMotion, bias_of_distance};

/// How far the ends of a string move between two samples of its length around an obstacle, in radii of this: errors of the fourth order and
/// of round-off are then about 1e-10 of J̇ v.
const SAMPLE: f64 = 2e-3;

/// A point of a body as it moves: place, velocity and acceleration at zero joint accelerations, world.
#[derive(Clone, Copy, Debug)]
struct MovingPoint {
    at: Vec3<f64>,
    velocity: Vec3<f64>,
    acceleration: Vec3<f64>,
}

impl MovingPoint {
    fn new(model: &Model, kinematics: &Kinematics<f64>, body: usize, at: Vec3<f64>) -> Self {
        let motion = motion_about(model, kinematics, body, at);
        let acceleration = motion.acceleration.lin + motion.twist.ang.cross(motion.twist.lin);
        Self { at, velocity: motion.twist.lin, acceleration }
    }

    fn of_site(model: &Model, kinematics: &Kinematics<f64>, site: usize) -> Self {
        let site = &model.sites[site];
        Self::new(model, kinematics, site.body, (kinematics.body_pose(model, site.body) * site.pose).pos)
    }

    /// The same as a point that `frame` moves with sees it, in axes that do not turn.
    fn seen_from(self, frame: &Self) -> Self {
        Self {
            at: self.at - frame.at,
            velocity: self.velocity - frame.velocity,
            acceleration: self.acceleration - frame.acceleration,
        }
    }

    /// Where it is at a time `t`, s, from now.
    fn after(&self, t: f64) -> Vec3<f64> {
        self.at + self.velocity * t + self.acceleration * (0.5 * t * t)
    }
}

impl Tendon {
    /// J̇ v, the acceleration of the length at zero joint accelerations: in units of the length per s², 0 for a fixed tendon. After
    /// [`velocities`](crate::velocities) of all nodes.
    ///
    /// In closed form where the string is straight; along a geom by central differences of the length over the bodies' motion.
    pub fn drift(&self, model: &Model, kinematics: &Kinematics<f64>) -> f64 {
        let TendonPath::Spatial(branches) = &self.path else { return 0.0 };
        branches.iter().map(|branch| drift_of_branch(model, kinematics, branch) / branch.divisor).sum()
    }
}

fn drift_of_branch(model: &Model, kinematics: &Kinematics<f64>, branch: &Branch) -> f64 {
    let at = |site: usize| MovingPoint::of_site(model, kinematics, site);
    let mut drift = 0.0;
    each_span(branch, |Span { sites, obstacle }| {
        let ends = sites.map(at);
        let lies_on = |obstacle: &&Obstacle| {
            let pose = kinematics.body_pose(model, obstacle.body) * obstacle.pose;
            obstacle.wrap(pose, ends.map(|end| end.at), obstacle.side.map(|side| at(side).at)).is_some()
        };
        let [from, to] = sites.map(|site| model.bodies[model.sites[site].body].node);
        drift += match obstacle.filter(lies_on) {
            Some(obstacle) => drift_around(model, kinematics, ends, obstacle),
            // What moves both ends alike changes no length.
            None if from == to => 0.0,
            None => drift_of_distance(ends),
        };
    });
    drift
}

/// J̇ v of the distance of two points.
fn drift_of_distance([from, to]: [MovingPoint; 2]) -> f64 {
    let relative = to.seen_from(&from);
    let normal = relative.at.normalized().unwrap_or(Vec3::new(1.0, 0.0, 0.0));
    bias_of_distance(relative.acceleration, relative.velocity, normal, relative.at.norm())
}

/// J̇ v of a string that lies on an obstacle: all points as they move at constant joint velocities, seen from the obstacle's centre.
fn drift_around(model: &Model, kinematics: &Kinematics<f64>, ends: [MovingPoint; 2], obstacle: &Obstacle) -> f64 {
    let pose = kinematics.body_pose(model, obstacle.body) * obstacle.pose;
    let NodeMotion { twist, acceleration } = motion_about(model, kinematics, obstacle.body, pose.pos);
    let centre = MovingPoint::new(model, kinematics, obstacle.body, pose.pos);
    let [from, to] = ends.map(|end| end.seen_from(&centre));
    let side = obstacle.side.map(|side| MovingPoint::of_site(model, kinematics, side).seen_from(&centre));
    let speed = from.velocity.norm().max(to.velocity.norm()).max(twist.ang.norm() * obstacle.radius);
    if speed == 0.0 {
        return 0.0;
    }
    let length = |t: f64| {
        let turn = Quat::from_rotation_vector(twist.ang * t + acceleration.ang * (0.5 * t * t));
        let pose = Pose::new(Vec3::ZERO, turn * pose.rot);
        let [from, to] = [from, to].map(|end| end.after(t));
        match obstacle.wrap(pose, [from, to], side.map(|side| side.after(t))) {
            Some(wrap) => (wrap.points[0] - from).norm() + wrap.length + (to - wrap.points[1]).norm(),
            None => (to - from).norm(),
        }
    };
    let t = SAMPLE * obstacle.radius / speed;
    let [near, far] = [t, 2.0 * t].map(|t| length(t) + length(-t));
    (16.0 * near - far - 30.0 * length(0.0)) / (12.0 * t * t)
}

/// How a body moves about a point, world; the world itself does not.
fn motion_about(model: &Model, kinematics: &Kinematics<f64>, body: usize, point: Vec3<f64>) -> NodeMotion<f64> {
    let Some(node) = model.bodies[body].node else { return NodeMotion::ZERO };
    NodeMotion::about(&model.tree, kinematics, node, point - kinematics.frames[node].pos)
}
