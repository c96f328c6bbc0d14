//! `cargo xtask attack`: inputs that nobody means well by, and what became of them.

use anyhow::{Context, Result, bail};

use crate::shell::Shell;
use crate::tools::venv;

/// The half in Rust, where [`build`] leaves it.
const PROGRAM: &str = "target/debug/sapwood-attack";

/// Attacks files and states in Rust for half of the time, the Python package and the command for the other; an error if anything was found.
pub fn attack(shell: &Shell, arguments: &[&str]) -> Result<()> {
    let (mut seconds, mut seed, mut case) = (60, 1, None);
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let value = words.next().and_then(|value| value.parse::<u64>().ok());
        let value = value.with_context(|| format!("attack: {word}: expected a whole number after it"))?;
        match *word {
            "--seconds" => seconds = value,
            "--seed" => seed = value,
            "--case" => case = Some(value.to_string()),
            _ => bail!("attack: {word}: expected --seconds, --seed or --case"),
        }
    }
    let seed = seed.to_string();
    build(shell)?;
    if let Some(case) = case {
        return shell.run(PROGRAM, &["--seed", &seed, "--case", &case]);
    }
    let half = seconds.div_ceil(2).to_string();
    let in_rust = shell.run(PROGRAM, &["--seed", &seed, "--seconds", &half]);
    let in_python = shell.run(&venv("python"), &["python/tests/attack.py", "--seconds", &half, "--seed", &seed]);
    in_rust.and(in_python).context("the attack has findings, see above")
}

/// Builds the half in Rust. Optimised, but with the checks of a development build: overflow and other arithmetic that goes wrong in silence.
///
/// It is built beside its test, from crates with the same features as in all tests: alone it would be built from others, for minutes.
fn build(shell: &Shell) -> Result<()> {
    let tests = ["test", "--quiet", "--workspace", "--exclude", "sapwood-python"];
    shell.run("cargo", &[&tests[..], &["--test", "cases", "--no-run"]].concat())
}
