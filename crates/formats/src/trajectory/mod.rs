//! Trajectories out: named arrays in one file, as `numpy.load` reads them.

mod crc32;
mod npz;

pub use npz::{NpzError, NpzWriter};
