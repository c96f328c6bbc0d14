//! The `sapwood` command in the interpreter's process (`python/sapwood/__main__.py`).

use std::ffi::OsString;

use pyo3::prelude::*;

/// Runs the command with these words, the first of which is its name, and returns its exit code. Signals are to have their default actions.
#[stubdoc::documented]
#[pyfunction]
pub fn _command(py: Python<'_>, words: Vec<OsString>) -> u8 {
    py.detach(|| cli::command(words))
}
