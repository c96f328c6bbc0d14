//! Groups of worlds: one in each lane.

use std::sync::{Arc, Mutex, PoisonError};

use multibody::Model;
use sim::{Simulation, SimulationError, State, VelocityExtrapolation};
use spatial::{F64x4, F64x8};

use crate::lanes::{Bundle, GroupMemory, LaneStats, Lanes};
use crate::plan::Plan;

/// The arrays of some worlds, (worlds, nq) and so on.
pub(crate) struct Rows<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub ctrl: &'a [f64],
    /// Why a world could not be stepped.
    pub errors: &'a mut [Option<SimulationError>],
}

impl<'a> Rows<'a> {
    /// Cuts off those of the first `worlds`, which need not all be there, of a model of these sizes.
    pub fn split_off(&mut self, worlds: usize, (nq, nv, nu): (usize, usize, usize)) -> Rows<'a> {
        let worlds = worlds.min(self.errors.len());
        Rows {
            q: self.q.split_off_mut(..worlds * nq).unwrap_or_default(),
            v: self.v.split_off_mut(..worlds * nv).unwrap_or_default(),
            ctrl: self.ctrl.split_off(..worlds * nu).unwrap_or_default(),
            errors: self.errors.split_off_mut(..worlds).unwrap_or_default(),
        }
    }
}

/// Some worlds that are stepped together.
pub(crate) trait Steps: Send {
    /// Makes `steps` steps of the worlds in `rows`; `one` does what lanes leave. Worlds with errors stay as they were before.
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation);
    /// Forgets what is remembered of a world.
    fn forget(&mut self, world: usize);
    /// What was done since the last call, and steps that were left to a simulation.
    fn take_stats(&mut self) -> (LaneStats, u64);
}

/// Scratch of steps in lanes, as much as there are threads.
struct Pool<T> {
    plan: Arc<Plan>,
    nu: usize,
    idle: Mutex<Vec<Box<Lanes<T>>>>,
}

/// Worlds in lanes.
struct Group<T> {
    pool: Arc<Pool<T>>,
    memory: GroupMemory<T>,
    stats: LaneStats,
    left: u64,
}

impl<T: Bundle> Pool<T> {
    /// Scratch that no other thread uses.
    fn take(&self) -> Box<Lanes<T>> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| Box::new(Lanes::new(&self.plan, self.nu)))
    }

    fn give_back(&self, lanes: Box<Lanes<T>>) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(lanes);
    }
}

/// A world by itself.
struct Alone {
    state: State,
    steps: u64,
}

/// Groups of `width` lanes for `n` worlds.
pub(crate) fn groups(plan: Plan, nu: usize, n: usize, width: usize) -> Vec<Box<dyn Steps>> {
    fn of<T: Bundle>(plan: Plan, nu: usize, count: usize) -> Vec<Box<dyn Steps>> {
        let plan = Arc::new(plan);
        let pool = Arc::new(Pool::<T> { plan: plan.clone(), nu, idle: Mutex::default() });
        let group = |_| -> Box<dyn Steps> {
            let (memory, stats) = (GroupMemory::new(&plan), LaneStats::default());
            Box::new(Group { pool: pool.clone(), memory, stats, left: 0 })
        };
        (0..count).map(group).collect()
    }
    let make = match width {
        8 => of::<F64x8>,
        4 => of::<F64x4>,
        _ => of::<f64>,
    };
    make(plan, nu, n.div_ceil(width))
}

/// Worlds by themselves.
pub(crate) fn alone(model: &Model, n: usize) -> Vec<Box<dyn Steps>> {
    let one = || -> Box<dyn Steps> { Box::new(Alone { state: State::new(model), steps: 0 }) };
    (0..n).map(|_| one()).collect()
}

impl<T: Bundle> Steps for Group<T> {
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation) {
        let mut lanes = self.pool.take();
        lanes.swap_memory(&mut self.memory);
        self.left += step_lanes(&mut lanes, &self.pool.plan, steps, rows, one);
        lanes.swap_memory(&mut self.memory);
        self.stats.add(&std::mem::take(&mut lanes.stats));
        self.pool.give_back(lanes);
    }

    fn forget(&mut self, lane: usize) {
        self.memory.forget(lane);
    }

    fn take_stats(&mut self) -> (LaneStats, u64) {
        (std::mem::take(&mut self.stats), std::mem::take(&mut self.left))
    }
}

