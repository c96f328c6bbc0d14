//! Files that are whole or as they were: nobody finds half a file, whatever ends the program.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file that cannot be written, and why.
#[derive(Debug)]
pub struct UnwrittenFile {
    /// The file that was asked for.
    pub path: PathBuf,
    /// What stands in the way.
    pub error: io::Error,
}

impl fmt::Display for UnwrittenFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: cannot be written: {}", self.path.display(), self.error)
    }
}

impl std::error::Error for UnwrittenFile {}

/// Files that are written beside their places, and put there together.
#[derive(Debug, Default)]
pub struct WholeFiles {
    written: Vec<Written>,
}

#[derive(Debug)]
struct Written {
    /// Where it is, and where it is to be; the same for what is no file (`/dev/stdout`).
    at: PathBuf,
    path: PathBuf,
}

/// Refuses a place that is a folder, a socket, or a pipe with a name, which would wait for its reader, and one that no name leads to:
/// asked before a program works for what it writes there.
///
/// # Errors
/// When it is one of them.
pub fn check_place(path: &Path) -> Result<(), UnwrittenFile> {
    let failed = |error| UnwrittenFile { path: path.into(), error };
    let place = match fs::metadata(path) {
        Ok(place) => place,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(error)),
    };
    let (kind, what) = if place.is_dir() {
        (io::ErrorKind::IsADirectory, "it is a folder")
    } else if let Some(what) = never_takes_it(path, &place) {
        (io::ErrorKind::InvalidInput, what)
    } else {
        return Ok(());
    };
    Err(failed(io::Error::new(kind, what)))
}

/// What a place is that a file cannot be written to, but for folders.
#[cfg(unix)]
fn never_takes_it(path: &Path, place: &fs::Metadata) -> Option<&'static str> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    /// The number of `/dev/full` on Linux, which takes nothing and says so only when it is written to.
    const FULL: u64 = 0x107;
    let kind = place.file_type();
    // What is handed on by a shell (`/dev/stdout`) has no name to resolve.
    if kind.is_fifo() && fs::canonicalize(path).is_ok() {
        return Some("it is a pipe");
    }
    if kind.is_socket() {
        return Some("it is a socket");
    }
    (cfg!(target_os = "linux") && kind.is_char_device() && place.rdev() == FULL)
        .then_some("it is a device that is full")
}

#[cfg(not(unix))]
fn never_takes_it(_: &Path, _: &fs::Metadata) -> Option<&'static str> {
    None
}

/// Where links lead, whether there is something or not: a link stays a link, and what it leads to is replaced.
fn end_of_links(path: &Path) -> PathBuf {
    let follow = |_| {
        let mut at = path.to_path_buf();
        // Circles are refused before.
        while let Ok(link) = fs::read_link(&at) {
            at = at.parent().unwrap_or(Path::new("")).join(link);
        }
        at
    };
    fs::canonicalize(path).unwrap_or_else(follow)
}

/// Writes bytes to a file: all of them, or the file stays as it was.
///
/// # Errors
/// When it cannot be written.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), UnwrittenFile> {
    let mut files = WholeFiles::default();
    files.add(path, |out| out.write_all(content))?;
    files.put_in_place()
}

impl WholeFiles {
    /// Writes a file beside its place, and on to the disk, so that a disk that is full is found out here.
    ///
    /// # Errors
    /// When it cannot be written, or `fill` fails.
    pub fn add(
        &mut self,
        path: &Path,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> Result<(), UnwrittenFile> {
        check_place(path)?;
        self.write_beside(path, fill).map_err(|error| UnwrittenFile { path: path.into(), error })
    }

    fn write_beside(
        &mut self,
        path: &Path,
        fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let old = fs::metadata(path).ok();
        let is_file = old.as_ref().is_none_or(fs::Metadata::is_file);
        let path = if is_file { end_of_links(path) } else { path.into() };
        let at = if is_file { beside(&path) } else { path.clone() };
        self.written.push(Written { at: at.clone(), path });
        let mut out = BufWriter::new(File::create(&at)?);
        fill(&mut out)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        if is_file {
            if let Some(old) = old {
                file.set_permissions(old.permissions())?;
            }
            file.sync_all()?;
        }
        Ok(())
    }

    /// Puts the files in their places, in the order in which they were added.
    ///
    /// # Errors
    /// When one cannot be replaced.
    pub fn put_in_place(mut self) -> Result<(), UnwrittenFile> {
        for Written { at, path } in &mut self.written {
            if at != path {
                fs::rename(&*at, &*path).map_err(|error| UnwrittenFile { path: path.clone(), error })?;
                at.clone_from(path);
            }
        }
        Ok(())
    }
}

impl Drop for WholeFiles {
    /// Takes away what was not put in place.
    fn drop(&mut self) {
        for Written { at, path } in &self.written {
            if at != path {
                // There is nobody left to tell.
                let _ = fs::remove_file(at);
            }
        }
    }
}

/// A hidden file in the same folder, so that it can take the place of the other. A long name is not made longer, which the disk
/// might not take.
fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let name: String = path.file_name().unwrap_or_default().to_string_lossy().chars().take(40).collect();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    path.with_file_name(format!(".{name}.{}.{count}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_together_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("sapwood-whole-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [a, b] = ["a.txt", "b.txt"].map(|name| folder.join(name));
        write_whole(&a, b"old").unwrap();

        let mut files = WholeFiles::default();
        files.add(&a, |out| out.write_all(b"new")).unwrap();
        let error = files.add(&b, |out| {
            out.write_all(b"half")?;
            Err(io::Error::other("no more"))
        });
        assert!(error.unwrap_err().to_string().contains("b.txt: cannot be written: no more"));
        drop(files);
        assert_eq!(fs::read_to_string(&a).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

        let mut files = WholeFiles::default();
        files.add(&a, |out| out.write_all(b"new")).unwrap();
        files.add(&b, |out| out.write_all(b"whole")).unwrap();
        files.put_in_place().unwrap();
        assert_eq!([&a, &b].map(|path| fs::read_to_string(path).unwrap()), ["new", "whole"]);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_a_link_leads_to_is_replaced() {
        let folder = std::env::temp_dir().join(format!("sapwood-whole-links-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [file, link] = ["file.txt", "link.txt"].map(|name| folder.join(name));
        write_whole(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_whole(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::remove_dir_all(&folder).unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_and_long_names_are_not() {
        let folder = std::env::temp_dir().join(format!("sapwood-whole-places-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(folder.join("socket")).unwrap();
        std::os::unix::fs::symlink("loop", folder.join("loop")).unwrap();
        let longest = "x".repeat(255);
        write_whole(&folder.join(&longest), b"new").unwrap();
        assert_eq!(fs::read(folder.join(&longest)).unwrap(), b"new");
        let refused = ["", "socket", "loop", &(longest + "x")].map(|name| check_place(&folder.join(name)).unwrap_err());
        let said = refused.map(|error| error.error.to_string());
        for (said, what) in said.iter().zip(["it is a folder", "it is a socket", "symbolic links", "too long"]) {
            assert!(said.contains(what), "{said}: {what}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
