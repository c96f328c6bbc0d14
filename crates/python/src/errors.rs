//! Errors of the crates as Python exceptions. The classes are in `sapwood/_errors.py`.

use std::io::ErrorKind;

use batch::BatchError;
use formats::LoadError;
use gpu::GpuError;
use pyo3::exceptions::{
    PyIndexError, PyKeyboardInterrupt, PyMemoryError, PyNotImplementedError, PyOSError, PyRuntimeError, PyUserWarning,
    PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sim::SimulationError;
use support::UnwrittenFile;

/// `sapwood.ModelError`, or the exception that was raised while it was made.
pub fn model_error(py: Python<'_>, error: &LoadError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    model_error_of(py, &CLASS, "ModelError", error)
}

/// The `sapwood.ModelError` of a model file that is not there: a `FileNotFoundError`, too.
pub fn missing_model(py: Python<'_>, error: &LoadError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    model_error_of(py, &CLASS, "MissingModelError", error)
}

fn model_error_of(py: Python<'_>, class: &PyOnceLock<Py<PyType>>, name: &str, error: &LoadError) -> PyErr {
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let line = (error.line() > 0).then_some(error.line());
    let arguments = (error.to_string(), some(error.file()), line, some(error.element()));
    match class.import(py, "sapwood._errors", name).and_then(|class| class.call1(arguments)) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// `sapwood.UnknownNameError` of things of one kind, called `word` and `plural`, of which some have the names `known`.
pub fn unknown_name(py: Python<'_>, (word, plural): (&str, &str), name: &str, known: Vec<&str>, count: usize) -> PyErr {
    let arguments = (word, plural, name, known, count);
    let make = || py.import("sapwood._errors")?.getattr("unknown_name")?.call1(arguments);
    match make() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// `sapwood.UnknownNameError` of a name that a thing of another kind has.
pub fn name_of_another(py: Python<'_>, word: &str, name: &str, other: &str) -> PyErr {
    let make = || py.import("sapwood._errors")?.getattr("name_of_another")?.call1((word, name, other));
    match make() {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// `sapwood.SimulationError` for steps that fail, `ValueError` for what the caller passed.
pub fn simulation_error(py: Python<'_>, error: &SimulationError) -> PyErr {
    match *error {
        SimulationError::Keyframe { ref name, .. } if name.parse::<i64>().is_ok() => {
            PyIndexError::new_err(error.to_string())
        }
        SimulationError::Keyframe { ref name, ref known } => {
            let names = known.iter().map(String::as_str).filter(|known| !known.is_empty()).collect();
            unknown_name(py, ("keyframe", "keyframes"), name, names, known.len())
        }
        SimulationError::Diverged { step, time, .. }
        | SimulationError::Singular { step, time, .. }
        | SimulationError::Contact { step, time, .. }
        | SimulationError::TooMany { step, time, .. }
        | SimulationError::FreeMotion { step, time, .. }
        | SimulationError::Soft { step, time, .. }
        | SimulationError::NoJacobian { step, time, .. } => {
            failed(py, error.to_string(), (Some(time), Some(step)), None)
        }
        SimulationError::Interrupted { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        SimulationError::Option { .. }
        | SimulationError::Times { .. }
        | SimulationError::Passed { .. }
        | SimulationError::Scene { .. }
        | SimulationError::Size { .. }
        | SimulationError::TooLarge { .. }
        | SimulationError::NotFinite { .. }
        | SimulationError::NoRotation { .. }
        | SimulationError::SoftSurface(_)
        | SimulationError::Attachment { .. }
        | SimulationError::Pd(_) => PyValueError::new_err(error.to_string()),
    }
}

/// `ValueError` for arguments, `sapwood.SimulationError` (of no time and step) for a solve that fails.
pub fn solver_error(py: Python<'_>, error: &sap::Error) -> PyErr {
    match error {
        sap::Error::Dimension { .. } | sap::Error::Value { .. } => PyValueError::new_err(error.to_string()),
        sap::Error::NotConverged { .. }
        | sap::Error::ContactSpace { .. }
        | sap::Error::Factorization { .. }
        | sap::Error::NotFinite { .. } => failed(py, error.to_string(), (None, None), None),
        sap::Error::Interrupted => PyKeyboardInterrupt::new_err(error.to_string()),
    }
}

/// The error of a batch on a device.
pub fn gpu_error(error: &GpuError) -> PyErr {
    let message = error.to_string();
    match error {
        GpuError::Missing(_) => PyNotImplementedError::new_err(message),
        GpuError::Option(_) | GpuError::Parameters { .. } => PyValueError::new_err(message),
        _ => PyRuntimeError::new_err(message),
    }
}

/// What a batch cannot do: `ValueError` for what the caller passed, `MemoryError` for too many worlds.
pub fn batch_error(py: Python<'_>, error: &BatchError) -> PyErr {
    match error {
        BatchError::Simulation(error) => simulation_error(py, error),
        BatchError::Memory { .. } => PyMemoryError::new_err(error.to_string()),
        BatchError::State { what, .. } => {
            PyValueError::new_err(format!("the state has {what}: expected that of the batch, batch.pd(kp, kd, target)"))
        }
        BatchError::Interrupted => PyKeyboardInterrupt::new_err(error.to_string()),
        BatchError::Worlds { source, .. } => simulation_error(py, source),
        _ => PyValueError::new_err(error.to_string()),
    }
}

/// `sapwood.SimulationError` of worlds of a batch of so many; there is at least one.
pub fn worlds_failed(py: Python<'_>, errors: &[(usize, &SimulationError)], of: usize) -> PyErr {
    const LISTED: usize = 10;
    let worlds: Vec<usize> = errors.iter().map(|(world, _)| *world).collect();
    let listed: Vec<String> = worlds.iter().take(LISTED).map(ToString::to_string).collect();
    let more = if worlds.len() > LISTED { ", …" } else { "" };
    let (count, listed) = (worlds.len(), listed.join(", "));
    let Some((first, reason)) = errors.first() else { return failed(py, String::new(), (None, None), None) };
    let message = format!("{count} of {of} worlds failed ({listed}{more}); world {first}: {reason}");
    let (time, step) = match **reason {
        SimulationError::Diverged { step, time, .. }
        | SimulationError::Singular { step, time, .. }
        | SimulationError::Contact { step, time, .. }
        | SimulationError::TooMany { step, time, .. }
        | SimulationError::FreeMotion { step, time, .. }
        | SimulationError::Soft { step, time, .. }
        | SimulationError::NotFinite { step, time, .. }
        | SimulationError::NoRotation { step, time, .. }
        | SimulationError::NoJacobian { step, time, .. } => (Some(time), Some(step)),
        _ => (None, None),
    };
    failed(py, message, (time, step), Some(worlds))
}

fn failed(
    py: Python<'_>,
    message: String,
    (time, step): (Option<f64>, Option<u64>),
    worlds: Option<Vec<usize>>,
) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let arguments = (message, time, step, worlds);
    match CLASS.import(py, "sapwood._errors", "SimulationError").and_then(|class| class.call1(arguments)) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// `OSError` of a file, of the class that its reason has (`IsADirectoryError`, …).
pub fn unwritten_file(UnwrittenFile { path, error }: &UnwrittenFile) -> PyErr {
    // Numbers that POSIX gives to reasons that no system call returned.
    const FAILED: i32 = 5;
    const IS_A_FOLDER: i32 = 21;
    const INVALID: i32 = 22;
    let number = error.raw_os_error().unwrap_or(match error.kind() {
        ErrorKind::IsADirectory => IS_A_FOLDER,
        ErrorKind::InvalidInput => INVALID,
        _ => FAILED,
    });
    let reason = error.to_string();
    let reason = reason.split(" (os error").next().unwrap_or_default().to_owned();
    PyOSError::new_err((number, reason, path.display().to_string()))
}

/// A `UserWarning`.
pub fn warn(py: Python<'_>, text: &str) -> PyResult<()> {
    let text = std::ffi::CString::new(text).unwrap_or_default();
    PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)
}
