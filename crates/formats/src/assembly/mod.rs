//! A model and its scene while they are made or changed in code.
//!
//! Bodies may be added in any order, joints to any body, and whole models below any body; [`Assembly::build`] puts all
//! of it in the order that [`multibody::ModelBuilder`] and MJCF have: bodies depth first, joints and geoms body by body.
//! Indices that methods take and return are those of the assembly, in the order of addition.

mod attach;
mod build;
mod remove;
mod sensors;

pub(crate) use build::rest_strings;
pub use remove::{ElementKind, Moved};
pub(crate) use sensors::{Indices, place_obstacles};

use std::collections::BTreeMap;

use geometry::Geom;
use multibody::{
    Actuator, BodySpec, BuildError, Camera, CameraMode, Coordinate, DefaultView, Equality, EqualityKind, JointSpec,
    Material, Medium, Sensor, Site, Tendon, Transmission, Warning,
};
use spatial::{Pose, RigidInertia, Vec3};

use crate::StandingSoftBody;

/// What is wrong with an assembly.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum AssemblyError {
    /// Two elements of one kind with one name.
    #[error("{kind} {name:?}: there is another {kind} of this name: expected names that differ (a prefix helps)")]
    NameTaken {
        /// "body", "joint", …
        kind: &'static str,
        /// The name.
        name: String,
    },
    /// An index that stands for nothing.
    #[error("{kind} {index}: no such index")]
    NoSuch {
        /// "body", "joint", …
        kind: &'static str,
        /// The index.
        index: usize,
    },
    /// What [`multibody::ModelBuilder`] says.
    #[error("{0}")]
    Build(#[from] BuildError),
    /// A soft body that cannot be.
    #[error("soft body {name:?}: {source}")]
    SoftBody {
        /// Its name.
        name: String,
        /// What is wrong with it.
        source: deformable::Error,
    },
}

/// A body of an assembly.
#[derive(Clone, Debug)]
pub struct AssemblyBody {
    /// Name, parent (an index of the assembly), pose; the inertia counts for nothing.
    pub spec: BodySpec,
    /// Its inertia; `None`: the sum of its geoms'.
    pub inertia: Option<RigidInertia<f64>>,
}

/// A joint of an assembly.
#[derive(Clone, Debug)]
pub struct AssemblyJoint {
    /// The body that it moves, by all its joints in the order of addition.
    pub body: usize,
    /// What it is.
    pub spec: JointSpec,
    /// The coordinate in the default configuration where that is not the reference (joints with one coordinate).
    pub start: Option<f64>,
}

/// A geom of an assembly.
#[derive(Clone, Debug)]
pub struct AssemblyGeom {
    /// The geom; the index of its material counts for nothing.
    pub geom: Geom,
    /// Its surface.
    pub material: Material,
    /// Its part in the inertia of its body, in its own frame.
    pub inertia: RigidInertia<f64>,
}

/// Two geoms that may touch whatever their bits say.
#[derive(Clone, Copy, Debug)]
pub struct AssemblyPair {
    /// The geoms.
    pub geoms: [usize; 2],
    /// The pair's own surface.
    pub material: Material,
    /// Contact force begins at this distance, m.
    pub margin: f64,
}

/// A named state; what it does not set has its default.
#[derive(Clone, Debug, Default)]
pub struct AssemblyKey {
    /// Name.
    pub name: String,
    /// Time, s.
    pub time: f64,
    /// Coordinates of joints.
    pub q: BTreeMap<usize, Vec<f64>>,
    /// Velocities of joints.
    pub v: BTreeMap<usize, Vec<f64>>,
    /// Controls of actuators.
    pub ctrl: BTreeMap<usize, f64>,
    /// Where bodies are that are moved from outside: position, then the quaternion w x y z.
    pub mocap: BTreeMap<usize, [f64; 7]>,
}

