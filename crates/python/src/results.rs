//! Results as the named tuples of `sapwood/_results.py`.

use numpy::{Element, PyArray, PyArray1, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

macro_rules! named_tuples {
    ($($function:ident => $class:literal,)*) => {$(
        #[doc = concat!("`sapwood._results.", $class, "` of these fields.")]
        pub fn $function<'py>(
            py: Python<'py>,
            fields: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
        ) -> PyResult<Bound<'py, PyAny>> {
            static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
            CLASS.import(py, "sapwood._results", $class)?.call1(fields.into_pyobject(py)?)
        }
    )*};
}

named_tuples! {
    joint => "Joint",
    warning => "ModelWarning",
    keyframe => "Keyframe",
    poses => "Poses",
    energy => "Energy",
    ray_hit => "RayHit",
    ray_hits => "RayHits",
    distance => "Distance",
    step_jacobians => "StepJacobians",
    sensor_jacobians => "SensorJacobians",
    step_gradients => "StepGradients",
    batch_contacts => "BatchContacts",
    batch_stats => "BatchStats",
    inverse_kinematics => "InverseKinematics",
    solution => "Solution",
    spd_solution => "SpdSolution",
}

/// `sapwood._results.ContactForce` of a model and these fields.
pub fn contact_force<'py>(
    py: Python<'py>,
    fields: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<Bound<'py, PyAny>> {
    static OF: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let make = || PyResult::Ok(py.import("sapwood._results")?.getattr("ContactForce")?.getattr("_of")?.unbind());
    OF.get_or_try_init(py, make)?.bind(py).call1(fields.into_pyobject(py)?)
}

/// `sapwood._results.Stats` of a step.
pub fn stats<'py>(py: Python<'py>, s: &sim::Stats) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let fields = PyDict::new(py);
    for (name, value) in s.named() {
        match value {
            sim::Statistic::Count(count) => fields.set_item(name, count)?,
            sim::Statistic::Number(number) => fields.set_item(name, number)?,
        }
    }
    CLASS.import(py, "sapwood._results", "Stats")?.call((), Some(&fields))
}

/// The limits of a drive: one number where they are the same in both directions, else the least and the greatest.
pub fn effort_limit(py: Python<'_>, limit: Option<(f64, f64)>) -> PyResult<Bound<'_, PyAny>> {
    Ok(match limit {
        Some((low, high)) if low == -high => high.into_pyobject(py)?.into_any(),
        limit => limit.into_pyobject(py)?.into_any(),
    })
}

/// A vector of a model, which Python cannot write into and which says that a parameter can be.
pub fn model_numbers<'py>(array: Bound<'py, PyArray1<f64>>, parameter: &str) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(array.py(), "sapwood._model_numbers", "ModelNumbers")?;
    let numbers = read_only(array).call_method1("view", (class,))?;
    numbers.setattr("parameter", parameter)?;
    Ok(numbers)
}

/// An array that shows a number of the model or of the last step: writing into the copy would do nothing, so numpy refuses it.
pub fn read_only<'py, T: Element, D: numpy::ndarray::Dimension>(
    array: Bound<'py, PyArray<T, D>>,
) -> Bound<'py, PyArray<T, D>> {
    array.readwrite().make_nonwriteable();
    array
}
