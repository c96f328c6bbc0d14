//! `sapwood run`.

use std::io::{IsTerminal, stderr};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, Result};
use indicatif::{ProgressBar, ProgressStyle};
use replay::Recording;
use sim::{Options, Simulation, SimulationError};

use crate::arguments::RunArguments;
use crate::console::print;
use crate::output::Output;
use crate::perturb::perturb;
use crate::signals::Signals;
use crate::summary::{Settings, Tally};
use crate::{FAILED, scene};

/// Simulates, prints the summary, and writes what was asked for; an error is bad input.
pub fn run(arguments: &RunArguments) -> Result<ExitCode> {
    let output = arguments.out.as_deref().map(Output::create).transpose()?;
    let mut simulation = prepare(arguments)?;
    // Until here there is nothing to be written.
    let signals = Signals::listen().context("signals")?;
    simulation.set_interrupt(signals.interrupt());
    let energy_start = simulation.energy();
    let mut recording = Recording::new(arguments.frames_per_second, simulation.timestep());
    let mut tally = Tally::default();
    if output.is_some() {
        recording.after_step(&mut simulation, 0);
    }

    print(&heading(&simulation));
    let steps = steps(arguments.time, simulation.timestep());
    let (wall_time, result) = simulate(&mut simulation, steps, &mut tally, output.is_some().then_some(&mut recording));

    let interrupted = signals.came().filter(|_| matches!(result, Err(SimulationError::Interrupted { .. })));
    let error = result.err().map(|error| match interrupted {
        Some((signal, _)) => format!("interrupted by {signal}"),
        None => error.to_string(),
    });
    let summary = tally.summary(&mut simulation, wall_time, energy_start, settings(arguments), error);
    print(&summary.to_string());
    if let Some(error) = &summary.error {
        let what = if interrupted.is_some() { "" } else { "the simulation failed: " };
        eprintln!("error: {what}{error}");
        eprintln!("       {} of {steps} steps were computed", summary.steps);
    }
    if let Some(output) = output {
        recording.finish(&mut simulation);
        output.write(&simulation, &recording, &summary)?;
    }
    Ok(match interrupted {
        Some((_, code)) => ExitCode::from(code),
        None if summary.completed => ExitCode::SUCCESS,
        None => ExitCode::from(FAILED),
    })
}

fn prepare(arguments: &RunArguments) -> Result<Simulation> {
    let mut loaded = scene::load(arguments.model.as_ref(), arguments.ground.is_none(), &arguments.read)?;
    if let Some(height) = arguments.ground {
        formats::add_ground(&mut loaded, height);
    }
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let options = Options {
        timestep: arguments.dt,
        accuracy: arguments.accuracy,
        scheme: arguments.scheme,
        contact: arguments.contact,
        factorization_budget: arguments.factorization_budget.0,
        sleep_after: arguments.sleep_after,
        threads: arguments.threads.into(),
        ..Options::default()
    };
    let simulation = Simulation::new(model.clone(), scene, options);
    let mut simulation = simulation.map_err(|error| match error {
        SimulationError::Option { .. } => anyhow::Error::new(error).context("the options"),
        error => error.into(),
    })?;
    simulation.reset(arguments.keyframe.as_deref())?;
    if let Some(seed) = arguments.seed {
        perturb(&model, simulation.state_mut(), seed);
    }
    Ok(simulation)
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
    mut recording: Option<&mut Recording>,
) -> (f64, Result<(), SimulationError>) {
    let bar = progress_bar(steps);
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
        if step.is_multiple_of(16) {
            bar.set_position(step);
        }
    }
    bar.finish_and_clear();
    (wall_time, result)
}

fn progress_bar(steps: u64) -> ProgressBar {
    if !stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} %  {pos}/{len} steps  {eta} left");
    ProgressBar::new(steps).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

fn settings(arguments: &RunArguments) -> Settings {
    Settings {
        scheme: arguments.scheme.to_string(),
        accuracy: arguments.accuracy,
        sleep_after: arguments.sleep_after,
        contact: match arguments.contact {
            sim::ContactLaw::Sap => "sap",
            sim::ContactLaw::Lagged => "lagged",
            sim::ContactLaw::Coulomb => "coulomb",
        },
        factorization_budget: arguments.factorization_budget.0,
        keyframe: arguments.keyframe.clone(),
        seed: arguments.seed,
        threads: arguments.threads,
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
