//! What can go wrong before or while a motion is tracked.

/// Why a motion cannot be tracked.
#[derive(Clone, Debug, thiserror::Error)]
pub enum Error {
    /// A motion that does not fit the model.
    #[error(transparent)]
    Motion(#[from] crate::SourceError),
    /// A controller that does not fit, or a singular system.
    #[error(transparent)]
    Controller(#[from] sim::stable_pd::Error),
    /// A step that failed, or options that a simulation refuses.
    #[error(transparent)]
    Simulation(#[from] sim::SimulationError),
    /// A body that the model does not have, or that does not move.
    #[error("model {model:?} has no moving body {name:?}: {hint}")]
    NoBody {
        /// The model.
        model: String,
        /// The body's name.
        name: String,
        /// What is near.
        hint: String,
    },
    /// An option outside its domain.
    #[error("{name} is {value}: expected {expected}")]
    Option {
        /// The option.
        name: &'static str,
        /// What came.
        value: f64,
        /// What was expected.
        expected: &'static str,
    },
    /// More steps than can be kept.
    #[error("{steps} steps of {dt} s: expected at most {most}; track for less time, or in longer steps")]
    TooLong {
        /// The steps.
        steps: usize,
        /// The time step, s.
        dt: f64,
        /// Steps that can be kept.
        most: usize,
    },
    /// Effort limits where there is nobody to keep them.
    #[error(
        "an effort limit and K_d < 1.5 dt K_p: the paper's law within the step has no limits there; expected control \"stable\", \
         \"maba-standalone\" or greater damping"
    )]
    Limit,
    /// A picture that cannot be drawn.
    #[error("the picture of errors: {0}")]
    Picture(String),
}

impl Error {
    /// Whether what was asked for is at fault, and not the model.
    pub fn is_of_options(&self) -> bool {
        match self {
            Self::NoBody { .. } | Self::Option { .. } | Self::TooLong { .. } | Self::Limit => true,
            Self::Simulation(error) => matches!(error, sim::SimulationError::Option { .. }),
            Self::Motion(_) | Self::Controller(_) | Self::Picture(_) => false,
        }
    }
}
