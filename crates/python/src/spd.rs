//! `sapwood.spd`.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spd::{Command, Error, Method, Solver};

use crate::arguments::{configuration, per_dof, positive, vector, word};
use crate::model::Model;
use crate::results;

const METHODS: [(&str, Method); 5] = [
    ("maba", Method::Maba),
    ("dense", Method::Dense),
    ("sparse", Method::Sparse),
    ("sparse-blocks", Method::SparseBlocks),
    ("pcg", Method::Pcg),
];

/// Acceleration and torque of a stable PD controller.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (model, q, v, target, kp, kd, dt, *, target_velocity=None, effort_limit=None, method="maba"))]
pub fn spd_solve<'py>(
    py: Python<'py>,
    model: &Bound<'py, Model>,
    q: &Bound<'py, PyAny>,
    v: &Bound<'py, PyAny>,
    target: &Bound<'py, PyAny>,
    kp: &Bound<'py, PyAny>,
    kd: &Bound<'py, PyAny>,
    dt: f64,
    target_velocity: Option<&Bound<'py, PyAny>>,
    effort_limit: Option<&Bound<'py, PyAny>>,
    method: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let model = model.get().inner().clone();
    let nv = model.nv();
    let (q, v) = (configuration("q", q, &model)?, vector("v", v, nv)?);
    let target = configuration("target", target, &model)?;
    let (kp, kd) = (per_dof("kp", kp, nv)?, per_dof("kd", kd, nv)?);
    let velocity = target_velocity.map(|x| vector("target_velocity", x, nv)).transpose()?;
    let limit = effort_limit.map(|x| per_dof("effort_limit", x, nv)).transpose()?;
    let (dt, method) = (positive("dt", dt)?, word("method", method, &METHODS)?);
    let command = Command {
        kp: &kp,
        kd: &kd,
        target: &target,
        target_velocity: velocity.as_deref(),
        effort_limit: limit.as_deref(),
    };
    let solved = py.detach(|| {
        let mut solver = Solver::new(&model, method);
        let report = solver.solve(&q, &v, &command, dt)?;
        let torque = solver.torque(&q, &v, &command).to_vec();
        Ok((solver.acceleration().to_vec(), torque, report))
    });
    let (acceleration, torque, report) = solved.map_err(|error: Error| PyValueError::new_err(error.to_string()))?;
    let array = |x| PyArray1::from_vec(py, x);
    results::spd_solution(py, (array(acceleration), array(torque), report.iterations, report.residual))
}
