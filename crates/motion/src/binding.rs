//! A motion on a model.

use multibody::{JointKind, Kinematics, Model, Tree, difference, forward_kinematics};
use spatial::{Pose, Quat, Vec3};

use crate::{ChannelKind, Motion, Posture};

/// How a motion meets a model.
#[derive(Clone, Debug)]
pub struct BindingOptions {
    /// The free joint that the motion's root drives; the model's first free joint if `None`.
    pub root: Option<String>,
    /// Names of the motion with the names of the model's joints that they stand for, where they differ.
    pub rename: Vec<(String, String)>,
    /// Whether joints of the model that the motion does not name stay in the default configuration; otherwise they are
    /// an error.
    pub keep_unnamed: bool,
    /// Whether joints of the motion that the model does not have are left out; otherwise they are an error.
    pub drop_unknown: bool,
    /// Factor on the root's travel and height, for a figure of another size.
    pub scale: f64,
    /// Added to the root's position after scaling, m.
    pub offset: Vec3<f64>,
}

impl Default for BindingOptions {
    fn default() -> Self {
        Self {
            root: None,
            rename: Vec::new(),
            keep_unnamed: false,
            drop_unknown: false,
            scale: 1.0,
            offset: Vec3::ZERO,
        }
    }
}

/// Why a motion does not fit a model.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BindingError {
    /// The model has no free joint for the root, or none of the given name.
    #[error("model {model:?} has no free joint{}: expected one for the motion's root", name.as_ref().map(|n| format!(" named {n:?}")).unwrap_or_default())]
    NoRoot {
        /// The model.
        model: String,
        /// The name that was asked for.
        name: Option<String>,
    },
    /// Joints of the motion that the model does not have.
    #[error("model {model:?} has no joints named {names:?}: expected those of the motion (or `drop_unknown`)")]
    UnknownJoints {
        /// The model.
        model: String,
        /// The names.
        names: Vec<String>,
    },
    /// Joints of the model that the motion does not move.
    #[error("the motion has nothing for the joints {names:?} of model {model:?}: expected all (or `keep_unnamed`)")]
    UnnamedJoints {
        /// The model.
        model: String,
        /// The names.
        names: Vec<String>,
    },
    /// A joint that turns neither about a point nor about an axis.
    #[error("joint {joint:?} is {kind}: expected a ball or a revolute joint")]
    Kind {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
}

/// Where a channel goes.
#[derive(Clone, Copy, Debug)]
struct Target {
    channel: usize,
    kind: ChannelKind,
    /// First position coordinate of the joint.
    q: usize,
    joint: Drive,
}

#[derive(Clone, Copy, Debug)]
enum Drive {
    /// Orientation of the joint's frame in the world at rest.
    Ball { rest: Quat<f64> },
    /// Axis in the world at rest, and the coordinate there.
    Hinge { axis: Vec3<f64>, reference: f64 },
}

/// Writes the postures of a motion into the coordinates of a model.
///
/// Values of a motion are departures from rest in world axes (see [`crate::JointValue`]); rest is here the model's
/// default configuration `q0`, in which it should face along x. A ball takes the rotation, a revolute joint its part
/// about the axis, whichever way the axis points.
#[derive(Clone, Debug)]
pub struct Binding {
    tree: Tree<f64>,
    rest_q: Vec<f64>,
    root: usize,
    root_rest: Quat<f64>,
    targets: Vec<Target>,
    scale: f64,
    offset: Vec3<f64>,
    posture: Posture,
    next: Vec<f64>,
}

