//! The whole state of a simulation in one value.

use std::ops::Range;

use geometry::Scene;
use multibody::{JointKind, Model};
use spatial::Vec3;

use crate::actuation::Inputs;
use crate::extrapolation::Mark;
use crate::{Pd, SimulationError, VelocityExtrapolation, WarmStart};

/// A tree at rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rest {
    /// How long it has hardly moved, s.
    pub time: f64,
    /// Whether it sleeps, and the first of the trees that it fell asleep with.
    pub asleep_with: Option<u32>,
}

/// Everything that the next step depends on: nothing else is remembered between steps.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Time, s.
    pub time: f64,
    /// Steps taken.
    pub step: u64,
    /// A mark of the model by what its elements are and are called, not by their numbers: bytes of other models are refused.
    pub model_mark: u64,
    /// The step that the accuracy lets try next, s; 0 when nothing is known.
    pub step_size: f64,
    /// Positions, (nq).
    pub q: Vec<f64>,
    /// Velocities, (nv).
    pub v: Vec<f64>,
    /// Controls, (nu).
    pub ctrl: Vec<f64>,
    /// Activations, the states that actuators have of their own, (na).
    pub act: Vec<f64>,
    /// Forces on the degrees of freedom, (nv), kept until changed, N or N·m.
    pub applied_force: Vec<f64>,
    /// Torque and force at the centre of mass of every body in world axes, (nbody, 6), kept until changed.
    pub applied_wrench: Vec<f64>,
    /// Velocities of the geoms' surfaces on their bodies, those of conveyor belts, (ngeom, 3) in the bodies' node axes
    /// (world axes where the body is fixed); empty when none moves. m/s.
    pub surface_velocity: Vec<f64>,
    /// Which equality constraints are in force, 1 or 0, (neq).
    pub equality_active: Vec<f64>,
    /// Where bodies are that are moved from outside, (nmocap, 7): position, m, then the quaternion w x y z.
    pub mocap: Vec<f64>,
    /// Generalised forces of the constraints in the last step, (nv), N or N·m, where an implicit scheme expects them
    /// again; empty under other schemes. It may stay when the rest is changed.
    pub constraint_force: Vec<f64>,
    /// Mean accelerations in the last step and in the one before, (2, nv), where the search for implicit free motion starts
    /// from them; else empty. They may stay when the rest is changed.
    pub accelerations: Vec<f64>,
    /// How long each tree has rested, (ntree), and where those are that sleep, (nq); empty where nothing may sleep.
    pub rests: Vec<Rest>,
    /// Positions of the sleepers, (nq): one that was moved wakes.
    pub rest_q: Vec<f64>,
    /// Stable PD control of any degrees of freedom.
    pub pd: Pd,
    /// What the contact solver remembers of the last step. It may stay when the rest is changed.
    pub warm_start: WarmStart,
    /// How velocities change in contact, where the contact solver starts. It may stay when the rest is changed.
    pub extrapolation: VelocityExtrapolation,
    /// Positions of the nodes of all soft bodies, one body after the other, three coordinates a node, world, m.
    pub soft_positions: Vec<f64>,
    /// Their velocities, m/s.
    pub soft_velocities: Vec<f64>,
    /// Forces on the same nodes, kept until changed, N.
    pub soft_forces: Vec<f64>,
}

/// Why bytes are not a state of this model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The bytes do not begin like a state.
    #[error(
        "not a state of this version of Sapwood: expected {} bytes or more that begin with {:?}",
        .expected, String::from_utf8_lossy(MAGIC)
    )]
    Format {
        /// Least length of a state of this model.
        expected: usize,
    },
    /// The bytes are a state of another model.
    #[error(
        "it is of another model: expected one with the same bodies, joints, actuators and equality constraints, and their names"
    )]
    Model,
    /// The bytes are damaged, or a state of another model.
    #[error("the state has {found} bytes: expected {expected} for this model, or more by whole contacts")]
    Length {
        /// Bytes that came.
        found: usize,
        /// Bytes of a state of this model without contacts.
        expected: usize,
    },
}

