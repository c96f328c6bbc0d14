//! The files of a run.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use multibody::Model;
use replay::{PageError, Recording};
use serde::Serialize;
use sim::Simulation;

use crate::console::{note, print};
use crate::failure::print_json;
use crate::summary::Summary;
use crate::whole_files::WholeFiles;
use crate::{FAILED, energy_plot, trajectory};

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

    /// Writes the files of a run and returns where they are.
    pub fn write(&self, simulation: &Simulation, recording: &Recording, summary: &Summary) -> Result<Vec<PathBuf>> {
        let svg = energy_plot::svg(&simulation.model().name, recording)?;
        let page = replay::page(simulation.model(), simulation.scene(), recording, summary);
        self.put(summary, "energy.svg", &svg, page, simulation.model(), recording)
    }

    /// Writes a summary, a picture, a page and a trajectory, and returns where they are; says why one is not there. They are of one
    /// run: all are replaced, or none.
    pub fn put(
        &self,
        summary: &impl Serialize,
        picture: &'static str,
        svg: &str,
        page: Result<String, PageError>,
        model: &Model,
        recording: &Recording,
    ) -> Result<Vec<PathBuf>> {
        let json = serde_json::to_string_pretty(summary)? + "\n";
        let html = match page {
            Err(PageError::NoPlayer) => None,
            page => Some(page?),
        };
        let mut files = WholeFiles::default();
        let mut names = Vec::new();
        let texts = [("summary.json", Some(&*json)), (picture, Some(svg)), ("replay.html", html.as_deref())];
        for (name, text) in texts {
            let Some(text) = text else { continue };
            files.add(&self.folder.join(name), |out| Ok(out.write_all(text.as_bytes())?)).with_context(kept)?;
            names.push(name);
        }
        let trajectory = "trajectory.npz";
        files
            .add(&self.folder.join(trajectory), |out| Ok(trajectory::write(out, model, recording)?))
            .with_context(kept)?;
        names.push(trajectory);
        files.put_in_place()?;
        if html.is_none() {
            note(format!(
                "{} was not written: this command was built without the replay page. To have it, run \
                 `cargo xtask web` in the sources (needs Node 20) and build the command again",
                self.folder.join("replay.html").display()
            ));
        }
        Ok(names.into_iter().map(|name| self.folder.join(name)).collect())
    }
}

fn kept() -> &'static str {
    "nothing was written, and files of an earlier run were kept"
}

/// What `--json` prints of a run: its summary and the files that it wrote.
#[derive(Serialize)]
pub struct Document<S> {
    #[serde(flatten)]
    pub summary: S,
    pub files: Vec<PathBuf>,
}

impl<S: Serialize> Document<S> {
    /// Names the files to who is told, and prints all as JSON to who asked for that.
    pub fn tell(&self, is_told: bool, as_json: bool) {
        if is_told {
            self.files.iter().for_each(|file| print(&format!("wrote {}\n", file.display())));
        }
        if as_json {
            print_json(self);
        }
    }
}

/// The exit code of a run that was `interrupted` by a signal with this code, that `completed`, or that failed.
pub fn exit_code(interrupted: Option<u8>, completed: bool) -> u8 {
    interrupted.unwrap_or(if completed { 0 } else { FAILED })
}
