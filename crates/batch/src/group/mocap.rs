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
    /// As [`State::mocap_velocity`], and of the step that is being made.
    velocities: Vec<Vec<f64>>,
    new_velocities: Vec<Vec<f64>>,
}

impl MocapGroup {
    pub fn new(lanes: usize) -> Self {
        let none = || vec![Vec::new(); lanes];
        Self { from: none(), ends: none(), velocities: none(), new_velocities: none() }
    }

    /// Takes them to where they are in a step, with so many to go to where the worlds have them.
    pub fn place<T: Bundle>(&mut self, lanes: &mut Lanes<T>, worlds: &Worlds<'_>, steps: usize, dt: f64) {
        if worlds.widths.mocap == 0 {
            return;
        }
        for lane in 0..T::LANES {
            let world = lane.min(worlds.len() - 1);
            let to = worlds.world(world).mocap;
            let (ends, velocities) = (&mut self.ends[lane], &mut self.new_velocities[lane]);
            ends.clear();
            velocities.clear();
            for (carrier, step) in MocapStep::all(&self.from[world], to, steps, dt).enumerate() {
                lanes.set_carrier(lane, carrier, &step.pose, &step.velocity);
                ends.extend(step.end(steps, &to.as_chunks().0[carrier]));
                velocities.extend(step.velocity());
            }
        }
    }

    /// Notes that the step of a lane has been made.
    pub fn leave(&mut self, lane: usize) {
        self.from[lane].clone_from(&self.ends[lane]);
        self.velocities[lane].clone_from(&self.new_velocities[lane]);
    }

    /// As [`State::mocap_velocity`].
    pub fn velocities(&self, lane: usize) -> &[f64] {
        &self.velocities[lane]
    }

    /// Forgets where they were.
    pub fn forget(&mut self, lane: usize) {
        self.from[lane].clear();
        self.velocities[lane].clear();
    }

    /// Writes where they were to a state.
    pub fn recall(&self, lane: usize, state: &mut State) {
        state.mocap_from.clone_from(&self.from[lane]);
        state.mocap_velocity.clone_from(&self.velocities[lane]);
    }

    /// Takes over where they were from a state.
    pub fn remember(&mut self, lane: usize, state: &State) {
        self.from[lane].clone_from(&state.mocap_from);
        self.velocities[lane].clone_from(&state.mocap_velocity);
    }
}
