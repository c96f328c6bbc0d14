//! Step size control.
//!
//! Every step is made twice, whole and in two halves. The halves are kept; their difference from the whole gives their
//! error: in a scheme of order p it is (x₂ − x₁)/(2ᵖ − 1). The error may be `accuracy` per second, in metres and
//! radians, and in velocities relative to 1 + |v|; of velocities per step while near-rigid contacts or loops hold them.
//!
//! Steps end where compliant contacts begin (`overlaps`). Where near-rigid contacts make forces or velocities (an impact) jump,
//! errors do not fall in proportion to the step: the error of that one step counts instead, at an impact that of positions
//! alone. How the difference falls with the step tells the two apart.

use std::ops::ControlFlow;

use multibody::difference;

use super::overlaps::{OverlapPoint, overshoot};
use super::{HALVINGS, Simulation};
use crate::{SimulationError, State, Stats};

/// The next step is this much shorter than where the error would be all that is allowed.
const CAUTION: f64 = 0.8;
/// How much longer or shorter the next step may be.
const LONGER: f64 = 4.0;
const SHORTER: f64 = 0.2;
/// The first step that is tried, s.
const FIRST: f64 = 1e-3;
/// Steps with near-rigid contact are no shorter than this part of the accuracy, s; others than this.
const SHORTEST: f64 = 1e-2;
const LEAST: f64 = 1e-9;
/// The time in which errors add up, s: what dampers take of them within it counts less.
const SECOND: f64 = 1.0;
/// Differences that rounding makes of positions, quaternions and velocities of order 1, which no shorter step lessens.
const ROUND_OFF: f64 = 16.0 * f64::EPSILON;
/// The part of the accuracy that an impact or a jump of the forces may be off.
const AT_JUMP: f64 = 0.1;

/// The part of the accuracy that a body may be late to feel what it touches, m.
const AT_TOUCH: f64 = 0.01;

/// Scratch of steps that are made twice.
#[derive(Clone, Debug, Default)]
pub(super) struct Doubling {
    /// Where the step starts.
    start: State,
    /// Where the whole step leads.
    q: Vec<f64>,
    v: Vec<f64>,
    soft_x: Vec<f64>,
    soft_v: Vec<f64>,
    gap: Vec<f64>,
    /// Where geoms overlap at the beginning and at the end.
    before: Vec<OverlapPoint>,
    after: Vec<OverlapPoint>,
    contact: Contact,
}

/// How far two ways of making a step are apart.
#[derive(Clone, Copy, Debug)]
struct Difference {
    positions: f64,
    velocities: f64,
}

/// What becomes of a step that was made twice, and the length of the one to be tried next, s.
enum Verdict {
    Accepted(f64),
    /// It passes the beginning of a compliant contact.
    Late(f64),
    Inaccurate(f64),
}

impl Simulation {
    /// Advances to `time`: by steps that keep the accuracy of the options, or by whole time steps and a last one that is
    /// shorter. Nothing happens when `time` has passed.
    ///
    /// # Errors
    /// As [`step`](Self::step), and when `time` is not finite; the state is then where the last step that succeeded led.
    pub fn advance_to(&mut self, time: f64) -> Result<(), SimulationError> {
        self.put_mocap();
        self.advance_through(time, |_, _| ControlFlow::Continue(())).map(drop)
    }

    /// Advances to the last of `times`, and hands out positions and velocities at each of them: between steps they are
    /// interpolated, so that steps need not end there. Times that have passed by less than a step get the present state.
    ///
    /// # Errors
    /// As [`advance_to`](Self::advance_to) and [`check_times`](Self::check_times).
    pub fn trajectory(&mut self, times: &[f64], frame: impl FnMut(&[f64], &[f64])) -> Result<(), SimulationError> {
        self.trajectory_while(times, frame, || true).map(drop)
    }

