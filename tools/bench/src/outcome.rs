//! What became of a run.

use motion::tracking::{Controller, End, LOST, Task, Tracking, track};
use support::Interrupt;

use crate::{Error, Subject};

/// What became of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    /// It ended; the root of the mean square of the error, m.
    Tracked(f64),
    /// The error grew beyond [`LOST`], or a step failed, at this time, s.
    Diverged(f64),
}

impl Outcome {
    /// Tracks a subject's motion and compares one body's place, seen from the root.
    ///
    /// # Errors
    /// When the controller or the time step is refused, or there is no such body; a motion that diverges is an outcome.
    pub fn of(subject: &Subject, effector: &str, controller: Controller, dt: f64, seconds: f64) -> Result<Self, Error> {
        let effectors = vec![effector.into()];
        let task = Task { controller, dt, seconds, effectors, lost: LOST, frames_per_second: 0.0 };
        let tracking = track(&subject.model, &subject.scene, &subject.motion, &task, &Interrupt::default(), |_| ())?;
        Ok(Self::from(&tracking))
    }
}

impl From<&Tracking> for Outcome {
    fn from(tracking: &Tracking) -> Self {
        match tracking.end {
            End::Completed => Self::Tracked(tracking.rms()),
            End::Lost { time, .. } => Self::Diverged(time),
            End::Failed(_) | End::Interrupted => Self::Diverged(tracking.time.last().copied().unwrap_or_default()),
        }
    }
}
