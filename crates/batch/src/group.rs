//! Groups of worlds: one in each lane.

use std::sync::Arc;

use multibody::Model;
use sim::{Pd, Simulation, SimulationError, State};
use spatial::{F64x4, F64x8};

use crate::lanes::{Bundle, LaneStats, Lanes};
use crate::plan::Plan;

/// The arrays of some worlds, (worlds, nq) and so on.
pub(crate) struct Rows<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub ctrl: &'a [f64],
    /// Time and count of steps, which every step moves on.
    pub time: &'a mut [f64],
    pub count: &'a mut [u64],
    /// PD control: gains of all, targets (worlds, nq); a group that is in lanes gets none yet.
    pub pd: Option<&'a Pd>,
    pub pd_target: &'a [f64],
    /// Why a world could not be stepped.
    pub errors: &'a mut [Option<SimulationError>],
}

/// What a simulation did for a group.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Left {
    pub steps: u64,
    pub unsettled: u64,
    pub iterations: u64,
}

impl Left {
    /// Counts the last step of a simulation.
    fn add(&mut self, stats: &sim::Stats) {
        self.unsettled += u64::from(stats.unsettled > 0);
        self.iterations += stats.iterations as u64;
    }
}

/// Some worlds that are stepped together.
pub(crate) trait Steps: Send + Sync {
    /// Makes `steps` steps of the worlds in `rows` that have no error; `one` does what lanes leave. Worlds that fail stay as they were before
    /// the step that failed.
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation);
    /// Forgets what is remembered of a world.
    fn forget(&mut self, world: usize);
    /// Writes what is remembered of a world to a state.
    fn recall(&self, _world: usize, state: &mut State) {
        forget(state);
    }
    /// Takes over what a state remembers of its past, as far as a group can.
    fn remember(&mut self, _world: usize, _state: &State) {}
    /// What was done since the last call, and what was left to a simulation.
    fn take_stats(&mut self) -> (LaneStats, Left);
}

/// Worlds in lanes.
struct Group<T> {
    plan: Arc<Plan>,
    lanes: Lanes<T>,
    left: Left,
}

/// A world by itself.
struct Alone {
    state: State,
    left: Left,
}

/// Groups of `width` lanes for `n` worlds.
pub(crate) fn groups(plan: Plan, nu: usize, n: usize, width: usize) -> Vec<Box<dyn Steps>> {
    fn of<T: Bundle>(plan: &Arc<Plan>, nu: usize) -> Box<dyn Steps> {
        Box::new(Group { lanes: Lanes::<T>::new(plan, nu), plan: plan.clone(), left: Left::default() })
    }
    let make = match width {
        8 => of::<F64x8>,
        4 => of::<F64x4>,
        _ => of::<f64>,
    };
    let plan = Arc::new(plan);
    (0..n.div_ceil(width)).map(|_| make(&plan, nu)).collect()
}

/// Worlds by themselves.
pub(crate) fn alone(model: &Model, n: usize) -> Vec<Box<dyn Steps>> {
    let one = || -> Box<dyn Steps> { Box::new(Alone { state: State::new(model), left: Left::default() }) };
    (0..n).map(|_| one()).collect()
}

impl<T: Bundle> Steps for Group<T> {
    fn run(&mut self, steps: usize, mut rows: Rows<'_>, one: &mut Simulation) {
        let worlds = rows.errors.len();
        let nu = self.lanes.ctrl.len();
        self.load(worlds, &rows, nu);
        for _ in 0..steps {
            T::step(&mut self.lanes, &self.plan);
            let left = self.lanes.left();
            for lane in (0..worlds).filter(|lane| left >> lane & 1 != 0) {
                if rows.errors[lane].is_none() {
                    self.left.steps += 1;
                    if let Err(error) = self.step_one(lane, &rows, one) {
                        // As it is now: later steps of the group may move the lane on.
                        self.store(lane, &mut rows);
                        rows.errors[lane] = Some(error);
                    }
                }
            }
            for lane in (0..worlds).filter(|&lane| rows.errors[lane].is_none()) {
                rows.time[lane] += self.plan.dt;
                rows.count[lane] += 1;
            }
        }
        for lane in 0..worlds {
            if rows.errors[lane].is_none() {
                self.store(lane, &mut rows);
            }
        }
    }

    fn forget(&mut self, lane: usize) {
        self.lanes.forget(lane);
    }

    fn take_stats(&mut self) -> (LaneStats, Left) {
        (std::mem::take(&mut self.lanes.stats), std::mem::take(&mut self.left))
    }
}

