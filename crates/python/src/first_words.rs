//! Attributes and arguments that users of other engines type: errors that say what they are called here, from the table of
//! `sapwood/_first_words.py`.

use pyo3::exceptions::{PyAttributeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString, PyTuple};

use support::legible;

use crate::arguments::whole;

/// The error of an attribute that an object does not have.
pub fn no_attribute(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let make = || {
        let class = object.get_type();
        let owner = class.name()?;
        if name.starts_with('_') {
            // What looks for special methods gets no advice.
            return Ok(PyAttributeError::new_err(legible(&format!("'{owner}' object has no attribute '{name}'"))));
        }
        let arguments = (owner, name, class.dir()?);
        let error = object.py().import("sapwood._first_words")?.getattr("attribute_error")?.call1(arguments)?;
        Ok(PyErr::from_value(error))
    };
    make().unwrap_or_else(|error: PyErr| error)
}

/// Sets an attribute as Python does; a name that the object does not have is an error with advice.
pub fn set_attribute(object: &Bound<'_, PyAny>, name: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyResult<()> {
    // SAFETY: all three are objects that are alive, and the lock is held.
    let outcome = unsafe { ffi::PyObject_GenericSetAttr(object.as_ptr(), name.as_ptr(), value.as_ptr()) };
    if outcome == 0 {
        return Ok(());
    }
    let error = PyErr::fetch(object.py());
    let of_class = object.get_type();
    if !of_class.hasattr(name)? {
        return Err(no_attribute(object, name.to_str()?));
    }
    if !error.is_instance_of::<PyAttributeError>(object.py()) {
        return Err(error);
    }
    let module = object.py().import("sapwood._first_words")?;
    let advised = module.getattr("read_only_error")?.call1((of_class.name()?, name))?;
    Err(if advised.is_none() { error } else { PyErr::from_value(advised) })
}

/// The error of arguments that a function does not take, if there are any; `known` are those that it does.
pub fn no_arguments(function: &str, given: Option<&Bound<'_, PyDict>>, known: &[&str]) -> PyResult<()> {
    let Some((name, _)) = given.and_then(|given| given.iter().next()) else { return Ok(()) };
    let module = name.py().import("sapwood._first_words")?;
    Err(PyErr::from_value(module.getattr("argument_error")?.call1((function, name, known))?))
}

/// The three arguments that PD control needs, or the error of those that it does not take or has not got.
pub fn pd_arguments<'a, 'py>(
    given: [Option<&'a Bound<'py, PyAny>>; 3],
    others: Option<&Bound<'_, PyDict>>,
) -> PyResult<[&'a Bound<'py, PyAny>; 3]> {
    no_arguments("pd", others, &["kp", "kd", "target", "target_velocity", "effort_limit"])?;
    match given {
        [Some(kp), Some(kd), Some(target)] => Ok([kp, kd, target]),
        _ => {
            Err(PyTypeError::new_err("pd() takes at least kp, kd and target: pd(kp, kd, sim.q) holds the present pose"))
        }
    }
}

/// What came of a target, with a word about its layout if that is wrong.
pub fn pd_target(target: &Bound<'_, PyAny>, found: PyResult<Vec<f64>>) -> PyResult<Vec<f64>> {
    let py = target.py();
    found.map_err(|error| {
        match error.is_instance_of::<PyValueError>(py) && error.value(py).to_string().contains("shape") {
            true => PyValueError::new_err(format!("{}; it is laid out as `q`", error.value(py))),
            false => error,
        }
    })
}

/// The error of arguments that come without their names, if there are any; `example` is how to give one.
pub fn no_positions(function: &str, given: &Bound<'_, PyTuple>, example: &str) -> PyResult<()> {
    match given.len() {
        0 => Ok(()),
        _ => Err(PyTypeError::new_err(format!("{function}() takes options by name: {example}"))),
    }
}

/// A number of steps; a time is none.
pub fn steps(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    whole(value).map_err(|error| {
        if value.is_instance_of::<PyFloat>() {
            let expected = "expected a number of steps, each as long as `timestep`; `advance_to` takes a time";
            return PyTypeError::new_err(format!("n is {value}: {expected}"));
        }
        if value.hasattr("__len__").unwrap_or(false) {
            return PyTypeError::new_err("n: expected a number of steps; controls are set before, ctrl[:] = …");
        }
        error
    })
}
