//! `sapwood track`.

use std::fmt;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use motion::tracking::{self, Control, Controller, End, Gains, LOST, Task, Tracking, errors_svg};
use motion::{LoopMode, RetargetOptions, Source, SourceOptions};
use multibody::Model;
use replay::with_ghost;
use serde::Serialize;

use crate::arguments::{ClipArguments, ControlArguments, Loop, OutputArguments, Switch, TrackArguments};
use crate::console::{self, print};
use crate::failure::{Failure, Kind};
use crate::output::{Document, Output, exit_code};
use crate::progress::Progress;
use crate::scene;
use crate::signals::Signals;

/// Lets a model follow a motion, prints how far from it it is, and writes what was asked for; an error is bad input.
pub fn track(arguments: &TrackArguments) -> Result<u8> {
    let OutputArguments { out, frames_per_second, json, quiet } = &arguments.output;
    let is_told = !json && !quiet;
    let output = out.as_deref().map(|folder| Output::create(folder, "error.svg")).transpose()?;
    let loaded = scene::load(Some(&arguments.model), arguments.ground, &arguments.read)?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let clip = Source::open(&arguments.clip.clip)?;
    let motion = clip.on(&model, &source_options(&arguments.clip))?;
    let task = Task {
        controller: controller(&arguments.control),
        dt: arguments.dt.unwrap_or(model.timestep),
        seconds: arguments.time,
        effectors: arguments.control.effector.clone(),
        lost: LOST,
        frames_per_second: if output.is_some() { *frames_per_second } else { 0.0 },
    };
    let signals = Signals::listen().context("signals")?;
    let mut progress = Progress::new((task.seconds / task.dt).round() as u64, task.dt, *quiet);
    let start = Instant::now();
    let tracking =
        tracking::track(&model, &scene, &motion, &task, &signals.interrupt(), |step| progress.after_step(step))?;
    let wall_time = start.elapsed().as_secs_f64();
    drop(progress);

    let interrupted = signals.came().filter(|_| tracking.end == End::Interrupted);
    let error = failure(&tracking, &task, interrupted.map(|(signal, _)| signal.to_string()));
    let summary = Summary::new(&model, &clip, motion.notes.clone(), &task, &tracking, wall_time, error);
    tell(&summary, is_told);
    let files = output.map(|output| -> Result<_> {
        let title = format!("{}, {}: {}, target {}", model.name, clip.name(), summary.control, summary.target);
        let svg = errors_svg(&title, &tracking)?;
        let (shown, all, recording) = with_ghost(&model, &scene, tracking.recording, &tracking.reference);
        let page = replay::page(&shown, &all, &recording, &summary);
        output.put(&summary, &svg, page, &shown, &recording)
    });
    let completed = summary.completed;
    Document { summary, files: files.transpose()?.unwrap_or_default() }.tell(is_told, *json);
    Ok(exit_code(interrupted.map(|(_, code)| code), completed))
}

