//! The tests of `geometry` in one program, which is linked once. Beside it are those that want a process of their own.

mod common;
mod fields;
mod manifolds;
mod pairs;
mod soft;
mod strangers;
