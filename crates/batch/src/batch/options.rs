//! Options, errors and statistics of a batch.

use sim::{Options, ParameterError, SimulationError};

use crate::Precision;

/// What a user may choose. The defaults need no touch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BatchOptions {
    /// How worlds are stepped.
    pub simulation: Options,
    /// Threads that share the worlds; those of the processor when none.
    pub threads: Option<usize>,
    /// Worlds side by side: 1, 4, or 8 where the processor has AVX-512, of 32 bits 1, 8 or 16. When none, those with which so
    /// many worlds take the least time on so many threads.
    pub lanes: Option<usize>,
    /// The numbers that worlds are computed with.
    pub precision: Precision,
    /// Whether contact points of the last step are recorded, for [`Batch::contacts`](crate::Batch::contacts).
    pub contacts: bool,
}

/// Why a batch could not be made, or some of its worlds not be stepped.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// A simulation of the model could not be made, or there is no such keyframe.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// An option that is not there.
    #[error("{name} = {value}: expected {expected}")]
    Option {
        /// The option.
        name: &'static str,
        /// What it was.
        value: usize,
        /// What it may be.
        expected: &'static str,
    },
    /// More worlds than there is memory for.
    #[error("{worlds} worlds take about {gigabytes:.1} GB: expected what fits into memory")]
    Memory {
        /// How many worlds.
        worlds: usize,
        /// About what they take, 1e9 bytes.
        gigabytes: f64,
    },
    /// A slice that does not fit the batch.
    #[error("{name} has {found} entries: expected {expected}")]
    Size {
        /// The slice.
        name: &'static str,
        /// Entries that came.
        found: usize,
        /// Entries that were expected.
        expected: usize,
    },
    /// A state that a batch cannot go on from.
    #[error("the state has {what}: expected {expected}")]
    State {
        /// What it has.
        what: &'static str,
        /// What it may have.
        expected: &'static str,
    },
    /// Parameters that are none of the model.
    #[error(transparent)]
    Parameter(#[from] ParameterError),
    /// A model that is not of the batch's structure.
    #[error("the model has other {what}: expected those of the batch's model, whose numbers may be others")]
    Structure {
        /// What differs.
        what: &'static str,
    },
    /// Worlds that failed; they stay as they were before the step that failed, all others have moved on.
    #[error("world {world} and {others} others: {source}", others = .others)]
    Worlds {
        /// The first of them.
        world: usize,
        /// How many others.
        others: usize,
        /// Why the first failed.
        source: SimulationError,
    },
    /// It was told to stop; worlds may have made different numbers of steps.
    #[error("interrupted")]
    Interrupted,
}

/// What a batch did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchStats {
    /// Steps of worlds.
    pub steps: u64,
    /// Those of them that were left to a simulation of one world.
    pub left: u64,
    /// Those of them whose friction did not converge within the budget: see [`sim::Stats::unsettled`].
    pub unsettled: u64,
    /// Iterations of the contact solver in lanes.
    pub iterations: u64,
    /// Iterations that groups made: as many as the slowest of their worlds.
    pub group_iterations: u64,
    /// Newton iterations of the steps that were left to a simulation of one world.
    pub left_iterations: u64,
    /// Contacts and limits that pushed, in lanes.
    pub pushing: u64,
}
