//! What a model file describes.

use std::fmt;
use std::ops::Range;

use spatial::{Pose, Quat, RigidInertia, Vec3};
use support::brief;

use crate::{
    Actuator, Camera, Compliance, DefaultView, Delay, DelayedSensor, Equality, JointKind, Kinematics, Material, Medium,
    NO_PARENT, Node, PolynomialForces, Sensor, SensorDelay, Site, Tendon, Transmission, Tree, mocap_pose,
};

/// Where a ball or a free joint is held: what [`Model::joint_locks`] has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct JointLock {
    /// The joint.
    pub joint: usize,
    /// Its frame where its parent's node has it at rest: a rotation for a ball, a pose in the world for a free joint.
    pub pose: Pose<f64>,
}

/// A joint of a model.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Joint {
    /// Name; empty when the file gives none.
    pub name: String,
    /// Kind of motion.
    pub kind: JointKind,
    /// The body that it moves.
    pub body: usize,
    /// Its point in the body's frame, m; the origin for a free joint.
    pub anchor: Vec3<f64>,
    /// Its nodes in the tree: one, or several for universal and planar joints, none for a weld.
    pub nodes: Range<usize>,
    /// Index of its first position coordinate.
    pub q: usize,
    /// Index of its first degree of freedom.
    pub v: usize,
    /// Limits of the coordinate (rad or m), or of the rotation angle of a ball (the upper one).
    pub range: Option<(f64, f64)>,
    /// How much the limits yield.
    pub limit_compliance: Compliance,
    /// How much its dry friction creeps: near-rigid or a reference, whose spring has no part.
    pub friction_compliance: Compliance,
    /// Least and greatest sum of the forces of its drives (URDF `effort`, MJCF `actuatorfrcrange`), N or N·m.
    pub effort_limit: Option<(f64, f64)>,
    /// Whether gravity compensation at this joint is a force of its actuators, within the limit above, and no passive one (MJCF
    /// `actuatorgravcomp`).
    pub is_lifted_by_actuators: bool,
    /// What its spring and damper have beyond the linear parts; of joints with one degree of freedom.
    pub polynomial: PolynomialForces,
}

impl Joint {
    /// The force that its drives may have in both directions, the smaller of the two; None without limit.
    pub fn effort_both_ways(&self) -> Option<f64> {
        self.effort_limit.map(|(low, high)| high.min(-low).max(0.0))
    }
}

/// A rigid body of a model.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub struct Body {
    /// Name.
    pub name: String,
    /// Index of the parent body; the world is its own parent.
    pub parent: usize,
    /// The node that it moves with; `None` when it is fixed to the world.
    pub node: Option<usize>,
    /// Its frame in the node's frame, or in the world.
    pub pose: Pose<f64>,
    /// Its frame in the parent's frame in the default configuration, as the file has it.
    pub pose_in_parent: Pose<f64>,
    /// Mass, centre of mass and inertia in the body's own frame.
    pub inertia: RigidInertia<f64>,
    /// Its principal axes in its own frame where a medium acts along axes that the inertia leaves open: two of its moments are equal.
    pub axes: Option<Quat<f64>>,
    /// The first body of the rigid group that it belongs to (bodies without joints move with their parent).
    pub rigid_group: usize,
    /// The share of its weight that is cancelled (MJCF `gravcomp`).
    pub gravity_compensation: f64,
    /// Whether it is fixed in the world and is moved from outside (MJCF `mocap`).
    pub is_mocap: bool,
    /// What the file says about the sleep of the tree that it belongs to.
    pub sleep: SleepPolicy,
}

/// Whether a tree may fall asleep where it rests (MJCF `sleep` of a body).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum SleepPolicy {
    /// Unless actuators drive it.
    #[default]
    Auto,
    /// It stays awake.
    Never,
    /// Even if actuators drive it: while it sleeps, they do nothing.
    Allowed,
    /// As `Allowed`; where [`Model::sleep_speed`] says that things sleep it does so from the start, wherever it is.
    Init,
}

/// A named state.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Keyframe {
    /// Name; empty when the file gives none.
    pub name: String,
    /// Time, s.
    pub time: f64,
    /// Positions, (nq).
    pub q: Vec<f64>,
    /// Velocities, (nv).
    pub v: Vec<f64>,
    /// Controls, (nu).
    pub ctrl: Vec<f64>,
    /// Activations, (na).
    pub act: Vec<f64>,
    /// Where bodies are that are moved from outside, (nmocap, 7): position, then the quaternion w x y z.
    pub mocap: Vec<f64>,
}

