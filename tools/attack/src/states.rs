//! States with bytes changed, and with numbers that none expects.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, ensure};
use formats::LoadOptions;
use sim::{Options, Simulation};
use support::SplitMix64;

use crate::mutate;
use crate::outcome::{REFUSED, SIMULATED, refused, step};
use crate::seeds::Corpus;

/// Numbers at the edges.
const EXTREMES: [f64; 10] =
    [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -1e300, 1e30, 1e9, 1e-308, -0.0, 1e6];

/// A simulation that goes on from a state that it would not have come to by itself.
pub fn run(random: &mut SplitMix64, corpus: &Corpus, folder: &Path) -> Result<&'static str> {
    let text = &corpus.own_model(random).text;
    fs::write(folder.join("model.xml"), text)?;
    let Ok(loaded) = formats::load_str(text, None, &LoadOptions::default()) else { return Ok(REFUSED) };
    if loaded.model.nv() > 150 {
        return Ok(REFUSED);
    }
    let options = Options { sleep_after: (random.below(4) == 0).then_some(0.001), ..Options::default() };
    let Ok(mut simulation) = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options) else {
        return Ok(REFUSED);
    };
    for _ in 0..random.below(3) {
        if simulation.step().is_err() {
            return Ok(REFUSED);
        }
    }
    if random.below(2) == 0 { restore(&mut simulation, random, folder) } else { set(&mut simulation, random) }
}

/// Goes on from mutated bytes; those that are refused leave the state as it was.
fn restore(simulation: &mut Simulation, random: &mut SplitMix64, folder: &Path) -> Result<&'static str> {
    let before = simulation.state().clone();
    let bytes = mutate::bytes(before.to_bytes(), random);
    fs::write(folder.join("state.bin"), &bytes)?;
    if let Err(error) = simulation.state_mut().restore(&bytes) {
        ensure!(*simulation.state() == before, "bytes that are refused have changed the state");
        return refused(&error.to_string());
    }
    step(simulation)?;
    Ok(SIMULATED)
}

/// Goes on from numbers at the edges.
fn set(simulation: &mut Simulation, random: &mut SplitMix64) -> Result<&'static str> {
    for _ in 0..1 + random.below(3) {
        let state = simulation.state_mut();
        let vectors =
            [&mut state.q, &mut state.v, &mut state.ctrl, &mut state.applied_force, &mut state.applied_wrench];
        let vector = vectors.into_iter().nth(random.below(5)).filter(|vector| !vector.is_empty());
        if let Some(vector) = vector {
            let at = random.below(vector.len());
            vector[at] = EXTREMES[random.below(EXTREMES.len())];
        }
        match random.below(12) {
            0 => state.time = EXTREMES[random.below(EXTREMES.len())],
            1 => state.step = u64::MAX,
            2 => state.q.pop().map_or((), drop),
            3 => state.v.push(0.0),
            _ => {}
        }
    }
    step(simulation)?;
    Ok(SIMULATED)
}
