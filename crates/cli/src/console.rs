//! Text on standard output and standard error.

use std::fmt::Display;
use std::io::{Write, stdout};

use clap::builder::styling::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Prints. A reader that has gone away (`sapwood info model.xml | head`) is no error: nobody is left to tell.
pub fn print(text: &str) {
    let _ = stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush());
}

/// Prints on standard error, where people read along while standard output goes elsewhere.
pub fn print_beside(text: &str) {
    let _ = anstream::stderr().write_all(text.as_bytes());
}

/// Says on standard error what went wrong; in colour on terminals, unless `NO_COLOR` is set.
pub fn error(message: impl Display) {
    let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {message}");
}

/// Says on standard error what is worth knowing.
pub fn note(message: impl Display) {
    let _ = writeln!(anstream::stderr(), "{NOTE}note:{NOTE:#} {message}");
}
