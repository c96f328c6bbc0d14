//! Objects that one thread uses at a time.

use std::sync::{Mutex, MutexGuard, TryLockError};

use pyo3::PyResult;
use pyo3::exceptions::PyRuntimeError;

/// What is locked, unless another thread is using it, of which `busy` tells, or what it was used for ended in the middle, of which `aborted`
/// does.
pub fn try_lock<'a, T>(mutex: &'a Mutex<T>, busy: &'static str, aborted: &'static str) -> PyResult<MutexGuard<'a, T>> {
    mutex.try_lock().map_err(|error| {
        PyRuntimeError::new_err(match error {
            TryLockError::WouldBlock => busy,
            TryLockError::Poisoned(_) => aborted,
        })
    })
}
