//! Recordings of simulations, and the page that plays them: one HTML file that needs no network.
//!
//! A [`Recording`] holds frames: taken from a simulation step by step (by [`Recording::after_step`] where the caller counts
//! steps, by a [`Recorder`] where it does not), or made of positions alone ([`Recording::of_positions`]). [`page()`] writes one
//! into the player, as `docs/replay-format.md` describes.

mod binary;
mod drawn;
mod geoms;
mod ghost;
mod page;
mod recorder;
mod recording;
mod strings;
mod textures;
mod trajectory;

pub use drawn::Sketch;
pub use geoms::{Encoded, encode as encode_geoms};
pub use ghost::with_ghost;
pub use page::{PageError, has_player, page};
pub use recorder::Recorder;
pub use recording::{ContactMark, Recording};
pub use strings::of_frame as strings;
pub use trajectory::resample;
