//! Groups of worlds: one in each lane.

mod fallback;
mod mocap;
mod width;

use std::sync::{Arc, Mutex, PoisonError};

use geometry::Scene;
use lanes::{Bundle, GroupMemory, LaneStats, Lanes, Numbers, Plan, put};
use multibody::Model;
use sim::{Options, OwnModel, Simulation, SimulationError, State, TraceNeeds};
use spatial::{F32x8, F32x16, F64x4, F64x8};
use support::Interrupt;

use crate::Precision;
use crate::arrays::{Arrays, Worlds};
use fallback::{FallbackStats, Past, Why, report, step_one};
use mocap::MocapGroup;
pub(crate) use width::{fastest, widest};

/// Steps in a row that are left to the simulation of a thread before a world with a model of its own has one, whose making takes as long.
const OFTEN: u32 = 8;

/// Some worlds that are stepped together.
pub(crate) trait Steps: Send + Sync {
    /// Makes `steps` steps of the worlds that have no error; `one` does what lanes leave. Worlds that fail stay as they were before the step
    /// that failed.
    fn run(&mut self, steps: usize, worlds: Worlds<'_>, one: &mut Simulation);
    /// Forgets what is remembered of a world.
    fn forget(&mut self, world: usize);
    /// Writes what is remembered of a world to a state.
    fn recall(&self, _world: usize, state: &mut State) {
        state.forget_past();
    }
    /// The velocities of a world's bodies that are moved from outside, as [`State::mocap_velocity`].
    fn mocap_velocities(&self, world: usize) -> &[f64];
    /// Takes over what a state remembers of its past, as far as a group can.
    fn remember(&mut self, _world: usize, _state: &State) {}
    /// Lets worlds have models of their own, or none.
    fn change(&mut self, changes: Vec<Change>);
    /// What was done since the last call, and what was left to a simulation.
    fn take_stats(&mut self) -> (LaneStats, FallbackStats);
}

/// Scratch of steps in lanes, as much as there are threads.
struct Pool<T: Bundle> {
    plan: Plan,
    nu: usize,
    /// The model and the scene of the worlds that have none of their own.
    model: (Arc<Model>, Arc<Scene>),
    /// What the worlds of a group that have nothing of their own are stepped with.
    numbers: Arc<Numbers<T>>,
    /// Boxed: they are large, and go from hand to hand.
    #[allow(clippy::vec_box)]
    idle: Mutex<Vec<Box<Lanes<T>>>>,
    /// What worlds that are in lanes again have given back.
    #[allow(clippy::vec_box)]
    pasts: Mutex<Vec<Box<Past>>>,
}

/// Worlds in lanes.
struct Group<T: Bundle> {
    pool: Arc<Pool<T>>,
    memory: GroupMemory<T>,
    mocap: MocapGroup,
    /// What the simulation remembers of the worlds whose last step was left to it, by lane.
    pasts: Vec<Option<Box<Past>>>,
    /// Models of worlds' own, by lane; empty where there are none.
    own: Vec<Option<OwnWorld>>,
    /// The numbers of all lanes where some are of worlds with models or gains of their own.
    numbers: Option<Arc<Numbers<T>>>,
    /// Lanes with numbers of their own, a bit each.
    numbered: u32,
    /// Lanes whose own model cannot be stepped in lanes, a bit each.
    not_in_lanes: u32,
    stats: LaneStats,
    fallback: FallbackStats,
}

impl<T: Bundle> Pool<T> {
    /// Scratch that no other thread uses.
    fn take(&self) -> Box<Lanes<T>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Box::new(Lanes::new(&self.plan, self.nu)))
    }

    /// The past of a world, which is as yet none where its last step was made in lanes.
    fn past<'a>(&self, of: &'a mut Option<Box<Past>>) -> &'a mut Past {
        of.get_or_insert_with(|| {
            let spare = self.pasts.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut past = spare.unwrap_or_else(|| Box::new(Past::new(&self.model.0)));
            (past.has_warm_start, past.in_a_row, past.wait) = (false, 0, 0);
            past
        })
    }

    /// What the simulation remembers of a world ends.
    fn end(&self, of: &mut Option<Box<Past>>) {
        if let Some(past) = of.take() {
            self.pasts.lock().unwrap_or_else(PoisonError::into_inner).push(past);
        }
    }

    fn give_back(&self, lanes: Box<Lanes<T>>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(lanes);
    }
}

