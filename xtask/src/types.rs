//! `cargo xtask types`: what pyright says of the package. mypy is part of the tests; pyright, whose programs are Node's and are
//! fetched when it first runs, is asked before a release.

use anyhow::Result;

use crate::shell::Shell;
use crate::tools::{install_python, venv};

/// Strict checks of the package, then how complete its types are for those who import it.
pub fn types(shell: &Shell) -> Result<()> {
    install_python(shell)?;
    let python = venv("python");
    shell.run(
        &python,
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "pyright", ".[gym,viewer,rerun]"],
    )?;
    // It looks for packages where the environment says.
    let bin = shell.path(".venv/bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let active = Shell::at_root()?.with("PATH", path).with("VIRTUAL_ENV", shell.path(".venv").display().to_string());
    active.run(&python, &["-m", "pyright"])?;
    active.run(&python, &["-m", "pyright", "--verifytypes", "sapwood", "--ignoreexternal"])
}
