//! A batch of worlds.

mod forces;
mod jacobians;
mod models;
mod observed;
mod options;
mod rollout;
mod sensors;
mod state;
mod stepping;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use geometry::Scene;
use lanes::{ChangingGains, NotInLanes, Plan};
use multibody::Model;
use sim::{Options, Pd, Simulation, SimulationError, State, StepTrace, TraceNeeds};
use support::{Interrupt, ThreadPool};

use crate::arrays::{Arrays, Owned, Worlds};
use crate::group::{Steps, fastest, groups, single_worlds, widest};
use crate::{BatchContact, Precision};

pub use jacobians::{BatchJacobians, Cotangents, StepGradients};
use models::Own;
pub use observed::{Moment, World};
pub use options::{BatchError, BatchOptions, BatchStats};
use stepping::{Rows, Stepper};

/// Tangential regularisation of worlds of 32 bits at least. A contact that sticks pushes by its velocity over σ w, and rounding of that
/// velocity, 1e-7 of what the contact takes up in a step, must not be more than 1e-3 of the push.
const SINGLE_SIGMA: f64 = 1e-3;

/// Parts that worlds are cut into, which threads share.
const SHARES: usize = 64;

/// About what a world takes, in numbers: its arrays and what its group remembers.
const MEMORY_PER_COORDINATE: usize = 16;
const MEMORY_PER_WORLD: usize = 256;

/// Worlds of one model, stepped together.
pub struct Batch {
    model: Arc<Model>,
    scene: Arc<Scene>,
    options: Options,
    /// Worlds with models of their own.
    own: BTreeMap<usize, Own>,
    arrays: Arrays<Owned>,
    /// Where worlds begin.
    start: State,
    /// PD control: gains of all worlds that have none of their own.
    pd: Option<Pd>,
    /// What sets gains that worlds of the model have of their own.
    gains: Option<ChangingGains>,
    /// The plan of steps in lanes, or why there is none; and worlds in a group that has one.
    plan: Result<Plan, NotInLanes>,
    precision: Precision,
    widest: usize,
    /// Worlds in a group, and why they are stepped one by one if they are.
    width: usize,
    not_in_lanes: Option<String>,
    groups: Vec<Box<dyn Steps>>,
    /// One for each thread, for what lanes leave.
    ones: Vec<Mutex<Simulation>>,
    pool: ThreadPool,
    interrupt: Interrupt,
    stats: BatchStats,
}

impl Batch {
    /// `worlds` worlds at the model's default configuration, at rest.
    ///
    /// # Errors
    /// When an option is outside its domain, or the scene is not one for this model.
    pub fn new(model: Arc<Model>, scene: Arc<Scene>, worlds: usize, options: BatchOptions) -> Result<Self, BatchError> {
        let BatchOptions { simulation, threads, lanes, precision, contacts } = options;
        let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let most = widest(precision);
        check("worlds", worlds, worlds > 0, "1 or more")?;
        check("threads", threads, (1..=Options::MAX_THREADS).contains(&threads), "from 1 to 1024")?;
        let lanes = lanes.unwrap_or_else(|| fastest(precision, worlds, threads));
        match precision {
            Precision::F64 => {
                check("lanes", lanes, [1, 4, 8].contains(&lanes) && lanes <= most, "1, 4, or 8 with AVX-512")?
            }
            Precision::F32 => {
                check("lanes", lanes, [1, 8, 16].contains(&lanes) && lanes <= most, "1, 8, or 16 with AVX-512")?
            }
        }
        let sigma = match precision {
            Precision::F32 if simulation.sigma > 0.0 => simulation.sigma.max(SINGLE_SIGMA),
            _ => simulation.sigma,
        };
        let options = Options { threads: 1, sigma, ..simulation };
        let one = || Ok(Mutex::new(Simulation::new(model.clone(), scene.clone(), options.clone())?));
        let ones = (0..threads).map(|_| one()).collect::<Result<Vec<_>, SimulationError>>()?;
        check_memory(&model, worlds)?;
        let pool = ThreadPool::new(threads).map_err(|_| BatchError::Option {
            name: "threads",
            value: threads,
            expected: "no more threads than the system grants",
        })?;
        let start = State::of(&model, &scene);
        let mut batch = Self {
            arrays: Arrays {
                q: start.q.repeat(worlds),
                v: start.v.repeat(worlds),
                ctrl: start.ctrl.repeat(worlds),
                act: start.act.repeat(worlds),
                past_ctrl: start.past_ctrl.repeat(worlds),
                past_readings: start.past_readings.repeat(worlds),
                equality_active: start.equality_active.repeat(worlds),
                mocap: start.mocap.repeat(worlds),
                time: vec![0.0; worlds],
                count: vec![0; worlds],
                pd_target: Vec::new(),
                pd_gains: Vec::new(),
                applied_force: Vec::new(),
                applied_wrench: Vec::new(),
                surface_velocity: start.surface_velocity.repeat(worlds),
                errors: vec![None; worlds],
                contacts: vec![Vec::new(); if contacts { worlds } else { 0 }],
                traces: vec![
                    StepTrace::default();
                    if TraceNeeds::of(&model, &model.sensors).anything { worlds } else { 0 }
                ],
            },
            start,
            pd: None,
            gains: None,
            plan: sim::plan(&model, &scene, &options, None),
            precision,
            widest: lanes,
            model,
            scene,
            options,
            own: BTreeMap::new(),
            width: 1,
            not_in_lanes: None,
            groups: Vec::new(),
            ones,
            pool,
            interrupt: Interrupt::default(),
            stats: BatchStats::default(),
        };
        batch.arrange();
        Ok(batch)
    }

