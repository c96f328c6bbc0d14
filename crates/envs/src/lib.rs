//! The MuJoCo environments of Gymnasium and tasks of dm_control's suite, for many worlds of a [`batch::Batch`].
//!
//! [`Environment`] has observation, reward and end of an episode of one of the tasks, as the v5 definitions of Gymnasium give them: pure
//! functions of states, controls and contact points; [`SuiteTask`] names those of dm_control. [`Episodes`] makes a step of many worlds of it: controls, time steps, observations,
//! rewards, ends, resets, all in one call and on the batch's threads. After it is made it allocates nothing.
//!
//! The model comes from the caller: Gymnasium's or dm_control's own files, or others with the same joints and bodies.
//!
//! ```
//! use batch::{Batch, BatchOptions};
//! use sapwood_envs::{Autoreset, Environment, Episodes, Task, TaskOptions};
//!
//! let mjcf = r#"<mujoco><option timestep="0.02"/><worldbody><body name="cart"><joint type="slide" axis="1 0 0"/><geom size=".1" mass="1"/>
//!     <body name="pole"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .6" size=".05" mass="1"/></body></body></worldbody>
//!     <actuator><motor joint="0" gear="100" ctrlrange="-3 3"/></actuator></mujoco>"#;
//! # let mjcf = mjcf.replace("<joint type", "<joint name=\"0\" type");
//! let loaded = formats::load_str(&mjcf, None, &formats::LoadOptions::default())?;
//! let (model, scene) = (std::sync::Arc::new(loaded.model), std::sync::Arc::new(loaded.scene));
//! let task = Task::InvertedPendulum;
//! let environment = Environment::new(&model, &scene, task, &TaskOptions::of(task), 0.04)?;
//! let mut batch = Batch::new(model, scene, 64, BatchOptions::default())?;
//! let mut episodes = Episodes::new(environment, &batch, 2, Some(1000), Autoreset::NextStep)?;
//! episodes.reset(&mut batch, &[true; 64]);
//! let mut returns = 0.0;
//! for _ in 0..100 {
//!     episodes.step(&mut batch, &[0.1; 64])?;
//!     returns += episodes.rewards().sum::<f64>();
//! }
//! assert!(returns > 64.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod environment;
mod episodes;
mod error;
mod gymnasium;
pub mod imitation;
mod memory;
mod observation;
mod quantities;
mod reward;
mod rows;
mod suite;
mod task;

pub use environment::{Environment, InfoColumn};
pub use episodes::Episodes;
pub use error::EnvError;
pub use memory::{Content, MemoryError};
pub use quantities::Scratch;
pub use reward::Transition;
pub use rows::Autoreset;
pub use suite::SuiteTask;
pub use task::{Task, TaskOptions, Value};
