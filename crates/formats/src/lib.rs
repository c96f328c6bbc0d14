//! Files of the field in, files of the field out.
//!
//! [`load`] reads MJCF, URDF and SDFormat, with the meshes that they refer to, into a [`multibody::Model`] and a
//! [`geometry::Scene`]. What a file asks for and the model does not do is never dropped in silence: it is an entry of
//! [`multibody::Model::warnings`] with file and line. A file that makes no sense is a [`LoadError`] that names file,
//! line and element, what came and what was expected. [`trajectory`] writes what a simulation has computed.
//!
//! ```
//! let text = r#"<mujoco><worldbody>
//!   <body name="pole" pos="0 0 1">
//!     <joint name="hinge" axis="0 1 0" range="-90 90"/>
//!     <geom type="capsule" size="0.05" fromto="0 0 0 0 0 -0.5"/>
//!   </body>
//! </worldbody></mujoco>"#;
//! let loaded = sapwood_formats::load_str(text, None, &sapwood_formats::LoadOptions::default())?;
//! assert_eq!((loaded.model.nq(), loaded.model.nv()), (1, 1));
//! assert_eq!(loaded.scene.geoms[0].body, loaded.model.body("pole").unwrap_or(0));
//!
//! let error = sapwood_formats::load_str(&text.replace("capsule", "cap"), None, &sapwood_formats::LoadOptions::default());
//! assert_eq!(error.map(|_| ()).map_err(|e| e.line()), Err(4));
//! # Ok::<(), sapwood_formats::LoadError>(())
//! ```
//!
//! Readers ask elements for their attributes (`xml` remembers which), so a new attribute is a line in the file of
//! its element: `mjcf/joint.rs`, `mjcf/geom.rs`, `urdf/joint.rs`, …

pub mod assembly;
mod assets;
mod binary;
mod error;
mod ground;
pub mod limits;
pub mod mesh_files;
mod mjcf;
mod nearby;
mod overlaps;
mod pictures;
mod robot;
mod sdf;
mod soft_bodies;
mod text;
pub mod trajectory;
mod urdf;
mod warnings;
mod xml;

use std::path::{Path, PathBuf};

use multibody::Warning;

pub use assets::{Assets, Meshes};
pub use binary::{BytesError, from_bytes, to_bytes};
pub use error::LoadError;
pub use ground::add_ground;
pub use mjcf::write::{MeshFiles, WriteError, WriteOptions, Written, WrittenFile, to_mjcf};
pub use robot::actuators::{Actuators, SERVO_FREQUENCY, SERVO_SAG};
pub use soft_bodies::StandingSoftBody;

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
    /// Folders in which the packages of `package://` and `model://` addresses (URDF, SDFormat) are looked for, first match wins.
    pub package_path: Vec<PathBuf>,
    /// Whether the root link of a URDF robot moves freely; it is fixed to the world otherwise. (SDFormat says it itself.)
    pub floating_base: bool,
    /// What drives the joints of a robot of URDF or SDFormat, which have no actuators. An MJCF file says so itself.
    pub actuators: Actuators,
    /// Whether a warning is an error: what is misspelt, and what is not simulated.
    pub is_strict: bool,
}

/// Loads an MJCF, URDF or SDFormat file; its root element tells which it is.
///
/// # Errors
/// When the file, or one that it refers to, cannot be read, or asks for something that makes no sense.
pub fn load(path: &Path, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let file = path.display().to_string();
    let bytes = limits::read_file(path, limits::MAX_MODEL_FILE_BYTES).map_err(|error| {
        let hint = nearby::hint(path);
        LoadError::new(&file, 0, "", format!("cannot be read ({error}): expected an MJCF, URDF or SDFormat file{hint}"))
    })?;
    let text = text::decode(&bytes).map_err(|what| LoadError::new(&file, 0, "", what))?;
    let base = path.parent().map(Path::to_path_buf).unwrap_or_default();
    load_text(&text, &file, Some(&base), options)
}

/// Loads MJCF, URDF or SDFormat text; files that it refers to are looked for in `base_dir`, or not at all.
///
/// # Errors
/// As [`load`].
pub fn load_str(text: &str, base_dir: Option<&Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_text(text, "", base_dir, options)
}

/// Loads MJCF, URDF or SDFormat text; files that it refers to are those of `assets`.
///
/// # Errors
/// As [`load`].
pub fn load_with_assets(text: &str, assets: Assets, options: &LoadOptions) -> Result<Loaded, LoadError> {
    load_with_meshes(text, assets, Meshes::new(), options)
}

/// [`load_with_assets`] of a model whose meshes of these names another one has already: their files need not be there.
///
/// # Errors
/// As [`load`].
pub fn load_with_meshes(
    text: &str,
    assets: Assets,
    meshes: Meshes,
    options: &LoadOptions,
) -> Result<Loaded, LoadError> {
    assets::with(assets, meshes, || load_text(text, "", Some(Path::new("")), options))
}

fn load_text(text: &str, file: &str, base: Option<&Path>, options: &LoadOptions) -> Result<Loaded, LoadError> {
    let (text, repairs) = urdf::repaired(text);
    let mut document = xml::Document::default();
    let root = document.parse(&text, file)?;
    let mut loaded = match document.element(root).name() {
        "mujoco" => mjcf::read(document, root, base),
        "robot" => urdf::read(document, root, base, options),
        "sdf" | "gazebo" => sdf::read(document, root, base, options),
        "COLLADA" => Err(document.element(root).error("is a mesh: expected a model that has it as a <mesh>")),
        _ => Err(document.element(root).error("expected <mujoco> (MJCF), <robot> (URDF) or <sdf> (SDFormat)")),
    }?;
    let repair = |message: &str| Warning { file: file.into(), line: 1, element: "xml".into(), message: message.into() };
    loaded.model.warnings.splice(0..0, repairs.into_iter().map(repair));
    if options.is_strict { without_warnings(loaded) } else { Ok(loaded) }
}

/// A model whose file has nothing that a warning names.
fn without_warnings(loaded: Loaded) -> Result<Loaded, LoadError> {
    let Some(Warning { file, line, element, message }) = loaded.model.warnings.first() else { return Ok(loaded) };
    let more = match loaded.model.warnings.len() - 1 {
        0 => String::new(),
        1 => " (and 1 more warning)".into(),
        n => format!(" (and {n} more warnings)"),
    };
    Err(LoadError::new(file, *line, element, format!("{message}{more}")))
}
