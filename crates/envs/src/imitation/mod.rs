//! Characters that imitate a motion: DeepMimic's task on the worlds of a batch.
//!
//! Peng, Abbeel, Levine, van de Panne, *DeepMimic: example-guided deep reinforcement learning of physics-based character skills*, 2018:
//! a policy sets the targets of PD controllers 30 times a second, the reward says how near the character is to the reference motion, and
//! an episode begins anywhere in the motion and ends when the character falls. [`Imitation`] is what is the same for all worlds,
//! [`ImitationEpisodes`] what they do.

mod action;
mod episodes;
mod error;
mod figure;
mod observation;
mod options;
mod presets;
mod reference;
mod reward;
mod task;

pub use action::MAX_LEAD;
pub use episodes::ImitationEpisodes;
pub use error::ImitationError;
pub use figure::{Motor, MotorKind, Part};
pub use options::{ActionKind, Controller, Ground, ImitationOptions, RewardKind, RotationKind};
pub use reference::Reference;
pub use reward::RewardTerms;
pub use task::{INFO, Imitation};
