//! Prints how long the longest step of a run takes, and how far friction is from Coulomb's law in the steps that spend their budget:
//! `worst_step MODEL SECONDS [BUDGET|unlimited] [DT]`, where `@clutter-box-1000` is a scene by its name.

mod common;

use std::sync::Arc;
use std::time::Instant;

use common::load;
use sapwood_sim::{Options, Simulation};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let loaded = load(&args.next().ok_or("expected a model file")?)?;
    let seconds: f64 = args.next().ok_or("expected seconds")?.parse()?;
    let factorization_budget = match args.next().as_deref() {
        None => Options::default().factorization_budget,
        Some("unlimited") => None,
        Some(number) => Some(number.parse()?),
    };
    let timestep = args.next().map(|s| s.parse()).transpose()?;
    let options = Options { timestep, factorization_budget, ..Options::default() };
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options)?;
    let steps = (seconds / simulation.timestep()).round() as usize;
    let mut times = Vec::new();
    let (mut worst, mut most, mut contacts, mut iterations) = (0.0, 0, 0, 0);
    let mut residuals = Vec::new();
    for step in 0..steps {
        let start = Instant::now();
        simulation.step()?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        let stats = simulation.stats();
        if times[step] > worst {
            (worst, most, contacts) = (times[step], stats.iterations, stats.contacts);
        }
        iterations += stats.iterations;
        if stats.unsettled > 0 {
            residuals.push(stats.friction_residual);
        }
    }
    let mean = times.iter().sum::<f64>() / steps as f64;
    times.sort_by(f64::total_cmp);
    residuals.sort_by(f64::total_cmp);
    let at = |share: f64| residuals.get((share * residuals.len() as f64) as usize).copied().unwrap_or(0.0);
    println!(
        "{steps} steps: mean {mean:.2} ms, 99 % within {:.1} ms, longest {worst:.1} ms ({most} iterations, {contacts} contacts); \
         {:.1} iterations per step; {} steps not converged, friction residual median {:.1e}, 90 % {:.1e}, greatest {:.1e}",
        times[steps * 99 / 100],
        iterations as f64 / steps as f64,
        residuals.len(),
        at(0.5),
        at(0.9),
        residuals.last().copied().unwrap_or(0.0),
    );
    Ok(())
}
