//! A batch of worlds.

use std::sync::{Arc, Mutex, PoisonError};

use crew::Crew;
use geometry::Scene;
use interrupt::Interrupt;
use multibody::{Keyframe, Model};
use sim::{Options, Simulation, SimulationError};

use crate::group::{Rows, Steps, alone, groups, widest};
use crate::plan::{NotInLanes, Plan};

/// What a user may choose. The defaults need no touch.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct BatchOptions {
    /// How worlds are stepped.
    pub simulation: Options,
    /// Threads that share the worlds; those of the processor when none.
    pub threads: Option<usize>,
    /// Worlds side by side: 1, 4, or 8 where the processor has AVX-512; the most it has when none.
    pub lanes: Option<usize>,
}

/// Why a batch could not be made, or some of its worlds not be stepped.
#[derive(Clone, Debug, thiserror::Error)]
pub enum BatchError {
    /// A simulation of the model could not be made.
    #[error(transparent)]
    Simulation(#[from] SimulationError),
    /// An option that is not there.
    #[error("{name} = {value}: expected {expected}")]
    Option {
        /// The option.
        name: &'static str,
        /// What it was.
        value: usize,
        /// What it may be.
        expected: &'static str,
    },
    /// Worlds that failed; they stay as they were before the step that failed, all others have moved on.
    #[error("world {world}, and {others} others: {source}")]
    Worlds {
        /// The first of them.
        world: usize,
        /// How many others.
        others: usize,
        /// Why the first failed.
        source: SimulationError,
    },
    /// It was told to stop; worlds may have made different numbers of steps.
    #[error("interrupted")]
    Interrupted,
}

/// What a batch did since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct BatchStats {
    /// Steps of worlds.
    pub steps: u64,
    /// Those of them that were left to a simulation of one world.
    pub left: u64,
    /// Iterations of the contact solver in lanes.
    pub iterations: u64,
    /// Iterations that groups made: as many as the slowest of their worlds.
    pub group_iterations: u64,
    /// Contacts and limits that pushed, in lanes.
    pub pushing: u64,
}

/// Parts that worlds are cut into, which threads share.
const SHARES: usize = 64;

/// Worlds of one model, stepped together.
pub struct Batch {
    model: Arc<Model>,
    /// Positions, velocities and controls, (worlds, nq) and so on.
    q: Vec<f64>,
    v: Vec<f64>,
    ctrl: Vec<f64>,
    errors: Vec<Option<SimulationError>>,
    /// Worlds in a group, and why they are stepped one by one if they are.
    width: usize,
    alone: Option<String>,
    groups: Vec<Box<dyn Steps>>,
    /// One for each thread, for what lanes leave.
    ones: Vec<Mutex<Simulation>>,
    crew: Crew,
    interrupt: Interrupt,
    stats: BatchStats,
}

impl Batch {
    /// `worlds` worlds at the model's default configuration, at rest.
    ///
    /// # Errors
    /// When an option is outside its domain, or the scene is not one for this model.
    pub fn new(model: Arc<Model>, scene: Arc<Scene>, worlds: usize, options: BatchOptions) -> Result<Self, BatchError> {
        let BatchOptions { simulation, threads, lanes } = options;
        let threads = threads.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
        let width = lanes.unwrap_or(widest());
        check("worlds", worlds, worlds > 0, "1 or more")?;
        check("threads", threads, (1..=Options::MAX_THREADS).contains(&threads), "from 1 to 1024")?;
        check("lanes", width, [1, 4, 8].contains(&width) && width <= widest(), "1, 4, or 8 with AVX-512")?;
        let options = Options { threads: 1, ..simulation };
        let one = || Ok(Mutex::new(Simulation::new(model.clone(), scene.clone(), options.clone())?));
        let ones = (0..threads).map(|_| one()).collect::<Result<Vec<_>, SimulationError>>()?;
        let (groups, width, alone) = match Plan::new(&model, &scene, &options) {
            Ok(plan) => (groups(plan, model.nu(), worlds, width), width, None),
            Err(NotInLanes(reason)) => (alone(&model, worlds), 1, Some(reason)),
        };
        let crew = Crew::new(threads).map_err(|_| BatchError::Option {
            name: "threads",
            value: threads,
            expected: "no more threads than the system grants",
        })?;
        Ok(Self {
            q: model.q0.repeat(worlds),
            v: vec![0.0; model.nv() * worlds],
            ctrl: vec![0.0; model.nu() * worlds],
            errors: vec![None; worlds],
            model,
            width,
            alone,
            groups,
            ones,
            crew,
            interrupt: Interrupt::default(),
            stats: BatchStats::default(),
        })
    }

    /// The model.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// The number of worlds.
    pub fn worlds(&self) -> usize {
        self.errors.len()
    }

    /// Worlds side by side in a register; 1 where they are stepped [one by one](Self::alone).
    pub fn lanes(&self) -> usize {
        self.width
    }

    /// Why worlds are stepped one by one, if they are: what in the model lanes cannot do.
    pub fn alone(&self) -> Option<&str> {
        self.alone.as_deref()
    }

