//! What can go wrong before a measurement.

/// Why something cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model that cannot be read.
    #[error(transparent)]
    Model(#[from] formats::LoadError),
    /// A motion that cannot be read, or does not fit the character.
    #[error(transparent)]
    Motion(#[from] motion::SourceError),
    /// A controller or body that does not fit, or a singular system.
    #[error(transparent)]
    Tracking(#[from] motion::tracking::Error),
    /// A step that failed.
    #[error(transparent)]
    Simulation(#[from] sim::SimulationError),
    /// A state that does not fit.
    #[error(transparent)]
    State(#[from] sim::StateError),
    /// A picture that cannot be drawn.
    #[error("{name}: {message}")]
    Picture {
        /// The file.
        name: &'static str,
        /// Why.
        message: String,
    },
}
