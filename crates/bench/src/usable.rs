//! The largest time step with which a method tracks, and how many characters one core then simulates in real time (the paper's
//! figure 1).

use multibody::difference;
use tracking::{Control, Controller, Reference, Tracker, root_dofs};

use crate::clock::{Samples, time};
use crate::row::{Row, key};
use crate::{Error, Outcome, Subject, cases};

/// The search begins here, s.
const LARGEST: f64 = 0.125;
/// And gives up here, s.
const LEAST: f64 = 1e-10;
/// The step found is at most so many times too small.
const RESOLUTION: f64 = 1.02;
/// A joint that is off by more is lost, rad.
const TURNED: f64 = 2.0;
/// And one that is faster, rad/s. In steps of nanoseconds what grows may come to rest elsewhere before it has moved far.
const FAST: f64 = 1000.0;
/// Poses of steps that are shorter are held so long, s: nothing moves in between.
const HELD: f64 = 1e-4;

/// Fewer steps show nothing: what grows has not grown yet.
const MIN_STEPS: usize = 1000;

/// How long to look.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Simulated time in which nothing may be lost, s; at least 1000 steps.
    pub seconds: f64,
    /// The same of explicit PD, s: it takes millions of times as many steps, and diverges within some hundreds of them.
    pub explicit_seconds: f64,
    /// Rounds of timing.
    pub rounds: usize,
}

impl Effort {
    /// For figures that are quoted.
    pub const FULL: Self = Self { seconds: 10.0, explicit_seconds: 2e-3, rounds: 15 };
    /// To see that it works.
    pub const QUICK: Self = Self { seconds: 0.5, explicit_seconds: 1e-6, rounds: 1 };
}

/// The largest time step of a method.
#[derive(Clone, Debug)]
pub struct Usable {
    /// The method.
    pub control: Control,
    /// Simulated time in which nothing was lost, s; at least 1000 steps.
    pub seconds: f64,
    /// The largest step, s, within 2 %.
    pub dt: f64,
    /// Whether twice this step fails, too, or the search began here.
    pub is_bounded: bool,
    /// What becomes of the end effector at this step.
    pub outcome: Outcome,
    /// Time of a step on one core, s.
    pub frame: f64,
    /// The same at the paper's step of this character, if that is usable.
    pub frame_at_paper: Option<f64>,
}

impl Usable {
    /// Characters that one core simulates in real time at the largest step.
    pub fn characters(&self) -> f64 {
        self.dt / self.frame
    }
}

/// All that was found out of a subject.
#[derive(Clone, Debug)]
pub struct Figure1 {
    /// "dog canter".
    pub case: String,
    /// The paper's step of the character, s.
    pub paper_dt: f64,
    /// By method.
    pub methods: Vec<Usable>,
}

impl Figure1 {
    /// Finds the largest step of each method.
    ///
    /// # Errors
    /// None but those of the subject.
    pub fn measure(subject: &Subject, effector: &str, controls: &[Control], effort: Effort) -> Result<Self, Error> {
        let paper_dt = cases::time_step(subject.character);
        let methods = controls.iter().map(|&control| usable(subject, effector, control, effort, paper_dt));
        Ok(Self { case: subject.name(), paper_dt, methods: methods.collect::<Result<_, _>>()? })
    }

    /// The figures.
    pub fn rows(&self, suite: &'static str) -> Vec<Row> {
        let mut rows = Vec::new();
        for method in &self.methods {
            let key = key(method.control);
            let mut add = |metric: &str, value, unit| {
                rows.push(Row::new(suite, &self.case, format!("{key}_{metric}"), value, unit));
            };
            add("largest_step", method.dt, "s");
            add("frame_at_largest_step", 1e6 * method.frame, "us");
            add("characters_in_real_time", method.characters(), "");
            if let Some(frame) = method.frame_at_paper {
                add("characters_in_real_time_at_the_papers_step", self.paper_dt / frame, "");
            }
        }
        rows
    }
}

fn usable(subject: &Subject, effector: &str, control: Control, effort: Effort, paper_dt: f64) -> Result<Usable, Error> {
    let seconds = if control == Control::Explicit { effort.explicit_seconds } else { effort.seconds };
    let (mut dt, mut fails) = (LARGEST, 2.0 * LARGEST);
    while dt > LEAST && !holds(subject, control, dt, seconds)? {
        (dt, fails) = (0.5 * dt, dt);
    }
    let is_bounded = fails <= LARGEST;
    while is_bounded && fails / dt > RESOLUTION {
        let middle = (dt * fails).sqrt();
        if holds(subject, control, middle, seconds)? {
            dt = middle;
        } else {
            fails = middle;
        }
    }
    let outcome = Outcome::of(subject, effector, Controller::of_paper(control), dt, seconds.min(1e5 * dt))?;
    let frame = frame(subject, control, dt, seconds, effort.rounds)?;
    let is_usable = paper_dt <= dt && holds(subject, control, paper_dt, seconds)?;
    let frame_at_paper =
        is_usable.then(|| self::frame(subject, control, paper_dt, seconds, effort.rounds)).transpose()?;
    Ok(Usable { control, seconds, dt, is_bounded, outcome, frame, frame_at_paper })
}

fn tracker(subject: &Subject, control: Control, dt: f64, steps: usize) -> Result<(Tracker, u64), Error> {
    let held = (HELD / dt).floor().max(1.0) as usize;
    let reference = Reference::held(&subject.model, &subject.motion, dt, steps, held)?;
    Ok((Tracker::new(&subject.model, &subject.scene, reference, Controller::of_paper(control))?, held as u64))
}

/// Whether no joint is ever off by more than [`TURNED`] or faster than [`FAST`], for so long.
fn holds(subject: &Subject, control: Control, dt: f64, seconds: f64) -> Result<bool, Error> {
    let steps = ((seconds / dt).ceil() as usize).max(MIN_STEPS);
    let (mut tracker, held) = tracker(subject, control, dt, steps)?;
    let (model, root) = (&subject.model, root_dofs(&subject.model));
    let mut turn = vec![0.0; model.nv()];
    // What is not a number is not within reach either.
    let within =
        |values: &[f64], limit: f64| values.iter().enumerate().all(|(i, x)| root.contains(&i) || x.abs() <= limit);
    for step in 1..=steps as u64 {
        if tracker.step().is_err() || !within(&tracker.simulation().state().v, FAST) {
            return Ok(false);
        }
        if step.is_multiple_of(held) || step == steps as u64 {
            let (q, reference) = (&tracker.simulation().state().q, tracker.reference().at(step as usize));
            difference(&model.tree, reference, q, &mut turn);
            if !within(&turn, TURNED) {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// The time of a step, s: the median of runs.
fn frame(subject: &Subject, control: Control, dt: f64, seconds: f64, rounds: usize) -> Result<f64, Error> {
    let steps = ((seconds / dt).ceil() as usize).clamp(1, 20_000);
    let (mut tracker, _) = tracker(subject, control, dt, steps)?;
    let mut samples = Samples::default();
    for _ in 0..rounds {
        tracker.restart();
        samples.0.push(time(|| (0..steps).try_for_each(|_| Ok(tracker.step()?)))? / steps as f64);
    }
    Ok(samples.median())
}
