//! The tests of `deformable` in one program, which is linked once. Beside it are those that want a process of their own.

mod common;
mod dynamics;
mod errors;
mod generators;
mod nonlinear;
mod statics;
mod stress;
