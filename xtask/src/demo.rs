//! `cargo xtask demo`.

use anyhow::Result;

use crate::shell::Shell;
use crate::tools;

const OUT: &str = "out/demo";

/// Builds the page and the command, simulates the embedded humanoid, and says where the replay is.
pub fn demo(shell: &Shell) -> Result<()> {
    if tools::has_node(shell) {
        tools::build_web(shell)?;
    } else {
        println!("npm was not found: going on without the replay page (it needs Node 20 or newer)");
    }
    shell.run("cargo", &["run", "--release", "--bin", "sapwood", "--", "run", "--out", OUT])?;
    let replay = shell.path(OUT).join("replay.html");
    if replay.exists() {
        println!("\nOpen the replay in a browser: file://{}", replay.display());
    }
    Ok(())
}