/// A model and its scene while they are made or changed.
#[derive(Clone, Debug)]
pub struct Assembly {
    /// Name.
    pub name: String,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3<f64>,
    /// The magnetic field, which magnetometers measure.
    pub magnetic_field: Vec3<f64>,
    /// What bodies move in.
    pub medium: Medium,
    /// From where it is looked at when nothing else is said.
    pub view: DefaultView,
    /// Suggested time step, s.
    pub timestep: f64,
    /// See [`Model::sleep_speed`](multibody::Model::sleep_speed).
    pub sleep_speed: Option<f64>,
    /// Bodies; the first is the world, parents come before their children.
    pub bodies: Vec<AssemblyBody>,
    /// Joints.
    pub joints: Vec<AssemblyJoint>,
    /// Geoms.
    pub geoms: Vec<AssemblyGeom>,
    /// Sites.
    pub sites: Vec<Site>,
    /// Cameras.
    pub cameras: Vec<Camera>,
    /// Sensors; they refer to elements of the assembly.
    pub sensors: Vec<Sensor>,
    /// Actuators, tendons and equality constraints refer to the assembly's joints, bodies and tendons.
    pub actuators: Vec<Actuator>,
    /// Tendons.
    pub tendons: Vec<Tendon>,
    /// Spatial ones among them whose springs rest where those of the joints do, whatever [`Tendon::rest`] says.
    pub strings_at_rest: Vec<usize>,
    /// Equality constraints.
    pub equalities: Vec<Equality>,
    /// Explicit pairs.
    pub pairs: Vec<AssemblyPair>,
    /// Pairs of bodies whose geoms never touch.
    pub excluded: Vec<[usize; 2]>,
    /// See [`Scene::parents_touch`](geometry::Scene::parents_touch).
    pub parents_touch: bool,
    /// Soft bodies; those that hold them are bodies of the assembly.
    pub soft_bodies: Vec<StandingSoftBody>,
    /// Keyframes.
    pub keyframes: Vec<AssemblyKey>,
    /// What files had that is not simulated.
    pub warnings: Vec<Warning>,
}

