//! Suite `spd`: what Stable PD costs by each method (the paper's tables 2 and 3).
//!
//! A frame is one step of a tracker: the controller's force, forward dynamics, contact with the ground, integration; one thread.
//! Reference poses are made beforehand. MABA acts within the step; the other methods find q̈, form τ = Q − dt K_d q̈ (the
//! cheapest way, to their favour), and a plain step follows.
//!
//! All methods are timed on the same frames: each starts from the state that the run with MABA had there. (Left alone, two-pass
//! methods go another way where there is contact, up to divergence: see [`crate::accuracy`].)
//!
//! *Extra time* is the share of a frame that is gone when the controller's force is known: the same frames are replayed with the
//! force as a constant. For the two-pass methods that is τ. For MABA it is −K_p (q ⊞ dt q̇ ⊟ q̄), with K_d as damping of the
//! model's joints, which a step has in its factor anyway: factorisation and contact are the same, and what is left is what MABA
//! adds to them.
//!
//! *At equal contact*: two-pass methods leave other work to contact than MABA does, as its controlled joints meet contact and theirs
//! do not. So the controller's force alone is timed, too, on the same states; a two-pass frame at equal contact takes this and MABA's
//! frame without control.
//!
//! Every round times all methods and all replays once, a whole run each, in turn; medians over rounds stand aside from noise.

use motion::tracking::{Control, Torque, Tracker};
use sim::stable_pd::Method;

use crate::clock::{Samples, time};
use crate::row::{Row, key};
use crate::{Error, Replay, States, Subject, cases};

/// The methods of the table, in its order.
pub const CONTROLS: [Control; 4] = [
    Control::TwoPass(Method::Dense, Torque::RoundTrip),
    Control::TwoPass(Method::Pcg, Torque::RoundTrip),
    Control::TwoPass(Method::Sparse, Torque::RoundTrip),
    Control::Embedded,
];

const SUITE: &str = "spd";

/// How long to measure.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Simulated time of a run, s.
    pub seconds: f64,
    /// Rounds of all methods.
    pub rounds: usize,
}

impl Effort {
    /// For figures that are quoted.
    pub const FULL: Self = Self { seconds: 4.0, rounds: 15 };
    /// To see that it works.
    pub const QUICK: Self = Self { seconds: 0.2, rounds: 1 };
}

/// The time of a frame by one method.
#[derive(Clone, Debug)]
pub struct MethodTime {
    /// The method.
    pub control: Control,
    /// Seconds per frame.
    pub frame: Samples,
    /// Seconds per frame of the replay.
    pub replayed: Samples,
    /// Seconds per frame until the controller's force or target is known.
    pub alone: Samples,
}

impl MethodTime {
    /// Frames per second, by the median.
    pub fn frames_per_second(&self) -> f64 {
        1.0 / self.frame.median()
    }

    /// Extra time of Stable PD, share of a frame.
    pub fn extra(&self) -> f64 {
        self.frame.share_beyond(&self.replayed)
    }
}

/// A row of the table.
#[derive(Clone, Debug)]
pub struct Measured {
    /// The character.
    pub character: &'static str,
    /// Its motion.
    pub motion: String,
    /// By method, as [`CONTROLS`].
    pub methods: Vec<MethodTime>,
    /// Seconds per frame with MABA and no ground.
    pub in_the_air: Samples,
    /// Contacts that push per frame, in the mean over the run with MABA.
    pub contacts: f64,
    /// Newton iterations per frame, likewise.
    pub iterations: f64,
}

impl Measured {
    /// The name of the case.
    pub fn name(&self) -> String {
        format!("{} {}", self.character, self.motion)
    }

    /// MABA.
    pub fn maba(&self) -> &MethodTime {
        &self.methods[CONTROLS.len() - 1]
    }

    /// Seconds per frame by a method that leaves MABA's work to contact: its force alone, and MABA's frame without control. MABA's is
    /// its frame.
    pub fn at_equal_contact(&self, method: &MethodTime) -> f64 {
        if method.control == Control::Embedded {
            return method.frame.median();
        }
        method.alone.median() + self.maba().replayed.median()
    }

