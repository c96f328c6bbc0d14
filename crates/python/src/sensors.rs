//! The numbers of all sensors, and where each one's stand.

use pyo3::prelude::*;

use crate::model::Model;
use crate::quantities::fixed_vector;
use crate::simulation::Simulation;

#[stubdoc::documented]
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

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// What all sensors show now, (nsensordata,).
    #[getter]
    fn sensordata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut simulation = self.lock_current(py)?;
        let (mut values, sensing) = (Vec::new(), &mut *simulation);
        // Distances and rays may take a while.
        py.detach(|| sensing.sensor_data(&mut values));
        Ok(fixed_vector(py, &values))
    }
}
