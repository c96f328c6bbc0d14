//! Bodies that are moved from outside.

use std::sync::Arc;

use multibody::{Model, NodeFrame, add_generalized_forces, mocap_pose};
use spatial::{Pose, Quat, Twist, Vec3, Wrench};

use super::Simulation;
use crate::constrain::Carrier;
use crate::observe::MovingBase;

/// What moves farther than this in a step is put where it is, m.
const FARTHEST: f64 = 0.05;
/// What turns by more than this in a step is put where it is, rad.
const WIDEST: f64 = 0.5;

/// A body that is moved from outside, and what hangs on it.
#[derive(Clone, Debug)]
pub(super) struct MocapBody {
    /// The bodies that are fixed to it, itself first, with their poses in it.
    parts: Vec<(usize, Pose<f64>)>,
    /// Geoms with their bodies' places among the parts, and their poses in them.
    geoms: Vec<(usize, usize, Pose<f64>)>,
    /// The trees that hang on it, with the poses of their first nodes in it, and the bodies on them.
    trees: Vec<(usize, Pose<f64>)>,
    riders: Vec<usize>,
    pub step: MocapStep,
    /// The change of its velocity in the step, over the step.
    acceleration: Twist<f64>,
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
            let riders: Vec<_> = model.subtree(body).filter(|rider| model.bodies[*rider].node.is_some()).collect();
            let back = model.bodies[body].pose.inverse();
            let hangs = |first: &usize| riders.iter().any(|rider| model.bodies[*rider].node == Some(*first));
            let roots =
                model.tree.trees.iter().enumerate().filter(|(_, nodes)| (*nodes).clone().any(|node| hangs(&node)));
            let trees = roots.map(|(tree, nodes)| {
                let first = &model.tree.nodes[nodes.start];
                (tree, back * Pose::new(first.pos, first.rot))
            });
            let (trees, step) = (trees.collect(), MocapStep::at(model.bodies[body].pose));
            Self { parts, geoms, trees, riders, step, acceleration: Twist::ZERO }
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
    /// Whether it is put there, farther from where it was than a step moves.
    pub jumps: bool,
}

impl MocapStep {
    /// It stands still.
    fn at(pose: Pose<f64>) -> Self {
        Self { pose, velocity: Twist::ZERO, jumps: false }
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
            return Self { jumps: true, ..Self::at(to) };
        }
        let between = || Pose::new(from.pos + shift, Quat::from_rotation_vector(turn) * from.rot);
        let velocity = Twist { ang: turn * (1.0 / dt), lin: shift * (1.0 / dt) };
        Self { pose: if steps == 1 { to } else { between() }, velocity, jumps: false }
    }

    /// Where the first of these steps to a pose leaves the body.
    pub fn end(&self, steps: usize, to: &[f64; 7]) -> [f64; 7] {
        if steps == 1 { *to } else { self.pose.to_array() }
    }

    /// Its velocity: angular, then linear.
    pub fn velocity(&self) -> [f64; 6] {
        let Twist { ang, lin } = self.velocity;
        [ang.x, ang.y, ang.z, lin.x, lin.y, lin.z]
    }
}