impl Steps for Alone {
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation) {
        if rows.errors[0].is_some() {
            return;
        }
        std::mem::swap(one.state_mut(), &mut self.state);
        let state = one.state_mut();
        state.q.copy_from_slice(rows.q);
        state.v.copy_from_slice(rows.v);
        state.ctrl.copy_from_slice(rows.ctrl);
        (state.time, state.step) = (rows.time[0], rows.count[0]);
        copy_pd(&mut state.pd, rows.pd, rows.pd_target);
        for _ in 0..steps {
            self.left.steps += 1;
            if let Err(error) = one.step() {
                rows.errors[0] = Some(error);
                break;
            }
            self.left.add(one.stats());
        }
        let state = one.state();
        rows.q.copy_from_slice(&state.q);
        rows.v.copy_from_slice(&state.v);
        (rows.time[0], rows.count[0]) = (state.time, state.step);
        std::mem::swap(one.state_mut(), &mut self.state);
    }

    fn forget(&mut self, _: usize) {
        forget(&mut self.state);
    }

    fn recall(&self, _: usize, state: &mut State) {
        state.clone_from(&self.state);
    }

    fn remember(&mut self, _: usize, state: &State) {
        self.state.clone_from(state);
    }

    fn take_stats(&mut self) -> (LaneStats, Left) {
        (LaneStats::default(), std::mem::take(&mut self.left))
    }
}

impl<T: Bundle> Group<T> {
    /// Takes the worlds' states; lanes without a world repeat the last one.
    fn load(&mut self, worlds: usize, rows: &Rows<'_>, nu: usize) {
        let (nq, nv) = (self.lanes.q.len(), self.lanes.v.len());
        let mut is_moved = false;
        for lane in 0..T::LANES {
            let world = lane.min(worlds - 1);
            for (lanes, q) in self.lanes.q.iter_mut().zip(&rows.q[world * nq..(world + 1) * nq]) {
                is_moved |= lanes.lane(lane).to_bits() != q.to_bits();
                lanes.set_lane(lane, *q);
            }
            for (lanes, v) in self.lanes.v.iter_mut().zip(&rows.v[world * nv..(world + 1) * nv]) {
                lanes.set_lane(lane, *v);
            }
            for (lanes, u) in self.lanes.ctrl.iter_mut().zip(&rows.ctrl[world * nu..(world + 1) * nu]) {
                lanes.set_lane(lane, *u);
            }
        }
        if is_moved {
            self.lanes.disturb();
        }
    }

    /// Writes the state of a lane to its rows.
    fn store(&self, lane: usize, rows: &mut Rows<'_>) {
        let (nq, nv) = (self.plan.nq, self.plan.nv);
        let q = rows.q[lane * nq..(lane + 1) * nq].iter_mut();
        q.zip(&self.lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
        let v = rows.v[lane * nv..(lane + 1) * nv].iter_mut();
        v.zip(&self.lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
    }

    /// Makes the step of one lane by a simulation.
    fn step_one(&mut self, lane: usize, rows: &Rows<'_>, one: &mut Simulation) -> Result<(), SimulationError> {
        let (nu, state) = (self.lanes.ctrl.len(), one.state_mut());
        // What the worlds before it left there must not matter.
        forget(state);
        (state.time, state.step) = (rows.time[lane], rows.count[lane]);
        state.ctrl.copy_from_slice(&rows.ctrl[lane * nu..(lane + 1) * nu]);
        state.q.iter_mut().zip(&self.lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
        state.v.iter_mut().zip(&self.lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
        one.step()?;
        self.left.add(one.stats());
        let state = one.state();
        self.lanes.q.iter_mut().zip(&state.q).for_each(|(lanes, q)| lanes.set_lane(lane, *q));
        self.lanes.v.iter_mut().zip(&state.v).for_each(|(lanes, v)| lanes.set_lane(lane, *v));
        self.lanes.disturb();
        Ok(())
    }
}

/// Forgets what a state remembers of its past; memory stays.
fn forget(state: &mut State) {
    state.step_size = 0.0;
    state.warm_start.clear();
    state.extrapolation.clear();
    state.constraint_force.clear();
    state.accelerations.clear();
    state.rests.clear();
    state.rest_q.clear();
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

/// The widest groups that this processor has registers for.
pub(crate) fn widest() -> usize {
    if spatial::cpu::has_avx512() { 8 } else { 4 }
}
