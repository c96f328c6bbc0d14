//! Frames of a simulation that others advance.

use sim::{Simulation, State};

use crate::drawn::Sketch;
use crate::recording::Recording;

/// A step that ends within this part of a time step of a frame's time is the frame.
const SAME_TIME: f64 = 1e-3;

/// Records a simulation by looking at each of its steps.
///
/// Frames are evenly spaced in the time that passes in steps. With a constant time step each is the state at the end of a
/// step, as in [`Recording::after_step`]; a frame within a step is interpolated. Where the caller puts the simulation into another
/// state between two steps, the motion jumps, and the recording's time goes on.
#[derive(Debug)]
pub struct Recorder {
    recording: Recording,
    /// Time of the recording at the end of the last step, s, and of the last frame.
    now: f64,
    last_frame: f64,
    /// How often what is drawn had changed when it was looked at last.
    changes: Option<u64>,
    /// The frame that what is drawn now belongs to: none since a step that recorded no frame.
    shown_at: Option<usize>,
}

impl Recorder {
    /// A recorder of about this many frames per second, with the present state as its first frame; with stresses of soft bodies or without.
    pub fn new(simulation: &mut Simulation, frames_per_second: f64, has_stress: bool) -> Self {
        let mut recording = Recording::new(frames_per_second, simulation.timestep()).with_stress(has_stress);
        let now = simulation.state().time;
        recording.even_frame(simulation, now);
        Self { recording, now, last_frame: now, changes: None, shown_at: Some(0) }
    }

    /// A recorder that has seen all it will see.
    pub fn finished(recording: Recording) -> Self {
        Self { recording, now: 0.0, last_frame: 0.0, changes: None, shown_at: None }
    }

    /// What has been recorded.
    pub fn recording(&self) -> &Recording {
        &self.recording
    }

    /// Notes the step that led from `start` to the present state, and records the frames that fall into it.
    pub fn after_step(&mut self, start: &State, simulation: &mut Simulation) {
        self.recording.note_iterations(simulation.stats().iterations);
        let span = simulation.state().time - start.time;
        let (begin, period) = (self.now, self.recording.frame_time);
        let tolerance = SAME_TIME * simulation.timestep();
        self.now += span;
        let next = self.recording.len();
        while self.last_frame + period <= self.now + tolerance {
            let due = self.last_frame + period;
            if due < self.now - tolerance {
                self.frame_within(start, simulation, due, start.time + (due - begin));
                self.last_frame = due;
            } else {
                self.recording.even_frame(simulation, self.now);
                self.last_frame = self.now;
            }
        }
        self.shown_at = (next < self.recording.len()).then_some(next);
    }

    /// Notes what is drawn beside the model, which has changed so often. Programs draw between two steps: looked at after a step and
    /// before the next, it belongs to the frame that the step recorded; without one, to the next frame.
    pub fn note_drawn(&mut self, changes: u64, sketch: impl FnOnce() -> Sketch) {
        let Some(frame) = self.shown_at else { return };
        if self.changes != Some(changes) {
            self.changes = Some(changes);
            self.recording.drawn.show(frame, &sketch());
        }
        // Of several frames of a step, the last is what a program sees.
        self.shown_at = Some(self.recording.len() - 1);
    }

    /// Records the frame at a time within the step that led from `start` to the present state.
    fn frame_within(&mut self, start: &State, simulation: &mut Simulation, frame_time: f64, time: f64) {
        let (mut q, mut v) = simulation.between(start, time);
        let mut swap = |simulation: &mut Simulation| {
            let state = simulation.state_mut();
            std::mem::swap(&mut state.q, &mut q);
            std::mem::swap(&mut state.v, &mut v);
        };
        swap(simulation);
        self.recording.even_frame(simulation, frame_time);
        swap(simulation);
    }
}
