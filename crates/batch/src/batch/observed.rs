//! Steps with something computed of every world, on the thread that stepped it.

use sim::SimulationError;

use super::stepping::{Row, Stepper};
use super::{Batch, BatchError, check_size};
use crate::BatchContact;
use crate::arrays::{Arrays, Shared};

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

impl<'a> World<'a> {
    fn of(arrays: &Arrays<Shared<'a>>) -> Self {
        let Arrays { q, v, ctrl, act, contacts, errors, .. } = *arrays;
        World {
            q,
            v,
            ctrl,
            act,
            sensors: &[],
            contacts: contacts.first().map_or(&[], Vec::as_slice),
            error: errors[0].as_ref(),
        }
    }
}

impl Batch {
    /// What can be seen of a world.
    ///
    /// # Panics
    /// When there is no such world.
    pub fn world(&self, world: usize) -> World<'_> {
        World::of(&self.arrays.world(world))
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
        rows: &mut [f64],
        width: usize,
        look: impl Fn(Moment, usize, World<'_>, &mut [f64]) + Sync,
    ) -> Result<(), BatchError> {
        check_size("rows", rows.len(), self.worlds().saturating_mul(width))?;
        self.drive(Row { all: rows, width }, |stepper, rows| {
            let mut look_at_all = |moment, stepper: &Stepper<'_>| {
                for world in 0..stepper.worlds.len() {
                    let row = &mut rows.all[world * width..][..width];
                    look(moment, stepper.thread, World::of(&stepper.worlds.world(world)), row);
                }
            };
            look_at_all(Moment::Before, stepper);
            if before_last && steps > 0 {
                stepper.step(steps - 1);
                look_at_all(Moment::BeforeLast, stepper);
                stepper.step(1);
            } else {
                stepper.step(steps);
            }
            look_at_all(Moment::After, stepper);
        })?;
        self.check_worlds()
    }
}
