//! One case: what is made of a seed and a number, and what is done with it.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Result;
use formats::{LoadOptions, Loaded};
use models::characters;
use motion::{Binding, BindingOptions, Motion, Posture, bvh, deepmimic};
use sim::{ContactLaw, Options, Scheme, Simulation};
use support::SplitMix64;

use crate::outcome::{REFUSED, SIMULATED, refused, step};
use crate::seeds::Corpus;
use crate::{meshes, mutate, seeds, states};

/// Models beyond these sizes are loaded only: their steps take long and show nothing new.
const MAX_DOFS: usize = 300;
const MAX_GEOMS: usize = 1000;
const MAX_SOFT_NODES: usize = 1000;

/// Where the files of the present case lie.
pub fn folder(out: &Path) -> PathBuf {
    out.join("case")
}

/// Makes and runs a case; what became of it. An error is about this program, not about the case.
pub fn run(seed: u64, number: u64, corpus: &Corpus, out: &Path) -> Result<&'static str> {
    let folder = folder(out);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    let random = &mut SplitMix64(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ number);
    match random.below(10) {
        0..5 => model(random, corpus, &folder),
        5..7 => mesh(random, &folder),
        7 => clip(random, &folder),
        _ => states::run(random, corpus, &folder),
    }
}

/// A mutated model file.
fn model(random: &mut SplitMix64, corpus: &Corpus, folder: &Path) -> Result<&'static str> {
    let seed = corpus.model(random);
    let other = corpus.model(random);
    let text = mutate::text(&seed.text, &other.text, random);
    let is_urdf = text.contains("<robot");
    fs::write(folder.join(if is_urdf { "model.urdf" } else { "model.xml" }), &text)?;
    // Files that it refers to are those of the original.
    let base = seed.folder.as_deref().unwrap_or(folder);
    let options = LoadOptions { floating_base: random.below(2) == 0, ..LoadOptions::default() };
    match formats::load_str(&text, Some(base), &options) {
        Ok(loaded) => simulate(loaded, random),
        Err(error) => refused(&error.to_string()),
    }
}

/// A mutated mesh or picture in a model that falls on it.
fn mesh(random: &mut SplitMix64, folder: &Path) -> Result<&'static str> {
    let (name, bytes) = meshes::seed(random);
    let bytes = mutate::bytes(bytes, random);
    fs::write(folder.join(&name), bytes)?;
    let text = meshes::model(&name, random);
    fs::write(folder.join("model.xml"), &text)?;
    match formats::load_str(&text, Some(folder), &LoadOptions::default()) {
        Ok(loaded) => simulate(loaded, random),
        Err(error) => refused(&error.to_string()),
    }
}

/// A mutated clip, bound to the humanoid where it can be.
fn clip(random: &mut SplitMix64, folder: &Path) -> Result<&'static str> {
    let is_bvh = random.below(2) == 0;
    let seed = if is_bvh { seeds::bvh() } else { seeds::deepmimic(random) };
    let text = mutate::text(&seed, &seed, random);
    fs::write(folder.join(if is_bvh { "clip.bvh" } else { "clip.txt" }), &text)?;
    let clip = if is_bvh {
        bvh::parse(&text, "clip.bvh", &bvh::Options::default()).map(|loaded| loaded.clip)
    } else {
        deepmimic::parse(&text, "clip.txt").map(|loaded| loaded.clip)
    };
    let clip = match clip {
        Ok(clip) => clip,
        Err(error) => return refused(&error.to_string()),
    };
    let text = characters::mjcf(characters::Character::Humanoid, &characters::Options::default());
    let model = formats::load_str(&text, None, &LoadOptions::default())?.model;
    let times = [0.0, 0.01, 1.0, -3.0, 1e9, f64::MAX];
    for time in times {
        clip.sample(time, &mut Posture::default());
    }
    if let Ok(mut binding) = Binding::new(&model, &clip, &BindingOptions::default()) {
        let (mut q, mut v) = (model.q0.clone(), vec![0.0; model.nv()]);
        times.into_iter().for_each(|time| binding.positions_and_velocities(&clip, time, 0.01, &mut q, &mut v));
    }
    Ok(SIMULATED)
}

/// Simulates a few steps under some options.
pub fn simulate(loaded: Loaded, random: &mut SplitMix64) -> Result<&'static str> {
    let Loaded { model, scene } = loaded;
    let soft_nodes: usize = scene.soft_bodies.iter().map(|body| body.node_count()).sum();
    if model.nv() > MAX_DOFS || scene.geoms.len() > MAX_GEOMS || soft_nodes > MAX_SOFT_NODES {
        return Ok(REFUSED);
    }
    let schemes =
        [Scheme::Bilinear, Scheme::Bilinear, Scheme::SymplecticEuler, Scheme::Midpoint, Scheme::ImplicitEuler];
    let laws = [ContactLaw::Coulomb, ContactLaw::Coulomb, ContactLaw::Sap, ContactLaw::Lagged];
    let options = Options {
        scheme: schemes[random.below(schemes.len())],
        contact: laws[random.below(laws.len())],
        sleep_after: (random.below(8) == 0).then_some(0.001),
        accuracy: (random.below(16) == 0).then_some(1e-3),
        ..Options::default()
    };
    match Simulation::new(Arc::new(model), Arc::new(scene), options) {
        Ok(mut simulation) => {
            step(&mut simulation)?;
            Ok(SIMULATED)
        }
        Err(error) => refused(&error.to_string()),
    }
}
