//! `sapwood.Replay`: recordings of simulations and other motions.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use geometry::Scene;
use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyFileNotFoundError, PyIsADirectoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use replay::{PageError, Recorder, Recording};
use serde_json::{Value, json};
use sim::{Simulation, SimulationError, State};

use crate::arguments::{any_rows, check_quaternions, positive, vector};
use crate::drawing::Drawing;
use crate::errors::unwritten_file;
use crate::model::{Model, a_kept_model};

/// The frames of a motion, which a page plays.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood")]
pub struct Replay {
    model: Py<Model>,
    recorder: Shared,
    /// What made the motion, for the information panel of the page.
    settings: Value,
    /// What the page shows in the place of the model, where a reference is beside it.
    shown: Option<Box<(multibody::Model, Scene)>>,
}

/// A recorder that a simulation and a `Replay` share. Whoever locks it holds it for a moment and does not call Python.
type Shared = Arc<Mutex<ActiveRecorder>>;

struct ActiveRecorder {
    recorder: Recorder,
    is_active: bool,
    /// What the simulation shows beside its model.
    drawing: Arc<Drawing>,
}

impl ActiveRecorder {
    fn finished(recording: Recording) -> Self {
        Self { recorder: Recorder::finished(recording), is_active: false, drawing: Arc::default() }
    }

    /// Notes markers.
    fn look(&mut self) {
        if self.is_active {
            self.recorder.note_drawn(self.drawing.changes(), || self.drawing.sketch());
        }
    }
}

fn lock(recorder: &Mutex<ActiveRecorder>) -> MutexGuard<'_, ActiveRecorder> {
    recorder.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What looks at each step of a simulation: recorders, and trails of what is drawn.
#[derive(Default)]
pub struct Observers {
    list: Mutex<Vec<Weak<Mutex<ActiveRecorder>>>>,
    /// Whether the list has any: what a simulation that is not recorded looks at.
    any: AtomicBool,
    drawing: Arc<Drawing>,
}

impl Observers {
    /// Whether there is nothing to record and no trail to draw.
    pub fn are_idle(&self) -> bool {
        !self.any.load(Ordering::Relaxed) && !self.drawing.has_trails()
    }

    /// What pictures show that the model does not have.
    pub fn drawing(&self) -> &Drawing {
        &self.drawing
    }

    fn add(&self, recorder: &Shared) {
        self.list.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(recorder));
        self.any.store(true, Ordering::Relaxed);
    }

    /// Shows what programs have drawn since the last step to all recorders.
    pub fn before_steps(&self) {
        for recorder in self.list.lock().unwrap_or_else(PoisonError::into_inner).iter().filter_map(Weak::upgrade) {
            lock(&recorder).look();
        }
    }

    /// Shows a step to trails and to all recorders, and forgets those that have been stopped or dropped.
    pub fn after_step(&self, start: &State, simulation: &mut Simulation) {
        self.drawing.after_step(start.time, simulation);
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|recorder| {
            let Some(recorder) = recorder.upgrade() else { return false };
            let mut recorder = lock(&recorder);
            if recorder.is_active {
                recorder.recorder.after_step(start, simulation);
                recorder.look();
            }
            recorder.is_active
        });
        self.any.store(!list.is_empty(), Ordering::Relaxed);
    }

    /// `n` steps that are recorded.
    pub fn step(&self, simulation: &mut Simulation, n: i64) -> Result<(), SimulationError> {
        self.before_steps();
        let mut start = simulation.state().clone();
        for _ in 0..n {
            start.copy_from(simulation.state());
            if simulation.options().accuracy.is_some() {
                // Each of the steps that the accuracy asks for, so that frames within them are interpolated as they should.
                let end = start.time + simulation.timestep();
                self.trajectory(simulation, &[end], |_, _| ())?;
            } else {
                simulation.step()?;
                self.after_step(&start, simulation);
            }
        }
        Ok(())
    }

    /// `Simulation::trajectory`, recorded.
    pub fn trajectory(
        &self,
        simulation: &mut Simulation,
        times: &[f64],
        frame: impl FnMut(&[f64], &[f64]),
    ) -> Result<(), SimulationError> {
        self.before_steps();
        let after = |start: &State, simulation: &mut Simulation| {
            self.after_step(start, simulation);
            ControlFlow::Continue(())
        };
        simulation.trajectory_observed(times, frame, after).map(drop)
    }
}

