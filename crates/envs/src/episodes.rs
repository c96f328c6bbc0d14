//! Many worlds of one environment: episodes that begin, go on and end.

use std::sync::{Mutex, PoisonError};

use batch::{Batch, BatchError, Moment, World};

use crate::environment::Environment;
use crate::error::EnvError;
use crate::memory::MemoryError;
use crate::quantities::Scratch;
use crate::reward::Transition;
use crate::rows::{Autoreset, Episodic, Rows};

/// Numbers of a world beside observation and info: see [`Row`].
const OTHERS: usize = 5;

/// Where the numbers of a world are in its row.
#[derive(Clone, Copy, Debug)]
struct Layout {
    observation: usize,
    info: usize,
    /// Of the state before the last time step; zero where it does not matter.
    nq: usize,
    nv: usize,
    /// Of the goal of the episode.
    goal: usize,
}

/// The numbers of a world, taken apart.
struct Row<'a> {
    observation: &'a mut [f64],
    info: &'a mut [f64],
    /// Reward, whether the episode ended by itself, whether the steps failed, position before, x y.
    others: &'a mut [f64],
    q: &'a mut [f64],
    v: &'a mut [f64],
    goal: &'a mut [f64],
}

impl Layout {
    fn width(&self) -> usize {
        self.observation + self.info + OTHERS + self.nq + self.nv + self.goal
    }

    fn row<'a>(&self, row: &'a mut [f64]) -> Row<'a> {
        let (observation, row) = row.split_at_mut(self.observation);
        let (info, row) = row.split_at_mut(self.info);
        let (others, row) = row.split_at_mut(OTHERS);
        let (q, row) = row.split_at_mut(self.nq);
        let (v, row) = row.split_at_mut(self.nv);
        Row { observation, info, others, q, v, goal: &mut row[..self.goal] }
    }
}

/// Episodes in the worlds of a batch.
///
/// Where a world's next episode begins comes from the caller, who draws it by whatever generator: [`next_q_mut`](Self::next_q_mut) and
/// [`next_v_mut`](Self::next_v_mut). [`was_reset`](Self::was_reset) tells which worlds have used theirs.
pub struct Episodes {
    environment: Environment,
    layout: Layout,
    frame_skip: usize,
    /// Length after which an episode is cut.
    limit: Option<u64>,
    /// Time step, s.
    timestep: f64,
    rows: Rows,
    elapsed: Vec<u64>,
    next_q: Vec<f64>,
    next_v: Vec<f64>,
    next_goal: Vec<f64>,
    next_act: Vec<f64>,
    /// What the sensors of all worlds show, where they are looked at.
    sensed: Vec<f64>,
    scratch: Vec<Mutex<Scratch>>,
}

impl Episodes {
    /// Episodes in a batch of the environment's model; each step makes `frame_skip` time steps, and after `limit` of them an episode is cut.
    ///
    /// # Errors
    /// When the batch has another model, or does not record contacts that the environment needs.
    pub fn new(
        environment: Environment,
        batch: &Batch,
        frame_skip: usize,
        limit: Option<u64>,
        autoreset: Autoreset,
    ) -> Result<Self, EnvError> {
        if !std::sync::Arc::ptr_eq(environment.model(), batch.model()) {
            return Err(EnvError::OtherModel);
        }
        if environment.needs_contacts() && !batch.records_contacts() {
            return Err(EnvError::Contacts { task: environment.name() });
        }
        let model = batch.model();
        let (nq, nv, worlds) = (model.nq(), model.nv(), batch.worlds());
        let remembers = environment.needs_constraint_force();
        let layout = Layout {
            observation: environment.observation_len(),
            info: environment.info_len(),
            nq: if remembers { nq } else { 0 },
            nv: if remembers { nv } else { 0 },
            goal: environment.goal_len(),
        };
        Ok(Self {
            timestep: batch.options().timestep.unwrap_or(model.timestep),
            rows: Rows::new(worlds, layout.width(), layout.observation, layout.info, autoreset),
            elapsed: vec![0; worlds],
            next_q: model.q0.repeat(worlds),
            next_v: vec![0.0; nv * worlds],
            next_goal: vec![0.0; layout.goal * worlds],
            next_act: vec![0.0; model.na() * worlds],
            sensed: vec![0.0; if environment.needs_sensors() { model.sensor_data_len() * worlds } else { 0 }],
            scratch: (0..batch.threads()).map(|_| Mutex::new(Scratch::new(model))).collect(),
            environment,
            layout,
            frame_skip,
            limit,
        })
    }

    /// The environment.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// When worlds begin again.
    pub fn autoreset(&self) -> Autoreset {
        self.rows.autoreset
    }

    /// The number of worlds.
    pub fn worlds(&self) -> usize {
        self.rows.worlds()
    }

