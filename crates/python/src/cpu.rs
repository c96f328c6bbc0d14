//! Whether this processor runs the instructions that the package is compiled for.

use pyo3::PyResult;

/// Fails with `ImportError` on a processor without AVX2 and FMA, where the first step would die of SIGILL.
///
/// Asks `cpuid` itself: `is_x86_feature_detected!` is constant in code compiled for these instructions.
#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
pub fn check() -> PyResult<()> {
    use pyo3::exceptions::PyImportError;

    let missing = missing_features();
    if missing.is_empty() {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "sapwood needs a processor with AVX2 and FMA (x86-64-v3: Intel since 2013, AMD since 2015); this one lacks {}. \
         Build it yourself for this machine: RUSTFLAGS='-C target-cpu=native' pip install --no-binary sapwood sapwood",
        missing.join(", ")
    )))
}

/// Compiled for no more than this architecture always has.
#[cfg(not(all(target_arch = "x86_64", target_feature = "avx2")))]
pub fn check() -> PyResult<()> {
    Ok(())
}

#[cfg(all(target_arch = "x86_64", target_feature = "avx2"))]
fn missing_features() -> Vec<&'static str> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};

    let leaves = __cpuid(0).eax;
    let basic = __cpuid(1).ecx;
    let extended = if leaves >= 7 { __cpuid_count(7, 0).ebx } else { 0 };
    let features = [
        ("FMA", basic & (1 << 12) != 0),
        ("AVX", basic & (1 << 28) != 0),
        ("AVX2", extended & (1 << 5) != 0),
        ("BMI2", extended & (1 << 8) != 0),
    ];
    features.into_iter().filter(|&(_, present)| !present).map(|(name, _)| name).collect()
}
