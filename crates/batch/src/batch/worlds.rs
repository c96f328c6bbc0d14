//! The arrays of worlds, cut into the parts that threads work on.

use interrupt::Interrupt;
use sim::{Pd, Simulation, SimulationError, StepTrace};

use super::World;
use crate::BatchContact;
use crate::group::{Steps, WorldArrays};

/// Steps of a group between two looks at a request to stop.
const UNWATCHED: usize = 16;

/// Entries of one world in each array.
#[derive(Clone, Copy)]
pub(super) struct Sizes {
    pub nq: usize,
    pub nv: usize,
    pub nu: usize,
    pub na: usize,
    /// Of a PD target: nq, or none; of applied forces and wrenches: nv and 6 nbody, or none.
    pub target: usize,
    pub force: usize,
    pub wrench: usize,
    /// Controls of a rollout.
    pub horizon: usize,
}

/// Arrays of some worlds, (worlds, nq) and so on.
#[derive(Default)]
pub(super) struct Worlds<'a> {
    pub q: &'a mut [f64],
    pub v: &'a mut [f64],
    pub ctrl: &'a mut [f64],
    pub act: &'a mut [f64],
    pub time: &'a mut [f64],
    pub count: &'a mut [u64],
    pub errors: &'a mut [Option<SimulationError>],
    /// Empty where contact points are not recorded.
    pub contacts: &'a mut [Vec<BatchContact>],
    pub pd_target: &'a [f64],
    pub applied_force: &'a [f64],
    pub applied_wrench: &'a [f64],
    /// Empty where no sensor looks at steps.
    pub traces: &'a mut [StepTrace],
    /// Of a rollout: controls (worlds, horizon, nu), and where positions and velocities go, (worlds, horizon, nq) and nv.
    pub controls: &'a [f64],
    pub out_q: &'a mut [f64],
    pub out_v: &'a mut [f64],
}

impl<'a> Worlds<'a> {
    pub fn len(&self) -> usize {
        self.errors.len()
    }

    /// Cuts off the first `worlds`, which need not all be there.
    pub fn split_off(&mut self, worlds: usize, sizes: &Sizes) -> Worlds<'a> {
        fn cut<'a, T>(all: &mut &'a mut [T], n: usize) -> &'a mut [T] {
            all.split_off_mut(..n.min(all.len())).unwrap_or_default()
        }
        fn cut_shared<'a>(all: &mut &'a [f64], n: usize) -> &'a [f64] {
            all.split_off(..n.min(all.len())).unwrap_or_default()
        }
        let n = worlds.min(self.len());
        let Sizes { nq, nv, nu, na, target, force, wrench, horizon } = *sizes;
        Worlds {
            q: cut(&mut self.q, n * nq),
            v: cut(&mut self.v, n * nv),
            ctrl: cut(&mut self.ctrl, n * nu),
            act: cut(&mut self.act, n * na),
            time: cut(&mut self.time, n),
            count: cut(&mut self.count, n),
            errors: cut(&mut self.errors, n),
            contacts: cut(&mut self.contacts, n),
            pd_target: cut_shared(&mut self.pd_target, n * target),
            applied_force: cut_shared(&mut self.applied_force, n * force),
            applied_wrench: cut_shared(&mut self.applied_wrench, n * wrench),
            traces: cut(&mut self.traces, n),
            controls: cut_shared(&mut self.controls, n * horizon * nu),
            out_q: cut(&mut self.out_q, n * horizon * nq),
            out_v: cut(&mut self.out_v, n * horizon * nv),
        }
    }

    /// One of them.
    pub fn world(&self, world: usize, sizes: &Sizes) -> World<'_> {
        let Sizes { nq, nv, nu, na, .. } = *sizes;
        World {
            q: &self.q[world * nq..][..nq],
            v: &self.v[world * nv..][..nv],
            ctrl: &self.ctrl[world * nu..][..nu],
            act: &self.act[world * na..][..na],
            sensors: &[],
            contacts: self.contacts.get(world).map_or(&[], Vec::as_slice),
            error: self.errors[world].as_ref(),
        }
    }

    /// What a group of lanes sees of them.
    fn rows<'b>(&'b mut self, pd: Option<&'b Pd>) -> WorldArrays<'b> {
        let Self {
            q,
            v,
            ctrl,
            act,
            time,
            count,
            errors,
            contacts,
            pd_target,
            applied_force,
            applied_wrench,
            traces,
            ..
        } = self;
        WorldArrays {
            q,
            v,
            ctrl,
            act,
            time,
            count,
            errors,
            contacts,
            pd,
            pd_target,
            applied_force,
            applied_wrench,
            traces,
        }
    }

    /// Notes an error for every world whose state or controls are not finite, so that its step does not start.
    fn check(&mut self, sizes: &Sizes) {
        for world in 0..self.len() {
            let arrays = [
                ("q", &*self.q, sizes.nq),
                ("v", &*self.v, sizes.nv),
                ("ctrl", &*self.ctrl, sizes.nu),
                ("act", &*self.act, sizes.na),
            ];
            let shared = [
                ("pd_target", self.pd_target, sizes.target),
                ("applied_force", self.applied_force, sizes.force),
                ("applied_wrench", self.applied_wrench, sizes.wrench),
            ];
            for (name, all, n) in arrays.into_iter().chain(shared) {
                let of_world = &all[world * n..(world + 1) * n];
                if spatial::are_finite(of_world) {
                    continue;
                }
                let index = of_world.iter().position(|x| !x.is_finite()).unwrap_or_default();
                let (step, time, value) = (self.count[world], self.time[world], of_world[index]);
                self.errors[world] = Some(SimulationError::NotFinite { step, time, name, index, value });
                break;
            }
        }
    }
}

