//! Trajectories out: named arrays in one file, as `numpy.load` reads them.

mod npz;

pub use npz::{NpzError, NpzWriter};
