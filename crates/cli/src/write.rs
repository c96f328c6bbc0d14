//! `sapwood write`.

use anyhow::{Result, bail};
use models::characters::Options;

use crate::arguments::WriteArguments;
use crate::console::print;
use crate::source::Named;
use crate::whole_files;

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
    whole_files::write(path, &text)?;
    print(&format!("wrote {}\n", path.display()));
    Ok(())
}