    /// The observation of a world.
    pub fn observation(&self, world: usize) -> &[f64] {
        self.rows.observation(world)
    }

    /// The `info` of a world, laid out as [`Environment::info_columns`] says.
    pub fn info(&self, world: usize) -> &[f64] {
        self.rows.info(world)
    }

    /// The rewards of the last step.
    pub fn rewards(&self) -> impl Iterator<Item = f64> {
        (0..self.worlds()).map(|world| self.rows.rest(world)[0])
    }

    /// Which worlds could not be simulated in the last step; it ended their episodes.
    pub fn failed(&self) -> impl Iterator<Item = bool> {
        (0..self.worlds()).map(|world| self.rows.rest(world)[2] != 0.0)
    }

    /// Which episodes the last step ended.
    pub fn terminated(&self) -> &[bool] {
        &self.rows.terminated
    }

    /// Which episodes the last step cut at their limit.
    pub fn truncated(&self) -> &[bool] {
        &self.rows.truncated
    }

    /// Which worlds the last call took to their next states.
    pub fn was_reset(&self) -> &[bool] {
        &self.rows.was_reset
    }

    /// The last observation of the episode that ended in the last step of a world; only of [`Autoreset::SameStep`].
    pub fn last_observation(&self, world: usize) -> &[f64] {
        self.rows.last_observation(world)
    }

    /// Its last `info`.
    pub fn last_info(&self, world: usize) -> &[f64] {
        self.rows.last_info(world)
    }

    /// Positions at which the next episodes begin, (worlds, nq).
    pub fn next_q_mut(&mut self) -> &mut [f64] {
        &mut self.next_q
    }

    /// Velocities with which the next episodes begin, (worlds, nv).
    pub fn next_v_mut(&mut self) -> &mut [f64] {
        &mut self.next_v
    }

    /// Activations with which the next episodes begin, (worlds, na).
    pub fn next_act_mut(&mut self) -> &mut [f64] {
        &mut self.next_act
    }

    /// Goals of the next episodes, (worlds, [`Environment::goal_len`]).
    pub fn next_goal_mut(&mut self) -> &mut [f64] {
        &mut self.next_goal
    }

    /// The goal of the present episode of a world.
    pub fn goal(&self, world: usize) -> &[f64] {
        let row = self.rows.row(world);
        &row[row.len() - self.layout.goal..]
    }

    /// All that episodes know beside the states of the batch's worlds and where the next ones begin.
    pub fn memory(&self) -> Vec<u8> {
        self.rows.pack(self.elapsed.iter().copied())
    }

    /// Goes on with the episodes of a [`memory`](Self::memory); worlds get the models of these episodes, where each has its own.
    ///
    /// # Errors
    /// When it is of another task, or another number of worlds; then nothing has changed.
    ///
    /// # Panics
    /// When the batch is another one.
    pub fn restore(&mut self, batch: &mut Batch, memory: &[u8]) -> Result<(), MemoryError> {
        self.rows.unpack(memory, self.elapsed.iter_mut())?;
        (0..self.worlds()).for_each(|world| self.give_model(batch, world));
        Ok(())
    }

    /// Gives a world the model of its episode, where each has its own.
    fn give_model(&self, batch: &mut Batch, world: usize) {
        if let Some((model, scene)) = self.environment.model_of(self.goal(world)) {
            let given = batch.set_world_model(world, model, scene);
            debug_assert!(given.is_ok(), "models of episodes differ in numbers: {given:?}");
        }
    }

    /// Begins episodes in the worlds where `which` is true.
    ///
    /// # Panics
    /// When there is not one entry for each world, or the batch is another one.
    pub fn reset(&mut self, batch: &mut Batch, which: &[bool]) {
        self.begin_in(batch, which);
    }

