//! Forward dynamics in the fewest passes: of one world, and of a world in every lane.
//!
//! The algorithms of the other modules keep what they find (placements, factors) for whoever comes next. These keep nothing
//! but scratch: in one call from state to acceleration. World axes, each node's frame at its own joint, classical
//! accelerations: linear velocities never appear.
//!
//! [`OneWorld`] takes one world, its limbs across lanes ([`LimbDynamics`]) where the tree has enough of them, else node by
//! node ([`NodeDynamics`]): `Model.forward_dynamics` of Python and stable PD control without a simulation. [`ForwardDynamics`]
//! is the same recursion over any [`Real`](spatial::Real), lanes of worlds included; its version for a processor is chosen by
//! [`KernelReal`].

mod articulated;
mod broadcast;
mod forward_dynamics;
mod fused;
mod limbs;
mod nodes;
mod one_world;
mod packed;
mod placed;
mod transposed;
mod versions;

pub use broadcast::Broadcast;
pub use forward_dynamics::{ForwardDynamics, Impedance};
pub(crate) use fused::rotation;
pub use limbs::LimbDynamics;
pub use nodes::NodeDynamics;
pub use one_world::OneWorld;
pub use packed::PackedTree;
pub(crate) use versions::best_version;
pub use versions::{Arguments, KernelReal};
