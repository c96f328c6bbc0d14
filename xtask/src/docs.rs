//! `cargo xtask docs`: the documentation site, and the pictures in it.

use anyhow::Result;

use crate::shell::Shell;
use crate::tools::{install_extra, venv};

const SITE: &str = "site/html";

/// Installs the package and what the site is made with, builds it, and says where it is. Warnings are errors: broken
/// links, pages that no menu has, notebooks that fail.
pub fn docs(shell: &Shell) -> Result<()> {
    prepare(shell)?;
    build(shell, &[], SITE)?;
    println!("\nOpen the documentation in a browser: file://{}", shell.path(SITE).join("index.html").display());
    Ok(())
}

/// Builds the site beside the one that is kept, to see that there are no warnings. Notebooks are shown without results: pytest runs them.
pub fn check(shell: &Shell) -> Result<()> {
    build(shell, &["-D", "nb_execution_mode=off"], "target/documentation")
}

fn build(shell: &Shell, options: &[&str], out: &str) -> Result<()> {
    let sphinx = ["-m", "sphinx", "-q", "-E", "-W", "--keep-going", "-b", "html"];
    shell.run(&venv("python"), &[&sphinx, options, &["docs", out]].concat())
}

/// Draws the pictures of the documentation, or those named.
pub fn pictures(shell: &Shell, names: &[&str]) -> Result<()> {
    prepare(shell)?;
    shell.run(&venv("python"), &[&["python/documentation/pictures.py"], names].concat())
}

/// Without a network what is installed is used.
fn prepare(shell: &Shell) -> Result<()> {
    let needs = "import sapwood, sphinx, furo, myst_nb, sphinx_copybutton, matplotlib, scipy, gymnasium, ipykernel";
    match install_extra(shell, "docs") {
        Err(error) if shell.works(&venv("python"), &["-c", needs]) => {
            println!("{error:#}: going on with the package that is installed in .venv, which may be an older one");
            Ok(())
        }
        result => result,
    }
}
