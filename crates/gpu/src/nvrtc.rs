//! NVIDIA's run-time compiler: kernels to PTX. It is found when it is needed, and needs neither a driver nor a GPU.

use std::ffi::{CString, c_char, c_int};
use std::path::PathBuf;
use std::ptr;
use std::sync::OnceLock;

use libloading::{Library, Symbol};

use crate::GpuError;

type Program = *mut std::ffi::c_void;

/// The compiler.
pub struct Nvrtc {
    library: Library,
}

/// How to get it.
const ADVICE: &str = "NVRTC, CUDA's run-time compiler, is missing: pip install nvidia-cuda-nvrtc (or -cu12), or set SAPWOOD_NVRTC to \
                      the path of libnvrtc.so";

impl Nvrtc {
    /// The compiler of this machine.
    ///
    /// # Errors
    /// When it is not there.
    pub fn get() -> Result<&'static Self, GpuError> {
        static FOUND: OnceLock<Option<Nvrtc>> = OnceLock::new();
        FOUND.get_or_init(Self::find).as_ref().ok_or_else(|| GpuError::Device(ADVICE.into()))
    }

    fn find() -> Option<Self> {
        let own = std::env::var_os("SAPWOOD_NVRTC").map(PathBuf::from);
        let names = ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so"];
        let mut choices = own.into_iter().chain(names.iter().map(PathBuf::from));
        // SAFETY: the library of this name does nothing when it is loaded.
        choices.find_map(|path| unsafe { Library::new(path) }.ok()).map(|library| Self { library })
    }

    /// Compiles kernels to PTX for a virtual architecture, `90` for compute_90.
    ///
    /// # Errors
    /// When the compiler refuses; its words are in the error.
    pub fn compile(&self, text: &str, architecture: usize) -> Result<Vec<u8>, GpuError> {
        let broken = |error: libloading::Error| GpuError::Compiler(error.to_string());
        let text = CString::new(text).map_err(|error| GpuError::Compiler(error.to_string()))?;
        let architecture = format!("--gpu-architecture=compute_{architecture}");
        let flags =
            ["--std=c++17", "-ftz=true", "-prec-div=false", "-prec-sqrt=false", "-default-device", &architecture];
        let flags: Vec<CString> = flags.iter().filter_map(|flag| CString::new(*flag).ok()).collect();
        let flags: Vec<*const c_char> = flags.iter().map(|flag| flag.as_ptr()).collect();
        // SAFETY: the signatures are those of nvrtc.h, which no version has changed.
        unsafe {
            type Create = unsafe extern "C" fn(
                *mut Program,
                *const c_char,
                *const c_char,
                c_int,
                *const *const c_char,
                *const *const c_char,
            ) -> c_int;
            let create: Symbol<'_, Create> = self.library.get(b"nvrtcCreateProgram\0").map_err(broken)?;
            type Compile = unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int;
            let compile: Symbol<'_, Compile> = self.library.get(b"nvrtcCompileProgram\0").map_err(broken)?;
            let destroy: Symbol<'_, unsafe extern "C" fn(*mut Program) -> c_int> =
                self.library.get(b"nvrtcDestroyProgram\0").map_err(broken)?;
            let mut program: Program = ptr::null_mut();
            if create(&mut program, text.as_ptr(), c"sapwood.cu".as_ptr(), 0, ptr::null(), ptr::null()) != 0 {
                return Err(GpuError::Compiler("NVRTC makes no program".into()));
            }
            let code = compile(program, flags.len() as c_int, flags.as_ptr());
            let result = if code == 0 {
                self.output(program, b"nvrtcGetPTXSize\0", b"nvrtcGetPTX\0")
            } else {
                let log = self.output(program, b"nvrtcGetProgramLogSize\0", b"nvrtcGetProgramLog\0")?;
                Err(GpuError::Compiler(String::from_utf8_lossy(&log).into_owned()))
            };
            destroy(&mut program);
            result
        }
    }

    /// What two functions of the compiler give: a size and so many bytes.
    ///
    /// # Safety
    /// The functions must have these signatures, and the program be one.
    unsafe fn output(&self, program: Program, size: &[u8], get: &[u8]) -> Result<Vec<u8>, GpuError> {
        let broken = |error: libloading::Error| GpuError::Compiler(error.to_string());
        // SAFETY: the caller's.
        unsafe {
            let size: Symbol<'_, unsafe extern "C" fn(Program, *mut usize) -> c_int> =
                self.library.get(size).map_err(broken)?;
            let get: Symbol<'_, unsafe extern "C" fn(Program, *mut c_char) -> c_int> =
                self.library.get(get).map_err(broken)?;
            let mut bytes = 0;
            size(program, &mut bytes);
            let mut output = vec![0_u8; bytes];
            get(program, output.as_mut_ptr().cast());
            Ok(output)
        }
    }
}
