//! Files that a caller gives in place of those of a disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use geometry::Mesh;

/// Contents by name, as the model's files refer to them.
pub type Assets = BTreeMap<String, Vec<u8>>;

/// Meshes by their names, which another model has already: their files are not read.
pub type Meshes = BTreeMap<String, Arc<Mesh>>;

thread_local! {
    /// Those of the model that this thread reads.
    static PRESENT: RefCell<Option<Assets>> = const { RefCell::new(None) };
    static MESHES: RefCell<Meshes> = const { RefCell::new(Meshes::new()) };
}

/// Calls `read`, whose files are looked for among these, and nowhere else.
pub(crate) fn with<T>(assets: Assets, meshes: Meshes, read: impl FnOnce() -> T) -> T {
    /// Ends that, however `read` ends.
    struct End;
    impl Drop for End {
        fn drop(&mut self) {
            PRESENT.with_borrow_mut(|present| *present = None);
            MESHES.with_borrow_mut(Meshes::clear);
        }
    }
    let named = assets.into_iter().map(|(name, content)| (plain(Path::new(&name.replace('\\', "/"))), content));
    PRESENT.with_borrow_mut(|present| *present = Some(named.collect()));
    MESHES.with_borrow_mut(|present| *present = meshes);
    let _end = End;
    read()
}

/// The file of this name among those that are given; None where files are those of the disk.
pub(crate) fn read(path: &Path) -> Option<io::Result<Vec<u8>>> {
    PRESENT.with_borrow(|present| {
        let assets = present.as_ref()?;
        Some(assets.get(&plain(path)).cloned().ok_or_else(|| {
            let names: Vec<&str> = assets.keys().take(5).map(String::as_str).collect();
            let more = if assets.len() > names.len() { ", …" } else { "" };
            io::Error::new(io::ErrorKind::NotFound, format!("it is not among the assets: {}{more}", names.join(", ")))
        }))
    })
}

/// The mesh of this name that another model has already.
pub(crate) fn mesh(name: &str) -> Option<Arc<Mesh>> {
    MESHES.with_borrow(|meshes| meshes.get(name).cloned())
}

/// Whether files are those that are given.
pub(crate) fn are_given() -> bool {
    PRESENT.with_borrow(Option::is_some)
}

/// Whether there is a file of this name, among those that are given or on the disk.
pub(crate) fn exists(path: &Path) -> bool {
    let given = PRESENT.with_borrow(|present| present.as_ref().map(|assets| assets.contains_key(&plain(path))));
    given.unwrap_or_else(|| path.exists())
}

/// A path without `.` and `..`, with slashes.
fn plain(path: &Path) -> String {
    let mut parts = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if parts.pop() => {}
            part => parts.push(part),
        }
    }
    parts.to_string_lossy().replace('\\', "/")
}