    /// Takes the observation of a world where it is, as after a reset; the episode goes on.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn look_at_start(&mut self, batch: &mut Batch, world: usize) {
        self.sense(batch, world);
        let Row { observation, info, others, goal, .. } = self.layout.row(self.rows.row_mut(world));
        let mut scratch = self.scratch[0].lock().unwrap_or_else(PoisonError::into_inner);
        let sensors = self.sensed.chunks_exact(batch.model().sensor_data_len().max(1)).nth(world).unwrap_or_default();
        let seen = World { sensors, ..batch.world(world) };
        self.environment.observe_reset(&seen, goal, &mut scratch, observation, info);
        others.fill(0.0);
    }

    /// Reads the sensors of a world where they are looked at.
    fn sense(&mut self, batch: &mut Batch, world: usize) {
        if !self.environment.needs_sensors() {
            return;
        }
        let width = batch.model().sensor_data_len();
        let row = &mut self.sensed[world * width..][..width];
        if batch.sensor_data_of(world, row).is_err() {
            row.fill(0.0);
        }
    }

    /// Looks at all worlds after a step, with their sensors.
    fn look_with_sensors(&mut self, batch: &mut Batch) -> Result<(), BatchError> {
        batch.sensor_data(&mut self.sensed)?;
        let (width, count) = (self.layout.width(), batch.model().sensor_data_len());
        let mut scratch = self.scratch[0].lock().unwrap_or_else(PoisonError::into_inner);
        for (world, row) in self.rows.numbers.chunks_exact_mut(width).enumerate() {
            let Row { observation, info, others, goal, .. } = self.layout.row(row);
            let sensors = self.sensed.chunks_exact(count.max(1)).nth(world).unwrap_or_default();
            let seen = World { sensors, ..batch.world(world) };
            let transition = Transition { before: [others[3], others[4]], ..Transition::default() };
            let (reward, ends) =
                self.environment.observe_step(&seen, goal, transition, &mut scratch, observation, info);
            (others[0], others[1]) = (reward, f64::from(ends || others[2] != 0.0));
        }
        Ok(())
    }

    /// Makes a step of every world under `actions`, (worlds, nu).
    ///
    /// A world whose time steps fail stays where it was, and its episode ends: see [`failed`](Self::failed).
    ///
    /// # Errors
    /// When `actions` has another length, or on request ([`Batch::set_interrupt`]).
    ///
    /// # Panics
    /// When the batch is another one.
    pub fn step(&mut self, batch: &mut Batch, actions: &[f64]) -> Result<(), BatchError> {
        let ctrl = batch.ctrl_mut();
        if actions.len() != ctrl.len() {
            return Err(BatchError::Size { name: "actions", found: actions.len(), expected: ctrl.len() });
        }
        ctrl.copy_from_slice(actions);
        self.rows.expect_resets();
        self.step_all(batch)?;
        self.end_step(batch);
        Ok(())
    }

    /// Time steps, observations, rewards and ends, on all threads.
    fn step_all(&mut self, batch: &mut Batch) -> Result<(), BatchError> {
        let Self { environment, layout, rows, scratch, timestep, .. } = self;
        let remembers = environment.needs_constraint_force();
        let look = |moment: Moment, thread: usize, world: World<'_>, row: &mut [f64]| {
            let mut scratch = scratch[thread].lock().unwrap_or_else(PoisonError::into_inner);
            let Row { observation, info, others, q, v, goal } = layout.row(row);
            match moment {
                Moment::Before => {
                    let [x, y] = environment.position(world.q, &mut scratch);
                    (others[3], others[4]) = (x, y);
                }
                Moment::BeforeLast => {
                    q.copy_from_slice(world.q);
                    v.copy_from_slice(world.v);
                }
                Moment::After => {
                    let force = if remembers {
                        environment.constraint_force(q, v, &world, *timestep, &mut scratch)
                    } else {
                        0.0
                    };
                    let before = [others[3], others[4]];
                    let transition = Transition { before, constraint_force: force, ..Transition::default() };
                    let (reward, ends) =
                        environment.observe_step(&world, goal, transition, &mut scratch, observation, info);
                    let failed = world.error.is_some();
                    (others[0], others[1], others[2]) = (reward, f64::from(ends || failed), f64::from(failed));
                }
            }
        };
        match batch.step_observed(self.frame_skip, remembers, &mut rows.numbers, layout.width(), look) {
            // It has ended their episodes.
            Ok(()) | Err(BatchError::Worlds { .. }) => {}
            Err(other) => return Err(other),
        }
        if self.environment.needs_sensors() {
            self.look_with_sensors(batch)?;
        }
        Ok(())
    }
}

impl Episodic<OTHERS> for Episodes {
    const KEPT: [usize; OTHERS] = [0, 1, 2, 3, 4];

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn begin(&mut self, batch: &mut Batch, world: usize) {
        let goal = &self.next_goal[world * self.layout.goal..][..self.layout.goal];
        self.layout.row(self.rows.row_mut(world)).goal.copy_from_slice(goal);
        self.give_model(batch, world);
        let (nq, nv) = (batch.model().nq(), batch.model().nv());
        let (q, v) = (&self.next_q[world * nq..][..nq], &self.next_v[world * nv..][..nv]);
        batch.reset_world_to(world, q, v);
        let na = batch.model().na();
        batch.act_mut()[world * na..][..na].copy_from_slice(&self.next_act[world * na..][..na]);
        self.elapsed[world] = 0;
        self.look_at_start(batch, world);
    }

    fn count(&mut self, world: usize) -> (bool, bool) {
        self.elapsed[world] += 1;
        let is_over = self.rows.rest(world)[1] != 0.0;
        (is_over, self.limit.is_some_and(|limit| self.elapsed[world] >= limit))
    }
}
