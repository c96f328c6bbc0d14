//! `sapwood._sapwood.Episodes`: the environments of `sapwood.gym`, for the worlds of a `Batch`.

use std::sync::{Mutex, MutexGuard};

use ::envs::{Autoreset, Environment, Scratch, SuiteTask, Task, TaskOptions, Transition, Value};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyDict};

use crate::arguments::{any_rows, array, mask, rows, vector, whole, whole_or_none, word};
use crate::batch::Batch;
use crate::live::LiveArray;
use crate::lock::try_lock;
use crate::model::Model;

type Flags<'py> = Bound<'py, PyArray1<bool>>;
type Evaluated<'py> = (Bound<'py, PyArray2<f64>>, Bound<'py, PyArray1<f64>>, Flags<'py>, Bound<'py, PyArray2<f64>>);

/// Episodes of one of Gymnasium's MuJoCo tasks in the worlds of a batch.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood._sapwood")]
pub struct Episodes {
    batch: Py<Batch>,
    environment: Environment,
    episodes: Mutex<::envs::Episodes>,
    observation: LiveArray,
    reward: LiveArray,
    info: LiveArray,
    last_observation: LiveArray,
    last_info: LiveArray,
    next_q: LiveArray,
    next_v: LiveArray,
    next_goal: LiveArray,
    next_act: LiveArray,
}

#[stubdoc::documented]
#[pymethods]
impl Episodes {
    #[new]
    #[pyo3(signature = (batch, task, options, *, frame_skip, max_episode_steps=None, autoreset="next-step"))]
    fn new(
        batch: &Bound<'_, Batch>,
        task: &str,
        options: &Bound<'_, PyDict>,
        #[pyo3(from_py_with = whole)] frame_skip: i64,
        #[pyo3(from_py_with = whole_or_none)] max_episode_steps: Option<i64>,
        autoreset: &str,
    ) -> PyResult<Self> {
        let py = batch.py();
        let suite = SuiteTask::of_name(task);
        let modes =
            [("next-step", Autoreset::NextStep), ("same-step", Autoreset::SameStep), ("disabled", Autoreset::Disabled)];
        let autoreset = word("autoreset", autoreset, &modes)?;
        let frame_skip = usize::try_from(frame_skip).ok().filter(|skip| *skip > 0).ok_or_else(|| {
            PyValueError::new_err(format!("frame_skip is {frame_skip}: expected 1 or more time steps"))
        })?;
        let positive = |steps: i64| {
            let error = || PyValueError::new_err(format!("max_episode_steps is {steps}: expected 1 or more, or None"));
            u64::try_from(steps).ok().filter(|steps| *steps > 0).ok_or_else(error)
        };
        let limit = max_episode_steps.map(positive).transpose()?;
        let inner = batch.get().lock()?;
        let (model, n) = (inner.model().clone(), inner.worlds());
        let timestep = inner.options().timestep.unwrap_or(model.timestep);
        let scene = batch.get().model_of().get().scene().clone();
        let value_error = |error: ::envs::EnvError| PyValueError::new_err(error.to_string());
        let environment = if let Some(task) = suite {
            Environment::of_suite(&model, &scene, task)
        } else {
            let tasks = Task::ALL.map(|task| (task.name(), task));
            let task = word("task", task, &tasks)?;
            Environment::new(&model, &scene, task, &task_options(task, options)?, timestep * frame_skip as f64)
        };
        let environment = environment.map_err(value_error)?;
        let episodes = ::envs::Episodes::new(environment.clone(), &inner, frame_skip, limit, autoreset);
        let episodes = episodes.map_err(value_error)?;
        drop(inner);
        let (observation, info) = (environment.observation_len(), environment.info_len());
        let kept = if autoreset == Autoreset::SameStep { n } else { 0 };
        let own = Self {
            observation: LiveArray::new(py, "observation", &[n, observation])?,
            reward: LiveArray::new(py, "reward", &[n])?,
            info: LiveArray::new(py, "info", &[n, info])?,
            last_observation: LiveArray::new(py, "last_observation", &[kept, observation])?,
            last_info: LiveArray::new(py, "last_info", &[kept, info])?,
            next_q: LiveArray::new(py, "next_q", &[n, model.nq()])?,
            next_v: LiveArray::new(py, "next_v", &[n, model.nv()])?,
            next_goal: LiveArray::new(py, "next_goal", &[n, environment.goal_len()])?,
            next_act: LiveArray::new(py, "next_act", &[n, model.na()])?,
            batch: batch.clone().unbind(),
            environment,
            episodes: Mutex::new(episodes),
        };
        own.next_q.write(py, &model.q0.repeat(n))?;
        Ok(own)
    }

