//! `sapwood._sapwood.ImitationEpisodes`: characters that imitate motions, for the worlds of a `Batch`.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};

use ::envs::Autoreset;
use ::envs::imitation::{
    ActionKind, Controller, Ground, INFO, Imitation, ImitationEpisodes as Inner, ImitationError, ImitationOptions,
    MAX_LEAD, Motor, MotorKind, Part, RewardKind, RotationKind,
};
use motion::{LoopMode, Source, SourceOptions};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};

use crate::arguments::{array, configuration, mask, several_or_none, vector, whole_or_none, word};
use crate::batch::Batch;
use crate::lock::try_lock;

/// Pairs of geoms that are looked at for whether bodies touch each other.
const MAX_PAIRS: usize = 10_000;

type Flags<'py> = Bound<'py, PyArray1<bool>>;

/// A reward, its terms and the observation.
type Evaluation<'py> = (f64, Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>);

/// Episodes of imitation in the worlds of a batch.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood._sapwood")]
pub struct ImitationEpisodes {
    batch: Py<Batch>,
    episodes: Mutex<Inner>,
}

fn value_error(error: impl ToString) -> PyErr {
    PyValueError::new_err(error.to_string())
}

#[stubdoc::documented]
#[pymethods]
impl ImitationEpisodes {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "options, by name")]
    #[pyo3(signature = (batch, clip, *, control_hz, spd, action, rotations, observe_root, reward, effort_limits, reference_state_init,
        early_termination, cycle_sync, max_episode_steps, autoreset, kp=None, kd=None, effort_limit=None, end_effectors=None, fall_bodies=None,
        ground="most"))]
    fn new(
        batch: &Bound<'_, Batch>,
        clip: &str,
        control_hz: f64,
        spd: &str,
        action: &str,
        rotations: &str,
        observe_root: bool,
        reward: &str,
        effort_limits: bool,
        reference_state_init: bool,
        early_termination: bool,
        cycle_sync: bool,
        #[pyo3(from_py_with = whole_or_none)] max_episode_steps: Option<i64>,
        autoreset: &str,
        kp: Option<BTreeMap<String, f64>>,
        kd: Option<BTreeMap<String, f64>>,
        effort_limit: Option<BTreeMap<String, f64>>,
        #[pyo3(from_py_with = several_or_none)] end_effectors: Option<Vec<String>>,
        #[pyo3(from_py_with = several_or_none)] fall_bodies: Option<Vec<String>>,
        ground: &str,
    ) -> PyResult<Self> {
        let modes =
            [("next-step", Autoreset::NextStep), ("same-step", Autoreset::SameStep), ("disabled", Autoreset::Disabled)];
        let autoreset = word("autoreset", autoreset, &modes)?;
        let options = ImitationOptions {
            control_hz,
            controller: word("spd", spd, &Controller::NAMED)?,
            action: word("action", action, &ActionKind::NAMED)?,
            rotations: word("rotations", rotations, &RotationKind::NAMED)?,
            observe_root,
            reward: word("reward", reward, &RewardKind::NAMED)?,
            effort_limits,
            reference_state_init,
            early_termination,
            cycle_sync,
            kp: kp.into_iter().flatten().collect(),
            kd: kd.into_iter().flatten().collect(),
            effort_limit: effort_limit.into_iter().flatten().collect(),
            end_effectors,
            fall_bodies,
            ground: word("ground", ground, &Ground::NAMED)?,
            ..ImitationOptions::default()
        };
        let limit = max_episode_steps.map(|steps| {
            let error = || PyValueError::new_err(format!("max_episode_steps is {steps}: expected 1 or more, or None"));
            u64::try_from(steps).ok().filter(|steps| *steps > 0).ok_or_else(error)
        });
        let limit = limit.transpose()?;
        let mut inner = batch.get().lock()?;
        let model = inner.model().clone();
        let scene = batch.get().model_of().get().scene().clone();
        let source = Source::open(clip).map_err(value_error)?;
        let is_cyclic = source.clip().is_none_or(|clip| clip.loop_mode() == LoopMode::Wrap);
        let bound = source.on(&model, &SourceOptions::default()).map_err(value_error)?;
        let task = Imitation::new(&model, &scene, &*bound.motion, is_cyclic, options).map_err(|error| match error {
            ImitationError::Short { .. } => value_error(format!("{clip}: {error}")),
            other => value_error(other),
        })?;
        let episodes = Inner::new(task, &mut inner, limit, autoreset).map_err(value_error)?;
        drop(inner);
        Ok(Self { batch: batch.clone().unbind(), episodes: Mutex::new(episodes) })
    }

    /// Name, beginning and end of each part of an observation.
    #[getter]
    fn observation_parts(&self) -> PyResult<Vec<(String, usize, usize)>> {
        Ok(self.lock()?.task().observation_parts())
    }

    /// Names of the bodies that must not touch the ground.
    #[getter]
    fn fall_bodies(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.task().fall_bodies().into_iter().map(str::to_owned).collect())
    }

    /// Names of the bodies whose tips are end effectors.
    #[getter]
    fn end_effectors(&self) -> PyResult<Vec<String>> {
        Ok(self.lock()?.task().end_effectors().into_iter().map(str::to_owned).collect())
    }

    /// Stiffness, damping and greatest force of the controllers, by degree of freedom: (nv,) each.
    #[getter]
    fn gains<'py>(&self, py: Python<'py>) -> PyResult<[Bound<'py, PyArray1<f64>>; 3]> {
        let pd = self.lock()?.task().pd();
        Ok([pd.kp, pd.kd, pd.effort_limit].map(|all| PyArray1::from_vec(py, all)))
    }

    /// Where each world is in the motion, s, and how far its reference is moved, x y, m: (n, 3).
    #[getter]
    fn motion_time<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        let times = (0..episodes.worlds()).flat_map(|world| {
            let (time, [x, y]) = episodes.motion_time(world);
            [time, x, y]
        });
        PyArray1::from_iter(py, times).reshape([episodes.worlds(), 3])
    }

    /// Observations, (n, number).
    #[getter]
    fn observation<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        rows(py, episodes.worlds(), |world| episodes.observation(world))
    }

    /// Rewards of the last step, (n,).
    #[getter]
    fn reward<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        Ok(PyArray1::from_vec(py, self.lock()?.rewards().collect()))
    }

    /// Numbers of `info`, (n, number).
    #[getter]
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f64>>> {
        let episodes = self.lock()?;
        rows(py, episodes.worlds(), |world| episodes.info(world))
    }

    /// The last observation of an episode that ended in the last step of a world, (number,).
    fn last_observation<'py>(&self, py: Python<'py>, world: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let episodes = self.lock()?;
        if world >= episodes.worlds() || episodes.autoreset() != Autoreset::SameStep {
            return Err(PyValueError::new_err("expected a world's index, and autoreset \"same-step\""));
        }
        Ok(PyArray1::from_slice(py, episodes.last_observation(world)))
    }

    /// Numbers of `info` of that episode, (number,).
    fn last_info<'py>(&self, py: Python<'py>, world: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let episodes = self.lock()?;
        if world >= episodes.worlds() || episodes.autoreset() != Autoreset::SameStep {
            return Err(PyValueError::new_err("expected a world's index, and autoreset \"same-step\""));
        }
        Ok(PyArray1::from_slice(py, episodes.last_info(world)))
    }

    /// What expressions over the arrays of many worlds have to know of the task.
    #[getter]
    fn definition<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let episodes = self.lock()?;
        let task = episodes.task();
        let (reference, model, scene) = (task.reference(), task.model(), self.batch.get().model_of().get().scene());
        let found = PyDict::new(py);
        found.set_item("reference_q", rows_of(py, reference.rows(), model.nq())?)?;
        found.set_item("reference_v", rows_of(py, reference.velocities(), model.nv())?)?;
        found.set_item("duration", reference.duration())?;
        found.set_item("travel", reference.travel())?;
        found.set_item("is_cyclic", reference.is_cyclic())?;
        let quaternions: Vec<usize> = model.tree.nodes.iter().filter_map(multibody::Node::quaternion).collect();
        found.set_item("quaternions", quaternions)?;
        found.set_item("rest", &model.q0)?;
        for (name, parts) in [("parts", task.parts()), ("end_effectors", task.end_effector_parts())] {
            let point =
                |part: &Part| (model.bodies[part.body].name.clone(), [part.point.x, part.point.y, part.point.z]);
            found.set_item(name, parts.iter().map(point).collect::<Vec<_>>())?;
        }
        let motor = |motor: &Motor| {
            let time = if motor.kp > 0.0 { motor.kd / motor.kp } else { 0.0 };
            (motor.q, motor.v, motor.kind == MotorKind::Ball, motor.zero, time, motor.weight)
        };
        found.set_item("motors", task.motors().iter().map(motor).collect::<Vec<_>>())?;
        found.set_item("max_lead", MAX_LEAD)?;
        found.set_item("reward_weights", task.options().reward.weights())?;
        let pairs = geometry::allowed_pairs(scene, &sim::attachments(model, scene), MAX_PAIRS);
        found.set_item("falls_may_touch_others", pairs.is_none_or(|pairs| task.falls_may_touch_others(&pairs)))?;
        Ok(found)
    }

    /// Names of the numbers of `info`.
    #[getter]
    fn info_names(&self) -> Vec<&'static str> {
        INFO.to_vec()
    }

    /// How many numbers an action has.
    #[getter]
    fn action_len(&self) -> PyResult<usize> {
        Ok(self.lock()?.task().action_len())
    }

    /// Time of the motion, s.
    #[getter]
    fn duration(&self) -> PyResult<f64> {
        Ok(self.lock()?.task().reference().duration())
    }

    /// Control steps that an episode can have which begins at the start of the motion; None without a limit.
    #[getter]
    fn most_steps(&self) -> PyResult<Option<usize>> {
        Ok(self.lock()?.most_steps(0.0).map(|steps| steps as usize))
    }

    /// Position of the reference at a time, (nq,).
    fn reference<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let episodes = self.lock()?;
        let (mut q, mut v) = (vec![0.0; episodes.task().model().nq()], vec![0.0; episodes.task().model().nv()]);
        episodes.task().reference().at(time, &mut q, &mut v);
        Ok(PyArray1::from_vec(py, q))
    }

    /// Velocity of the reference at a time, (nv,).
    fn reference_velocity<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let episodes = self.lock()?;
        let (mut q, mut v) = (vec![0.0; episodes.task().model().nq()], vec![0.0; episodes.task().model().nv()]);
        episodes.task().reference().at(time, &mut q, &mut v);
        Ok(PyArray1::from_vec(py, v))
    }

    /// What a state at a time in the motion is worth: the reward, its five terms, and the observation.
    #[pyo3(signature = (q, v, time, offset=None))]
    fn evaluate<'py>(
        &self,
        py: Python<'py>,
        q: &Bound<'py, PyAny>,
        v: &Bound<'py, PyAny>,
        time: f64,
        offset: Option<(f64, f64)>,
    ) -> PyResult<Evaluation<'py>> {
        let episodes = self.lock()?;
        let task = episodes.task();
        let q = configuration("q", q, task.model())?;
        let v = vector("v", v, task.model().nv())?;
        let offset = offset.unwrap_or_default();
        if !(time.is_finite() && offset.0.is_finite() && offset.1.is_finite()) {
            return Err(value_error(format!("time is {time}, offset {offset:?}: expected finite numbers")));
        }
        let mut observation = vec![0.0; task.observation_len()];
        let terms = task.evaluate(time, [offset.0, offset.1], &q, &v, &mut observation);
        let shown = vec![terms.pose, terms.velocity, terms.end_effector, terms.root, terms.com];
        let reward = terms.reward(task.options().reward);
        Ok((reward, PyArray1::from_vec(py, shown), PyArray1::from_vec(py, observation)))
    }

    /// The action whose target is the reference at a time, (number,).
    fn reference_action<'py>(&self, py: Python<'py>, time: f64) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let episodes = self.lock()?;
        let task = episodes.task();
        let (mut q, mut v) = (vec![0.0; task.model().nq()], vec![0.0; task.model().nv()]);
        let mut action = vec![0.0; task.action_len()];
        task.reference().at(time, &mut q, &mut v);
        task.action_of(&q, &mut action);
        Ok(PyArray1::from_vec(py, action))
    }

    /// Seed the generator of a world.
    fn seed(&self, world: usize, seed: u64) -> PyResult<()> {
        let mut episodes = self.lock()?;
        if world >= episodes.worlds() {
            return Err(PyIndexError::new_err(format!("world is {world}: expected one of {}", episodes.worlds())));
        }
        episodes.seed(world, seed);
        Ok(())
    }

    /// What episodes know beside the states of the worlds.
    fn memory<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.lock()?.memory_bytes()))
    }

    /// Go on with the episodes of a memory.
    fn restore(&self, memory: &[u8]) -> PyResult<()> {
        self.lock()?.restore(memory).map_err(value_error)
    }

    /// Begin episodes in the worlds of a mask.
    fn reset(&self, py: Python<'_>, which: &Bound<'_, PyAny>) -> PyResult<()> {
        let mut episodes = self.lock()?;
        let which = mask("which", which, episodes.worlds())?;
        let batch_object = self.batch.get();
        let mut batch = batch_object.lock_to_compute(py)?;
        episodes.reset(&mut batch, &which, None);
        batch_object.write_all(py, &batch)
    }

    /// A control step of every world.
    fn step<'py>(
        &self,
        py: Python<'py>,
        actions: &Bound<'py, PyAny>,
    ) -> PyResult<(Flags<'py>, Flags<'py>, Flags<'py>)> {
        let mut episodes = self.lock()?;
        let batch_object = self.batch.get();
        let actions = array("actions", actions, &[episodes.worlds(), episodes.task().action_len()])?;
        let mut batch = batch_object.lock_to_compute(py)?;
        let (stepper, of) = (&mut *episodes, &mut *batch);
        let outcome = py.detach(|| stepper.step(of, &actions));
        batch_object.write_all(py, &batch)?;
        outcome.map_err(|error| batch_object.error(py, &batch, &error))?;
        let flags = |flags: &[bool]| PyArray1::from_slice(py, flags);
        Ok((flags(episodes.terminated()), flags(episodes.truncated()), flags(episodes.was_reset())))
    }
}

impl ImitationEpisodes {
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        try_lock(
            &self.episodes,
            "a step of these episodes is in progress in another thread",
            "a step of these episodes was aborted: make a new environment",
        )
    }
}

fn rows_of<'py, 'a>(
    py: Python<'py>,
    rows: impl Iterator<Item = &'a [f64]>,
    width: usize,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let all = rows.flatten().copied().collect::<Vec<f64>>();
    let count = all.len() / width;
    PyArray1::from_vec(py, all).reshape([count, width])
}

fn rows<'py, 'a>(
    py: Python<'py>,
    worlds: usize,
    of: impl Fn(usize) -> &'a [f64],
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let mut all = Vec::with_capacity(worlds * of(0).len());
    (0..worlds).for_each(|world| all.extend_from_slice(of(world)));
    let width = all.len() / worlds;
    PyArray1::from_vec(py, all).reshape([worlds, width])
}
