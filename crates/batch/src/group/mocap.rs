//! Bodies that are moved from outside, in the worlds of a group.

use lanes::{Bundle, Lanes};
use sim::{MocapStep, State};

use crate::arrays::Worlds;

/// Where the last steps have left them, by lanes.
#[derive(Clone, Debug, Default)]
pub(crate) struct MocapGroup {
    /// As [`State::mocap_from`].
    from: Vec<Vec<f64>>,
    /// Where the step that is being made leaves them.
    ends: Vec<Vec<f64>>,
}

impl MocapGroup {
    pub fn new(lanes: usize) -> Self {
        Self { from: vec![Vec::new(); lanes], ends: vec![Vec::new(); lanes] }
    }

    /// Takes them to where they are in a step, with so many to go to where the worlds have them.
    pub fn place<T: Bundle>(&mut self, lanes: &mut Lanes<T>, worlds: &Worlds<'_>, steps: usize, dt: f64) {
        if worlds.widths.mocap == 0 {
            return;
        }
        for lane in 0..T::LANES {
            let world = lane.min(worlds.len() - 1);
            let to = worlds.world(world).mocap;
            let ends = &mut self.ends[lane];
            ends.clear();
            for (carrier, step) in MocapStep::all(&self.from[world], to, steps, dt).enumerate() {
                lanes.set_carrier(lane, carrier, &step.pose, &step.velocity);
                ends.extend(step.end(steps, &to.as_chunks().0[carrier]));
            }
        }
    }

    /// Notes that the step of a lane has been made.
    pub fn leave(&mut self, lane: usize) {
        self.from[lane].clone_from(&self.ends[lane]);
    }

    /// Forgets where they were.
    pub fn forget(&mut self, lane: usize) {
        self.from[lane].clear();
    }

    /// Writes where they were to a state.
    pub fn recall(&self, lane: usize, state: &mut State) {
        state.mocap_from.clone_from(&self.from[lane]);
    }

    /// Takes over where they were from a state.
    pub fn remember(&mut self, lane: usize, state: &State) {
        self.from[lane].clone_from(&state.mocap_from);
    }
}
