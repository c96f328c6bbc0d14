//! The largest time step with which a method tracks, and how many characters one core then simulates in real time (the paper's
//! figure 1).

use motion::tracking::{Control, Controller, Effectors, LOST, Reference, Tracker, root_dofs};
use multibody::difference;

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
    /// The largest step in which no limb's end is 1 m from its place, s, within 2 %.
    pub dt: f64,
    /// Whether greater steps fail, or the search began here.
    pub is_bounded: bool,
    /// The largest step in which no joint is off by 2 rad either, s.
    pub dt_of_joints: f64,
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
            add("largest_step_of_joints", method.dt_of_joints, "s");
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
    let (dt, is_bounded) = largest(|dt| holds(subject, control, dt, seconds, Criterion::Ends))?;
    let (dt_of_joints, _) = largest(|dt| holds(subject, control, dt, seconds, Criterion::Joints))?;
    let outcome = Outcome::of(subject, effector, Controller::of_paper(control), dt, seconds.min(1e5 * dt))?;
    let frame = frame(subject, control, dt, seconds, effort.rounds)?;
    let is_usable = paper_dt <= dt && holds(subject, control, paper_dt, seconds, Criterion::Ends)?;
    let frame_at_paper =
        is_usable.then(|| self::frame(subject, control, paper_dt, seconds, effort.rounds)).transpose()?;
    Ok(Usable { control, seconds, dt, is_bounded, dt_of_joints, outcome, frame, frame_at_paper })
}

/// The largest step that holds, and whether larger ones were found not to.
fn largest(holds: impl Fn(f64) -> Result<bool, Error>) -> Result<(f64, bool), Error> {
    let (mut dt, mut fails) = (LARGEST, 2.0 * LARGEST);
    while dt > LEAST && !holds(dt)? {
        (dt, fails) = (0.5 * dt, dt);
    }
    let is_bounded = fails <= LARGEST;
    while is_bounded && fails / dt > RESOLUTION {
        let middle = (dt * fails).sqrt();
        if holds(middle)? {
            dt = middle;
        } else {
            fails = middle;
        }
    }
    Ok((dt, is_bounded))
}

/// What may not happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Criterion {
    /// An end of the figure is more than [`LOST`] from its place, seen from the root, which is what the paper measures.
    Ends,
    /// A joint is off by more than [`TURNED`], after any step: what turns a foot over, and takes no limb's end far.
    Joints,
}

fn tracker(subject: &Subject, control: Control, dt: f64, steps: usize) -> Result<Tracker, Error> {
    let held = (HELD / dt).floor().max(1.0) as usize;
    let reference = Reference::held(&subject.model, &subject.motion, dt, steps, held)?;
    Ok(Tracker::new(&subject.model, &subject.scene, reference, Controller::of_paper(control))?)
}

/// Whether nothing is lost for so long.
fn holds(subject: &Subject, control: Control, dt: f64, seconds: f64, criterion: Criterion) -> Result<bool, Error> {
    let steps = ((seconds / dt).ceil() as usize).max(MIN_STEPS);
    let mut tracker = tracker(subject, control, dt, steps)?;
    let (model, root) = (&subject.model, root_dofs(&subject.model));
    let (mut ends, mut off) = (Effectors::ends(model), vec![0.0; model.nv()]);
    for step in 1..=steps {
        if tracker.step().is_err() {
            return Ok(false);
        }
        let (q, reference) = (&tracker.simulation().state().q, tracker.reference().at(step));
        let limit = if criterion == Criterion::Ends {
            ends.compare(model, q, reference, &mut off);
            LOST
        } else {
            difference(&model.tree, reference, q, &mut off);
            off[root.clone()].fill(0.0);
            TURNED
        };
        // What is not a number is not within reach either.
        if !off.iter().all(|x| x.abs() <= limit) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The time of a step, s: the median of runs.
fn frame(subject: &Subject, control: Control, dt: f64, seconds: f64, rounds: usize) -> Result<f64, Error> {
    let steps = ((seconds / dt).ceil() as usize).clamp(1, 20_000);
    let mut tracker = tracker(subject, control, dt, steps)?;
    let mut samples = Samples::default();
    for _ in 0..rounds {
        tracker.restart();
        samples.0.push(time(|| (0..steps).try_for_each(|_| Ok(tracker.step()?)))? / steps as f64);
    }
    Ok(samples.median())
}
