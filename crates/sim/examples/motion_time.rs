//! Prints microseconds per step of a robot that moves by random controls, for profiling:
//! `motion_time MODEL [STEPS] [RANGE] [LAW] [WORLDS]`.
//!
//! Controls are uniform in ± RANGE and change every 25 steps; worlds differ by the seed of their controls. A world's steps
//! are timed in batches: other programs disturb the mean, hardly the median.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{fingerprint, load};
use sapwood_sim::{ContactLaw, Options, Simulation};
use support::SplitMix64;

/// Steps between changes of the controls.
const HOLD: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let loaded = load(&args.next().ok_or("expected a model file")?)?;
    let steps: usize = args.next().map_or(Ok(2000), |s| s.parse())?;
    let range: f64 = args.next().map_or(Ok(1.0), |s| s.parse())?;
    let contact = match args.next().as_deref() {
        None | Some("coulomb") => ContactLaw::Coulomb,
        Some("sap") => ContactLaw::Sap,
        Some("lagged") => ContactLaw::Lagged,
        Some(_) => return Err("expected sap, lagged or coulomb".into()),
    };
    let worlds: u64 = args.next().map_or(Ok(8), |s| s.parse())?;
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut micros = Vec::new();
    let (mut iterations, mut evaluations, mut contacts, mut pushing) = (0, 0, 0, 0);
    let (mut unsettled, mut worst, mut penetration) = (0, 0, 0.0_f64);
    let (mut residual, mut beyond) = (0.0_f64, 0);
    let mut bits = 0;
    for seed in 0..worlds {
        let options = Options { contact, ..Options::default() };
        let mut simulation = Simulation::new(model.clone(), scene.clone(), options)?;
        let mut random = SplitMix64(seed);
        for _ in 0..steps / HOLD {
            for control in &mut simulation.state_mut().ctrl {
                *control = random.uniform(-range, range);
            }
            let start = Instant::now();
            for _ in 0..HOLD {
                simulation.step()?;
                let stats = simulation.stats();
                iterations += stats.iterations;
                evaluations += stats.line_search_evaluations;
                contacts += stats.contacts;
                pushing += stats.active_contacts;
                unsettled += usize::from(stats.friction_residual > 1e-4);
                worst = worst.max(stats.iterations);
                penetration = penetration.max(stats.penetration);
                residual = residual.max(stats.residual);
                beyond += usize::from(stats.residual > Options::default().tolerance);
            }
            micros.push(start.elapsed().as_secs_f64() * 1e6 / HOLD as f64);
        }
        bits ^= fingerprint(&simulation.state().to_bytes());
    }
    let mean = micros.iter().sum::<f64>() / micros.len() as f64;
    micros.sort_by(f64::total_cmp);
    let n = (micros.len() * HOLD) as f64;
    let per = |count: usize| count as f64 / n;
    println!(
        "{mean:.2} µs/step, {:.2} median, {:.2} at the lower tenth; {:.2} contacts, {:.2} push, {:.2} iterations (worst {worst}), \
         {:.2} evaluations, {unsettled} of {n} unsettled, residuals of {beyond} beyond the tolerance ({residual:.1e} at most), \
         {:.3} mm deep at most, state {bits:016x}",
        micros[micros.len() / 2],
        micros[micros.len() / 10],
        per(contacts),
        per(pushing),
        per(iterations),
        per(evaluations),
        penetration * 1e3,
    );
    Ok(())
}
