//! Prints how much CPU time the steps of falling piles take: `fall_time SCENE [FALLS] [STEPS] [DT]`, where `@clutter-box-125` is a scene by its
//! name.
//!
//! Piles are chaotic: every fall starts from bodies that are moved by up to a millimetre, each by another random vector.

mod common;

use std::sync::Arc;

use common::load;
use rustix::time::{ClockId, clock_gettime};
use sapwood_sim::{Options, Simulation};
use support::SplitMix64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let loaded = load(&args.next().ok_or("expected a model file")?)?;
    let falls: u64 = args.next().map_or(Ok(5), |s| s.parse())?;
    let steps: usize = args.next().map_or(Ok(400), |s| s.parse())?;
    let timestep = args.next().map_or(Ok(0.005), |s| s.parse())?;
    let options = Options { timestep: Some(timestep), ..Options::default() };
    let (model, scene) = (Arc::new(loaded.model), Arc::new(loaded.scene));
    let mut all = Vec::new();
    for fall in 0..falls {
        let mut simulation = Simulation::new(model.clone(), scene.clone(), options.clone())?;
        let mut random = SplitMix64(fall);
        simulation.state_mut().q.chunks_mut(7).for_each(|body| {
            body[..3].iter_mut().for_each(|x| *x += random.uniform(-1e-3, 1e-3));
        });
        let mut micros = Vec::new();
        let (mut iterations, mut unsettled, mut penetration) = (0, 0, 0.0_f64);
        for _ in 0..steps {
            let start = cpu_micros();
            simulation.step()?;
            micros.push(cpu_micros() - start);
            let stats = simulation.stats();
            iterations += stats.iterations;
            unsettled += usize::from(stats.unsettled > 0);
            penetration = penetration.max(stats.penetration);
        }
        print(&format!("fall {fall}"), &mut micros);
        println!(
            ", {:.1} iterations a step, {unsettled} unsettled, {:.4} mm deep at most",
            iterations as f64 / steps as f64,
            1e3 * penetration
        );
        all.append(&mut micros);
    }
    print("all", &mut all);
    println!();
    Ok(())
}

/// CPU time of this thread: other programs do not count.
fn cpu_micros() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e6 + time.tv_nsec as f64 * 1e-3
}

/// Mean, quantiles and the longest of times.
fn print(name: &str, micros: &mut [f64]) {
    micros.sort_by(f64::total_cmp);
    let at = |share: f64| micros[((micros.len() - 1) as f64 * share) as usize];
    let mean = micros.iter().sum::<f64>() / micros.len() as f64;
    print!(
        "{name}: mean {mean:.0} µs, median {:.0}, 90 % {:.0}, 99 % {:.0}, longest {:.0}",
        at(0.5),
        at(0.9),
        at(0.99),
        at(1.0)
    );
}