    /// The batch.
    #[getter]
    fn batch(&self, py: Python<'_>) -> Py<Batch> {
        self.batch.clone_ref(py)
    }

    /// Observations, (n, number), a live view.
    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.observation.view(py)
    }

    /// Rewards of the last step, (n,), a live view.
    #[getter]
    fn reward<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.reward.view(py)
    }

    /// Numbers of `info`, (n, number), a live view; `info_columns` says what they are.
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.info.view(py)
    }

    /// Last observations of episodes that ended, (n, number), a live view; (0, number) unless autoreset is "same-step".
    #[getter]
    fn last_observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.last_observation.view(py)
    }

    /// Their last `info`, likewise.
    #[getter]
    fn last_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.last_info.view(py)
    }

    /// Positions at which the next episodes begin, (n, nq), a live view to be written.
    #[getter]
    fn next_q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.next_q.view(py)
    }

    /// Velocities with which the next episodes begin, (n, nv), a live view to be written.
    #[getter]
    fn next_v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.next_v.view(py)
    }

    /// Goals of the next episodes, (n, number), a live view to be written.
    #[getter]
    fn next_goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.next_goal.view(py)
    }

    /// Activations with which the next episodes begin, (n, na), a live view to be written.
    #[getter]
    fn next_act<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.next_act.view(py)
    }

    /// Goals of the present episodes, (n, number).
    #[getter]
    fn goal<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        let goals = (0..episodes.worlds()).flat_map(|world| episodes.goal(world).iter().copied());
        PyArray1::from_iter(py, goals).reshape([episodes.worlds(), self.environment.goal_len()])
    }

    /// Name, beginning and end of each part of an observation.
    #[getter]
    fn observation_parts(&self) -> Vec<(&'static str, usize, usize)> {
        let parts = self.environment.observation_parts();
        parts.into_iter().map(|(name, range)| (name, range.start, range.end)).collect()
    }

    /// Ranges of the controls, (nu, 2); infinite where a control has none.
    #[getter]
    fn action_range<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let actuators = &self.environment.model().actuators;
        let range = |range: Option<(f64, f64)>| range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let ranges = actuators.iter().map(|actuator| range(actuator.ctrl_range)).flat_map(|(low, high)| [low, high]);
        PyArray1::from_iter(py, ranges).reshape([actuators.len(), 2])
    }

    /// Name, width, and whether resets have it, of each entry of `info`.
    #[getter]
    fn info_columns(&self) -> Vec<(&'static str, usize, bool)> {
        self.environment.info_columns().iter().map(|c| (c.name, c.width, c.is_of_reset)).collect()
    }

    /// Which worlds could not be simulated in the last step, (n,).
    #[getter]
    fn failed<'py>(&self, py: Python<'py>) -> PyResult<Flags<'py>> {
        Ok(PyArray1::from_vec(py, self.lock()?.failed().collect()))
    }

    /// Begin episodes in the worlds of a mask, at their next states.
    fn reset(&self, py: Python<'_>, which: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut episodes = self.lock()?;
        let which = mask("which", which, episodes.worlds())?;
        let batch_object = self.batch.get();
        let mut batch = batch_object.lock_to_compute(py)?;
        self.read_next(py, &mut episodes)?;
        episodes.reset(&mut batch, &which);
        batch_object.write_all(py, &batch)?;
        self.write(py, &episodes)
    }

    /// The model of an episode with such a goal: the batch's, unless the task's models differ from episode to episode.
    fn model_of(&self, py: Python<'_>, goal: &Bound<'_, PyAny>) -> PyResult<Py<Model>> {
        let goal = vector("goal", goal, self.environment.goal_len())?;
        match self.environment.model_of(&goal) {
            Some((model, scene)) => Py::new(py, Model::of(model, scene)),
            None => Ok(self.batch.get().model_of().clone_ref(py)),
        }
    }

    /// What episodes know beside the states of the worlds.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock()?.memory()))
    }

    /// Go on with the episodes of a memory.
    fn restore(&self, py: Python<'_>, memory: &[u8]) -> PyResult<()> {
        let mut episodes = self.lock()?;
        let mut batch = self.batch.get().lock_to_compute(py)?;
        episodes.restore(&mut batch, memory).map_err(|error| PyValueError::new_err(error.to_string()))?;
        self.write(py, &episodes)
    }

    fn __repr__(&self) -> String {
        let (name, n) = (&self.environment.model().name, self.reward.shape()[0]);
        format!("<sapwood.Episodes in {n} worlds of {name:?}>")
    }

    /// Take the observation of a world where its batch's arrays have put it.
    fn observe(&self, py: Python<'_>, #[pyo3(from_py_with = whole)] world: i64) -> PyResult<()> {
        let mut episodes = self.lock()?;
        let batch = self.batch.get();
        let world = batch.world(world)?;
        let mut inner = batch.lock_to_compute(py)?;
        inner.forget(world);
        episodes.look_at_start(&mut inner, world);
        self.write(py, &episodes)
    }

    /// A step of every world: controls, time steps, observations, rewards, ends, resets.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(Flags<'py>, Flags<'py>, Flags<'py>)> {
        let mut episodes = self.lock()?;
        let batch_object = self.batch.get();
        let nu = batch_object.model_of().get().inner().nu();
        let actions = array("actions", actions, &[episodes.worlds(), nu])?;
        let mut batch = batch_object.lock_to_compute(py)?;
        self.read_next(py, &mut episodes)?;
        let (stepper, of) = (&mut *episodes, &mut *batch);
        let outcome = py.detach(|| stepper.step(of, &actions));
        batch_object.write_all(py, &batch)?;
        outcome.map_err(|error| batch_object.error(py, &batch, &error))?;
        self.write(py, &episodes)?;
        let flags = |flags: &[bool]| PyArray1::from_slice(py, flags);
        Ok((flags(episodes.terminated()), flags(episodes.truncated()), flags(episodes.was_reset())))
    }

    /// Observation, reward, end and info of transitions that were made elsewhere, as rows; without contact.
    #[pyo3(signature = (q_before, q, v, actions, goals=None, act=None, sensordata=None))]
    #[expect(clippy::too_many_arguments, reason = "they are what a world consists of")]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        q_before: &Bound<'py, PyAny>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        actions: &Bound<'py, PyAny>,
        goals: Option<&Bound<'py, PyAny>>,
        act: Option<&Bound<'py, PyAny>>,
        sensordata: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Evaluated<'py>> {
        let environment = &self.environment;
        let model = environment.model();
        let (nq, nv, nu) = (model.nq(), model.nv(), model.nu());
        let (n, q) = any_rows("q", q, nq)?;
        let before = rows("q_before", q_before, n, nq)?;
        let (v, actions) = (rows("v", v, n, nv)?, rows("actions", actions, n, nu)?);
        let goal = environment.goal_len();
        let given = |name: &'static str, values: Option<&Bound<'py, PyAny>>, width: usize| {
            values.map_or_else(|| Ok(vec![0.0; n * width]), |values| rows(name, values, n, width))
        };
        let goals = given("goals", goals, goal)?;
        let (na, count) = (model.na(), model.sensor_data_len());
        let (act, sensors) = (given("act", act, na)?, given("sensordata", sensordata, count)?);
        let (width, info_width) = (environment.observation_len(), environment.info_len());
        let (mut observations, mut infos) = (vec![0.0; n * width], vec![0.0; n * info_width]);
        let (mut rewards, mut ends) = (vec![0.0; n], vec![false; n]);
        let mut scratch = Scratch::new(model);
        for k in 0..n {
            let world = ::batch::World {
                q: &q[k * nq..][..nq],
                v: &v[k * nv..][..nv],
                ctrl: &actions[k * nu..][..nu],
                act: &act[k * na..][..na],
                sensors: &sensors[k * count..][..count],
                contacts: &[],
                error: None,
            };
            let before = environment.position(&before[k * nq..][..nq], &mut scratch);
            (rewards[k], ends[k]) = environment.observe_step(
                &world,
                &goals[k * goal..][..goal],
                Transition { before, ..Transition::default() },
                &mut scratch,
                &mut observations[k * width..][..width],
                &mut infos[k * info_width..][..info_width],
            );
        }
        Ok((
            PyArray1::from_vec(py, observations).reshape([n, width])?,
            PyArray1::from_vec(py, rewards),
            PyArray1::from_vec(py, ends),
            PyArray1::from_vec(py, infos).reshape([n, info_width])?,
        ))
    }
}