impl Steps for Alone {
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation) {
        std::mem::swap(one.state_mut(), &mut self.state);
        let state = one.state_mut();
        state.q.copy_from_slice(rows.q);
        state.v.copy_from_slice(rows.v);
        state.ctrl.copy_from_slice(rows.ctrl);
        for _ in 0..steps {
            self.steps += 1;
            if let Err(error) = one.step() {
                rows.errors[0] = Some(error);
                break;
            }
        }
        rows.q.copy_from_slice(&one.state().q);
        rows.v.copy_from_slice(&one.state().v);
        std::mem::swap(one.state_mut(), &mut self.state);
    }

    fn forget(&mut self, _: usize) {
        self.state.warm_start.clear();
        self.state.extrapolation = VelocityExtrapolation::default();
    }

    fn take_stats(&mut self) -> (LaneStats, u64) {
        (LaneStats::default(), std::mem::take(&mut self.steps))
    }
}

/// Makes `steps` steps of the worlds in `rows`; returns how many steps of worlds were left to `one`.
fn step_lanes<T: Bundle>(lanes: &mut Lanes<T>, plan: &Plan, steps: usize, rows: Rows<'_>, one: &mut Simulation) -> u64 {
    let (nq, nv, nu) = (plan.nq, plan.nv, lanes.ctrl.len());
    let worlds = rows.errors.len();
    load(lanes, worlds, &rows);
    let mut count = 0;
    for _ in 0..steps {
        T::step(lanes, plan);
        let left = lanes.left();
        for lane in (0..worlds).filter(|lane| left >> lane & 1 != 0) {
            if rows.errors[lane].is_none() {
                count += 1;
                let ctrl = &rows.ctrl[lane * nu..(lane + 1) * nu];
                rows.errors[lane] = step_one(lanes, lane, ctrl, one).err();
            }
        }
    }
    for lane in 0..worlds {
        let q = rows.q[lane * nq..(lane + 1) * nq].iter_mut();
        q.zip(&lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
        let v = rows.v[lane * nv..(lane + 1) * nv].iter_mut();
        v.zip(&lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
    }
    count
}

/// Takes the worlds' states; lanes without a world repeat the last one.
fn load<T: Bundle>(lanes: &mut Lanes<T>, worlds: usize, rows: &Rows<'_>) {
    let (nq, nv, nu) = (lanes.q.len(), lanes.v.len(), lanes.ctrl.len());
    for lane in 0..T::LANES {
        let world = lane.min(worlds - 1);
        let q = &rows.q[world * nq..(world + 1) * nq];
        let v = &rows.v[world * nv..(world + 1) * nv];
        let ctrl = &rows.ctrl[world * nu..(world + 1) * nu];
        lanes.q.iter_mut().zip(q).for_each(|(lanes, q)| lanes.set_lane(lane, *q));
        lanes.v.iter_mut().zip(v).for_each(|(lanes, v)| lanes.set_lane(lane, *v));
        lanes.ctrl.iter_mut().zip(ctrl).for_each(|(lanes, u)| lanes.set_lane(lane, *u));
    }
}

/// Makes the step of one lane by a simulation.
fn step_one<T: Bundle>(
    lanes: &mut Lanes<T>,
    lane: usize,
    ctrl: &[f64],
    one: &mut Simulation,
) -> Result<(), SimulationError> {
    let state = one.state_mut();
    state.warm_start.clear();
    state.extrapolation = VelocityExtrapolation::default();
    state.ctrl.copy_from_slice(ctrl);
    state.q.iter_mut().zip(&lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
    state.v.iter_mut().zip(&lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
    one.step()?;
    let state = one.state();
    lanes.q.iter_mut().zip(&state.q).for_each(|(lanes, q)| lanes.set_lane(lane, *q));
    lanes.v.iter_mut().zip(&state.v).for_each(|(lanes, v)| lanes.set_lane(lane, *v));
    lanes.disturb();
    Ok(())
}

/// The widest groups that this processor has registers for.
pub(crate) fn widest() -> usize {
    if spatial::cpu::has_avx512() { 8 } else { 4 }
}
