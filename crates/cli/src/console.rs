//! Text on standard output.

use std::io::{Write, stdout};

/// Prints. A reader that has gone away (`sapwood info model.xml | head`) is no error: nobody is left to tell.
pub fn print(text: &str) {
    let _ = stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush());
}