const MAGIC: &[u8; 8] = b"sapwood9";

/// The vectors of a state, but for a controller's.
const NAMES: [&str; 15] = [
    "q",
    "v",
    "ctrl",
    "applied_force",
    "applied_wrench",
    "surface_velocity",
    "constraint_force",
    "accelerations",
    "extrapolation",
    "soft_positions",
    "soft_velocities",
    "soft_forces",
    "act",
    "equality_active",
    "mocap",
];

/// What bytes of a state hold of everything that not all states have, and their length before the warm start.
struct Lengths {
    surfaces: usize,
    is_controlled: bool,
    forces: usize,
    accelerations: usize,
    rests: usize,
    rest_q: usize,
    rates: usize,
    marks: usize,
    expected: usize,
}

impl State {
    /// The default configuration at rest, soft bodies as they were made.
    pub fn of(model: &Model, scene: &Scene) -> Self {
        let mut surface_velocity = Vec::new();
        if scene.geoms.iter().any(|geom| geom.surface_motion.is_some()) {
            let of = |geom: &geometry::Geom| {
                let linear = geom.surface_motion.map_or(Vec3::ZERO, |motion| motion.linear);
                (model.bodies[geom.body].pose.rot * (geom.pose.rot * linear)).to_array()
            };
            surface_velocity = scene.geoms.iter().flat_map(of).collect();
        }
        let soft_positions: Vec<f64> = scene.soft_bodies.iter().flat_map(|body| body.rest_positions()).collect();
        let zeros = vec![0.0; soft_positions.len()];
        let soft_velocities = zeros.clone();
        Self { soft_velocities, soft_forces: zeros, soft_positions, surface_velocity, ..Self::new(model) }
    }

    /// The default configuration at rest of a model without soft bodies.
    pub fn new(model: &Model) -> Self {
        Self {
            time: 0.0,
            step: 0,
            model_mark: mark(model),
            step_size: 0.0,
            q: model.q0.clone(),
            v: vec![0.0; model.nv()],
            ctrl: vec![0.0; model.nu()],
            act: vec![0.0; model.na()],
            applied_force: vec![0.0; model.nv()],
            applied_wrench: vec![0.0; 6 * model.bodies.len()],
            surface_velocity: Vec::new(),
            equality_active: model.equality_active(),
            mocap: model.mocap_poses(),
            constraint_force: Vec::new(),
            accelerations: Vec::new(),
            rests: Vec::new(),
            rest_q: Vec::new(),
            pd: Pd::default(),
            warm_start: WarmStart::default(),
            extrapolation: VelocityExtrapolation::default(),
            soft_positions: Vec::new(),
            soft_velocities: Vec::new(),
            soft_forces: Vec::new(),
        }
    }

    /// Forgets what is remembered of past steps, so that the next one depends on positions, velocities and inputs alone. Memory stays.
    pub fn forget_past(&mut self) {
        self.step_size = 0.0;
        self.warm_start.clear();
        self.extrapolation.clear();
        for of_past in [&mut self.constraint_force, &mut self.accelerations, &mut self.rest_q] {
            of_past.clear();
        }
        self.rests.clear();
    }

    /// Wakes all that sleeps: what holds or moves it is no longer what it was.
    pub fn wake(&mut self) {
        self.rests.clear();
        self.rest_q.clear();
    }

    /// Becomes `other`, with the memory that there is.
    pub fn copy_from(&mut self, other: &Self) {
        (self.time, self.step, self.step_size) = (other.time, other.step, other.step_size);
        self.model_mark = other.model_mark;
        let vectors = [
            (&mut self.q, &other.q),
            (&mut self.v, &other.v),
            (&mut self.ctrl, &other.ctrl),
            (&mut self.act, &other.act),
            (&mut self.applied_force, &other.applied_force),
            (&mut self.applied_wrench, &other.applied_wrench),
            (&mut self.surface_velocity, &other.surface_velocity),
            (&mut self.equality_active, &other.equality_active),
            (&mut self.mocap, &other.mocap),
            (&mut self.constraint_force, &other.constraint_force),
            (&mut self.accelerations, &other.accelerations),
            (&mut self.rest_q, &other.rest_q),
            (&mut self.extrapolation.rates, &other.extrapolation.rates),
            (&mut self.soft_positions, &other.soft_positions),
            (&mut self.soft_velocities, &other.soft_velocities),
            (&mut self.soft_forces, &other.soft_forces),
        ];
        vectors.into_iter().for_each(|(to, from)| to.clone_from(from));
        self.pd.copy_from(&other.pd);
        self.rests.clone_from(&other.rests);
        self.extrapolation.marks.clone_from(&other.extrapolation.marks);
        self.warm_start.copy_from(&other.warm_start);
    }

