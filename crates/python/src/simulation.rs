//! `sapwood.Simulation`.

mod following;
mod saved;

use std::sync::{Mutex, MutexGuard, OnceLock};

use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};

use crate::arguments::{
    any_vector, array, check_quaternions, check_scalar, configuration, per_dof, vector, whole, whole_or_none,
};
use crate::drawing::Drawing;
use crate::errors::simulation_error;
use crate::first_words::{no_arguments, no_positions, pd_arguments, pd_target, steps};
use crate::follow::Followers;
use crate::live::{LiveArray, LiveState, columns};
use crate::lock::try_lock;
use crate::model::{Model, a_model};
use crate::names::keyframe_key;
use crate::options::{OPTIONS, OptionArguments, SchemeArgument, warn_of_milliseconds};
use crate::parameters::LiveParameters;
use crate::replay::{Observers, Replay};
use crate::signals::{Watch, in_background};
use crate::{contacts, parameters, results};
use sim::Parameter;

/// One world in motion.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Simulation {
    model: Py<Model>,
    simulation: Mutex<sim::Simulation>,
    live: LiveState,
    /// From the first look at them on.
    parameters: OnceLock<LiveParameters>,
    watch: Watch,
    observers: Observers,
    followers: Followers,
}

impl Simulation {
    /// A simulation for Python.
    pub fn of(model: &Bound<'_, Model>, mut simulation: sim::Simulation) -> PyResult<Self> {
        let (py, inner) = (model.py(), model.get());
        let watch = Watch::new();
        simulation.set_interrupt(watch.interrupt());
        let live = LiveState::new(py, inner.inner(), inner.scene())?;
        live.write(py, simulation.state())?;
        Ok(Self {
            model: model.clone().unbind(),
            simulation: Mutex::new(simulation),
            live,
            parameters: OnceLock::new(),
            watch,
            observers: Observers::default(),
            followers: Followers::default(),
        })
    }

    /// A copy of the state that the live arrays show.
    pub fn current_state(&self, py: Python<'_>) -> PyResult<sim::State> {
        Ok(self.lock_current(py)?.state().clone())
    }

    /// What `look` finds in the state that the live arrays show.
    pub fn picture<T>(&self, py: Python<'_>, look: impl FnOnce(&mut sim::Simulation) -> T) -> PyResult<T> {
        let mut simulation = self.lock_current(py)?;
        check_quaternions("q", &simulation.state().q, &self.model.get().inner().tree)?;
        Ok(look(&mut simulation))
    }

    /// What pictures show that the model does not have.
    pub fn drawing(&self) -> &Drawing {
        self.observers.drawing()
    }

    /// The model.
    pub fn model_of(&self) -> &Model {
        self.model.get()
    }

    /// Whether this is a simulation of the model.
    pub fn is_of(&self, model: &Model) -> bool {
        std::sync::Arc::ptr_eq(self.model.get().inner(), model.inner())
    }

