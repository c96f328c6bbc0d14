//! Dynamics at the limit: recursions in the fewest passes, over a packed tree and any [`Real`](spatial::Real), lanes of worlds
//! included.
//!
//! The algorithms of the other modules keep what they find (placements, factors) for whoever comes next. These keep nothing
//! but scratch: in one call from state to acceleration. World axes, each node's frame at its own joint, classical
//! accelerations: linear velocities never appear.

mod batch;
mod forward_dynamics;
mod packed;
mod versions;

pub use batch::Batch;
pub use forward_dynamics::{ForwardDynamics, Impedance, Told};
pub use packed::PackedTree;
pub use versions::{Arguments, KernelReal};
