//! What the crates of a simulation share, and what knows none of them.
//!
//! * [`ThreadPool`] — parallel loops of 10 to 500 µs
//! * [`Interrupt`] — a request to stop that long computations look at
//! * [`SplitMix64`] — pseudo-random numbers that are the same everywhere
//! * [`suggest`] — names that are like a misspelt one
//! * [`legible`] — messages whose numbers and words do not fill lines, and do nothing to a terminal
//! * [`WholeFiles`] — files that are whole or as they were

mod interrupt;
mod messages;
mod random;
pub mod suggest;
mod thread_pool;
mod whole_files;

pub use interrupt::Interrupt;
pub use messages::{brief, harmless, legible};
pub use random::SplitMix64;
pub use thread_pool::ThreadPool;
pub use whole_files::{UnwrittenFile, WholeFiles, check_place, write_whole};