/// A world by itself.
struct SingleWorld {
    state: State,
    /// Where the world has a model of its own.
    own: Option<OwnWorld>,
    fallback: FallbackStats,
}

/// A world that is to have a model of its own, or none.
pub(crate) struct Change {
    pub lane: usize,
    pub own: Option<OwnWorld>,
    /// What lanes step it with; none where they cannot, and of the model itself.
    pub numbers: Option<Numbers<f64>>,
}

/// The model of a world that is not the batch's.
pub(crate) struct OwnWorld {
    of: Arc<OwnModel>,
    options: Options,
    interrupt: Interrupt,
    /// Makes the steps where lanes make none, or have not for long.
    simulation: Option<Box<Simulation>>,
}

impl OwnWorld {
    pub fn new(of: Arc<OwnModel>, options: Options, interrupt: Interrupt) -> Self {
        Self { of, options, interrupt, simulation: None }
    }

    /// The simulation of such a world.
    fn simulation(&mut self) -> Result<&mut Simulation, SimulationError> {
        let simulation = match self.simulation.take() {
            Some(simulation) => simulation,
            None => {
                let (model, scene) = self.of.get();
                let mut simulation = Simulation::new(model.clone(), scene.clone(), self.options.clone())?;
                simulation.set_interrupt(self.interrupt.clone());
                Box::new(simulation)
            }
        };
        Ok(self.simulation.insert(simulation))
    }
}

/// Groups of `width` lanes for `n` worlds.
pub(crate) fn groups(
    plan: Plan,
    model: (Arc<Model>, Arc<Scene>),
    n: usize,
    precision: Precision,
    width: usize,
) -> Vec<Box<dyn Steps>> {
    fn of<T: Bundle>(plan: Plan, model: (Arc<Model>, Arc<Scene>), count: usize) -> Vec<Box<dyn Steps>> {
        let nu = model.0.nu();
        let numbers = Arc::new(plan.numbers.map(&mut T::from_f64));
        let (idle, pasts) = (Mutex::default(), Mutex::default());
        let pool = Arc::new(Pool::<T> { plan, nu, model, numbers, idle, pasts });
        let group = |_| -> Box<dyn Steps> {
            let (memory, stats) = (GroupMemory::default(), LaneStats::default());
            let pasts = (0..T::LANES).map(|_| None).collect();
            let (own, numbers, not_in_lanes) = (Vec::new(), None, 0);
            Box::new(Group {
                pool: pool.clone(),
                memory,
                mocap: MocapGroup::new(T::LANES),
                pasts,
                own,
                numbers,
                numbered: 0,
                not_in_lanes,
                stats,
                fallback: FallbackStats::default(),
            })
        };
        (0..count).map(group).collect()
    }
    let make = match (precision, width) {
        (Precision::F64, 8) => of::<F64x8>,
        (Precision::F64, 4) => of::<F64x4>,
        (Precision::F64, _) => of::<f64>,
        (Precision::F32, 16) => of::<F32x16>,
        (Precision::F32, 8) => of::<F32x8>,
        (Precision::F32, _) => of::<f32>,
    };
    make(plan, model, n.div_ceil(width))
}

/// Worlds by themselves.
pub(crate) fn single_worlds(model: &Model, scene: &Scene, n: usize) -> Vec<Box<dyn Steps>> {
    let one = || -> Box<dyn Steps> {
        Box::new(SingleWorld { state: State::of(model, scene), own: None, fallback: FallbackStats::default() })
    };
    (0..n).map(|_| one()).collect()
}

impl<T: Bundle> Steps for Group<T> {
    fn run(&mut self, steps: usize, worlds: Worlds<'_>, one: &mut Simulation) {
        let mut lanes = self.pool.take();
        lanes.take_memory(&self.memory);
        lanes.numbers = self.numbers.as_ref().unwrap_or(&self.pool.numbers).clone();
        self.step(&mut lanes, steps, worlds, one);
        lanes.give_memory(&mut self.memory);
        self.stats.add(&std::mem::take(&mut lanes.stats));
        self.pool.give_back(lanes);
    }

    fn forget(&mut self, lane: usize) {
        self.memory.forget(lane);
        self.mocap.forget(lane);
        self.pool.end(&mut self.pasts[lane]);
    }

    fn recall(&self, lane: usize, state: &mut State) {
        match &self.pasts[lane] {
            Some(past) if self.not_in_lanes >> lane & 1 != 0 => state.clone_from(&past.state),
            _ => state.forget_past(),
        }
        self.mocap.recall(lane, state);
    }

