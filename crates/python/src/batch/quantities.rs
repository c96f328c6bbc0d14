//! `Batch`: where the bodies of all worlds are and how they move.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::Batch;
use crate::contacts::check_recorded;
use crate::quantities::{fixed, twist};

impl Batch {
    /// The batch with the positions and velocities that the live arrays show.
    fn lock_present(&self, py: Python<'_>) -> PyResult<std::sync::MutexGuard<'_, batch::Batch>> {
        let mut batch = self.lock()?;
        self.q.read(py, batch.q_mut())?;
        self.v.read(py, batch.v_mut())?;
        Ok(batch)
    }

    fn bodies(&self) -> usize {
        self.model.get().inner().bodies.len()
    }

    /// A table of N numbers for each of `count` things of every world, (n, count, N).
    fn table<'py, const N: usize>(
        &self,
        py: Python<'py>,
        count: usize,
        rows: impl Iterator<Item = [f64; N]>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let values = PyArray1::from_iter(py, rows.flatten());
        Ok(fixed(values.reshape([self.worlds, count, N])?))
    }
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// Origins of the bodies of every world, (n, nbody, 3), m.
    #[getter]
    fn body_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut poses = Vec::new();
        self.lock_present(py)?.body_poses(&mut poses);
        self.table(py, self.bodies(), poses.iter().map(|pose| pose.pos.to_array()))
    }

    /// Orientations of the bodies of every world, (n, nbody, 4), w x y z.
    #[getter]
    fn body_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut poses = Vec::new();
        self.lock_present(py)?.body_poses(&mut poses);
        self.table(py, self.bodies(), poses.iter().map(|pose| pose.rot.to_array()))
    }

    /// Velocities of the bodies of every world, (n, nbody, 6): angular, then linear at the origin, world axes.
    #[getter]
    fn body_velocities<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut velocities = Vec::new();
        self.lock_present(py)?.body_velocities(&mut velocities);
        self.table(py, self.bodies(), velocities.into_iter().map(twist))
    }

    /// Origins of the sites of every world, (n, nsite, 3), m.
    #[getter]
    fn site_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut poses = Vec::new();
        self.lock_present(py)?.site_poses(&mut poses);
        self.table(py, poses.len() / self.worlds, poses.iter().map(|pose| pose.pos.to_array()))
    }

    /// Orientations of the sites of every world, (n, nsite, 4), w x y z.
    #[getter]
    fn site_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut poses = Vec::new();
        self.lock_present(py)?.site_poses(&mut poses);
        self.table(py, poses.len() / self.worlds, poses.iter().map(|pose| pose.rot.to_array()))
    }

    /// Sums of the forces of contacts on the bodies of every world in the last step, (n, nbody, 3), N.
    #[getter]
    fn body_contact_forces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let batch = self.lock()?;
        check_recorded(&batch)?;
        let mut forces = Vec::new();
        batch.contact_forces_of_bodies(&mut forces);
        self.table(py, self.bodies(), forces.iter().map(|force| force.to_array()))
    }
}
