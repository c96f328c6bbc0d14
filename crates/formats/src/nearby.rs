//! Files that are like one that is not there, for the message that says so.

use std::fs;
use std::path::{Path, PathBuf};

use support::suggest;

/// Endings of model files, for what has no ending itself.
const MODEL_ENDINGS: [&str; 3] = ["xml", "urdf", "sdf"];
/// Entries of folders that are looked at: a message may not take long.
const MAX_ENTRIES: usize = 5000;
const MAX_SUGGESTIONS: usize = 3;

/// What a message about a file that cannot be read ends with: `; did you mean models/humanoid.xml?`, or nothing.
///
/// Files with the ending of the one that was asked for are looked for in its folder, and in the folders of that one. Where its folder is not
/// there either, one with a similar name is tried. A folder names the model files in it.
pub(crate) fn hint(path: &Path) -> String {
    let text = if path.is_dir() {
        inside(path)
    } else if path.exists() {
        None
    } else {
        suggest::question(similar_files(path).into_iter().map(|file| file.display().to_string()))
    };
    text.map_or_else(String::new, |text| format!("; {text}"))
}

/// The model files in a folder.
fn inside(folder: &Path) -> Option<String> {
    let (mut files, _) = entries(folder, &mut 0);
    files.retain(|file| MODEL_ENDINGS.iter().any(|ending| has_ending(file, ending)));
    files.truncate(MAX_SUGGESTIONS);
    suggest::question(files.into_iter().map(|file| folder.join(file).display().to_string()))
}

/// Files that are there and like this one, which is not.
fn similar_files(path: &Path) -> Vec<PathBuf> {
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let parent = path.parent().unwrap_or(Path::new(""));
    if parent.as_os_str().is_empty() || parent.is_dir() {
        return in_folder(parent, name);
    }
    // The folder is misspelt: what it would be called must hold the file.
    let folders = similar_folders(parent);
    folders.iter().flat_map(|folder| in_folder(folder, name)).take(MAX_SUGGESTIONS).collect()
}

/// Folders that are there and like this one, which is not: one part of the path may be wrong.
fn similar_folders(path: &Path) -> Vec<PathBuf> {
    let Some(existing) = path.ancestors().find(|path| path.as_os_str().is_empty() || path.is_dir()) else {
        return Vec::new();
    };
    let rest: Vec<_> = path.strip_prefix(existing).into_iter().flat_map(Path::components).collect();
    let Some((wrong, rest)) = rest.split_first() else { return Vec::new() };
    let (_, folders) = entries(existing, &mut 0);
    let near = suggest::similar(&wrong.as_os_str().to_string_lossy(), folders.iter().map(String::as_str));
    let rest: PathBuf = rest.iter().collect();
    near.into_iter().map(|folder| existing.join(folder).join(&rest)).filter(|folder| folder.is_dir()).collect()
}

/// Files like `name` in a folder, or else in the folders in it.
fn in_folder(folder: &Path, name: &str) -> Vec<PathBuf> {
    let mut seen = 0;
    let (files, folders) = entries(folder, &mut seen);
    let here = similar_names(name, &files);
    if !here.is_empty() {
        return here.into_iter().map(|file| folder.join(file)).collect();
    }
    let mut found = Vec::new();
    for inner in folders {
        let inner = folder.join(inner);
        let (files, _) = entries(&inner, &mut seen);
        found.extend(similar_names(name, &files).into_iter().map(|file| inner.join(file)));
    }
    // The same name in another folder before similar ones.
    found.sort_by_key(|file| file.file_name().is_none_or(|found| found != name));
    found.truncate(MAX_SUGGESTIONS);
    found
}

/// Those of the files that are like `name` and of its kind.
fn similar_names<'a>(name: &str, files: &'a [String]) -> Vec<&'a str> {
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str());
    let endings = ending.as_ref().map_or(&MODEL_ENDINGS[..], std::slice::from_ref);
    let of_its_kind = files.iter().filter(|file| endings.iter().any(|ending| has_ending(file, ending)));
    if ending.is_some() {
        return suggest::similar(name, of_its_kind.map(String::as_str));
    }
    // Without its ending a name is compared with what stands before theirs.
    let of_its_kind: Vec<&str> = of_its_kind.map(String::as_str).collect();
    let stems =
        suggest::similar(name, of_its_kind.iter().filter_map(|file| file.rsplit_once('.')).map(|(stem, _)| stem));
    let has_stem = |file: &&str, stem: &str| file.rsplit_once('.').is_some_and(|(found, _)| found == stem);
    let files = stems.iter().flat_map(|stem| of_its_kind.iter().copied().filter(|file| has_stem(file, stem)));
    files.take(MAX_SUGGESTIONS).collect()
}

fn has_ending(file: &str, ending: &str) -> bool {
    Path::new(file).extension().is_some_and(|found| found.eq_ignore_ascii_case(ending))
}

/// The names of the files and of the folders in a folder, sorted, hidden ones left out; `seen` counts them.
fn entries(folder: &Path, seen: &mut usize) -> (Vec<String>, Vec<String>) {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let (mut files, mut folders) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        *seen += 1;
        if *seen > MAX_ENTRIES {
            break;
        }
        // Names that are not Unicode could not be printed as they are.
        let Some(name) = entry.file_name().to_str().filter(|name| !name.starts_with('.')).map(String::from) else {
            continue;
        };
        if entry.path().is_dir() { &mut folders } else { &mut files }.push(name);
    }
    // The order of a folder is any.
    files.sort();
    folders.sort();
    (files, folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// robots/humanoid.xml, robots/humanoid_box.xml, robots/arm.urdf, robots/notes.txt, robots/parts/wheel.stl.
    fn robots(test: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("sapwood-nearby-{test}-{}", std::process::id()));
        fs::create_dir_all(folder.join("robots/parts")).unwrap();
        for name in ["humanoid.xml", "humanoid_box.xml", "arm.urdf", "notes.txt", ".humanoid.xml", "parts/wheel.stl"] {
            fs::write(folder.join("robots").join(name), "").unwrap();
        }
        folder
    }

    #[test]
    fn files_like_the_one_that_is_missing_are_named() {
        let folder = robots("files");
        let found = |path: &str| {
            let folder = folder.to_string_lossy().into_owned();
            hint(&Path::new(&folder).join(path)).replace(&folder, "").replace('\\', "/")
        };
        for (path, expected) in [
            ("robots/humanod.xml", "; did you mean /robots/humanoid.xml or /robots/humanoid_box.xml?"),
            ("robots/arm", "; did you mean /robots/arm.urdf?"),
            ("robots/ARM.URDF", "; did you mean /robots/arm.urdf?"),
            // In a folder of the folder, and in one whose name is misspelt.
            ("arm.urdf", "; did you mean /robots/arm.urdf?"),
            ("robts/arm.urdf", "; did you mean /robots/arm.urdf?"),
            ("robots/part/whel.stl", "; did you mean /robots/parts/wheel.stl?"),
            // Of another kind, and like nothing.
            ("robots/note.xml", ""),
            ("robots/quadruped.xml", ""),
            ("nowhere/at/all.xml", ""),
            // A folder, and a file that is there.
            ("robots", "; did you mean /robots/arm.urdf, /robots/humanoid.xml or /robots/humanoid_box.xml?"),
            ("robots/arm.urdf", ""),
        ] {
            if path == "robots/ARM.URDF" && folder.join(path).exists() {
                continue; // a file system that takes them for the same
            }
            assert_eq!(found(path), expected, "{path}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
