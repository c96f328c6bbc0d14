//! The whole state of a simulation in one value.

use std::ops::Range;

use geometry::Scene;
use multibody::{JointKind, Model, mocap_velocity};
use spatial::{Twist, Vec3};

use crate::actuation::Inputs;
use crate::extrapolation::{MAX_ORDER, Mark};
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
    /// Controls of the last steps, of every actuator whose controls act with a delay, see [`multibody::Delay`].
    pub past_ctrl: Vec<f64>,
    /// Readings of the last steps, of every sensor that shows them later, see [`multibody::SensorDelay`].
    pub past_readings: Vec<f64>,
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
    /// Where the last step left them, from where they have moved until the next one, (nmocap, 7); empty where none is known, and they are put
    /// where they are.
    pub mocap_from: Vec<f64>,
    /// The velocities with which they moved there, (nmocap, 6): angular, then that of the origin, world axes, rad/s and m/s; empty where none is
    /// known, as at rest.
    pub mocap_velocity: Vec<f64>,
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
    /// Of every soft body where the factor of its last step was made, which the next one may take: positions of its nodes, m, and a mark of the
    /// step; empty where none is known. It may stay when the rest is changed.
    pub soft_factors: Vec<f64>,
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

const MAGIC: &[u8; 8] = b"sapwoodE";

/// Declares the vectors of a state but for a controller's, in the order of its bytes: of each its name, whether it may be empty, and its size
/// for a model and its scene.
macro_rules! vectors {
    ($($name:literal, $($field:ident).+, $may_be_empty:literal, $size:expr;)*) => {
        /// What they are called, and whether they may be empty.
        const VECTORS: [(&str, bool); [$($name),*].len()] = [$(($name, $may_be_empty)),*];

        impl StateSizes {
            pub fn of(model: &Model, scene: &Scene) -> Self {
                let size = |of: fn(&Model, &Scene) -> usize| of(model, scene);
                Self([$(size($size)),*])
            }
        }

        impl State {
            fn vectors(&self) -> [&Vec<f64>; VECTORS.len()] {
                [$(&self.$($field).+),*]
            }

            /// These, and the controller.
            fn vectors_mut(&mut self) -> ([&mut Vec<f64>; VECTORS.len()], &mut Pd) {
                ([$(&mut self.$($field).+),*], &mut self.pd)
            }
        }
    };
}

vectors! {
    "q", q, false, |model, _| model.nq();
    "v", v, false, |model, _| model.nv();
    "ctrl", ctrl, false, |model, _| model.nu();
    "applied_force", applied_force, false, |model, _| model.nv();
    "applied_wrench", applied_wrench, false, |model, _| 6 * model.bodies.len();
    "surface_velocity", surface_velocity, true, |_, scene| 3 * scene.geoms.len();
    "constraint_force", constraint_force, true, |model, _| model.nv();
    "accelerations", accelerations, true, |model, _| 2 * model.nv();
    "extrapolation", extrapolation.differences, true, |model, _| (1 + MAX_ORDER) * model.nv();
    "soft_positions", soft_positions, false, |_, scene| soft_coordinates(scene);
    "soft_velocities", soft_velocities, false, |_, scene| soft_coordinates(scene);
    "soft_forces", soft_forces, false, |_, scene| soft_coordinates(scene);
    "soft_factors", soft_factors, true, |_, scene| {
        scene.soft_bodies.iter().map(|body| deformable::factor_origin_len(body)).sum()
    };
    "act", act, false, |model, _| model.na();
    "past_ctrl", past_ctrl, false, |model, _| model.delays().map(|(_, delay, _)| 2 * delay.samples).sum();
    "past_readings", past_readings, false, |model, _| model.delayed_sensors().map(|(of, _)| of.readings.len()).sum();
    "equality_active", equality_active, false, |model, _| model.equalities.len();
    "mocap", mocap, false, |model, _| 7 * model.mocap_bodies().count();
    "mocap_from", mocap_from, true, |model, _| 7 * model.mocap_bodies().count();
    "mocap_velocity", mocap_velocity, true, |model, _| 6 * model.mocap_bodies().count();
    "rest_q", rest_q, true, |model, _| model.nq();
}

fn soft_coordinates(scene: &Scene) -> usize {
    3 * scene.soft_bodies.iter().map(|body| body.node_count()).sum::<usize>()
}