/// A keyframe as callers name it.
#[derive(Clone, Copy, Debug, Default)]
pub enum KeyframeKey<'a> {
    /// None of them: the default configuration at rest.
    #[default]
    Start,
    /// By its name; text that no keyframe has as its name may be its index.
    Name(&'a str),
    /// By its index, a negative one from the end.
    Index(i64),
}

impl<'a> From<Option<&'a str>> for KeyframeKey<'a> {
    fn from(name: Option<&'a str>) -> Self {
        name.map_or(Self::Start, Self::Name)
    }
}

impl<'a> From<&'a str> for KeyframeKey<'a> {
    fn from(name: &'a str) -> Self {
        Self::Name(name)
    }
}

impl From<i64> for KeyframeKey<'_> {
    fn from(index: i64) -> Self {
        Self::Index(index)
    }
}

impl fmt::Display for KeyframeKey<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start => Ok(()),
            Self::Name(name) => f.write_str(name),
            Self::Index(index) => index.fmt(f),
        }
    }
}

/// Something that was read and ignored or approximated.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Warning {
    /// The file; empty for text that came from memory.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The element or attribute, as written.
    pub element: String,
    /// What happens instead.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = brief(if self.file.is_empty() { "<text>" } else { &self.file });
        write!(f, "{file}:{}: {}: {}", self.line, self.element, self.message)
    }
}

/// A multibody system: immutable once built, shared by threads.
#[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize)]
pub struct Model {
    /// Name.
    pub name: String,
    /// The nodes that move.
    pub tree: Tree<f64>,
    /// The bodies; the first is the world.
    pub bodies: Vec<Body>,
    /// The joints, in the order of their coordinates.
    pub joints: Vec<Joint>,
    /// The actuators, one control each.
    pub actuators: Vec<Actuator>,
    /// The tendons.
    pub tendons: Vec<Tendon>,
    /// The equality constraints.
    pub equalities: Vec<Equality>,
    /// The sites.
    pub sites: Vec<Site>,
    /// The sensors, in the order of their numbers.
    pub sensors: Vec<Sensor>,
    /// The cameras.
    pub cameras: Vec<Camera>,
    /// From where it is looked at when nothing else is said.
    pub view: DefaultView,
    /// The named states.
    pub keyframes: Vec<Keyframe>,
    /// The surfaces that geoms refer to.
    pub materials: Vec<Material>,
    /// The default configuration, (nq).
    pub q0: Vec<f64>,
    /// Inertia of the drives on the diagonal of the mass matrix, (nv).
    pub armature: Vec<f64>,
    /// Joint damping, (nv), N·s/m or N·m·s/rad.
    pub damping: Vec<f64>,
    /// Joint stiffness, (nv), N/m or N·m/rad; a ball's springs pull along its rotation vector.
    pub stiffness: Vec<f64>,
    /// The configuration at which joint springs are at rest, (nq).
    pub spring_reference: Vec<f64>,
    /// Coulomb friction of the joints, (nv), N or N·m.
    pub friction_loss: Vec<f64>,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<f64>,
    /// The magnetic field, which magnetometers measure, in any unit.
    pub magnetic_field: Vec3<f64>,
    /// What bodies move in.
    pub medium: Medium,
    /// Suggested time step, s.
    pub timestep: f64,
    /// Where islands fall asleep that rest, below which speed they do, m/s (MJCF's flag `sleep`, `sleep_tolerance`). None: nothing sleeps.
    pub sleep_speed: Option<f64>,
    /// What was read and ignored or approximated.
    pub warnings: Vec<Warning>,
    /// Balls and free joints that are held where they are, ascending. No file has any: a simulation's parameters do.
    #[serde(skip)]
    pub joint_locks: Vec<JointLock>,
}

impl Model {
    /// The bodies that sleep at the start.
    pub fn sleepers(&self) -> impl Iterator<Item = &Body> {
        let is_on = self.sleep_speed.is_some();
        self.bodies.iter().filter(move |body| is_on && body.sleep == SleepPolicy::Init)
    }

    /// The number of position coordinates.
    pub fn nq(&self) -> usize {
        self.tree.nq
    }

