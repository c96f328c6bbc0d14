//! Dynamics at the limit: recursions in the fewest passes, over a packed tree and any [`Real`](spatial::Real), lanes of worlds
//! included; and those of one world.
//!
//! The algorithms of the other modules keep what they find (placements, factors) for whoever comes next. These keep nothing
//! but scratch: in one call from state to acceleration. World axes, each node's frame at its own joint, classical
//! accelerations: linear velocities never appear.
//!
//! [`Batch`] takes many worlds, one in each lane; [`OneWorld`] one, its limbs across lanes ([`LimbDynamics`]) where the
//! tree has enough of them, else node by node ([`NodeDynamics`]). What they call is chosen by the processor ([`KernelReal`]).

mod articulated;
mod batch;
mod broadcast;
mod forward_dynamics;
mod fused;
mod inverse_dynamics;
mod limbs;
mod mass_matrix;
mod nodes;
mod one_world;
mod packed;
mod placed;
mod placements;
mod transposed;
mod versions;

pub use batch::Batch;
pub use broadcast::Broadcast;
pub use forward_dynamics::{ForwardDynamics, Impedance};
pub(crate) use fused::rotation;
pub use inverse_dynamics::InverseDynamics;
pub use limbs::LimbDynamics;
pub use mass_matrix::MassMatrix;
pub use nodes::NodeDynamics;
pub use one_world::OneWorld;
pub use packed::PackedTree;
pub use placements::Placements;
pub(crate) use versions::best_version;
pub use versions::{Arguments, KernelReal};