    fn mocap_velocities(&self, lane: usize) -> &[f64] {
        self.mocap.velocities(lane)
    }

    fn remember(&mut self, lane: usize, state: &State) {
        self.mocap.remember(lane, state);
        if self.not_in_lanes >> lane & 1 != 0 {
            let past = self.pool.past(&mut self.pasts[lane]);
            past.state.clone_from(state);
            past.has_warm_start = true;
        }
    }

    fn change(&mut self, changes: Vec<Change>) {
        self.own.resize_with(T::LANES, || None);
        let mut rows = Vec::with_capacity(changes.len());
        let mut is_uneven = false;
        for Change { lane, own, numbers } in changes {
            let bit = 1 << lane;
            let is_not_in_lanes = own.is_some() && numbers.is_none();
            self.not_in_lanes = if is_not_in_lanes { self.not_in_lanes | bit } else { self.not_in_lanes & !bit };
            self.own[lane] = own;
            self.numbered = if numbers.is_some() { self.numbered | bit } else { self.numbered & !bit };
            is_uneven |= numbers.as_ref().is_some_and(|numbers| numbers.is_uneven);
            let mut row = Vec::new();
            numbers.as_ref().unwrap_or(&self.pool.plan.numbers).map(&mut |x| {
                row.push(x);
                x
            });
            rows.push((lane, row));
        }
        if self.numbered == 0 && self.own.iter().all(Option::is_none) {
            (self.own, self.numbers) = (Vec::new(), None);
            return;
        }
        let mut k = 0;
        let mut numbers = self.numbers.as_ref().unwrap_or(&self.pool.numbers).map(&mut |mut of_lanes: T| {
            rows.iter().for_each(|(lane, row)| put(&mut of_lanes, *lane, row[k]));
            k += 1;
            of_lanes
        });
        // One flag for all lanes: even models get the same bits with it.
        numbers.is_uneven |= is_uneven;
        self.numbers = Some(Arc::new(numbers));
    }

    fn take_stats(&mut self) -> (LaneStats, FallbackStats) {
        (std::mem::take(&mut self.stats), std::mem::take(&mut self.fallback))
    }
}

impl Steps for SingleWorld {
    fn run(&mut self, steps: usize, mut worlds: Worlds<'_>, one: &mut Simulation) {
        let Arrays { errors, .. } = &mut worlds.arrays;
        if errors[0].is_some() {
            return;
        }
        let one = match self.own.as_mut().map(OwnWorld::simulation).transpose() {
            Ok(own) => own.unwrap_or(one),
            Err(error) => return errors[0] = Some(error),
        };
        std::mem::swap(one.state_mut(), &mut self.state);
        worlds.world(0).write_state(one.state_mut(), worlds.pd);
        one.set_steps_ahead(steps);
        let mut world = worlds.world_mut(0);
        for _ in 0..steps {
            self.fallback.steps += 1;
            if let Err(error) = one.step() {
                world.errors[0] = Some(error);
                break;
            }
            self.fallback.add(one.stats());
        }
        one.set_steps_ahead(1);
        if world.errors[0].is_none() && steps > 0 {
            report(one, &mut world);
        }
        let state = one.state();
        world.read_state(state);
        (world.time[0], world.count[0]) = (state.time, state.step);
        std::mem::swap(one.state_mut(), &mut self.state);
    }

    fn forget(&mut self, _: usize) {
        self.state.forget_past();
    }

    fn recall(&self, _: usize, state: &mut State) {
        state.clone_from(&self.state);
    }

    fn remember(&mut self, _: usize, state: &State) {
        self.state.clone_from(state);
    }

    fn mocap_velocities(&self, _: usize) -> &[f64] {
        &self.state.mocap_velocity
    }

    fn change(&mut self, changes: Vec<Change>) {
        changes.into_iter().for_each(|change| self.own = change.own);
    }

    fn take_stats(&mut self) -> (LaneStats, FallbackStats) {
        (LaneStats::default(), std::mem::take(&mut self.fallback))
    }
}