fn source_options(arguments: &ClipArguments) -> SourceOptions {
    let ClipArguments { rename, scale, axes, keep_unnamed, r#loop, .. } = arguments;
    let retarget = RetargetOptions { axes: *axes, scale: *scale, rename: rename.clone(), keep_unnamed: *keep_unnamed };
    let mode = |mode| if mode == Loop::Wrap { LoopMode::Wrap } else { LoopMode::Clamp };
    SourceOptions { retarget, loop_mode: r#loop.map(mode) }
}

fn controller(arguments: &ControlArguments) -> Controller {
    let ControlArguments { control, target, hand_of_god, gains, root_gains, effort_limit, .. } = arguments;
    let root = (*hand_of_god == Switch::On).then_some(*root_gains);
    let gains = Gains { joints: *gains, root };
    Controller { control: *control, target: *target, gains, effort_limit: effort_limit.unwrap_or(f64::INFINITY) }
}

/// Why it ended before its time.
fn failure(tracking: &Tracking, task: &Task, signal: Option<String>) -> Option<Failure> {
    let at_fault = |what: String| {
        let advice = match task.controller {
            Controller { gains: Gains { root: None, .. }, .. } => {
                "nobody holds the root, and following a motion does not keep a balance; --hand-of-god on holds it"
            }
            Controller { control: Control::Unconditional, .. } => {
                "try a smaller --dt, other --gains or a greater --effort-limit"
            }
            _ => "try a smaller --dt, or --control stable, which is stable in any step and with any gains",
        };
        Some(Failure::new(Kind::Simulation, format!("{what}: {advice}")))
    };
    match &tracking.end {
        End::Completed => None,
        End::Interrupted => {
            let by = signal.map(|signal| format!(" by {signal}")).unwrap_or_default();
            Some(Failure::new(Kind::Interrupted, format!("interrupted{by}")))
        }
        End::Lost { body, time } => {
            at_fault(format!("{body} is more than {} m from its place, seen from the root, at {time:.3} s", task.lost))
        }
        End::Failed(error) => at_fault(error.to_string()),
    }
}

/// Prints the summary, and what cut the run short.
fn tell(summary: &Summary, is_told: bool) {
    if is_told {
        print(&summary.to_string());
    }
    if let Some(Failure { kind, message, .. }) = &summary.error {
        let what = if *kind == Kind::Interrupted { "" } else { "the motion was lost: " };
        let (made, all) = (summary.simulated_time, summary.duration);
        console::error(format!("{what}{message}\n       {made:.3} of {all} s were tracked"));
    }
}

/// What tracking came to; SI units.
#[derive(Debug, Serialize)]
struct Summary {
    sapwood: &'static str,
    model: String,
    clip: String,
    /// How the clip's joints, axes and units met the model's.
    clip_notes: Vec<String>,
    completed: bool,
    error: Option<Failure>,
    duration: f64,
    simulated_time: f64,
    timestep: f64,
    steps: usize,
    /// Recording included.
    wall_time: f64,
    real_time_factor: Option<f64>,
    control: &'static str,
    target: &'static str,
    hand_of_god: bool,
    gains: [f64; 2],
    root_gains: Option<[f64; 2]>,
    effort_limit: Option<f64>,
    errors: Errors,
    /// Contact points with an impulse, mean per step.
    contacts: f64,
    warnings: Vec<String>,
}

/// Roots of mean squares over all steps.
#[derive(Debug, Serialize)]
struct Errors {
    /// Of all effectors, seen from the root, m.
    rms: f64,
    /// Of the root in the world, m.
    root: f64,
    /// Of the joints, rad.
    joints: f64,
    worst: Option<Worst>,
    /// Of each effector, m.
    effectors: Vec<EffectorError>,
}

#[derive(Debug, Serialize)]
struct Worst {
    body: String,
    distance: f64,
    time: f64,
}

#[derive(Debug, Serialize)]
struct EffectorError {
    body: String,
    rms: f64,
}

impl Summary {
    fn new(
        model: &Model,
        clip: &Source,
        clip_notes: Vec<String>,
        task: &Task,
        tracking: &Tracking,
        wall_time: f64,
        error: Option<Failure>,
    ) -> Self {
        let Controller { control, target, gains, effort_limit } = task.controller;
        let steps = tracking.steps();
        let simulated_time = steps as f64 * task.dt;
        Self {
            sapwood: env!("CARGO_PKG_VERSION"),
            model: model.name.clone(),
            clip: clip.name().into(),
            clip_notes,
            completed: error.is_none(),
            error,
            duration: task.seconds,
            simulated_time,
            timestep: task.dt,
            steps,
            wall_time,
            real_time_factor: (steps > 0 && wall_time > 0.0).then(|| simulated_time / wall_time),
            control: control.name(),
            target: target.name(),
            hand_of_god: gains.root.is_some(),
            gains: gains.joints,
            root_gains: gains.root,
            effort_limit: Some(effort_limit).filter(|limit| limit.is_finite()),
            errors: Errors::of(tracking),
            contacts: tracking.contacts,
            warnings: model.warnings.iter().map(ToString::to_string).collect(),
        }
    }
}

impl Errors {
    fn of(tracking: &Tracking) -> Self {
        let worst = tracking.worst();
        let effectors = tracking.effectors.iter().enumerate();
        Self {
            rms: tracking.rms(),
            root: tracking.root_rms(),
            joints: tracking.joint_rms(),
            worst: worst.map(|(distance, body, time)| Worst { body: body.into(), distance, time }),
            effectors: effectors
                .map(|(k, body)| EffectorError { body: body.clone(), rms: tracking.effector_rms(k) })
                .collect(),
        }
    }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut row = |name: &str, value: String| writeln!(f, "  {name:<20} {value}");
        let real_time = self.real_time_factor.map_or(String::new(), |factor| format!(", {factor:.1} × real time"));
        row("motion", format!("{} on {}", self.clip, self.model))?;
        self.clip_notes.iter().try_for_each(|note| row("", note.clone()))?;
        let root = if self.hand_of_god { "root held by the hand of God" } else { "root free" };
        row("control", format!("{}, target {}, {root}", self.control, self.target))?;
        row(
            "tracked",
            format!("{:.3} s in {} steps of {:.3} ms", self.simulated_time, self.steps, self.timestep * 1e3),
        )?;
        row("wall time", format!("{:.3} s{real_time}", self.wall_time))?;
        row("contacts", format!("mean {:.1}", self.contacts))?;
        let Errors { rms, root, joints, worst, effectors } = &self.errors;
        row(
            "error",
            format!("{:.2} mm seen from the root (root mean square), joints {:.3}°", 1e3 * rms, joints.to_degrees()),
        )?;
        for EffectorError { body, rms } in effectors {
            row("", format!("{:.2} mm  {body}", 1e3 * rms))?;
        }
        row("root", format!("{:.2} mm from its place in the world", 1e3 * root))?;
        if let Some(Worst { body, distance, time }) = worst {
            row("worst", format!("{:.2} mm, {body} at {time:.3} s", 1e3 * distance))?;
        }
        row(
            "warnings",
            match self.warnings.len() {
                0 => "none".into(),
                n => format!("{n}: sapwood info lists them"),
            },
        )
    }
}
