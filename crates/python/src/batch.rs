//! `sapwood.Batch`.

mod access;
mod forces;
mod jacobians;
mod parameters;
mod quantities;

use std::sync::{Arc, Mutex, OnceLock};

use batch::{BatchOptions, Precision};
use gpu::Place;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyMemoryError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};

use crate::arguments::{array, configurations, per_world_and_dof, rows, sequences, whole, whole_or_none, word};
use crate::device_batch::{DeviceBatch, place};
use crate::errors::batch_error;
use crate::first_words::{no_arguments, pd_arguments, pd_target, steps};
use crate::live::{LiveArray, columns};
use crate::model::{Model, a_model};
use crate::options::{OPTIONS, OptionArguments, SchemeArgument, threads as checked_threads, warn_of_milliseconds};
use crate::parameters::{split_state, state_bytes, wrong};
use crate::resets::{Reset, ResetTo};
use crate::results::read_only;
use crate::signals::{Watch, in_background};
use crate::simulation::Simulation;
use crate::world_parameters::WorldParameters;
use crate::{contacts, results};

type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// Worlds of one model, stepped together.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Batch {
    model: Py<Model>,
    worlds: usize,
    batch: Mutex<batch::Batch>,
    q: LiveArray,
    v: LiveArray,
    ctrl: LiveArray,
    act: LiveArray,
    equality_active: LiveArray,
    mocap: LiveArray,
    time: LiveArray,
    /// From the first call of `pd` on.
    pd_target: OnceLock<LiveArray>,
    /// From when somebody first asks for them on.
    applied_force: OnceLock<LiveArray>,
    applied_wrench: OnceLock<LiveArray>,
    surface_velocity: OnceLock<LiveArray>,
    parameters: WorldParameters,
    /// Where quaternions begin in q.
    quaternions: Vec<usize>,
    watch: Watch,
}

