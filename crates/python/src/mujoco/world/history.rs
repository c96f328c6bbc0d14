//! Past controls and readings of sensors, in an `MjData`.
//!
//! MuJoCo has a ring for each: a number, that of sensors when they measured last; the place of the newest sample; all times; all values, those of a
//! sample one after the other.

use super::Running;

/// Where a ring is, and what is in it.
#[derive(Clone, Copy, Debug)]
struct Ring {
    at: usize,
    samples: usize,
    /// How many values a sample has.
    width: usize,
}

impl Ring {
    fn len(self) -> usize {
        2 + self.samples * (1 + self.width)
    }

    /// Copies the samples, the oldest first, each with its time before its values.
    fn read(self, history: &[f64], line: &mut [f64]) {
        let Self { at, samples: n, width } = self;
        let ring = &history[at..][..self.len()];
        let newest = ring[1].clamp(0.0, (n - 1) as f64) as usize;
        for (k, sample) in line.chunks_exact_mut(1 + width).enumerate() {
            let place = (newest + 1 + k) % n;
            sample[0] = ring[2 + place];
            sample[1..].copy_from_slice(&ring[2 + n + place * width..][..width]);
        }
    }

    /// Puts them back.
    fn write(self, history: &mut [f64], line: &[f64]) {
        let Self { at, samples: n, width } = self;
        let ring = &mut history[at..][..self.len()];
        ring[1] = (n - 1) as f64;
        for (k, sample) in line.chunks_exact(1 + width).enumerate() {
            ring[2 + k] = sample[0];
            ring[2 + n + k * width..][..width].copy_from_slice(&sample[1..]);
        }
    }
}

impl Running<'_> {
    pub(super) fn read_history(&mut self) {
        let world = self.world;
        if world.histories.is_empty() && world.readings.is_empty() {
            return;
        }
        let model = self.simulation.model().clone();
        // SAFETY: as in `step`.
        let history = unsafe { self.memory.history.get() };
        let state = self.simulation.state_mut();
        for ((_, delay, first), &at) in model.delays().zip(&world.histories) {
            let ring = Ring { at, samples: delay.samples, width: 1 };
            ring.read(history, &mut state.past_ctrl[first..][..2 * delay.samples]);
        }
        for ((of, delay), &at) in model.delayed_sensors().zip(&world.readings) {
            let ring = Ring { at, samples: delay.line.samples, width: of.shown.len() };
            let readings = &mut state.past_readings[of.readings];
            readings[0] = history[at];
            ring.read(history, &mut readings[1..]);
        }
    }

    pub(super) fn write_history(&self) {
        let (world, state) = (self.world, self.simulation.state());
        // SAFETY: as in `write`.
        let history = unsafe { self.memory.history.get_mut() };
        for ((_, delay, first), &at) in self.simulation.model().delays().zip(&world.histories) {
            let ring = Ring { at, samples: delay.samples, width: 1 };
            ring.write(history, &state.past_ctrl[first..][..2 * delay.samples]);
        }
        for ((of, delay), &at) in self.simulation.model().delayed_sensors().zip(&world.readings) {
            let ring = Ring { at, samples: delay.line.samples, width: of.shown.len() };
            let readings = &state.past_readings[of.readings];
            history[at] = readings[0];
            ring.write(history, &readings[1..]);
        }
    }
}
