//! Whether this processor runs the instructions that the package is compiled for.

use pyo3::PyResult;
use pyo3::exceptions::PyImportError;

/// Fails with `ImportError` on a processor without AVX2 and FMA, where the first step would die of SIGILL.
pub fn check() -> PyResult<()> {
    let missing = spatial::cpu::missing_instruction_sets();
    if missing.is_empty() {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "sapwood needs a processor with AVX2 and FMA (x86-64-v3: Intel since 2013, AMD since 2015); this one lacks {}. \
         Build it yourself for this machine: RUSTFLAGS='-C target-cpu=native' pip install --no-binary sapwood sapwood",
        missing.join(", ")
    )))
}
