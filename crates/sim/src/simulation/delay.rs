//! Controls that act with a delay: in a step those take the place of the given ones.

use super::Simulation;
use crate::SimulationError;

impl Simulation {
    /// Does something with the controls that act now, and puts the given ones back.
    pub(super) fn with_acting_controls<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, SimulationError>,
    ) -> Result<T, SimulationError> {
        if self.state.past_ctrl.is_empty() {
            return work(self);
        }
        let Self { model, state, given_ctrl, .. } = self;
        given_ctrl.clone_from(&state.ctrl);
        for (ctrl, delay, first) in model.delays() {
            // Other sizes are the step's to refuse.
            let samples = state.past_ctrl.get(first..first + 2 * delay.samples);
            if let (Some(samples), Some(ctrl)) = (samples, state.ctrl.get_mut(ctrl)) {
                *ctrl = delay.control(samples, state.time);
            }
        }
        let outcome = work(self);
        self.state.ctrl.clone_from(&self.given_ctrl);
        outcome
    }

    /// Keeps the controls that were given for the step from `time`, which was made.
    pub(super) fn keep_controls(&mut self, time: f64) {
        let Self { model, state, .. } = self;
        for (ctrl, delay, first) in model.delays() {
            delay.keep(&mut state.past_ctrl[first..][..2 * delay.samples], time, state.ctrl[ctrl]);
        }
    }
}
