//! Delays of controls.

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

/// A control that acts only after some time.
///
/// What was given in the last steps is kept in a line of samples, `(samples, 2)` numbers: the times of the steps, s, and the controls, the
/// oldest first. Before the oldest and after the newest the control is theirs, as in MuJoCo, so that `samples` steps are as far as it reaches.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Delay {
    /// s, above 0.
    pub time: f64,
    /// How many controls are kept, at least one.
    pub samples: usize,
    /// How it is read in between.
    pub reading: Reading,
}

impl Delay {
    /// Most samples of an actuator.
    pub const MAX_SAMPLES: usize = 10_000;

    /// The control that acts at `time`.
    pub fn control(&self, samples: &[f64], time: f64) -> f64 {
        let (samples, _) = samples.as_chunks::<2>();
        let (first, last) = (samples[0], samples[samples.len() - 1]);
        let then = time - self.time;
        // Sums of steps are not multiples of one to the last digit.
        let nearly = 1e-9 * self.time;
        if then <= first[0] + nearly || samples.len() == 1 {
            return first[1];
        }
        if then >= last[0] - nearly {
            return last[1];
        }
        // Of times that are no numbers, too, there is one before.
        let next = samples.partition_point(|sample| sample[0] <= then + nearly).clamp(1, samples.len() - 1);
        let ([t0, u0], [t1, u1]) = (samples[next - 1], samples[next]);
        let share = ((then - t0) / (t1 - t0)).clamp(0.0, 1.0);
        match self.reading {
            Reading::Latest => u0,
            Reading::Linear => u0 + share * (u1 - u0),
            Reading::Cubic => {
                let slope =
                    |of: Option<&[f64; 2]>, to: [f64; 2]| of.map_or(0.0, |of| (to[1] - of[1]) / (to[0] - of[0]));
                let before = next.checked_sub(2).map(|k| &samples[k]);
                let (m0, m1) = (slope(before, [t1, u1]), slope(samples.get(next + 1), [t0, u0]));
                hermite(share, [u0, u1], [m0, m1].map(|slope| slope * (t1 - t0)))
            }
        }
    }

    /// Keeps the control that was given at `time`, in the place of the oldest. Where time was set back all samples become this one.
    pub fn keep(&self, samples: &mut [f64], time: f64, control: f64) {
        let (samples, _) = samples.as_chunks_mut::<2>();
        if samples.last().is_some_and(|last| last[0] >= time) {
            for (k, sample) in samples.iter_mut().rev().enumerate() {
                *sample = [time - k as f64 * self.time, control];
            }
            return;
        }
        samples.copy_within(1.., 0);
        if let Some(last) = samples.last_mut() {
            *last = [time, control];
        }
    }
}

/// Between two values with these slopes, at this share of the way.
fn hermite(share: f64, [u0, u1]: [f64; 2], [m0, m1]: [f64; 2]) -> f64 {
    let rest = 1.0 - share;
    u0 * (1.0 + 2.0 * share) * rest * rest + m0 * share * rest * rest + u1 * share * share * (3.0 - 2.0 * share)
        - m1 * share * share * rest
}
