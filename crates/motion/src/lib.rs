//! Reference motions: clips from files, gaits as code, their binding to a model, and controllers that follow them.
//!
//! A [`Motion`] says, at any time, where a figure's root is and how each of its named joints is turned: its
//! [`Posture`]. A [`Clip`] is one given by frames, read by [`deepmimic`] or [`bvh`]; a [`gait`] is one written as code. A
//! [`Binding`] puts a motion on a [`multibody::Model`] by the names of its joints, as coordinates q and velocities v. [`Source`] does
//! all of it: a gait by name or any file, on any model, with a [`Retarget`] where figures differ. [`tracking`] has characters follow it by PD control.
//!
//! Axes are the same everywhere: x forwards, y to the left, z up. Rotations are departures from the figure at rest, in
//! axes that were the world's when it stood there, so that a motion does not depend on how a model draws its frames.
//!
//! ```
//! use sapwood_motion::{Binding, BindingOptions, bvh};
//! # use multibody::{BodySpec, JointKind, JointSpec, ModelBuilder};
//! # use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};
//! let text = "HIERARCHY
//!     ROOT hips { OFFSET 0 90 0  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
//!       JOINT thigh { OFFSET 0 0 0  CHANNELS 3 Zrotation Xrotation Yrotation
//!         End Site { OFFSET 0 -90 0 } } }
//!     MOTION
//!     Frames: 2
//!     Frame Time: 0.5
//!     0 0 0   0 0 0  0 0 0
//!     0 0 50  0 0 0  0 -90 0";
//! let kick = bvh::parse(text, "kick.bvh", &bvh::Options { scale: 0.01, ..bvh::Options::default() })?;
//!
//! // A model with joints of the same names: here a hinge that is positive when the thigh swings backwards.
//! # let inertia = RigidInertia { mass: 1.0, com: Vec3::ZERO, inertia: Sym3::diagonal(Vec3::new(1.0, 1.0, 1.0)) };
//! # let mut builder = ModelBuilder::new("figure");
//! # let spec = |name: &str, parent| BodySpec { name: name.into(), parent, inertia, ..BodySpec::default() };
//! # let joint = |name: &str, kind| JointSpec { name: name.into(), ..JointSpec::new(kind) };
//! # let hips = builder.add_body(spec("hips", 0))?;
//! # builder.add_joint(hips, joint("hips", JointKind::Free))?;
//! # let thigh = builder.add_body(spec("thigh", hips))?;
//! # builder.add_joint(thigh, joint("thigh", JointKind::Revolute { axis: Vec3::new(0.0, 1.0, 0.0) }))?;
//! # let model = builder.build()?;
//! let mut binding = Binding::new(&model, &kick.clip, &BindingOptions::default())?;
//! let (mut q, mut v) = (vec![0.0; model.nq()], vec![0.0; model.nv()]);
//! binding.positions_and_velocities(&kick.clip, 0.25, 0.01, &mut q, &mut v);
//! // Half-way: 25 cm ahead at 1 m/s, the thigh 45° to the front and rising at half a turn per second.
//! assert!((q[0] - 0.25).abs() < 1e-12 && (v[0] - 1.0).abs() < 1e-12);
//! assert!((q[7] + 45_f64.to_radians()).abs() < 1e-12 && (v[6] + 180_f64.to_radians()).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod axes;
mod binding;
pub mod bvh;
mod clip;
pub mod deepmimic;
mod error;
pub mod gait;
mod posture;
mod retarget;
mod skeleton;
mod source;
pub mod tracking;

pub use axes::Axes;
pub use binding::{Binding, BindingError, BindingOptions};
pub use clip::{Clip, ClipError, LoopMode};
pub use error::{MAX_FILE_BYTES, ReadError};
pub use posture::{Channel, ChannelKind, JointValue, Motion, Posture};
pub use retarget::{Retarget, RetargetError, RetargetOptions};
pub use skeleton::{Skeleton, SkeletonError, SkeletonJoint};
pub use source::{BoundMotion, GAITS, SharedMotion, Source, SourceError, SourceOptions};
