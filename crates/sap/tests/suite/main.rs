//! The tests of `sap` in one program, which is linked once. Beside it are those that want a process of their own.

mod block_cholesky;
mod clarabel;
mod common;
mod contact_blocks;
mod contact_law;
mod convergence;
mod coulomb;
mod laws;
mod matrices;
mod problem;
mod sparse;
mod statics;
