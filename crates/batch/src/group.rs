//! Groups of worlds: one in each lane.

use std::sync::Arc;

use multibody::Model;
use sim::{Simulation, SimulationError, State};
use spatial::{F64x4, F64x8};

use crate::lanes::{Bundle, LaneStats, Lanes};
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

/// Worlds in lanes.
struct Group<T> {
    plan: Arc<Plan>,
    lanes: Lanes<T>,
    left: u64,
}

/// A world by itself.
struct Alone {
    state: State,
    steps: u64,
}

/// Groups of `width` lanes for `n` worlds.
pub(crate) fn groups(plan: Plan, nu: usize, n: usize, width: usize) -> Vec<Box<dyn Steps>> {
    fn of<T: Bundle>(plan: &Arc<Plan>, nu: usize) -> Box<dyn Steps> {
        Box::new(Group { lanes: Lanes::<T>::new(plan, nu), plan: plan.clone(), left: 0 })
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
    let one = || -> Box<dyn Steps> { Box::new(Alone { state: State::new(model), steps: 0 }) };
    (0..n).map(|_| one()).collect()
}

impl<T: Bundle> Steps for Group<T> {
    fn run(&mut self, steps: usize, rows: Rows<'_>, one: &mut Simulation) {
        let worlds = rows.errors.len();
        let nu = self.lanes.ctrl.len();
        self.load(worlds, &rows, nu);
        for _ in 0..steps {
            T::step(&mut self.lanes, &self.plan);
            let left = self.lanes.left();
            for lane in (0..worlds).filter(|lane| left >> lane & 1 != 0) {
                if rows.errors[lane].is_none() {
                    self.left += 1;
                    let ctrl = &rows.ctrl[lane * nu..(lane + 1) * nu];
                    rows.errors[lane] = self.step_one(lane, ctrl, one).err();
                }
            }
        }
        let (nq, nv) = (self.plan.nq, self.plan.nv);
        for lane in 0..worlds {
            let q = rows.q[lane * nq..(lane + 1) * nq].iter_mut();
            q.zip(&self.lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
            let v = rows.v[lane * nv..(lane + 1) * nv].iter_mut();
            v.zip(&self.lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
        }
    }

    fn forget(&mut self, lane: usize) {
        self.lanes.forget(lane);
    }

    fn take_stats(&mut self) -> (LaneStats, u64) {
        (std::mem::take(&mut self.lanes.stats), std::mem::take(&mut self.left))
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
        self.state.extrapolation = sim::VelocityExtrapolation::default();
    }

    fn take_stats(&mut self) -> (LaneStats, u64) {
        (LaneStats::default(), std::mem::take(&mut self.steps))
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

    /// Makes the step of one lane by a simulation.
    fn step_one(&mut self, lane: usize, ctrl: &[f64], one: &mut Simulation) -> Result<(), SimulationError> {
        let state = one.state_mut();
        state.warm_start.clear();
        state.ctrl.copy_from_slice(ctrl);
        state.q.iter_mut().zip(&self.lanes.q).for_each(|(q, lanes)| *q = lanes.lane(lane));
        state.v.iter_mut().zip(&self.lanes.v).for_each(|(v, lanes)| *v = lanes.lane(lane));
        one.step()?;
        let state = one.state();
        self.lanes.q.iter_mut().zip(&state.q).for_each(|(lanes, q)| lanes.set_lane(lane, *q));
        self.lanes.v.iter_mut().zip(&state.v).for_each(|(lanes, v)| lanes.set_lane(lane, *v));
        self.lanes.disturb();
        Ok(())
    }
}

/// The widest groups that this processor has registers for.
pub(crate) fn widest() -> usize {
    if spatial::cpu::has_avx512() { 8 } else { 4 }
}
