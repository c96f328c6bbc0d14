//! `cargo xtask test`: every check of the project, each stage whatever became of the ones before.

use std::fmt;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Result;

use crate::attack::attack;
use crate::docs;
use crate::shell::Shell;
use crate::tools::{ensure_chromium, install_extra, install_web, venv};

struct Stage {
    name: &'static str,
    run: fn(&Shell) -> Result<()>,
}

/// Why a stage was not run, on a machine that cannot run it: no failure. A continuous integration has to run all.
#[derive(Debug)]
pub struct Skipped(pub String);

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SKIPPED: {}", self.0)
    }
}

impl std::error::Error for Skipped {}

/// In an order that shows cheap mistakes first and builds the page before the command that embeds it.
const STAGES: [Stage; 14] = [
    Stage { name: "rustfmt", run: |shell| shell.run("cargo", &["fmt", "--all", "--check"]) },
    Stage { name: "chromium", run: ensure_chromium },
    Stage { name: "npm packages", run: install_web },
    Stage { name: "replay page: build, unit and browser tests", run: |shell| shell.below("web").run("npm", &["test"]) },
    Stage { name: "Python package: build, install", run: |shell| install_extra(shell, "test,docs") },
    Stage { name: "clippy", run: clippy },
    Stage { name: "rustdoc", run: rustdoc },
    Stage { name: "Rust tests", run: rust_tests },
    Stage { name: "attack", run: |shell| attack(shell, &["--seconds", "60"]) },
    Stage { name: "ruff check", run: |shell| shell.run(&venv("ruff"), &["check", "python"]) },
    Stage { name: "ruff format", run: |shell| shell.run(&venv("ruff"), &["format", "--check", "python"]) },
    Stage { name: "mypy", run: |shell| shell.run(&venv("mypy"), &[""; 0]) },
    Stage { name: "pytest", run: pytest },
    Stage { name: "documentation", run: docs::check },
];

/// Runs all stages and reports; failure if any failed.
pub fn test(shell: &Shell) -> Result<ExitCode> {
    let mut rows: Vec<(&str, &str, Duration)> = Vec::new();
    for stage in &STAGES {
        println!("\n==== {} ====", stage.name);
        let start = Instant::now();
        let outcome = match (stage.run)(shell) {
            Ok(()) => "passed",
            Err(error) if error.is::<Skipped>() => {
                println!("{error}");
                "SKIPPED"
            }
            Err(error) => {
                println!("FAILED: {}: {error:#}", stage.name);
                "FAILED"
            }
        };
        rows.push((stage.name, outcome, start.elapsed()));
    }

    println!("\n==== result ====");
    for (name, outcome, time) in &rows {
        println!("{name:<44} {outcome:<7} {:>5} s", time.as_secs());
    }
    let [passed, failed, skipped] =
        ["passed", "FAILED", "SKIPPED"].map(|wanted| rows.iter().filter(|(_, outcome, _)| *outcome == wanted).count());
    println!(
        "{passed} passed, {failed} failed{}",
        if skipped > 0 { format!(", {skipped} skipped") } else { String::new() }
    );
    Ok(if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn clippy(shell: &Shell) -> Result<()> {
    with_python(shell).run("cargo", &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn rustdoc(shell: &Shell) -> Result<()> {
    let shell = with_python(shell).with("RUSTDOCFLAGS", "-D warnings");
    shell.run("cargo", &["doc", "--workspace", "--no-deps", "--document-private-items"])
}

/// The Python extension has no Rust tests: pytest tests it.
fn rust_tests(shell: &Shell) -> Result<()> {
    shell.run("cargo", &["test", "--workspace", "--exclude", "sapwood-python", "--no-fail-fast"])
}

/// Tests in several processes, each file in one of them; then those that measure times.
fn pytest(shell: &Shell) -> Result<()> {
    let run = |options: &[&str]| shell.run(&venv("python"), &[&["-m", "pytest", "-q", "-m"], options].concat());
    // A process takes up to 2 GB.
    let together = run(&["not alone", "--numprocesses", "auto", "--maxprocesses", "4", "--dist", "loadfile"]);
    let alone = run(&["alone"]);
    together.and(alone)
}

/// Tells the build of the Python extension which interpreter to ask.
fn with_python(shell: &Shell) -> Shell {
    let python = shell.path(&venv("python"));
    shell.below("").with("PYO3_PYTHON", python.display().to_string())
}
