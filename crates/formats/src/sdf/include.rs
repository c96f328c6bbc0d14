//! `<include>`: models of other files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::limits::{MAX_MODEL_FILE_BYTES, read_file};
use crate::robot::resolve::{Resolver, no_such_file};
use crate::xml::{Document, Element};
use crate::{LoadError, assets, text};

use super::value;

/// Files that include files.
const MAX_DEPTH: usize = 32;

/// Puts into every `<include>` the `<model>` of the file that it names, as its last child.
pub(super) fn expand(document: &mut Document, root: usize, resolver: &Resolver) -> Result<(), LoadError> {
    let mut bytes = MAX_MODEL_FILE_BYTES;
    let mut pending = vec![(root, 0)];
    while let Some((index, depth)) = pending.pop() {
        if document.element(index).name() != "include" {
            let children = document.child_indices(index).iter().rev().map(|&child| (child, depth));
            pending.extend(children);
            continue;
        }
        if depth == MAX_DEPTH {
            return Err(document.element(index).error(format!("files include files {MAX_DEPTH} deep: expected fewer")));
        }
        let model = read(document, index, resolver, &mut bytes)?;
        let children = document.child_indices(index).iter().copied().chain([model]).collect();
        document.set_children(index, children);
        pending.push((model, depth + 1));
    }
    Ok(())
}

/// The index of the `<model>` that an `<include>` names.
fn read(document: &mut Document, include: usize, resolver: &Resolver, bytes: &mut u64) -> Result<usize, LoadError> {
    let element = document.element(include);
    let uri = value::required(element, "uri")?;
    let path = find(element, uri, resolver)?;
    let file = path.display().to_string();
    let content = read_file(&path, *bytes).map_err(|error| {
        element
            .error(format!("{file} cannot be read ({error}; all that is included counts): expected an SDFormat file"))
    })?;
    *bytes = bytes.saturating_sub(content.len() as u64);
    let text = text::decode(&content).map_err(|what| element.error(format!("{file} {what}")))?;
    let (text, _) = crate::urdf::repaired(&text);
    let root = document.parse(&text, &file)?;
    let root = document.element(root);
    if !matches!(root.name(), "sdf" | "gazebo") {
        return Err(root.error("expected <sdf> in a file that is included"));
    }
    let model = root.children_of("model").next();
    model.ok_or_else(|| root.error("no <model>: expected one in a file that is included"))
}

/// The file of a model: what the address names, or in that folder what its `model.config` names, or `model.sdf`.
fn find(element: Element<'_>, uri: &str, resolver: &Resolver) -> Result<PathBuf, LoadError> {
    if uri.starts_with("http://") || uri.starts_with("https://") {
        return Err(element.error(format!(
            "\"{uri}\" is on a server: expected a file; download the model and put its folder into package_path"
        )));
    }
    let candidates = resolver.candidates(element, uri);
    for candidate in &candidates {
        if assets::exists(candidate) && !candidate.is_dir() {
            return Ok(candidate.clone());
        }
        if let Some(named) = configured(candidate) {
            return Ok(named);
        }
        let usual = candidate.join("model.sdf");
        if assets::exists(&usual) {
            return Ok(usual);
        }
    }
    Err(element.error(no_such_file(uri, &candidates)))
}

/// The file that `model.config` names for the newest version of the format.
fn configured(folder: &Path) -> Option<PathBuf> {
    let config = folder.join("model.config");
    if !assets::exists(&config) {
        return None;
    }
    let content = read_file(&config, MAX_MODEL_FILE_BYTES).ok()?;
    let mut document = Document::default();
    let root = document.parse(&String::from_utf8_lossy(&content), &config.display().to_string()).ok()?;
    let files = document.element(root).children_named("sdf");
    let versions: BTreeSet<(super::Version, &str)> =
        files.map(|file| (super::Version::of(file), file.text().trim())).collect();
    let (_, name) = versions.last()?;
    Some(folder.join(name)).filter(|path| assets::exists(path))
}