impl Binding {
    /// Matches the joints of `motion` with those of `model` by name.
    ///
    /// # Errors
    /// When the model has no free joint for the root, a joint has no counterpart and `options` do not allow it, or a
    /// joint is neither ball nor revolute.
    pub fn new(model: &Model, motion: &impl Motion, options: &BindingOptions) -> Result<Self, BindingError> {
        let tree = model.tree.clone();
        let mut kinematics = Kinematics::new(&tree);
        forward_kinematics(&tree, 0..tree.len(), &model.q0, &mut kinematics);
        let root = find_root(model, options.root.as_deref())?;
        let mut targets = Vec::with_capacity(motion.channels().len());
        let mut unknown = Vec::new();
        let mut driven = vec![false; model.joints.len()];
        driven[root] = true;
        for (channel, c) in motion.channels().iter().enumerate() {
            let name = options.rename.iter().find(|(from, _)| *from == c.name).map_or(&c.name, |(_, to)| to);
            let Some(joint) = model.joint(name).filter(|&j| j != root) else {
                unknown.push(name.clone());
                continue;
            };
            driven[joint] = true;
            let joint = &model.joints[joint];
            let rest = kinematics.frames.get(joint.nodes.start).map_or(Quat::IDENTITY, |f| f.quat);
            let drive = match joint.kind {
                JointKind::Ball => Drive::Ball { rest },
                JointKind::Revolute { axis } => Drive::Hinge { axis: rest * axis, reference: model.q0[joint.q] },
                kind => return Err(BindingError::Kind { joint: name.clone(), kind: kind.name() }),
            };
            targets.push(Target { channel, kind: c.kind, q: joint.q, joint: drive });
        }
        if !(unknown.is_empty() || options.drop_unknown) {
            return Err(BindingError::UnknownJoints { model: model.name.clone(), names: unknown });
        }
        let unnamed = model.joints.iter().zip(&driven).filter(|(j, driven)| j.kind.nv() > 0 && !**driven);
        let names: Vec<String> = unnamed.map(|(j, _)| j.name.clone()).collect();
        if !(names.is_empty() || options.keep_unnamed) {
            return Err(BindingError::UnnamedJoints { model: model.name.clone(), names });
        }
        let q = model.joints[root].q;
        let root_rest = kinematics.frames[model.joints[root].nodes.start].quat;
        let (rest_q, next) = (model.q0.clone(), model.q0.clone());
        let (scale, offset) = (options.scale, options.offset);
        let posture = Posture::default();
        Ok(Self { tree, rest_q, root: q, root_rest, targets, scale, offset, posture, next })
    }

    /// The configuration at `time` seconds: `q` (nq). `motion` is the one that was bound, or one with the same channels.
    ///
    /// # Panics
    /// When `q` has another length, or the motion other channels.
    pub fn positions(&mut self, motion: &impl Motion, time: f64, q: &mut [f64]) {
        motion.sample(time, &mut self.posture);
        q.copy_from_slice(&self.rest_q);
        let (pos, rot) = (self.posture.root.pos * self.scale + self.offset, self.posture.root.rot * self.root_rest);
        q[self.root..self.root + 7].copy_from_slice(&Pose::new(pos, rot).to_array());
        for target in &self.targets {
            let value = self.posture.joints[target.channel];
            match target.joint {
                Drive::Ball { rest } => {
                    let turn = rest.conjugate() * value.rotation(target.kind) * rest;
                    q[target.q..target.q + 4].copy_from_slice(&turn.to_array());
                }
                Drive::Hinge { axis, reference } => {
                    q[target.q] = reference + value.angle_about(target.kind, axis);
                }
            }
        }
    }

    /// The configuration at `time`, and the velocity that leads within `dt` > 0 to the one at `time` + `dt`: `q` (nq),
    /// `v` (nv), by [`multibody::difference`].
    ///
    /// # Panics
    /// As [`Binding::positions`], and when `v` has another length.
    pub fn positions_and_velocities(&mut self, motion: &impl Motion, time: f64, dt: f64, q: &mut [f64], v: &mut [f64]) {
        let mut next = std::mem::take(&mut self.next);
        self.positions(motion, time + dt, &mut next);
        self.positions(motion, time, q);
        assert_eq!(v.len(), self.tree.nv, "v: expected nv entries");
        difference(&self.tree, q, &next, v);
        for x in v {
            *x /= dt;
        }
        self.next = next;
    }
}

fn find_root(model: &Model, name: Option<&str>) -> Result<usize, BindingError> {
    let fits = |j: &multibody::Joint| j.kind == JointKind::Free && name.is_none_or(|n| j.name == n);
    let found = model.joints.iter().position(fits);
    found.ok_or_else(|| BindingError::NoRoot { model: model.name.clone(), name: name.map(Into::into) })
}
