//! Parameters of the worlds of a batch as live arrays.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use sim::{Parameter, Parameters};

use crate::live::LiveArray;
use crate::model::Model;

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

/// What tells the parameters of its worlds.
pub trait OfWorlds {
    /// How many worlds there are.
    fn count(&self) -> usize;
    /// What a world has.
    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64>;
}

impl OfWorlds for batch::Batch {
    fn count(&self) -> usize {
        self.worlds()
    }

    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        self.parameter(world, parameter)
    }
}

impl OfWorlds for gpu::GpuBatch {
    fn count(&self) -> usize {
        self.worlds()
    }

    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        self.parameter(world, parameter)
    }
}

impl WorldParameters {
    /// The live array of a parameter, as a view.
    pub fn view<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        model: &Model,
        batch: &impl OfWorlds,
    ) -> PyResult<Bound<'py, PyAny>> {
        let message = || PyTypeError::new_err(format!("there is no parameter {name:?}"));
        let parameter = Parameter::named(name).ok_or_else(message)?;
        let place = Parameter::ALL.iter().position(|known| *known == parameter).unwrap_or_default();
        let slot = &self.arrays[place];
        if slot.get().is_none() {
            let worlds = batch.count();
            let array = match parameter.shape(model.inner(), model.scene()) {
                (rows, 1) => LiveArray::new(py, parameter.name(), &[worlds, rows])?,
                (rows, columns) => LiveArray::new(py, parameter.name(), &[worlds, rows, columns])?,
            };
            let values: Vec<f64> = (0..worlds).flat_map(|world| batch.parameter_of(world, parameter)).collect();
            array.write(py, &values)?;
            // Another thread may have made one meanwhile: that one stays.
            let _ = slot.set(WorldArray { array, applied: Mutex::new(values) });
        }
        slot.get().ok_or_else(|| PyValueError::new_err("an array was lost"))?.array.view(py)
    }

    /// The arrays that there are.
    fn made(&self) -> impl Iterator<Item = (Parameter, &WorldArray)> {
        Parameter::ALL.into_iter().zip(&self.arrays).filter_map(|(parameter, array)| Some((parameter, array.get()?)))
    }

    /// What worlds have been given in the arrays since this was last asked.
    pub fn changed(&self, py: Python<'_>, worlds: usize) -> PyResult<BTreeMap<usize, Parameters>> {
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
    pub fn note(&self, py: Python<'_>) -> PyResult<()> {
        let read = |(_, of): (Parameter, &WorldArray)| {
            of.array.read(py, &mut of.applied.lock().unwrap_or_else(PoisonError::into_inner))
        };
        self.made().try_for_each(read)
    }

    /// Writes what worlds have to the arrays.
    pub fn write(&self, py: Python<'_>, batch: &impl OfWorlds, worlds: &[usize]) -> PyResult<()> {
        for (parameter, WorldArray { array, applied }) in self.made() {
            let mut applied = applied.lock().unwrap_or_else(PoisonError::into_inner);
            let width = applied.len() / batch.count();
            for &world in worlds {
                let values = batch.parameter_of(world, parameter);
                array.write_row(py, world, &values)?;
                applied[world * width..(world + 1) * width].copy_from_slice(&values);
            }
        }
        Ok(())
    }
}

/// The parameters of a batch as live arrays.
pub fn live<'py>(batch: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(batch.py(), "sapwood._parameters", "BatchParameters")?.call1((batch,))
}
