//! Steps with something computed of every world, on the thread that stepped it.

use sim::SimulationError;

use super::worlds::Worlds;
use super::{Batch, BatchError, check_size};
use crate::BatchContact;

/// When [`Batch::step_observed`] looks at a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// Before the steps.
    Before,
    /// Before the last of the steps.
    BeforeLast,
    /// After the steps.
    After,
}

/// What can be seen of a world.
#[derive(Clone, Copy, Debug)]
pub struct World<'a> {
    /// Positions, (nq).
    pub q: &'a [f64],
    /// Velocities, (nv).
    pub v: &'a [f64],
    /// Controls, (nu).
    pub ctrl: &'a [f64],
    /// Activations, (na).
    pub act: &'a [f64],
    /// What all sensors show; empty unless who looks has put it here.
    pub sensors: &'a [f64],
    /// Contact points of the last step; empty where they are not recorded.
    pub contacts: &'a [BatchContact],
    /// Why it failed, if it did: it then stays as it was before the step that failed.
    pub error: Option<&'a SimulationError>,
}

impl Batch {
    /// What can be seen of a world.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn world(&self, world: usize) -> World<'_> {
        let (nq, nv, nu, na) = (self.model.nq(), self.model.nv(), self.model.nu(), self.model.na());
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

    /// [`step`](Self::step), with something computed of every world, on the thread that steps it.
    ///
    /// `look` gets each world before the steps, after them and, if `before_last`, before the last of them; with it the number of the thread
    /// and the world's own numbers in `rows`, (worlds, width).
    ///
    /// # Errors
    /// As [`step`](Self::step); worlds that fail are looked at, too. When `rows` has another length.
    pub fn step_observed(
        &mut self,
        steps: usize,
        before_last: bool,
        (rows, width): (&mut [f64], usize),
        look: impl Fn(Moment, usize, World<'_>, &mut [f64]) + Sync,
    ) -> Result<(), BatchError> {
        check_size("rows", rows.len(), self.worlds().saturating_mul(width))?;
        let nothing = (&[][..], &mut [][..], &mut [][..]);
        self.drive_with(0, nothing, (rows, width), |stepper, group, worlds, one, (thread, rows)| {
            let sizes = stepper.sizes;
            let mut look_at_all = |moment, worlds: &Worlds<'_>| {
                for world in 0..worlds.len() {
                    let row = &mut rows[world * width..][..width];
                    look(moment, thread, worlds.world(world, &sizes), row);
                }
            };
            look_at_all(Moment::Before, worlds);
            if before_last && steps > 0 {
                stepper.step(steps - 1, group, worlds, one);
                look_at_all(Moment::BeforeLast, worlds);
                stepper.step(1, group, worlds, one);
            } else {
                stepper.step(steps, group, worlds, one);
            }
            look_at_all(Moment::After, worlds);
        })?;
        self.check_worlds()
    }
}
