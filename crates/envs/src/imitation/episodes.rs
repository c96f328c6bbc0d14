//! Episodes of imitation in the worlds of a batch.

use std::sync::{Arc, Mutex, PoisonError};

use batch::{Batch, BatchError, Moment, World};
use sim::Pd;
use sim::stable_pd::{Command, Solver};
use support::SplitMix64;

use super::error::ImitationError;
use super::options::Controller;
use super::task::{INFO, Imitation, Scratch};
use crate::memory::MemoryError;
use crate::rows::{Autoreset, Episodic, Rows};

/// Numbers that an episode remembers.
const MEMORY: usize = 8;

/// Where numbers of an episode are in its memory.
mod memory {
    /// Where in the motion the episode began, s; steps since.
    pub const START: usize = 0;
    pub const ELAPSED: usize = 1;
    /// How far the reference is moved, x y, m.
    pub const OFFSET: usize = 2;
    /// Sum of rewards, and the last one.
    pub const RETURN: usize = 4;
    pub const REWARD: usize = 5;
    /// Whether the last step ended the episode, and whether it could not be simulated.
    pub const ENDED: usize = 6;
    pub const FAILED: usize = 7;
}

/// Where the numbers of a world are in its row.
#[derive(Clone, Copy, Debug)]
struct Layout {
    observation: usize,
    action: usize,
    target: usize,
    force: usize,
}

/// The numbers of a world, taken apart.
struct Row<'a> {
    observation: &'a mut [f64],
    info: &'a mut [f64],
    memory: &'a mut [f64],
    action: &'a mut [f64],
    target: &'a mut [f64],
    force: &'a mut [f64],
}

impl Layout {
    fn width(&self) -> usize {
        self.observation + INFO.len() + MEMORY + self.action + self.target + self.force
    }

    fn row<'a>(&self, row: &'a mut [f64]) -> Row<'a> {
        let (observation, row) = row.split_at_mut(self.observation);
        let (info, row) = row.split_at_mut(INFO.len());
        let (memory, row) = row.split_at_mut(MEMORY);
        let (action, row) = row.split_at_mut(self.action);
        let (target, force) = row.split_at_mut(self.target);
        Row { observation, info, memory, action, target, force }
    }
}

/// Memory of one thread: of the task, and of control before the step.
struct Thread {
    scratch: Scratch,
    solver: Option<Solver>,
}

/// Episodes of a character that imitates a motion, in the worlds of a batch.
///
/// Where episodes begin is drawn by a generator of each world, so that it depends on nothing but the world's seed and how many episodes it
/// has had.
pub struct ImitationEpisodes {
    task: Imitation,
    layout: Layout,
    pd: Pd,
    substeps: usize,
    timestep: f64,
    limit: Option<u64>,
    rows: Rows,
    random: Vec<SplitMix64>,
    /// Where in the motion the episodes of a reset begin, s, one for each world; empty where they are drawn.
    times: Vec<f64>,
    threads: Vec<Mutex<Thread>>,
}

impl ImitationEpisodes {
    /// Episodes in a batch of the task's model that records contacts; the batch gets the task's PD control. After `limit` control steps an
    /// episode is cut; one of a motion that ends is cut at its end.
    ///
    /// # Errors
    /// When the batch is another model's or does not record contacts, or a control step is not a whole number of its time steps.
    pub fn new(
        task: Imitation,
        batch: &mut Batch,
        limit: Option<u64>,
        autoreset: Autoreset,
    ) -> Result<Self, ImitationError> {
        if !Arc::ptr_eq(task.model(), batch.model()) {
            return Err(ImitationError::OtherBatch { what: "is of another model" });
        }
        if !batch.records_contacts() {
            return Err(ImitationError::OtherBatch { what: "does not record contacts" });
        }
        let timestep = batch.options().timestep.unwrap_or(batch.model().timestep);
        let steps = 1.0 / (task.options.control_hz * timestep);
        let substeps = steps.round();
        if (steps - substeps).abs() > 1e-6 * steps || substeps < 1.0 {
            return Err(ImitationError::Value {
                name: "time steps in a control step".into(),
                value: steps,
                expected: format!("a whole number (of {timestep} s, {} times a second)", task.options.control_hz),
            });
        }
        let (worlds, pd) = (batch.worlds(), task.pd());
        let method = match task.options.controller {
            Controller::Embedded => None,
            Controller::TwoPass(method) => Some(method),
        };
        batch.set_pd(method.is_none().then(|| pd.clone()))?;
        let model = batch.model().clone();
        let thread = |_| {
            let solver = method.map(|method| Solver::new(&model, method));
            Mutex::new(Thread { scratch: task.scratch(), solver })
        };
        let layout = Layout {
            observation: task.observation_len(),
            action: task.action_len(),
            target: model.nq(),
            force: if method.is_some() { model.nv() } else { 0 },
        };
        let mut own = Self {
            rows: Rows::new(worlds, layout.width(), layout.observation, INFO.len(), autoreset),
            random: (0..worlds as u64).map(SplitMix64).collect(),
            times: Vec::with_capacity(worlds),
            threads: (0..batch.threads()).map(thread).collect(),
            substeps: substeps as usize,
            timestep,
            task,
            layout,
            pd,
            limit,
        };
        // What no controller moves stays at its place.
        let (width, q0) = (layout.width(), &batch.model().q0);
        own.rows.numbers.chunks_exact_mut(width).for_each(|row| layout.row(row).target.copy_from_slice(q0));
        Ok(own)
    }

