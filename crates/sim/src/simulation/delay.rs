//! Controls that act with a delay: in a step those take the place of the given ones; and sensors that show what they measure later.

use std::ops::Range;

use multibody::Model;

use super::Simulation;
use crate::{SimulationError, State};

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
            delay.keep(&mut state.past_ctrl[first..][..2 * delay.samples], time, &[state.ctrl[ctrl]]);
        }
    }

    /// Notes what sensors measure that show it later, at the beginning of a step.
    pub(super) fn note_readings(&mut self) -> Result<(), SimulationError> {
        if self.state.past_readings.is_empty() {
            return Ok(());
        }
        self.state.check_sizes(&self.model, &self.sizes)?;
        let model = self.model.clone();
        let mut noted = std::mem::take(&mut self.sensing.noted);
        noted.clear();
        for (of, _) in model.delayed_sensors() {
            let at = noted.len();
            noted.resize(at + of.shown.len(), 0.0);
            self.read_sensors(of.sensor..of.sensor + 1, &mut noted[at..]);
        }
        self.sensing.noted = noted;
        Ok(())
    }

    /// Keeps what they measured at the beginning of the step from `time`, which was made.
    pub(super) fn keep_readings(&mut self, time: f64) {
        let Self { model, state, sensing, .. } = self;
        let mut noted = &sensing.noted[..];
        for (of, delay) in model.delayed_sensors() {
            let Some((measured, others)) = noted.split_at_checked(of.shown.len()) else { return };
            delay.keep(&mut state.past_readings[of.readings], time, measured);
            noted = others;
        }
    }
}

/// Puts in the place of what sensors measure what they show; `which` are the sensors whose numbers are in `out`.
pub(super) fn show_past_readings(model: &Model, state: &State, which: Range<usize>, out: &mut [f64]) {
    if state.past_readings.is_empty() {
        return;
    }
    let start = model.sensor_ranges().nth(which.start).map_or(0, |range| range.start);
    for (of, delay) in model.delayed_sensors().filter(|(of, _)| which.contains(&of.sensor)) {
        let shown = of.shown.start - start..of.shown.end - start;
        // Other sizes are the step's to refuse.
        if let (Some(readings), Some(shown)) = (state.past_readings.get(of.readings), out.get_mut(shown)) {
            delay.show(readings, state.time, shown);
        }
    }
}
