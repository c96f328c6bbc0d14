//! Gaits written as code: smooth, periodic, with a root that travels as the steps do.
//!
//! [`walk`], [`run`], [`trot`], [`pace`] and [`canter`] are patterns ([`GaitPattern`]: which foot when, how far, what the trunk
//! does) that a [`LeggedGait`] puts on the skeleton of a model; [`Slither`] moves a chain along a serpenoid curve.
//!
//! ```
//! use sapwood_motion::gait::{Slither, SlitherPattern};
//! use sapwood_motion::{Motion, Posture, Skeleton, SkeletonJoint};
//! use spatial::Vec3;
//! let joint = |k: usize| SkeletonJoint {
//!     name: format!("link_{k}"),
//!     parent: k.checked_sub(1),
//!     offset: Vec3::new(if k == 0 { 0.0 } else { -0.1 }, 0.0, 0.0),
//!     ends: vec![],
//! };
//! let snake = Skeleton::new((0..12).map(joint).collect())?;
//! let slither = Slither::new(&snake, &SlitherPattern::default())?;
//! let (mut now, mut later) = (Posture::default(), Posture::default());
//! slither.sample(0.3, &mut now);
//! slither.sample(0.3 + slither.duration(), &mut later);
//! assert!((later.root.pos.x - now.root.pos.x - slither.stride()).abs() < 1e-12);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod biped;
mod legged;
mod limb;
mod pattern;
mod pulse;
mod quadruped;
mod slither;

pub use biped::{run, walk};
pub use legged::LeggedGait;
pub use pattern::{GaitPattern, LegPattern, Sway, Wave};
pub use pulse::Pulse;
pub use quadruped::{canter, pace, trot};
pub use slither::{Slither, SlitherPattern};

/// Why a gait cannot be put on a skeleton.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum GaitError {
    /// A joint that the skeleton does not have.
    #[error("the skeleton has no joint {name:?}: expected one, as the gait moves it")]
    NoJoint {
        /// The name.
        name: String,
    },
    /// A joint that hangs elsewhere.
    #[error("joint {name:?}: expected it to hang on {parent:?}")]
    NotBelow {
        /// The joint.
        name: String,
        /// What it should hang on.
        parent: String,
    },
    /// A parameter outside its domain.
    #[error("{what}: {value}: expected {expected}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// What came.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// A leg that cannot reach the ground all along its stance, however low the hips.
    #[error("the leg at {leg:?} would be stretched to {stretch:.3} of its length: expected a shorter stride or stance")]
    TooFar {
        /// Its hip.
        leg: String,
        /// Distance over length of its bones.
        stretch: f64,
    },
}