/// What there is of everything in the bytes of a state but its warm start: the lengths of the vectors, how many trees may rest, how many the
/// extrapolation knows, and 1 if there is a controller.
type Counts = [usize; VECTORS.len() + 3];

/// The sizes of the vectors of a model's states, in the order of [`VECTORS`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct StateSizes([usize; VECTORS.len()]);

/// Which trees sleep at the start, each by itself; empty where none does.
fn first_rests(model: &Model) -> Vec<Rest> {
    let mut rests = Vec::new();
    for node in model.sleepers().filter_map(|body| body.node) {
        let trees = &model.tree.trees;
        let tree = trees.partition_point(|nodes| nodes.end <= node);
        rests.resize(trees.len(), Rest::default());
        rests[tree].asleep_with = Some(tree as u32);
    }
    rests
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
        let rests = first_rests(model);
        let rest_q = if rests.is_empty() { Vec::new() } else { model.q0.clone() };
        Self {
            rests,
            rest_q,
            model_mark: mark(model),
            q: model.q0.clone(),
            v: vec![0.0; model.nv()],
            ctrl: vec![0.0; model.nu()],
            act: vec![0.0; model.na()],
            past_ctrl: model.first_controls(),
            past_readings: model.first_readings(),
            applied_force: vec![0.0; model.nv()],
            applied_wrench: vec![0.0; 6 * model.bodies.len()],
            equality_active: model.equality_active(),
            mocap: model.mocap_poses(),
            ..Self::default()
        }
    }

    /// Forgets what is remembered of past steps, so that the next one depends on positions, velocities and inputs alone. Memory stays.
    pub fn forget_past(&mut self) {
        self.step_size = 0.0;
        self.warm_start.clear();
        self.extrapolation.clear();
        let Self { constraint_force, accelerations, rest_q, mocap_from, mocap_velocity, soft_factors, .. } = self;
        for of_past in [constraint_force, accelerations, rest_q, mocap_from, mocap_velocity, soft_factors] {
            of_past.clear();
        }
        self.rests.clear();
    }

    /// The velocity of one of the bodies that are moved from outside, by its place among them, as far as it is known.
    pub(crate) fn velocity_of_moved(&self, body: usize) -> Twist<f64> {
        self.mocap_velocity.as_chunks().0.get(body).map_or(Twist::ZERO, mocap_velocity)
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
        let (vectors, pd) = self.vectors_mut();
        vectors.into_iter().zip(other.vectors()).for_each(|(to, from)| to.clone_from(from));
        pd.copy_from(&other.pd);
        self.rests.clone_from(&other.rests);
        self.extrapolation.marks.clone_from(&other.extrapolation.marks);
        self.warm_start.copy_from(&other.warm_start);
    }

    /// Whether the next step can start from here.
    pub(crate) fn check(&self, model: &Model, sizes: &StateSizes) -> Result<(), SimulationError> {
        self.check_sizes(model, sizes)?;
        for (x, (name, _)) in self.vectors().into_iter().zip(VECTORS) {
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
    pub(crate) fn check_sizes(&self, model: &Model, sizes: &StateSizes) -> Result<(), SimulationError> {
        for ((x, (name, may_be_empty)), expected) in self.vectors().into_iter().zip(VECTORS).zip(sizes.0) {
            if x.len() != expected && !(may_be_empty && x.is_empty()) {
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

    /// What there is of everything.
    fn counts(&self) -> Counts {
        let vectors = self.vectors().into_iter().map(Vec::len);
        let others = [self.rests.len(), self.extrapolation.marks.len(), usize::from(self.pd.is_active())];
        let mut all = vectors.chain(others);
        std::array::from_fn(|_| all.next().unwrap_or_default())
    }

    /// The state as bytes: a mark of the format, one of the model, step, time, step size, how much there is of everything, then the vectors in
    /// order, the controller's vectors, the resting trees, those of the extrapolation, and the warm start, little endian.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.model_mark, self.step, self.time.to_bits(), self.step_size.to_bits()];
        let head = numbers.into_iter().chain(self.counts().map(|count| count as u64));
        let vectors = self.vectors().into_iter().flatten().chain(self.pd.numbers()).map(|x| x.to_bits());
        let of_rest =
            |Rest { time, asleep_with }: &Rest| [time.to_bits(), asleep_with.map_or(0, |tree| u64::from(tree) + 1)];
        let of_mark = |Mark { age, spans, order, is_calm }: &Mark| {
            let [last, before] = spans.map(f64::to_bits);
            [age.to_bits(), last, before, *order as u64 | u64::from(*is_calm) << 2]
        };
        let (rests, marks) = (self.rests.iter().flat_map(of_rest), self.extrapolation.marks.iter().flat_map(of_mark));
        let mut bytes = Vec::with_capacity(self.byte_len(&self.counts()));
        bytes.extend(MAGIC);
        head.chain(vectors).chain(rests).chain(marks).for_each(|word| bytes.extend(word.to_le_bytes()));
        self.warm_start.append_bytes(&mut bytes);
        bytes
    }

    /// How many bytes so much takes, without a warm start.
    fn byte_len(&self, counts: &Counts) -> usize {
        let [vectors @ .., rests, marks, is_controlled] = *counts;
        let controller = if is_controlled == 1 { Pd::lengths(self.q.len(), self.v.len()).iter().sum() } else { 0 };
        let of_marks = marks.saturating_mul(2 + MAX_ORDER);
        let others = [rests, rests, of_marks, controller, 5 + counts.len()];
        vectors.into_iter().chain(others).fold(0, usize::saturating_add).saturating_mul(8)
    }

    /// What the head of a state's bytes tells, and where their warm start begins.
    fn read_head(&self, bytes: &[u8]) -> Result<(Counts, usize), StateError> {
        let mut counts = self.counts();
        let is_optional = |k: &usize| VECTORS.get(*k).is_none_or(|(_, may_be_empty)| *may_be_empty);
        let optional = (0..counts.len()).filter(is_optional);
        optional.clone().for_each(|k| counts[k] = 0);
        let expected = self.byte_len(&counts);
        if !bytes.starts_with(MAGIC) {
            return Err(StateError::Format { expected });
        }
        let word = |k: usize| bytes.as_chunks::<8>().0.get(k).map_or(0, |word| u64::from_le_bytes(*word));
        if word(1) != self.model_mark {
            return Err(StateError::Model);
        }
        optional.for_each(|k| counts[k] = word(5 + k) as usize);
        let expected = self.byte_len(&counts);
        if bytes.len() < expected || !WarmStart::fits(bytes.len() - expected) {
            return Err(StateError::Length { found: bytes.len(), expected });
        }
        Ok((counts, expected))
    }

    /// Takes over the bytes of [`State::to_bytes`], bit for bit.
    ///
    /// # Errors
    /// When the bytes are not a state of this model; the state is then unchanged.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let (counts, end) = self.read_head(bytes)?;
        let [.., rests, marks, is_controlled] = counts;
        let (bytes, warm_start) = bytes.split_at(end);
        self.warm_start.restore(warm_start);
        let mut words = bytes.as_chunks::<8>().0[2..].iter().copied().map(u64::from_le_bytes);
        let mut next = || words.next().unwrap_or_default();
        (self.step, self.time, self.step_size) = (next(), f64::from_bits(next()), f64::from_bits(next()));
        let _ = counts.map(|_| next());
        let lengths = Pd::lengths(self.q.len(), self.v.len());
        let of_controller = lengths.map(|n| if is_controlled == 1 { n } else { 0 });
        let (vectors, pd) = self.vectors_mut();
        for (x, n) in vectors.into_iter().zip(counts).chain(pd.vectors_mut().into_iter().zip(of_controller)) {
            x.clear();
            x.extend((0..n).map(|_| f64::from_bits(next())));
        }
        self.rests.clear();
        self.rests.extend((0..rests).map(|_| {
            let (time, group) = (f64::from_bits(next()), next());
            Rest { time, asleep_with: group.checked_sub(1).and_then(|tree| u32::try_from(tree).ok()) }
        }));
        self.extrapolation.marks.clear();
        self.extrapolation.marks.extend((0..marks).map(|_| {
            let age = f64::from_bits(next());
            let spans = std::array::from_fn(|_| f64::from_bits(next()));
            let flags = next();
            Mark { age, spans, order: MAX_ORDER.min((flags & 3) as usize), is_calm: flags & 4 != 0 }
        }));
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
            kind => 2 + kind.nv() as u8,
        }]);
    }
    model.actuators.iter().for_each(|actuator| add(actuator.name.as_bytes()));
    model.equalities.iter().for_each(|equality| add(equality.name.as_bytes()));
    hash
}