    /// Whether the next step can start from here.
    pub(crate) fn check(&self, model: &Model, scene: &Scene) -> Result<(), SimulationError> {
        self.check_sizes(model, scene)?;
        for (x, name) in self.vectors().into_iter().zip(NAMES) {
            // Most vectors of a small model are empty, and a call for each would be a tenth of its step.
            if !x.is_empty() && !spatial::are_finite(x) {
                let index = x.iter().position(|x| !x.is_finite()).unwrap_or_default();
                return Err(SimulationError::NotFinite {
                    step: self.step,
                    time: self.time,
                    name,
                    index,
                    value: x[index],
                });
            }
        }
        Ok(())
    }

    /// Whether a part of every vector, of which `part` tells the range for its length, has numbers alone.
    pub(crate) fn is_finite_in(&self, part: impl Fn(usize) -> Range<usize>) -> bool {
        self.vectors().into_iter().all(|x| spatial::are_finite(&x[part(x.len())]))
    }

    /// Whether vectors and controller are of the model's size, and quaternions rotations.
    pub(crate) fn check_sizes(&self, model: &Model, scene: &Scene) -> Result<(), SimulationError> {
        let geoms = if self.surface_velocity.is_empty() { 0 } else { scene.geoms.len() };
        let forces = if self.constraint_force.is_empty() { 0 } else { model.nv() };
        let accelerations = if self.accelerations.is_empty() { 0 } else { 2 * model.nv() };
        let extrapolation = if self.extrapolation.rates.is_empty() { 0 } else { 2 * model.nv() };
        let bodies = model.bodies.len();
        let soft = 3 * scene.soft_bodies.iter().map(|body| body.node_count()).sum::<usize>();
        let sizes = [
            model.nq(),
            model.nv(),
            model.nu(),
            model.nv(),
            6 * bodies,
            3 * geoms,
            forces,
            accelerations,
            extrapolation,
            soft,
            soft,
            soft,
            model.na(),
            model.equalities.len(),
            7 * model.mocap_bodies().count(),
        ];
        for ((x, name), expected) in self.vectors().into_iter().zip(NAMES).zip(sizes) {
            if x.len() != expected {
                return Err(SimulationError::Size { name, found: x.len(), expected });
            }
        }
        self.check_rotations(model)?;
        Ok(self.pd.check(&model.tree)?)
    }

    /// Whether every quaternion can be scaled to unit norm.
    fn check_rotations(&self, model: &Model) -> Result<(), SimulationError> {
        for index in model.tree.nodes.iter().filter_map(multibody::Node::quaternion) {
            let value = std::array::from_fn(|k| self.q[index + k]);
            let norm_squared = value.iter().fold(0.0, |sum, x: &f64| sum + x * x);
            // What is no number is named as such.
            let is_long = norm_squared == f64::INFINITY && value.iter().all(|x| x.is_finite());
            if norm_squared == 0.0 || is_long {
                return Err(SimulationError::NoRotation { step: self.step, time: self.time, index, value });
            }
        }
        Ok(())
    }

