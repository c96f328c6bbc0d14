//! What can be wrong with a file.

use std::fmt;

use support::{brief, legible};

/// A file that cannot be loaded: where, and what was expected there.
///
/// Prints as `file:line: <element>: what came: expected what`. Parts that do not apply are left out: a file that does
/// not exist has no line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadError {
    file: String,
    line: u32,
    element: String,
    message: String,
}

impl LoadError {
    /// An error at a line of a file; line 0 stands for the whole file.
    pub fn new(file: &str, line: u32, element: &str, message: impl AsRef<str>) -> Self {
        Self { file: file.into(), line, element: element.into(), message: legible(message.as_ref()) }
    }

    /// The same with a hint at its end, if there is one.
    #[must_use]
    pub fn with_hint(mut self, hint: Option<&str>) -> Self {
        if let Some(hint) = hint {
            self.message.push_str(if self.message.ends_with('?') { " " } else { "; " });
            self.message.push_str(&legible(hint));
        }
        self
    }

    /// The file; empty for text that came from memory.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The line, from 1; 0 when the error is not at a line.
    pub fn line(&self) -> u32 {
        self.line
    }

    /// The name of the element; empty when the error is not at an element.
    pub fn element(&self) -> &str {
        &self.element
    }

    /// What came and what was expected.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = brief(&self.file);
        f.write_str(if self.file.is_empty() { "<text>" } else { &file })?;
        if self.line > 0 {
            write!(f, ":{}", self.line)?;
        }
        if !self.element.is_empty() {
            write!(f, ": <{}>", brief(&self.element))?;
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for LoadError {}
