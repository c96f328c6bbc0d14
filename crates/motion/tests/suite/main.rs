//! The tests of `motion` in one program, which is linked once. Beside it are those that want a process of their own.

mod bvh;
mod common;
mod deepmimic;
mod gaits;
mod source;
mod tracking;