impl Replay {
    /// Begins to record a simulation.
    pub fn record(
        model: Py<Model>,
        simulation: &mut Simulation,
        (frames_per_second, stress): (f64, bool),
        observers: &Observers,
    ) -> PyResult<Self> {
        let frames_per_second = positive("fps", frames_per_second)?;
        let settings = json!({
            "timestep": simulation.timestep(),
            "scheme": simulation.options().scheme.to_string(),
            "accuracy": simulation.options().accuracy,
            "threads": simulation.options().threads,
        });
        let recorder = Recorder::new(simulation, frames_per_second, stress);
        let mut recorder = ActiveRecorder { recorder, is_active: true, drawing: observers.drawing.clone() };
        recorder.look();
        let recorder = Arc::new(Mutex::new(recorder));
        observers.add(&recorder);
        Ok(Self { model, recorder, settings, shown: None })
    }

    /// A recording beside the positions that it should have at its frames, (frames, nq).
    pub fn with_ghost(model: Py<Model>, recording: Recording, reference: &[f64], settings: Value) -> Self {
        let (bodies, scene, recording) =
            replay::with_ghost(model.get().inner(), model.get().scene(), recording, reference);
        Self {
            model,
            recorder: Arc::new(Mutex::new(ActiveRecorder::finished(recording))),
            settings,
            shown: Some(Box::new((bodies, scene))),
        }
    }

    fn page(&self) -> PyResult<String> {
        let mut recorder = lock(&self.recorder);
        recorder.look();
        let (model, recording) = (self.model.get(), recorder.recorder.recording());
        let frames = recording.even_frames;
        let summary = json!({
            "sapwood": env!("CARGO_PKG_VERSION"),
            "model": model.inner().name,
            "frames": frames,
            "duration": frames.saturating_sub(1) as f64 * recording.frame_time,
            "settings": self.settings,
            "warnings": model.inner().warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        });
        let (bodies, scene) =
            self.shown.as_ref().map_or((&**model.inner(), &**model.scene()), |shown| (&shown.0, &shown.1));
        replay::page(bodies, scene, recording, &summary).map_err(|error| match error {
            PageError::NoPlayer => PyRuntimeError::new_err(
                "this build of sapwood has no replay page. Install a wheel, or build the page and the package again: \
                 `cargo xtask web` in the sources (needs Node 20), then `pip install .`",
            ),
            error => PyValueError::new_err(error.to_string()),
        })
    }

    /// A list of the recording as an array of rows, (frames, columns).
    fn array<'py>(
        &self,
        py: Python<'py>,
        columns: Option<usize>,
        list: impl FnOnce(&Recording) -> Vec<f64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (frames, values) = {
            let recorder = lock(&self.recorder);
            (recorder.recorder.recording().len(), list(recorder.recorder.recording()))
        };
        let array = PyArray1::from_vec(py, values);
        match columns {
            Some(_) if array.len()? == 0 && frames > 0 => Ok(array.reshape([0, columns.unwrap_or(0)])?.into_any()),
            Some(columns) => Ok(array.reshape([frames, columns])?.into_any()),
            None => Ok(array.into_any()),
        }
    }
}

#[stubdoc::documented]
#[pymethods]
impl Replay {
    /// The motion through given positions.
    #[staticmethod]
    #[pyo3(signature = (model, q, dt=None, *, times=None, fps=60.0))]
    fn from_trajectory(
        py: Python<'_>,
        #[pyo3(from_py_with = a_kept_model)] model: Py<Model>,
        q: &Bound<'_, PyAny>,
        dt: Option<f64>,
        times: Option<&Bound<'_, PyAny>>,
        fps: f64,
    ) -> PyResult<Self> {
        let inner = model.get().inner().clone();
        let (n, mut q) = any_rows("q", q, inner.nq())?;
        if n == 0 {
            return Err(PyValueError::new_err("q has no rows: expected one per frame"));
        }
        for row in q.chunks_exact(inner.nq().max(1)) {
            check_quaternions("a row of q: q", row, &inner.tree)?;
        }
        let (frames, frame_time) = match (dt, times) {
            (Some(dt), None) => (n, positive("dt", dt)?),
            (None, Some(times)) => {
                let times = vector("times", times, n)?;
                if let Some(i) = (1..n).find(|&i| times[i] <= times[i - 1]) {
                    let (a, b) = (times[i - 1], times[i]);
                    return Err(PyValueError::new_err(format!(
                        "times[{i}] is {b} after {a}: expected ascending times"
                    )));
                }
                let frame_time = 1.0 / positive("fps", fps)?;
                let frames = (times[n - 1] - times[0]) / frame_time;
                if frames > 1e7 {
                    return Err(PyValueError::new_err(format!(
                        "{frames:.0} frames: expected at most 10 million; are the times in seconds? fps={fps} is the rate of frames"
                    )));
                }
                let (frames, resampled) = replay::resample(&inner, &q, &times, frame_time);
                q = resampled;
                (frames, frame_time)
            }
            _ => {
                return Err(PyValueError::new_err(
                    "expected either dt, the time between rows of q, or the times of the rows",
                ));
            }
        };
        let recording = py.detach(|| Recording::of_positions(&inner, q, frames, frame_time));
        let recorder = Arc::new(Mutex::new(ActiveRecorder::finished(recording)));
        Ok(Self { model, recorder, settings: json!({}), shown: None })
    }

    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Whether steps are being recorded.
    #[getter]
    fn active(&self) -> bool {
        lock(&self.recorder).is_active
    }

