//! Errors of the crates as Python exceptions. The classes are in `sapwood/_errors.py`.

use formats::LoadError;
use pyo3::exceptions::{PyKeyboardInterrupt, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sim::SimulationError;

/// `sapwood.ModelError`, or the exception that was raised while it was made.
pub fn model_error(py: Python<'_>, error: &LoadError) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let some = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let line = (error.line() > 0).then_some(error.line());
    let arguments = (error.to_string(), some(error.file()), line, some(error.element()));
    match CLASS.import(py, "sapwood._errors", "ModelError").and_then(|class| class.call1(arguments)) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}

/// `sapwood.SimulationError` for steps that fail, `ValueError` for what the caller passed.
pub fn simulation_error(py: Python<'_>, error: &SimulationError) -> PyErr {
    match *error {
        SimulationError::Diverged { step, time, .. }
        | SimulationError::Contact { step, time, .. }
        | SimulationError::TooMany { step, time, .. }
        | SimulationError::FreeMotion { step, time, .. }
        | SimulationError::NoJacobian { step, time, .. } => failed(py, error.to_string(), Some(time), Some(step)),
        SimulationError::Interrupted { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        SimulationError::Option { .. }
        | SimulationError::Scene { .. }
        | SimulationError::Size { .. }
        | SimulationError::TooLarge { .. }
        | SimulationError::NotFinite { .. }
        | SimulationError::Keyframe { .. }
        | SimulationError::Pd(_) => PyValueError::new_err(error.to_string()),
    }
}

/// `ValueError` for arguments, `sapwood.SimulationError` (of no time and step) for a solve that fails.
pub fn solver_error(py: Python<'_>, error: &sap::Error) -> PyErr {
    match error {
        sap::Error::Dimension { .. } | sap::Error::Value { .. } => PyValueError::new_err(error.to_string()),
        sap::Error::NotConverged { .. } | sap::Error::Factorization { .. } | sap::Error::NotFinite { .. } => {
            failed(py, error.to_string(), None, None)
        }
        sap::Error::Interrupted => PyKeyboardInterrupt::new_err(error.to_string()),
    }
}

fn failed(py: Python<'_>, message: String, time: Option<f64>, step: Option<u64>) -> PyErr {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    match CLASS.import(py, "sapwood._errors", "SimulationError").and_then(|class| class.call1((message, time, step))) {
        Ok(value) => PyErr::from_value(value),
        Err(error) => error,
    }
}
