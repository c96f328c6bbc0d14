//! Parameters of the worlds of a batch as live arrays.

use std::collections::BTreeMap;
use std::sync::{Mutex, OnceLock, PoisonError};

use gpu::GpuError;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use sim::{Parameter, Parameters};
use support::legible;

use crate::arguments::selection;
use crate::errors::gpu_error;
use crate::live::LiveArray;
use crate::model::Model;
use crate::parameters;

/// The parameters of all worlds as live arrays, those that somebody has asked for.
pub struct WorldParameters {
    arrays: [OnceLock<WorldArray>; Parameter::ALL.len()],
}

impl Default for WorldParameters {
    fn default() -> Self {
        Self { arrays: std::array::from_fn(|_| OnceLock::new()) }
    }
}

struct WorldArray {
    array: LiveArray,
    /// What the worlds have by now, row by row.
    applied: Mutex<Vec<f64>>,
}

/// Worlds that have parameters of their own.
pub trait OfWorlds: Send {
    /// How many worlds there are.
    fn count(&self) -> usize;
    /// What a world has.
    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64>;
    /// Gives worlds parameters; an error names them with `prefix`.
    fn give(&mut self, worlds: Vec<(usize, Parameters)>, prefix: &str) -> PyResult<()>;
    /// Takes their own parameters back from worlds.
    fn take_back(&mut self, worlds: &[usize]) -> PyResult<()>;
}

fn not_given(world: usize, prefix: &str, error: &dyn std::fmt::Display) -> PyErr {
    PyValueError::new_err(format!("world {world}: {prefix}{error}"))
}

impl OfWorlds for batch::Batch {
    fn count(&self) -> usize {
        self.worlds()
    }

    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        self.parameter(world, parameter)
    }

    fn give(&mut self, worlds: Vec<(usize, Parameters)>, prefix: &str) -> PyResult<()> {
        self.set_parameters_of(worlds).map_err(|(world, error)| not_given(world, prefix, &error))
    }

    fn take_back(&mut self, worlds: &[usize]) -> PyResult<()> {
        self.clear_world_models(worlds.iter().copied());
        Ok(())
    }
}

impl OfWorlds for gpu::GpuBatch {
    fn count(&self) -> usize {
        self.worlds()
    }

    fn parameter_of(&self, world: usize, parameter: Parameter) -> Vec<f64> {
        self.parameter(world, parameter)
    }

    fn give(&mut self, worlds: Vec<(usize, Parameters)>, prefix: &str) -> PyResult<()> {
        self.set_parameters_of(worlds).map_err(|error| match error {
            GpuError::Parameters { world, error } => not_given(world, prefix, &error),
            other => gpu_error(&other),
        })
    }

    fn take_back(&mut self, worlds: &[usize]) -> PyResult<()> {
        self.clear_parameters(worlds.iter().copied()).map_err(|error| gpu_error(&error))
    }
}

/// The worlds that an argument selects, all by default.
pub fn selected(worlds: Option<&Bound<'_, PyAny>>, count: usize) -> PyResult<Vec<usize>> {
    worlds.map_or_else(|| Ok((0..count).collect()), |which| selection("worlds", which, count))
}

/// The number of a world; negative ones count from the end.
pub fn world(index: i64, count: usize) -> PyResult<usize> {
    let world = if index < 0 { index.checked_add_unsigned(count as u64) } else { Some(index) };
    let world = world.and_then(|world| usize::try_from(world).ok()).filter(|world| *world < count);
    let message = || format!("world is {index}: the batch has {count} worlds, expected an index below that");
    world.ok_or_else(|| PyIndexError::new_err(message()))
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
        let message = || PyTypeError::new_err(legible(&format!("there is no parameter {name:?}")));
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

    /// Gives worlds what the arrays show; whether any world has other parameters than before. Of wrong numbers no world is given anything, and the
    /// arrays show what they have.
    pub fn bring(&self, py: Python<'_>, batch: &mut impl OfWorlds) -> PyResult<bool> {
        let changed = self.changed(py, batch.count())?;
        if changed.is_empty() {
            return Ok(false);
        }
        let worlds: Vec<usize> = changed.keys().copied().collect();
        if let Err(error) = py.detach(|| batch.give(changed.into_iter().collect(), "parameters.")) {
            if error.is_instance_of::<PyValueError>(py) {
                self.write(py, batch, &worlds)?;
            }
            return Err(error);
        }
        self.note(py)?;
        Ok(true)
    }

    /// Gives worlds the parameters of the keyword arguments, beside what the arrays show.
    pub fn set(
        &self,
        py: Python<'_>,
        model: &Model,
        batch: &mut impl OfWorlds,
        worlds: Option<&Bound<'_, PyAny>>,
        given: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let worlds = selected(worlds, batch.count())?;
        let given = parameters::of_worlds(given, model.inner(), model.scene(), worlds.len())?;
        self.bring(py, batch)?;
        let all = worlds.iter().copied().zip(given).collect();
        py.detach(|| batch.give(all, ""))?;
        self.write(py, batch, &worlds)
    }

    /// Gives a world parameters.
    pub fn give(&self, py: Python<'_>, batch: &mut impl OfWorlds, world: usize, given: Parameters) -> PyResult<()> {
        py.detach(|| batch.give(vec![(world, given)], ""))?;
        self.write(py, batch, &[world])
    }

    /// Takes their own parameters back from worlds.
    pub fn reset(&self, py: Python<'_>, batch: &mut impl OfWorlds, worlds: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let worlds = selected(worlds, batch.count())?;
        py.detach(|| batch.take_back(&worlds))?;
        self.write(py, batch, &worlds)
    }

    /// All parameters of a world, copies.
    pub fn of_world<'py>(
        &self,
        py: Python<'py>,
        model: &Model,
        batch: &impl OfWorlds,
        index: i64,
    ) -> PyResult<Bound<'py, PyAny>> {
        let world = world(index, batch.count())?;
        let all = Parameter::ALL.into_iter().map(|parameter| (parameter, batch.parameter_of(world, parameter)));
        parameters::tuple(py, &all.collect(), model.inner(), model.scene())
    }

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
    fn write(&self, py: Python<'_>, batch: &impl OfWorlds, worlds: &[usize]) -> PyResult<()> {
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
