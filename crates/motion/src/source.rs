//! Motions by name or file, on any model that has their joints.

use std::path::Path;
use std::sync::Arc;

use multibody::Model;
use support::{brief, suggest};

use crate::gait::{self, GaitError, LeggedGait, Slither, SlitherPattern};
use crate::retarget::{Retarget, RetargetError, RetargetOptions};
use crate::{Axes, Binding, BindingError, BindingOptions, Clip, LoopMode, Motion, ReadError, Skeleton, bvh, deepmimic};

/// The gaits that are written as code.
pub const GAITS: [&str; 6] = ["walk", "run", "trot", "pace", "canter", "slither"];

/// Seams of recorded loops are closed over so many seconds ([`Clip::with_closed_loop`]).
const SEAM: f64 = 0.2;

/// A motion that can be shared by threads.
pub type SharedMotion = Arc<dyn Motion + Send + Sync>;

/// How a file is read and meets a model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceOptions {
    /// Of BVH files: axes, scale, names.
    pub retarget: RetargetOptions,
    /// What follows after the last frame; `None` for what the file says (BVH files say nothing: the end is kept).
    pub loop_mode: Option<LoopMode>,
}

/// A gait by name, or a clip from a file, before it meets a model.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Gait(&'static str),
    /// The file, and its clip in our axes.
    DeepMimic {
        file: String,
        clip: Clip,
    },
    /// The file and its text: axes and scale are known when there is a model.
    Bvh {
        file: String,
        text: Arc<str>,
        skeleton: Skeleton,
        clip: Clip,
    },
}

/// Why there is no motion, or none for this model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum SourceError {
    /// Neither a gait nor a file.
    #[error("there is no gait and no file {}: {hint}", brief(&format!("{name:?}")))]
    Unknown {
        /// What was asked for.
        name: String,
        /// What is near, or what there is.
        hint: String,
    },
    /// A file that is no clip.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// A gait that the model cannot go in.
    #[error("gait {name:?} on model {model:?}: {error}; {hint}")]
    Gait {
        /// The gait.
        name: &'static str,
        /// The model.
        model: String,
        /// Why.
        error: GaitError,
        /// Which gaits the model can go in.
        hint: String,
    },
    /// Nothing moves freely.
    #[error("model {model:?} has no free joint: expected one for the motion's root")]
    NoRoot {
        /// The model.
        model: String,
    },
    /// Joints that do not meet.
    #[error("{file}: frame 0: {error}")]
    Binding {
        /// The file.
        file: String,
        /// Why.
        error: BindingError,
    },
    /// A figure that does not stand for the model.
    #[error("{file}: frame 0: {error}")]
    Retarget {
        /// The file.
        file: String,
        /// Why.
        error: RetargetError,
    },
}

/// A motion on a model.
#[derive(Clone)]
pub struct BoundMotion {
    /// The motion.
    pub motion: SharedMotion,
    /// How it drives the model.
    pub binding: Binding,
    /// What was decided: axes, scale, names. For people.
    pub notes: Vec<String>,
}

