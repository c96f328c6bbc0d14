//! What of a model moves, is observed and compared.

use geometry::{Scene, Shape};
use multibody::{JointKind, Kinematics, Model};
use spatial::{Pose, Quat, Vec3};

use super::error::ImitationError;
use super::options::ImitationOptions;
use super::presets::{JointPreset, Preset, general};

/// How a joint with a controller moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MotorKind {
    /// Three degrees of freedom, a unit quaternion.
    Ball,
    /// One degree of freedom.
    Single,
}

/// A joint with a controller.
#[derive(Clone, Debug)]
pub struct Motor {
    /// The joint's name, or that of its body.
    pub name: String,
    /// How it moves.
    pub kind: MotorKind,
    /// Its first coordinate.
    pub q: usize,
    /// Its first degree of freedom.
    pub v: usize,
    /// The coordinate that actions count from, of a joint of one degree of freedom.
    pub zero: f64,
    /// Stiffness, N·m/rad or N/m.
    pub kp: f64,
    /// Damping, N·m·s/rad or N·s/m.
    pub kd: f64,
    /// Greatest force, N·m or N.
    pub effort_limit: f64,
    /// Weight in the reward of the code, before all of them are scaled to sum 1.
    pub weight: f64,
}

impl Motor {
    /// Its degrees of freedom.
    pub fn width(&self) -> usize {
        match self.kind {
            MotorKind::Ball => 3,
            MotorKind::Single => 1,
        }
    }
}

/// A point of a body that is observed, with the body's rotation.
#[derive(Clone, Debug)]
pub struct Part {
    /// The body's name, or that of what its tip is.
    pub name: String,
    /// The body.
    pub body: usize,
    /// In the body's frame, m.
    pub point: Vec3<f64>,
    pub(super) node: usize,
    /// In the node's frame.
    pub(super) at: Vec3<f64>,
    pub(super) rot: Quat<f64>,
}

/// A shape of the character, for where its lowest point is.
#[derive(Clone, Debug)]
pub(crate) struct Solid {
    pub body: usize,
    pub node: usize,
    pose: Pose<f64>,
    shape: Shape,
}

/// A character: one tree on a free joint.
#[derive(Clone, Debug)]
pub(crate) struct Figure {
    pub root_node: usize,
    pub root_q: usize,
    /// Orientation of the root at rest.
    pub root_rest: Quat<f64>,
    /// The first degree of freedom after the root's.
    pub first_dof: usize,
    pub motors: Vec<Motor>,
    pub parts: Vec<Part>,
    pub end_effectors: Vec<Part>,
    pub solids: Vec<Solid>,
}

impl Figure {
    /// The character of a model.
    pub fn new(model: &Model, scene: &Scene, options: &ImitationOptions) -> Result<Self, ImitationError> {
        let trees = |why| ImitationError::Trees { model: model.name.clone(), found: model.tree.trees.len(), why };
        if model.tree.trees.len() != 1 {
            return Err(trees("which move by themselves"));
        }
        let root = model.joints.iter().find(|joint| joint.kind == JointKind::Free);
        let root = root.filter(|root| root.nodes.start == 0).ok_or_else(|| trees("the first without a free root"))?;
        let preset = Preset::of(model);
        let mut motors = motors(model, preset)?;
        set_gains(&mut motors, options)?;
        Ok(Self {
            root_node: 0,
            root_q: root.q,
            root_rest: Quat::new(
                model.q0[root.q + 3],
                model.q0[root.q + 4],
                model.q0[root.q + 5],
                model.q0[root.q + 6],
            ),
            first_dof: root.v + 6,
            parts: parts(model, preset),
            end_effectors: end_effectors(model, preset, options)?,
            solids: solids(model, scene),
            motors,
        })
    }

    /// Height of the lowest point of a shape, m.
    pub fn lowest_of(&self, solid: &Solid, kinematics: &Kinematics<f64>) -> f64 {
        let frame = &kinematics.frames[solid.node];
        let pose = Pose::new(frame.pos, frame.quat) * solid.pose;
        let down = pose.rot.conjugate() * Vec3::new(0.0, 0.0, -1.0);
        pose.pos.z - solid.shape.reach(down)
    }

    /// Height of the lowest point of the character, m; infinite without shapes.
    pub fn lowest(&self, kinematics: &Kinematics<f64>) -> f64 {
        self.solids.iter().map(|solid| self.lowest_of(solid, kinematics)).fold(f64::INFINITY, f64::min)
    }
}

