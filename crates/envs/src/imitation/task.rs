//! What is the same for all worlds.

use std::sync::Arc;

use batch::BatchContact;
use geometry::{GeomPair, Scene};
use motion::{Binding, BindingOptions, Motion};
use multibody::{Kinematics, Model, forward_kinematics, velocities};
use sim::Pd;

use super::action::{move_ahead, write_action, write_target};
use super::error::ImitationError;
use super::figure::{Figure, Motor, Part, unknown_body};
use super::observation;
use super::options::{ActionKind, Ground, ImitationOptions};
use super::reference::Reference;
use super::reward::{Moving, RewardTerms, terms};

/// The numbers of `info`: terms of the reward, the time in the motion, s, the sum of rewards of the episode, and that over the number of
/// steps that the episode can have.
pub const INFO: [&str; 8] = [
    "reward_pose",
    "reward_velocity",
    "reward_end_effector",
    "reward_root",
    "reward_com",
    "motion_time",
    "episode_return",
    "normalized_return",
];

/// Every so many rows of the reference are looked at for where its ground is: 60 a second.
const GROUND_STRIDE: usize = 8;
/// The part of the motion that may be below the ground: single postures of motion capture are, by centimetres.
const BELOW_GROUND: f64 = 0.1;

/// A character that imitates a motion: what is the same for all worlds.
#[derive(Clone, Debug)]
pub struct Imitation {
    model: Arc<Model>,
    pub(super) figure: Figure,
    pub(super) reference: Reference,
    pub(super) options: ImitationOptions,
    /// Of each geom, whether its touching the ground is a fall; and whether it is fixed in the world.
    falls: Vec<bool>,
    is_ground: Vec<bool>,
    fall_bodies: Vec<usize>,
    height_offset: f64,
}

/// Memory of one thread.
#[derive(Clone, Debug)]
pub(super) struct Scratch {
    pub now: Kinematics<f64>,
    pub reference: Kinematics<f64>,
    pub q: Vec<f64>,
    pub v: Vec<f64>,
}

impl Imitation {
    /// The task of a model, which is one character on a free joint, and a motion with its joints. The ground is at z = 0; a cyclic motion
    /// goes on after its end.
    ///
    /// # Errors
    /// When the model is no such character, the motion has other joints or is shorter than a control step, or an option names what the
    /// model does not have or has a value outside its domain.
    pub fn new(
        model: &Arc<Model>,
        scene: &Arc<Scene>,
        motion: &dyn Motion,
        is_cyclic: bool,
        options: ImitationOptions,
    ) -> Result<Self, ImitationError> {
        check(&options)?;
        let figure = Figure::new(model, scene, &options)?;
        let binding = Binding::new(model, &motion, &BindingOptions::default())?;
        let (duration, least) = (motion.duration(), 1.0 / options.control_hz);
        if duration < least {
            return Err(ImitationError::Short { duration, least });
        }
        let reference = Reference::new(model, binding, motion, is_cyclic, figure.root_q)?;
        let mut own = Self {
            model: model.clone(),
            falls: Vec::new(),
            is_ground: scene.geoms.iter().map(|geom| model.bodies[geom.body].node.is_none()).collect(),
            fall_bodies: Vec::new(),
            height_offset: 0.0,
            figure,
            reference,
            options,
        };
        own.put_on_ground();
        own.fall_bodies = own.find_fall_bodies()?;
        own.falls = scene.geoms.iter().map(|geom| own.fall_bodies.contains(&geom.body)).collect();
        Ok(own)
    }

    /// Places the figure at every so many rows of the reference.
    fn look_at_reference(&self, stride: usize, mut look: impl FnMut(&Kinematics<f64>)) {
        let tree = &self.model.tree;
        let mut kinematics = Kinematics::new(tree);
        for q in self.reference.rows().step_by(stride) {
            forward_kinematics(tree, tree.all(), q, &mut kinematics);
            look(&kinematics);
        }
    }

    /// Moves the reference up or down to where it stands on the ground.
    fn put_on_ground(&mut self) {
        let mut heights = Vec::new();
        let is_lifted = self.options.ground == Ground::Start;
        let stride = if is_lifted { 1 } else { GROUND_STRIDE };
        self.look_at_reference(stride, |kinematics| heights.push(self.figure.lowest(kinematics)));
        let ground = if is_lifted {
            heights[0]
        } else {
            let mut sorted = heights.clone();
            sorted.sort_by(f64::total_cmp);
            sorted[(BELOW_GROUND * (sorted.len() - 1) as f64) as usize]
        };
        let found = if ground.is_finite() { -ground } else { 0.0 };
        self.height_offset = self.options.height_offset.unwrap_or(found);
        self.reference.raise(self.height_offset);
        if is_lifted {
            let lifts: Vec<f64> = heights.iter().map(|height| (-height - self.height_offset).max(0.0)).collect();
            self.reference.lift(&lifts);
        }
    }

