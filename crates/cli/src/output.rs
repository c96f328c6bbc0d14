//! The files of a run.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use sim::Simulation;

use crate::console::print;
use crate::recording::Recording;
use crate::summary::Summary;
use crate::{energy_plot, replay, trajectory};

/// A folder that files are written to.
#[derive(Debug)]
pub struct Output {
    folder: PathBuf,
}

impl Output {
    /// Makes the folder, so that a run does not end with a place that it cannot write to.
    pub fn create(folder: &Path) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("--out {}: cannot make this folder", folder.display()))?;
        Ok(Self { folder: folder.into() })
    }

    /// Writes all files and says where they are, or why one is not there.
    pub fn write(&self, simulation: &Simulation, recording: &Recording, summary: &Summary) -> Result<()> {
        let mut json = serde_json::to_string_pretty(summary)?;
        json.push('\n');
        self.put("summary.json", json.as_bytes())?;
        let path = self.folder.join("trajectory.npz");
        trajectory::write(&path, simulation.model(), recording).with_context(|| path.display().to_string())?;
        print(&format!("wrote {}\n", path.display()));
        self.put("energy.svg", energy_plot::svg(&simulation.model().name, recording)?.as_bytes())?;
        match replay::page(simulation, recording, summary)? {
            Some(html) => self.put("replay.html", html.as_bytes())?,
            None => eprintln!(
                "note: {} was not written: this command was built without the replay page. To have it, run \
                 `npm ci` and `npm run build` in the folder web (needs Node 20) and build the command again, or run \
                 `cargo xtask demo`",
                self.folder.join("replay.html").display()
            ),
        }
        Ok(())
    }

    fn put(&self, name: &str, bytes: &[u8]) -> Result<()> {
        let path = self.folder.join(name);
        fs::write(&path, bytes).with_context(|| format!("{}: cannot be written", path.display()))?;
        print(&format!("wrote {}\n", path.display()));
        Ok(())
    }
}
