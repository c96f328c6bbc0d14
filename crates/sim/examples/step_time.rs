//! Prints microseconds per step of a model file, for profiling: `step_time MODEL [STEPS] [LAW] [DT] [SCHEME]`.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use sim::{ContactLaw, Options, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("expected a model file")?;
    let steps: usize = args.next().map_or(Ok(5000), |s| s.parse())?;
    let contact = match args.next().as_deref() {
        None | Some("sap") => ContactLaw::Sap,
        Some("lagged") => ContactLaw::Lagged,
        Some("coulomb") => ContactLaw::Coulomb,
        Some(_) => return Err("expected sap, lagged or coulomb".into()),
    };
    let timestep = args.next().map(|s| s.parse()).transpose()?;
    let scheme = args.next().map(|s| s.parse()).transpose()?.unwrap_or_default();
    let options = Options { contact, timestep, scheme, ..Options::default() };
    let loaded = formats::load(Path::new(&path), &formats::LoadOptions::default())?;
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options)?;
    for round in 0..5 {
        let (mut contacts, mut iterations, mut evaluations, mut passes) = (0, 0, 0, 0);
        let (mut worst, mut unsettled) = ((0, 0, 0.0_f64), 0);
        let start = Instant::now();
        for _ in 0..steps {
            simulation.step()?;
            contacts += simulation.stats().contacts;
            iterations += simulation.stats().iterations;
            evaluations += simulation.stats().line_search_evaluations;
            let stats = simulation.stats();
            passes += stats.passes;
            unsettled += usize::from(stats.friction_residual > 1e-4);
            worst = (worst.0.max(stats.iterations), worst.1.max(stats.passes), worst.2.max(stats.friction_residual));
        }
        let per = |n: usize| n as f64 / steps as f64;
        let micros = start.elapsed().as_secs_f64() * 1e6 / steps as f64;
        println!(
            "round {round}: {micros:.2} µs/step, {:.1} contacts, {:.2} iterations, {:.2} evaluations, {:.2} passes, worst {worst:?}, {unsettled} unsettled",
            per(contacts),
            per(iterations),
            per(evaluations),
            per(passes)
        );
    }
    Ok(())
}
