//! Models that come with Sapwood, written as MJCF text: [`characters`] and [`scenes`].

pub mod characters;
pub mod scenes;
