//! Many worlds of one model, side by side in the lanes of vector registers.
//!
//! A [`Batch`] steps `n` worlds of one model. Worlds lie in groups, one in each lane of a register (four or eight of f64, as the processor
//! has them), and groups are shared among threads. A step is that of [`sim::Simulation`] under the same options: the same free motion, the
//! same contact points and laws, the same solution up to the solver's tolerance. What lanes cannot do, a step with very many contacts for
//! instance, is left to a simulation of one world, world by world: see [`BatchStats::left`]. So every step of every world meets the
//! tolerance, or [`Batch::step`] says that it does not.
//!
//! A world's bits do not depend on its neighbours, on the number of worlds or lanes, nor on threads.
//!
//! ```
//! use sapwood_batch::{Batch, BatchOptions};
//!
//! let mjcf = r#"<mujoco><worldbody><geom type="plane" size="0 0 1"/>
//!     <body pos="0 0 1"><freejoint/><geom type="sphere" size=".1"/></body></worldbody></mujoco>"#;
//! let loaded = formats::load_str(mjcf, None, &formats::LoadOptions::default())?;
//! let mut batch = Batch::new(loaded.model.into(), loaded.scene.into(), 100, BatchOptions::default())?;
//! // Every world starts a little higher than the one before.
//! for (i, q) in batch.q_mut().chunks_exact_mut(7).enumerate() {
//!     q[2] += 0.01 * i as f64;
//! }
//! batch.step(1000)?;
//! // All balls have come to rest on the ground.
//! assert!(batch.q().chunks_exact(7).all(|q| (q[2] - 0.1).abs() < 1e-3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arrays;
mod batch;
mod group;
mod placements;
mod precision;

pub use batch::{
    Batch, BatchError, BatchJacobians, BatchOptions, BatchStats, Cotangents, Moment, StepGradients, World,
};
pub use lanes::LaneContact as BatchContact;
pub use precision::Precision;
pub use sim::{Parameter, ParameterError, Parameters};
