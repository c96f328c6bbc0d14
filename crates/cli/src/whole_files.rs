//! Files that are whole or as they were: nobody finds half a file, whatever ends the command.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// Files that are written beside their places, and put there together.
#[derive(Debug, Default)]
pub struct WholeFiles {
    written: Vec<Written>,
}

#[derive(Debug)]
struct Written {
    /// Where it is, and where it is to be; the same for what is no file (a pipe, `/dev/stdout`).
    at: PathBuf,
    path: PathBuf,
}

/// Refuses a place that is a folder, or a pipe with a name, which would wait for its reader: asked before a command works for what it
/// writes there.
///
/// # Errors
/// When it is one of them.
pub fn check(path: &Path) -> Result<()> {
    let what = match fs::metadata(path) {
        Ok(place) if place.is_dir() => "it is a folder",
        // What is handed on by a shell (`/dev/stdout`) has no name to resolve.
        Ok(place) if is_pipe(&place) && fs::canonicalize(path).is_ok() => "it is a pipe",
        _ => return Ok(()),
    };
    bail!("{}: cannot be written: {what}", path.display())
}

#[cfg(unix)]
fn is_pipe(place: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&place.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

/// Writes a text to a file: all of it, or the file stays as it was.
pub fn write(path: &Path, text: &str) -> Result<()> {
    let mut files = WholeFiles::default();
    files.add(path, |out| Ok(out.write_all(text.as_bytes())?))?;
    files.put_in_place().map(drop)
}

impl WholeFiles {
    /// Writes a file beside its place, and on to the disk, so that a disk that is full is found out here.
    pub fn add(&mut self, path: &Path, fill: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
        check(path)?;
        let failed = || format!("{}: cannot be written", path.display());
        let old = fs::metadata(path).ok();
        let is_file = old.as_ref().is_none_or(fs::Metadata::is_file);
        // A link stays a link: what it leads to is replaced.
        let path = if is_file { fs::canonicalize(path).unwrap_or_else(|_| path.into()) } else { path.into() };
        let at = if is_file { beside(&path) } else { path.clone() };
        self.written.push(Written { at: at.clone(), path });
        let mut out = BufWriter::new(File::create(&at).with_context(failed)?);
        fill(&mut out).with_context(failed)?;
        let file = out.into_inner().map_err(io::IntoInnerError::into_error).with_context(failed)?;
        if is_file {
            if let Some(old) = old {
                file.set_permissions(old.permissions()).with_context(failed)?;
            }
            file.sync_all().with_context(failed)?;
        }
        Ok(())
    }

    /// Puts the files in their places; returns these, in the order of the files.
    pub fn put_in_place(mut self) -> Result<Vec<PathBuf>> {
        let mut paths = Vec::new();
        for Written { at, path } in std::mem::take(&mut self.written) {
            if at != path {
                fs::rename(&at, &path).with_context(|| format!("{}: cannot be replaced", path.display()))?;
            }
            paths.push(path);
        }
        Ok(paths)
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

/// A hidden file in the same folder, so that it can take the place of the other.
fn beside(path: &Path) -> PathBuf {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}.part", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_together_or_not_at_all() {
        let folder = std::env::temp_dir().join(format!("sapwood-whole-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let [a, b] = ["a.txt", "b.txt"].map(|name| folder.join(name));
        write(&a, "old").unwrap();

        let mut files = WholeFiles::default();
        files.add(&a, |out| Ok(out.write_all(b"new")?)).unwrap();
        let error = files.add(&b, |out| {
            out.write_all(b"half")?;
            bail!("no more")
        });
        assert!(format!("{:#}", error.unwrap_err()).contains("b.txt: cannot be written: no more"));
        drop(files);
        assert_eq!(fs::read_to_string(&a).unwrap(), "old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);

        let mut files = WholeFiles::default();
        files.add(&a, |out| Ok(out.write_all(b"new")?)).unwrap();
        files.add(&b, |out| Ok(out.write_all(b"whole")?)).unwrap();
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
        write(&file, "old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, "new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
        fs::remove_dir_all(&folder).unwrap();
    }
}