impl Assembly {
    /// A world with nothing in it, Earth's gravity along −z, a time step of 2 ms.
    pub fn new(name: &str) -> Self {
        let world = BodySpec { name: "world".into(), ..BodySpec::default() };
        Self {
            name: name.into(),
            gravity: Vec3::new(0.0, 0.0, -9.81),
            magnetic_field: Vec3::new(0.0, -0.5, 0.0),
            medium: Medium::default(),
            view: DefaultView::default(),
            timestep: 0.002,
            sleep_speed: None,
            bodies: vec![AssemblyBody { spec: world, inertia: Some(RigidInertia::ZERO) }],
            joints: Vec::new(),
            geoms: Vec::new(),
            sites: Vec::new(),
            cameras: Vec::new(),
            sensors: Vec::new(),
            actuators: Vec::new(),
            tendons: Vec::new(),
            strings_at_rest: Vec::new(),
            equalities: Vec::new(),
            pairs: Vec::new(),
            excluded: Vec::new(),
            parents_touch: false,
            soft_bodies: Vec::new(),
            keyframes: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// Adds a body and returns its index. Its rotation and the numbers of its inertia are checked.
    ///
    /// # Errors
    /// When the parent does not exist, a number is not finite, the mass is negative, or no body has such an inertia.
    pub fn add_body(&mut self, mut spec: BodySpec, inertia: Option<RigidInertia<f64>>) -> Result<usize, AssemblyError> {
        self.check("body", spec.parent, self.bodies.len())?;
        let mut trial = multibody::ModelBuilder::new("");
        // As files are read: made a unit quaternion, then again where it is added.
        spec.pose.rot = spec.pose.rot.normalized().unwrap_or(spec.pose.rot);
        let inside = BodySpec { parent: 0, inertia: inertia.unwrap_or(RigidInertia::ZERO), ..spec.clone() };
        let index = trial.add_body(inside)?;
        if let Some(checked) = trial.body_mut(index) {
            spec.pose = checked.pose;
        }
        self.bodies.push(AssemblyBody { spec, inertia });
        Ok(self.bodies.len() - 1)
    }

    /// Adds a joint to a body and returns its index.
    ///
    /// # Errors
    /// When there is no such body, it is the world, an axis has no direction, or a parameter is out of its domain.
    pub fn add_joint(&mut self, body: usize, spec: JointSpec) -> Result<usize, AssemblyError> {
        if body == 0 {
            return Err(
                BuildError::NoSuch { what: format!("joint {:?}", spec.name), kind: "moving body", index: 0 }.into()
            );
        }
        self.check("body", body, self.bodies.len())?;
        let mut trial = multibody::ModelBuilder::new("");
        let at = trial.add_body(BodySpec::default())?;
        trial.add_joint(at, spec.clone())?;
        let spec = trial.joint_mut(at, 0).map_or(spec, |checked| checked.clone());
        self.joints.push(AssemblyJoint { body, spec, start: None });
        Ok(self.joints.len() - 1)
    }

    /// The pose of a body in the world in the default configuration, each joint at its reference.
    pub fn default_pose(&self, body: usize) -> Pose<f64> {
        let (mut at, mut pose) = (body, Pose::IDENTITY);
        while at != 0 {
            let spec = &self.bodies[at].spec;
            (at, pose) = (spec.parent, spec.pose * pose);
        }
        pose
    }

    /// Replaces what a joint is, checked as [`Assembly::add_joint`] does.
    ///
    /// # Errors
    /// When there is no such joint, or a parameter is out of its domain.
    pub fn set_joint(&mut self, joint: usize, spec: JointSpec) -> Result<(), AssemblyError> {
        self.check("joint", joint, self.joints.len())?;
        let mut trial = multibody::ModelBuilder::new("");
        let at = trial.add_body(BodySpec::default())?;
        trial.add_joint(at, spec.clone())?;
        self.joints[joint].spec = spec;
        Ok(())
    }

    fn check(&self, kind: &'static str, index: usize, count: usize) -> Result<(), AssemblyError> {
        if index < count { Ok(()) } else { Err(AssemblyError::NoSuch { kind, index }) }
    }
}

/// The body that a camera turns to, changed.
pub(crate) fn map_camera(mode: &mut CameraMode, bodies: &dyn Fn(usize) -> usize) {
    match mode {
        CameraMode::TargetBody(body) | CameraMode::TargetBodyCom(body) => *body = bodies(*body),
        CameraMode::Fixed | CameraMode::Track | CameraMode::TrackCom => {}
    }
}

/// The joint, tendon, site or body that an actuator refers to, changed.
pub(crate) fn map_transmission(
    transmission: &mut Transmission,
    joints: &dyn Fn(usize) -> usize,
    tendons: &dyn Fn(usize) -> usize,
    sites: &dyn Fn(usize) -> usize,
    bodies: &dyn Fn(usize) -> usize,
) {
    match transmission {
        Transmission::Joint { joint, .. }
        | Transmission::JointAxes { joint, .. }
        | Transmission::Orientation { joint, .. } => *joint = joints(*joint),
        Transmission::Tendon { tendon, .. } => *tendon = tendons(*tendon),
        Transmission::Site { .. } | Transmission::SliderCrank { .. } => {
            transmission.sites_mut().for_each(|site| *site = sites(*site));
        }
        Transmission::Adhesion { body } => *body = bodies(*body),
        Transmission::Input | Transmission::Unsupported => {}
    }
}

/// What a constraint refers to, changed.
pub(crate) fn map_equality(
    kind: &mut EqualityKind,
    bodies: &dyn Fn(usize) -> usize,
    joints: &dyn Fn(usize) -> usize,
    tendons: &dyn Fn(usize) -> usize,
) {
    let coordinate = |at: &mut Coordinate| match at {
        Coordinate::Joint(joint) => *joint = joints(*joint),
        Coordinate::Tendon(tendon) => *tendon = tendons(*tendon),
    };
    match kind {
        EqualityKind::Connect { bodies: pair, .. }
        | EqualityKind::Weld { bodies: pair, .. }
        | EqualityKind::Distance { bodies: pair, .. } => *pair = pair.map(bodies),
        EqualityKind::Coupling { y, x, .. } => {
            coordinate(&mut y.0);
            if let Some(x) = x {
                coordinate(&mut x.0);
            }
        }
    }
}
