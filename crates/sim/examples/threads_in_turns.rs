//! How much faster several threads are than one: `threads_in_turns MODEL [THREADS] [TURNS] [DT]`, on Linux.
//!
//! Two simulations of the same model take turns of 20 steps. A turn counts when no other program ran at its end, and the host
//! took no time from a virtual machine: both disturb two threads more than one.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use formats::LoadOptions;
use sapwood_sim::{Options, Simulation};

type Error = Box<dyn std::error::Error>;

const STEPS: usize = 20;
const WARM_UP: usize = 300;

fn main() -> Result<(), Error> {
    let mut args = std::env::args().skip(1);
    let model = args.next().ok_or("expected a model file")?;
    let threads = args.next().map_or(Ok(2), |s| s.parse())?;
    let turns: usize = args.next().map_or(Ok(100), |s| s.parse())?;
    let timestep = args.next().map(|s| s.parse()).transpose()?;
    let mut simulations = [start(&model, 1, timestep)?, start(&model, threads, timestep)?];
    let (mut times, mut ratios) = ([vec![], vec![]], vec![]);
    for _ in 0..turns {
        let before = stolen()?;
        let [one, many] = [turn(&mut simulations[0])?, turn(&mut simulations[1])?];
        if stolen()? == before && running()? <= 2.0 {
            times[0].push(one);
            times[1].push(many);
            ratios.push(one / many);
        }
    }
    println!("{} of {turns} turns undisturbed", ratios.len());
    for (times, threads) in times.iter_mut().zip([1, threads]) {
        println!("{threads} threads: median {:.1} µs/step", at(times, 0.5));
    }
    let [low, median, high] = [0.1, 0.5, 0.9].map(|part| at(&mut ratios, part));
    println!("ratio: median {median:.2}, tenth {low:.2}, last tenth {high:.2}");
    assert!(simulations[0].state().to_bytes() == simulations[1].state().to_bytes(), "other bits");
    Ok(())
}

fn start(model: &str, threads: usize, timestep: Option<f64>) -> Result<Simulation, Error> {
    let loaded = formats::load(Path::new(model), &LoadOptions::default())?;
    let options = Options { threads, timestep, ..Options::default() };
    let mut simulation = Simulation::new(Arc::new(loaded.model), Arc::new(loaded.scene), options)?;
    (0..WARM_UP).try_for_each(|_| simulation.step())?;
    Ok(simulation)
}

/// Microseconds a step.
fn turn(simulation: &mut Simulation) -> Result<f64, Error> {
    // The first wakes the threads, and finds the other simulation's memory in the caches.
    simulation.step()?;
    let start = Instant::now();
    (0..STEPS).try_for_each(|_| simulation.step())?;
    Ok(start.elapsed().as_secs_f64() * 1e6 / STEPS as f64)
}

/// A number of `/proc/stat`.
fn stat(line: &str, word: usize) -> Result<f64, Error> {
    let text = std::fs::read_to_string("/proc/stat")?;
    let line = text.lines().find(|text| text.starts_with(line)).ok_or("no such line in /proc/stat")?;
    Ok(line.split_whitespace().nth(word).ok_or("a short line in /proc/stat")?.parse()?)
}

/// Time that the host took from a virtual machine, in hundredths of seconds.
fn stolen() -> Result<f64, Error> {
    stat("cpu ", 8)
}

/// Threads that run or want to.
fn running() -> Result<f64, Error> {
    stat("procs_running", 1)
}

/// The value that this part of all is below.
fn at(values: &mut [f64], part: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get((part * values.len() as f64) as usize).copied().unwrap_or(f64::NAN)
}
