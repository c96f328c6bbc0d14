//! Kernels on a GPU of NVIDIA's.

use std::ffi::{CStr, c_void};
use std::mem::size_of_val;
use std::ptr;

use cudarc::driver::result::{ctx, device, function, launch_kernel, module, primary_ctx};
use cudarc::driver::{DriverError, result, sys};

use crate::host::cached;
use crate::nvrtc::Nvrtc;
use crate::{Arguments, GpuError, Source};

/// What the driver keeps of the shared memory of a block.
const RESERVED: usize = 1024;

/// The kernels of a model on a GPU.
pub(crate) struct CudaKernels {
    context: sys::CUcontext,
    module: sys::CUmodule,
    steps: sys::CUfunction,
    lanes: usize,
    world_size: usize,
    worlds_a_block: usize,
}

// SAFETY: the handles of the driver may be used by any thread; every call makes the context current first.
unsafe impl Send for CudaKernels {}
// SAFETY: as above.
unsafe impl Sync for CudaKernels {}

/// Memory of a GPU.
pub(crate) struct CudaMemory {
    context: sys::CUcontext,
    address: sys::CUdeviceptr,
}

// SAFETY: as of kernels.
unsafe impl Send for CudaMemory {}
// SAFETY: as of kernels.
unsafe impl Sync for CudaMemory {}

impl CudaMemory {
    pub fn address(&self) -> u64 {
        self.address
    }
}

impl Drop for CudaMemory {
    fn drop(&mut self) {
        // SAFETY: the memory is ours, and nothing frees it twice. Errors at the end of a program do no harm.
        unsafe {
            let _ = ctx::set_current(self.context);
            let _ = result::free_sync(self.address);
        }
    }
}

fn fails(error: DriverError) -> GpuError {
    let words = error.error_string().map(|words: &CStr| words.to_string_lossy().into_owned());
    GpuError::Device(format!("CUDA: {}", words.unwrap_or_else(|_| "unknown error".into())))
}