    /// The simulation, unless a step is running in another thread.
    pub fn lock(&self) -> PyResult<MutexGuard<'_, sim::Simulation>> {
        try_lock(
            &self.simulation,
            "a step of this simulation is in progress in another thread",
            "a step of this simulation was aborted: make a new Simulation",
        )
    }

    /// The model.
    pub fn model_inner(&self) -> &Model {
        self.model.get()
    }

    /// What looks at signals while it computes.
    pub fn watch(&self) -> &Watch {
        &self.watch
    }

    /// The bodies that follow a motion.
    pub fn followers(&self) -> &Followers {
        &self.followers
    }

    /// The arrays that Python sees.
    pub fn live(&self) -> &LiveState {
        &self.live
    }

    /// The simulation in the state that the live arrays show.
    pub fn lock_current(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, sim::Simulation>> {
        let mut simulation = self.lock()?;
        self.live.read(py, simulation.state_mut())?;
        self.bring_parameters(py, &mut simulation)?;
        Ok(simulation)
    }

    /// Gives the simulation the parameters that their live arrays show.
    pub fn bring_parameters(&self, py: Python<'_>, simulation: &mut sim::Simulation) -> PyResult<()> {
        let Some(parameters) = self.parameters.get() else { return Ok(()) };
        let model = self.model.get();
        parameters.bring(py, simulation, model.inner(), model.scene())
    }

    /// The live arrays of parameters.
    pub fn live_parameters(&self, py: Python<'_>) -> PyResult<&LiveParameters> {
        if let Some(parameters) = self.parameters.get() {
            return Ok(parameters);
        }
        let model = self.model.get();
        let parameters = LiveParameters::new(py, model.inner(), model.scene())?;
        // Where another thread was faster, its arrays count.
        Ok(self.parameters.get_or_init(|| parameters))
    }

    /// The numbers of one body, geom, joint or constraint in a parameter.
    pub fn parameter(&self, py: Python<'_>, parameter: Parameter, row: usize, out: &mut [f64]) -> PyResult<()> {
        let model = self.model.get();
        match self.parameters.get() {
            Some(parameters) => parameters.read_row(py, parameter, row, out),
            None => {
                let all = parameter.of(model.inner(), model.scene());
                out.copy_from_slice(&all[row * out.len()..][..out.len()]);
                Ok(())
            }
        }
    }

    /// Sets them, from the next step on.
    pub fn set_parameter(&self, py: Python<'_>, parameter: Parameter, row: usize, values: &[f64]) -> PyResult<()> {
        let _idle = self.lock()?;
        self.live_parameters(py)?.write_row(py, parameter, row, values)
    }

    /// The complete state as bytes.
    pub fn state<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let state = self.lock_current(py)?.state().to_bytes();
        Ok(PyBytes::new(py, &parameters::state_bytes(state, &self.own_parameters(py)?)))
    }

    /// What of the parameters is not the model's.
    pub fn own_parameters(&self, py: Python<'_>) -> PyResult<sim::Parameters> {
        self.parameters.get().map_or_else(|| Ok(sim::Parameters::default()), |parameters| parameters.own(py))
    }

    pub fn shared_model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// The simulation, about to compute in this thread.
    pub fn lock_to_compute(&self, py: Python<'_>) -> PyResult<MutexGuard<'_, sim::Simulation>> {
        let simulation = self.lock_current(py)?;
        check_quaternions("q", &simulation.state().q, &self.model.get().inner().tree)?;
        self.watch.begin();
        Ok(simulation)
    }

    /// Advances to the last of the times and hands out positions and velocities at each; a signal that raises an
    /// exception ends that, with the state at the end of the last step.
    fn advance_through(&self, py: Python<'_>, times: &[f64], frame: impl FnMut(&[f64], &[f64]) + Send) -> PyResult<()> {
        if !self.followers.are_none() {
            return self.advance_following(py, times, frame);
        }
        let mut simulation = self.lock_to_compute(py)?;
        let stepper = &mut *simulation;
        let outcome = py.detach(|| {
            if self.observers.are_idle() {
                stepper.trajectory(times, frame)
            } else {
                self.observers.trajectory(stepper, times, frame)
            }
        });
        self.live.write_motion(py, simulation.state())?;
        outcome.map_err(|error| self.watch.error(py, &error))
    }

    fn make_steps(&self, py: Python<'_>, n: i64) -> PyResult<()> {
        let mut simulation = self.lock_to_compute(py)?;
        let stepper = &mut *simulation;
        stepper.set_steps_ahead(usize::try_from(n).unwrap_or(1));
        let outcome = py.detach(|| {
            if self.observers.are_idle() {
                (0..n).try_for_each(|_| stepper.step())
            } else {
                self.observers.step(stepper, n)
            }
        });
        // A step that failed leaves the others undone.
        simulation.set_steps_ahead(1);
        self.live.write_motion(py, simulation.state())?;
        outcome.map_err(|error| self.watch.error(py, &error))
    }

    pub fn assign(&self, live: &LiveArray, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = array(live.name(), value, live.shape())?;
        // A step in another thread would write over it.
        let _idle = self.lock()?;
        live.write(value.py(), &values)
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(
        signature = (
            model, *positions, timestep=None, accuracy=None, scheme=SchemeArgument::default(), conserve=true, pd_law="auto",
            contact="coulomb", tolerance=1e-6, factorization_budget=100, beta=0.1,
            sigma=1e-5, impratio=None, recovery_speed=1.0, sleep_after=None, sleep_speed=None, threads=1, **others
        ),
        text_signature = "(model, *, timestep=None, accuracy=None, scheme='bilinear', conserve=True, \
            pd_law='auto', contact='coulomb', tolerance=1e-06, factorization_budget=100, \
            beta=0.1, sigma=1e-05, impratio=None, recovery_speed=1.0, sleep_after=None, sleep_speed=None, threads=1)"
    )]
    fn new(
        #[pyo3(from_py_with = a_model)] model: Bound<'_, Model>,
        positions: &Bound<'_, PyTuple>,
        timestep: Option<f64>,
        accuracy: Option<f64>,
        scheme: SchemeArgument,
        conserve: bool,
        pd_law: &str,
        contact: &str,
        tolerance: f64,
        #[pyo3(from_py_with = whole_or_none)] factorization_budget: Option<i64>,
        beta: f64,
        sigma: f64,
        impratio: Option<f64>,
        recovery_speed: f64,
        sleep_after: Option<f64>,
        sleep_speed: Option<f64>,
        #[pyo3(from_py_with = whole)] threads: i64,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Self> {
        let py = model.py();
        warn_of_milliseconds(py, timestep)?;
        no_positions("Simulation", positions, "Simulation(model, timestep=0.005)")?;
        no_arguments("Simulation", others, &[&OPTIONS[..], &["threads"]].concat())?;
        let options = OptionArguments {
            timestep,
            accuracy,
            scheme,
            conserve,
            pd_law,
            contact,
            tolerance,
            factorization_budget,
            beta,
            sigma,
            impratio,
            recovery_speed,
            sleep_after,
            sleep_speed,
            threads: Some(threads),
        };
        let options = options.options()?;
        let inner = model.get();
        let (of_model, scene) = (inner.inner().clone(), inner.scene().clone());
        let simulation = in_background(py, move || sim::Simulation::new(of_model, scene, options))?;
        Self::of(&model, simulation.map_err(|error| simulation_error(py, &error))?)
    }

    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Time step, s.
    #[getter]
    fn timestep(&self) -> PyResult<f64> {
        Ok(self.lock()?.timestep())
    }

    #[setter]
    fn set_timestep(&self, py: Python<'_>, value: f64) -> PyResult<()> {
        let mut simulation = self.lock_current(py)?;
        let changing = &mut *simulation;
        py.detach(|| changing.set_timestep(value)).map_err(|error| simulation_error(py, &error))
    }

    /// Time, s.
    #[getter]
    fn time(&self) -> PyResult<f64> {
        Ok(self.lock()?.state().time)
    }

    #[setter]
    fn set_time(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let time = check_scalar("time", value)?;
        self.lock()?.state_mut().time = time;
        Ok(())
    }

    /// Positions, (nq,), a live view.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.q.view(py)
    }

    #[setter]
    fn set_q(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = array("q", value, self.live.q.shape())?;
        check_quaternions("q", &values, &self.model.get().inner().tree)?;
        let _idle = self.lock()?;
        self.live.q.write(py, &values)
    }

    /// Velocities, (nv,), a live view.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.v.view(py)
    }

    #[setter]
    fn set_v(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.v, value)
    }

    /// Controls, (nu,), a live view.
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.ctrl.view_of_controls(py)
    }

    #[setter]
    fn set_ctrl(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.ctrl, value).map_err(|error| {
            if self.live.ctrl.shape() != [0] || !error.is_instance_of::<PyValueError>(value.py()) {
                return error;
            }
            let what = "the model has no actuators: sapwood.load(file, actuators=\"motor\") makes some for a URDF file, and \
                `applied_force` needs none";
            PyValueError::new_err(format!("{}; {what}", error.value(value.py())))
        })
    }

    /// Activations, (na,), a live view.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.act.view(py)
    }

    #[setter]
    fn set_act(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.act, value)
    }

    /// Forces on the degrees of freedom, (nv,), a live view; they stay until changed.
    #[getter]
    fn applied_force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.applied_force.view(py)
    }

    #[setter]
    fn set_applied_force(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.applied_force, value)
    }

    /// Torque and force at the centre of mass of every body in world axes, (nbody, 6), a live view.
    #[getter]
    fn applied_wrench<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.applied_wrench.view(py)
    }

    #[setter]
    fn set_applied_wrench(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.applied_wrench, value)
    }

    /// Things to draw in pictures and in the viewer that the model does not have: see `sapwood.Markers`.
    #[getter]
    fn markers<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
        CLASS.import(slf.py(), "sapwood._markers", "Markers")?.call1((slf,))
    }

    /// Velocities of the geoms' surfaces on their bodies, (ngeom, 3), a live view: conveyor belts.
    #[getter]
    fn surface_velocity<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.surface_velocity.view(py)
    }

    #[setter]
    fn set_surface_velocity(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.surface_velocity, value)
    }

    /// Which equality constraints are in force, 1 or 0, (neq,), a live view; `sim.equality(name).active` is one of them.
    #[getter]
    fn equality_active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.live.equality_active.view(py)
    }

    #[setter]
    fn set_equality_active(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.live.equality_active, value)
    }

    /// Positions of the bodies that are moved from outside (MJCF `mocap`), (nmocap, 3), m, a live view.
    #[getter]
    fn mocap_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        columns(&self.live.mocap.view(py)?, 0, 3)
    }

    #[setter]
    fn set_mocap_positions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let _idle = self.lock()?;
        columns(&self.live.mocap.view(py)?, 0, 3)?.set_item(py.Ellipsis(), value)
    }

    /// Their orientations, (nmocap, 4), w x y z, a live view.
    #[getter]
    fn mocap_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        columns(&self.live.mocap.view(py)?, 3, 7)
    }

    #[setter]
    fn set_mocap_quaternions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let _idle = self.lock()?;
        columns(&self.live.mocap.view(py)?, 3, 7)?.set_item(py.Ellipsis(), value)
    }

    /// Stable PD control of any degrees of freedom, from the next step on until changed.
    #[pyo3(
        signature = (kp=None, kd=None, target=None, target_velocity=None, effort_limit=None, **others),
        text_signature = "($self, kp, kd, target, target_velocity=None, effort_limit=None)"
    )]
    fn pd(
        &self,
        kp: Option<&Bound<'_, PyAny>>,
        kd: Option<&Bound<'_, PyAny>>,
        target: Option<&Bound<'_, PyAny>>,
        target_velocity: Option<&Bound<'_, PyAny>>,
        effort_limit: Option<&Bound<'_, PyAny>>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        let [kp, kd, target] = pd_arguments([kp, kd, target], others)?;
        let model = self.model.get().inner();
        let nv = model.nv();
        let pd = sim::Pd {
            kp: per_dof("kp", kp, nv)?,
            kd: per_dof("kd", kd, nv)?,
            target: pd_target(target, configuration("target", target, model))?,
            target_velocity: target_velocity.map_or(Ok(vec![0.0; nv]), |x| vector("target_velocity", x, nv))?,
            effort_limit: effort_limit.map_or_else(|| Ok(model.effort_limits()), |x| per_dof("effort_limit", x, nv))?,
        };
        pd.check(&model.tree).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.lock()?.state_mut().pd = pd;
        Ok(())
    }

    /// Advance by n time steps.
    #[pyo3(signature = (n=1))]
    fn step(&self, py: Python<'_>, #[pyo3(from_py_with = steps)] n: i64) -> PyResult<()> {
        if n < 0 {
            return Err(PyValueError::new_err(format!("n is {n}: expected 0 or more")));
        }
        if self.followers.are_none() {
            return self.make_steps(py, n);
        }
        (0..n).try_for_each(|_| {
            self.place_followers(py, f64::INFINITY)?;
            self.make_steps(py, 1)
        })
    }

    /// Find accelerations, contacts and forces of the present state, without a step.
    fn forward(&self, py: Python<'_>) -> PyResult<()> {
        self.place_followers(py, f64::INFINITY)?;
        let mut simulation = self.lock_to_compute(py)?;
        let stepper = &mut *simulation;
        py.detach(|| stepper.forward()).map_err(|error| self.watch.error(py, &error))
    }

    /// Advance to a time.
    fn advance_to(&self, py: Python<'_>, time: f64) -> PyResult<()> {
        self.advance_through(py, &[time], |_, _| ())
    }

    /// Advance to the last of the times; positions (n, nq) and velocities (n, nv) at each.
    fn trajectory<'py>(&self, py: Python<'py>, times: &Bound<'py, PyAny>) -> PyResult<(Matrix<'py>, Matrix<'py>)> {
        let times = any_vector("times", times)?;
        self.lock_current(py)?.check_times(&times).map_err(|error| simulation_error(py, &error))?;
        let model = self.model.get().inner();
        let (nq, nv) = (model.nq(), model.nv());
        let (mut qs, mut vs) = (Vec::with_capacity(nq * times.len()), Vec::with_capacity(nv * times.len()));
        self.advance_through(py, &times, |q, v| {
            qs.extend_from_slice(q);
            vs.extend_from_slice(v);
        })?;
        let matrix = |values, columns| PyArray1::from_vec(py, values).reshape([times.len(), columns]);
        Ok((matrix(qs, nq)?, matrix(vs, nv)?))
    }

    /// The derivative of the next step with respect to the state and the controls that it starts from.
    #[pyo3(signature = (parameters=None))]
    fn step_jacobians<'py>(
        &self,
        py: Python<'py>,
        parameters: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let which = parameters.map_or_else(|| Ok(Vec::new()), parameters::differentiable)?;
        let mut simulation = self.lock_to_compute(py)?;
        let simulation = &mut *simulation;
        let own = self.own_parameters(py)?;
        let (model, scene) = (self.model.get().inner(), self.model.get().scene());
        let parameters: Vec<_> = which.iter().map(|(_, parameter)| *parameter).collect();
        let outcome = py.detach(|| simulation.step_jacobians_of((model, scene), &own, &parameters));
        let (jacobians, of_parameters) = outcome.map_err(|error| self.watch.error(py, &error))?;
        let rows = 2 * jacobians.nv;
        let matrix = |values, columns| PyArray1::from_vec(py, values).reshape([rows, columns]);
        let by_name = PyDict::new(py);
        for ((name, parameter), values) in which.iter().zip(of_parameters) {
            let flat = PyArray1::from_vec(py, values);
            match parameter.shape(model, scene) {
                (count, 1) => by_name.set_item(name, flat.reshape([rows, count])?)?,
                (count, columns) => by_name.set_item(name, flat.reshape([rows, count, columns])?)?,
            }
        }
        results::step_jacobians(py, (matrix(jacobians.a, rows)?, matrix(jacobians.b, jacobians.nu)?, by_name))
    }

    /// The contact points of the last step, a structured array.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(contacts::structured(py, self.lock()?.contacts()))
    }

    /// Statistics of the last step.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let stats = *self.lock()?.stats();
        results::stats(py, &stats)
    }

    /// Kinetic and potential energy, J.
    fn energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let energy = self.lock_current(py)?.energy();
        results::energy(py, (energy.kinetic, energy.potential))
    }

    /// Go to a keyframe, or to the default configuration at rest.
    #[pyo3(signature = (keyframe=None))]
    fn reset(&self, py: Python<'_>, keyframe: Option<&Bound<'_, PyAny>>) -> PyResult<()> {
        let keyframe = keyframe_key("keyframe", keyframe)?;
        let mut simulation = self.lock()?;
        simulation.reset(keyframe).map_err(|error| simulation_error(py, &error))?;
        self.live.write(py, simulation.state())
    }

    /// Record every step from now on.
    #[pyo3(signature = (fps=60.0, *, stress=false))]
    fn record(&self, py: Python<'_>, fps: f64, stress: bool) -> PyResult<Replay> {
        let mut simulation = self.lock_current(py)?;
        check_quaternions("q", &simulation.state().q, &self.model.get().inner().tree)?;
        Replay::record(self.model.clone_ref(py), &mut simulation, (fps, stress), &self.observers)
    }

    fn __repr__(&self) -> String {
        let model = self.model.get().inner();
        match self.simulation.try_lock() {
            // Without the round-off of a sum of steps.
            Ok(s) => format!("<sapwood.Simulation of {:?} at {} s>", model.name, (s.state().time * 1e9).round() / 1e9),
            Err(_) => format!("<sapwood.Simulation of {:?}, running>", model.name),
        }
    }
}

/// A matrix of numbers.
type Matrix<'py> = Bound<'py, PyArray2<f64>>;
