//! `sapwood write`.

use anyhow::{Result, bail};
use models::characters::Options;
use support::write_whole;

use crate::arguments::WriteArguments;
use crate::console::print;
use crate::source::Named;

/// Writes a character or scene as MJCF.
pub fn write(arguments: &WriteArguments) -> Result<()> {
    let options = Options { ground: !arguments.no_ground, self_collision: arguments.self_collision };
    if matches!(arguments.model, Named::Scene(_)) && options != Options::default() {
        bail!("--no-ground, --self-collision: scenes have no such options, only characters");
    }
    let text = arguments.model.mjcf(&options);
    let Some(path) = &arguments.file else {
        print(&text);
        return Ok(());
    };
    write_whole(path, text.as_bytes())?;
    print(&format!("wrote {}\n", path.display()));
    Ok(())
}
