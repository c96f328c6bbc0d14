//! `sapwood run`.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use motion::tracking::Gains;
use multibody::{JointKind, Model};
use replay::Recording;
use sim::{Options, Pd, Simulation, SimulationError, State};

use crate::arguments::{OutputArguments, RunArguments, contact_name};
use crate::console::{self, print};
use crate::failure::{Failure, Kind, WrongOption};
use crate::output::{Document, Output, exit_code};
use crate::perturb::perturb;
use crate::progress::Progress;
use crate::scene;
use crate::signals::Signals;
use crate::summary::{Settings, Summary, Tally};

/// Simulates, prints the summary, and writes what was asked for; an error is bad input.
pub fn run(arguments: &RunArguments) -> Result<u8> {
    let OutputArguments { out, frames_per_second, json, quiet } = &arguments.output;
    let is_told = !json && !quiet;
    let output = out.as_deref().map(|folder| Output::create(folder, "energy.svg")).transpose()?;
    let mut simulation = prepare(arguments)?;
    // Until here there is nothing to be written.
    let signals = Signals::listen().context("signals")?;
    simulation.set_interrupt(signals.interrupt());
    let energy_start = simulation.energy();
    let mut recording = Recording::new(*frames_per_second, simulation.timestep()).with_stress(arguments.stress);
    let mut tally = Tally::default();
    if output.is_some() {
        recording.after_step(&mut simulation, 0);
    }

    if is_told {
        print(&heading(&simulation));
    }
    let steps = steps(arguments.time, simulation.timestep());
    let progress = Progress::new(steps, simulation.timestep(), *quiet);
    let recorded = output.is_some().then_some(&mut recording);
    let (wall_time, result) = simulate(&mut simulation, steps, &mut tally, progress, recorded);

    let interrupted = signals.came().filter(|_| matches!(result, Err(SimulationError::Interrupted { .. })));
    let error = result.err().map(|error| match interrupted {
        Some((signal, _)) => Failure::new(Kind::Interrupted, format!("interrupted by {signal}")),
        None => Failure::new(Kind::Simulation, error.to_string()),
    });
    let error = error.or_else(|| energy_overflow(&mut simulation));
    let summary = tally.summary(&mut simulation, wall_time, energy_start, settings(arguments), error);
    tell(&summary, steps, is_told);
    let files = output.map(|output| {
        recording.finish(&mut simulation);
        output.write(&simulation, &recording, &summary)
    });
    let completed = summary.completed;
    Document { summary, files: files.transpose()?.unwrap_or_default() }.tell(is_told, *json);
    Ok(exit_code(interrupted.map(|(_, code)| code), completed))
}

/// Masses and velocities whose numbers are finite, but not those of their energy.
fn energy_overflow(simulation: &mut Simulation) -> Option<Failure> {
    let energy = simulation.energy();
    let total = energy.kinetic + energy.potential;
    let time = simulation.state().time;
    let message = || format!("the energy is {total} J at {time} s: masses or velocities are too great");
    (!total.is_finite()).then(|| Failure::new(Kind::Simulation, message()))
}

/// Prints the summary, and what cut the run short.
fn tell(summary: &Summary, steps: u64, is_told: bool) {
    if is_told {
        print(&summary.to_string());
    }
    if let Some(Failure { kind, message, .. }) = &summary.error {
        let what = if *kind == Kind::Interrupted { "" } else { "the simulation failed: " };
        console::error(format!("{what}{message}\n       {} of {steps} steps were computed", summary.steps));
    }
}

fn prepare(arguments: &RunArguments) -> Result<Simulation> {
    let (start, step) = (&arguments.start, &arguments.step);
    let loaded = scene::load(arguments.model.as_ref(), start.ground, &start.read)?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let options = Options {
        timestep: step.dt,
        accuracy: step.accuracy,
        scheme: step.scheme,
        contact: step.contact,
        factorization_budget: step.factorization_budget.0,
        sleep_after: step.sleep_after,
        threads: step.threads.into(),
        ..Options::default()
    };
    let simulation = Simulation::new(model.clone(), scene, options);
    let mut simulation = simulation.map_err(|error| match error {
        SimulationError::Option { .. } => anyhow::Error::new(error).context("the options"),
        error => error.into(),
    })?;
    simulation.reset(start.keyframe.as_deref())?;
    if let Some(joints) = arguments.hold {
        hold(&model, simulation.state_mut(), joints)?;
    }
    if let Some(seed) = arguments.seed {
        perturb(&model, simulation.state_mut(), seed);
    }
    Ok(simulation)
}

/// Holds all joints where they are, by stable PD within their effort limits.
fn hold(model: &Model, state: &mut State, joints: [f64; 2]) -> Result<()> {
    let pd = Gains { joints, root: None }.controller(model, f64::INFINITY);
    if pd.kp.iter().chain(&pd.kd).all(|gain| *gain == 0.0) && joints != [0.0; 2] {
        let free = model.joints.iter().filter(|joint| joint.kind == JointKind::Free).count();
        let why = if free == 0 { "it has none".into() } else { format!("its {free} joints are all free") };
        let name = if model.name.is_empty() { "the model" } else { &model.name };
        return Err(WrongOption(format!(
            "--hold: {name} has no joint that could be held, {why}: expected hinges, slides or balls"
        ))
        .into());
    }
    state.pd = Pd { target: state.q.clone(), ..pd };
    Ok(())
}

/// The whole number of steps nearest to the simulated time that was asked for.
fn steps(time: f64, timestep: f64) -> u64 {
    (time / timestep).round() as u64
}

/// Steps until the end or the first failure; the seconds that the steps took.
fn simulate(
    simulation: &mut Simulation,
    steps: u64,
    tally: &mut Tally,
    mut progress: Progress,
    mut recording: Option<&mut Recording>,
) -> (f64, Result<(), SimulationError>) {
    let mut wall_time = 0.0;
    let mut result = Ok(());
    for step in 1..=steps {
        let start = Instant::now();
        result = simulation.step();
        wall_time += start.elapsed().as_secs_f64();
        if result.is_err() {
            break;
        }
        tally.add(simulation);
        if let Some(recording) = &mut recording {
            recording.after_step(simulation, step);
        }
        progress.after_step(step);
    }
    (wall_time, result)
}

fn settings(arguments: &RunArguments) -> Settings {
    let (start, step) = (&arguments.start, &arguments.step);
    Settings {
        scheme: step.scheme.to_string(),
        accuracy: step.accuracy,
        sleep_after: step.sleep_after,
        contact: contact_name(step.contact),
        factorization_budget: step.factorization_budget.0,
        keyframe: start.keyframe.clone(),
        seed: arguments.seed,
        hold: arguments.hold,
        threads: step.threads,
    }
}

fn heading(simulation: &Simulation) -> String {
    let model = simulation.model();
    format!(
        "{}: {} bodies, {} degrees of freedom, {} geoms, {:.4} kg\n",
        if model.name.is_empty() { "model" } else { &model.name },
        model.bodies.len() - 1,
        model.nv(),
        simulation.scene().geoms.len(),
        model.mass()
    )
}
