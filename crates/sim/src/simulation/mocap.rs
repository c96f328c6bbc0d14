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
    pub step: MocapStep,
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
            Self { parts, geoms, step: MocapStep::at(model.bodies[body].pose) }
        };
        model.mocap_bodies().map(of).collect()
    }
}

/// What is moved from outside, in a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MocapStep {
    /// Where the step has it.
    pub pose: Pose<f64>,
    /// The velocity of its origin by which it got there, world axes.
    pub velocity: Twist<f64>,
}

impl MocapStep {
    /// It stands still.
    fn at(pose: Pose<f64>) -> Self {
        Self { pose, velocity: Twist::ZERO }
    }

    /// The next steps of `dt` of all bodies on their ways to poses, (nmocap, 7), with so many `steps` to go; they stand still where nothing
    /// has moved, or it is not known `from` where, which is empty then.
    pub fn all<'a>(from: &'a [f64], to: &'a [f64], steps: usize, dt: f64) -> impl Iterator<Item = Self> + 'a {
        let moves = from != to;
        to.as_chunks().0.iter().enumerate().map(move |(k, to)| {
            let end = mocap_pose(to);
            match from.as_chunks().0.get(k).filter(|_| moves) {
                Some(from) => Self::between([mocap_pose(from), end], steps, dt),
                None => Self::at(end),
            }
        })
    }

    /// The first of these steps between two poses.
    fn between([from, to]: [Pose<f64>; 2], steps: usize, dt: f64) -> Self {
        let share = 1.0 / steps as f64;
        let (shift, turn) = ((to.pos - from.pos) * share, (to.rot * from.rot.conjugate()).rotation_vector() * share);
        if shift.norm() > FARTHEST || turn.norm() > WIDEST {
            return Self::at(to);
        }
        let between = || Pose::new(from.pos + shift, Quat::from_rotation_vector(turn) * from.rot);
        let velocity = Twist { ang: turn * (1.0 / dt), lin: shift * (1.0 / dt) };
        Self { pose: if steps == 1 { to } else { between() }, velocity }
    }

    /// Where the first of these steps to a pose leaves the body.
    pub fn end(&self, steps: usize, to: &[f64; 7]) -> [f64; 7] {
        let Pose { pos, rot } = self.pose;
        if steps == 1 { *to } else { [pos.x, pos.y, pos.z, rot.w, rot.x, rot.y, rot.z] }
    }
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
            body.step = MocapStep::at(mocap_pose(pose));
        }
        self.carriers.clear();
        self.place_mocap();
    }

    /// Takes them to where they are in a step of `dt`, with the velocity by which they got there: it carries what they touch.
    pub(super) fn move_mocap(&mut self, dt: f64) {
        let Self { mocap, state, carriers, model, .. } = self;
        carriers.clear();
        let steps = MocapStep::all(&state.mocap_from, &state.mocap, self.steps_ahead, dt);
        for (body, step) in mocap.iter_mut().zip(steps) {
            body.step = step;
            let MocapStep { pose, velocity } = step;
            if velocity != Twist::ZERO {
                carriers.resize(model.bodies.len(), Carrier::default());
                body.parts.iter().for_each(|(part, _)| carriers[*part] = Carrier { velocity, origin: pose.pos });
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
        state.mocap_from.clear();
        let ends = mocap.iter().zip(state.mocap.as_chunks().0);
        state.mocap_from.extend(ends.flat_map(|(body, to)| body.step.end(*steps_ahead, to)));
        *steps_ahead = (*steps_ahead - 1).max(1);
    }

    fn place_mocap(&mut self) {
        let Self { mocap, model, collider, .. } = self;
        let mut have_moved = false;
        for body in mocap {
            let (first, _) = body.parts[0];
            let pose = body.step.pose;
            if model.bodies[first].pose == pose {
                continue;
            }
            have_moved = true;
            let model = Arc::make_mut(model);
            for (part, in_body) in &body.parts {
                model.bodies[*part].pose = pose * *in_body;
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
