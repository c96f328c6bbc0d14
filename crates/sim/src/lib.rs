//! One world: state, time stepping, actuators and contact.
//!
//! A step is a pure function of the state: kinematics at q₀, free motion v* (one impedance ABA), contact points and
//! joint limits as constraints, v = argmin ½‖v − v*‖²_A + Σ ℓ_k(J_k v) island by island, q = q₀ ⊞ dt v.
//!
//! ```
//! use std::sync::Arc;
//! use multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
//! use spatial::{RigidInertia, Sym3, Vec3};
//!
//! let mut builder = ModelBuilder::new("falling");
//! let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(0.1, 0.1, 0.1)) };
//! let body = builder.add_body(BodySpec { name: "ball".into(), inertia, ..BodySpec::default() })?;
//! builder.add_joint(body, JointSpec::new(JointKind::Free))?;
//! let model = Arc::new(builder.build()?);
//! let mut simulation = sapwood_sim::Simulation::new(model, Arc::default(), sapwood_sim::Options::default())?;
//! simulation.step()?;
//! assert!((simulation.state().v[2] + 9.81 * 0.002).abs() < 1e-15);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod actuation;
mod clique;
mod constrain;
mod constraint_jacobian;
mod contact_space;
mod coupled;
mod error;
mod extrapolation;
mod free_body;
mod island;
mod observe;
mod options;
mod parameters;
mod pd;
mod report;
mod scheme;
mod sensors;
mod simulation;
mod soft;
mod soft_part;
pub mod stable_pd;
mod state;
mod step_forces;
mod step_jacobians;
mod tree_workspace;
mod warm_start;

pub use constrain::PlacedTendons;
#[doc(hidden)]
pub use error::SimulationError;
pub use extrapolation::VelocityExtrapolation;
pub use observe::{Frame, Observation};
pub use options::Options;
pub use parameters::{Feature, OwnModel, Parameter, ParameterError, Parameters};
pub use pd::Pd;
pub use report::{ContactPoint, Energy, SoftContactPoint, Statistic, Stats};
pub use sap::FrictionLaw as ContactLaw;
pub use scheme::{PdLaw, Scheme, Theta};
pub use sensors::lane_trace::trace_lane;
pub use sensors::trace::{StepTrace, TraceNeeds};
pub use simulation::Simulation;
pub use simulation::mocap::MocapStep;
pub use simulation::planning::{attachments, numbers_of, plan, plan_of_changing_gains};
pub use state::{Rest, State, StateError};
pub use step_forces::{ActingForces, StepForces};
pub use step_jacobians::{SensorJacobians, StepJacobians};
pub use warm_start::WarmStart;
