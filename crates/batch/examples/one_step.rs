//! Compares steps in lanes with those of a simulation from the same states, along runs under random controls.
//!
//! `one_step MODEL [--steps N] [--range R] [--lanes N] [--tolerance X] [--single] [--euler] [--law sap|lagged|coulomb] [--show X]`, where
//! controls are in ±R, and steps that differ by more than X, relative to the greatest change of a velocity or position, are listed.

use std::sync::Arc;

use sapwood_batch::{Batch, BatchOptions, Precision};
use sim::{ContactLaw, Options, Scheme, Simulation};
use support::SplitMix64;

/// Steps that a control holds.
const HOLD: usize = 25;

struct Arguments {
    model: String,
    steps: usize,
    range: f64,
    lanes: usize,
    show: f64,
    precision: Precision,
    options: Options,
}

fn arguments() -> Result<Arguments, Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let model = args.next().ok_or("expected a model file")?;
    let mut these = Arguments {
        model,
        steps: 2000,
        range: 1.0,
        lanes: 4,
        show: f64::INFINITY,
        precision: Precision::F64,
        options: Options::default(),
    };
    while let Some(name) = args.next() {
        let mut value = || args.next().ok_or(format!("expected a value for {name}"));
        match name.as_str() {
            "--steps" => these.steps = value()?.parse()?,
            "--range" => these.range = value()?.parse()?,
            "--lanes" => these.lanes = value()?.parse()?,
            "--show" => these.show = value()?.parse()?,
            "--tolerance" => these.options.tolerance = value()?.parse()?,
            "--single" => these.precision = Precision::F32,
            "--euler" => these.options.scheme = Scheme::SymplecticEuler,
            "--law" => {
                these.options.contact = match value()?.as_str() {
                    "sap" => ContactLaw::Sap,
                    "lagged" => ContactLaw::Lagged,
                    "coulomb" => ContactLaw::Coulomb,
                    other => return Err(format!("{other}: expected sap, lagged or coulomb").into()),
                }
            }
            other => return Err(format!("{other}: no such argument").into()),
        }
    }
    Ok(these)
}

/// A step of one world.
struct Outcome {
    error: f64,
    dof: usize,
    step: usize,
    world: usize,
    left: u64,
    pushing: usize,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let Arguments { model, steps, range, lanes, show, precision, options } = arguments()?;
    let loaded = formats::load(model.as_ref(), &formats::LoadOptions::default())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let (nq, nv, nu) = (model.nq(), model.nv(), model.nu());
    let mut batch_options = BatchOptions::default();
    (batch_options.precision, batch_options.simulation) = (precision, options.clone());
    (batch_options.lanes, batch_options.threads) = (Some(lanes), Some(1));
    let mut batch = Batch::new(model.clone(), scene.clone(), lanes, batch_options)?;
    if let Some(reason) = batch.alone() {
        println!("not in lanes: {reason}");
    }
    let mut runs = Vec::new();
    for seed in 0..lanes as u64 {
        let mut run = Simulation::new(model.clone(), scene.clone(), options.clone())?;
        let mut random = SplitMix64(seed);
        run.state_mut().v.iter_mut().for_each(|v| *v = random.symmetric());
        runs.push((run, random));
    }
    let mut outcomes = Vec::new();
    for step in 0..steps {
        for (world, (run, random)) in runs.iter_mut().enumerate() {
            let state = run.state_mut();
            if step % HOLD == 0 {
                state.ctrl.iter_mut().for_each(|u| *u = random.uniform(-range, range));
            }
            // What either remembers of the step before is left out.
            state.warm_start.clear();
            state.extrapolation.clear();
            batch.forget(world);
            batch.q_mut()[world * nq..][..nq].copy_from_slice(&state.q);
            batch.v_mut()[world * nv..][..nv].copy_from_slice(&state.v);
            batch.ctrl_mut()[world * nu..][..nu].copy_from_slice(&state.ctrl);
        }
        let before = batch.stats().left;
        batch.step(1)?;
        let left = batch.stats().left - before;
        for (world, (run, _)) in runs.iter_mut().enumerate() {
            let (start_q, start) = (run.state().q.clone(), run.state().v.clone());
            run.step()?;
            let end = &run.state().v;
            let change =
                end.iter().zip(&start).fold(9.81 * run.timestep(), |most, (a, b)| f64::max(most, (a - b).abs()));
            let differences = end.iter().zip(&batch.v()[world * nv..]).map(|(a, b)| (a - b).abs() / change);
            let (dof, error) = differences.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap_or_default();
            let moved = run
                .state()
                .q
                .iter()
                .zip(&start_q)
                .fold(run.timestep() * change, |most, (a, b)| f64::max(most, (a - b).abs()));
            let of_q = run
                .state()
                .q
                .iter()
                .zip(&batch.q()[world * nq..])
                .fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs()))
                / moved;
            let error = f64::max(error, of_q);
            let pushing = run.stats().active_contacts;
            if error > show {
                println!("step {step}, world {world}: {error:.2e} at {dof}, {:?}", run.stats());
            }
            outcomes.push(Outcome { error, dof, step, world, left, pushing });
        }
    }
    outcomes.sort_by(|a, b| b.error.total_cmp(&a.error));
    println!("{:?}", batch.stats());
    for Outcome { error, dof, step, world, left, pushing } in outcomes.iter().take(12) {
        println!("step {step}, world {world}: {error:.2e} at {dof}, {left} of its group left, {pushing} push");
    }
    let at = |part: usize| outcomes[outcomes.len() / part].error;
    println!("median {:.2e}, upper hundredth {:.2e}", at(2), at(100));
    Ok(())
}
