//! The motion as a table over the coordinates of a model.

use motion::{Binding, Motion};
use multibody::{Model, difference};

use super::error::ImitationError;

/// Rows of the table a second of the motion. Between them coordinates are interpolated linearly, which of an angle a(t) misses
/// a″/(8 · 480²): 5e-5 rad where a joint turns 10 rad/s faster within 0.1 s.
const ROWS_PER_SECOND: f64 = 480.0;
/// Rows at most, of motions of hours.
const MAX_ROWS: f64 = 200_000.0;
/// Velocities are those over this time before and after, s: half a frame of motion capture, whose postures jump in velocity at each frame.
const VELOCITY_WINDOW: f64 = 1.0 / 60.0;

/// Positions and velocities of a model along a motion.
#[derive(Clone, Debug)]
pub struct Reference {
    nq: usize,
    nv: usize,
    duration: f64,
    is_cyclic: bool,
    /// How far a cycle goes, x y, m.
    travel: [f64; 2],
    intervals: usize,
    q: Vec<f64>,
    v: Vec<f64>,
    /// Where quaternions begin in q.
    quaternions: Vec<usize>,
    root_q: usize,
}

impl Reference {
    /// A motion on the model that `binding` is of. A cyclic one goes on after its end, moved horizontally by how far it went.
    ///
    /// # Errors
    /// When the motion takes no time.
    pub fn new(
        model: &Model,
        mut binding: Binding,
        motion: &dyn Motion,
        is_cyclic: bool,
        root_q: usize,
    ) -> Result<Self, ImitationError> {
        let duration = motion.duration();
        if !(duration.is_finite() && duration > 0.0) {
            return Err(ImitationError::Short { duration, least: 0.0 });
        }
        let intervals = (duration * ROWS_PER_SECOND).ceil().clamp(1.0, MAX_ROWS) as usize;
        let (nq, nv) = (model.nq(), model.nv());
        let starts = model.tree.nodes.iter().filter_map(multibody::Node::quaternion);
        let mut own = Self {
            nq,
            nv,
            duration,
            is_cyclic,
            travel: [0.0; 2],
            intervals,
            q: vec![0.0; (intervals + 1) * nq],
            v: vec![0.0; (intervals + 1) * nv],
            quaternions: starts.collect(),
            root_q,
        };
        let (mut before, mut after) = (vec![0.0; nq], vec![0.0; nq]);
        for k in 0..=intervals {
            let time = duration * k as f64 / intervals as f64;
            let mut span = [time - VELOCITY_WINDOW, time + VELOCITY_WINDOW];
            if is_cyclic {
                // Times of a motion are not negative; a cycle later it moves alike.
                let cycles = (VELOCITY_WINDOW / duration).ceil() * duration;
                span = span.map(|t| t + cycles);
            } else {
                span = span.map(|t| t.clamp(0.0, duration));
            }
            binding.positions(&motion, time, &mut own.q[k * nq..][..nq]);
            binding.positions(&motion, span[0], &mut before);
            binding.positions(&motion, span[1], &mut after);
            let v = &mut own.v[k * nv..][..nv];
            difference(&model.tree, &before, &after, v);
            v.iter_mut().for_each(|v| *v /= span[1] - span[0]);
        }
        own.align_quaternions();
        let last = own.q[intervals * nq..].to_vec();
        own.travel = [0, 1].map(|k| last[root_q + k] - own.q[root_q + k]);
        Ok(own)
    }

    /// Of the two quaternions of a rotation the one that is nearer to that of the row before.
    fn align_quaternions(&mut self) {
        for k in 1..=self.intervals {
            let (before, row) = self.q[(k - 1) * self.nq..].split_at_mut(self.nq);
            for &at in &self.quaternions {
                let dot: f64 = before[at..at + 4].iter().zip(&row[at..at + 4]).map(|(a, b)| a * b).sum();
                if dot < 0.0 {
                    row[at..at + 4].iter_mut().for_each(|x| *x = -*x);
                }
            }
        }
    }

    /// Moves all of it up, m.
    pub(crate) fn raise(&mut self, height: f64) {
        self.q.chunks_exact_mut(self.nq).for_each(|q| q[self.root_q + 2] += height);
    }

    /// Moves each row up by as much as is given, m; velocities follow. The root's degrees of freedom are the first.
    pub(crate) fn lift(&mut self, heights: &[f64]) {
        let (last, rate) = (self.intervals as isize, self.intervals as f64 / self.duration);
        let window = ((VELOCITY_WINDOW * rate).round() as isize).max(1);
        let at = |k: isize| if self.is_cyclic { k.rem_euclid(last) } else { k.clamp(0, last) };
        for k in 0..=self.intervals {
            let (before, after) = (at(k as isize - window), at(k as isize + window));
            let span = if self.is_cyclic { 2 * window } else { after - before };
            let rise = heights[after as usize] - heights[before as usize];
            self.v[k * self.nv + 2] += rise * rate / span as f64;
            self.q[k * self.nq + self.root_q + 2] += heights[k];
        }
    }

    /// How long the motion, or a cycle of it, takes, s.
    pub fn duration(&self) -> f64 {
        self.duration
    }

    /// Whether it goes on after its end.
    pub fn is_cyclic(&self) -> bool {
        self.is_cyclic
    }

    /// How far a cycle goes, x y, m.
    pub fn travel(&self) -> [f64; 2] {
        self.travel
    }

    /// The configurations of the table, at equal intervals from 0 to the duration.
    pub fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.q.chunks_exact(self.nq)
    }

    /// The velocities of the table, as [`rows`](Self::rows).
    pub fn velocities(&self) -> impl Iterator<Item = &[f64]> {
        self.v.chunks_exact(self.nv)
    }

    /// Full cycles before `time`, and the time within the present one; of a motion that ends, 0 and the time cut at its end.
    pub fn local_time(&self, time: f64) -> (f64, f64) {
        if !self.is_cyclic {
            return (0.0, time.clamp(0.0, self.duration));
        }
        let cycles = libm::floor(time / self.duration);
        (cycles, (time - cycles * self.duration).clamp(0.0, self.duration))
    }

    /// The part of the motion, or of the present cycle, that is over at `time`: 0 to 1.
    pub fn phase(&self, time: f64) -> f64 {
        self.local_time(time).1 / self.duration
    }

    /// Positions (nq) and velocities (nv) at `time`, s.
    ///
    /// # Panics
    /// When a slice has another length.
    pub fn at(&self, time: f64, q: &mut [f64], v: &mut [f64]) {
        let (cycles, local) = self.local_time(time);
        let place = local / self.duration * self.intervals as f64;
        let k = (place as usize).min(self.intervals - 1);
        let u = place - k as f64;
        let between = |table: &[f64], width: usize, out: &mut [f64]| {
            let (a, b) = table[k * width..(k + 2) * width].split_at(width);
            out.iter_mut().zip(a.iter().zip(b)).for_each(|(out, (a, b))| *out = a + u * (b - a));
        };
        between(&self.q, self.nq, q);
        between(&self.v, self.nv, v);
        for &at in &self.quaternions {
            let quaternion = &mut q[at..at + 4];
            let norm = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
            quaternion.iter_mut().for_each(|x| *x /= norm);
        }
        q[self.root_q] += cycles * self.travel[0];
        q[self.root_q + 1] += cycles * self.travel[1];
    }
}
