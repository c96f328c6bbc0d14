//! Kinematic trees and their recursive algorithms.
//!
//! A [`Model`] is what a file describes: bodies, joints, actuators, names. Its [`Tree`] is the same thing reduced
//! to what the recursions touch: one node for every moving joint, with the rigid bodies that move with it fused
//! into one inertia. Every algorithm is a free function over a tree, the state, and a workspace.
//!
//! ```
//! use sapwood_multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
//! use spatial::{RigidInertia, Sym3, Vec3};
//!
//! let mut builder = ModelBuilder::new("pendulum");
//! let inertia = RigidInertia { mass: 1.0, com: Vec3::new(0.0, 0.0, -0.5), inertia: Sym3::ZERO };
//! let rod = builder.add_body(BodySpec { name: "rod".into(), inertia, ..BodySpec::default() })?;
//! let axis = Vec3::new(0.0, 1.0, 0.0);
//! builder.add_joint(rod, JointSpec { name: "pivot".into(), ..JointSpec::new(JointKind::Revolute { axis }) })?;
//! let model = builder.build()?;
//! assert_eq!((model.nq(), model.nv()), (1, 1));
//! # Ok::<(), sapwood_multibody::BuildError>(())
//! ```

mod aba;
mod activation;
mod actuator;
mod balance;
mod build_error;
mod builder;
mod camera;
mod checks;
mod cholesky;
mod contact_sensor;
mod coriolis;
mod crba;
mod delassus;
mod delay;
mod effective_mass;
mod elimination;
mod equality;
mod forward_dynamics;
mod free_step;
mod implicit;
mod integrate;
mod inverse_kinematics;
mod inverse_weights;
mod joint_impedance;
mod joint_kind;
mod kinematics;
mod material;
mod medium;
mod mocap;
mod model;
mod motor;
mod muscle;
mod placement;
mod polynomial_forces;
mod reference;
mod residuals;
mod retraction;
mod rnea;
mod rotations;
mod sensor;
mod site;
mod spring;
mod step_force;
mod structure;
mod tendon;
mod transmission;
mod tree;
mod unsymmetric;

pub use aba::{Factor, apply};
pub use activation::{Activation, ActivationDynamics};
pub use actuator::{Actuator, ActuatorLaw, GearFrame, OrientationInput, Transmission};
pub use balance::{
    BodyInStep, Correction, FAR, FAR_ALONE, Freedom, LARGEST_ERROR, LARGEST_GROWTH, LITTLE, MAX_FACTOR_ALONE,
    MAX_SCALING, StepBalance, StepEnd, UNPUSHED, Whole,
};
pub use build_error::{BuildError, ElementKind};
pub use builder::{BodySpec, JointSpec, ModelBuilder, inertia_flaw};
pub use camera::{Camera, CameraMode, DefaultView, Lens};
pub use cholesky::{factor_positive, solve_factored};
pub use contact_sensor::{ContactField, ContactFilter, ContactSensor, Reduction};
pub use coriolis::{NodeMotion, PolarMotion, bias_of_distance, joint_acceleration};
pub use crba::{CrbaWorkspace, mass_matrix, singular_dof};
pub use delassus::{Loads, alone};
pub use delay::{Delay, Reading, SensorDelay};
pub use effective_mass::{EffectiveMass, NodeMobility, TraceForm};
pub use equality::{Coordinate, Equality, EqualityKind, polynomial};
pub use forward_dynamics::{DynamicsInput, ForwardDynamics};
pub use free_step::FreeStep;
pub use implicit::{ImplicitFactor, JointDerivative, Rates};
pub use integrate::{difference, difference_ahead, integrate, normalize};
pub use inverse_kinematics::{InverseKinematicsError, InverseKinematicsOptions, InverseKinematicsSolution};
pub use inverse_kinematics::{PoseTarget, inverse_kinematics};
pub use inverse_weights::InverseWeights;
pub use joint_impedance::JointImpedance;
pub use joint_kind::{JointKind, JointMotion};
pub use kinematics::{
    Kinematics, NodeFrame, add_generalized_forces, forward_kinematics, joint_axis, joint_columns, place_nodes,
    propagate, vec3, velocities,
};
pub use material::{Compliance, Material, Resistance, ellipse_tangents};
pub use medium::{Drag, Medium};
pub use mocap::{mocap_pose, mocap_velocity};
pub use model::{Body, Joint, JointLock, Keyframe, KeyframeKey, Model, SleepPolicy, Warning};
pub use motor::{
    BristleFriction, Cogging, Controller, Heat, Motor, MotorInputs, MotorMotion, MotorStep, Slopes, Winding,
};
pub use muscle::Muscle;
pub use polynomial_forces::{LawAt, PolynomialForces};
pub use reference::{Reference, ReferenceStep};
pub use residuals::equality_residuals;
pub use retraction::{Retraction, logarithm_tangent, right_jacobian};
pub use rnea::{RneaWorkspace, accelerations, rnea};
pub use sensor::{
    ActuatorQuantity, DelayedSensor, DistanceQuantity, FrameQuantity, GeomsOf, JointQuantity, RayField, RaySource,
    Sensor, SensorFrame, SensorKind, SensorStage, SensorTarget, SensorTraits, SiteQuantity, SubtreeQuantity,
    TendonQuantity,
};
pub use site::{Site, SiteShape};
pub use spring::{Decay, SpringPoint, UNRESOLVED};
pub use step_force::{NEAR_LIMIT, StepForce, damps_alone, pd_law, stable_pd_impedance};
pub use tendon::{
    Branch, DrawnPoint, Obstacle, ObstacleShape, PathPoint, Route, Strand, Tendon, TendonLook, TendonPath, TendonRow,
    TendonTerm, stretch,
};
pub use transmission::{gear_of_axes, length_of_axes};
pub use tree::{JointType, NO_PARENT, Node, Tree};
pub use unsymmetric::{Dyad, UnsymmetricFactor};