impl MovingBase {
    /// The force that its motion seems to exert on a node that moves on it with `twist`, at the node's origin: of inertia, centrifugal and Coriolis.
    fn force(&self, frame: &NodeFrame<f64>, twist: Twist<f64>) -> Wrench<f64> {
        let (Twist { ang: omega, .. }, inertia) = (self.velocity, &frame.inertia);
        let (alpha, arm) = (self.acceleration.ang, frame.pos + inertia.com - self.origin);
        let carried = self.acceleration.lin + alpha.cross(arm) + omega.cross(omega.cross(arm));
        let lin = (carried + omega.cross(twist.shifted(inertia.com).lin) * 2.0) * -inertia.mass;
        // The rate of the angular momentum about the centre of mass, less what it is on a base at rest.
        let gyration = |ang: Vec3<f64>| ang.cross(inertia.inertia * ang);
        let spin =
            inertia.inertia * (alpha + omega.cross(twist.ang)) + gyration(omega + twist.ang) - gyration(twist.ang);
        Wrench { ang: inertia.com.cross(lin) - spin, lin }
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
            (body.step, body.acceleration) = (MocapStep::at(mocap_pose(pose)), Twist::ZERO);
        }
        self.carriers.clear();
        self.place_mocap();
    }

    /// Takes them to where they are in a step of `dt`, with the velocity by which they got there: it carries what they touch.
    pub(super) fn move_mocap(&mut self, dt: f64) {
        let Self { mocap, state, carriers, model, .. } = self;
        carriers.clear();
        let steps = MocapStep::all(&state.mocap_from, &state.mocap, self.steps_ahead, dt);
        for (k, (body, step)) in mocap.iter_mut().zip(steps).enumerate() {
            body.step = step;
            let MocapStep { pose, velocity, jumps } = step;
            let before = state.velocity_of_moved(k);
            body.acceleration = if jumps { Twist::ZERO } else { (velocity - before) * (1.0 / dt) };
            if velocity != Twist::ZERO {
                carriers.resize(model.bodies.len(), Carrier::default());
                let all = body.parts.iter().map(|(part, _)| part).chain(&body.riders);
                all.for_each(|part| carriers[*part] = Carrier { velocity, origin: pose.pos });
            }
        }
        self.place_mocap();
    }

    /// Puts them where the state has them: they have not moved there.
    pub(super) fn put_mocap(&mut self) {
        self.state.mocap_from.clear();
        self.state.mocap_velocity.clear();
        self.follow_mocap();
    }

    /// Notes where a step has left them.
    pub(super) fn leave_mocap(&mut self) {
        let Self { mocap, state, steps_ahead, carriers, last_step, .. } = self;
        carriers.clear();
        last_step.base_accelerations.clear();
        last_step.base_accelerations.extend(mocap.iter().map(|body| body.acceleration));
        state.mocap_from.clear();
        let ends = mocap.iter().zip(state.mocap.as_chunks().0);
        state.mocap_from.extend(ends.flat_map(|(body, to)| body.step.end(*steps_ahead, to)));
        state.mocap_velocity.clear();
        state.mocap_velocity.extend(mocap.iter().flat_map(|body| body.step.velocity()));
        // Between steps they stand still.
        for body in mocap.iter_mut() {
            (body.step.velocity, body.acceleration) = (Twist::ZERO, Twist::ZERO);
        }
        *steps_ahead = (*steps_ahead - 1).max(1);
    }

    /// Finds the forces that the motion of bodies which are moved from outside seems to exert on what hangs on them by joints, (nv); none where none
    /// of them moves.
    pub(super) fn note_base_forces(&mut self) {
        let Self { mocap, model, present, state, base_force, base_loads, .. } = self;
        base_force.clear();
        for MocapBody { trees, step, acceleration, .. } in mocap {
            let base = MovingBase { velocity: step.velocity, acceleration: *acceleration, origin: step.pose.pos };
            if base.velocity == Twist::ZERO && base.acceleration == Twist::ZERO {
                continue;
            }
            for (tree, _) in trees {
                base_force.resize(model.nv(), 0.0);
                base_loads.resize(model.tree.len(), Wrench::ZERO);
                present.place_moving(model, *tree, &state.q, &state.v);
                let nodes = model.tree.trees[*tree].clone();
                for node in nodes.clone() {
                    base_loads[node] = base.force(&present.kin.frames[node], present.kin.twists[node]);
                }
                add_generalized_forces(&model.tree, nodes, &present.kin, base_loads, base_force);
            }
        }
    }

    /// What the kinetic energy of trees that hang on bodies which are moved from outside has of these bodies' motion, J. The trees are placed.
    pub(super) fn base_energy(&self) -> f64 {
        let kin = &self.present.kin;
        let mut energy = 0.0;
        for (k, body) in self.mocap.iter().enumerate() {
            let velocity = self.state.velocity_of_moved(k);
            if velocity == Twist::ZERO {
                continue;
            }
            for node in body.trees.iter().flat_map(|(tree, _)| self.model.tree.trees[*tree].clone()) {
                let (frame, own) = (&kin.frames[node], kin.twists[node]);
                let carried = velocity.shifted(frame.pos - body.step.pose.pos);
                energy += carried.dot(frame.inertia.momentum(own + carried * 0.5));
            }
        }
        energy
    }

    fn place_mocap(&mut self) {
        let Self { mocap, model, collider, trees, present, sources, .. } = self;
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
            for (tree, in_body) in &body.trees {
                let (here, first) = (pose * *in_body, &mut model.tree.nodes[model.tree.trees[*tree].start]);
                (first.pos, first.rot) = (here.pos, here.rot);
                trees[*tree].move_root(here);
                present.forget(*tree);
            }
        }
        if have_moved {
            sources.move_bases();
            self.queries = None;
            self.state.rests.clear();
        }
    }
}
