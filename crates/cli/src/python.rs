//! What runs from the Python package: the suites beside other engines, and the live viewer.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io::ErrorKind;
use std::process::{Command, Stdio};

use anyhow::{Result, anyhow, bail};

/// The interpreter, and the variable that names another one.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
const INTERPRETER: &str = "SAPWOOD_PYTHON";

/// A module of the package that does what the command was asked for.
pub struct Module<'a> {
    /// What was asked for, as the command line has it: `bench step`.
    pub task: &'a str,
    /// The module.
    pub name: &'a str,
    /// Python code that fails when something is missing.
    pub check: &'a str,
    /// How to install what may be missing.
    pub advice: &'a str,
}

/// Runs the module with these arguments; its exit code is ours. Where the system can, it takes the place of this process, so that signals
/// and the terminal are its own.
pub fn run(module: &Module<'_>, arguments: &[OsString]) -> Result<u8> {
    let python = env::var_os(INTERPRETER).filter(|name| !name.is_empty()).unwrap_or_else(|| PYTHON.into());
    check(module, &python)?;
    let mut command = Command::new(&python);
    command.args(["-m", module.name]).args(arguments);
    become_it(&mut command).map_err(|error| anyhow!("{}: {}: {error}", module.task, python.display()))
}

#[cfg(unix)]
fn become_it(command: &mut Command) -> std::io::Result<u8> {
    // It returns only when it fails.
    Err(std::os::unix::process::CommandExt::exec(command))
}

#[cfg(not(unix))]
fn become_it(command: &mut Command) -> std::io::Result<u8> {
    let code = command.status()?.code();
    Ok(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(crate::FAILED))
}

/// That the interpreter is there and finds what is needed: the module itself could not tell its own failure from that.
fn check(module: &Module<'_>, python: &OsStr) -> Result<()> {
    let probe = Command::new(python).args(["-c", module.check]).stdin(Stdio::null()).output();
    let found = match probe {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = text.lines().last().unwrap_or("something that it needs is missing").to_owned();
            format!("{} says: {last}", python.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => format!("{} was not found", python.display()),
        Err(error) => format!("{}: {error}", python.display()),
    };
    bail!("{} runs from the Python package: {found}\n{}", module.task, module.advice)
}
