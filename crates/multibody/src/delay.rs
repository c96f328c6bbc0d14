//! Delays of controls and of what sensors show.

/// How a control is read between two that were given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Reading {
    /// The last that was given by then.
    #[default]
    Latest,
    /// On the straight line between both.
    Linear,
    /// On the cubic of Catmull and Rom, whose slopes are those between the neighbours of each.
    Cubic,
}

/// A control that acts only after some time, or what a sensor shows only then.
///
/// What was given in the last steps is kept in a line of samples, `(samples, 1 + n)` numbers: the times of the steps, s, each with its n values,
/// the oldest first. Before the oldest and after the newest the values are theirs, as in MuJoCo, so that `samples` steps are as far as it
/// reaches.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// s, above 0; of a sensor it may be 0.
    pub time: f64,
    /// How many samples are kept, at least one.
    pub samples: usize,
    /// How it is read in between.
    pub reading: Reading,
}

impl Delay {
    /// Most samples of an actuator or a sensor.
    pub const MAX_SAMPLES: usize = 10_000;

    /// The control that acts at `time`.
    pub fn control(&self, samples: &[f64], time: f64) -> f64 {
        let mut control = [0.0];
        self.read(samples, time, &mut control);
        control[0]
    }

    /// The values that count at `time`.
    pub fn read(&self, samples: &[f64], time: f64, out: &mut [f64]) {
        let line = Line { samples, width: 1 + out.len() };
        let Some(last) = line.count().checked_sub(1) else { return };
        let then = time - self.time;
        // Sums of steps are not multiples of one to the last digit.
        let nearly = 1e-9 * self.time;
        if then <= line.time(0) + nearly || last == 0 {
            return out.copy_from_slice(line.values(0));
        }
        if then >= line.time(last) - nearly {
            return out.copy_from_slice(line.values(last));
        }
        // Of times that are no numbers, too, there is one before.
        let next = line.first_after(then + nearly).clamp(1, last);
        let (t0, t1) = (line.time(next - 1), line.time(next));
        let share = ((then - t0) / (t1 - t0)).clamp(0.0, 1.0);
        for (k, out) in out.iter_mut().enumerate() {
            let value = |at: usize| line.values(at)[k];
            let (u0, u1) = (value(next - 1), value(next));
            *out = match self.reading {
                Reading::Latest => u0,
                Reading::Linear => u0 + share * (u1 - u0),
                Reading::Cubic => {
                    let slope = |from: usize, to: usize| (value(to) - value(from)) / (line.time(to) - line.time(from));
                    let m0 = next.checked_sub(2).map_or(0.0, |before| slope(before, next));
                    let m1 = if next < last { slope(next - 1, next + 1) } else { 0.0 };
                    hermite(share, [u0, u1], [m0, m1].map(|slope| slope * (t1 - t0)))
                }
            };
        }
    }

    /// Keeps the values that were given at `time`, in the place of the oldest. Where time was set back all samples become this one.
    pub fn keep(&self, samples: &mut [f64], time: f64, values: &[f64]) {
        let width = 1 + values.len();
        let Some(newest) = samples.len().checked_sub(width) else { return };
        if samples[newest] >= time {
            for (k, sample) in samples.chunks_exact_mut(width).rev().enumerate() {
                sample[0] = time - k as f64 * self.time;
                sample[1..].copy_from_slice(values);
            }
            return;
        }
        samples.copy_within(width.., 0);
        samples[newest] = time;
        samples[newest + 1..].copy_from_slice(values);
    }
}

/// A line of samples.
#[derive(Clone, Copy, Debug)]
struct Line<'a> {
    samples: &'a [f64],
    width: usize,
}

impl<'a> Line<'a> {
    fn count(self) -> usize {
        self.samples.len() / self.width
    }

    fn time(self, k: usize) -> f64 {
        self.samples[k * self.width]
    }

    fn values(self, k: usize) -> &'a [f64] {
        &self.samples[k * self.width + 1..][..self.width - 1]
    }

    /// How many samples are no later than a time, where times ascend.
    fn first_after(self, time: f64) -> usize {
        let (mut low, mut high) = (0, self.count());
        while low < high {
            let middle = low.midpoint(high);
            if self.time(middle) <= time {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }
}

/// When a sensor shows what it measures.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SensorDelay {
    /// How long after it was measured, and how many samples are kept.
    pub line: Delay,
    /// It measures as often only, s, and shows the last in between; 0: in every step.
    pub interval: f64,
    /// When it measured last before the first step, s, not above 0; 0 stands for an interval before.
    pub phase: f64,
}

impl SensorDelay {
    /// The line before the first step at time 0, whose first number is when it measured last: zeros.
    pub fn first_readings(self, dim: usize, timestep: f64) -> impl Iterator<Item = f64> {
        let Self { line, interval, phase } = self;
        let count = line.samples;
        let last = if phase == 0.0 { -interval } else { phase };
        let time = move |k: usize| match interval > 0.0 {
            true => libm::ceil((last - (count - 1 - k) as f64 * interval) / timestep) * timestep,
            false => (count - k) as f64 * -timestep,
        };
        let measured = if interval > 0.0 { last } else { -timestep };
        let sample = move |k: usize| std::iter::once(time(k)).chain(std::iter::repeat_n(0.0, dim));
        std::iter::once(measured).chain((0..count).flat_map(sample))
    }

    /// Whether it measures at `time`; `readings` is its line.
    pub fn measures(&self, readings: &[f64], time: f64) -> bool {
        self.interval == 0.0 || readings[0] + self.interval <= time
    }

    /// Puts in the place of what it measures at `time` what it shows.
    pub fn show(&self, readings: &[f64], time: f64, shown: &mut [f64]) {
        if self.line.time > 0.0 || !self.measures(readings, time) {
            self.line.read(&readings[1..], time, shown);
        }
    }

    /// Keeps what it measured at `time`, if it did.
    pub fn keep(&self, readings: &mut [f64], time: f64, measured: &[f64]) {
        if !self.measures(readings, time) {
            return;
        }
        readings[0] += self.interval;
        self.line.keep(&mut readings[1..], time, measured);
    }
}

/// Between two values with these slopes, at this share of the way.
fn hermite(share: f64, [u0, u1]: [f64; 2], [m0, m1]: [f64; 2]) -> f64 {
    let rest = 1.0 - share;
    u0 * (1.0 + 2.0 * share) * rest * rest + m0 * share * rest * rest + u1 * share * share * (3.0 - 2.0 * share)
        - m1 * share * share * rest
}
