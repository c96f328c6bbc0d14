//! `sapwood.tracking`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use motion::tracking::{
    Control, Controller, End, Error, Gains, JOINT_GAINS, ROOT_GAINS, Target, Task, Tracking as Inner, errors_svg,
    track as follow,
};
use motion::{Axes, LoopMode, RetargetOptions, Source, SourceOptions};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use serde_json::json;

use crate::arguments::{several_or_none, word};
use crate::errors::simulation_error;
use crate::model::{Model, a_kept_model};
use crate::replay::Replay;
use crate::signals::Watch;

/// How closely a model followed a motion.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood.tracking")]
pub struct Tracking {
    model: Py<Model>,
    /// Its recording is the replay's.
    inner: Inner,
    replay: Py<Replay>,
    notes: Vec<String>,
    title: String,
}

fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

/// Values by name, as `word` takes them.
fn names<T: Copy, const N: usize>(named: [(&'static str, T, &'static str); N]) -> [(&'static str, T); N] {
    named.map(|(name, value, _)| (name, value))
}

/// Lets a model follow a motion.
#[stubdoc::documented]
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "options, by name")]
#[pyo3(signature = (model, clip, *, control="stable", target="end-velocity", dt=None, duration=5.0, hand_of_god=true,
    gains=None, root_gains=None, effort_limit=None, effectors=None, lost=1.0, fps=60.0, rename=None,
    scale=None, axes=None, keep_unnamed=false, r#loop=None))]
pub fn track(
    py: Python<'_>,
    #[pyo3(from_py_with = a_kept_model)] model: Py<Model>,
    clip: PathBuf,
    control: &str,
    target: &str,
    dt: Option<f64>,
    duration: f64,
    hand_of_god: bool,
    gains: Option<[f64; 2]>,
    root_gains: Option<[f64; 2]>,
    effort_limit: Option<f64>,
    #[pyo3(from_py_with = several_or_none)] effectors: Option<Vec<String>>,
    lost: f64,
    fps: f64,
    rename: Option<BTreeMap<String, String>>,
    scale: Option<f64>,
    axes: Option<&str>,
    keep_unnamed: bool,
    r#loop: Option<bool>,
) -> PyResult<Tracking> {
    let (bodies, scene) = (model.get().inner().clone(), model.get().scene().clone());
    let axes = axes.map(|axes| word("axes", axes, &Axes::ALL.map(|axes| (axes.name(), axes)))).transpose()?;
    if let Some(scale) = scale.filter(|scale| !(scale.is_finite() && *scale > 0.0)) {
        return Err(value_error(format!("scale is {scale}: expected a finite number above 0")));
    }
    let retarget = RetargetOptions { axes, scale, rename: rename.into_iter().flatten().collect(), keep_unnamed };
    let loop_mode = r#loop.map(|wraps| if wraps { LoopMode::Wrap } else { LoopMode::Clamp });
    let root = hand_of_god.then_some(root_gains.unwrap_or(ROOT_GAINS));
    let controller = Controller {
        control: word("control", control, &names(Control::NAMED))?,
        target: word("target", target, &names(Target::NAMED))?,
        gains: Gains { joints: gains.unwrap_or(JOINT_GAINS), root },
        effort_limit: effort_limit.unwrap_or(f64::INFINITY),
    };
    let dt = dt.unwrap_or(bodies.timestep);
    let effectors = effectors.unwrap_or_default();
    let task = Task { controller, dt, seconds: duration, effectors, lost, frames_per_second: fps };
    let watch = Watch::new();
    watch.begin();
    let outcome = py.detach(|| -> Result<_, Error> {
        let clip = Source::open(&clip.to_string_lossy())?;
        let motion = clip.on(&bodies, &SourceOptions { retarget, loop_mode })?;
        let tracking = follow(&bodies, &scene, &motion, &task, &watch.interrupt(), |_| ())?;
        Ok((clip, motion.notes, tracking))
    });
    let (clip, notes, mut inner) = outcome.map_err(|error| match error {
        Error::Simulation(error) => simulation_error(py, &error),
        error => value_error(error),
    })?;
    if inner.end == End::Interrupted {
        return Err(watch.interrupted());
    }
    let title = format!("{}, {}: {control}, target {target}", bodies.name, clip.name());
    let settings = json!({ "clip": clip.name(), "control": control, "target": target, "hand_of_god": hand_of_god, "timestep": dt });
    let recording = std::mem::take(&mut inner.recording);
    let replay = Replay::with_ghost(model.clone_ref(py), recording, &inner.reference, settings);
    Ok(Tracking { model, inner, replay: Py::new(py, replay)?, notes, title })
}

#[stubdoc::documented]
#[pymethods]
impl Tracking {
    /// The model.
    #[getter]
    fn model(&self, py: Python<'_>) -> Py<Model> {
        self.model.clone_ref(py)
    }

    /// Whether the motion was followed to the end of the time.
    #[getter]
    fn completed(&self) -> bool {
        self.inner.end == End::Completed
    }

    /// Why not.
    #[getter]
    fn message(&self) -> Option<String> {
        match &self.inner.end {
            End::Completed | End::Interrupted => None,
            End::Lost { body, time } => {
                Some(format!("{body} is too far from its place, seen from the root, at {time:.3} s"))
            }
            End::Failed(error) => Some(error.to_string()),
        }
    }

    /// How joints, axes and units of a file met the model's.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    /// Times, (n,), s.
    #[getter]
    fn times<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.time)
    }

    /// Names of the bodies that were compared.
    #[getter]
    fn effectors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.inner.effectors)
    }

    /// Distances from their places, (n, effectors), m.
    #[getter]
    fn errors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let size = [self.inner.time.len(), self.inner.effectors.len()];
        PyArray1::from_slice(py, &self.inner.effector_errors).reshape(size)
    }

    /// Distance of the root from its place, (n,), m.
    #[getter]
    fn root_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.root_error)
    }

    /// Root mean square of the joints' errors, (n,), rad.
    #[getter]
    fn joint_errors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        PyArray1::from_slice(py, &self.inner.joint_error)
    }

    /// Root mean square of all distances, m.
    #[getter]
    fn rms(&self) -> f64 {
        self.inner.rms()
    }

    /// Contact points that pushed, mean per step.
    #[getter]
    fn contacts(&self) -> f64 {
        self.inner.contacts
    }

    /// The motion, the reference beside it.
    #[getter]
    fn replay(&self, py: Python<'_>) -> Py<Replay> {
        self.replay.clone_ref(py)
    }

    /// Positions of the reference at the frames of the replay, (frames, nq).
    #[getter]
    fn reference<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let nq = self.model.get().inner().nq();
        PyArray1::from_slice(py, &self.inner.reference).reshape([self.inner.reference.len() / nq.max(1), nq])
    }

    /// A picture of the errors over time.
    #[pyo3(signature = (title=None))]
    fn svg(&self, title: Option<&str>) -> PyResult<String> {
        errors_svg(title.unwrap_or(&self.title), &self.inner).map_err(value_error)
    }

    fn __repr__(&self) -> String {
        let (rms, steps) = (1e3 * self.inner.rms(), self.inner.steps());
        let end = if self.completed() { "" } else { ", lost" };
        format!("<sapwood.tracking.Tracking of {:?}: {rms:.2} mm in {steps} steps{end}>", self.title)
    }
}
