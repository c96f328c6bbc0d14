//! `Batch`: parameters of its worlds.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use sim::{Parameter, Parameters};

use super::Batch;
use crate::arguments::whole;
use crate::live::LiveArray;
use crate::parameters;

/// The parameters of all worlds as live arrays, those that somebody has asked for.
#[derive(Default)]
pub struct WorldParameters {
    arrays: [OnceLock<WorldArray>; Parameter::ALL.len()],
}

struct WorldArray {
    array: LiveArray,
    /// What the worlds have by now, row by row.
    applied: Mutex<Vec<f64>>,
}

impl WorldParameters {
    /// The arrays that there are.
    fn made(&self) -> impl Iterator<Item = (Parameter, &WorldArray)> {
        Parameter::ALL.into_iter().zip(&self.arrays).filter_map(|(parameter, array)| Some((parameter, array.get()?)))
    }

    /// What worlds have been given in the arrays since this was last asked.
    fn changed(&self, py: Python<'_>, worlds: usize) -> PyResult<BTreeMap<usize, Parameters>> {
        let mut changed: BTreeMap<usize, Parameters> = BTreeMap::new();
        for (parameter, WorldArray { array, applied }) in self.made() {
            let applied = applied.lock().unwrap_or_else(PoisonError::into_inner);
            if !array.differs(py, &applied) {
                continue;
            }
            let mut now = vec![0.0; applied.len()];
            array.read(py, &mut now)?;
            let width = (now.len() / worlds).max(1);
            for (world, (now, applied)) in now.chunks_exact(width).zip(applied.chunks_exact(width)).enumerate() {
                if now.iter().zip(applied).any(|(now, applied)| now.to_bits() != applied.to_bits()) {
                    changed.entry(world).or_default().set(parameter, now.to_vec());
                }
            }
        }
        Ok(changed)
    }

    /// Notes that worlds have what the arrays show.
    fn note(&self, py: Python<'_>) -> PyResult<()> {
        let read = |(_, of): (Parameter, &WorldArray)| {
            of.array.read(py, &mut of.applied.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.made().try_for_each(read)
    }

    /// Writes what worlds have to the arrays.
    fn write(&self, py: Python<'_>, batch: &batch::Batch, worlds: &[usize]) -> PyResult<()> {
        for (parameter, WorldArray { array, applied }) in self.made() {
            let mut applied = applied.lock().unwrap_or_else(PoisonError::into_inner);
            let width = applied.len() / batch.worlds();
            for &world in worlds {
                let values = batch.parameter(world, parameter);
                array.write_row(py, world, &values)?;
                applied[world * width..(world + 1) * width].copy_from_slice(&values);
            }
        }
        Ok(())
    }
}

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

    fn live_parameter(&self, py: Python<'_>, parameter: Parameter) -> PyResult<&WorldArray> {
        let place = Parameter::ALL.iter().position(|known| *known == parameter).unwrap_or_default();
        let slot = &self.parameters.arrays[place];
        if slot.get().is_none() {
            let batch = self.lock()?;
            let array = match parameter.shape(batch.model(), self.model.get().scene()) {
                (rows, 1) => LiveArray::new(py, parameter.name(), &[self.worlds, rows])?,
                (rows, columns) => LiveArray::new(py, parameter.name(), &[self.worlds, rows, columns])?,
            };
            let values: Vec<f64> = (0..self.worlds).flat_map(|world| batch.parameter(world, parameter)).collect();
            array.write(py, &values)?;
            // Another thread may have made one meanwhile: that one stays.
            let _ = slot.set(WorldArray { array, applied: Mutex::new(values) });
        }
        slot.get().ok_or_else(|| PyValueError::new_err("an array was lost"))
    }
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// Parameters of all worlds as live arrays.
    #[getter]
    fn parameters<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        CLASS.import(slf.py(), "sapwood._parameters", "BatchParameters")?.call1((slf,))
    }

    /// The live array of a parameter.
    fn _parameter_array<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        let message = || PyTypeError::new_err(format!("there is no parameter {name:?}"));
        self.live_parameter(py, Parameter::named(name).ok_or_else(message)?)?.array.view(py)
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
        self.parameters.write(py, &batch, &worlds)?;
        self.warn_if_worlds_alone(py, &batch, before)
    }

    /// Take parameters of their own back.
    #[pyo3(signature = (worlds=None))]
    fn reset_parameters(&self, py: Python<'_>, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let worlds = self.selected(worlds)?;
        let mut batch = self.lock()?;
        batch.clear_world_models(worlds.iter().copied());
        self.parameters.write(py, &batch, &worlds)
    }
}
