//! `python -m sapwood.bench`: the suites beside other engines.

use std::env;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Result, anyhow, bail};

use crate::FAILED;
use crate::arguments::PeerSuite;

/// The interpreter, and the variable that names another one.
const PYTHON: &str = if cfg!(windows) { "python" } else { "python3" };
const INTERPRETER: &str = "SAPWOOD_PYTHON";

/// Runs a suite of the Python package; its exit code is ours.
pub fn bench(suite: &PeerSuite) -> Result<ExitCode> {
    let (name, forwarded) = match suite {
        PeerSuite::Step(rest) => ("step", rest),
        PeerSuite::Dynamics(rest) => ("dynamics", rest),
        PeerSuite::Contact(rest) => ("contact", rest),
        PeerSuite::Clutter(rest) => ("clutter", rest),
        PeerSuite::Schemes(rest) => ("schemes", rest),
        PeerSuite::Motion(rest) => ("motion", rest),
        PeerSuite::Starts(rest) => ("starts", rest),
        PeerSuite::Batch(rest) => ("batch", rest),
    };
    let python = env::var_os(INTERPRETER).filter(|name| !name.is_empty()).unwrap_or_else(|| PYTHON.into());
    check(name, &python)?;
    let mut command = Command::new(&python);
    command.args(["-m", "sapwood.bench", name]).args(&forwarded.arguments);
    let status = command.status().map_err(|error| anyhow!("bench {name}: {}: {error}", python.display()))?;
    // A signal leaves no code.
    Ok(status.code().map_or(ExitCode::from(FAILED), |code| ExitCode::from(u8::try_from(code).unwrap_or(FAILED))))
}

/// That the interpreter is there and finds the package: the suite itself could not tell its own failure from that.
fn check(name: &str, python: &OsString) -> Result<()> {
    let probe = Command::new(python).args(["-c", "import sapwood.bench"]).stdin(Stdio::null()).output();
    let found = match probe {
        Ok(output) if output.status.success() => return Ok(()),
        Ok(output) => {
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            let last = text.lines().last().unwrap_or("it cannot import sapwood.bench").to_owned();
            format!("{} says: {last}", python.display())
        }
        Err(error) if error.kind() == ErrorKind::NotFound => format!("{} was not found", python.display()),
        Err(error) => format!("{}: {error}", python.display()),
    };
    bail!(
        "bench {name} runs from the Python package, with the engines that it compares with: {found}\n\
         in the repository of Sapwood: python3 -m venv .venv && .venv/bin/pip install '.[test]'\n\
         then: {INTERPRETER}=.venv/bin/python sapwood bench {name}"
    )
}
