//! `sapwood write`.

use std::fs;

use anyhow::{Context, Result};
use characters::Options;

use crate::arguments::WriteArguments;
use crate::console::print;

/// Writes a character as MJCF.
pub fn write(arguments: &WriteArguments) -> Result<()> {
    let options = Options { ground: !arguments.no_ground, self_collision: arguments.self_collision };
    let text = characters::mjcf(arguments.character, &options);
    let Some(path) = &arguments.file else {
        print(&text);
        return Ok(());
    };
    fs::write(path, text).with_context(|| format!("{}: cannot be written", path.display()))?;
    print(&format!("wrote {}\n", path.display()));
    Ok(())
}
