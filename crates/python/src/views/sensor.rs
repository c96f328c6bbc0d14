//! A sensor by name.

use pyo3::prelude::*;

use super::{SensorView, brief, title};
use crate::names::Kind;
use crate::quantities::fixed_vector;

impl SensorView {
    fn sensor(&self) -> &multibody::Sensor {
        &self.model().inner().sensors[self.index]
    }

    fn read(&self, py: Python<'_>) -> PyResult<Vec<f64>> {
        let mut values = Vec::new();
        self.simulation().lock_current(py)?.sensor(self.index, &mut values);
        Ok(values)
    }
}

#[stubdoc::documented]
#[pymethods]
impl SensorView {
    /// What it measures: the name of its MJCF element.
    #[getter(r#type)]
    fn kind(&self) -> &str {
        self.sensor().kind.element()
    }

    /// What it needs: position, velocity or acceleration.
    #[getter]
    fn stage(&self) -> &'static str {
        self.sensor().kind.stage().name()
    }

    /// How many numbers it has.
    #[getter]
    fn dim(&self) -> usize {
        self.sensor().kind.dim()
    }

    /// Where its numbers begin in `sensordata`.
    #[getter]
    fn address(&self) -> usize {
        self.model().inner().sensors[..self.index].iter().map(|sensor| sensor.kind.dim()).sum()
    }

    /// What it shows now, (dim,): it alone is computed.
    #[getter]
    fn value<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(fixed_vector(py, &self.read(py)?))
    }

    /// The same as `value`.
    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.value(py)
    }

    /// Values are clamped to this; 0: they are not.
    #[getter]
    fn cutoff(&self) -> f64 {
        self.sensor().cutoff
    }

    /// Standard deviation of noise, as the file gives it; none is added.
    #[getter]
    fn noise(&self) -> f64 {
        self.sensor().noise
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let title = title(Kind::Sensor, self.model(), self.index);
        Ok(format!("<sapwood sensor {title}: {} {}>", self.kind(), brief(&self.read(py)?)))
    }
}
