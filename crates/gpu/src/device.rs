//! What kernels run on: the host, or a GPU.

use crate::host::HostKernels;
use crate::{Arguments, GpuError, Order, Source};

#[cfg(feature = "cuda")]
use crate::cuda::{CudaKernels, CudaMemory};

/// Where worlds are stepped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The CUDA device of this number.
    Cuda(usize),
    /// The host, by its C++ compiler: for tests.
    Host(Order),
}

/// The kernels of a model on a device.
pub(crate) enum Kernels {
    Host(HostKernels),
    #[cfg(feature = "cuda")]
    Cuda(CudaKernels),
}

/// Memory on a device, zero at first.
pub(crate) enum Memory {
    Host(Vec<u64>),
    #[cfg(feature = "cuda")]
    Cuda(CudaMemory),
}

impl Kernels {
    pub fn new(place: Place, source: &Source) -> Result<Self, GpuError> {
        match place {
            Place::Host(order) => Ok(Self::Host(HostKernels::new(&source.text, order)?)),
            #[cfg(feature = "cuda")]
            Place::Cuda(device) => Ok(Self::Cuda(CudaKernels::new(device, source)?)),
            #[cfg(not(feature = "cuda"))]
            Place::Cuda(_) => {
                Err(GpuError::Device("this build of Sapwood has no CUDA: build it with the feature \"cuda\"".into()))
            }
        }
    }

    /// So many bytes, all zero.
    pub fn allocate(&self, bytes: usize) -> Result<Memory, GpuError> {
        match self {
            Self::Host(_) => {
                let mut all = Vec::new();
                let words = bytes.div_ceil(8).max(1);
                let refused = |_| GpuError::Device(format!("{bytes} bytes do not fit into memory: fewer worlds may"));
                all.try_reserve_exact(words).map_err(refused)?;
                all.resize(words, 0);
                Ok(Memory::Host(all))
            }
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => Ok(Memory::Cuda(kernels.allocate(bytes)?)),
        }
    }

    /// Copies bytes to the device.
    pub fn write(&self, memory: &mut Memory, bytes: &[u8]) -> Result<(), GpuError> {
        self.write_from(memory, 0, bytes)
    }

    /// Copies bytes to the device, to behind the first `offset` bytes.
    pub fn write_from(&self, memory: &mut Memory, offset: usize, bytes: &[u8]) -> Result<(), GpuError> {
        match (self, memory) {
            (_, Memory::Host(all)) => {
                let (end, room) = (offset + bytes.len(), 8 * all.len());
                assert!(end <= room, "{end} bytes for {room}");
                // SAFETY: there are so many bytes, and any are numbers.
                unsafe {
                    let to = all.as_mut_ptr().cast::<u8>().add(offset);
                    std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len());
                }
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(kernels), Memory::Cuda(memory)) => kernels.write(memory, offset, bytes),
            #[cfg(feature = "cuda")]
            (Self::Host(_), Memory::Cuda(_)) => unreachable!("memory of another device"),
        }
    }

    /// Copies bytes from the device.
    pub fn read(&self, memory: &Memory, bytes: &mut [u8]) -> Result<(), GpuError> {
        match (self, memory) {
            (_, Memory::Host(all)) => {
                assert!(bytes.len() <= 8 * all.len(), "{} bytes of {}", bytes.len(), 8 * all.len());
                // SAFETY: there are so many bytes.
                unsafe { std::ptr::copy_nonoverlapping(all.as_ptr().cast(), bytes.as_mut_ptr(), bytes.len()) };
                Ok(())
            }
            #[cfg(feature = "cuda")]
            (Self::Cuda(kernels), Memory::Cuda(memory)) => kernels.read(memory, bytes),
            #[cfg(feature = "cuda")]
            (Self::Host(_), Memory::Cuda(_)) => unreachable!("memory of another device"),
        }
    }

    /// Launches steps on a stream (0 is the default one); they may be under way when this returns.
    ///
    /// # Safety
    /// The arguments must lead to arrays of the sizes that the kernels expect.
    pub unsafe fn steps(&self, arguments: &Arguments, stream: u64) -> Result<(), GpuError> {
        match self {
            // SAFETY: as this function.
            Self::Host(kernels) => unsafe {
                let _ = stream;
                kernels.steps(arguments)
            },
            #[cfg(feature = "cuda")]
            // SAFETY: as this function.
            Self::Cuda(kernels) => unsafe { kernels.steps(arguments, stream) },
        }
    }

    /// Waits for everything that was launched.
    pub fn synchronize(&self) -> Result<(), GpuError> {
        match self {
            Self::Host(_) => Ok(()),
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.synchronize(),
        }
    }

    /// Barriers and rounds of loops that a GPU would have made for the steps of this thread; none are counted on a GPU.
    pub fn work(&self) -> Option<[i64; 2]> {
        match self {
            Self::Host(kernels) => Some(kernels.work()),
            #[cfg(feature = "cuda")]
            Self::Cuda(_) => None,
        }
    }

    /// Bytes of shared memory that a world takes.
    pub fn world_size(&self) -> usize {
        match self {
            Self::Host(kernels) => kernels.world_size(),
            #[cfg(feature = "cuda")]
            Self::Cuda(kernels) => kernels.world_size(),
        }
    }
}

impl Memory {
    /// Where it is on the device.
    pub fn address(&self) -> u64 {
        match self {
            Self::Host(all) => all.as_ptr() as u64,
            #[cfg(feature = "cuda")]
            Self::Cuda(memory) => memory.address(),
        }
    }
}