    /// What force laws of actuators take.
    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs::new(&self.ctrl, &self.act)
    }

    fn vectors(&self) -> [&Vec<f64>; 15] {
        let Self { q, v, ctrl, applied_force, applied_wrench, surface_velocity, constraint_force, .. } = self;
        let (accelerations, extrapolation) = (&self.accelerations, &self.extrapolation.rates);
        let Self { soft_positions, soft_velocities, soft_forces, .. } = self;
        let act = &self.act;
        [
            q,
            v,
            ctrl,
            applied_force,
            applied_wrench,
            surface_velocity,
            constraint_force,
            accelerations,
            extrapolation,
            soft_positions,
            soft_velocities,
            soft_forces,
            act,
            &self.equality_active,
            &self.mocap,
        ]
    }

    /// The length of the state's bytes without surface velocities, constraint forces, accelerations, extrapolation, controller, resting
    /// trees and warm start.
    fn byte_len(&self) -> usize {
        let rigid = [&self.q, &self.v, &self.ctrl, &self.applied_force, &self.applied_wrench, &self.act];
        let others =
            [&self.soft_positions, &self.soft_velocities, &self.soft_forces, &self.equality_active, &self.mocap];
        let lengths = rigid.into_iter().chain(others).map(Vec::len);
        104 + 8 * lengths.sum::<usize>()
    }

    /// The length of a controller's vectors.
    fn pd_len(&self) -> usize {
        4 * self.v.len() + self.q.len()
    }

    /// The state as bytes: a mark of the format, one of the model, step, time, step size, how many surface velocities there are, whether there is a
    /// controller, how many constraint forces, accelerations, resting trees, positions of these, rates of the extrapolation and its trees,
    /// then the vectors in order, the controller's vectors, and the warm start, little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(self.byte_len() + self.warm_start.byte_len());
        bytes.extend(MAGIC);
        bytes.extend(self.model_mark.to_le_bytes());
        bytes.extend(self.step.to_le_bytes());
        bytes.extend(self.time.to_le_bytes());
        bytes.extend(self.step_size.to_le_bytes());
        bytes.extend((self.surface_velocity.len() as u64).to_le_bytes());
        bytes.extend(u64::from(self.pd.is_active()).to_le_bytes());
        let Self { constraint_force, accelerations, rests, rest_q, extrapolation, .. } = self;
        let optional = [constraint_force.len(), accelerations.len(), rests.len(), rest_q.len()];
        for count in optional.into_iter().chain([extrapolation.rates.len(), extrapolation.marks.len()]) {
            bytes.extend((count as u64).to_le_bytes());
        }
        for x in self.vectors().into_iter().flatten() {
            bytes.extend(x.to_le_bytes());
        }
        for x in self.pd.vectors().into_iter().flatten() {
            bytes.extend(x.to_le_bytes());
        }
        for Rest { time, asleep_with } in &self.rests {
            bytes.extend(time.to_le_bytes());
            bytes.extend(asleep_with.map_or(0, |tree| u64::from(tree) + 1).to_le_bytes());
        }
        for x in &self.rest_q {
            bytes.extend(x.to_le_bytes());
        }
        for Mark { age, span, is_steady, is_smooth, is_calm } in &self.extrapolation.marks {
            bytes.extend(age.to_le_bytes());
            bytes.extend(span.to_le_bytes());
            bytes.extend((u64::from(*is_steady) | u64::from(*is_smooth) << 1 | u64::from(*is_calm) << 2).to_le_bytes());
        }
        self.warm_start.append_bytes(&mut bytes);
        bytes
    }

    /// The lengths that the head of a state's bytes tells.
    fn lengths(&self, bytes: &[u8]) -> Result<Lengths, StateError> {
        let expected = self.byte_len();
        if !bytes.starts_with(MAGIC) {
            return Err(StateError::Format { expected });
        }
        let word =
            |k: usize| bytes.get(8 * k..8 * k + 8).map_or(0, |w| w.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)));
        if word(1) != self.model_mark {
            return Err(StateError::Model);
        }
        let [surfaces, forces, accelerations, rests, rest_q, rates, marks] =
            [5, 7, 8, 9, 10, 11, 12].map(|k| word(k) as usize);
        let is_controlled = word(6) == 1;
        let controlled = if is_controlled { self.pd_len() } else { 0 };
        let numbers = [surfaces, forces, accelerations, rates, rests, rests, marks, marks, marks, rest_q, controlled];
        let optional = numbers.into_iter().fold(0, usize::saturating_add);
        let expected = expected.saturating_add(optional.saturating_mul(8));
        if bytes.len() < expected || !WarmStart::fits(bytes.len() - expected) {
            return Err(StateError::Length { found: bytes.len(), expected });
        }
        Ok(Lengths { surfaces, is_controlled, forces, accelerations, rests, rest_q, rates, marks, expected })
    }

    /// Takes over the bytes of [`State::to_bytes`], bit for bit.
    ///
    /// # Errors
    /// When the bytes are not a state of this model; the state is then unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let Lengths { surfaces, is_controlled, forces, accelerations, rests, rest_q, rates, marks, expected } =
            self.lengths(bytes)?;
        let (bytes, warm_start) = bytes.split_at(expected);
        self.warm_start.restore(warm_start);
        let mut words = bytes[16..].as_chunks::<8>().0.iter().copied();
        let mut next = || words.next().unwrap_or_default();
        self.step = u64::from_le_bytes(next());
        self.time = f64::from_le_bytes(next());
        self.step_size = f64::from_le_bytes(next());
        for _ in 0..8 {
            next();
        }
        self.surface_velocity.resize(surfaces, 0.0);
        self.constraint_force.resize(forces, 0.0);
        self.accelerations.resize(accelerations, 0.0);
        self.extrapolation.rates.resize(rates, 0.0);
        let vectors = [&mut self.q, &mut self.v, &mut self.ctrl, &mut self.applied_force, &mut self.applied_wrench];
        let optional = [&mut self.surface_velocity, &mut self.constraint_force, &mut self.accelerations];
        let soft = [&mut self.soft_positions, &mut self.soft_velocities, &mut self.soft_forces];
        for x in vectors
            .into_iter()
            .chain(optional)
            .chain([&mut self.extrapolation.rates])
            .chain(soft)
            .chain([&mut self.act, &mut self.equality_active, &mut self.mocap])
            .flatten()
        {
            *x = f64::from_le_bytes(next());
        }
        let (nq, nv) = (self.q.len(), self.v.len());
        for (x, n) in self.pd.vectors_mut().into_iter().zip([nv, nv, nq, nv, nv]) {
            x.clear();
            x.extend((0..if is_controlled { n } else { 0 }).map(|_| f64::from_le_bytes(next())));
        }
        self.rests.clear();
        for _ in 0..rests {
            let (time, group) = (f64::from_le_bytes(next()), u64::from_le_bytes(next()));
            let asleep_with = group.checked_sub(1).and_then(|tree| u32::try_from(tree).ok());
            self.rests.push(Rest { time, asleep_with });
        }
        self.rest_q.clear();
        self.rest_q.extend((0..rest_q).map(|_| f64::from_le_bytes(next())));
        self.extrapolation.marks.clear();
        for _ in 0..marks {
            let (age, span) = (f64::from_le_bytes(next()), f64::from_le_bytes(next()));
            let flags = u64::from_le_bytes(next());
            let [is_steady, is_smooth, is_calm] = [1, 2, 4].map(|bit| flags & bit != 0);
            self.extrapolation.marks.push(Mark { age, span, is_steady, is_smooth, is_calm });
        }
        Ok(())
    }
}

/// [`State::model_mark`] of a model: FNV-1a of what its elements are and are called.
fn mark(model: &Model) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for body in &model.bodies {
        add(body.name.as_bytes());
        add(&(body.parent as u64).to_le_bytes());
    }
    for joint in &model.joints {
        add(joint.name.as_bytes());
        add(&[match joint.kind {
            JointKind::Revolute { .. } => 0,
            JointKind::Prismatic { .. } => 1,
            _ => 2 + joint.kind.nv() as u8,
        }]);
    }
    model.actuators.iter().for_each(|actuator| add(actuator.name.as_bytes()));
    model.equalities.iter().for_each(|equality| add(equality.name.as_bytes()));
    hash
}