fn motors(model: &Model, preset: Option<&Preset>) -> Result<Vec<Motor>, ImitationError> {
    let general = general(model);
    let moving = model.joints.iter().filter(|joint| joint.kind.nv() > 0 && joint.kind != JointKind::Free);
    let motor = |joint: &multibody::Joint| {
        let kind = match joint.kind {
            JointKind::Ball => MotorKind::Ball,
            JointKind::Revolute { .. } | JointKind::Prismatic { .. } => MotorKind::Single,
            other => return Err(ImitationError::Joint { joint: joint.name.clone(), kind: other.name() }),
        };
        let name = if joint.name.is_empty() { &model.bodies[joint.body].name } else { &joint.name };
        let JointPreset { kp, effort_limit, weight } = preset.and_then(|preset| preset.joint(name)).unwrap_or(general);
        let effort_limit = joint.effort_both_ways().unwrap_or(effort_limit);
        let zero = if kind == MotorKind::Single { model.q0[joint.q] } else { 0.0 };
        let name = name.clone();
        Ok(Motor { name, kind, q: joint.q, v: joint.v, zero, kp, kd: 0.1 * kp, effort_limit, weight })
    };
    moving.map(motor).collect()
}

/// Takes what the options say of single joints.
fn set_gains(motors: &mut [Motor], options: &ImitationOptions) -> Result<(), ImitationError> {
    let known = motors.iter().map(|motor| motor.name.as_str()).collect::<Vec<_>>().join(", ");
    let lists = [("kp", &options.kp), ("kd", &options.kd), ("effort_limit", &options.effort_limit)];
    for (option, list) in lists {
        for (name, value) in list {
            let error = || ImitationError::Name { option, what: "joint", name: name.clone(), known: known.clone() };
            let motor = motors.iter_mut().find(|motor| motor.name == *name).ok_or_else(error)?;
            let is_limit = option == "effort_limit";
            if value.is_nan() || *value < 0.0 || (!is_limit && value.is_infinite()) {
                return Err(ImitationError::Value {
                    name: format!("{option}[{name:?}]"),
                    value: *value,
                    expected: if is_limit { "0 or more" } else { "a finite number, 0 or more" }.into(),
                });
            }
            if option == "kp" {
                motor.kd = 0.1 * value;
            }
            *match option {
                "kp" => &mut motor.kp,
                "kd" => &mut motor.kd,
                _ => &mut motor.effort_limit,
            } = *value;
        }
    }
    Ok(())
}

impl Part {
    /// A point of a body that moves.
    fn new(model: &Model, body: usize, point: Vec3<f64>) -> Option<Self> {
        let own = &model.bodies[body];
        let (at, rot) = (own.pose.transform_point(point), own.pose.rot);
        Some(Self { name: own.name.clone(), body, point, node: own.node?, at, rot })
    }
}

/// The centre of mass of a body; of one without mass its origin.
fn part(model: &Model, body: usize) -> Option<Part> {
    let own = &model.bodies[body].inertia;
    Part::new(model, body, if own.mass > 0.0 { own.com } else { Vec3::ZERO })
}

/// The tip of the body that ends a limb: as far beyond its centre of mass as that is from its joint.
fn tip(model: &Model, body: usize) -> Option<Part> {
    Part::new(model, body, model.bodies[body].inertia.com * 2.0)
}

fn parts(model: &Model, preset: Option<&Preset>) -> Vec<Part> {
    let mut parts = Vec::new();
    for (index, body) in model.bodies.iter().enumerate() {
        parts.extend(part(model, index));
        let hand =
            preset.and_then(|p| p.hands.iter().find(|(of, _, own)| body.name == *of && model.body(own).is_none()));
        if let (Some((_, name, _)), Some(tip)) = (hand, tip(model, index)) {
            parts.push(Part { name: (*name).into(), ..tip });
        }
    }
    parts
}

fn end_effectors(
    model: &Model,
    preset: Option<&Preset>,
    options: &ImitationOptions,
) -> Result<Vec<Part>, ImitationError> {
    let names: Vec<String> = match (&options.end_effectors, preset) {
        (Some(names), _) => names.clone(),
        (None, Some(preset)) => preset.end_effectors.iter().map(|name| (*name).into()).collect(),
        (None, None) => {
            let has_child = |index: usize| model.bodies.iter().skip(1).any(|body| body.parent == index);
            let ends = (1..model.bodies.len()).filter(|index| !has_child(*index));
            ends.map(|index| model.bodies[index].name.clone()).collect()
        }
    };
    let tip = |name: &String| {
        let found = model.body(name).and_then(|body| tip(model, body));
        found.ok_or_else(|| unknown_body(model, "end_effectors", name))
    };
    names.iter().map(tip).collect()
}

/// The error for a body that the model does not have, or that does not move.
pub(crate) fn unknown_body(model: &Model, option: &'static str, name: &str) -> ImitationError {
    let known = model.bodies.iter().filter(|body| body.node.is_some()).map(|body| body.name.as_str());
    ImitationError::Name { option, what: "moving body", name: name.into(), known: known.collect::<Vec<_>>().join(", ") }
}

fn solids(model: &Model, scene: &Scene) -> Vec<Solid> {
    let touches = scene.geoms.iter().filter(|geom| geom.contype != 0 || geom.conaffinity != 0);
    let solid = |geom: &geometry::Geom| {
        let body = &model.bodies[geom.body];
        Some(Solid { body: geom.body, node: body.node?, pose: body.pose * geom.pose, shape: geom.shape.clone() })
    };
    touches.filter_map(solid).collect()
}