    /// As [`trajectory`](Self::trajectory) for as long as `goes_on`, which is asked after every step. [`ControlFlow::Break`]
    /// means that it did not: the state is then at the end of that step, and frames after it are not handed out.
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn trajectory_while(
        &mut self,
        times: &[f64],
        frame: impl FnMut(&[f64], &[f64]),
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<ControlFlow<()>, SimulationError> {
        self.trajectory_observed(times, frame, |_, _| {
            if goes_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })
    }

    /// As [`trajectory_while`](Self::trajectory_while); `after` sees the state before every step and the simulation after it,
    /// and may end the motion there. What it changes in the state acts in the next step.
    ///
    /// # Errors
    /// As [`trajectory`](Self::trajectory).
    pub fn trajectory_observed(
        &mut self,
        times: &[f64],
        mut frame: impl FnMut(&[f64], &[f64]),
        mut after: impl FnMut(&State, &mut Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SimulationError> {
        self.check_times(times)?;
        let Some(&end) = times.last() else { return Ok(ControlFlow::Continue(())) };
        let mut remaining = times.iter().copied().peekable();
        while remaining.next_if(|time| *time <= self.state.time).is_some() {
            frame(&self.state.q, &self.state.v);
        }
        self.put_mocap();
        let (mut q, mut v) = (self.state.q.clone(), self.state.v.clone());
        let mut delta = self.state.v.clone();
        let flow = self.advance_through(end, |start, simulation| {
            let span = simulation.state.time - start.time;
            while let Some(time) = remaining.next_if(|time| *time <= simulation.state.time) {
                simulation.interpolate(start, (time - start.time) / span, span, &mut delta, &mut q, &mut v);
                frame(&q, &v);
            }
            after(start, simulation)
        })?;
        if flow.is_continue() {
            // A remainder that is round-off.
            remaining.for_each(|_| frame(&self.state.q, &self.state.v));
        }
        Ok(flow)
    }

    /// Whether a [`trajectory`](Self::trajectory) can have these times.
    ///
    /// # Errors
    /// When they do not ascend, or begin more than a step ago.
    pub fn check_times(&self, times: &[f64]) -> Result<(), SimulationError> {
        let ascends = |i: &usize| times[i - 1] <= times[*i];
        if let Some(index) = (1..times.len()).find(|i| !ascends(i)) {
            return Err(SimulationError::Times { index, time: times[index], before: times[index - 1] });
        }
        let now = self.state.time;
        match times.first() {
            Some(&time) if time < now - self.timestep() => Err(SimulationError::Passed { time, now }),
            _ => Ok(()),
        }
    }

    /// Positions and velocities at a time within the step that led from `start` to the present state, as
    /// [`trajectory`](Self::trajectory) interpolates them.
    pub fn between(&self, start: &State, time: f64) -> (Vec<f64>, Vec<f64>) {
        let (mut q, mut v, mut delta) = (start.q.clone(), start.v.clone(), start.v.clone());
        let span = self.state.time - start.time;
        self.interpolate(start, (time - start.time) / span, span, &mut delta, &mut q, &mut v);
        (q, v)
    }

    /// The cubic through the step's ends, at the part `s` of it.
    fn interpolate(&self, start: &State, s: f64, span: f64, delta: &mut [f64], q: &mut Vec<f64>, v: &mut [f64]) {
        let tree = &self.model.tree;
        difference(tree, &start.q, &self.state.q, delta);
        let ends = start.v.iter().zip(&self.state.v);
        for (v, ((v0, v1), delta)) in v.iter_mut().zip(ends.zip(delta.iter_mut())) {
            let mean = *delta / span;
            *v = (1.0 - s) * (1.0 - 3.0 * s) * v0 + s * (3.0 * s - 2.0) * v1 + 6.0 * s * (1.0 - s) * mean;
            let (rise, fall) = (s * (1.0 - s) * (1.0 - s), s * s * (s - 1.0));
            *delta = s * s * (3.0 - 2.0 * s) * *delta + span * (rise * v0 + fall * v1);
        }
        q.clone_from(&start.q);
        multibody::integrate(tree, q, delta, 1.0);
    }

    /// Steps to `time`; `after` sees the state before every step and the simulation after it, and may end it there.
    pub(super) fn advance_through(
        &mut self,
        time: f64,
        mut after: impl FnMut(&State, &mut Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SimulationError> {
        if !time.is_finite() {
            return Err(SimulationError::Option { name: "time", value: time, expected: "a finite number" });
        }
        let mut doubling = std::mem::take(&mut self.doubling);
        let outcome = self.advance_with(&mut doubling, time, &mut after);
        self.doubling = doubling;
        outcome
    }

    fn advance_with(
        &mut self,
        doubling: &mut Doubling,
        time: f64,
        after: &mut impl FnMut(&State, &mut Self) -> ControlFlow<()>,
    ) -> Result<ControlFlow<()>, SimulationError> {
        let mut sum: Option<Stats> = None;
        let mut flow = ControlFlow::Continue(());
        // What is left below the resolution of time is none.
        while flow.is_continue() && time - self.state.time > 1e-12 * time.abs().max(self.timestep()) {
            doubling.start.copy_from(&self.state);
            let begin = self.state.time;
            self.note_readings()?;
            self.with_acting_controls(|simulation| simulation.step_towards(time, doubling))?;
            self.keep_controls(begin);
            self.keep_readings(begin);
            let stats = sum.map_or(self.stats, |sum| sum.followed_by(&self.stats));
            sum = Some(stats);
            flow = after(&doubling.start, self);
        }
        if let Some(sum) = sum {
            self.stats = sum;
            if flow.is_continue() {
                self.state.time = time;
            }
        }
        Ok(flow)
    }

    /// One step that does not pass `time`.
    fn step_towards(&mut self, time: f64, doubling: &mut Doubling) -> Result<(), SimulationError> {
        let remaining = time - self.state.time;
        let Some(accuracy) = self.options.accuracy else {
            let dt = self.timestep();
            // A remainder below round-off of the sum is no step.
            let dt = if remaining < dt * (1.0 + 1e-9) { remaining } else { dt };
            self.step_by(dt, HALVINGS)?;
            // A restored count may be any.
            self.state.step = self.state.step.wrapping_add(1);
            self.state.time += dt;
            return Ok(());
        };
        self.step_accurately(accuracy, remaining, doubling)
    }

    /// One step of at most `remaining`, s, as long as the accuracy lets it be.
    fn step_accurately(
        &mut self,
        accuracy: f64,
        remaining: f64,
        doubling: &mut Doubling,
    ) -> Result<(), SimulationError> {
        let mut shortest = LEAST;
        let mut dt = if self.state.step_size > 0.0 { self.state.step_size } else { FIRST };
        let mut sum = Stats::default();
        let mut last: Option<(Difference, f64)> = None;
        self.find_overlaps(&mut doubling.before);
        loop {
            // The last two steps share what remains, so that none is tiny.
            let is_cut = dt >= remaining;
            let h = match () {
                () if is_cut => remaining,
                () if remaining < 2.0 * dt => 0.5 * remaining,
                () => dt,
            };
            let judged = self.step_twice(h, &mut sum, doubling).and_then(|gap| {
                shortest = if doubling.contact == Contact::None { LEAST } else { SHORTEST * accuracy };
                Ok((gap, self.judge(accuracy, (h, shortest), (gap, last), doubling)?))
            });
            match judged {
                Ok((_, Verdict::Accepted(next))) => {
                    self.state.step = doubling.start.step.wrapping_add(1);
                    self.state.time = doubling.start.time + h;
                    // A step cut short says nothing against longer ones.
                    self.state.step_size = if is_cut { next.max(dt) } else { next };
                    self.stats = sum;
                    return Ok(());
                }
                Ok((_, Verdict::Late(next))) => dt = next,
                Ok((gap, Verdict::Inaccurate(next))) => {
                    last = Some((gap, h));
                    dt = next;
                }
                Err(error) => {
                    self.state.copy_from(&doubling.start);
                    if h <= shortest || matches!(error, SimulationError::Interrupted { .. }) {
                        return Err(error);
                    }
                    dt = (SHORTER * h).max(shortest);
                }
            }
            sum.rejected += 1;
            self.state.copy_from(&doubling.start);
        }
    }

    /// What is to be done with a step of `h` that was made twice, the two ways `gap` apart; `longer` is what was given up before. Steps
    /// that are no longer than `shortest` are kept.
    fn judge(
        &mut self,
        accuracy: f64,
        (h, shortest): (f64, f64),
        (gap, longer): (Difference, Option<(Difference, f64)>),
        doubling: &mut Doubling,
    ) -> Result<Verdict, SimulationError> {
        let order = self.options.scheme.order();
        let limits = Limits::new(accuracy, h, gap, longer, doubling.contact);
        let ratio = limits.ratio(gap, order);
        let next = h * (CAUTION * libm::pow(ratio.max(1e-12), -limits.exponent(order))).clamp(SHORTER, LONGER);
        let next = next.max(shortest);
        self.find_overlaps(&mut doubling.after);
        self.check_interrupt()?;
        let late = overshoot(&doubling.before, &doubling.after, h, AT_TOUCH * accuracy);
        Ok(match late.filter(|_| h > shortest) {
            Some(late) => Verdict::Late((h - late).max(shortest)),
            None if ratio <= 1.0 || h <= shortest => Verdict::Accepted(next),
            None => Verdict::Inaccurate(next),
        })
    }

    /// Makes a step whole, and again in two halves, where the state is left.
    fn step_twice(&mut self, h: f64, sum: &mut Stats, doubling: &mut Doubling) -> Result<Difference, SimulationError> {
        doubling.contact = Contact::None;
        self.step_by(h, 0)?;
        *sum = sum.followed_by(&self.stats);
        self.note_contact(&mut doubling.contact);
        doubling.q.clone_from(&self.state.q);
        doubling.v.clone_from(&self.state.v);
        doubling.soft_x.clone_from(&self.state.soft_positions);
        doubling.soft_v.clone_from(&self.state.soft_velocities);
        self.state.copy_from(&doubling.start);
        for _ in 0..2 {
            self.step_by(0.5 * h, 0)?;
            *sum = sum.followed_by(&self.stats);
            self.note_contact(&mut doubling.contact);
        }
        doubling.gap.resize(self.state.v.len(), 0.0);
        difference(&self.model.tree, &doubling.q, &self.state.q, &mut doubling.gap);
        doubling.v.iter_mut().zip(&self.state.v).for_each(|(whole, v)| *whole = v - *whole);
        for workspace in self.trees.iter_mut().filter(|workspace| !workspace.asleep) {
            let kd = self.state.pd.kd.get(workspace.dofs.clone());
            workspace.damp(&mut doubling.v[workspace.dofs.clone()], kd, SECOND);
        }
        let greatest = |sum: f64, x: f64| sum.max(x.abs());
        let velocities = self.state.v.iter().zip(&doubling.v).map(|(v, gap)| gap / (1.0 + v.abs()));
        let State { soft_positions, soft_velocities, .. } = &self.state;
        let soft = soft_velocities.iter().zip(&doubling.soft_v).map(|(v, whole)| (v - whole) / (1.0 + v.abs()));
        let velocities = velocities.chain(soft);
        let soft = soft_positions.iter().zip(&doubling.soft_x).map(|(x, whole)| x - whole);
        let positions = doubling.gap.iter().copied().chain(soft).fold(0.0, greatest);
        Ok(Difference {
            positions: (positions - ROUND_OFF).max(0.0),
            velocities: (velocities.fold(0.0, greatest) - ROUND_OFF).max(0.0),
        })
    }

    /// What near-rigid constraints had to do with the last step, too.
    fn note_contact(&self, contact: &mut Contact) {
        if !self.impacts.is_empty() || self.stats.unsettled > 0 {
            *contact = Contact::Hit;
        } else if *contact == Contact::None && self.islands.have_rigid() {
            *contact = Contact::Rigid;
        }
    }
}

/// What near-rigid constraints had to do with a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Contact {
    #[default]
    None,
    Rigid,
    /// Something was hit, or friction found no law to obey.
    Hit,
}

/// How far the two ways may be apart.
#[derive(Clone, Copy, Debug)]
struct Limits {
    positions: f64,
    velocities: f64,
    /// Whether motion is smooth over the step.
    is_smooth: bool,
}

impl Limits {
    /// Limits of a step of `h` that differs by `gap`, after a longer one that was given up. Velocities that smooth forces
    /// change differ by h³ or h², across a jump of the forces by h, and across an impact by as much as ever.
    fn new(accuracy: f64, h: f64, gap: Difference, longer: Option<(Difference, f64)>, contact: Contact) -> Self {
        let smooth = |span: f64| Self { positions: accuracy * h, velocities: accuracy * span, is_smooth: true };
        // Steps end where compliant contacts begin, so that nothing jumps within one.
        if contact == Contact::None {
            return smooth(h);
        }
        let rate = longer.map_or(f64::INFINITY, |(longer, span)| {
            libm::log(gap.velocities / longer.velocities) / libm::log(h / span)
        });
        if contact == Contact::Rigid && (rate.is_nan() || rate >= 1.5) {
            // Errors of velocities that near-rigid contacts and loops hold do not grow.
            return smooth(1.0);
        }
        let velocities = if contact == Contact::Rigid && rate >= 0.5 { accuracy } else { f64::INFINITY };
        Self { positions: AT_JUMP * accuracy, velocities, is_smooth: false }
    }

    /// The error over what is allowed.
    fn ratio(&self, gap: Difference, order: f64) -> f64 {
        let workspace = if self.is_smooth { 1.0 / (libm::exp2(order) - 1.0) } else { 1.0 };
        workspace * (gap.positions / self.positions).max(gap.velocities / self.velocities)
    }

    /// The power of the step by which the ratio changes.
    fn exponent(&self, order: f64) -> f64 {
        if self.is_smooth { 1.0 / order } else { 1.0 }
    }
}