    /// Positions, (worlds, nq).
    pub fn q(&self) -> &[f64] {
        &self.q
    }

    /// Positions, (worlds, nq), to be changed between steps.
    pub fn q_mut(&mut self) -> &mut [f64] {
        &mut self.q
    }

    /// Velocities, (worlds, nv).
    pub fn v(&self) -> &[f64] {
        &self.v
    }

    /// Velocities, (worlds, nv), to be changed between steps.
    pub fn v_mut(&mut self) -> &mut [f64] {
        &mut self.v
    }

    /// Controls, (worlds, nu).
    pub fn ctrl(&self) -> &[f64] {
        &self.ctrl
    }

    /// Controls, (worlds, nu), to be changed between steps.
    pub fn ctrl_mut(&mut self) -> &mut [f64] {
        &mut self.ctrl
    }

    /// What happened since the batch was made.
    pub fn stats(&self) -> &BatchStats {
        &self.stats
    }

    /// Lets a step end early once `interrupt` is raised.
    pub fn set_interrupt(&mut self, interrupt: Interrupt) {
        self.crew.set_interrupt(interrupt.clone());
        for one in &mut self.ones {
            one.get_mut().unwrap_or_else(PoisonError::into_inner).set_interrupt(interrupt.clone());
        }
        self.interrupt = interrupt;
    }

    /// Takes the worlds where `which` is true to a keyframe, or to the default configuration at rest for `None`. All that is remembered of
    /// them is forgotten.
    ///
    /// # Errors
    /// When the model has no such keyframe.
    ///
    /// # Panics
    /// When there is not one entry for each world.
    pub fn reset(&mut self, which: &[bool], keyframe: Option<&str>) -> Result<(), BatchError> {
        assert_eq!(which.len(), self.worlds(), "one entry for each world");
        let Some(Keyframe { q, v, ctrl, .. }) = self.model.keyframe(keyframe) else {
            let known = self.model.keyframes.iter().map(|k| k.name.clone()).collect();
            return Err(SimulationError::Keyframe { name: keyframe.unwrap_or_default().into(), known }.into());
        };
        let (nq, nv, nu) = (self.model.nq(), self.model.nv(), self.model.nu());
        for world in (0..self.worlds()).filter(|&world| which[world]) {
            self.q[world * nq..][..nq].copy_from_slice(&q);
            self.v[world * nv..][..nv].copy_from_slice(&v);
            self.ctrl[world * nu..][..nu].copy_from_slice(&ctrl);
            self.forget(world);
        }
        Ok(())
    }

    /// Forgets what the solver remembers of a world, so that its next steps depend on its state alone.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn forget(&mut self, world: usize) {
        self.groups[world / self.width].forget(world % self.width);
    }

    /// Moves every world by `steps` time steps.
    ///
    /// # Errors
    /// When worlds diverge or have states that are not finite; these stay as they were, all others move on.
    pub fn step(&mut self, steps: usize) -> Result<(), BatchError> {
        self.errors.fill(None);
        let sizes = (self.model.nq(), self.model.nv(), self.model.nu());
        let Self { q, v, ctrl, errors, groups, width, ones, crew, interrupt, .. } = self;
        let (all, width) = (groups.len(), *width);
        let mut groups = &mut groups[..];
        let mut rows = Rows { q, v, ctrl, errors };
        let mut shares: [_; SHARES] = std::array::from_fn(|k| {
            let count = all * (k + 1) / SHARES - all * k / SHARES;
            (groups.split_off_mut(..count).unwrap_or_default(), rows.split_off(count * width, sizes))
        });
        let (ones, interrupt) = (&*ones, &*interrupt);
        crew.for_each(&mut shares, |thread, (groups, rows)| {
            let mut one = ones[thread].lock().unwrap_or_else(PoisonError::into_inner);
            for group in groups.iter_mut().take_while(|_| !interrupt.is_raised()) {
                group.run(steps, rows.split_off(width, sizes), &mut one);
            }
        });
        self.count(steps);
        if self.interrupt.is_raised() {
            return Err(BatchError::Interrupted);
        }
        let failed = || self.errors.iter().enumerate().filter_map(|(world, error)| Some((world, error.as_ref()?)));
        match failed().next() {
            None => Ok(()),
            Some((world, source)) => {
                Err(BatchError::Worlds { world, others: failed().count() - 1, source: source.clone() })
            }
        }
    }

    fn count(&mut self, steps: usize) {
        let stats = &mut self.stats;
        stats.steps += (steps * self.errors.len()) as u64;
        for group in &mut self.groups {
            let (of_group, left) = group.take_stats();
            stats.left += left;
            stats.iterations += of_group.iterations;
            stats.group_iterations += of_group.group_iterations;
            stats.pushing += of_group.pushing;
        }
    }
}

fn check(name: &'static str, value: usize, is_right: bool, expected: &'static str) -> Result<(), BatchError> {
    if is_right { Ok(()) } else { Err(BatchError::Option { name, value, expected }) }
}