    /// The number of degrees of freedom.
    pub fn nv(&self) -> usize {
        self.tree.nv
    }

    /// How much the dry friction of a degree of freedom creeps.
    pub fn friction_compliance(&self, dof: usize) -> Compliance {
        let joint = self.joints.partition_point(|joint| joint.v <= dof);
        self.joints.get(joint.wrapping_sub(1)).map_or(Compliance::NearRigid, |joint| joint.friction_compliance)
    }

    /// The number of controls.
    pub fn nu(&self) -> usize {
        self.actuators.len()
    }

    /// The bodies that are moved from outside, ascending.
    pub fn mocap_bodies(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.bodies.len()).filter(|body| self.bodies[*body].is_mocap)
    }

    /// A body and all that hang on it, ascending.
    pub fn subtree(&self, body: usize) -> impl Iterator<Item = usize> + '_ {
        let hangs = move |mut other: usize| {
            while other > body {
                other = self.bodies[other].parent;
            }
            other == body
        };
        (body..self.bodies.len()).filter(move |part| hangs(*part))
    }

    /// A body that does not move by itself and the bodies that are fixed to it, with their poses in it: what goes along where it is moved
    /// from outside.
    pub fn fixed_to(&self, body: usize) -> impl Iterator<Item = (usize, Pose<f64>)> + '_ {
        let back = self.bodies[body].pose.inverse();
        self.subtree(body)
            .filter(move |part| self.bodies[*part].node.is_none())
            .map(move |part| (part, back * self.bodies[part].pose))
    }

    /// The group of bodies that a body is in, of which none touches another: those that are welded together. What a body carries that is moved
    /// from outside is a group of its own, apart from the world.
    pub fn contact_group(&self, body: usize) -> usize {
        let group = self.bodies[body].rigid_group;
        if group > 0 {
            return group;
        }
        let mut up = std::iter::successors(Some(body), |body| (*body > 0).then(|| self.bodies[*body].parent));
        up.find(|body| self.bodies[*body].is_mocap).unwrap_or(0)
    }

    /// The [group](Self::contact_group) that a body's rigid group hangs from.
    pub fn parent_contact_group(&self, body: usize) -> usize {
        self.contact_group(self.bodies[self.bodies[body].rigid_group].parent)
    }

    /// The body that is moved from outside and carries each body along, by its place among [those](Self::mocap_bodies), (nbody).
    pub fn mocap_carriers(&self) -> Vec<Option<usize>> {
        let mut carriers = vec![None; self.bodies.len()];
        for (place, body) in self.mocap_bodies().enumerate() {
            self.subtree(body).for_each(|part| carriers[part] = Some(place));
        }
        carriers
    }

    /// Whether joints hang on a body that is moved from outside.
    pub fn has_joints_on_mocap(&self) -> bool {
        self.mocap_bodies().any(|body| self.subtree(body).any(|part| self.bodies[part].node.is_some()))
    }

    /// Where bodies that are moved from outside begin, (nmocap, 7): position, then the quaternion w x y z. They hang from the world.
    pub fn mocap_poses(&self) -> Vec<f64> {
        self.mocap_bodies().flat_map(|body| self.bodies[body].pose_in_parent.to_array()).collect()
    }

    /// Puts bodies that are moved from outside, and all that hang on them, among the poses (nbody) where `mocap` (nmocap, 7) has them. The poses of
    /// what hangs on joints are those of the model before, with these bodies where they begin.
    pub fn place_mocap_bodies(&self, mocap: &[f64], poses: &mut [Pose<f64>]) {
        for (body, pose) in self.mocap_bodies().zip(mocap.as_chunks().0) {
            let back = self.bodies[body].pose.inverse();
            for part in self.subtree(body) {
                let of_model = self.bodies[part].node.map_or(self.bodies[part].pose, |_| poses[part]);
                poses[part] = mocap_pose(pose) * (back * of_model);
            }
        }
    }

    /// Becomes `rest`, a model of the same structure with these bodies where they begin, with them where `mocap` (nmocap, 7) has them.
    pub fn move_mocap_bodies(&mut self, rest: &Self, mocap: &[f64]) {
        for (body, pose) in rest.mocap_bodies().zip(mocap.as_chunks().0) {
            let (back, pose) = (rest.bodies[body].pose.inverse(), mocap_pose(pose));
            for part in rest.subtree(body) {
                let Some(mut root) = rest.bodies[part].node else {
                    self.bodies[part].pose = pose * (back * rest.bodies[part].pose);
                    continue;
                };
                while rest.tree.nodes[root].parent != NO_PARENT {
                    root = rest.tree.nodes[root].parent;
                }
                let Node { pos, rot, .. } = rest.tree.nodes[root];
                let here = pose * (back * Pose::new(pos, rot));
                (self.tree.nodes[root].pos, self.tree.nodes[root].rot) = (here.pos, here.rot);
            }
        }
    }

    /// Which equality constraints are in force, 1 or 0, (neq).
    pub fn equality_active(&self) -> Vec<f64> {
        self.equalities.iter().map(|equality| f64::from(u8::from(equality.active))).collect()
    }

    /// The number of activations: states that actuators have of their own, in the order of these.
    pub fn na(&self) -> usize {
        self.actuators.iter().map(Actuator::states).sum()
    }

    /// The actuators whose controls act with a delay, and where each one's samples begin among those of all.
    pub fn delays(&self) -> impl Iterator<Item = (usize, Delay, usize)> {
        let delayed = self.actuators.iter().enumerate().filter_map(|(index, actuator)| Some((index, actuator.delay?)));
        delayed.scan(0, |begin, (index, delay)| {
            let first = *begin;
            *begin += 2 * delay.samples;
            Some((index, delay, first))
        })
    }

    /// Their samples before the first step, at time 0: zeros.
    pub fn first_controls(&self) -> Vec<f64> {
        let times = |delay: Delay| (1..=delay.samples).rev().map(|k| k as f64 * -self.timestep);
        self.delays().flat_map(|(_, delay, _)| times(delay).flat_map(|time| [time, 0.0])).collect()
    }

    /// The sensors that show what they measure later.
    pub fn delayed_sensors(&self) -> impl Iterator<Item = (DelayedSensor, SensorDelay)> {
        let delayed = self.sensors.iter().enumerate().zip(self.sensor_ranges());
        let delayed = delayed.filter_map(|((sensor, of), shown)| Some((sensor, of.delay?, shown)));
        delayed.scan(0, |begin, (sensor, delay, shown)| {
            let start = *begin;
            *begin += 1 + delay.line.samples * (1 + shown.len());
            Some((DelayedSensor { sensor, readings: start..*begin, shown }, delay))
        })
    }

    /// Their readings before the first step, at time 0.
    pub fn first_readings(&self) -> Vec<f64> {
        self.delayed_sensors().flat_map(|(of, delay)| delay.first_readings(of.shown.len(), self.timestep)).collect()
    }

    /// Where the activation of an actuator stands among all, if it has one; of several, the first.
    pub fn activation_index(&self, actuator: usize) -> Option<usize> {
        (self.actuators.get(actuator)?.states() > 0)
            .then(|| self.actuators[..actuator].iter().map(Actuator::states).sum())
    }

    /// How many numbers all sensors have together.
    pub fn sensor_data_len(&self) -> usize {
        self.sensors.iter().map(|sensor| sensor.kind.dim()).sum()
    }

    /// Where the numbers of each sensor stand among those of all.
    pub fn sensor_ranges(&self) -> impl Iterator<Item = Range<usize>> {
        crate::sensor::ranges(&self.sensors)
    }

    /// The total mass, kg.
    pub fn mass(&self) -> f64 {
        self.bodies.iter().map(|b| b.inertia.mass).sum()
    }

    /// Gives every node the inertia of its bodies, after theirs have been changed.
    pub fn collect_inertias(&mut self) {
        self.tree.nodes.iter_mut().for_each(|node| node.inertia = RigidInertia::ZERO);
        for body in &self.bodies {
            if let Some(node) = body.node {
                let here = crate::builder::placed(&body.inertia, body.pose);
                self.tree.nodes[node].inertia = self.tree.nodes[node].inertia.combined(&here);
            }
        }
    }

    /// Places bodies anew after their poses in their parents or the anchors of joints have been changed, but for those of free joints, whose place
    /// is in q.
    pub fn place_bodies(&mut self) {
        // Those of a body come one after the other, as bodies do.
        let mut joints = self.joints.iter().peekable();
        for index in 0..self.bodies.len() {
            let Body { parent, pose_in_parent, .. } = self.bodies[index];
            let mut here = if index == 0 { pose_in_parent } else { self.bodies[parent].pose * pose_in_parent };
            while let Some(joint) = joints.next_if(|joint| joint.body == index) {
                if joint.kind == JointKind::Free {
                    here = self.bodies[index].pose;
                    continue;
                }
                for node in &mut self.tree.nodes[joint.nodes.clone()] {
                    (node.pos, node.rot) = (here.transform_point(joint.anchor), here.rot);
                    // From here on the body's frame is seen from the node, whose origin is the anchor.
                    here = Pose::new(-joint.anchor, Quat::IDENTITY);
                }
            }
            self.bodies[index].pose = here;
        }
        self.collect_inertias();
    }

    /// The force that a drive of each degree of freedom may have in both directions, (nv), from the joints' effort limits; infinite without.
    pub fn effort_limits(&self) -> Vec<f64> {
        let mut limits = vec![f64::INFINITY; self.nv()];
        for joint in &self.joints {
            if let Some(limit) = joint.effort_both_ways() {
                limits[joint.v..joint.v + joint.kind.nv()].fill(limit);
            }
        }
        limits
    }

    /// Whether actuators of joints compensate gravity.
    pub fn lifts_by_actuators(&self) -> bool {
        self.joints.iter().any(|joint| joint.is_lifted_by_actuators)
            && self.bodies.iter().any(|body| body.gravity_compensation != 0.0)
    }

    /// Joints with one degree of freedom that limit what actuators of others do there: those of tendons and sites that may act on them, and
    /// gravity compensation.
    pub fn joints_that_limit_others(&self) -> impl Iterator<Item = &Joint> {
        let lifts = self.lifts_by_actuators();
        let on_sites = self.actuators.iter().any(|actuator| actuator.transmission.sites().next().is_some());
        let is_pulled = move |index: usize| {
            let pulls = |actuator: &Actuator| match actuator.transmission {
                Transmission::Tendon { tendon, .. } => {
                    let tendon = &self.tendons[tendon];
                    tendon.is_spatial() || tendon.terms().iter().any(|(joint, _)| *joint == index)
                }
                _ => false,
            };
            on_sites || self.actuators.iter().any(pulls)
        };
        let limits = self.joints.iter().enumerate().filter(|(_, joint)| joint.effort_limit.is_some());
        let limits = limits.filter(|(_, joint)| joint.kind.nv() == 1);
        limits
            .filter(move |(index, joint)| lifts && joint.is_lifted_by_actuators || is_pulled(*index))
            .map(|(_, joint)| joint)
    }

    /// The index of the body of this name.
    pub fn body(&self, name: &str) -> Option<usize> {
        self.bodies.iter().position(|b| b.name == name)
    }

    /// The index of the joint of this name.
    pub fn joint(&self, name: &str) -> Option<usize> {
        self.joints.iter().position(|j| j.name == name)
    }

    /// The keyframe that is meant, if the model has it.
    pub fn keyframe<'a>(&self, key: impl Into<KeyframeKey<'a>>) -> Option<Keyframe> {
        let at = |index: i64| {
            let from_start = if index < 0 { index.saturating_add_unsigned(self.keyframes.len() as u64) } else { index };
            self.keyframes.get(usize::try_from(from_start).ok()?)
        };
        match key.into() {
            KeyframeKey::Name(name) => {
                let named = self.keyframes.iter().find(|k| k.name == name);
                named.or_else(|| at(name.parse().ok()?)).cloned()
            }
            KeyframeKey::Index(index) => at(index).cloned(),
            KeyframeKey::Start => Some(Keyframe {
                q: self.q0.clone(),
                v: vec![0.0; self.nv()],
                ctrl: vec![0.0; self.nu()],
                act: vec![0.0; self.na()],
                mocap: self.mocap_poses(),
                ..Keyframe::default()
            }),
        }
    }
}

impl Kinematics<f64> {
    /// Where a body of the model is, in the world.
    pub fn body_pose(&self, model: &Model, body: usize) -> Pose<f64> {
        let body = &model.bodies[body];
        match body.node.map(|node| &self.frames[node]) {
            Some(frame) => Pose::new(frame.pos, frame.quat) * body.pose,
            None => body.pose,
        }
    }
}
