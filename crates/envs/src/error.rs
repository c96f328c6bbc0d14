//! Errors of environments.

/// Why an environment could not be made.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EnvError {
    /// The model lacks something that the task names.
    #[error("{task}: the model has no {what}: expected that of the task's own file, or one like it")]
    Missing {
        /// The task.
        task: &'static str,
        /// What the model lacks.
        what: String,
    },
    /// The model has other coordinates than the task needs.
    #[error("{task}: the model has {found} {what}: expected {expected}")]
    Coordinates {
        /// The task.
        task: &'static str,
        /// Coordinates of which kind.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many there must be.
        expected: &'static str,
    },
    /// The model has an actuator whose force is not known.
    #[error(
        "{task}: actuator {name:?} does not act on a joint of one degree of freedom: expected such, for qfrc_actuator"
    )]
    Actuator {
        /// The task.
        task: &'static str,
        /// The actuator.
        name: String,
    },
    /// Forces of contact are asked for, and the batch does not record contacts.
    #[error("{task}: the batch does not record contacts: expected one made with `contacts`")]
    Contacts {
        /// The task.
        task: &'static str,
    },
    /// A number outside its domain.
    #[error("{name} is {value}: expected {expected}")]
    Value {
        /// Its name.
        name: &'static str,
        /// What it was.
        value: f64,
        /// What it may be.
        expected: &'static str,
    },
    /// The batch is of another model.
    #[error("the batch is of another model: expected that of the environment")]
    OtherModel,
}
