//! `Batch`: parameters of its worlds.

use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Batch;
use crate::arguments::whole;
use crate::world_parameters::live;

impl Batch {
    /// Gives worlds what the live arrays of parameters show.
    pub(super) fn bring_parameters(&self, py: Python<'_>, batch: &mut batch::Batch) -> PyResult<()> {
        let before = batch.worlds_alone().count();
        if self.parameters.bring(py, batch)? { self.warn_if_worlds_alone(py, batch, before) } else { Ok(()) }
    }
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// Parameters of all worlds as live arrays.
    #[getter]
    fn parameters<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        live(slf.as_any())
    }

    /// The live array of a parameter.
    fn _parameter_array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let batch = self.lock()?;
        self.parameters.view(py, name, self.model.get(), &*batch)
    }

    /// All parameters of a world, copies.
    fn _parameters_of<'py>(
        &self,
        py: Python<'py>,
        #[pyo3(from_py_with = whole)] world: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut batch = self.lock()?;
        self.bring_parameters(py, &mut batch)?;
        self.parameters.of_world(py, self.model.get(), &*batch, world)
    }

    /// Give worlds parameters of their own.
    #[pyo3(signature = (worlds=None, **parameters))]
    fn set_parameters(
        &self,
        py: Python<'_>,
        worlds: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let mut batch = self.lock()?;
        let before = batch.worlds_alone().count();
        self.parameters.set(py, self.model.get(), &mut *batch, worlds, parameters)?;
        self.warn_if_worlds_alone(py, &batch, before)
    }

    /// Take parameters of their own back.
    #[pyo3(signature = (worlds=None))]
    fn reset_parameters(&self, py: Python<'_>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let mut batch = self.lock()?;
        self.parameters.reset(py, &mut *batch, worlds)
    }
}
