//! What can be wrong with a motion file.

use std::fmt;

use support::{brief, legible};

/// A motion file that cannot be read: where, and what was expected there. Prints as `file:line: message`.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct ReadError {
    file: String,
    line: u32,
    message: String,
}

impl ReadError {
    pub(crate) fn new(file: &str, line: usize, message: impl AsRef<str>) -> Self {
        let message = legible(message.as_ref());
        Self { file: file.into(), line: u32::try_from(line).unwrap_or(u32::MAX), message }
    }

    /// The file, or what the caller named the text.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from 1; 0 when the error is not at a line.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// What came and what was expected.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = brief(&self.file);
        f.write_str(if file.is_empty() { "<text>" } else { &file })?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        write!(f, ": {}", self.message)
    }
}

/// Bytes of a motion file at most: some hours of a figure.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// The text of a regular file. Devices and pipes, which may have no end, are refused before they are opened.
pub(crate) fn read_text(path: &std::path::Path, kind: &str) -> Result<(String, String), ReadError> {
    let file = path.display().to_string();
    let fail = |what: String| ReadError::new(&file, 0, format!("{what}: expected a {kind} file"));
    match std::fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => return Err(fail("not a regular file".into())),
        Ok(metadata) if metadata.len() > MAX_FILE_BYTES => {
            return Err(fail(format!("larger than {MAX_FILE_BYTES} bytes, the limit")));
        }
        _ => {}
    }
    match std::fs::read(path) {
        Ok(bytes) => Ok((String::from_utf8_lossy(&bytes).into_owned(), file)),
        Err(error) => Err(fail(format!("cannot be read ({error})"))),
    }
}
