//! `sapwood.spd`.

use std::sync::{Mutex, MutexGuard, PoisonError};

use multibody::Model as Bodies;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::stable_pd::{Command, Error, Method, Report, Solver};

use crate::arguments::{check_quaternions, copy_per_dof, copy_vector, positive, word};
use crate::live::LiveArray;
use crate::lock::try_lock;
use crate::model::{Model, a_kept_model};
use crate::options::name_of;
use crate::results;

const METHODS: [(&str, Method); 4] =
    [("maba", Method::Maba), ("dense", Method::Dense), ("sparse", Method::Sparse), ("pcg", Method::Pcg)];

/// Degrees of freedom above which a solve takes long enough (20 µs) for other threads of Python to go on meanwhile.
fn longest_with_lock(method: Method) -> usize {
    match method {
        Method::Maba => 150,
        Method::Sparse => 60,
        Method::Dense | Method::Pcg => 30,
    }
}

/// What a call passes, as Python has it.
struct Arguments<'a, 'py> {
    q: &'a Bound<'py, PyAny>,
    v: &'a Bound<'py, PyAny>,
    target: &'a Bound<'py, PyAny>,
    kp: &'a Bound<'py, PyAny>,
    kd: &'a Bound<'py, PyAny>,
    dt: f64,
    target_velocity: Option<&'a Bound<'py, PyAny>>,
    effort_limit: Option<&'a Bound<'py, PyAny>>,
}

/// A solver, and memory for what calls pass: copies, since other threads may write into arrays while the interpreter's lock is released.
struct Workspace {
    solver: Solver,
    q: Vec<f64>,
    v: Vec<f64>,
    target: Vec<f64>,
    kp: Vec<f64>,
    kd: Vec<f64>,
    target_velocity: Vec<f64>,
    effort_limit: Vec<f64>,
    /// Of the last solve.
    torque: Vec<f64>,
    report: Report,
}

impl Workspace {
    fn new(model: &Bodies, method: Method) -> Self {
        let (nq, nv) = (|| vec![0.0; model.nq()], || vec![0.0; model.nv()]);
        Self {
            solver: Solver::new(model, method),
            q: nq(),
            v: nv(),
            target: nq(),
            kp: nv(),
            kd: nv(),
            target_velocity: nv(),
            effort_limit: nv(),
            torque: nv(),
            report: Report::default(),
        }
    }

    /// Finds acceleration and torque; lengths are checked here, values by the solver.
    fn solve(&mut self, py: Python<'_>, model: &Bodies, arguments: &Arguments<'_, '_>) -> PyResult<()> {
        let Self { solver, q, v, target, kp, kd, target_velocity, effort_limit, torque, report } = self;
        copy_vector("q", arguments.q, q)?;
        copy_vector("v", arguments.v, v)?;
        copy_vector("target", arguments.target, target)?;
        copy_per_dof("kp", arguments.kp, kp)?;
        copy_per_dof("kd", arguments.kd, kd)?;
        arguments.target_velocity.map_or(Ok(()), |x| copy_vector("target_velocity", x, target_velocity))?;
        arguments.effort_limit.map_or(Ok(()), |x| copy_per_dof("effort_limit", x, effort_limit))?;
        check_quaternions("q", q, &model.tree)?;
        check_quaternions("target", target, &model.tree)?;
        let command = Command {
            kp,
            kd,
            target,
            target_velocity: arguments.target_velocity.map(|_| &target_velocity[..]),
            effort_limit: arguments.effort_limit.map(|_| &effort_limit[..]),
        };
        let dt = positive("dt", arguments.dt)?;
        let is_short = model.nv() <= longest_with_lock(solver.method());
        let mut run = || -> Result<Report, Error> {
            let report = solver.solve(q, v, &command, dt)?;
            torque.copy_from_slice(solver.torque(q, v, &command));
            Ok(report)
        };
        let solved = if is_short { run() } else { py.detach(run) };
        *report = solved.map_err(|error| PyValueError::new_err(error.to_string()))?;
        Ok(())
    }

    /// What the last solve found, in new arrays.
    fn solution<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let array = |values: &[f64]| PyArray1::from_slice(py, values);
        let Report { iterations, residual } = self.report;
        results::spd_solution(py, (array(self.solver.acceleration()), array(&self.torque), iterations, residual))
    }
}

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
    let model = model.get().inner();
    let mut workspace = Workspace::new(model, word("method", method, &METHODS)?);
    workspace.solve(py, model, &Arguments { q, v, target, kp, kd, dt, target_velocity, effort_limit })?;
    workspace.solution(py)
}

