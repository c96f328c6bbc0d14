//! Bodies that are moved from outside.

use std::sync::Arc;

use multibody::{Model, mocap_pose};
use spatial::{Pose, Quat, Twist};

use super::Simulation;
use crate::constrain::Carrier;

/// What moves farther than this in a step is put where it is, m.
const FARTHEST: f64 = 0.05;
/// What turns by more than this in a step is put where it is, rad.
const WIDEST: f64 = 0.5;

/// A body that is moved from outside, and what is fixed to it.
#[derive(Clone, Debug)]
pub(super) struct MocapBody {
    /// The bodies, itself first, with their poses in it.
    parts: Vec<(usize, Pose<f64>)>,
    /// Geoms with their bodies' places among the parts, and their poses in them.
    geoms: Vec<(usize, usize, Pose<f64>)>,
    /// Where the step has it.
    pose: Pose<f64>,
}

impl MocapBody {
    /// Those of a model, in the order of its bodies.
    pub fn all(model: &Model, scene: &geometry::Scene) -> Vec<Self> {
        let of = |body: usize| {
            let parts: Vec<_> = model.fixed_to(body).collect();
            let geom = |(k, geom): (usize, &geometry::Geom)| {
                let part = parts.iter().position(|(part, _)| *part == geom.body)?;
                Some((k, part, geom.pose))
            };
            let geoms = scene.geoms.iter().enumerate().filter_map(geom).collect();
            Self { parts, geoms, pose: model.bodies[body].pose }
        };
        model.mocap_bodies().map(of).collect()
    }
}

/// A step's share of a way.
struct Stretch {
    pose: Pose<f64>,
    velocity: Twist<f64>,
}

/// The share of a step of `dt` with `steps` to go on the way between two poses.
fn stretch([from, to]: [Pose<f64>; 2], steps: usize, dt: f64) -> Stretch {
    let share = 1.0 / steps as f64;
    let (shift, turn) = ((to.pos - from.pos) * share, (to.rot * from.rot.conjugate()).rotation_vector() * share);
    if shift.norm() > FARTHEST || turn.norm() > WIDEST {
        return Stretch { pose: to, velocity: Twist::ZERO };
    }
    let between = || Pose::new(from.pos + shift, Quat::from_rotation_vector(turn) * from.rot);
    let velocity = Twist { ang: turn * (1.0 / dt), lin: shift * (1.0 / dt) };
    Stretch { pose: if steps == 1 { to } else { between() }, velocity }
}

impl Simulation {
    /// Bodies that are moved from outside go evenly to where the state has them in this many steps; one by default, and again after them.
    pub fn set_steps_ahead(&mut self, steps: usize) {
        self.steps_ahead = steps.max(1);
    }

    /// Takes bodies that are moved from outside to where the state has them.
    pub(super) fn follow_mocap(&mut self) {
        let Self { mocap, state, .. } = self;
        for (body, pose) in mocap.iter_mut().zip(state.mocap.as_chunks().0) {
            body.pose = mocap_pose(pose);
        }
        self.carriers.clear();
        self.place_mocap();
    }

    /// Takes them to where they are in a step of `dt`, with the velocity by which they got there: it carries what they touch.
    pub(super) fn move_mocap(&mut self, dt: f64) {
        if self.state.mocap_from.is_empty() || self.state.mocap_from == self.state.mocap {
            return self.follow_mocap();
        }
        let Self { mocap, state, carriers, model, .. } = self;
        carriers.clear();
        carriers.resize(model.bodies.len(), Carrier::default());
        let ways = state.mocap_from.as_chunks().0.iter().zip(state.mocap.as_chunks().0);
        for (body, (from, to)) in mocap.iter_mut().zip(ways) {
            let Stretch { pose, velocity } = stretch([from, to].map(mocap_pose), self.steps_ahead, dt);
            body.pose = pose;
            for (part, _) in &body.parts {
                carriers[*part] = Carrier { velocity, origin: pose.pos };
            }
        }
        self.place_mocap();
    }

    /// Puts them where the state has them: they have not moved there.
    pub(super) fn put_mocap(&mut self) {
        self.state.mocap_from.clear();
        self.follow_mocap();
    }

    /// Notes where a step has left them.
    pub(super) fn leave_mocap(&mut self) {
        let Self { mocap, state, steps_ahead, carriers, .. } = self;
        carriers.clear();
        if *steps_ahead == 1 {
            state.mocap_from.clone_from(&state.mocap);
        } else {
            *steps_ahead -= 1;
            state.mocap_from.clear();
            let numbers = |Pose { pos, rot }: Pose<f64>| [pos.x, pos.y, pos.z, rot.w, rot.x, rot.y, rot.z];
            state.mocap_from.extend(mocap.iter().flat_map(|body| numbers(body.pose)));
        }
    }

    fn place_mocap(&mut self) {
        let Self { mocap, model, collider, .. } = self;
        let mut have_moved = false;
        for body in mocap {
            let (first, _) = body.parts[0];
            if model.bodies[first].pose == body.pose {
                continue;
            }
            have_moved = true;
            let model = Arc::make_mut(model);
            for (part, in_body) in &body.parts {
                model.bodies[*part].pose = body.pose * *in_body;
            }
            for (geom, part, in_part) in &body.geoms {
                collider.move_fixed(*geom, model.bodies[body.parts[*part].0].pose * *in_part);
            }
        }
        if have_moved {
            self.queries = None;
            self.state.rests.clear();
        }
    }
}
