//! The files of assets.

use std::path::{Path, PathBuf};

use super::compiler::Compiler;
use super::include::{candidates, first_that_exists};
use crate::LoadError;
use crate::xml::Element;

/// Where files of assets are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files<'c> {
    pub base: Option<&'c Path>,
    pub compiler: &'c Compiler,
}

/// The name of an asset: that of its file, without folders and extension, when it has none of its own.
pub(super) fn asset_name(element: Element<'_>) -> Result<String, LoadError> {
    if let Some(name) = element.attribute("name").filter(|name| !name.is_empty()) {
        return Ok(name.into());
    }
    // Files come from systems with either separator.
    let file = element.attribute("file").map(|file| file.replace('\\', "/"));
    let stem = file.as_deref().and_then(|file| Some(Path::new(file).file_stem()?.to_string_lossy().into_owned()));
    stem.ok_or_else(|| element.error("no attribute `name`: expected a name, or a file to take it from"))
}

impl Files<'_> {
    /// The path of a file that an element names. As in MuJoCo: in the folder of meshes, relative to that of the main file,
    /// or next to the file that the element stands in; or else in the folder of meshes relative to the latter.
    pub fn path(&self, element: Element<'_>, name: &str) -> Result<PathBuf, LoadError> {
        self.in_folder(element, name, self.compiler.mesh_dir.as_deref())
    }

    /// The same for a picture, in the folder of textures.
    pub fn texture(&self, element: Element<'_>, name: &str) -> Result<PathBuf, LoadError> {
        self.in_folder(element, name, self.compiler.texture_dir.as_deref())
    }

    fn in_folder(&self, element: Element<'_>, name: &str, folder: Option<&str>) -> Result<PathBuf, LoadError> {
        // Files come from systems with either separator.
        let name = name.replace('\\', "/");
        let file = Path::new(&name);
        let file = if self.compiler.strip_path { file.file_name().map_or(file, Path::new) } else { file };
        let folder = folder.unwrap_or("").replace('\\', "/");
        let path = Path::new(&folder).join(file);
        match self.base {
            Some(base) => {
                let [in_folder, bare] = [&path, file].map(|name| candidates(base, element, name));
                Ok(first_that_exists([&in_folder[..1], &bare[1..], &in_folder[1..]].concat()))
            }
            None if path.is_absolute() => Ok(path),
            None => {
                Err(element.error(format!("file=\"{name}\": expected no files in a model without a folder or assets")))
            }
        }
    }
}