    /// The task.
    pub fn task(&self) -> &Imitation {
        &self.task
    }

    /// When worlds begin again.
    pub fn autoreset(&self) -> Autoreset {
        self.rows.autoreset
    }

    /// The number of worlds.
    pub fn worlds(&self) -> usize {
        self.random.len()
    }

    /// Time steps of a control step.
    pub fn substeps(&self) -> usize {
        self.substeps
    }

    /// The seed of a world's generator.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn seed(&mut self, world: usize, seed: u64) {
        self.random[world] = SplitMix64(seed);
    }

    fn memory(&self, world: usize) -> &[f64] {
        &self.rows.rest(world)[..MEMORY]
    }

    /// The observation of a world.
    pub fn observation(&self, world: usize) -> &[f64] {
        self.rows.observation(world)
    }

    /// The numbers of [`INFO`] of a world.
    pub fn info(&self, world: usize) -> &[f64] {
        self.rows.info(world)
    }

    /// The rewards of the last step.
    pub fn rewards(&self) -> impl Iterator<Item = f64> {
        (0..self.worlds()).map(|world| self.memory(world)[memory::REWARD])
    }

    /// Which worlds could not be simulated in the last step; it ended their episodes.
    pub fn failed(&self) -> impl Iterator<Item = bool> {
        (0..self.worlds()).map(|world| self.memory(world)[memory::FAILED] != 0.0)
    }

    /// Where a world is in the motion, s, and how far the reference is moved, x y, m.
    pub fn motion_time(&self, world: usize) -> (f64, [f64; 2]) {
        let memory = self.memory(world);
        (self.time(memory), [memory[memory::OFFSET], memory[memory::OFFSET + 1]])
    }

    fn time(&self, memory: &[f64]) -> f64 {
        memory[memory::START] + memory[memory::ELAPSED] / self.task.options.control_hz
    }

    /// Which episodes the last step ended by a fall, or because they could not be simulated.
    pub fn terminated(&self) -> &[bool] {
        &self.rows.terminated
    }

    /// Which episodes the last step cut at their limit or the end of the motion.
    pub fn truncated(&self) -> &[bool] {
        &self.rows.truncated
    }

    /// Which worlds the last call took to the beginning of an episode.
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

    /// All that episodes know beside the states of the batch's worlds.
    pub fn memory_bytes(&self) -> Vec<u8> {
        self.rows.pack(self.random.iter().map(|random| random.0))
    }

    /// Goes on with the episodes of [`memory_bytes`](Self::memory_bytes).
    ///
    /// # Errors
    /// When they are of another task, or another number of worlds; then nothing has changed.
    pub fn restore(&mut self, memory: &[u8]) -> Result<(), MemoryError> {
        self.rows.unpack(memory, self.random.iter_mut().map(|random| &mut random.0))
    }

    /// Begins episodes in the worlds where `which` is true: at `times` in the motion, s, one for each world, or where the options have it.
    ///
    /// # Panics
    /// When there is not one entry for each world, or the batch is another one.
    pub fn reset(&mut self, batch: &mut Batch, which: &[bool], times: Option<&[f64]>) {
        assert!(times.is_none_or(|times| times.len() == self.worlds()), "one time for each world");
        self.times.clear();
        self.times.extend_from_slice(times.unwrap_or_default());
        self.begin_in(batch, which);
        self.times.clear();
    }

    /// Where in the motion the next episode of a world begins, s. Every episode draws one number, whether it is used or not.
    fn draw(&mut self, world: usize) -> f64 {
        let reference = self.task.reference();
        // An episode has one step at least.
        let last = if reference.is_cyclic() { 0.0 } else { 1.0 / self.task.options.control_hz };
        let drawn = self.random[world].uniform(0.0, (reference.duration() - last).max(f64::MIN_POSITIVE));
        if self.task.options.reference_state_init { drawn } else { 0.0 }
    }

    /// Makes a control step of every world under `actions`, (worlds, [`Imitation::action_len`]).
    ///
    /// A world whose time steps fail stays where it was, and its episode ends: see [`failed`](Self::failed).
    ///
    /// # Errors
    /// When `actions` has another length, or on request ([`Batch::set_interrupt`]).
    ///
    /// # Panics
    /// When the batch is another one.
    pub fn step(&mut self, batch: &mut Batch, actions: &[f64]) -> Result<(), BatchError> {
        let (worlds, width) = (self.worlds(), self.layout.width());
        let expected = worlds * self.layout.action;
        if actions.len() != expected {
            return Err(BatchError::Size { name: "actions", found: actions.len(), expected });
        }
        for (action, row) in actions.chunks_exact(self.layout.action).zip(self.rows.numbers.chunks_exact_mut(width)) {
            self.layout.row(row).action.copy_from_slice(action);
        }
        self.rows.expect_resets();
        self.step_all(batch)?;
        self.end_step(batch);
        Ok(())
    }

    /// Control steps that an episode can have which begins at `start` in the motion, s; none without a limit.
    pub fn most_steps(&self, start: f64) -> Option<f64> {
        let reference = self.task.reference();
        let left = (!reference.is_cyclic())
            .then(|| (self.task.options.control_hz * (reference.duration() - start) - 1e-6).ceil().max(1.0));
        match (self.limit.map(|limit| limit as f64), left) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// Targets, time steps, observations, rewards and ends, on all threads.
    fn step_all(&mut self, batch: &mut Batch) -> Result<(), BatchError> {
        let width = self.layout.width();
        {
            let thread = self.threads[0].get_mut().unwrap_or_else(PoisonError::into_inner);
            for row in self.rows.numbers.chunks_exact_mut(width) {
                let Row { memory, action, target, .. } = self.layout.row(row);
                let time = memory[memory::START] + (memory[memory::ELAPSED] + 1.0) / self.task.options.control_hz;
                self.task.aim(action, time, &mut thread.scratch, target);
            }
        }
        if self.task.options.controller == Controller::Embedded {
            let targets = batch.pd_target_mut().chunks_exact_mut(self.layout.target);
            for (target, row) in targets.zip(self.rows.numbers.chunks_exact_mut(width)) {
                target.copy_from_slice(self.layout.row(row).target);
            }
            return self.step_worlds(batch, self.substeps, Self::finish);
        }
        self.step_worlds(batch, 0, Self::control)?;
        for _ in 1..self.substeps {
            self.apply_forces(batch);
            self.step_worlds(batch, 1, Self::control)?;
        }
        self.apply_forces(batch);
        self.step_worlds(batch, 1, Self::finish)
    }

    /// Time steps of all worlds, then `after` of each on the thread that stepped it.
    fn step_worlds(&mut self, batch: &mut Batch, steps: usize, after: After) -> Result<(), BatchError> {
        let Self { task, layout, pd, timestep, rows, threads, .. } = self;
        let view = Stepping { task, pd, timestep: *timestep };
        let look = |moment: Moment, thread: usize, world: World<'_>, row: &mut [f64]| {
            if moment == Moment::After {
                let mut thread = threads[thread].lock().unwrap_or_else(PoisonError::into_inner);
                after(&view, &world, layout.row(row), &mut thread);
            }
        };
        match batch.step_observed(steps, false, &mut rows.numbers, layout.width(), look) {
            // It has ended their episodes.
            Ok(()) | Err(BatchError::Worlds { .. }) => Ok(()),
            Err(other) => Err(other),
        }
    }

    /// Forces of controllers before the step.
    fn apply_forces(&mut self, batch: &mut Batch) {
        let (width, nv) = (self.layout.width(), self.layout.force);
        let forces = batch.applied_force_mut().chunks_exact_mut(nv);
        for (to, row) in forces.zip(self.rows.numbers.chunks_exact_mut(width)) {
            to.copy_from_slice(self.layout.row(row).force);
        }
    }

    /// Finds the force of a controller before the step. Where it cannot be found there is none, and the step says what is wrong.
    fn control(view: &Stepping<'_>, world: &World<'_>, row: Row<'_>, thread: &mut Thread) {
        let Some(solver) = &mut thread.solver else { return };
        let Pd { kp, kd, target_velocity, effort_limit, .. } = view.pd;
        let command = Command {
            kp,
            kd,
            target: row.target,
            target_velocity: Some(target_velocity),
            effort_limit: Some(effort_limit),
        };
        row.force.fill(0.0);
        if solver.solve(world.q, world.v, &command, view.timestep).is_ok() {
            row.force.copy_from_slice(solver.torque(world.q, world.v, &command));
            // Of the root it is zero to round-off.
            row.force[..view.task.figure.first_dof].fill(0.0);
        }
    }

    /// Observation, reward and end after a control step.
    fn finish(view: &Stepping<'_>, world: &World<'_>, row: Row<'_>, thread: &mut Thread) {
        let (task, scratch) = (view.task, &mut thread.scratch);
        let Row { observation, info, memory, .. } = row;
        let before = memory[memory::START] + memory[memory::ELAPSED] / task.options.control_hz;
        memory[memory::ELAPSED] += 1.0;
        let time = memory[memory::START] + memory[memory::ELAPSED] / task.options.control_hz;
        let (cycle, local) = task.reference.local_time(time);
        if task.options.cycle_sync && cycle > task.reference.local_time(before).0 {
            let root = task.figure.root_q;
            task.reference.at(time, &mut scratch.q, &mut scratch.v);
            memory[memory::OFFSET] = world.q[root] - scratch.q[root];
            memory[memory::OFFSET + 1] = world.q[root + 1] - scratch.q[root + 1];
        }
        task.place(world.q, world.v, scratch);
        let offset = [memory[memory::OFFSET], memory[memory::OFFSET + 1]];
        task.observe(time, offset, scratch, observation);
        let terms = task.compare(time, offset, world.q, world.v, scratch);
        let failed = world.error.is_some();
        let fallen = task.options.early_termination && task.has_fallen(world.contacts);
        // A step that ends an episode is worth nothing.
        let reward = if failed || fallen { 0.0 } else { terms.reward(task.options.reward) };
        memory[memory::REWARD] = reward;
        memory[memory::ENDED] = f64::from(failed || fallen);
        memory[memory::FAILED] = f64::from(failed);
        info[..5].copy_from_slice(&[terms.pose, terms.velocity, terms.end_effector, terms.root, terms.com]);
        info[5] = local;
    }
}

