//! Mutates model files, meshes, clips and states, loads each, and simulates a few steps of what loads.
//!
//! Whatever comes, the libraries answer with a result or an error. A case that panics, aborts, hangs or wants more memory
//! than [`MEMORY_LIMIT`] is a finding: its files are saved, and the run fails. Cases are made from the seed and their
//! number alone, so `--seed S --case N` repeats one.
//!
//! Cases run in a worker process with limited memory, watched by this one and started anew after a finding.

mod case;
mod meshes;
mod mutate;
mod outcome;
mod seeds;
mod states;
mod watch;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::Result;
use clap::Parser;

/// Address space of a worker, bytes.
const MEMORY_LIMIT: u64 = 4 << 30;

/// Mutate models, meshes, clips and states; report what panics, aborts, hangs or takes all memory.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask attack")]
struct Arguments {
    /// How long to go on, s.
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// Other seeds make other cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Run this case alone, in this process: for a debugger.
    #[arg(long)]
    case: Option<u64>,
    /// The first case.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Folder of the virtual environment in whose packages model files are looked for.
    #[arg(long, default_value = ".venv")]
    packages: PathBuf,
    /// Folder for the files of findings.
    #[arg(long, default_value = "target/attack")]
    out: PathBuf,
    /// Run cases until killed, and say which (the program calls itself with this).
    #[arg(long, hide = true)]
    worker: bool,
}

fn main() -> Result<ExitCode> {
    let arguments = Arguments::parse();
    std::fs::create_dir_all(&arguments.out)?;
    let corpus = || seeds::Corpus::new(&arguments.packages);
    if let Some(number) = arguments.case {
        limit_memory()?;
        println!("{}", case::run(arguments.seed, number, &corpus(), &arguments.out)?);
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.worker {
        limit_memory()?;
        return watch::work(&arguments, &corpus());
    }
    watch::watch(&arguments, Duration::from_secs(arguments.seconds))
}

fn limit_memory() -> Result<()> {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        setrlimit(Resource::As, Rlimit { current: Some(MEMORY_LIMIT), maximum: Some(MEMORY_LIMIT) })?;
    }
    Ok(())
}
