//! `<include>`: files spliced into the document.

use std::path::Path;

use crate::LoadError;
use crate::xml::Document;

/// Replaces every `<include>` below `root` by the children of the root of the file that it names.
///
/// Files are looked for relative to the folder of the main file. As in MuJoCo a file is included at most once, which
/// also rules out cycles.
pub(super) fn expand(document: &mut Document, root: usize, base: Option<&Path>) -> Result<(), LoadError> {
    let mut included: Vec<String> = vec![document.element(root).file().into()];
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
    included: &mut Vec<String>,
) -> Result<usize, LoadError> {
    let element = document.element(include);
    let name = element.required("file")?;
    let Some(base) = base else {
        return Err(element.error(format!("file=\"{name}\": expected no includes in a model without a folder")));
    };
    let path = base.join(name);
    let file = path.display().to_string();
    if included.contains(&file) {
        return Err(element.error(format!("file=\"{name}\": is included already: expected each file at most once")));
    }
    let text = std::fs::read_to_string(&path).map_err(|error| {
        element.error(format!("file=\"{name}\": {file} cannot be read ({error}): expected an MJCF file"))
    })?;
    included.push(file.clone());
    document.parse(&text, &file)
}