impl Episodic<2> for ImitationEpisodes {
    const KEPT: [usize; 2] = [memory::REWARD, memory::FAILED];

    fn rows(&mut self) -> &mut Rows {
        &mut self.rows
    }

    fn begin(&mut self, batch: &mut Batch, world: usize) {
        let drawn = self.draw(world);
        let time = self.times.get(world).copied().unwrap_or(drawn);
        let task = &self.task;
        let Row { observation, info, memory, .. } = self.layout.row(self.rows.row_mut(world));
        let thread = self.threads[0].get_mut().unwrap_or_else(PoisonError::into_inner);
        let scratch = &mut thread.scratch;
        let (mut q, mut v) = (std::mem::take(&mut scratch.q), std::mem::take(&mut scratch.v));
        task.reference.at(time, &mut q, &mut v);
        task.place(&q, &v, scratch);
        let lowest = task.figure.lowest(&scratch.now);
        if lowest < 0.0 {
            q[task.figure.root_q + 2] -= lowest;
            task.place(&q, &v, scratch);
        }
        batch.reset_world_to(world, &q, &v);
        (scratch.q, scratch.v) = (q, v);
        task.observe(time, [0.0; 2], scratch, observation);
        memory.fill(0.0);
        memory[memory::START] = time;
        info.fill(0.0);
        info[5] = task.reference.local_time(time).1;
    }

    fn count(&mut self, world: usize) -> (bool, bool) {
        let most = self.most_steps(self.memory(world)[memory::START]);
        let Row { info, memory, .. } = self.layout.row(self.rows.row_mut(world));
        memory[memory::RETURN] += memory[memory::REWARD];
        let elapsed = memory[memory::ELAPSED];
        info[6] = memory[memory::RETURN];
        info[7] = memory[memory::RETURN] / most.unwrap_or(elapsed);
        (memory[memory::ENDED] != 0.0, most.is_some_and(|most| elapsed >= most))
    }
}

/// What is the same for all worlds of a step.
struct Stepping<'a> {
    task: &'a Imitation,
    pd: &'a Pd,
    timestep: f64,
}

type After = fn(&Stepping<'_>, &World<'_>, Row<'_>, &mut Thread);
