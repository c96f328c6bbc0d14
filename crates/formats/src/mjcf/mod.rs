//! MJCF.

use std::path::Path;

use crate::xml::Document;
use crate::{LoadError, Loaded};

/// Reads a document whose root is `<mujoco>`.
pub(crate) fn read(document: Document, root: usize, base: Option<&Path>) -> Result<Loaded, LoadError> {
    let _ = base;
    Err(document.element(root).error("not read yet"))
}
