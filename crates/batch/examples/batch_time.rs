//! Prints nanoseconds per world and step of robots that move by random controls, for profiling:
//! `batch_time MODEL [WORLDS] [STEPS] [RANGE] [LANES] [THREADS] [DRIVEN]`.
//!
//! Controls are uniform in ± RANGE, change every 25 steps, are 0 after DRIVEN steps, and differ from world to world; worlds begin a different number of steps apart.

use std::time::Instant;

use sapwood_batch::{Batch, BatchOptions, Precision};
use support::SplitMix64;

/// Steps between changes of the controls.
const HOLD: usize = 25;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut args = std::env::args().skip(1);
    let path = args.next().ok_or("expected a model file")?;
    let mut number = |otherwise: f64| args.next().map_or(Ok(otherwise), |s| s.parse::<f64>());
    let (worlds, steps, range) = (number(64.0)? as usize, number(2000.0)? as usize, number(1.0)?);
    let (lanes, threads) = (number(0.0)? as usize, number(1.0)? as usize);
    let driven = number(f64::INFINITY)?;
    let loaded = formats::load(path.as_ref(), &formats::LoadOptions::default())?;
    let mut options = BatchOptions::default();
    options.precision = if std::env::var_os("F32").is_some() { Precision::F32 } else { Precision::F64 };
    options.threads = Some(threads);
    options.lanes = (lanes > 0).then_some(lanes);
    let mut batch = Batch::new(loaded.model.into(), loaded.scene.into(), worlds, options)?;
    if let Some(reason) = batch.alone() {
        println!("one by one: {reason}");
    }
    let mut random: Vec<SplitMix64> = (0..worlds as u64).map(SplitMix64).collect();
    let nu = batch.model().nu();
    let mut nanos = Vec::new();
    let mut before = *batch.stats();
    for k in 0..steps / HOLD {
        if k == steps / HOLD * 9 / 10 {
            before = *batch.stats();
        }
        if nu > 0 {
            for (random, ctrl) in random.iter_mut().zip(batch.ctrl_mut().chunks_exact_mut(nu)) {
                ctrl.iter_mut()
                    .for_each(|u| *u = if ((k * HOLD) as f64) < driven { random.uniform(-range, range) } else { 0.0 });
            }
        }
        let start = Instant::now();
        batch.step(HOLD)?;
        nanos.push(start.elapsed().as_secs_f64() * 1e9 / (HOLD * worlds) as f64);
    }
    let last = &nanos[nanos.len() * 9 / 10..];
    let last_mean = last.iter().sum::<f64>() / last.len() as f64;
    let mean = nanos.iter().sum::<f64>() / nanos.len() as f64;
    nanos.sort_by(f64::total_cmp);
    let (stats, before_steps) = (batch.stats(), before.steps);
    let per = |count: u64| count as f64 / stats.steps as f64;
    println!(
        "{mean:.0} ns per world and step, {:.0} median, {:.0} first tenth; {} lanes; {:.2} % left, {:.2} iterations, {:.2} of the group, {:.2} push",
        nanos[nanos.len() / 2],
        nanos[nanos.len() / 10],
        batch.lanes(),
        100.0 * per(stats.left),
        per(stats.iterations),
        per(stats.group_iterations) * batch.lanes() as f64,
        per(stats.pushing),
    );
    let since = |now: u64, before: u64| (now - before) as f64 / (stats.steps - before_steps) as f64;
    println!(
        "last tenth: {last_mean:.0} ns, {:.2} % left, {:.2} iterations",
        100.0 * since(stats.left, before.left),
        since(stats.iterations, before.iterations),
    );
    Ok(())
}
