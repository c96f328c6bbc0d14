//! Groups of worlds: one in each lane.

mod left;
mod width;

use std::sync::{Arc, Mutex, PoisonError};

use geometry::Scene;
use interrupt::Interrupt;
use lanes::{Bundle, GroupMemory, LaneContact, LaneStats, Lanes, Numbers, Plan, get, put};
use multibody::Model;
use sim::{Options, Pd, Simulation, SimulationError, State, StepTrace, TraceNeeds};
use spatial::{F32x8, F32x16, F64x4, F64x8};

use crate::batch::Precision;
use left::{Left, Past, Why, contacts_of_simulation, step_one};
pub(crate) use width::{fastest, widest};

/// The arrays of some worlds, (worlds, nq) and so on.
pub(crate) struct WorldArrays<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub ctrl: &'a [f64],
    /// Activations, (worlds, na).
    pub act: &'a mut [f64],
    /// Time and count of steps, which every step moves on.
    pub time: &'a mut [f64],
    pub count: &'a mut [u64],
    /// PD control: gains of all, targets (worlds, nq).
    pub pd: Option<&'a Pd>,
    pub pd_target: &'a [f64],
    /// (worlds, nv) and (worlds, nbody, 6), or empty where nobody set any.
    pub applied_force: &'a [f64],
    pub applied_wrench: &'a [f64],
    /// What sensors need of the last step, or empty where they need nothing.
    pub traces: &'a mut [StepTrace],
    /// Why a world could not be stepped.
    pub errors: &'a mut [Option<SimulationError>],
    /// Contact points of the last step, or empty where they are not recorded.
    pub contacts: &'a mut [Vec<LaneContact>],
}

