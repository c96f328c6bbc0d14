//! The experiments of the MABA paper (Yin and Yin, *Linear Time Stable PD Controllers for Physics-based Character Animation*,
//! 2020) on our characters: how well Stable PD control tracks a motion, and what it costs.
//!
//! A [`Subject`] is a character with a motion; a [`Tracker`] follows it with one of several [`Control`]s.
//!
//! ```
//! use sapwood_bench::{Control, EndEffector, Gait, Outcome, Subject, Tracker};
//! use characters::Character;
//!
//! let subject = Subject::gait(Character::Humanoid, Gait::Walk)?;
//! let mut tracker = Tracker::new(&subject, Control::Embedded, 1.0 / 60.0, 60)?;
//! let Outcome::Tracked(error) = tracker.run(EndEffector::new(&subject, "right_ankle")?)? else { panic!("lost") };
//! // With target velocity 0 joints lag behind by kd / kp = 53 ms, and the ankle goes at 2 m/s as seen from the root.
//! assert!(error < 0.15, "{error} m");
//! # Ok::<(), sapwood_bench::Error>(())
//! ```

pub mod accuracy;
pub mod cases;
mod clock;
mod error;
pub mod paper;
pub mod plot;
mod precision;
mod row;
pub mod speed;
mod subject;
mod tracker;

pub use clock::{Samples, time};
pub use error::Error;
pub use row::Row;
pub use subject::{EndEffector, Gait, Reference, Subject};
pub use tracker::{Control, JOINT_GAINS, LOST, Outcome, ROOT_GAINS, Replay, States, Torque, Tracker, gains};
