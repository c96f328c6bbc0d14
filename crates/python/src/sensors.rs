//! Sensors by name, and the numbers of all of them.

use numpy::npyffi::flags::NPY_ARRAY_WRITEABLE;
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::model::Model;
use crate::simulation::Simulation;

type Vector<'py> = Bound<'py, PyArray1<f64>>;

/// A vector that nobody writes into: it is a copy.
fn read_only<'py>(py: Python<'py>, values: &[f64]) -> Vector<'py> {
    let array = PyArray1::from_slice(py, values);
    // SAFETY: the array is new, and nobody else has it.
    unsafe { (*array.as_array_ptr()).fields.flags &= !NPY_ARRAY_WRITEABLE };
    array
}

#[pymethods]
impl Model {
    /// Number of sensors.
    #[getter]
    fn nsensor(&self) -> usize {
        self.inner().sensors.len()
    }

    /// How many numbers all sensors have together.
    #[getter]
    fn nsensordata(&self) -> usize {
        self.inner().sensor_data_len()
    }

    /// Names of the sensors; empty where the file gives none.
    #[getter]
    fn sensor_names(&self) -> Vec<&str> {
        self.inner().sensors.iter().map(|sensor| sensor.name.as_str()).collect()
    }

    /// Types of the sensors: the names of their MJCF elements.
    #[getter]
    fn sensor_types(&self) -> Vec<&str> {
        self.inner().sensors.iter().map(|sensor| sensor.kind.element()).collect()
    }

    /// Where the numbers of each sensor begin in `sensordata`.
    #[getter]
    fn sensor_addresses(&self) -> Vec<usize> {
        self.inner().sensor_ranges().map(|range| range.start).collect()
    }

    /// How many numbers each sensor has.
    #[getter]
    fn sensor_dims(&self) -> Vec<usize> {
        self.inner().sensors.iter().map(|sensor| sensor.kind.dim()).collect()
    }
}

#[pymethods]
impl Simulation {
    /// What all sensors show now, (nsensordata,).
    #[getter]
    fn sensordata<'py>(&self, py: Python<'py>) -> PyResult<Vector<'py>> {
        let mut simulation = self.lock_current(py)?;
        let mut values = Vec::new();
        simulation.sensor_data(&mut values);
        Ok(read_only(py, &values))
    }
}
