//! `sapwood.scenes`.

use models::scenes::{FORMS, Scene, UnknownScene, mjcf};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::load::load_text;
use crate::model::Model;

/// The forms of the names of scenes.
pub fn forms(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, FORMS)
}

/// A scene as MJCF text.
#[stubdoc::documented]
#[pyfunction]
pub fn scene_mjcf(name: &str) -> PyResult<String> {
    let scene: Scene = name.parse().map_err(|error: UnknownScene| PyValueError::new_err(error.to_string()))?;
    Ok(mjcf(scene))
}

/// A scene as a model.
#[stubdoc::documented]
#[pyfunction]
pub fn scene(py: Python<'_>, name: &str) -> PyResult<Model> {
    load_text(py, &scene_mjcf(name)?)
}
