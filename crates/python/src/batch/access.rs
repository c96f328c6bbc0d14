//! Between the live arrays of a batch and the batch itself, and what its methods check.

use std::ffi::CString;
use std::sync::MutexGuard;

use batch::BatchError;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use super::Batch;
use crate::arguments::{array, check_quaternions};
use crate::errors::{batch_error, worlds_failed};
use crate::live::LiveArray;
use crate::lock::try_lock;
use crate::model::Model;
use crate::world_parameters::world;

impl Batch {
    /// The batch, unless a step is running in another thread. Its arrays are those of the last step.
    pub(crate) fn lock(&self) -> PyResult<MutexGuard<'_, batch::Batch>> {
        try_lock(
            &self.batch,
            "a step of this batch is in progress in another thread",
            "a step of this batch was aborted: make a new Batch",
        )
    }

    pub fn of_model(&self) -> &Model {
        self.model.get()
    }

    pub fn shared_model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// The batch with what the live arrays show, about to compute in this thread.
    pub(crate) fn lock_to_compute(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, batch::Batch>> {
        let mut batch = self.lock()?;
        self.q.read(py, batch.q_mut())?;
        self.v.read(py, batch.v_mut())?;
        self.ctrl.read(py, batch.ctrl_mut())?;
        self.act.read(py, batch.act_mut())?;
        self.equality_active.read(py, batch.equality_active_mut())?;
        self.mocap.read(py, batch.mocap_mut())?;
        self.time.read(py, batch.time_mut())?;
        if let (Some(target), true) = (self.pd_target.get(), batch.pd().is_some()) {
            target.read(py, batch.pd_target_mut())?;
        }
        self.read_forces(py, &mut batch)?;
        self.check_rotations(batch.q())?;
        self.bring_parameters(py, &mut batch)?;
        self.watch.begin();
        Ok(batch)
    }

    /// What a step changes, to the live arrays.
    pub(super) fn write_motion(&self, py: Python<'_>, batch: &batch::Batch) -> PyResult<()> {
        self.q.write(py, batch.q())?;
        self.v.write(py, batch.v())?;
        self.act.write(py, batch.act())?;
        self.time.write(py, batch.time())
    }

    /// Everything but PD targets, to the live arrays.
    pub(crate) fn write_all(&self, py: Python<'_>, batch: &batch::Batch) -> PyResult<()> {
        self.ctrl.write(py, batch.ctrl())?;
        self.equality_active.write(py, batch.equality_active())?;
        self.mocap.write(py, batch.mocap())?;
        self.write_motion(py, batch)
    }

    pub(crate) fn model_of(&self) -> &Py<Model> {
        &self.model
    }

    /// One world, from the batch to the live arrays.
    pub(super) fn write_world(&self, py: Python<'_>, batch: &batch::Batch, world: usize) -> PyResult<()> {
        self.write_reset(py, batch, world)?;
        match self.pd_target.get() {
            Some(target) if batch.pd().is_some() => {
                target.write_row(py, world, row(batch.pd_target(), world, self.worlds))
            }
            _ => Ok(()),
        }
    }

    /// One world, from the live arrays to the batch.
    pub(super) fn read_world(&self, py: Python<'_>, batch: &mut batch::Batch, world: usize) -> PyResult<()> {
        let worlds = self.worlds;
        self.q.read_row(py, world, row_mut(batch.q_mut(), world, worlds))?;
        self.v.read_row(py, world, row_mut(batch.v_mut(), world, worlds))?;
        self.ctrl.read_row(py, world, row_mut(batch.ctrl_mut(), world, worlds))?;
        self.act.read_row(py, world, row_mut(batch.act_mut(), world, worlds))?;
        self.equality_active.read_row(py, world, row_mut(batch.equality_active_mut(), world, worlds))?;
        self.mocap.read_row(py, world, row_mut(batch.mocap_mut(), world, worlds))?;
        self.time.read_row(py, world, row_mut(batch.time_mut(), world, worlds))?;
        self.read_forces(py, batch)?;
        self.bring_parameters(py, batch)?;
        match self.pd_target.get() {
            Some(target) if batch.pd().is_some() => {
                target.read_row(py, world, row_mut(batch.pd_target_mut(), world, worlds))
            }
            _ => Ok(()),
        }
    }

    /// Quaternions may have any length but none. Those that are no numbers are left to the step, which names their world.
    pub(super) fn check_rotations(&self, q: &[f64]) -> PyResult<()> {
        for &start in &self.quaternions {
            for (world, q) in q.chunks_exact(q.len() / self.worlds).enumerate() {
                let norm_squared: f64 = q[start..start + 4].iter().map(|x| x * x).sum();
                if norm_squared.is_finite() && !(1e-12..1e12).contains(&norm_squared) {
                    self.check_quaternions("q", world, q)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn check_quaternions(&self, name: &str, world: usize, q: &[f64]) -> PyResult<()> {
        check_quaternions(&format!("{name}[{world}]"), q, &self.model.get().inner().tree)
    }

    pub(super) fn assign(&self, live: &LiveArray, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = array(live.name(), value, live.shape())?;
        // A step in another thread would write over it.
        let _idle = self.lock()?;
        live.write(value.py(), &values)
    }

    /// The number of a world; negative ones count from the end.
    pub(crate) fn world(&self, index: i64) -> PyResult<usize> {
        world(index, self.worlds)
    }

    /// The exception for an error of a computation.
    pub(crate) fn error(&self, py: Python<'_>, batch: &batch::Batch, error: &BatchError) -> PyErr {
        match error {
            BatchError::Interrupted => self.watch.interrupted(),
            BatchError::Worlds { .. } => worlds_failed(py, &batch.errors().collect::<Vec<_>>(), self.worlds),
            other => batch_error(py, other),
        }
    }

    /// Warns where worlds are stepped one by one, unless they were `before`.
    pub(super) fn warn_if_alone(&self, py: Python<'_>, batch: &batch::Batch, was_alone: bool) -> PyResult<()> {
        let Some(reason) = batch.alone().filter(|_| !was_alone) else { return Ok(()) };
        let name = &batch.model().name;
        let message = format!("worlds of {name:?} are stepped one by one, not side by side in vector lanes: {reason}");
        warn(py, &message)
    }

    /// Warns where single worlds are stepped by themselves, unless as many were `before`.
    pub(super) fn warn_if_worlds_alone(&self, py: Python<'_>, batch: &batch::Batch, before: usize) -> PyResult<()> {
        let alone: Vec<_> = batch.worlds_alone().collect();
        let Some((world, reason)) = alone.first().filter(|_| alone.len() > before) else { return Ok(()) };
        let (name, count) = (&batch.model().name, alone.len());
        warn(
            py,
            &format!(
                "{count} of {} worlds of {name:?} are stepped one by one, the others in vector lanes: world {world} has {reason}",
                self.worlds
            ),
        )
    }

    /// Targets of PD control in a rollout, (n, horizon, nq); empty where there are none.
    pub(super) fn targets(&self, targets: Option<&Bound<'_, PyAny>>, horizon: usize) -> PyResult<Vec<f64>> {
        let Some(targets) = targets else { return Ok(Vec::new()) };
        self.target()?;
        let nq = self.model.get().inner().nq();
        let all = array("targets", targets, &[self.worlds, horizon, nq])?;
        let mut rows = all.chunks_exact(nq.max(1)).enumerate();
        rows.try_for_each(|(k, row)| self.check_quaternions("targets", k / horizon.max(1), row))?;
        Ok(all)
    }

    /// The array of PD targets.
    pub(super) fn target(&self) -> PyResult<&LiveArray> {
        let expected = || PyValueError::new_err("pd_target: there is no PD control: call pd first");
        self.pd_target.get().ok_or_else(expected)
    }

    /// One world after a reset, to the live arrays; PD targets stay.
    pub(super) fn write_reset(&self, py: Python<'_>, batch: &batch::Batch, world: usize) -> PyResult<()> {
        self.q.write_row(py, world, row(batch.q(), world, self.worlds))?;
        self.v.write_row(py, world, row(batch.v(), world, self.worlds))?;
        self.ctrl.write_row(py, world, row(batch.ctrl(), world, self.worlds))?;
        self.act.write_row(py, world, row(batch.act(), world, self.worlds))?;
        self.equality_active.write_row(py, world, row(batch.equality_active(), world, self.worlds))?;
        self.mocap.write_row(py, world, row(batch.mocap(), world, self.worlds))?;
        self.time.write_row(py, world, row(batch.time(), world, self.worlds))?;
        self.write_forces(py, batch, world)
    }
}

/// The part of one world of an array of so many.
pub(super) fn row(all: &[f64], world: usize, worlds: usize) -> &[f64] {
    let width = all.len() / worlds;
    &all[world * width..(world + 1) * width]
}

fn row_mut(all: &mut [f64], world: usize, worlds: usize) -> &mut [f64] {
    let width = all.len() / worlds;
    &mut all[world * width..(world + 1) * width]
}

fn warn(py: Python<'_>, message: &str) -> PyResult<()> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let message = CString::new(message.replace('\0', " ")).map_err(PyValueError::new_err)?;
    let category = CLASS.import(py, "sapwood._errors", "PerformanceWarning")?;
    PyErr::warn(py, category, &message, 1)
}
