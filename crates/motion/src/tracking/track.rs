//! A motion tracked from its beginning to its end, and what came of it.

use std::sync::Arc;

use crate::BoundMotion;
use geometry::Scene;
use multibody::Model;
use replay::Recording;
use sim::SimulationError;
use support::Interrupt;

use super::control::root_dofs;
use super::reference::{Effectors, joint_error};
use super::{Controller, Error, Reference, Tracker};

/// A body that is this far from where it should be, as seen from the root, will not come back, m.
pub const LOST: f64 = 1.0;

/// What is tracked, and for how long.
#[derive(Clone, Debug)]
pub struct Task {
    /// The controller.
    pub controller: Controller,
    /// The time step, s.
    pub dt: f64,
    /// How long, s.
    pub seconds: f64,
    /// Bodies whose place is compared, by name; none: the ends of the figure.
    pub effectors: Vec<String>,
    /// Distance from its place at which a body counts as lost and the run ends, m.
    pub lost: f64,
    /// Frames to record per second; 0 for the first and the last alone.
    pub frames_per_second: f64,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// At the end of its time.
    Completed,
    /// A body was too far from its place, seen from the root, at this time, s.
    Lost {
        /// The body's name.
        body: String,
        /// When, s.
        time: f64,
    },
    /// A step failed.
    Failed(SimulationError),
    /// Somebody ended it.
    Interrupted,
}

/// What a run came to. Errors are of the end of each step, the start first.
#[derive(Debug)]
pub struct Tracking {
    /// How it ended.
    pub end: End,
    /// Times, (n), s.
    pub time: Vec<f64>,
    /// The bodies that were compared.
    pub effectors: Vec<String>,
    /// Distance of every body from its place, seen from the root, (n, effectors), m.
    pub effector_errors: Vec<f64>,
    /// Distance of the root from its place in the world, (n), m.
    pub root_error: Vec<f64>,
    /// Root mean square of the joints' errors, (n), rad.
    pub joint_error: Vec<f64>,
    /// The motion.
    pub recording: Recording,
    /// Configurations of the reference at the recording's frames, (frames, nq).
    pub reference: Vec<f64>,
    /// Contact points that pushed, mean per step.
    pub contacts: f64,
}

impl Tracking {
    /// Root of the mean square of an effector's error over the run without its start, m.
    pub fn effector_rms(&self, effector: usize) -> f64 {
        let n = self.effectors.len();
        rms(self.effector_errors.iter().skip(n + effector).step_by(n.max(1)))
    }

    /// The same of all effectors together, m.
    pub fn rms(&self) -> f64 {
        rms(self.effector_errors.iter().skip(self.effectors.len()))
    }

    /// The same of the root, m.
    pub fn root_rms(&self) -> f64 {
        rms(self.root_error.iter().skip(1))
    }

    /// The same of the joints, rad.
    pub fn joint_rms(&self) -> f64 {
        rms(self.joint_error.iter().skip(1))
    }

    /// The greatest error of any effector, m, which it is, and when, s.
    pub fn worst(&self) -> Option<(f64, &str, f64)> {
        let n = self.effectors.len();
        let (k, error) = self.effector_errors.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1))?;
        Some((*error, &self.effectors[k % n], self.time[k / n]))
    }

    /// Steps that were made.
    pub fn steps(&self) -> usize {
        self.time.len().saturating_sub(1)
    }
}

fn rms<'a>(values: impl Iterator<Item = &'a f64>) -> f64 {
    let (sum, count) = values.fold((0.0, 0_usize), |(sum, count), x| (sum + x * x, count + 1));
    (sum / count.max(1) as f64).sqrt()
}