impl Source {
    /// The gait of this name, or else the clip of this file: BVH where the name ends in `.bvh`, DeepMimic's text otherwise.
    ///
    /// # Errors
    /// When there is neither, with names that are near, or the file is broken.
    pub fn open(name: &str) -> Result<Self, SourceError> {
        if let Some(gait) = GAITS.iter().find(|gait| **gait == name) {
            return Ok(Self { name: name.into(), kind: Kind::Gait(gait) });
        }
        let path = Path::new(name);
        if !path.exists() {
            return Err(SourceError::Unknown { name: name.into(), hint: hint(path) });
        }
        let (text, file) = crate::error::read_text(path, "BVH or DeepMimic motion")?;
        let is_bvh = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("bvh"));
        Self::parse(&text, &file, is_bvh || text.trim_start_matches('\u{feff}').trim_start().starts_with("HIERARCHY"))
    }

    /// The clip of this text, BVH or DeepMimic's; `file` names it.
    ///
    /// # Errors
    /// When the text is broken.
    pub fn parse(text: &str, file: &str, is_bvh: bool) -> Result<Self, SourceError> {
        let name = Path::new(file).file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default();
        let kind = if is_bvh {
            // In the file's own axes and units, so that it is known to be whole before there is a model.
            let options = bvh::Options { scale: 1.0, axes: Axes::ZUpXForward, loop_mode: LoopMode::Clamp };
            let bvh::Loaded { skeleton, clip, .. } = bvh::parse(text, file, &options)?;
            Kind::Bvh { file: file.into(), text: text.into(), skeleton, clip }
        } else {
            Kind::DeepMimic { file: file.into(), clip: deepmimic::parse(text, file)?.clip }
        };
        Ok(Self { name, kind })
    }

    /// The name: of the gait, or of the file without its ending.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The clip, in the file's own axes and units if it is BVH; `None` of gaits.
    pub fn clip(&self) -> Option<&Clip> {
        match &self.kind {
            Kind::Gait(_) => None,
            Kind::DeepMimic { clip, .. } | Kind::Bvh { clip, .. } => Some(clip),
        }
    }

    /// The motion on a model, whose joints it meets by their names.
    ///
    /// # Errors
    /// When it does not fit the model.
    pub fn on(&self, model: &Model, options: &SourceOptions) -> Result<BoundMotion, SourceError> {
        match &self.kind {
            Kind::Gait(name) => {
                let motion = on_gait(name, model)?;
                let binding = Binding::new(model, &motion, &BindingOptions::default());
                let binding = binding.map_err(|error| SourceError::Binding { file: self.name.clone(), error })?;
                Ok(BoundMotion { motion, binding, notes: Vec::new() })
            }
            Kind::DeepMimic { file, clip } => {
                let RetargetOptions { scale, rename, keep_unnamed, .. } = &options.retarget;
                let binding = BindingOptions {
                    rename: rename.clone(),
                    keep_unnamed: *keep_unnamed,
                    scale: scale.unwrap_or(1.0),
                    ..BindingOptions::default()
                };
                bind(clip.clone(), file, model, options.loop_mode, &binding, Vec::new())
            }
            Kind::Bvh { file, text, skeleton, .. } => {
                let model_skeleton =
                    Skeleton::of_model(model).ok_or_else(|| SourceError::NoRoot { model: model.name.clone() })?;
                let retarget = Retarget::new(skeleton, &model_skeleton, &options.retarget)
                    .map_err(|error| SourceError::Retarget { file: file.clone(), error })?;
                let read = bvh::Options { scale: retarget.scale, axes: retarget.axes, loop_mode: LoopMode::Clamp };
                let loaded = bvh::parse(text, file, &read)?;
                let clip = retarget.apply(&loaded.clip, &loaded.skeleton, &model_skeleton);
                let binding =
                    BindingOptions { keep_unnamed: options.retarget.keep_unnamed, ..BindingOptions::default() };
                let mut notes = vec![format!("axes {}, {:.5} m per unit", retarget.axes.name(), retarget.scale)];
                let renamed = retarget.renamed(skeleton, &model_skeleton);
                if !renamed.is_empty() {
                    let pairs: Vec<String> = renamed.iter().map(|(from, to)| format!("{from}={to}")).collect();
                    notes.push(format!("joints by {}", pairs.join(", ")));
                }
                notes.extend(loaded.warnings.iter().map(ToString::to_string));
                bind(clip, file, model, options.loop_mode, &binding, notes)
            }
        }
    }
}

fn bind(
    clip: Clip,
    file: &str,
    model: &Model,
    loop_mode: Option<LoopMode>,
    options: &BindingOptions,
    notes: Vec<String>,
) -> Result<BoundMotion, SourceError> {
    let mode = loop_mode.unwrap_or(clip.loop_mode());
    let clip = clip.with_loop_mode(mode);
    let clip = if mode == LoopMode::Wrap { clip.with_closed_loop(SEAM) } else { clip };
    let binding = Binding::new(model, &clip, options);
    let binding = binding.map_err(|error| SourceError::Binding { file: file.into(), error })?;
    Ok(BoundMotion { motion: Arc::new(clip), binding, notes })
}

fn on_gait(name: &'static str, model: &Model) -> Result<SharedMotion, SourceError> {
    let skeleton = Skeleton::of_model(model).ok_or_else(|| SourceError::NoRoot { model: model.name.clone() })?;
    make(name, &skeleton).map_err(|error| {
        let fits: Vec<String> =
            GAITS.iter().filter(|gait| make(gait, &skeleton).is_ok()).map(|gait| format!("{gait:?}")).collect();
        let hint = if fits.is_empty() { "no gait fits it".into() } else { format!("it can go in {}", fits.join(", ")) };
        SourceError::Gait { name, model: model.name.clone(), error, hint }
    })
}

fn make(name: &str, skeleton: &Skeleton) -> Result<SharedMotion, GaitError> {
    let pattern = match name {
        "walk" => gait::walk(),
        "run" => gait::run(),
        "trot" => gait::trot(),
        "pace" => gait::pace(),
        "canter" => gait::canter(),
        _ => return Ok(Arc::new(Slither::new(skeleton, &SlitherPattern::default())?)),
    };
    Ok(Arc::new(LeggedGait::new(skeleton, &pattern)?))
}

/// What was probably meant: a gait, or a file of the same folder.
fn hint(path: &Path) -> String {
    let name = path.to_string_lossy().into_owned();
    if let Some(question) = suggest::did_you_mean(&name, GAITS) {
        return question;
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let files = std::fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok).take(MAX_FILES);
    let files: Vec<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let own = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let near = suggest::similar(&own, files.iter().map(String::as_str).filter(|file| is_clip(file)));
    let near = near.into_iter().map(|file| format!("{:?}", path.with_file_name(file).to_string_lossy()));
    suggest::question(near)
        .unwrap_or_else(|| format!("expected a file (DeepMimic's text or BVH) or one of {}", GAITS.join(", ")))
}

/// So many names of a folder are looked at for a suggestion.
const MAX_FILES: usize = 10_000;

fn is_clip(file: &str) -> bool {
    let ending = Path::new(file).extension().map(|ending| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| ending == "txt" || ending == "bvh" || ending == "json")
}
