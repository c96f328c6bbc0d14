//! MJCF, URDF and meshes in: a [`multibody::Model`] and a [`geometry::Scene`].

mod error;
pub mod mesh_files;
mod mjcf;
pub mod trajectory;
mod urdf;
mod warnings;
mod xml;

use std::path::{Path, PathBuf};

use multibody::Warning;

pub use error::LoadError;

/// A file as a model and a scene.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Bodies, joints, actuators, keyframes, materials, and the warnings.
    pub model: multibody::Model,
    /// Geoms, and which of them may touch.
    pub scene: geometry::Scene,
}

/// How files are found.
#[derive(Clone, Debug, Default)]
pub struct LoadOptions {
    /// Folders in which the packages of `package://` addresses (URDF) are looked for, first match wins.
    pub package_path: Vec<PathBuf>,
    /// Whether the root link of a URDF robot moves freely; it is fixed to the world otherwise.
    pub floating_base: bool,
}

/// Loads an MJCF or URDF file; its root element tells which it is.
///
/// # Errors
/// When the file, or one that it refers to, cannot be read, or asks for something that makes no sense.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let file = path.display().to_string();
    let bytes = std::fs::read(path).map_err(|error| {
        LoadError::new(&file, 0, "", format!("cannot be read ({error}): expected an MJCF or URDF file"))
    })?;
    // Bytes that are not UTF-8 stand in comments and names of authors; elsewhere the readers will stumble over them.
    let text = String::from_utf8_lossy(&bytes);
    let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
    load_text(&text, &file, Some(&base), options)
}

/// Loads MJCF or URDF text; files that it refers to are looked for in `base_dir`, or not at all.
///
/// # Errors
/// As [`load`].
pub fn load_str(text: &str, base_dir: Option<&Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_text(text, "", base_dir, options)
}

fn load_text(text: &str, file: &str, base: Option<&Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let (text, repairs) = urdf::repaired(text);
    let mut document = xml::Document::default();
    let root = document.parse(&text, file)?;
    let mut loaded = match document.element(root).name() {
        "mujoco" => mjcf::read(document, root, base),
        "robot" => urdf::read(&document, root, base, options),
        _ => Err(document.element(root).error("expected <mujoco> (MJCF) or <robot> (URDF)")),
    }?;
    let repair = |message: &str| Warning { file: file.into(), line: 1, element: "xml".into(), message: message.into() };
    loaded.model.warnings.splice(0..0, repairs.into_iter().map(repair));
    Ok(loaded)
}