    /// Puts worlds into groups, anew: in lanes if what they do can be done there, else one by one.
    fn arrange(&mut self) {
        self.not_in_lanes = self.plan.as_ref().err().map(|NotInLanes(reason)| reason.clone());
        (self.groups, self.width) = match &self.plan {
            Ok(plan) => {
                let model = (self.model.clone(), self.scene.clone());
                (groups(plan.clone(), model, self.worlds(), self.precision, self.widest), self.widest)
            }
            Err(_) => (single_worlds(&self.model, &self.scene, self.worlds()), 1),
        };
        self.give_own();
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The number of worlds.
    pub fn worlds(&self) -> usize {
        self.arrays.worlds()
    }

    /// Worlds side by side in a register; 1 where they are stepped [one by one](Self::alone).
    pub fn lanes(&self) -> usize {
        self.width
    }

    /// The most worlds side by side in a register, where they can be.
    pub fn most_lanes(&self) -> usize {
        self.widest
    }

    /// The numbers that worlds are computed with.
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// Why worlds are stepped one by one, if they are: what in the model lanes cannot do.
    pub fn alone(&self) -> Option<&str> {
        self.not_in_lanes.as_deref()
    }

    /// Positions, (worlds, nq).
    pub fn q(&self) -> &[f64] {
        &self.arrays.q
    }

    /// Positions, (worlds, nq), to be changed between steps.
    pub fn q_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.q
    }

    /// Velocities, (worlds, nv).
    pub fn v(&self) -> &[f64] {
        &self.arrays.v
    }

