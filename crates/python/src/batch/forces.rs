//! `Batch`: forces that users apply, and what sensors show.

use std::sync::OnceLock;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::access::row;
use super::{Batch, zeros};
use crate::live::LiveArray;
use crate::quantities::fixed;

impl Batch {
    fn live_force(&self, py: Python<'_>) -> PyResult<&LiveArray> {
        let nv = self.model.get().inner().nv();
        made(&self.applied_force, || LiveArray::new(py, "applied_force", &[self.worlds, nv]))
    }

    fn live_wrench(&self, py: Python<'_>) -> PyResult<&LiveArray> {
        let bodies = self.model.get().inner().bodies.len();
        made(&self.applied_wrench, || LiveArray::new(py, "applied_wrench", &[self.worlds, bodies, 6]))
    }

    fn live_surface_velocity(&self, py: Python<'_>) -> PyResult<&LiveArray> {
        let geoms = self.model.get().scene().geoms.len();
        made(&self.surface_velocity, || {
            let array = LiveArray::new(py, "surface_velocity", &[self.worlds, geoms, 3])?;
            array.write(py, self.lock()?.surface_velocity_mut())?;
            Ok(array)
        })
    }

    /// What was applied, to the batch.
    pub(super) fn read_forces(&self, py: Python<'_>, batch: &mut batch::Batch) -> PyResult<()> {
        if let Some(force) = self.applied_force.get() {
            force.read(py, batch.applied_force_mut())?;
        }
        if let Some(wrench) = self.applied_wrench.get() {
            wrench.read(py, batch.applied_wrench_mut())?;
        }
        if let Some(velocity) = self.surface_velocity.get() {
            velocity.read(py, batch.surface_velocity_mut())?;
        }
        Ok(())
    }

    /// What a world of the batch has, to the arrays.
    pub(super) fn write_forces(&self, py: Python<'_>, batch: &batch::Batch, world: usize) -> PyResult<()> {
        if !batch.applied_force().is_empty() {
            self.live_force(py)?.write_row(py, world, row(batch.applied_force(), world, self.worlds))?;
        }
        if !batch.applied_wrench().is_empty() {
            self.live_wrench(py)?.write_row(py, world, row(batch.applied_wrench(), world, self.worlds))?;
        }
        if let Some(velocity) = self.surface_velocity.get().filter(|_| !batch.surface_velocity().is_empty()) {
            velocity.write_row(py, world, row(batch.surface_velocity(), world, self.worlds))?;
        }
        Ok(())
    }
}

fn made(array: &OnceLock<LiveArray>, make: impl FnOnce() -> PyResult<LiveArray>) -> PyResult<&LiveArray> {
    if array.get().is_none() {
        // Another thread may have made one meanwhile: that one stays.
        let _ = array.set(make()?);
    }
    array.get().ok_or_else(|| pyo3::exceptions::PyRuntimeError::new_err("an array was lost"))
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// Forces on the degrees of freedom, (n, nv), a live view.
    #[getter]
    fn applied_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live_force(py)?.view(py)
    }

    #[setter]
    fn set_applied_force(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(self.live_force(py)?, value)
    }

    /// Torque and force at the centre of mass of each body, (n, nbody, 6), a live view.
    #[getter]
    fn applied_wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live_wrench(py)?.view(py)
    }

    #[setter]
    fn set_applied_wrench(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(self.live_wrench(py)?, value)
    }

    /// Velocities of the geoms' surfaces on their bodies, (n, ngeom, 3), a live view.
    #[getter]
    fn surface_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live_surface_velocity(py)?.view(py)
    }

    #[setter]
    fn set_surface_velocity(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(self.live_surface_velocity(py)?, value)
    }

    /// What all sensors of every world show now, (n, nsensordata).
    #[getter]
    fn sensordata<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let n = self.model.get().inner().sensor_data_len();
        let mut values = zeros(&[self.worlds, n])?;
        let mut batch = self.lock_to_compute(py)?;
        let sensing = &mut *batch;
        let outcome = py.detach(|| sensing.sensor_data(&mut values));
        outcome.map_err(|error| self.error(py, &batch, &error))?;
        Ok(fixed(PyArray1::from_vec(py, values).reshape([self.worlds, n])?))
    }
}
