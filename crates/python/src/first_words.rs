//! Attributes and arguments that users of other engines type: errors that say what they are called here, from the table of
//! `sapwood/_first_words.py`.

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyFloat, PyString};

use crate::arguments::whole;

/// The error of an attribute that an object does not have.
pub fn no_attribute(object: &Bound<'_, PyAny>, name: &str) -> PyErr {
    let make = || {
        let class = object.get_type();
        let owner = class.name()?;
        if name.starts_with('_') {
            // What looks for special methods gets no advice.
            return Ok(PyAttributeError::new_err(format!("'{owner}' object has no attribute '{name}'")));
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
    match object.get_type().hasattr(name)? {
        true => Err(error),
        false => Err(no_attribute(object, name.to_str()?)),
    }
}

/// The error of arguments that a function does not take, if there are any; `known` are those that it does.
pub fn no_arguments(function: &str, given: Option<&Bound<'_, PyDict>>, known: &[&str]) -> PyResult<()> {
    let Some((name, _)) = given.and_then(|given| given.iter().next()) else { return Ok(()) };
    let module = name.py().import("sapwood._first_words")?;
    Err(PyErr::from_value(module.getattr("argument_error")?.call1((function, name, known))?))
}

/// A number of steps; a time is none.
pub fn steps(value: &Bound<'_, PyAny>) -> PyResult<i64> {
    whole(value).map_err(|error| {
        if !value.is_instance_of::<PyFloat>() {
            return error;
        }
        let expected = "expected a number of steps, each as long as `timestep`; `advance_to` takes a time";
        PyTypeError::new_err(format!("n is {value}: {expected}"))
    })
}