impl Episodes {
    fn lock(&self) -> PyResult<MutexGuard<'_, ::envs::Episodes>> {
        try_lock(
            &self.episodes,
            "a step of these episodes is in progress in another thread",
            "a step of these episodes was aborted: make a new environment",
        )
    }

    fn read_next(&self, py: Python<'_>, episodes: &mut ::envs::Episodes) -> PyResult<()> {
        self.next_q.read(py, episodes.next_q_mut())?;
        self.next_v.read(py, episodes.next_v_mut())?;
        self.next_goal.read(py, episodes.next_goal_mut())?;
        self.next_act.read(py, episodes.next_act_mut())
    }

    /// What a step or a reset found, to the live arrays.
    fn write(&self, py: Python<'_>, episodes: &::envs::Episodes) -> PyResult<()> {
        for (world, reward) in episodes.rewards().enumerate() {
            self.observation.write_row(py, world, episodes.observation(world))?;
            self.info.write_row(py, world, episodes.info(world))?;
            self.reward.write_row(py, world, &[reward])?;
        }
        if episodes.autoreset() == Autoreset::SameStep {
            for (world, _) in episodes.was_reset().iter().enumerate().filter(|(_, was)| **was) {
                self.last_observation.write_row(py, world, episodes.last_observation(world))?;
                self.last_info.write_row(py, world, episodes.last_info(world))?;
            }
        }
        Ok(())
    }
}

