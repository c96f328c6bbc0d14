//! `Batch`: parameters of its worlds.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::Batch;
use crate::arguments::whole;
use crate::parameters;
use crate::world_parameters::live;

impl Batch {
    /// Gives worlds what the live arrays of parameters show.
    pub(super) fn bring_parameters(&self, py: Python<'_>, batch: &mut batch::Batch) -> PyResult<()> {
        let changed = self.parameters.changed(py, self.worlds)?;
        if changed.is_empty() {
            return Ok(());
        }
        let before = batch.worlds_alone().count();
        let worlds = changed.into_iter().collect();
        let error = |(world, error)| PyValueError::new_err(format!("world {world}: parameters.{error}"));
        batch.set_parameters_of(worlds).map_err(error)?;
        self.parameters.note(py)?;
        self.warn_if_worlds_alone(py, batch, before)
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
        let world = self.world(world)?;
        let model = self.model.get();
        let mut batch = self.lock()?;
        self.bring_parameters(py, &mut batch)?;
        parameters::tuple(py, &batch.parameters(world), model.inner(), model.scene())
    }

    /// Give worlds parameters of their own.
    #[pyo3(signature = (worlds=None, **parameters))]
    fn set_parameters(
        &self,
        py: Python<'_>,
        worlds: Option<&Bound<'_, PyAny>>,
        parameters: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let worlds = self.selected(worlds)?;
        let model = self.model.get();
        let parameters = parameters::of_worlds(parameters, model.inner(), model.scene(), worlds.len())?;
        let mut batch = self.lock()?;
        self.bring_parameters(py, &mut batch)?;
        let before = batch.worlds_alone().count();
        let own = &mut *batch;
        let given = worlds.iter().copied().zip(parameters).collect();
        let outcome = py.detach(|| own.set_parameters_of(given));
        outcome.map_err(|(world, error)| PyValueError::new_err(format!("world {world}: {error}")))?;
        self.parameters.write(py, &*batch, &worlds)?;
        self.warn_if_worlds_alone(py, &batch, before)
    }

    /// Take parameters of their own back.
    #[pyo3(signature = (worlds=None))]
    fn reset_parameters(&self, py: Python<'_>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let worlds = self.selected(worlds)?;
        let mut batch = self.lock()?;
        batch.clear_world_models(worlds.iter().copied());
        self.parameters.write(py, &*batch, &worlds)
    }
}
