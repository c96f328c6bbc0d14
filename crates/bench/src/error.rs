//! What can go wrong before a measurement.

/// Why something cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A model that cannot be read.
    #[error(transparent)]
    Model(#[from] formats::LoadError),
    /// A motion file that cannot be read.
    #[error(transparent)]
    Motion(#[from] motion::ReadError),
    /// A motion that does not fit the character.
    #[error(transparent)]
    Binding(#[from] motion::BindingError),
    /// A gait that does not fit the character.
    #[error(transparent)]
    Gait(#[from] motion::gait::GaitError),
    /// A controller that does not fit, or a singular system.
    #[error(transparent)]
    Controller(#[from] spd::Error),
    /// A step that failed.
    #[error(transparent)]
    Simulation(#[from] sim::SimulationError),
    /// A state that does not fit.
    #[error(transparent)]
    State(#[from] sim::StateError),
    /// A body that the character does not have, or that does not move.
    #[error("{character} has no moving body {name:?}")]
    NoBody {
        /// The character.
        character: &'static str,
        /// The body's name.
        name: String,
    },
    /// A picture that cannot be drawn.
    #[error("{name}: {message}")]
    Picture {
        /// The file.
        name: &'static str,
        /// Why.
        message: String,
    },
}
