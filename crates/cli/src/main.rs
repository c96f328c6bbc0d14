//! The `sapwood` command: `sapwood run` simulates a model and writes what happened, `sapwood info` says what was read,
//! `sapwood write` writes a character as a model file, `sapwood bench` measures.
//!
//! Exit codes: 0; 1 when a simulation failed, 130 and 143 when Ctrl-C and SIGTERM ended it (what was computed until then is written);
//! 2 for bad input, and for files that cannot be written.

mod arguments;
mod bench;
mod console;
mod energy_plot;
mod info;
mod output;
mod perturb;
mod run;
mod scene;
mod signals;
mod source;
mod summary;
mod trajectory;
mod whole_files;
mod write;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

/// The simulation failed.
const FAILED: u8 = 1;
/// Bad input; clap uses the same code for wrong arguments.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    // Before anything else: the rest of the program is compiled for these instructions.
    let missing = spatial::cpu::missing_instruction_sets();
    if !missing.is_empty() {
        eprintln!(
            "error: this processor lacks {}: this build needs x86-64-v3 (AVX2 and FMA). Build from source with \
             RUSTFLAGS=\"-C target-cpu=native\" on this machine",
            missing.join(", ")
        );
        return ExitCode::from(BAD_INPUT);
    }
    command()
}

#[inline(never)]
fn command() -> ExitCode {
    if let Err(error) = signals::survive_file_size_limit() {
        eprintln!("note: a limit of file sizes would end this command without a word: {error}");
    }
    let result = match Arguments::parse().command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Info(arguments) => info::info(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Write(arguments) => write::write(&arguments).map(|()| ExitCode::SUCCESS),
        Command::Bench(arguments) => bench::bench(&arguments),
    };
    result.unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::from(BAD_INPUT)
    })
}
