//! Results as the named tuples of `sapwood/_results.py`.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};

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
    stats => "Stats",
    energy => "Energy",
    step_jacobians => "StepJacobians",
    solution => "Solution",
    spd_solution => "SpdSolution",
}
