//! Running programs in the repository.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs programs in a folder, with their output on the terminal.
pub struct Shell {
    folder: PathBuf,
    environment: Vec<(&'static str, String)>,
}

impl Shell {
    /// A shell in the root of the repository.
    pub fn at_root() -> Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
        Ok(Self { folder: root.into(), environment: Vec::new() })
    }

    /// The same in a folder below.
    pub fn below(&self, folder: &str) -> Self {
        Self { folder: self.folder.join(folder), environment: self.environment.clone() }
    }

    /// The same with an environment variable set.
    pub fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.environment.push((name, value.into()));
        self
    }

    /// A path below the folder.
    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.join(path)
    }

    /// Runs a program; an error when it cannot start or fails.
    pub fn run<S: AsRef<OsStr>>(&self, program: &str, arguments: &[S]) -> Result<()> {
        let shown: Vec<_> = arguments.iter().map(|a| a.as_ref().to_string_lossy()).collect();
        println!("$ {program} {}", shown.join(" "));
        let status = Command::new(self.resolve(program))
            .args(arguments)
            .current_dir(&self.folder)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .status()
            .with_context(|| format!("{program} cannot be started"))?;
        if !status.success() {
            bail!("{program} ended with {status}");
        }
        Ok(())
    }

    /// Whether a program can be run with these arguments; its output is not shown.
    pub fn works(&self, program: &str, arguments: &[&str]) -> bool {
        let mut command = Command::new(self.resolve(program));
        command
            .args(arguments)
            .current_dir(&self.folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    /// The path of a program of a virtual environment, the name of any other; npm is a script on Windows.
    fn resolve(&self, program: &str) -> PathBuf {
        if program.starts_with(".venv") || program.starts_with("target/") {
            self.folder.join(program)
        } else if cfg!(windows) && program == "npm" {
            "npm.cmd".into()
        } else {
            program.into()
        }
    }
}