/// What steps of a group need beside its worlds.
pub(super) struct Stepper<'a> {
    pub sizes: Sizes,
    pub pd: Option<&'a Pd>,
    pub interrupt: &'a Interrupt,
}

impl Stepper<'_> {
    /// Makes `steps` steps of a group's worlds.
    pub fn step(&self, steps: usize, group: &mut dyn Steps, worlds: &mut Worlds<'_>, one: &mut Simulation) {
        worlds.check(&self.sizes);
        let mut rest = steps;
        while rest > 0 && worlds.errors.iter().any(Option::is_none) && !self.interrupt.is_raised() {
            let now = rest.min(UNWATCHED);
            group.run(now, worlds.rows(self.pd), one);
            rest -= now;
        }
        for (contacts, _) in worlds.contacts.iter_mut().zip(&*worlds.errors).filter(|(_, error)| error.is_some()) {
            contacts.clear();
        }
        for (trace, _) in worlds.traces.iter_mut().zip(&*worlds.errors).filter(|(_, error)| error.is_some()) {
            trace.clear();
        }
    }

    /// Makes `skip` steps under each of the controls, and takes down where each leads; NaN from where a world failed.
    pub fn roll_out(&self, skip: usize, group: &mut dyn Steps, worlds: &mut Worlds<'_>, one: &mut Simulation) {
        let Sizes { nq, nv, nu, horizon, .. } = self.sizes;
        for k in 0..horizon {
            for world in 0..worlds.len() {
                let ctrl = &worlds.controls[(world * horizon + k) * nu..][..nu];
                worlds.ctrl[world * nu..][..nu].copy_from_slice(ctrl);
            }
            self.step(skip, group, worlds, one);
            for world in 0..worlds.len() {
                let out_q = &mut worlds.out_q[(world * horizon + k) * nq..][..nq];
                let out_v = &mut worlds.out_v[(world * horizon + k) * nv..][..nv];
                if worlds.errors[world].is_some() {
                    out_q.fill(f64::NAN);
                    out_v.fill(f64::NAN);
                } else {
                    out_q.copy_from_slice(&worlds.q[world * nq..][..nq]);
                    out_v.copy_from_slice(&worlds.v[world * nv..][..nv]);
                }
            }
        }
    }
}
