//! The `sapwood` command; `sapwood_cli` has all of it.

use std::process::ExitCode;

fn main() -> ExitCode {
    // Before anything else: the rest of the program is compiled for these instructions.
    let missing = spatial::cpu::missing_instruction_sets();
    if !missing.is_empty() {
        eprintln!(
            "error: this processor lacks {}: this build needs x86-64-v3 (AVX2 and FMA). Build from source with \
             RUSTFLAGS=\"-C target-cpu=native\" on this machine",
            missing.join(", ")
        );
        return ExitCode::from(sapwood_cli::BAD_INPUT);
    }
    command()
}

#[inline(never)]
fn command() -> ExitCode {
    ExitCode::from(sapwood_cli::command(std::env::args_os().collect()))
}