/// A class, and what it is to be called with.
type Reduced<'py> = (Bound<'py, PyAny>, (Py<Model>, &'static str));

/// Stable PD control of one model, with what it can keep from call to call.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood.spd", name = "Solver")]
pub struct SpdSolver {
    model: Py<Model>,
    method: Method,
    workspace: Mutex<Workspace>,
    /// What [`compute`](Self::compute) found, and views of it that are handed out.
    found: [LiveArray; 2],
    views: [Py<PyAny>; 2],
    report: Mutex<Report>,
}

impl SpdSolver {
    /// The workspace, unless another thread is using it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Workspace>> {
        try_lock(
            &self.workspace,
            "this Solver is in use in another thread: give each thread one of its own, copy.copy(solver)",
            "a solve of this Solver was aborted: make a new Solver",
        )
    }
}

#[stubdoc::documented]
#[pymethods]
impl SpdSolver {
    #[new]
    #[pyo3(signature = (model, method="maba"))]
    fn new(py: Python<'_>, #[pyo3(from_py_with = a_kept_model)] model: Py<Model>, method: &str) -> PyResult<Self> {
        let method = word("method", method, &METHODS)?;
        let bodies = model.get().inner();
        let workspace = Mutex::new(Workspace::new(bodies, method));
        let array = |name| LiveArray::new(py, name, &[bodies.nv()]);
        let found = [array("acceleration")?, array("torque")?];
        let views = [found[0].fixed_view(py)?, found[1].fixed_view(py)?];
        Ok(Self { model, method, workspace, found, views, report: Mutex::default() })
    }

    /// Acceleration and torque, as new arrays.
    #[pyo3(signature = (q, v, target, kp, kd, dt, *, target_velocity=None, effort_limit=None))]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        kp: &Bound<'py, PyAny>,
        kd: &Bound<'py, PyAny>,
        dt: f64,
        target_velocity: Option<&Bound<'py, PyAny>>,
        effort_limit: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let mut workspace = self.lock()?;
        let arguments = Arguments { q, v, target, kp, kd, dt, target_velocity, effort_limit };
        workspace.solve(py, self.model.get().inner(), &arguments)?;
        workspace.solution(py)
    }

    /// Acceleration and torque, into the arrays of the solver.
    #[pyo3(signature = (q, v, target, kp, kd, dt, *, target_velocity=None, effort_limit=None))]
    fn compute<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        target: &Bound<'py, PyAny>,
        kp: &Bound<'py, PyAny>,
        kd: &Bound<'py, PyAny>,
        dt: f64,
        target_velocity: Option<&Bound<'py, PyAny>>,
        effort_limit: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<()> {
        let mut workspace = self.lock()?;
        let arguments = Arguments { q, v, target, kp, kd, dt, target_velocity, effort_limit };
        workspace.solve(py, self.model.get().inner(), &arguments)?;
        self.found[0].write(py, workspace.solver.acceleration())?;
        self.found[1].write(py, &workspace.torque)?;
        *self.report.lock().unwrap_or_else(PoisonError::into_inner) = workspace.report;
        Ok(())
    }

    #[getter]
    fn acceleration(&self, py: Python<'_>) -> Py<PyAny> {
        self.views[0].clone_ref(py)
    }

    #[getter]
    fn torque(&self, py: Python<'_>) -> Py<PyAny> {
        self.views[1].clone_ref(py)
    }

    #[getter]
    fn iterations(&self) -> usize {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).iterations
    }

    #[getter]
    fn residual(&self) -> f64 {
        self.report.lock().unwrap_or_else(PoisonError::into_inner).residual
    }

    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    #[getter]
    fn method(&self) -> &'static str {
        name_of(&METHODS, self.method)
    }

    fn __repr__(&self) -> String {
        format!("<sapwood.spd.Solver {:?}, {} degrees of freedom>", self.method(), self.model.get().inner().nv())
    }

    /// Calls leave nothing behind but what `compute` found: a copy is a new solver.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Reduced<'py>> {
        let own = slf.get();
        Ok((slf.get_type().into_any(), (own.model.clone_ref(slf.py()), own.method())))
    }
}
