//! Where the files are that addresses of meshes name.

use std::path::{Path, PathBuf};

use crate::{LoadOptions, assets};

/// Finds the files of `package://` and `model://` addresses, `file://` addresses and paths.
///
/// Paths are relative to the folder of the URDF file. `package://NAME/REST` is looked for, in this order,
/// 1. in the folders of [`LoadOptions::package_path`],
/// 2. in those of the environment variable `ROS_PACKAGE_PATH`,
/// 3. in `share` below those of `AMENT_PREFIX_PATH`,
/// 4. in the folder of the URDF file and its ancestors, the nearest first:
///
/// at each as `NAME/REST`, and as `REST` where the folder itself is called `NAME`. What is not there is looked for by the last part of its
/// address in the `meshdir` of MuJoCo's extension, `<mujoco><compiler meshdir="…"/></mujoco>`.
pub(super) struct Resolver {
    base: Option<PathBuf>,
    folders: Vec<PathBuf>,
    mesh_dir: Option<PathBuf>,
}

impl Resolver {
    /// Looks from `base`, the folder of the URDF file; `None` for text from memory. `mesh_dir` is that of MuJoCo's extension.
    pub fn new(base: Option<&Path>, mesh_dir: Option<&str>, options: &LoadOptions) -> Self {
        let listed = |name| std::env::var_os(name).map(|v| std::env::split_paths(&v).collect()).unwrap_or_default();
        let ros: Vec<PathBuf> = listed("ROS_PACKAGE_PATH");
        let ament: Vec<PathBuf> = listed("AMENT_PREFIX_PATH");
        // An empty path is the current folder, whose ancestors only its full name tells.
        let base = base.map(|b| std::path::absolute(if b.as_os_str().is_empty() { Path::new(".") } else { b }));
        let base = base.and_then(Result::ok);
        let mut folders = options.package_path.clone();
        folders.extend(ros);
        folders.extend(ament.iter().map(|prefix| prefix.join("share")));
        folders.extend(base.iter().flat_map(|b| b.ancestors()).map(Path::to_path_buf));
        let mesh_dir = mesh_dir.map(|dir| base.as_deref().unwrap_or(Path::new("")).join(dir));
        Self { base, folders, mesh_dir }
    }

    /// The file that an address names, or the places where it was looked for.
    pub fn find(&self, address: &str) -> Result<PathBuf, Vec<PathBuf>> {
        let candidates = self.candidates(address.trim());
        candidates.iter().find(|path| assets::exists(path) && !path.is_dir()).cloned().ok_or(candidates)
    }

    fn candidates(&self, address: &str) -> Vec<PathBuf> {
        if assets::are_given() {
            let (_, name) = address.split_once("://").unwrap_or(("", address));
            return vec![name.into(), name.rsplit(['/', '\\']).next().unwrap_or(name).into()];
        }
        let mut candidates = self.named(address);
        let name = address.rsplit(['/', '\\']).next().unwrap_or(address);
        candidates.extend(self.mesh_dir.iter().map(|dir| dir.join(name)));
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
