//! The experiments of the MABA paper (Yin and Yin, *Linear Time Stable PD Controllers for Physics-based Character Animation*,
//! 2020) on our characters: how well Stable PD control tracks a motion, and what it costs.
//!
//! A [`Subject`] is a character with a motion, which a [`motion::tracking::Tracker`] follows.
//!
//! ```
//! use sapwood_bench::{Outcome, Subject};
//! use models::characters::Character;
//! use motion::tracking::{Control, Controller};
//!
//! let subject = Subject::gait(Character::Humanoid, "walk")?;
//! let controller = Controller::of_paper(Control::Embedded);
//! let outcome = Outcome::of(&subject, "right_ankle", controller, 1.0 / 60.0, 1.0)?;
//! // With target velocity 0 joints lag behind by kd / kp = 53 ms, and the ankle goes at 2 m/s as seen from the root.
//! assert!(matches!(outcome, Outcome::Tracked(error) if error < 0.15), "{outcome:?}");
//! # Ok::<(), sapwood_bench::Error>(())
//! ```

pub mod accuracy;
pub mod cases;
mod clock;
mod error;
pub mod figures;
mod outcome;
pub mod paper;
pub mod plot;
mod precision;
mod replayed;
mod row;
pub mod speed;
mod subject;
pub mod usable;

pub use clock::{Samples, time};
pub use error::Error;
pub use outcome::Outcome;
pub use replayed::{Replay, States};
pub use row::Row;
pub use subject::Subject;
