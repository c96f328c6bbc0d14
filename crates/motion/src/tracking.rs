//! Characters that follow reference motions by PD control, and how closely they do.
//!
//! [`track()`] follows a motion ([`Source`](crate::Source): a gait by name or a file) with a [`Controller`] and returns errors, a recording, and
//! the reference beside it. A [`Tracker`] is the same step by step.
//!
//! ```
//! use std::sync::Arc;
//! use support::Interrupt;
//! use models::characters::{self, Character, Options};
//! use sapwood_motion::{Source, SourceOptions};
//! use sapwood_motion::tracking::{Control, Controller, End, Gains, LOST, Target, Task, track};
//!
//! let text = characters::mjcf(Character::Dog, &Options::default());
//! let dog = formats::load_str(&text, None, &formats::LoadOptions::default())?;
//! let (model, scene) = (Arc::new(dog.model), Arc::new(dog.scene));
//! let trot = Source::open("trot")?.on(&model, &SourceOptions::default())?;
//! let controller = Controller {
//!     control: Control::Unconditional,
//!     target: Target::EndWithVelocity,
//!     gains: Gains::default(),
//!     effort_limit: f64::INFINITY,
//! };
//! let task = Task { controller, dt: 1.0 / 60.0, seconds: 0.5, effectors: vec![], lost: LOST, frames_per_second: 60.0 };
//! let tracking = track(&model, &scene, &trot, &task, &Interrupt::default(), |_| ())?;
//! assert_eq!(tracking.end, End::Completed);
//! assert!(tracking.rms() < 0.03, "{} m", tracking.rms());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod control;
mod error;
pub mod line_plots;
mod plot;
mod reference;
mod track;
mod tracker;

pub use control::{Control, Gains, JOINT_GAINS, ROOT_GAINS, Target, Torque, command, root_dofs};
pub use error::Error;
pub use plot::errors_svg;
pub use reference::{Effectors, MAX_STEPS, Reference};
pub use track::{End, LOST, Task, Tracking, track};
pub use tracker::{Controller, Tracker, simulation, with_damping};
