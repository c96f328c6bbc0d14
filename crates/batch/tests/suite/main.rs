//! The tests of `batch` in one program, which is linked once. Beside it are those that want a process of their own.

mod agreement;
mod bits;
mod collision;
mod common;
mod contacts;
mod energy;
mod own;
mod soft;
mod trajectories;
mod worlds;
