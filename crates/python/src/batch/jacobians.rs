//! `Batch`: derivatives of its next step.

use batch::Cotangents;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use super::{Batch, Matrix};
use crate::arguments::array;
use crate::results;

#[stubdoc::documented]
#[pymethods]
impl Batch {
    /// The derivative of the next step of every world.
    fn step_jacobians<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut batch = self.lock_to_compute(py)?;
        let stepper = &mut *batch;
        let jacobians = py.detach(|| stepper.step_jacobians()).map_err(|error| self.error(py, &batch, &error))?;
        let model = self.model.get().inner();
        let (rows, nu) = (2 * model.nv(), model.nu());
        let tensor = |values, columns| PyArray1::from_vec(py, values).reshape([self.worlds, rows, columns]);
        results::step_jacobians(py, (tensor(jacobians.a, rows)?, tensor(jacobians.b, nu)?))
    }

    /// The gradient of a cost at the end of the next step, carried back to where it starts.
    fn vjp<'py>(
        &self,
        py: Python<'py>,
        grad_q: &Bound<'py, PyAny>,
        grad_v: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let model = self.model.get().inner();
        let (n, nv, nu) = (self.worlds, model.nv(), model.nu());
        let (q, v) = (array("grad_q", grad_q, &[n, nv])?, array("grad_v", grad_v, &[n, nv])?);
        let mut batch = self.lock_to_compute(py)?;
        let stepper = &mut *batch;
        let gradients = py.detach(|| stepper.vjp(Cotangents { q: &q, v: &v }));
        let gradients = gradients.map_err(|error| self.error(py, &batch, &error))?;
        let matrix =
            |values, columns| -> PyResult<Matrix<'py>> { PyArray1::from_vec(py, values).reshape([n, columns]) };
        results::step_gradients(py, (matrix(gradients.q, nv)?, matrix(gradients.v, nv)?, matrix(gradients.ctrl, nu)?))
    }
}