impl CudaKernels {
    pub fn new(ordinal: usize, source: &Source) -> Result<Self, GpuError> {
        use sys::CUdevice_attribute_enum as Attribute;
        // SAFETY: the driver's library does nothing when it is loaded; loading it where it is missing would panic.
        if !unsafe { sys::is_culib_present() } {
            let message = "device=\"cuda\" needs an NVIDIA GPU and its driver (libcuda.so), which this machine has not";
            return Err(GpuError::Device(message.into()));
        }
        result::init().map_err(fails)?;
        let count = device::get_count().map_err(fails)?;
        if i32::try_from(ordinal).is_ok_and(|ordinal| ordinal >= count) {
            return Err(GpuError::Device(format!("device=\"cuda:{ordinal}\": this machine has {count} GPUs")));
        }
        let gpu = device::get(ordinal as i32).map_err(fails)?;
        // SAFETY: attributes of a device that is there; its primary context is the one of PyTorch and JAX, and stays retained.
        let (attribute, context) = unsafe {
            let attribute = |of| device::get_attribute(gpu, of).map(|x| x as usize).map_err(fails);
            (attribute, primary_ctx::retain(gpu).map_err(fails)?)
        };
        let capability = 10 * attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?
            + attribute(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
        let of_block = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?;
        let of_processor = attribute(Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?;
        // SAFETY: the context was just retained.
        unsafe { ctx::set_current(context) }.map_err(fails)?;
        let ptx = ptx(&source.text, capability)?;
        // SAFETY: the image is PTX that ends in a zero; functions are those of kernel.h.
        let (module, steps, size_of_world) = unsafe {
            let module = module::load_data(ptx.as_ptr().cast()).map_err(fails)?;
            let get = |name| module::get_function(module, name).map_err(fails);
            (module, get(c"steps".to_owned())?, get(c"world_size".to_owned())?)
        };
        let mut kernels = Self { context, module, steps, lanes: source.layout.lanes, world_size: 0, worlds_a_block: 1 };
        kernels.world_size = kernels.ask_size(size_of_world)?;
        // The lanes of a warp are those of whole worlds.
        let worlds_a_warp = 32 / source.layout.lanes;
        let choices = (worlds_a_warp..=source.layout.worlds_a_block).step_by(worlds_a_warp);
        kernels.worlds_a_block = worlds_a_block(kernels.world_size, choices, of_block, of_processor)
            .ok_or_else(|| GpuError::Option(format!(
                "a world of this model takes {} bytes of shared memory, and this GPU has {of_block}: pass a smaller rows, or device=\"cpu\"",
                kernels.world_size
            )))?;
        // SAFETY: attributes of a function that was loaded.
        unsafe {
            use sys::CUfunction_attribute_enum as Attribute;
            let bytes = (kernels.worlds_a_block * kernels.world_size) as i32;
            let set = |of, value| function::set_function_attribute(steps, of, value).map_err(fails);
            set(Attribute::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, bytes)?;
            set(Attribute::CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, 100)?;
        }
        Ok(kernels)
    }

    /// Bytes of a world, as the device's compiler lays it out.
    fn ask_size(&self, kernel: sys::CUfunction) -> Result<usize, GpuError> {
        let memory = self.allocate(4)?;
        let mut address = memory.address;
        let mut parameters = [ptr::from_mut(&mut address).cast::<c_void>()];
        // SAFETY: the kernel takes the address of one whole number.
        unsafe { launch_kernel(kernel, (1, 1, 1), (1, 1, 1), 0, ptr::null_mut(), &mut parameters) }.map_err(fails)?;
        self.synchronize()?;
        let mut bytes = [0; 4];
        self.read(&memory, &mut bytes)?;
        Ok(u32::from_ne_bytes(bytes) as usize)
    }

    fn enter(&self) -> Result<(), GpuError> {
        // SAFETY: the context stays retained.
        unsafe { ctx::set_current(self.context) }.map_err(fails)
    }

    pub fn allocate(&self, bytes: usize) -> Result<CudaMemory, GpuError> {
        self.enter()?;
        let refused =
            |error| GpuError::Device(format!("{bytes} bytes on the GPU: {}: fewer worlds may fit", fails(error)));
        // SAFETY: the memory is owned by what is returned.
        let address = unsafe { result::malloc_sync(bytes.max(4)) }.map_err(refused)?;
        let memory = CudaMemory { context: self.context, address };
        // SAFETY: there are so many bytes.
        unsafe { result::memset_d8_sync(address, 0, bytes) }.map_err(fails)?;
        Ok(memory)
    }

    pub fn write(&self, memory: &mut CudaMemory, offset: usize, bytes: &[u8]) -> Result<(), GpuError> {
        self.enter()?;
        // SAFETY: callers allocate what they write.
        unsafe { result::memcpy_htod_sync(memory.address + offset as u64, bytes) }.map_err(fails)
    }

    pub fn read(&self, memory: &CudaMemory, bytes: &mut [u8]) -> Result<(), GpuError> {
        self.enter()?;
        // SAFETY: callers allocate what they read.
        unsafe { result::memcpy_dtoh_sync(bytes, memory.address) }.map_err(fails)
    }

    /// # Safety
    /// The arguments must lead to arrays of the sizes that the kernels expect.
    pub unsafe fn steps(&self, arguments: &Arguments, stream: u64) -> Result<(), GpuError> {
        self.enter()?;
        debug_assert_eq!(size_of_val(arguments), 128);
        let mut arguments = *arguments;
        let mut parameters = [ptr::from_mut(&mut arguments).cast::<c_void>()];
        let blocks = (arguments.worlds as usize).div_ceil(self.worlds_a_block) as u32;
        let threads = (self.worlds_a_block * self.lanes) as u32;
        let bytes = (self.worlds_a_block * self.world_size) as u32;
        // SAFETY: the caller's.
        unsafe {
            launch_kernel(self.steps, (blocks, 1, 1), (threads, 1, 1), bytes, stream as sys::CUstream, &mut parameters)
        }
        .map_err(fails)
    }

    pub fn synchronize(&self) -> Result<(), GpuError> {
        self.enter()?;
        ctx::synchronize().map_err(fails)
    }

    pub fn world_size(&self) -> usize {
        self.world_size
    }
}

impl Drop for CudaKernels {
    fn drop(&mut self) {
        // SAFETY: nothing uses the module any more; the primary context is given back.
        unsafe {
            let _ = ctx::set_current(self.context);
            let _ = module::unload(self.module);
        }
    }
}

/// The number of worlds of a block: a multiprocessor should hold many worlds, and many in a block, which fetch instructions together. Measured,
/// the rate grows about as the number held times the root of those in a block.
fn worlds_a_block(
    size: usize,
    choices: impl Iterator<Item = usize>,
    of_block: usize,
    of_processor: usize,
) -> Option<usize> {
    let held = |worlds: usize| (of_processor / (worlds * size + RESERVED)).min(32) * worlds;
    choices.filter(|worlds| worlds * size <= of_block).max_by_key(|worlds| held(*worlds).pow(2) * worlds)
}

/// The kernels in PTX, from the cache if they are there.
fn ptx(text: &str, capability: usize) -> Result<Vec<u8>, GpuError> {
    let path = cached(&format!("// compute_{capability}\n{text}"), "ptx", |path| {
        let ptx = Nvrtc::get()?.compile(text, capability)?;
        std::fs::write(path, ptx).map_err(|error| GpuError::Compiler(error.to_string()))
    })?;
    let mut ptx = std::fs::read(path).map_err(|error| GpuError::Compiler(error.to_string()))?;
    ptx.push(0);
    Ok(ptx)
}