    /// The figures.
    pub fn rows(&self) -> Vec<Row> {
        let case = self.name();
        let mut rows = Vec::new();
        let mut add = |metric: String, value, unit| rows.push(Row::new(SUITE, &case, metric, value, unit));
        for method in &self.methods {
            let key = key(method.control);
            add(format!("{key}_frames_per_second"), method.frames_per_second(), "1/s");
            add(format!("{key}_frame_least"), 1e6 * method.frame.least(), "us");
            add(format!("{key}_extra_time"), 100.0 * method.extra(), "%");
            if method.control != Control::Embedded {
                let ratio = method.frame.median() / self.maba().frame.median();
                add(format!("maba_over_{key}"), ratio, "ratio");
                let ratio = self.at_equal_contact(method) / self.maba().frame.median();
                add(format!("maba_over_{key}_at_equal_contact"), ratio, "ratio");
                add(format!("{key}_alone"), 1e6 * method.alone.median(), "us");
            }
        }
        add("maba_frames_per_second_in_the_air".into(), 1.0 / self.in_the_air.median(), "1/s");
        add("active_contacts".into(), self.contacts, "1/frame");
        add("newton_iterations".into(), self.iterations, "1/frame");
        rows
    }
}

/// Measures one character in one motion.
///
/// # Errors
/// When a method does not get to the end.
pub fn measure(subject: &Subject, effort: Effort) -> Result<Measured, Error> {
    let dt = cases::time_step(subject.character);
    let steps = (effort.seconds / dt).round().max(1.0) as usize;
    let states = States::of(&mut subject.tracker(Control::Embedded, dt, steps)?)?;
    let mut runs = Vec::with_capacity(CONTROLS.len());
    for control in CONTROLS {
        let mut tracker = subject.tracker(control, dt, steps)?;
        let replay = Replay::of(&mut tracker, subject, &states)?;
        let empty = Samples::default;
        let times = MethodTime { control, frame: empty(), replayed: empty(), alone: empty() };
        runs.push((tracker, replay, times));
    }
    let (mut flight, mut in_the_air) =
        (subject.clone().in_the_air()?.tracker(Control::Embedded, dt, steps)?, Samples::default());
    let (model, per_frame) = (&subject.model, 1.0 / steps as f64);
    for _ in 0..effort.rounds {
        for (tracker, replay, times) in &mut runs {
            tracker.restart();
            replay.restart()?;
            let frame = time(|| {
                states.iter(model).try_for_each(|(q, v)| {
                    tracker.place(q, v);
                    Ok(tracker.step()?)
                })
            })?;
            let replayed = time(|| {
                states.iter(model).try_for_each(|(q, v)| {
                    replay.place(q, v);
                    replay.step()
                })
            })?;
            tracker.restart();
            let alone = time(|| {
                states.iter(model).zip(0..).try_for_each(|((q, v), step)| {
                    tracker.place(q, v);
                    tracker.simulation_mut().state_mut().step = step;
                    Ok(tracker.control()?)
                })
            })?;
            times.alone.0.push(per_frame * alone);
            times.frame.0.push(per_frame * frame);
            times.replayed.0.push(per_frame * replayed);
        }
        flight.restart();
        in_the_air.0.push(per_frame * time(|| (0..steps).try_for_each(|_| Ok(flight.step()?)))?);
    }
    let (contacts, iterations) = busy(&mut runs[CONTROLS.len() - 1].0, steps)?;
    Ok(Measured {
        character: subject.character.name(),
        motion: subject.motion_name.clone(),
        methods: runs.into_iter().map(|(_, _, times)| times).collect(),
        in_the_air,
        contacts,
        iterations,
    })
}

/// Contacts that push and Newton iterations per frame.
fn busy(tracker: &mut Tracker, steps: usize) -> Result<(f64, f64), Error> {
    tracker.restart();
    let (mut contacts, mut iterations) = (0, 0);
    for _ in 0..steps {
        tracker.step()?;
        contacts += tracker.simulation().stats().active_contacts;
        iterations += tracker.simulation().stats().iterations;
    }
    Ok((contacts as f64 / steps as f64, iterations as f64 / steps as f64))
}
