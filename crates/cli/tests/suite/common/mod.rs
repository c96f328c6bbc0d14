//! Runs the command as a user does.
#![allow(dead_code, reason = "every test file uses a part of it")]

use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// What a run of the command came to.
#[derive(Debug)]
pub struct Outcome {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// Runs `sapwood` with these arguments. It never panics, whatever the input.
pub fn sapwood<S: AsRef<std::ffi::OsStr>>(arguments: &[S]) -> Outcome {
    outcome(Command::new(env!("CARGO_BIN_EXE_sapwood")).args(arguments))
}

/// The same with an environment variable set.
pub fn sapwood_with(variable: &str, value: &std::ffi::OsStr, arguments: &[&str]) -> Outcome {
    outcome(Command::new(env!("CARGO_BIN_EXE_sapwood")).args(arguments).env(variable, value))
}

fn outcome(command: &mut Command) -> Outcome {
    let output = command.output().expect("sapwood starts");
    let outcome = Outcome {
        code: output.status.code().expect("sapwood ends by itself"),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    };
    assert!(!outcome.stderr.contains("panicked"), "{outcome:#?}");
    outcome
}

/// Where the folder of this name is.
pub fn folder_of(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// An empty folder of this name.
pub fn folder(name: &str) -> PathBuf {
    let folder = folder_of(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).expect("the folder can be made");
    folder
}

/// A file with this text in a folder of its own.
pub fn file(test: &str, name: &str, text: &str) -> PathBuf {
    let path = folder(test).join(name);
    fs::write(&path, text).expect("the file can be written");
    path
}

/// Exit code 2 with a message that holds all of `parts`, for `info` and for `run`.
pub fn assert_bad_input(path: &std::path::Path, parts: &[&str]) {
    for command in ["info", "run"] {
        let outcome = sapwood(&[command.as_ref(), path.as_os_str()]);
        assert_eq!(outcome.code, 2, "{command}: {outcome:#?}");
        for part in parts {
            assert!(outcome.stderr.contains(part), "{command}: no {part:?} in {outcome:#?}");
        }
    }
}