impl<T: Bundle> Group<T> {
    /// Makes `steps` steps of the worlds that have no error.
    fn step(&mut self, lanes: &mut Lanes<T>, steps: usize, mut worlds: Worlds<'_>, one: &mut Simulation) {
        let plan = &self.pool.plan;
        let count = worlds.len();
        load(lanes, plan, &worlds);
        for step in 1..=steps {
            let waits = |past: &Option<Box<Past>>| past.as_ref().is_some_and(|past| past.wait > 0);
            let untried = self.pasts.iter().enumerate().map(|(lane, past)| u32::from(waits(past)) << lane);
            lanes.untried = untried.fold(self.not_in_lanes, |all, lane| all | lane);
            let steps_ahead = steps + 1 - step;
            self.mocap.place(lanes, &worlds, steps_ahead, plan.dt);
            if self.not_in_lanes.count_ones() as usize == count {
                lanes.fall_back_in_all();
            } else {
                T::step(lanes, plan);
            }
            let fallback = lanes.fallback();
            for lane in 0..count {
                if fallback >> lane & 1 == 0 {
                    self.pool.end(&mut self.pasts[lane]);
                    if let Some(Some(own)) = self.own.get_mut(lane) {
                        own.simulation = None;
                    }
                } else if worlds.arrays.errors[lane].is_none() {
                    self.fallback.steps += 1;
                    let past = self.pool.past(&mut self.pasts[lane]);
                    self.mocap.recall(lane, past.begin());
                    let own = self.own.get_mut(lane).and_then(Option::as_mut);
                    let is_alone = self.not_in_lanes >> lane & 1 != 0 || past.in_a_row >= OFTEN;
                    let made = stepper(one, own, &self.pool.model, is_alone);
                    let made = made.and_then(|one| {
                        let why = match () {
                            () if self.not_in_lanes >> lane & 1 != 0 => Why::NotInLanes,
                            () if lanes.unresolved() >> lane & 1 != 0 => Why::Unresolved,
                            () => Why::Unsolved,
                        };
                        step_one(lanes, lane, why, &mut worlds, steps_ahead, one, past, &mut self.fallback)
                    });
                    if let Err(error) = made {
                        // As it is now: later steps of the group may move the lane on.
                        worlds.world_mut(lane).store(lanes, lane);
                        worlds.arrays.errors[lane] = Some(error);
                    }
                }
            }
            for lane in (0..count).filter(|&lane| worlds.arrays.errors[lane].is_none()) {
                worlds.arrays.time[lane] += plan.dt;
                worlds.arrays.count[lane] += 1;
                self.mocap.leave(lane);
            }
        }
        for lane in 0..count {
            if worlds.arrays.errors[lane].is_none() {
                worlds.world_mut(lane).store(lanes, lane);
            }
        }
        let fallback = lanes.fallback();
        let made = |lane: usize| steps > 0 && fallback >> lane & 1 == 0;
        for (lane, contacts) in worlds.arrays.contacts.iter_mut().enumerate().filter(|(lane, _)| made(*lane)) {
            contacts.clear();
            lanes.report_contacts(plan, lane, contacts);
        }
        for (lane, trace) in worlds.arrays.traces.iter_mut().enumerate().filter(|(lane, _)| made(*lane)) {
            let own = self.own.get(lane).and_then(Option::as_ref);
            let (model, scene) = own.map_or((&self.pool.model.0, &self.pool.model.1), |own| own.of.get());
            sim::trace_lane(
                lanes,
                lane,
                (plan, model, scene, one.options()),
                TraceNeeds::of(model, &model.sensors),
                trace,
            );
        }
    }
}

/// What makes a step that lanes do not: that of the thread, or a simulation of the world's own where lanes make none of it, or have not for
/// long.
fn stepper<'a>(
    one: &'a mut Simulation,
    own: Option<&'a mut OwnWorld>,
    (model, scene): &(Arc<Model>, Arc<Scene>),
    is_alone: bool,
) -> Result<&'a mut Simulation, SimulationError> {
    match own {
        Some(own) if is_alone => return own.simulation(),
        Some(own) => one.go_to_own(&own.of)?,
        None => one.go_to_model(model, scene)?,
    }
    Ok(one)
}

/// Takes the worlds' states; lanes without a world repeat the last one.
fn load<T: Bundle>(lanes: &mut Lanes<T>, plan: &Plan, worlds: &Worlds<'_>) {
    lanes.has_forces = worlds.arrays.applied_force.iter().any(|x| *x != 0.0);
    lanes.has_wrenches = worlds.arrays.applied_wrench.iter().any(|x| *x != 0.0);
    lanes.has_surface_velocity = worlds.arrays.surface_velocity.iter().any(|x| *x != 0.0);
    for lane in 0..T::LANES {
        let world = worlds.world(lane.min(worlds.len() - 1));
        world.load(lanes, lane);
        if lanes.has_surface_velocity {
            lanes.set_surface_velocities(plan, lane, world.surface_velocity);
        }
    }
}