    /// Time between frames, s.
    #[getter]
    fn frame_time(&self) -> f64 {
        lock(&self.recorder).recorder.recording().frame_time
    }

    /// Times of the frames, (n,), s.
    #[getter]
    fn time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, None, |recording| recording.time.clone())
    }

    /// Positions, (n, nq).
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, Some(self.model.get().inner().nq()), |recording| recording.q.clone())
    }

    /// Velocities, (n, nv).
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, Some(self.model.get().inner().nv()), |recording| recording.v.clone())
    }

    /// Controls, (n, nu).
    #[getter]
    fn ctrl<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, Some(self.model.get().inner().nu()), |recording| recording.ctrl.clone())
    }

    /// Kinetic energy, (n,), J.
    #[getter]
    fn kinetic_energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, None, |recording| recording.kinetic.clone())
    }

    /// Potential energy, (n,), J.
    #[getter]
    fn potential_energy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, None, |recording| recording.potential.clone())
    }

    /// How many contact points push in every frame, and position, m, and force, N, of each, six numbers, frame after frame.
    fn _contacts(&self, py: Python<'_>) -> (Vec<u32>, Py<PyArray1<f64>>) {
        let recorder = lock(&self.recorder);
        let recording = recorder.recorder.recording();
        let points = recording.contact_points.iter().flat_map(|mark| mark.position.into_iter().chain(mark.force));
        (recording.contacts.clone(), PyArray1::from_iter(py, points).unbind())
    }

    /// End the recording.
    fn stop(&self) {
        let mut recorder = lock(&self.recorder);
        recorder.look();
        recorder.is_active = false;
    }

    fn __enter__(slf: Py<Self>) -> Py<Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, _exception: &Bound<'_, pyo3::types::PyTuple>) {
        self.stop();
    }

    fn __len__(&self) -> usize {
        lock(&self.recorder).recorder.recording().len()
    }

    /// The page that plays the motion, as HTML.
    fn html(&self, py: Python<'_>) -> PyResult<String> {
        py.detach(|| self.page())
    }

    /// Write the page that plays the motion.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir()) {
            let message = format!("{}: there is no folder {}: make it first", path.display(), folder.display());
            return Err(PyFileNotFoundError::new_err(message));
        }
        if path.is_dir() {
            let message = format!("{} is a folder: expected a file, such as motion.html", path.display());
            return Err(PyIsADirectoryError::new_err(message));
        }
        if path
            .extension()
            .is_some_and(|extension| !["html", "htm"].iter().any(|html| extension.eq_ignore_ascii_case(html)))
        {
            let message = format!("{} would be a page of HTML: expected a name that ends with .html", path.display());
            return Err(PyValueError::new_err(message));
        }
        support::check_place(&path).map_err(|error| unwritten_file(&error))?;
        let page = py.detach(|| self.page())?;
        py.detach(|| support::write_whole(&path, page.as_bytes())).map_err(|error| unwritten_file(&error))
    }

    /// A frame with the page, for Jupyter.
    fn _repr_html_(&self, py: Python<'_>) -> PyResult<String> {
        let page = self.html(py)?.replace('&', "&amp;").replace('"', "&quot;");
        Ok(format!(
            "<iframe srcdoc=\"{page}\" style=\"width: 100%; height: 540px; border: 0\" sandbox=\"allow-scripts allow-downloads\" \
             allowfullscreen></iframe>"
        ))
    }

    fn __repr__(&self) -> String {
        let recorder = lock(&self.recorder);
        let (recording, state) = (recorder.recorder.recording(), if recorder.is_active { ", recording" } else { "" });
        let (frames, rate) = (recording.len(), 1.0 / recording.frame_time);
        format!("<sapwood.Replay of {:?}: {frames} frames, {rate:.4} per second{state}>", self.model.get().inner().name)
    }
}