    /// Velocities, (worlds, nv), to be changed between steps.
    pub fn v_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.v
    }

    /// Controls, (worlds, nu).
    pub fn ctrl(&self) -> &[f64] {
        &self.arrays.ctrl
    }

    /// Controls, (worlds, nu), to be changed between steps.
    pub fn ctrl_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.ctrl
    }

    /// Activations, (worlds, na).
    pub fn act(&self) -> &[f64] {
        &self.arrays.act
    }

    /// Activations, (worlds, na), to be changed between steps.
    pub fn act_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.act
    }

    /// Which equality constraints are in force, 1 or 0, (worlds, neq).
    pub fn equality_active(&self) -> &[f64] {
        &self.arrays.equality_active
    }

    /// Which equality constraints are in force, 1 or 0, (worlds, neq), to be changed between steps.
    pub fn equality_active_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.equality_active
    }

    /// The velocities with which the last step has moved the bodies of a world that are moved from outside, as [`sim::State::mocap_velocity`].
    pub(crate) fn mocap_velocities(&self, world: usize) -> &[f64] {
        self.groups[world / self.width].mocap_velocities(world % self.width)
    }

    /// Where bodies are that are moved from outside, (worlds, nmocap, 7): position, m, then the quaternion w x y z.
    pub fn mocap(&self) -> &[f64] {
        &self.arrays.mocap
    }

    /// Where bodies are that are moved from outside, to be changed between steps.
    pub fn mocap_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.mocap
    }

    /// Times, (worlds), s.
    pub fn time(&self) -> &[f64] {
        &self.arrays.time
    }

    /// Times, (worlds), s, to be changed between steps; nothing but reports depends on them.
    pub fn time_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.time
    }

    /// Controls all worlds by stable PD of the same gains, from the next step on; `target` of `pd` is every world's until
    /// [changed](Self::pd_target_mut). `None`, or gains that are empty, end it.
    ///
    /// # Errors
    /// When a vector has the wrong length or a value outside its domain.
    pub fn set_pd(&mut self, pd: Option<Pd>) -> Result<(), BatchError> {
        let pd = pd.filter(Pd::is_active);
        if let Some(pd) = &pd {
            pd.check(&self.model.tree).map_err(SimulationError::from)?;
        }
        self.arrays.pd_target = pd.as_ref().map_or_else(Vec::new, |pd| pd.target.repeat(self.worlds()));
        self.arrays.pd_gains.clear();
        (self.pd, self.gains) = (pd, None);
        self.plan = sim::plan(&self.model, &self.scene, &self.options, self.pd.as_ref());
        self.arrange();
        Ok(())
    }

    /// Controls each world by stable PD of its own, from the next step on: gains and targets, one for each world. Where they are called again
    /// the worlds go on with what is remembered of them.
    ///
    /// # Errors
    /// When there are not as many as worlds, a vector has the wrong length or a value outside its domain.
    pub fn set_pd_of_worlds(&mut self, pd: &[Pd]) -> Result<(), BatchError> {
        check_size("pd", pd.len(), self.worlds())?;
        for pd in pd {
            pd.check(&self.model.tree).map_err(SimulationError::from)?;
        }
        let had_own = !self.arrays.pd_gains.is_empty();
        self.arrays.pd_target = pd.iter().flat_map(|pd| &pd.target).copied().collect();
        self.arrays.pd_gains = pd.iter().flat_map(|pd| pd.gains().rows()).flatten().copied().collect();
        self.pd = Some(pd[0].clone());
        if had_own {
            self.give_own();
        } else {
            self.plan = sim::plan_of_changing_gains(&self.model, &self.scene, &self.options, &pd[0]);
            let gains_of = |plan: &Plan| ChangingGains::new(plan, &self.model, &plan.numbers);
            self.gains = self.plan.as_ref().ok().map(gains_of);
            self.arrange();
        }
        Ok(())
    }

    /// The PD control of all worlds, or of the first where each has its own, with the target that it began with.
    pub fn pd(&self) -> Option<&Pd> {
        self.pd.as_ref()
    }

    /// Gains of PD control where worlds have their own, (worlds, 4, nv), in the order of
    /// [`PdGains::rows`](lanes::PdGains::rows); else empty.
    pub fn pd_gains(&self) -> &[f64] {
        &self.arrays.pd_gains
    }

    /// Targets of PD control, (worlds, nq); empty without.
    pub fn pd_target(&self) -> &[f64] {
        &self.arrays.pd_target
    }

    /// Targets of PD control, (worlds, nq), to be changed between steps; empty without.
    pub fn pd_target_mut(&mut self) -> &mut [f64] {
        &mut self.arrays.pd_target
    }

    /// The worlds that failed in the last step, rollout or derivative, and why; a reset world is no longer among them.
    pub fn errors(&self) -> impl Iterator<Item = (usize, &SimulationError)> {
        self.arrays.errors.iter().enumerate().filter_map(|(world, error)| Some((world, error.as_ref()?)))
    }

    /// The contact points of a world in its last step; none after a reset or a failure. They are not in the order of
    /// [`Simulation::contacts`].
    ///
    /// # Panics
    /// When there is no such world, or contacts [are not recorded](Self::records_contacts).
    pub fn contacts(&self, world: usize) -> &[BatchContact] {
        assert!(world < self.worlds(), "world {world} of {}", self.worlds());
        assert!(self.records_contacts(), "contacts are not recorded: set BatchOptions::contacts");
        &self.arrays.contacts[world]
    }

    /// Whether contact points are recorded: [`BatchOptions::contacts`].
    pub fn records_contacts(&self) -> bool {
        !self.arrays.contacts.is_empty()
    }

    /// Options that worlds are stepped with.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Threads that share the worlds.
    pub fn threads(&self) -> usize {
        self.ones.len()
    }

    /// What happened since the batch was made.
    pub fn stats(&self) -> &BatchStats {
        &self.stats
    }

    /// Lets a step end early once `interrupt` is raised.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.pool.set_interrupt(interrupt.clone());
        for one in &mut self.ones {
            one.get_mut().unwrap_or_else(PoisonError::into_inner).set_interrupt(interrupt.clone());
        }
        self.interrupt = interrupt;
        self.give_own();
    }

    /// Moves every world by `steps` time steps.
    ///
    /// # Errors
    /// When worlds diverge or have states that are not finite; these stay as they were, all others move on.
    pub fn step(&mut self, steps: usize) -> Result<(), BatchError> {
        self.drive((), |stepper, ()| stepper.step(steps))?;
        self.check_worlds()
    }

    /// An error if worlds failed in the last call.
    fn check_worlds(&self) -> Result<(), BatchError> {
        let mut failed = self.errors();
        match failed.next() {
            None => Ok(()),
            Some((world, source)) => Err(BatchError::Worlds { world, source: source.clone(), others: failed.count() }),
        }
    }

    /// Does something with every group and its worlds, on all threads. Work gets the rows of its worlds.
    fn drive<R: Rows>(
        &mut self,
        mut rows: R,
        work: impl Fn(&mut Stepper<'_>, &mut R) + Sync,
    ) -> Result<(), BatchError> {
        self.arrays.errors.fill(None);
        let before: u64 = self.arrays.count.iter().sum();
        let widths = self.arrays.widths();
        let Self { arrays, pd, groups, width, ones, pool, interrupt, .. } = self;
        let mut worlds = Worlds { arrays: arrays.borrow(), widths: &widths, pd: pd.as_ref() };
        let (all, width, interrupt) = (groups.len(), *width, &*interrupt);
        let mut groups = &mut groups[..];
        let mut shares: [_; SHARES] = std::array::from_fn(|k| {
            let count = all * (k + 1) / SHARES - all * k / SHARES;
            let worlds = worlds.split_off(count * width);
            let rows = rows.split_off(worlds.len());
            (groups.split_off_mut(..count).unwrap_or_default(), worlds, rows)
        });
        pool.parallel_for(&mut shares, |thread, (groups, worlds, rows)| {
            let mut one = ones[thread].lock().unwrap_or_else(PoisonError::into_inner);
            for group in groups.iter_mut().take_while(|_| !interrupt.is_raised()) {
                let mut worlds = worlds.split_off(width);
                let mut rows = rows.split_off(worlds.len());
                let worlds = worlds.reborrow();
                work(&mut Stepper { group: &mut **group, worlds, one: &mut one, thread, interrupt }, &mut rows);
            }
        });
        self.count_steps(before);
        self.check_interrupt()
    }

    /// An error if there was a request to stop; what was not finished for it is no failure of a world.
    fn check_interrupt(&mut self) -> Result<(), BatchError> {
        if !self.interrupt.is_raised() {
            return Ok(());
        }
        let errors = self.arrays.errors.iter_mut();
        errors
            .filter(|error| matches!(error, Some(SimulationError::Interrupted { .. })))
            .for_each(|error| *error = None);
        Err(BatchError::Interrupted)
    }

    /// Sums up; worlds had made so many steps `before`.
    fn count_steps(&mut self, before: u64) {
        let stats = &mut self.stats;
        stats.steps += self.arrays.count.iter().sum::<u64>().wrapping_sub(before);
        for group in &mut self.groups {
            let (lanes, fallback) = group.take_stats();
            stats.left += fallback.steps;
            stats.unsettled += fallback.unsettled;
            stats.left_iterations += fallback.iterations;
            stats.iterations += lanes.iterations;
            stats.group_iterations += lanes.group_iterations;
            stats.pushing += lanes.pushing;
        }
    }
}

fn check(name: &'static str, value: usize, is_right: bool, expected: &'static str) -> Result<(), BatchError> {
    if is_right { Ok(()) } else { Err(BatchError::Option { name, value, expected }) }
}

fn check_size(name: &'static str, found: usize, expected: usize) -> Result<(), BatchError> {
    if found == expected { Ok(()) } else { Err(BatchError::Size { name, found, expected }) }
}

/// Whether there is memory for so many worlds, as far as the system tells beforehand: it refuses what exceeds all that it has.
fn check_memory(model: &Model, worlds: usize) -> Result<(), BatchError> {
    let numbers = MEMORY_PER_COORDINATE * (model.nq() + model.nv() + model.nu()) + MEMORY_PER_WORLD;
    let bytes = numbers.saturating_mul(worlds).saturating_mul(size_of::<f64>());
    let mut trial = Vec::<u8>::new();
    let gigabytes = 1e-9 * numbers as f64 * worlds as f64 * size_of::<f64>() as f64;
    trial.try_reserve_exact(bytes).map_err(|_| BatchError::Memory { worlds, gigabytes })
}
