//! The kernels compiled for the host by its C++ compiler: for tests of everything but the GPU.

use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::Library;

use crate::{Arguments, GpuError};

/// The kernels of a model in a library of the host.
pub struct HostKernels {
    library: Library,
}

impl HostKernels {
    /// Compiles the kernels.
    ///
    /// # Errors
    /// When there is no C++ compiler, or it refuses.
    pub fn new(text: &str, order: Order) -> Result<Self, GpuError> {
        let define = match order {
            Order::Forwards => "",
            Order::Backwards => "#define REVERSE\n",
            Order::Shuffled => "#define SHUFFLE\n",
        };
        let text = format!("#include <cstddef>\n{define}{text}");
        let path = cached(&text, "so", |path| compile(&text, path))?;
        // SAFETY: the library was compiled from our own text, and does nothing when it is loaded.
        let library = unsafe { Library::new(&path) };
        Ok(Self { library: library.map_err(|error| GpuError::Compiler(error.to_string()))? })
    }

    /// Makes steps.
    ///
    /// # Safety
    /// The arguments must lead to arrays of the sizes that the kernels expect.
    pub unsafe fn steps(&self, arguments: &Arguments) -> Result<(), GpuError> {
        // SAFETY: `steps` of kernel.h has this signature.
        unsafe {
            let steps = self.library.get::<unsafe extern "C" fn(*const Arguments)>(b"steps\0");
            steps.map_err(|error| GpuError::Compiler(error.to_string()))?(arguments);
        }
        Ok(())
    }

    /// Barriers, and rounds of loops over items by the lanes of a world, that a GPU would have made for the steps of this thread.
    pub fn work(&self) -> [i64; 2] {
        let mut work = [0; 2];
        // SAFETY: `count_work` of kernel.h has this signature.
        unsafe {
            if let Ok(count) = self.library.get::<unsafe extern "C" fn(*mut i64)>(b"count_work\0") {
                count(work.as_mut_ptr());
            }
        }
        work
    }

    /// Bytes of shared memory that a world would take.
    pub fn world_size(&self) -> usize {
        // SAFETY: `world_size` of kernel.h has this signature.
        let size = unsafe { self.library.get::<unsafe extern "C" fn() -> i32>(b"world_size\0").map(|size| size()) };
        size.map_or(0, |size| size as usize)
    }
}

/// The order in which the items of a phase are made: none may matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// One after the other.
    #[default]
    Forwards,
    /// From the last to the first.
    Backwards,
    /// Mixed up.
    Shuffled,
}

fn compile(text: &str, path: &Path) -> Result<(), GpuError> {
    let source = path.with_extension("cpp");
    let fails = |error: std::io::Error| GpuError::Compiler(error.to_string());
    std::fs::write(&source, text).map_err(fails)?;
    let compiler = std::env::var_os("CXX").unwrap_or_else(|| "c++".into());
    // Most of the time of tests goes into compilation, and few steps are made of each kernel.
    let flags = ["-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-o"];
    let output = Command::new(&compiler).args(flags).arg(path).arg(&source).output().map_err(|error| {
        GpuError::Compiler(format!("no C++ compiler {compiler:?} ({error}): device=\"host\" needs one"))
    })?;
    if output.status.success() {
        return Ok(());
    }
    Err(GpuError::Compiler(String::from_utf8_lossy(&output.stderr).into_owned()))
}

/// A file of the cache that is made of this text: made by `make` if it is not there. It is written beside its place and then moved there, so
/// that no other process sees a part of it.
pub(crate) fn cached(
    text: &str,
    extension: &str,
    make: impl FnOnce(&Path) -> Result<(), GpuError>,
) -> Result<PathBuf, GpuError> {
    let fails = |error: std::io::Error| GpuError::Compiler(format!("the cache of kernels: {error}"));
    let folder = folder();
    std::fs::create_dir_all(&folder).map_err(fails)?;
    let path = folder.join(format!("{:016x}.{extension}", hash(text)));
    if !path.exists() {
        let own = folder.join(format!(
            "{:016x}-{}-{:?}.{extension}",
            hash(text),
            std::process::id(),
            std::thread::current().id()
        ));
        make(&own)?;
        std::fs::rename(&own, &path).map_err(fails)?;
    }
    Ok(path)
}

/// Where compiled kernels are kept: `SAPWOOD_CACHE`, or the user's cache.
fn folder() -> PathBuf {
    let of = |name: &str| std::env::var_os(name).filter(|path| !path.is_empty()).map(PathBuf::from);
    let own = of("SAPWOOD_CACHE")
        .or_else(|| of("XDG_CACHE_HOME").map(|path| path.join("sapwood")))
        .or_else(|| of("HOME").map(|path| path.join(".cache/sapwood")));
    own.unwrap_or_else(|| std::env::temp_dir().join("sapwood")).join("kernels")
}

/// The hash by Fowler, Noll and Vo, 1a.
fn hash(text: &str) -> u64 {
    let fold = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, fold)
}
