//! Why a character cannot imitate a motion.

use batch::BatchError;
use motion::BindingError;

/// Why an imitation task could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImitationError {
    /// The motion has other joints than the model.
    #[error(transparent)]
    Binding(#[from] BindingError),
    /// PD control, or forces, that the batch refuses.
    #[error(transparent)]
    Batch(#[from] BatchError),
    /// The model has not exactly one character.
    #[error("model {model:?} has {found} trees of joints, {why}: expected one character on a free joint")]
    Trees {
        /// The model.
        model: String,
        /// How many trees it has.
        found: usize,
        /// What is wrong with them.
        why: &'static str,
    },
    /// A joint that no target can be set for.
    #[error("joint {joint:?} is {kind}: expected a ball, a revolute or a prismatic joint")]
    Joint {
        /// The joint.
        joint: String,
        /// Its kind.
        kind: &'static str,
    },
    /// A name that the model does not have.
    #[error("{option}: the model has no {what} {name:?}: expected any of {known}")]
    Name {
        /// The option that has it.
        option: &'static str,
        /// What it should be.
        what: &'static str,
        /// The name.
        name: String,
        /// Names that there are.
        known: String,
    },
    /// A number outside its domain.
    #[error("{name} is {value}: expected {expected}")]
    Value {
        /// Its name.
        name: String,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: String,
    },
    /// The motion is too short to be followed.
    #[error("the motion takes {duration} s: expected {least} s, a control step, or more")]
    Short {
        /// Its duration, s.
        duration: f64,
        /// Time of a control step, s.
        least: f64,
    },
    /// The batch is of another model, or does not record contacts.
    #[error("the batch {what}: expected one of the task's model that records contacts")]
    OtherBatch {
        /// What is wrong with it.
        what: &'static str,
    },
}
