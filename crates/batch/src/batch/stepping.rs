//! Steps of the worlds of one group, and what a caller gives and gets with them.

use sim::{Simulation, SimulationError};
use support::Interrupt;

use crate::arrays::{Arrays, Width, Worlds};
use crate::group::Steps;

/// Steps of a group between two looks at a request to stop.
const UNWATCHED: usize = 16;

/// Arrays of the caller's own, with entries of every world.
pub(super) trait Rows: Send {
    /// Cuts off those of the first `worlds`.
    fn split_off(&mut self, worlds: usize) -> Self;
}

impl Rows for () {
    fn split_off(&mut self, _: usize) {}
}

/// Numbers of each world, (worlds, width).
pub(super) struct Row<'a> {
    pub all: &'a mut [f64],
    pub width: usize,
}

impl Rows for Row<'_> {
    fn split_off(&mut self, worlds: usize) -> Self {
        Row { all: self.all.split_off_mut(..worlds * self.width).unwrap_or_default(), width: self.width }
    }
}

/// Controls of a rollout, (worlds, horizon, nu), targets of PD control, (worlds, horizon, nq) or none, and where positions and velocities go, (worlds, horizon, nq) and nv.
pub(super) struct Rollout<'a> {
    pub controls: &'a [f64],
    pub targets: &'a [f64],
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub horizon: usize,
    pub widths: &'a Arrays<Width>,
}

impl Rows for Rollout<'_> {
    fn split_off(&mut self, worlds: usize) -> Self {
        let (n, Arrays { q, v, ctrl, .. }) = (worlds * self.horizon, self.widths);
        Rollout {
            controls: self.controls.split_off(..n * ctrl).unwrap_or_default(),
            targets: self.targets.split_off(..n * q).unwrap_or_default(),
            q: self.q.split_off_mut(..n * q).unwrap_or_default(),
            v: self.v.split_off_mut(..n * v).unwrap_or_default(),
            ..*self
        }
    }
}

/// Steps the worlds of a group.
pub(super) struct Stepper<'a> {
    pub group: &'a mut dyn Steps,
    pub worlds: Worlds<'a>,
    /// Makes the steps that lanes leave; the number of the thread that it belongs to.
    pub one: &'a mut Simulation,
    pub thread: usize,
    pub interrupt: &'a Interrupt,
}

impl Stepper<'_> {
    /// Makes `steps` steps.
    pub fn step(&mut self, steps: usize) {
        let Self { group, worlds, one, interrupt, .. } = self;
        check(worlds);
        let mut rest = steps;
        while rest > 0 && worlds.arrays.errors.iter().any(Option::is_none) && !interrupt.is_raised() {
            let now = rest.min(UNWATCHED);
            group.run(now, worlds.reborrow(), one);
            rest -= now;
        }
        let Arrays { contacts, traces, errors, .. } = &mut worlds.arrays;
        for (contacts, _) in contacts.iter_mut().zip(&**errors).filter(|(_, error)| error.is_some()) {
            contacts.clear();
        }
        for (trace, _) in traces.iter_mut().zip(&**errors).filter(|(_, error)| error.is_some()) {
            trace.clear();
        }
    }

    /// Makes `skip` steps under each of the controls, and takes down where each leads; NaN from where a world failed.
    pub fn roll_out(&mut self, skip: usize, rollout: &mut Rollout<'_>) {
        let Rollout { controls, targets, q, v, horizon, .. } = rollout;
        let Arrays { q: nq, v: nv, ctrl: nu, .. } = *self.worlds.widths;
        for k in 0..*horizon {
            for world in 0..self.worlds.len() {
                let ctrl = &controls[(world * *horizon + k) * nu..][..nu];
                self.worlds.world_mut(world).ctrl.copy_from_slice(ctrl);
                if let Some(target) = targets.get((world * *horizon + k) * nq..).filter(|rest| !rest.is_empty()) {
                    self.worlds.world_mut(world).pd_target.copy_from_slice(&target[..nq]);
                }
            }
            self.step(skip);
            for world in 0..self.worlds.len() {
                let out_q = &mut q[(world * *horizon + k) * nq..][..nq];
                let out_v = &mut v[(world * *horizon + k) * nv..][..nv];
                let Arrays { q, v, errors, .. } = self.worlds.world(world);
                if errors[0].is_some() {
                    out_q.fill(f64::NAN);
                    out_v.fill(f64::NAN);
                } else {
                    out_q.copy_from_slice(q);
                    out_v.copy_from_slice(v);
                }
            }
        }
    }
}

/// Notes an error for every world whose state or controls are not finite, so that its step does not start.
fn check(worlds: &mut Worlds<'_>) {
    for world in 0..worlds.len() {
        let of_world = worlds.world(world);
        let bad = of_world.inputs().find(|(_, x)| !spatial::are_finite(x));
        if let Some((name, x)) = bad {
            let index = x.iter().position(|x| !x.is_finite()).unwrap_or_default();
            let (step, time, value) = (of_world.count[0], of_world.time[0], x[index]);
            worlds.arrays.errors[world] = Some(SimulationError::NotFinite { step, time, name, index, value });
        }
    }
}