    fn find_fall_bodies(&self) -> Result<Vec<usize>, ImitationError> {
        if let Some(names) = &self.options.fall_bodies {
            let body = |name: &String| {
                let found = self.model.body(name).filter(|body| self.model.bodies[*body].node.is_some());
                found.ok_or_else(|| unknown_body(&self.model, "fall_bodies", name))
            };
            return names.iter().map(body).collect();
        }
        let mut lowest = vec![f64::INFINITY; self.model.bodies.len()];
        self.look_at_reference(GROUND_STRIDE, |kinematics| {
            for solid in &self.figure.solids {
                lowest[solid.body] = lowest[solid.body].min(self.figure.lowest_of(solid, kinematics));
            }
        });
        let stays_up = |body: &usize| lowest[*body].is_finite() && lowest[*body] > self.options.fall_margin;
        Ok((1..lowest.len()).filter(stays_up).collect())
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The motion on the model.
    pub fn reference(&self) -> &Reference {
        &self.reference
    }

    /// The options.
    pub fn options(&self) -> &ImitationOptions {
        &self.options
    }

    /// How far the motion was raised to stand on the ground, m.
    pub fn height_offset(&self) -> f64 {
        self.height_offset
    }

    /// Names of the bodies that must not touch the ground.
    pub fn fall_bodies(&self) -> Vec<&str> {
        self.fall_bodies.iter().map(|body| self.model.bodies[*body].name.as_str()).collect()
    }

    /// Names of the bodies whose tips are end effectors.
    pub fn end_effectors(&self) -> Vec<&str> {
        self.figure.end_effectors.iter().map(|part| part.name.as_str()).collect()
    }

    /// The points of bodies that are observed.
    pub fn parts(&self) -> &[Part] {
        &self.figure.parts
    }

    /// The tips that the reward compares.
    pub fn end_effector_parts(&self) -> &[Part] {
        &self.figure.end_effectors
    }

    /// The joints with controllers.
    pub fn motors(&self) -> &[Motor] {
        &self.figure.motors
    }

    /// How many numbers an action has: degrees of freedom without the root's.
    pub fn action_len(&self) -> usize {
        self.model.nv() - self.figure.first_dof
    }

    /// How many numbers an observation has.
    pub fn observation_len(&self) -> usize {
        self.state_len() + if self.options.observe_root { observation::ROOT } else { 0 }
    }

    fn state_len(&self) -> usize {
        observation::width(&self.figure, self.options.rotations)
    }

    /// Names of the parts of an observation, and where each begins and ends: `phase`, `height`, then `BODY/position`, `BODY/rotation` of all
    /// bodies, then `BODY/velocity`, `BODY/angular_velocity`; then, if it is observed, `reference_root`.
    pub fn observation_parts(&self) -> Vec<(String, usize, usize)> {
        let mut names = observation::names(&self.figure, self.options.rotations);
        if self.options.observe_root {
            names.push(("reference_root".into(), self.state_len(), self.observation_len()));
        }
        names
    }

    /// Gains and limits of the controllers; the root has none.
    pub fn pd(&self) -> Pd {
        let nv = self.model.nv();
        let mut pd = Pd {
            kp: vec![0.0; nv],
            kd: vec![0.0; nv],
            target: self.model.q0.clone(),
            target_velocity: vec![0.0; nv],
            effort_limit: vec![f64::INFINITY; nv],
        };
        for motor in &self.figure.motors {
            let width = motor.width();
            pd.kp[motor.v..motor.v + width].fill(motor.kp);
            pd.kd[motor.v..motor.v + width].fill(motor.kd);
            if self.options.effort_limits {
                pd.effort_limit[motor.v..motor.v + width].fill(motor.effort_limit);
            }
        }
        pd
    }

    /// The targets (nq) of an action whose step ends at `time`; `scratch` is overwritten.
    pub(super) fn aim(&self, action: &[f64], time: f64, scratch: &mut Scratch, target: &mut [f64]) {
        self.reference.at(time, &mut scratch.q, &mut scratch.v);
        if self.options.action == ActionKind::Lead {
            move_ahead(&self.figure, &mut scratch.q, &scratch.v);
        }
        write_target(&self.figure, self.options.action, action, &scratch.q, target);
    }

    /// The action (nv − 6) whose target is a configuration (nq), where actions are targets.
    ///
    /// # Panics
    /// When a slice has another length.
    pub fn action_of(&self, q: &[f64], action: &mut [f64]) {
        write_action(&self.figure, q, action);
    }

    /// Whether the ground pushes a body that must not touch it; contacts that only might push in a step are there as well.
    pub fn has_fallen(&self, contacts: &[BatchContact]) -> bool {
        contacts.iter().filter(|contact| contact.force.dot(contact.normal) > 0.0).any(|contact| {
            let [a, b] = contact.geoms;
            (self.falls[a] && self.is_ground[b]) || (self.falls[b] && self.is_ground[a])
        })
    }

    /// Whether a body that must not touch the ground may touch another that moves.
    pub fn falls_may_touch_others(&self, pairs: &[GeomPair]) -> bool {
        pairs.iter().any(|pair| {
            let [a, b] = pair.geoms;
            (self.falls[a] || self.falls[b]) && !self.is_ground[a] && !self.is_ground[b]
        })
    }

    pub(super) fn scratch(&self) -> Scratch {
        let tree = &self.model.tree;
        Scratch {
            now: Kinematics::new(tree),
            reference: Kinematics::new(tree),
            q: vec![0.0; tree.nq],
            v: vec![0.0; tree.nv],
        }
    }

    /// Places the character, and finds its velocities.
    pub(super) fn place(&self, q: &[f64], v: &[f64], scratch: &mut Scratch) {
        let tree = &self.model.tree;
        forward_kinematics(tree, tree.all(), q, &mut scratch.now);
        velocities(tree, tree.all(), v, &mut scratch.now);
    }

    /// Writes the observation at `time` in the motion, which is moved by `offset` horizontally, after [`place`](Self::place).
    pub(super) fn observe(&self, time: f64, offset: [f64; 2], scratch: &mut Scratch, out: &mut [f64]) {
        let phase = self.reference.phase(time);
        let (state, root) = out.split_at_mut(self.state_len());
        observation::write(&self.figure, self.options.rotations, phase, &scratch.now, state);
        if self.options.observe_root {
            let Scratch { now, q, v, .. } = scratch;
            self.reference.at(time, q, v);
            let placement = &mut q[self.figure.root_q..][..7];
            (placement[0], placement[1]) = (placement[0] + offset[0], placement[1] + offset[1]);
            observation::write_root(&self.figure, now, placement, root);
        }
    }

    /// The terms of the reward at `time` in the motion, which is moved by `offset` horizontally, after [`place`](Self::place).
    pub(super) fn compare(
        &self,
        time: f64,
        offset: [f64; 2],
        q: &[f64],
        v: &[f64],
        scratch: &mut Scratch,
    ) -> RewardTerms {
        let (tree, root) = (&self.model.tree, self.figure.root_q);
        let Scratch { now, reference, q: to, v: speed } = scratch;
        self.reference.at(time, to, speed);
        (to[root], to[root + 1]) = (to[root] + offset[0], to[root + 1] + offset[1]);
        forward_kinematics(tree, tree.all(), to, reference);
        velocities(tree, tree.all(), speed, reference);
        let (now, there) = (Moving { q, v, kinematics: now }, Moving { q: to, v: speed, kinematics: reference });
        terms(&self.figure, self.options.reward, &now, &there)
    }

    /// Observation and terms of the reward of any state at `time` in the motion, which is moved by `offset` horizontally.
    ///
    /// # Panics
    /// When a slice has another length.
    pub fn evaluate(&self, time: f64, offset: [f64; 2], q: &[f64], v: &[f64], observation: &mut [f64]) -> RewardTerms {
        let mut scratch = self.scratch();
        self.place(q, v, &mut scratch);
        self.observe(time, offset, &mut scratch, observation);
        self.compare(time, offset, q, v, &mut scratch)
    }
}

fn check(options: &ImitationOptions) -> Result<(), ImitationError> {
    let value = |name: &str, value: f64, expected: &str| {
        Err(ImitationError::Value { name: name.into(), value, expected: expected.into() })
    };
    let ImitationOptions { control_hz, fall_margin, height_offset, .. } = options;
    if !(control_hz.is_finite() && *control_hz > 0.0) {
        return value("control_hz", *control_hz, "a finite number above 0");
    }
    if !fall_margin.is_finite() {
        return value("fall_margin", *fall_margin, "a finite number, m");
    }
    match height_offset {
        Some(height) if !height.is_finite() => value("height_offset", *height, "a finite number, m"),
        _ => Ok(()),
    }
}
