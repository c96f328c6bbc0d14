//! The files of a run.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use formats::trajectory::NpzError;
use multibody::Model;
use replay::{PageError, Recording};
use serde::Serialize;
use sim::Simulation;
use support::WholeFiles;

use crate::console::{note, print};
use crate::failure::print_json;
use crate::summary::Summary;
use crate::{FAILED, energy_plot, trajectory};

/// A folder that files are written to.
#[derive(Debug)]
pub struct Output {
    folder: PathBuf,
    /// The name of the picture in it.
    picture: &'static str,
}

const SUMMARY: &str = "summary.json";
const PAGE: &str = "replay.html";
const TRAJECTORY: &str = "trajectory.npz";
/// A file that is made and taken away, to see whether that can be done.
const TRIAL: &str = ".sapwood.part";

impl Output {
    /// Makes the folder, so that a run does not end with a place that it cannot write to: all that stands in the way is an error.
    pub fn create(folder: &Path, picture: &'static str) -> Result<Self> {
        fs::create_dir_all(folder).with_context(|| format!("--out {}: cannot make this folder", folder.display()))?;
        for name in [SUMMARY, picture, PAGE, TRAJECTORY] {
            let path = folder.join(name);
            if fs::metadata(&path).is_ok_and(|place| !place.is_file()) {
                bail!(
                    "--out {}: {name} is there and is no file: expected one, which is replaced, or none",
                    folder.display()
                );
            }
        }
        let is_writable = File::create(folder.join(TRIAL)).and_then(|_| fs::remove_file(folder.join(TRIAL)));
        is_writable.with_context(|| format!("--out {}: cannot write into this folder", folder.display()))?;
        Ok(Self { folder: folder.into(), picture })
    }

    /// Writes the files of a run and returns where they are.
    pub fn write(&self, simulation: &Simulation, recording: &Recording, summary: &Summary) -> Result<Vec<PathBuf>> {
        let svg = energy_plot::svg(&simulation.model().name, recording)?;
        let page = replay::page(simulation.model(), simulation.scene(), recording, summary);
        self.put(summary, &svg, page, simulation.model(), recording)
    }

    /// Writes a summary, a picture, a page and a trajectory, and returns where they are; says why one is not there. They are of one
    /// run: all are replaced, or none.
    pub fn put(
        &self,
        summary: &impl Serialize,
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
        let texts = [(SUMMARY, Some(&*json)), (self.picture, Some(svg)), (PAGE, html.as_deref())];
        for (name, text) in texts {
            let Some(text) = text else { continue };
            files.add(&self.folder.join(name), |out| out.write_all(text.as_bytes())).with_context(kept)?;
            names.push(name);
        }
        let write_trajectory = |out: &mut _| match trajectory::write(out, model, recording) {
            Err(NpzError::Io(error)) => Err(error),
            written => written.map_err(io::Error::other),
        };
        files.add(&self.folder.join(TRAJECTORY), write_trajectory).with_context(kept)?;
        names.push(TRAJECTORY);
        files.put_in_place()?;
        if html.is_none() {
            note(format!(
                "{} was not written: this command was built without the replay page. To have it, run \
                 `cargo xtask web` in the sources (needs Node 20) and build the command again",
                self.folder.join(PAGE).display()
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
