//! The project's chores, from any folder of the repository: `cargo xtask demo`, `cargo xtask test`.

mod attack;
#[cfg(test)]
mod circles;
mod count;
mod demo;
mod docs;
mod shell;
mod test;
mod tools;
mod types;
mod wheel;

use std::env;
use std::process::ExitCode;

use anyhow::{Result, bail};

use shell::Shell;

const HELP: &str = "\
cargo xtask demo            build everything, simulate the embedded humanoid, say where the replay is
cargo xtask test            set up what the tests need and run all of them: Rust, Python, browser
cargo xtask attack [--seconds N] [--seed S] [--case N]   mutated files, states, calls, commands, requests and starts, for a minute
cargo xtask web             build the replay page (needs Node)
cargo xtask python          make .venv and install the Python package with its test requirements
cargo xtask docs            build the documentation in site/, with its notebooks run; warnings are errors
cargo xtask docs pictures [NAME ...]   draw the pictures in docs/images that the program draws
cargo xtask wheel [ARCH]    build a manylinux wheel (x86_64, aarch64) and an sdist, and try the wheel in a bare environment
cargo xtask count [--write] [CASE ...]   instructions of a step, by function, beside those of benches/instructions.tsv
cargo xtask types           pyright: strict on the package, and completeness of its types for users
cargo xtask bench [SUITE]   time Sapwood beside its peers (default: step); needs cargo xtask python";

fn main() -> ExitCode {
    run().unwrap_or_else(|error| {
        eprintln!("error: {error:#}");
        ExitCode::FAILURE
    })
}

fn run() -> Result<ExitCode> {
    let shell = Shell::at_root()?;
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["demo"] => demo::demo(&shell)?,
        ["test"] => return test::test(&shell),
        ["attack", ref rest @ ..] => attack::attack(&shell, rest)?,
        ["web"] => tools::build_web(&shell)?,
        ["python"] => tools::install_python(&shell)?,
        ["docs"] => docs::docs(&shell)?,
        ["docs", "pictures", ref names @ ..] => docs::pictures(&shell, names)?,
        ["count", ref rest @ ..] => count::count(&shell, rest)?,
        ["types"] => types::types(&shell)?,
        ["wheel"] => wheel::wheel(&shell, None)?,
        ["wheel", target] => wheel::wheel(&shell, Some(target))?,
        ["bench", ref rest @ ..] => {
            let suite = if rest.is_empty() { &["step"] } else { rest };
            shell.run(&tools::venv("python"), &[&["-m", "sapwood.bench"], suite].concat())?;
        }
        [] | ["help" | "--help" | "-h"] => println!("{HELP}"),
        _ => bail!("no such task: {}\n{HELP}", arguments.join(" ")),
    }
    Ok(ExitCode::SUCCESS)
}