#[stubdoc::documented]
#[pymethods]
impl Batch {
    // On a GPU it is a `DeviceBatch`.
    #[allow(clippy::new_ret_no_self)]
    #[new]
    #[pyo3(
        signature = (
            model, n=None, *, device=None, threads=None, precision=None, rows=None, lanes=None, contacts=false, timestep=None, accuracy=None,
            scheme=SchemeArgument::default(), conserve=true, pd_law="auto", contact="coulomb", tolerance=1e-6,
            factorization_budget=100, beta=0.1, sigma=1e-5, impratio=None, recovery_speed=1.0,
            sleep_after=None, sleep_speed=None, **others
        ),
        text_signature = "(model, n, *, device='cpu', threads=None, precision=None, rows=None, lanes=None, contacts=False, timestep=None, accuracy=None, \
            scheme='bilinear', conserve=True, pd_law='auto', contact='coulomb', tolerance=1e-06, factorization_budget=100, \
            beta=0.1, sigma=1e-05, impratio=None, recovery_speed=1.0, sleep_after=None, sleep_speed=None)"
    )]
    fn new(
        #[pyo3(from_py_with = a_model)] model: Bound<'_, Model>,
        #[pyo3(from_py_with = whole_or_none)] n: Option<i64>,
        #[pyo3(from_py_with = place)] device: Option<Place>,
        #[pyo3(from_py_with = whole_or_none)] threads: Option<i64>,
        precision: Option<&str>,
        #[pyo3(from_py_with = whole_or_none)] rows: Option<i64>,
        #[pyo3(from_py_with = whole_or_none)] lanes: Option<i64>,
        contacts: bool,
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
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let py = model.py();
        let own = ["n", "device", "threads", "precision", "rows", "lanes", "contacts"];
        warn_of_milliseconds(py, timestep)?;
        no_arguments("Batch", others, &[&OPTIONS[..], &own].concat())?;
        let n = n.ok_or_else(|| PyTypeError::new_err("Batch() takes a number of worlds: Batch(model, 256)"))?;
        let worlds = usize::try_from(n).unwrap_or_default();
        if worlds == 0 {
            return Err(PyValueError::new_err(format!("n is {n}: expected 1 or more worlds")));
        }
        let mut options = BatchOptions::default();
        options.simulation = OptionArguments {
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
            threads: None,
        }
        .options()?;
        let precisions = [("f64", Precision::F64), ("f32", Precision::F32)];
        let precision = precision.map(|precision| word("precision", precision, &precisions)).transpose()?;
        if let Some(place) = device {
            // Threads and lanes of the processor are none of the GPU's.
            for (name, is_given) in [("threads", threads.is_some()), ("lanes", lanes.is_some()), ("contacts", contacts)]
            {
                if is_given {
                    return Err(PyValueError::new_err(format!(
                        "{name}: a batch on a GPU has none, device=\"cpu\" has"
                    )));
                }
            }
            let of_gpu = if precision == Some(Precision::F64) { gpu::Precision::F64 } else { gpu::Precision::F32 };
            // The batch refuses 0.
            let rows = rows.map(|rows| usize::try_from(rows).unwrap_or_default());
            let own = DeviceBatch::make(&model, worlds, place, (options.simulation, of_gpu, rows))?;
            return Ok(Bound::new(py, own)?.into_any().unbind());
        }
        if rows.is_some() {
            return Err(PyValueError::new_err("rows: on the processor there is room for any constraints"));
        }
        options.threads = threads.map(checked_threads).transpose()?;
        options.lanes = lanes.map(|lanes| usize::try_from(lanes).unwrap_or_default());
        options.contacts = contacts;
        options.precision = precision.unwrap_or_default();
        let inner = model.get();
        let (of_model, scene) = (inner.inner().clone(), inner.scene().clone());
        let batch = in_background(py, move || batch::Batch::new(of_model, scene, worlds, options))?;
        let mut batch = batch.map_err(|error| batch_error(py, &error))?;
        let watch = Watch::new();
        batch.set_interrupt(watch.interrupt());
        let of_model = inner.inner();
        let rotations = of_model.tree.nodes.iter().filter_map(multibody::Node::quaternion);
        let own = Self {
            model: model.clone().unbind(),
            worlds,
            q: LiveArray::new(py, "q", &[worlds, of_model.nq()])?,
            v: LiveArray::new(py, "v", &[worlds, of_model.nv()])?,
            ctrl: LiveArray::new(py, "ctrl", &[worlds, of_model.nu()])?,
            act: LiveArray::new(py, "act", &[worlds, of_model.na()])?,
            equality_active: LiveArray::new(py, "equality_active", &[worlds, of_model.equalities.len()])?,
            mocap: LiveArray::new(py, "mocap", &[worlds, of_model.mocap_bodies().count(), 7])?,
            time: LiveArray::new(py, "time", &[worlds])?,
            pd_target: OnceLock::new(),
            applied_force: OnceLock::new(),
            applied_wrench: OnceLock::new(),
            surface_velocity: OnceLock::new(),
            parameters: WorldParameters::default(),
            quaternions: rotations.collect(),
            batch: Mutex::new(batch),
            watch,
        };
        let batch = own.lock()?;
        own.write_all(py, &batch)?;
        own.warn_if_alone(py, &batch, false)?;
        drop(batch);
        Ok(Bound::new(py, own)?.into_any().unbind())
    }

    /// Where the worlds are.
    #[getter]
    fn device(&self) -> &'static str {
        "cpu"
    }

    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Number of worlds.
    #[getter]
    fn n(&self) -> usize {
        self.worlds
    }

    fn __len__(&self) -> usize {
        self.worlds
    }

    /// Time step, s.
    #[getter]
    fn timestep(&self) -> PyResult<f64> {
        let own = self.lock()?.options().timestep;
        Ok(own.unwrap_or(self.model.get().inner().timestep))
    }

    /// Worlds side by side in a register.
    #[getter]
    fn lanes(&self) -> PyResult<usize> {
        Ok(self.lock()?.lanes())
    }

    /// Threads that share the worlds.
    #[getter]
    fn threads(&self) -> PyResult<usize> {
        Ok(self.lock()?.threads())
    }

    /// Why worlds are stepped one by one, or None.
    #[getter]
    fn alone(&self) -> PyResult<Option<String>> {
        Ok(self.lock()?.alone().map(str::to_owned))
    }

    /// Positions, (n, nq), a live view.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.q.view(py)
    }

    #[setter]
    fn set_q(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = array("q", value, self.q.shape())?;
        self.check_rotations(&values)?;
        let _idle = self.lock()?;
        self.q.write(py, &values)
    }

    /// Velocities, (n, nv), a live view.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.v.view(py)
    }

    #[setter]
    fn set_v(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.v, value)
    }

    /// Controls, (n, nu), a live view.
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.ctrl.view_of_controls(py)
    }

    #[setter]
    fn set_ctrl(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.ctrl, value)
    }

    /// Activations, (n, na), a live view.
    #[getter]
    fn act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.act.view(py)
    }

    #[setter]
    fn set_act(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.act, value)
    }

    /// Which equality constraints are in force, 1 or 0, (n, neq), a live view.
    #[getter]
    fn equality_active<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.equality_active.view(py)
    }

    #[setter]
    fn set_equality_active(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.equality_active, value)
    }

    /// Positions of the bodies that are moved from outside, (n, nmocap, 3), m, a live view.
    #[getter]
    fn mocap_positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        columns(&self.mocap.view(py)?, 0, 3)
    }

    #[setter]
    fn set_mocap_positions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        columns(&self.mocap.view(py)?, 0, 3)?.set_item(py.Ellipsis(), value)
    }

    /// Their orientations, (n, nmocap, 4), w x y z, a live view.
    #[getter]
    fn mocap_quaternions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        columns(&self.mocap.view(py)?, 3, 7)
    }

    #[setter]
    fn set_mocap_quaternions(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        columns(&self.mocap.view(py)?, 3, 7)?.set_item(py.Ellipsis(), value)
    }

    /// Times, (n,), s, a live view.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.time.view(py)
    }

    #[setter]
    fn set_time(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.assign(&self.time, value)
    }

    /// Targets of PD control, (n, nq), a live view.
    #[getter]
    fn pd_target<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.target()?.view(py)
    }

    #[setter]
    fn set_pd_target(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let target = self.target()?;
        let values = array("pd_target", value, target.shape())?;
        let nq = target.shape()[1];
        let mut worlds = values.chunks_exact(nq.max(1)).enumerate();
        worlds.try_for_each(|(world, q)| self.check_quaternions("pd_target", world, q))?;
        let _idle = self.lock()?;
        target.write(py, &values)
    }

    /// Stable PD control of all worlds, from the next step on until changed.
    #[pyo3(
        signature = (kp=None, kd=None, target=None, target_velocity=None, effort_limit=None, **others),
        text_signature = "($self, kp, kd, target, target_velocity=None, effort_limit=None)"
    )]
    fn pd<'py>(
        &self,
        py: Python<'py>,
        kp: Option<&Bound<'py, PyAny>>,
        kd: Option<&Bound<'py, PyAny>>,
        target: Option<&Bound<'py, PyAny>>,
        target_velocity: Option<&Bound<'py, PyAny>>,
        effort_limit: Option<&Bound<'py, PyAny>>,
        others: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<()> {
        let [kp, kd, target] = pd_arguments([kp, kd, target], others)?;
        let model = self.model.get().inner();
        let (nq, nv) = (model.nq(), model.nv());
        let targets = pd_target(target, configurations("target", target, self.worlds, model))?;
        let rows = |name: &str, given: &Bound<'py, PyAny>| per_world_and_dof(name, given, self.worlds, nv);
        let or = |name: &str, given: Option<&Bound<'py, PyAny>>, none: Vec<f64>| {
            given.map_or(Ok(none), |given| rows(name, given))
        };
        let kp = rows("kp", kp)?;
        let kd = rows("kd", kd)?;
        let target_velocity = or("target_velocity", target_velocity, vec![0.0; nv])?;
        let effort_limit = or("effort_limit", effort_limit, model.effort_limits())?;
        let of_world = |world: usize| {
            let row = |all: &[f64]| if all.len() == nv { all.to_vec() } else { all[world * nv..][..nv].to_vec() };
            sim::Pd {
                kp: row(&kp),
                kd: row(&kd),
                target: targets[world * nq..][..nq].to_vec(),
                target_velocity: row(&target_velocity),
                effort_limit: row(&effort_limit),
            }
        };
        let is_shared = [&kp, &kd, &target_velocity, &effort_limit].iter().all(|all| all.len() == nv);
        let all: Vec<sim::Pd> = (0..if is_shared { 1 } else { self.worlds }).map(of_world).collect();
        let check = |pd: &sim::Pd| pd.check(&model.tree).map_err(|error| PyValueError::new_err(error.to_string()));
        all.iter().try_for_each(check)?;
        let mut batch = self.lock()?;
        let was_alone = batch.alone().is_some();
        let outcome = if is_shared { batch.set_pd(all.into_iter().next()) } else { batch.set_pd_of_worlds(&all) };
        outcome.map_err(|error| batch_error(py, &error))?;
        if self.pd_target.get().is_none() {
            // Another thread cannot have set it: the batch is locked.
            let _ = self.pd_target.set(LiveArray::new(py, "pd_target", &[self.worlds, nq])?);
        }
        self.target()?.write(py, &targets)?;
        self.warn_if_alone(py, &batch, was_alone)
    }

    /// End PD control.
    fn end_pd(&self, py: Python<'_>) -> PyResult<()> {
        self.lock()?.set_pd(None).map_err(|error| batch_error(py, &error))
    }

    /// Advance all worlds by k time steps.
    #[pyo3(signature = (k=1))]
    fn step(&self, py: Python<'_>, #[pyo3(from_py_with = steps)] k: i64) -> PyResult<()> {
        let steps = usize::try_from(k).map_err(|_| PyValueError::new_err(format!("k is {k}: expected 0 or more")))?;
        let mut batch = self.lock_to_compute(py)?;
        let stepper = &mut *batch;
        let outcome = py.detach(|| stepper.step(steps));
        self.write_motion(py, &batch)?;
        outcome.map_err(|error| self.error(py, &batch, &error))
    }

    /// Which worlds failed, (n,).
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let mut failed = vec![false; self.worlds];
        self.lock()?.errors().for_each(|(world, _)| failed[world] = true);
        Ok(read_only(PyArray1::from_vec(py, failed)))
    }

    /// Why worlds failed.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let errors = PyDict::new(py);
        for (world, error) in self.lock()?.errors() {
            errors.set_item(world, error.to_string())?;
        }
        Ok(errors)
    }

    /// Take worlds to a keyframe, to the default configuration, or to states of their own.
    #[pyo3(
        signature = (mask=None, keyframe=None, states=None, **others),
        text_signature = "($self, mask=None, keyframe=None, states=None)"
    )]
    fn reset(
        &self,
        py: Python<'_>,
        mask: Option<&Bound<'_, PyAny>>,
        keyframe: Option<&Bound<'_, PyAny>>,
        states: Option<&Bound<'_, PyAny>>,
        others: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<()> {
        no_arguments("reset", others, &["mask", "keyframe", "states"])?;
        let Reset { which, to } = Reset::new(self.model.get().inner(), self.worlds, mask, keyframe, states)?;
        let mut batch = self.lock()?;
        let outcome = match to {
            ResetTo::Keyframe(key) => batch.reset(&which, key),
            ResetTo::States { q, v } => batch.reset_to(&which, &q, &v),
        };
        outcome.map_err(|error| batch_error(py, &error))?;
        let mut worlds = which.iter().enumerate().filter(|(_, which)| **which);
        worlds.try_for_each(|(world, _)| self.write_reset(py, &batch, world))
    }

    /// Trajectories under sequences of controls.
    #[pyo3(signature = (q, v, ctrl, *, skip=1, targets=None, sensors=false))]
    fn rollout<'py>(
        &self,
        py: Python<'py>,
        q: Option<&Bound<'py, PyAny>>,
        v: Option<&Bound<'py, PyAny>>,
        ctrl: &Bound<'py, PyAny>,
        #[pyo3(from_py_with = whole)] skip: i64,
        targets: Option<&Bound<'py, PyAny>>,
        sensors: bool,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let model = self.model.get().inner();
        let (n, nq, nv, nu) = (self.worlds, model.nq(), model.nv(), model.nu());
        let steps = usize::try_from(skip).ok().filter(|skip| *skip > 0);
        let steps = steps.ok_or_else(|| PyValueError::new_err(format!("skip is {skip}: expected 1 or more")))?;
        let (horizon, controls) = sequences("ctrl", ctrl, n, nu)?;
        let targets = self.targets(targets, horizon)?;
        let q = q.map(|q| configurations("q", q, n, model)).transpose()?;
        let v = v.map(|v| rows("v", v, n, nv)).transpose()?;
        let (mut out_q, mut out_v) = (zeros(&[n, horizon, nq])?, zeros(&[n, horizon, nv])?);
        let shown = if sensors { model.sensor_data_len() } else { 0 };
        let mut out_sensors = zeros(&[n, horizon, shown])?;
        let mut batch = self.lock_to_compute(py)?;
        if let Some(q) = &q {
            batch.q_mut().copy_from_slice(q);
        }
        if let Some(v) = &v {
            batch.v_mut().copy_from_slice(v);
        }
        if q.is_some() || v.is_some() {
            (0..n).for_each(|world| batch.forget(world));
        }
        let stepper = &mut *batch;
        let outcome = py.detach(|| {
            let (q, v) = (&mut out_q, &mut out_v);
            if sensors {
                stepper.rollout_with_sensors(&controls, &targets, horizon, steps, q, v, &mut out_sensors)
            } else {
                stepper.rollout(&controls, &targets, horizon, steps, q, v)
            }
        });
        self.write_motion(py, &batch)?;
        self.ctrl.write(py, batch.ctrl())?;
        if !targets.is_empty() {
            self.target()?.write(py, batch.pd_target())?;
        }
        outcome.map_err(|error| self.error(py, &batch, &error))?;
        let tensor = |values, columns| PyArray1::from_vec(py, values).reshape([n, horizon, columns]);
        let mut all = vec![tensor(out_q, nq)?, tensor(out_v, nv)?];
        if sensors {
            all.push(tensor(out_sensors, shown)?);
        }
        PyTuple::new(py, all)
    }

    /// The state of a world as bytes, as `Simulation.state` gives it.
    fn state<'py>(&self, py: Python<'py>, #[pyo3(from_py_with = whole)] world: i64) -> PyResult<Bound<'py, PyBytes>> {
        let world = self.world(world)?;
        let mut batch = self.lock()?;
        self.read_world(py, &mut batch, world)?;
        let own = batch.own_parameters(world).cloned().unwrap_or_default();
        Ok(PyBytes::new(py, &state_bytes(batch.state(world).to_bytes(), &own)))
    }

    /// Take a world to a state, and give it the parameters that the state has.
    fn set_state(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = whole)] world: i64,
        state: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        let world = self.world(world)?;
        let (bytes, own) = if let Ok(simulation) = state.cast::<Simulation>() {
            (simulation.get().current_state(py)?.to_bytes(), simulation.get().own_parameters(py)?)
        } else {
            let (bytes, own) = split_state(state.extract()?)?;
            (bytes.to_vec(), own)
        };
        let mut state = sim::State::new(self.model.get().inner());
        state.restore(&bytes).map_err(|error| PyValueError::new_err(format!("state: {error}")))?;
        // All or nothing.
        own.check(self.model.get().inner(), self.model.get().scene()).map_err(|error| wrong(&error))?;
        let mut batch = self.lock()?;
        self.read_world(py, &mut batch, world)?;
        batch.set_state(world, &state).map_err(|error| batch_error(py, &error))?;
        if !own.is_empty() {
            self.parameters.give(py, &mut *batch, world, own)?;
        }
        self.write_world(py, &batch, world)
    }

    /// A simulation that goes on from where a world is.
    fn simulation(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] world: i64) -> PyResult<Simulation> {
        let world = self.world(world)?;
        let mut batch = self.lock()?;
        self.read_world(py, &mut batch, world)?;
        let simulation = batch.simulation(world).map_err(|error| batch_error(py, &error.into()))?;
        if Arc::ptr_eq(simulation.model(), self.model.get().inner()) {
            return Simulation::of(self.model.bind(py), simulation);
        }
        let own = Model::of(simulation.model().clone(), simulation.scene().clone());
        Simulation::of(&Bound::new(py, own)?, simulation)
    }

    /// The contact points of the last step of every world.
    #[getter]
    fn contacts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        contacts::of_batch(py, &*self.lock()?)
    }

    /// What happened since the batch was made.
    #[getter]
    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let s = *self.lock()?.stats();
        let fields = (s.steps, s.left, s.unsettled, s.iterations, s.group_iterations, s.left_iterations, s.pushing);
        results::batch_stats(py, fields)
    }

    fn __repr__(&self) -> String {
        let name = &self.model.get().inner().name;
        format!("<sapwood.Batch of {} worlds of {name:?}>", self.worlds)
    }
}

/// Zeros for an array of this shape, or `MemoryError`.
fn zeros(shape: &[usize]) -> PyResult<Vec<f64>> {
    let mut zeros = Vec::new();
    let len = shape.iter().fold(1_usize, |len, n| len.saturating_mul(*n));
    let message = || PyMemoryError::new_err(format!("an array of shape {shape:?} does not fit into memory"));
    zeros.try_reserve_exact(len).map_err(|_| message())?;
    zeros.resize(len, 0.0);
    Ok(zeros)
}
