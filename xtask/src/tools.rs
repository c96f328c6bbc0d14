//! What the tasks need beside Rust: Node, Python, a browser.

use std::env;
use std::path::Path;

use anyhow::{Result, bail};

use crate::shell::Shell;
use crate::test::Skipped;

/// Whether Node's package manager is there.
pub fn has_node(shell: &Shell) -> bool {
    shell.works("npm", &["--version"])
}

/// Builds `web/dist/replay.html`.
pub fn build_web(shell: &Shell) -> Result<()> {
    install_web(shell)?;
    shell.below("web").run("npm", &["run", "build"])
}

/// Fetches what the page is built from.
pub fn install_web(shell: &Shell) -> Result<()> {
    if !has_node(shell) {
        bail!("npm was not found: install Node 20 or newer");
    }
    shell.below("web").run("npm", &["ci", "--no-audit", "--no-fund"])
}

/// A program of the virtual environment, relative to the root.
pub fn venv(program: &str) -> String {
    venv_at(".venv", program)
}

/// A program of another virtual environment, relative to the root.
pub fn venv_at(folder: &str, program: &str) -> String {
    if cfg!(windows) { format!("{folder}/Scripts/{program}.exe") } else { format!("{folder}/bin/{program}") }
}

/// Makes `.venv`, and builds and installs the package with its test requirements.
pub fn install_python(shell: &Shell) -> Result<()> {
    install_extra(shell, "test")
}

/// The same with the requirements of another extra.
pub fn install_extra(shell: &Shell, extra: &str) -> Result<()> {
    if !shell.works(&venv("python"), &["-m", "pip", "--version"]) {
        make_venv_at(shell, ".venv")?;
    }
    shell.run(
        &venv("python"),
        &["-m", "pip", "install", "--quiet", "--disable-pip-version-check", &format!(".[{extra}]")],
    )
}

/// Makes a virtual environment.
pub fn make_venv_at(shell: &Shell, folder: &str) -> Result<()> {
    let names = ["python3", "python"];
    let recent = "import sys; sys.exit(sys.version_info < (3, 10))";
    let Some(python) = names.into_iter().find(|name| shell.works(name, &["-c", recent])) else {
        bail!("Python was not found: install Python 3.10 or newer");
    };
    // Debian packs ensurepip apart.
    if !shell.works(python, &["-c", "import ensurepip"]) && !apt_install(shell, "python3-venv")? {
        bail!("{python} has no module venv: install it (Debian: apt-get install python3-venv)");
    }
    shell.run(python, &["-m", "venv", "--clear", folder])
}

/// Sees to a browser for the tests.
///
/// # Errors
/// [`Skipped`] where there is none and none can be installed: the tests that need it skip themselves. In a continuous integration that is
/// a failure.
pub fn ensure_chromium(shell: &Shell) -> Result<()> {
    if let Some(path) = chromium() {
        println!("Chromium: {path}");
        return Ok(());
    }
    if apt_install(shell, "chromium")? {
        return Ok(());
    }
    let what = "no Chromium for the tests in a browser: install it (Debian: apt-get install chromium), or set CHROMIUM to its path";
    if is_continuous_integration() { bail!("{what}") } else { Err(Skipped(what.into()).into()) }
}

fn chromium() -> Option<String> {
    if let Ok(path) = env::var("CHROMIUM") {
        return Some(path);
    }
    let names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
    let folders: Vec<_> = env::split_paths(&env::var_os("PATH").unwrap_or_default()).collect();
    let paths = names.iter().flat_map(|name| folders.iter().map(move |folder| folder.join(name)));
    paths.into_iter().find(|path| path.exists()).map(|path| path.display().to_string())
}

fn is_continuous_integration() -> bool {
    env::var_os("CI").is_some_and(|value| value == "true")
}

/// Installs a Debian package where we may: on Debian, as root.
fn apt_install(shell: &Shell, package: &str) -> Result<bool> {
    let is_root = shell.works("sh", &["-c", "test \"$(id -u)\" = 0"]);
    if !is_root || !Path::new("/usr/bin/apt-get").exists() {
        return Ok(false);
    }
    shell.run("apt-get", &["update", "-q"])?;
    shell.run("apt-get", &["install", "-q", "-y", "--no-install-recommends", package])?;
    Ok(true)
}
