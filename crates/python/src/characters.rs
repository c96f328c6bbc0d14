//! `sapwood.characters`.

use models::characters::{Character, Options, UnknownCharacter, mjcf};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

use crate::load::load_text;
use crate::model::Model;

/// The names of the characters.
pub fn names(py: Python<'_>) -> PyResult<Bound<'_, PyTuple>> {
    PyTuple::new(py, Character::ALL.map(Character::name))
}

/// A character as MJCF text.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (name, *, ground=true, self_collision=false))]
pub fn character_mjcf(name: &str, ground: bool, self_collision: bool) -> PyResult<String> {
    let character: Character =
        name.parse().map_err(|error: UnknownCharacter| PyValueError::new_err(error.to_string()))?;
    Ok(mjcf(character, &Options { ground, self_collision }))
}

/// A character as a model.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (name, *, ground=true, self_collision=false))]
pub fn character(py: Python<'_>, name: &str, ground: bool, self_collision: bool) -> PyResult<Model> {
    load_text(py, &character_mjcf(name, ground, self_collision)?)
}
