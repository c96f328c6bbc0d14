//! Six-dimensional vectors, rotations and inertias, generic over a scalar [`Real`].
//!
//! One convention throughout Sapwood: a moving frame keeps the **axes of the world** and has its origin at a
//! point of the body (its joint). A twist is then the pair of angular velocity and velocity of that point, a
//! wrench the pair of moment about that point and force, and going from a body to its parent is a shift of the
//! origin: cross products only, no rotation of 6×6 matrices.
//!
//! ```
//! use sapwood_spatial::{Quat, Vec3};
//! let quarter_turn = Quat::from_axis_angle(Vec3::new(0.0, 0.0, 1.0), std::f64::consts::FRAC_PI_2);
//! let y = quarter_turn.to_mat3() * Vec3::new(1.0, 0.0, 0.0);
//! assert!((y - Vec3::new(0.0, 1.0, 0.0)).norm() < 1e-15);
//! ```

pub mod cpu;
mod finite;
mod inertia;
mod lanes;
pub mod masks;
mod mat3;
mod quat;
mod real;
mod sym3;
mod three;
mod twist;
mod vec3;

pub use finite::{are_finite, are_finite_and_nonnegative, are_zero};
pub use inertia::{ArticulatedInertia, PointInertia, RigidInertia};
pub use lanes::{F32x8, F32x16, F64x4, F64x4x2, F64x8};
pub use mat3::Mat3;
pub use quat::{Pose, Quat};
pub use real::{Real, sin_cos_in_lanes};
pub use sym3::Sym3;
pub use three::Three;
pub use twist::{Twist, Wrench};
pub use vec3::Vec3;