/// Tracks a motion. `after_step` is told of every step, for those who show how far it has come.
///
/// # Errors
/// When the task is refused; a run that goes wrong is a result.
pub fn track(
    model: &Arc<Model>,
    scene: &Arc<Scene>,
    motion: &BoundMotion,
    task: &Task,
    interrupt: &Interrupt,
    mut after_step: impl FnMut(u64),
) -> Result<Tracking, Error> {
    check(task)?;
    let steps = (task.seconds / task.dt).round().max(1.0) as usize;
    let reference = Reference::new(model, motion, task.dt, steps)?;
    let effectors =
        if task.effectors.is_empty() { Effectors::ends(model) } else { Effectors::named(model, &task.effectors)? };
    let mut tracker = Tracker::new(model, scene, reference, task.controller)?;
    tracker.simulation_mut().set_interrupt(interrupt.clone());
    let mut run = Run::new(model, effectors, task, tracker.simulation().timestep());
    run.after_step(&mut tracker, 0);
    for step in 1..=steps as u64 {
        match tracker.step() {
            Ok(()) => {}
            Err(Error::Simulation(SimulationError::Interrupted { .. })) => {
                run.out.end = End::Interrupted;
                break;
            }
            Err(Error::Simulation(error)) => {
                run.out.end = End::Failed(error);
                break;
            }
            Err(error) => return Err(error),
        }
        if let Some(body) = run.after_step(&mut tracker, step) {
            run.out.end = End::Lost { body, time: step as f64 * task.dt };
            break;
        }
        after_step(step);
    }
    Ok(run.finish(&mut tracker))
}

fn check(task: &Task) -> Result<(), Error> {
    let numbers = [("the time step", task.dt), ("the time", task.seconds), ("the distance of loss", task.lost)];
    for (name, value) in numbers {
        if !(value.is_finite() && value > 0.0) {
            return Err(Error::Option { name, value, expected: "a finite number above 0" });
        }
    }
    let (name, value) = ("the rate of frames", task.frames_per_second);
    if !(value.is_finite() && value >= 0.0) {
        return Err(Error::Option { name, value, expected: "a finite number, 0 or more" });
    }
    Ok(())
}

/// A run that is being made.
struct Run<'a> {
    model: &'a Model,
    effectors: Effectors,
    lost: f64,
    root: std::ops::Range<usize>,
    distances: Vec<f64>,
    scratch: Vec<f64>,
    contacts: usize,
    out: Tracking,
}

impl<'a> Run<'a> {
    fn new(model: &'a Model, effectors: Effectors, task: &Task, timestep: f64) -> Self {
        let out = Tracking {
            end: End::Completed,
            time: Vec::new(),
            effectors: effectors.names.clone(),
            effector_errors: Vec::new(),
            root_error: Vec::new(),
            joint_error: Vec::new(),
            // No step is a multiple of the stride that 0 leads to.
            recording: Recording::new(task.frames_per_second, timestep),
            reference: Vec::new(),
            contacts: 0.0,
        };
        let root = root_dofs(model);
        Self { model, effectors, lost: task.lost, root, distances: Vec::new(), scratch: Vec::new(), contacts: 0, out }
    }

    /// Notes a step; the name of a body that is lost.
    fn after_step(&mut self, tracker: &mut Tracker, step: u64) -> Option<String> {
        let frames = self.out.recording.len();
        self.out.recording.after_step(tracker.simulation_mut(), step);
        let (q, reference) = (&tracker.simulation().state().q, tracker.reference().at(step as usize));
        if self.out.recording.len() > frames {
            self.out.reference.extend_from_slice(reference);
        }
        let root = self.effectors.compare(self.model, q, reference, &mut self.distances);
        self.out.time.push(step as f64 * tracker.reference().dt);
        self.out.root_error.push(root);
        self.out.joint_error.push(joint_error(self.model, q, reference, &self.root, &mut self.scratch));
        self.out.effector_errors.extend_from_slice(&self.distances);
        if step > 0 {
            self.contacts += tracker.simulation().stats().active_contacts;
        }
        // What is not a number is not within reach either.
        let lost = self.distances.iter().position(|&distance| distance.is_nan() || distance > self.lost)?;
        Some(self.effectors.names[lost].clone())
    }

    fn finish(mut self, tracker: &mut Tracker) -> Tracking {
        let frames = self.out.recording.len();
        self.out.recording.finish(tracker.simulation_mut());
        if self.out.recording.len() > frames {
            let last = tracker.reference().at(self.out.steps());
            self.out.reference.extend_from_slice(last);
        }
        self.out.contacts = self.contacts as f64 / self.out.steps().max(1) as f64;
        self.out
    }
}
