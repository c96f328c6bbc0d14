//! Many worlds of one model on a GPU.
//!
//! A step is the one of [`lanes`]: the same plan, the same phases, the same contact problem and solver, written once more as kernels (`kernels/`)
//! that a handful of threads run for each world. They are compiled for the *shape* of a model, by NVRTC when the first batch of such a model is
//! made; numbers are data. The host's C++ compiler compiles the same text, which is how everything but the GPU itself is tested.

mod batch;
mod chains;
#[cfg(feature = "cuda")]
mod cuda;
mod device;
mod host;
mod nvrtc;
mod source;

pub use batch::{Array, GpuBatch, GpuOptions, Status, View};
pub use device::Place;
pub use host::{HostKernels, Order};
pub use nvrtc::Nvrtc;
pub use source::{Layout, Source};

/// The numbers that worlds are computed with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// 32 bits.
    #[default]
    F32,
    /// 64 bits.
    F64,
}

/// Why there is no batch.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuError {
    /// What the model has and kernels do not simulate.
    #[error("{}: the GPU does not simulate this, device=\"cpu\" does", .0.join("; "))]
    Missing(Vec<String>),
    /// An option or an argument that is not one.
    #[error("{0}")]
    Option(String),
    /// A parameter of a world is not one.
    #[error("world {world}: {error}")]
    Parameters {
        /// The world.
        world: usize,
        /// What is wrong.
        error: sim::ParameterError,
    },
    /// There is no device, or it refuses.
    #[error("{0}")]
    Device(String),
    /// The kernels could not be compiled.
    #[error("kernels: {0}")]
    Compiler(String),
}

/// The arguments of the kernels, as `kernel.h` has them: addresses on the device.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
#[allow(missing_docs)]
pub struct Arguments {
    pub q: u64,
    pub v: u64,
    pub act: u64,
    pub ctrl: u64,
    pub pd_target: u64,
    pub force: u64,
    pub wrench: u64,
    pub met: u64,
    pub status: u64,
    pub whole: u64,
    pub reals: u64,
    pub own: u64,
    pub own_of: u64,
    pub time: u64,
    pub sensors: u64,
    pub worlds: i32,
    pub steps: i32,
}