/// Some worlds that are stepped together.
pub(crate) trait Steps: Send + Sync {
    /// Makes `steps` steps of the worlds in `rows` that have no error; `one` does what lanes leave. Worlds that fail stay as they were before
    /// the step that failed.
    fn run(&mut self, steps: usize, rows: WorldArrays<'_>, one: &mut Simulation);
    /// Forgets what is remembered of a world.
    fn forget(&mut self, world: usize);
    /// Writes what is remembered of a world to a state.
    fn recall(&self, _world: usize, state: &mut State) {
        state.forget_past();
    }
    /// Takes over what a state remembers of its past, as far as a group can.
    fn remember(&mut self, _world: usize, _state: &State) {}
    /// Lets a world have a model of its own, or none.
    fn set_own(&mut self, world: usize, own: Option<OwnWorld>);
    /// What was done since the last call, and what was left to a simulation.
    fn take_stats(&mut self) -> (LaneStats, Left);
}

/// Scratch of steps in lanes, as much as there are threads.
struct Pool<T: Bundle> {
    plan: Plan,
    nu: usize,
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
    /// What the simulation remembers of the worlds whose last step was left to it, by lane.
    pasts: Vec<Option<Box<Past>>>,
    /// Models of worlds' own, by lane; empty where there are none.
    own: Vec<Option<OwnWorld>>,
    /// The numbers of all lanes where some are of worlds with models of their own.
    numbers: Option<Arc<Numbers<T>>>,
    /// Lanes whose own model cannot be stepped in lanes, a bit each.
    alone: u32,
    stats: LaneStats,
    left: Left,
}

impl<T: Bundle> Pool<T> {
    /// Scratch that no other thread uses.
    fn take(&self) -> Box<Lanes<T>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Box::new(Lanes::new(&self.plan, self.nu)))
    }

    /// The past of a world, which is as yet none where its last step was made in lanes.
    fn past<'a>(&self, of: &'a mut Option<Box<Past>>, model: &Model) -> &'a mut Past {
        of.get_or_insert_with(|| {
            let spare = self.pasts.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut past = spare.unwrap_or_else(|| Box::new(Past::new(model)));
            (past.is_known, past.in_a_row, past.wait) = (false, 0, 0);
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
struct Alone {
    state: State,
    /// Where the world has a model of its own.
    own: Option<OwnWorld>,
    left: Left,
}

/// The model of a world that is not the batch's.
pub(crate) struct OwnWorld {
    pub model: Arc<Model>,
    pub scene: Arc<Scene>,
    pub options: Options,
    pub interrupt: Interrupt,
    /// What lanes step it with; none where they cannot.
    pub numbers: Option<Numbers<f64>>,
    /// Makes the steps that lanes do not, from the first of them on.
    pub simulation: Option<Box<Simulation>>,
}

impl OwnWorld {
    /// The simulation of such a world.
    fn simulation(&mut self) -> Result<&mut Simulation, SimulationError> {
        let simulation = match self.simulation.take() {
            Some(simulation) => simulation,
            None => {
                let (model, scene) = (self.model.clone(), self.scene.clone());
                let mut simulation = Simulation::new(model, scene, self.options.clone())?;
                simulation.set_interrupt(self.interrupt.clone());
                Box::new(simulation)
            }
        };
        Ok(self.simulation.insert(simulation))
    }
}

/// Groups of `width` lanes for `n` worlds.
pub(crate) fn groups(plan: Plan, nu: usize, n: usize, (precision, width): (Precision, usize)) -> Vec<Box<dyn Steps>> {
    fn of<T: Bundle>(plan: Plan, nu: usize, count: usize) -> Vec<Box<dyn Steps>> {
        let numbers = Arc::new(plan.numbers.map(&mut T::from_f64));
        let pool = Pool::<T> { plan, nu, numbers, idle: Mutex::default(), pasts: Mutex::default() };
        let pool = Arc::new(pool);
        let group = |_| -> Box<dyn Steps> {
            let (memory, stats) = (GroupMemory::default(), LaneStats::default());
            let pasts = (0..T::LANES).map(|_| None).collect();
            let (own, numbers, alone) = (Vec::new(), None, 0);
            Box::new(Group { pool: pool.clone(), memory, pasts, own, numbers, alone, stats, left: Left::default() })
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
    make(plan, nu, n.div_ceil(width))
}

/// Worlds by themselves.
pub(crate) fn alone(model: &Model, scene: &Scene, n: usize) -> Vec<Box<dyn Steps>> {
    let one =
        || -> Box<dyn Steps> { Box::new(Alone { state: State::of(model, scene), own: None, left: Left::default() }) };
    (0..n).map(|_| one()).collect()
}

impl<T: Bundle> Steps for Group<T> {
    fn run(&mut self, steps: usize, rows: WorldArrays<'_>, one: &mut Simulation) {
        let mut lanes = self.pool.take();
        lanes.take_memory(&self.memory);
        lanes.numbers = self.numbers.as_ref().unwrap_or(&self.pool.numbers).clone();
        self.step(&mut lanes, steps, rows, one);
        lanes.give_memory(&mut self.memory);
        self.stats.add(&std::mem::take(&mut lanes.stats));
        self.pool.give_back(lanes);
    }

    fn forget(&mut self, lane: usize) {
        self.memory.forget(lane);
        self.pool.end(&mut self.pasts[lane]);
    }

    fn recall(&self, lane: usize, state: &mut State) {
        match &self.pasts[lane] {
            Some(past) if self.alone >> lane & 1 != 0 => state.clone_from(&past.state),
            _ => state.forget_past(),
        }
    }

    fn remember(&mut self, lane: usize, state: &State) {
        if let (Some(Some(own)), true) = (self.own.get(lane), self.alone >> lane & 1 != 0) {
            let past = self.pool.past(&mut self.pasts[lane], &own.model);
            past.state.clone_from(state);
            past.is_known = true;
        }
    }

    fn set_own(&mut self, lane: usize, own: Option<OwnWorld>) {
        let bit = 1 << lane;
        let is_alone = own.as_ref().is_some_and(|own| own.numbers.is_none());
        self.alone = if is_alone { self.alone | bit } else { self.alone & !bit };
        self.own.resize_with(T::LANES, || None);
        self.own[lane] = own;
        if self.own.iter().all(Option::is_none) {
            (self.own, self.numbers) = (Vec::new(), None);
            return;
        }
        let of_lane = self.own[lane].as_mut().and_then(|own| own.numbers.take());
        let mut of_lane_or_model = Vec::new();
        of_lane.as_ref().unwrap_or(&self.pool.plan.numbers).map(&mut |x| of_lane_or_model.push(x));
        let mut next = of_lane_or_model.into_iter();
        let before = self.numbers.as_ref().unwrap_or(&self.pool.numbers);
        let mut numbers = before.map(&mut |mut of_lanes: T| {
            if let Some(x) = next.next() {
                put(&mut of_lanes, lane, x);
            }
            of_lanes
        });
        // One flag for all lanes: even models get the same bits with it.
        numbers.is_uneven |= of_lane.is_some_and(|numbers| numbers.is_uneven);
        self.numbers = Some(Arc::new(numbers));
    }

    fn take_stats(&mut self) -> (LaneStats, Left) {
        (std::mem::take(&mut self.stats), std::mem::take(&mut self.left))
    }
}

impl Steps for Alone {
    fn run(&mut self, steps: usize, rows: WorldArrays<'_>, one: &mut Simulation) {
        if rows.errors[0].is_some() {
            return;
        }
        let one = match self.own.as_mut().map(OwnWorld::simulation).transpose() {
            Ok(own) => own.unwrap_or(one),
            Err(error) => return rows.errors[0] = Some(error),
        };
        std::mem::swap(one.state_mut(), &mut self.state);
        let state = one.state_mut();
        state.q.copy_from_slice(rows.q);
        state.v.copy_from_slice(rows.v);
        state.ctrl.copy_from_slice(rows.ctrl);
        state.act.copy_from_slice(rows.act);
        (state.time, state.step) = (rows.time[0], rows.count[0]);
        copy_pd(&mut state.pd, rows.pd, rows.pd_target);
        copy_forces(state, rows.applied_force, rows.applied_wrench);
        for _ in 0..steps {
            self.left.steps += 1;
            if let Err(error) = one.step() {
                rows.errors[0] = Some(error);
                break;
            }
            self.left.add(one.stats());
        }
        if let ([contacts], None, true) = (rows.contacts, &rows.errors[0], steps > 0) {
            contacts.clear();
            contacts_of_simulation(one.contacts(), one.timestep(), contacts);
        }
        if let ([trace], None, true) = (rows.traces, &rows.errors[0], steps > 0) {
            one.trace(TraceNeeds::of(one.model()), trace);
        }
        let state = one.state();
        rows.q.copy_from_slice(&state.q);
        rows.v.copy_from_slice(&state.v);
        rows.act.copy_from_slice(&state.act);
        (rows.time[0], rows.count[0]) = (state.time, state.step);
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

    fn set_own(&mut self, _: usize, own: Option<OwnWorld>) {
        self.own = own;
    }

    fn take_stats(&mut self) -> (LaneStats, Left) {
        (LaneStats::default(), std::mem::take(&mut self.left))
    }
}

impl<T: Bundle> Group<T> {
    /// Makes `steps` steps of the worlds in `rows` that have no error.
    fn step(&mut self, lanes: &mut Lanes<T>, steps: usize, mut rows: WorldArrays<'_>, one: &mut Simulation) {
        let plan = &self.pool.plan;
        let worlds = rows.errors.len();
        load(lanes, worlds, &rows);
        for step in 1..=steps {
            let waits = |past: &Option<Box<Past>>| past.as_ref().is_some_and(|past| past.wait > 0);
            let untried = self.pasts.iter().enumerate().map(|(lane, past)| u32::from(waits(past)) << lane);
            lanes.untried = untried.fold(self.alone, |all, lane| all | lane);
            if self.alone.count_ones() as usize == worlds {
                lanes.leave_all();
            } else {
                T::step(lanes, plan);
            }
            let left = lanes.left();
            for lane in 0..worlds {
                if left >> lane & 1 == 0 {
                    self.pool.end(&mut self.pasts[lane]);
                } else if rows.errors[lane].is_none() {
                    self.left.steps += 1;
                    let past = self.pool.past(&mut self.pasts[lane], one.model());
                    let own = self.own.get_mut(lane).and_then(Option::as_mut).map(OwnWorld::simulation).transpose();
                    let made = own.and_then(|own| {
                        let one = own.unwrap_or(one);
                        let why = match () {
                            () if self.alone >> lane & 1 != 0 => Why::Alone,
                            () if lanes.unresolved() >> lane & 1 != 0 => Why::Unresolved,
                            () => Why::Unsolved,
                        };
                        step_one(lanes, (lane, why), (&mut rows, step == steps), one, (past, &mut self.left))
                    });
                    if let Err(error) = made {
                        // As it is now: later steps of the group may move the lane on.
                        store(lanes, lane, &mut rows);
                        rows.errors[lane] = Some(error);
                    }
                }
            }
            for lane in (0..worlds).filter(|&lane| rows.errors[lane].is_none()) {
                rows.time[lane] += plan.dt;
                rows.count[lane] += 1;
            }
        }
        for lane in 0..worlds {
            if rows.errors[lane].is_none() {
                store(lanes, lane, &mut rows);
            }
        }
        let left = lanes.left();
        let made = |lane: usize| steps > 0 && left >> lane & 1 == 0;
        for (lane, contacts) in rows.contacts.iter_mut().enumerate().filter(|(lane, _)| made(*lane)) {
            contacts.clear();
            lanes.report_contacts(plan, lane, contacts);
        }
        for (lane, trace) in rows.traces.iter_mut().enumerate().filter(|(lane, _)| made(*lane)) {
            let own = self.own.get(lane).and_then(Option::as_ref);
            let (model, scene) = own.map_or((one.model(), one.scene()), |own| (&own.model, &own.scene));
            sim::trace_lane(lanes, lane, (plan, model, scene, one.options()), trace);
        }
    }
}

/// Takes the worlds' states; lanes without a world repeat the last one.
fn load<T: Bundle>(lanes: &mut Lanes<T>, worlds: usize, rows: &WorldArrays<'_>) {
    let (nq, nv, nu, na) = (lanes.q.len(), lanes.v.len(), lanes.ctrl.len(), lanes.act.len());
    lanes.has_forces = rows.applied_force.iter().any(|x| *x != 0.0);
    lanes.has_wrenches = rows.applied_wrench.iter().any(|x| *x != 0.0);
    for lane in 0..T::LANES {
        let world = lane.min(worlds - 1);
        let q = &rows.q[world * nq..(world + 1) * nq];
        let v = &rows.v[world * nv..(world + 1) * nv];
        let ctrl = &rows.ctrl[world * nu..(world + 1) * nu];
        lanes.q.iter_mut().zip(q).for_each(|(lanes, q)| put(lanes, lane, *q));
        lanes.v.iter_mut().zip(v).for_each(|(lanes, v)| put(lanes, lane, *v));
        lanes.ctrl.iter_mut().zip(ctrl).for_each(|(lanes, u)| put(lanes, lane, *u));
        let act = &rows.act[world * na..(world + 1) * na];
        lanes.act.iter_mut().zip(act).for_each(|(lanes, a)| put(lanes, lane, *a));
        let n = lanes.pd_target.len();
        let target = &rows.pd_target[world * n..(world + 1) * n];
        lanes.pd_target.iter_mut().zip(target).for_each(|(lanes, q)| put(lanes, lane, *q));
        if lanes.has_forces {
            let force = &rows.applied_force[world * nv..(world + 1) * nv];
            lanes.applied_force.iter_mut().zip(force).for_each(|(lanes, f)| put(lanes, lane, *f));
        }
        if lanes.has_wrenches {
            let n = lanes.applied_wrench.len();
            let wrench = &rows.applied_wrench[world * n..(world + 1) * n];
            lanes.applied_wrench.iter_mut().zip(wrench).for_each(|(lanes, w)| put(lanes, lane, *w));
        }
    }
}

/// Writes the state of a lane to its rows.
fn store<T: Bundle>(lanes: &Lanes<T>, lane: usize, rows: &mut WorldArrays<'_>) {
    let (nq, nv, na) = (lanes.q.len(), lanes.v.len(), lanes.act.len());
    let q = rows.q[lane * nq..(lane + 1) * nq].iter_mut();
    q.zip(&lanes.q).for_each(|(q, lanes)| *q = get(lanes, lane));
    let v = rows.v[lane * nv..(lane + 1) * nv].iter_mut();
    v.zip(&lanes.v).for_each(|(v, lanes)| *v = get(lanes, lane));
    let act = rows.act[lane * na..(lane + 1) * na].iter_mut();
    act.zip(&lanes.act).for_each(|(act, lanes)| *act = get(lanes, lane));
}

/// Sets the applied forces of a state; none where nobody set any.
pub(crate) fn copy_forces(state: &mut State, force: &[f64], wrench: &[f64]) {
    for (to, from) in [(&mut state.applied_force, force), (&mut state.applied_wrench, wrench)] {
        if from.is_empty() {
            to.fill(0.0);
        } else {
            to.copy_from_slice(from);
        }
    }
}

/// Sets the PD control of a state, with the memory that there is; `None` for none.
pub(crate) fn copy_pd(to: &mut Pd, from: Option<&Pd>, target: &[f64]) {
    let Some(from) = from else {
        // Mostly there was none before.
        if to.is_active() {
            *to = Pd::default();
        }
        return;
    };
    to.kp.clone_from(&from.kp);
    to.kd.clone_from(&from.kd);
    to.target.clear();
    to.target.extend_from_slice(target);
    to.target_velocity.clone_from(&from.target_velocity);
    to.effort_limit.clone_from(&from.effort_limit);
}
