//! Multibody simulation for people who build robots, characters and learning systems.
//!
//! Contact, friction and every other constraint are one convex problem in velocities; dynamics on trees take linear time, with stable PD
//! at any gains and steps. This crate is the façade: what a program needs, under one roof, and the only names that are kept stable.
//!
//! ```
//! use sapwood::{Options, World};
//!
//! let world = World::from_text(
//!     r#"<mujoco><worldbody><geom type="plane" size="5 5 1"/>
//!     <body pos="0 0 0.5"><freejoint/><geom type="box" size=".1 .1 .1" mass="1"/></body></worldbody></mujoco>"#,
//! )?;
//! let mut simulation = world.simulate(Options::default())?;
//! for _ in 0..500 {
//!     simulation.step()?;
//! }
//! // The box has fallen, and rests on the ground.
//! assert!((simulation.state().q[2] - 0.1).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! * [`World`] — a model and what can touch, from a file, from text or from code
//! * [`Simulation`] — one world in motion; its [`State`] is complete, and the same bits follow from it on any machine
//! * [`Batch`] — many worlds of one model, side by side in vector lanes and on threads
//! * [`Options`] — time step, [`Scheme`], [`ContactLaw`]; the defaults need no touch
//! * [`model`] — bodies, joints, actuators; [`scene`] — shapes; [`math`] — vectors, rotations, inertias
//! * [`inverse_kinematics`] — configurations at which bodies are where they should be
//! * [`contact`] — the contact solver for problems of your own matrices
//! * [`pd`] — stable PD torques without a simulation
//! * [`trajectory`] — recordings that numpy reads; [`replay`] — recordings that a browser plays
//! * [`embedded`] — characters and scenes that come with the crate
//!
//! The programs in `examples/` are short and print what they check.

#![deny(missing_docs)]

use std::path::Path;
use std::sync::Arc;

pub use batch::{
    Batch, BatchContact, BatchError, BatchJacobians, BatchOptions, BatchStats, Cotangents, Precision, StepGradients,
};
pub use formats::{LoadError, LoadOptions, trajectory};
pub use multibody::{
    InverseKinematicsError, InverseKinematicsOptions, InverseKinematicsSolution, Model, PoseTarget, inverse_kinematics,
};
pub use sim::{
    ContactLaw, ContactPoint, Energy, Frame, Observation, Options, Parameter, ParameterError, Parameters, Pd, PdLaw,
    Rest, Scheme, Simulation, SimulationError, SoftContactPoint, State, StateError, Statistic, Stats, StepForces,
    StepJacobians, Theta,
};
pub use support::Interrupt;

/// Models: what a file says of bodies, joints and actuators, and how to make one in code.
pub mod model {
    pub use multibody::{
        Actuator, Body, BodySpec, BuildError, Joint, JointKind, JointMotion, JointSpec, JointType, Keyframe,
        KeyframeKey, Model, ModelBuilder, Warning,
    };
}

/// What can touch: shapes fixed in bodies.
pub mod scene {
    pub use geometry::{Geom, HeightField, Mesh, PairSpec, Scene, Shape};
}

/// Vectors, rotations and inertias.
pub mod math {
    pub use spatial::{Mat3, Pose, Quat, RigidInertia, Sym3, Twist, Vec3, Wrench};
}

/// The contact solver for problems of your own: `min ½‖v − v*‖²_A + Σ ℓ_k(J_k v)`.
pub mod contact {
    pub use sap::{
        Constraint, Criterion, Error, Factorization, FrictionLaw, Kind, Law, LawKind, Options, Problem,
        ProblemSolution, Report, SparseMatrix, Start, Strategy,
    };
}

/// Stable PD control: the torque that an implicit step of a PD law takes.
pub mod pd {
    pub use sim::stable_pd::{Command, Error, Method, Report, Solver};
}

/// Recordings of a simulation, and the page that plays them in any browser.
pub mod replay {
    pub use ::replay::{PageError, Recorder, Recording, has_player, page};
}

/// Characters and scenes that come with the crate, as MJCF text.
pub mod embedded {
    pub use models::characters::{Character, Options as CharacterOptions, mjcf as character};
    pub use models::scenes::{Scene, mjcf as scene};
}

/// A model and what can touch in it. Copies share both.
#[derive(Clone, Debug)]
pub struct World {
    /// Bodies, joints, actuators, keyframes; [`Model::warnings`] tell what of a file is not simulated.
    pub model: Arc<Model>,
    /// Geoms, and which of them may touch.
    pub scene: Arc<scene::Scene>,
}

impl World {
    /// A world of a model made in code, and a scene of it.
    #[must_use]
    pub fn new(model: Model, scene: scene::Scene) -> World {
        World { model: Arc::new(model), scene: Arc::new(scene) }
    }

    /// The world of MJCF, URDF or SDFormat text that refers to no other file.
    ///
    /// # Errors
    /// [`LoadError`] with line, element and what was expected.
    pub fn from_text(text: &str) -> Result<World, LoadError> {
        let loaded = formats::load_str(text, None, &LoadOptions::default())?;
        Ok(World::new(loaded.model, loaded.scene))
    }

    /// This world with a level ground at this height, m, that everything can touch. A robot of a URDF file that moves freely is lifted out
    /// of it: its lowest point touches the ground.
    ///
    /// ```
    /// # use sapwood::World;
    /// let ball = World::from_text("<mujoco><worldbody><body pos='0 0 1'><freejoint/><geom size='.1'/></body></worldbody></mujoco>")?;
    /// assert_eq!(ball.with_ground(0.0).scene.geoms.last().unwrap().name, "ground");
    /// # Ok::<(), sapwood::LoadError>(())
    /// ```
    #[must_use]
    pub fn with_ground(self, height: f64) -> World {
        let (model, scene) = (Arc::unwrap_or_clone(self.model), Arc::unwrap_or_clone(self.scene));
        let mut loaded = formats::Loaded { model, scene };
        formats::add_ground(&mut loaded, height);
        World::new(loaded.model, loaded.scene)
    }

    /// This world in motion, from its default configuration at rest.
    ///
    /// # Errors
    /// [`SimulationError`] where an option is out of its domain.
    pub fn simulate(&self, options: Options) -> Result<Simulation, SimulationError> {
        Simulation::new(self.model.clone(), self.scene.clone(), options)
    }

    /// Many worlds like this one in motion, from its default configuration at rest.
    ///
    /// # Errors
    /// [`BatchError`] where an option is out of its domain, or so many worlds do not fit into memory.
    pub fn batch(&self, worlds: usize, options: BatchOptions) -> Result<Batch, BatchError> {
        Batch::new(self.model.clone(), self.scene.clone(), worlds, options)
    }
}

/// Loads an MJCF, URDF or SDFormat file; its root element tells which it is.
///
/// # Errors
/// [`LoadError`] with file, line, element and what was expected.
pub fn load(path: impl AsRef<Path>) -> Result<World, LoadError> {
    load_with(path, &LoadOptions::default())
}

/// [`load`], with folders of packages to look into and the choice of a floating base.
///
/// # Errors
/// As [`load`].
pub fn load_with(path: impl AsRef<Path>, options: &LoadOptions) -> Result<World, LoadError> {
    let loaded = formats::load(path.as_ref(), options)?;
    Ok(World::new(loaded.model, loaded.scene))
}

/// The Rust of the README and of the documentation, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
#[doc = include_str!("../../../docs/batch.md")]
struct Pages;