/// The options of a task, from a dictionary.
fn task_options(task: Task, given: &Bound<'_, PyDict>) -> PyResult<TaskOptions> {
    let mut options = TaskOptions::of(task);
    for (name, value) in given {
        let name: String = name.extract()?;
        let expected =
            || PyTypeError::new_err(format!("{name} is {value}: expected a number, a flag or a pair of numbers"));
        let value = if let Ok(flag) = value.cast::<PyBool>() {
            Value::Flag(flag.is_true())
        } else if name == "main_body" {
            Value::Index(value.extract().map_err(|_| expected())?)
        } else if let Ok(number) = value.extract::<f64>() {
            Value::Number(number)
        } else {
            let (low, high) = value.extract::<[f64; 2]>().map(|[a, b]| (a, b)).map_err(|_| expected())?;
            Value::Range(low, high)
        };
        let has_nan = match value {
            Value::Number(x) => x.is_nan(),
            Value::Range(a, b) => a.is_nan() || b.is_nan(),
            Value::Flag(_) | Value::Index(_) => false,
        };
        if has_nan || !options.set(&name, value) {
            let message = format!("{name} = {value:?}: expected an option of {} and a value of its kind", task.name());
            return Err(PyValueError::new_err(message));
        }
    }
    Ok(options)
}
