//! Prints microseconds per step of a model file, for profiling:
//! `step_time MODEL [STEPS] [LAW] [DT] [SCHEME] [THREADS]`, where `@stacks-100-5` is a scene by its name.
//!
//! A round is timed in ten batches: other programs disturb the mean, hardly the least.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::{fingerprint, load};
use sapwood_sim::{ContactLaw, Options, Simulation};

const BATCHES: usize = 10;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let loaded = load(&args.next().ok_or("expected a model file")?)?;
    let steps: usize = args.next().map_or(Ok(5000), |s| s.parse())?;
    let batch = steps.div_ceil(BATCHES);
    let contact = match args.next().as_deref() {
        None | Some("sap") => ContactLaw::Sap,
        Some("lagged") => ContactLaw::Lagged,
        Some("coulomb") => ContactLaw::Coulomb,
        Some(_) => return Err("expected sap, lagged or coulomb".into()),
    };
    let timestep = args.next().map(|s| s.parse()).transpose()?;
    let scheme = args.next().map(|s| s.parse()).transpose()?.unwrap_or_default();
    let threads = args.next().map_or(Ok(1), |s| s.parse())?;
    let options = Options { contact, timestep, scheme, threads, ..Options::default() };
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options)?;
    for round in 0..5 {
        let (mut contacts, mut iterations, mut evaluations) = (0, 0, 0);
        let (mut worst, mut unsettled) = ((0, 0.0_f64), 0);
        let (mut total, mut least) = (0.0, f64::INFINITY);
        for _ in 0..BATCHES {
            let start = Instant::now();
            for _ in 0..batch {
                simulation.step()?;
                let stats = simulation.stats();
                contacts += stats.contacts;
                iterations += stats.iterations;
                evaluations += stats.line_search_evaluations;
                unsettled += usize::from(stats.friction_residual > 1e-4);
                worst = (worst.0.max(stats.iterations), worst.1.max(stats.friction_residual));
            }
            let micros = start.elapsed().as_secs_f64() * 1e6 / batch as f64;
            least = f64::min(micros, least);
            total += micros / BATCHES as f64;
        }
        let per = |n: usize| n as f64 / (batch * BATCHES) as f64;
        println!(
            "round {round}: {total:.2} µs/step, {least:.2} at best, {:.1} contacts, {:.2} iterations, {:.2} evaluations, \
             worst {worst:?}, {unsettled} unsettled, state {:016x}",
            per(contacts),
            per(iterations),
            per(evaluations),
            fingerprint(&simulation.state().to_bytes()),
        );
    }
    Ok(())
}
