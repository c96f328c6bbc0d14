//! `cargo xtask wheel`: a wheel that others can install, its sources for other systems, and a trial where nothing else is.

use anyhow::{Context, Result, bail};

use crate::shell::Shell;
use crate::tools::{build_web, has_node, make_venv_at, venv_at};

/// Folder of the tools and of the wheels.
const TOOLS: &str = "target/wheel-tools";
const WHEELS: &str = "target/wheels";

/// The oldest C library that wheels run with: that of Debian 10, Ubuntu 20.04 and RHEL 8.
const POLICY: &str = "manylinux_2_28";

/// Builds the wheel for `target` (`x86_64`, `aarch64`; none: this machine's) and tries it, where this machine can run it.
pub fn wheel(shell: &Shell, target: Option<&str>) -> Result<()> {
    let python = venv_at(TOOLS, "python");
    if !shell.works(&python, &["-m", "pip", "--version"]) {
        make_venv_at(shell, TOOLS)?;
    }
    // Zig links against old C libraries, for this processor and for others.
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "maturin>=1.9,<2", "ziglang"];
    shell.run(&python, &install)?;
    let own = std::env::consts::ARCH;
    let target = target.unwrap_or(own);
    let triple = format!("{target}-unknown-linux-gnu");
    if !["x86_64", "aarch64"].contains(&target) {
        bail!("no wheel for {target}: expected x86_64 or aarch64");
    }
    if has_node(shell) {
        build_web(shell)?;
    }
    // Toolchains that do not come from rustup bring their targets along, or not: the build says so.
    if target != own && shell.works("rustup", &["--version"]) {
        shell.run("rustup", &["target", "add", &triple])?;
    }
    let program = shell.path(&venv_at(TOOLS, "maturin"));
    let program = program.to_str().context("the repository's path is not UTF-8")?;
    let build =
        ["build", "--release", "--strip", "--zig", "--compatibility", POLICY, "--target", &triple, "--out", WHEELS];
    let bin = shell.path(TOOLS).join("bin");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let builder = Shell::at_root()?.with("PATH", path);
    builder.run(program, &build)?;
    builder.run(program, &["sdist", "--out", WHEELS])?;
    if target != own {
        println!("built for {target}: it can only be tried there");
        return Ok(());
    }
    shell.run(&python, &["python/tests/try_wheel.py", WHEELS])
}
