//! `<include>`: files spliced into the document.

use std::path::{Path, PathBuf};

use crate::limits::{MAX_MODEL_FILE_BYTES, read_file};
use crate::xml::{Document, Element};
use crate::{LoadError, assets, nearby, text};

/// Replaces every `<include>` below `root` by the children of the root of the file that it names.
///
/// As in MuJoCo, files are looked for relative to the folder of the main file, then to that of the file that the element
/// stands in, and a file is included at most once, which also rules out cycles.
pub(super) fn expand(document: &mut Document, root: usize, base: Option<&Path>) -> Result<(), LoadError> {
    let mut included = vec![identity(Path::new(document.element(root).file()))];
    let mut stack = vec![root];
    while let Some(parent) = stack.pop() {
        let mut position = 0;
        while let Some(child) = document.child_at(parent, position) {
            if document.element(child).name() != "include" {
                stack.push(child);
                position += 1;
                continue;
            }
            // What is spliced in is looked at again at the same position: it may begin with another include.
            let with = read(document, child, base, &mut included)?;
            document.splice(parent, position, with);
        }
    }
    Ok(())
}

fn read(
    document: &mut Document,
    include: usize,
    base: Option<&Path>,
    included: &mut Vec<PathBuf>,
) -> Result<usize, LoadError> {
    let element = document.element(include);
    let name = element.required("file")?;
    let Some(base) = base else {
        return Err(
            element.error(format!("file=\"{name}\": expected no includes in a model without a folder or assets"))
        );
    };
    let path = first_that_exists(candidates(base, element, Path::new(&name.replace('\\', "/"))));
    let (file, identity) = (path.display().to_string(), identity(&path));
    if included.contains(&identity) {
        return Err(element.error(format!("file=\"{name}\": is included already: expected each file at most once")));
    }
    let bytes = read_file(&path, MAX_MODEL_FILE_BYTES).map_err(|error| {
        let hint = nearby::hint(&path);
        element.error(format!("file=\"{name}\": {file} cannot be read ({error}): expected an MJCF file{hint}"))
    })?;
    included.push(identity);
    let text = text::decode(&bytes).map_err(|what| element.error(format!("file=\"{name}\": {file} {what}")))?;
    document.parse(&text, &file)
}

/// Where a file may be that an element names: relative to the main file's folder, or to that of the element's own file.
pub(super) fn candidates(base: &Path, element: Element<'_>, name: &Path) -> Vec<PathBuf> {
    // Text from memory has no folder of its own.
    let own = if element.file().is_empty() { None } else { Path::new(element.file()).parent() };
    vec![base.join(name), own.unwrap_or(base).join(name)]
}

/// The first of the files that is there, or the first of all.
pub(super) fn first_that_exists(mut candidates: Vec<PathBuf>) -> PathBuf {
    let position = candidates.iter().position(|path| assets::exists(path)).unwrap_or_default();
    candidates.swap_remove(position)
}

/// One path for a file, however it is spelled.
pub(super) fn identity(path: &Path) -> PathBuf {
    std::fs::canonicalize(path).unwrap_or_else(|_| path.into())
}
