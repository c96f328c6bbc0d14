//! Where the files are that addresses of meshes and models name.

use std::path::{Path, PathBuf};

use crate::xml::{Element, shortened};
use crate::{LoadOptions, assets};

/// Folders of packages, as environment variables of ROS and Gazebo list them.
const PACKAGE_VARIABLES: [&str; 4] = ["ROS_PACKAGE_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH", "GAZEBO_MODEL_PATH"];

/// Finds the files of `package://` and `model://` addresses, `file://` addresses and paths.
///
/// Paths are relative to the folder of the model's file, or to that of the file that the element stands in. `package://NAME/REST` is
/// looked for, in this order,
/// 1. in the folders of [`LoadOptions::package_path`],
/// 2. in those of the environment variables `ROS_PACKAGE_PATH`, `GZ_SIM_RESOURCE_PATH`, `SDF_PATH`, `GAZEBO_MODEL_PATH`,
/// 3. in `share` below those of `AMENT_PREFIX_PATH`,
/// 4. in the folder of the model's file and its ancestors, the nearest first:
///
/// at each as `NAME/REST`, and as `REST` where the folder itself is called `NAME`. What is not there is looked for by the last part of its
/// address in the `meshdir` of MuJoCo's extension, `<mujoco><compiler meshdir="…"/></mujoco>`.
pub(crate) struct Resolver {
    base: Option<PathBuf>,
    folders: Vec<PathBuf>,
    mesh_dir: Option<PathBuf>,
}

impl Resolver {
    /// Looks from `base`, the folder of the model's file; `None` for text from memory. `mesh_dir` is that of MuJoCo's extension.
    pub fn new(base: Option<&Path>, mesh_dir: Option<&str>, options: &LoadOptions) -> Self {
        let listed =
            |name| std::env::var_os(name).map(|v| std::env::split_paths(&v).collect::<Vec<_>>()).unwrap_or_default();
        // An empty path is the current folder, whose ancestors only its full name tells.
        let base = base.map(|b| std::path::absolute(if b.as_os_str().is_empty() { Path::new(".") } else { b }));
        let base = base.and_then(Result::ok);
        let mut folders = options.package_path.clone();
        folders.extend(PACKAGE_VARIABLES.into_iter().flat_map(listed));
        folders.extend(listed("AMENT_PREFIX_PATH").iter().map(|prefix| prefix.join("share")));
        folders.extend(base.iter().flat_map(|b| b.ancestors()).map(Path::to_path_buf));
        let mesh_dir = mesh_dir.map(|dir| base.as_deref().unwrap_or(Path::new("")).join(dir));
        Self { base, folders, mesh_dir }
    }

    /// The file that an address names, which stands at this element.
    ///
    /// # Errors
    /// When there is none; the message names a place where it was looked for, and how many others there are.
    pub fn find(&self, element: Element<'_>, address: &str) -> Result<PathBuf, String> {
        let candidates = self.candidates(element, address);
        let found = candidates.iter().find(|path| assets::exists(path) && !path.is_dir()).cloned();
        found.ok_or_else(|| no_such_file(address, &candidates))
    }

    /// The places where an address that stands at this element may lead.
    pub fn candidates(&self, element: Element<'_>, address: &str) -> Vec<PathBuf> {
        let address = address.trim();
        if assets::are_given() {
            let (_, name) = address.split_once("://").unwrap_or(("", address));
            return vec![name.into(), name.rsplit(['/', '\\']).next().unwrap_or(name).into()];
        }
        let mut candidates = self.named(address);
        let name = address.rsplit(['/', '\\']).next().unwrap_or(address);
        candidates.extend(self.mesh_dir.iter().map(|dir| dir.join(name)));
        if !address.contains("://") && self.base.is_some() {
            let beside = Path::new(element.file()).parent().map(|folder| folder.join(address));
            candidates.extend(beside.and_then(|path| std::path::absolute(path).ok()));
            candidates.dedup();
        }
        candidates
    }

    /// The files that the address names by itself.
    fn named(&self, address: &str) -> Vec<PathBuf> {
        let packaged = address.strip_prefix("package://").or_else(|| address.strip_prefix("model://"));
        let Some(rest) = packaged else {
            let path = Path::new(address.strip_prefix("file://").unwrap_or(address));
            return match &self.base {
                Some(base) => vec![base.join(path)],
                None => vec![path.to_path_buf()],
            };
        };
        let (name, inside) = rest.split_once('/').unwrap_or((rest, ""));
        let mut candidates: Vec<PathBuf> = Vec::new();
        for folder in &self.folders {
            let itself = folder.file_name().is_some_and(|f| f == name).then(|| folder.join(inside));
            for candidate in itself.into_iter().chain([folder.join(name).join(inside)]) {
                if !candidates.contains(&candidate) {
                    candidates.push(candidate);
                }
            }
        }
        candidates
    }
}

/// The message for an address that leads nowhere. It shows one of the places alone: those in the folders above the file's are many.
pub(crate) fn no_such_file(address: &str, searched: &[PathBuf]) -> String {
    let places = match searched {
        [] => "nowhere (text without a folder)".into(),
        [place] => place.display().to_string(),
        [place, others @ ..] => {
            format!("{} or one of {} other places, see package_path", place.display(), others.len())
        }
    };
    format!("\"{}\": no such file: expected {places}", shortened(address))
}
