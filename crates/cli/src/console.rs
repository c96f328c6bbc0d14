//! Text on standard output and standard error.

use std::fmt::Display;
use std::io::{self, Write, stdout};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use clap::builder::styling::{AnsiColor, Style};
use support::harmless;

const ERROR: Style = AnsiColor::Red.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Whether there was no standard output to begin with (`>&-`): the system's functions, and Rust's, then write nowhere without an error.
static IS_CLOSED: AtomicBool = AtomicBool::new(false);

/// Why standard output could not be written, the first time.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints.
pub fn print(text: &str) {
    let text = harmless(text);
    note_outcome(stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()));
}

/// Sees whether there is a standard output, before a file takes its number, which would then get what is printed.
#[cfg(unix)]
pub fn look_at_stdout() {
    use std::os::fd::{AsFd, IntoRawFd};
    if stdout().as_fd().try_clone_to_owned().is_ok() {
        return;
    }
    IS_CLOSED.store(true, Ordering::Relaxed);
    if let Ok(nowhere) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        // Stays open until the end of the process.
        let _ = nowhere.into_raw_fd();
    }
}

#[cfg(not(unix))]
pub fn look_at_stdout() {}

/// Notes what became of something that was printed: the command says so at its end.
pub fn note_outcome(outcome: io::Result<()>) {
    let closed = || io::Error::other("it is closed");
    let outcome = if IS_CLOSED.load(Ordering::Relaxed) { Err(closed()) } else { outcome };
    match (outcome, UNWRITTEN.lock()) {
        // A reader that has gone away (`| head`) has what it wanted.
        (Err(error), Ok(mut unwritten)) if error.kind() != io::ErrorKind::BrokenPipe => {
            unwritten.get_or_insert(error);
        }
        _ => {}
    }
}

/// Why something that was printed is not there: a full disk; asked once.
pub fn unwritten() -> Option<io::Error> {
    UNWRITTEN.lock().ok()?.take()
}

/// Prints on standard error, where people read along while standard output goes elsewhere.
pub fn print_beside(text: &str) {
    let _ = anstream::stderr().write_all(harmless(text).as_bytes());
}

/// Says on standard error what went wrong; in colour on terminals, unless `NO_COLOR` is set.
pub fn error(message: impl Display) {
    let _ = writeln!(anstream::stderr(), "{ERROR}error:{ERROR:#} {}", harmless(&message.to_string()));
}

/// Says on standard error what is worth knowing.
pub fn note(message: impl Display) {
    let _ = writeln!(anstream::stderr(), "{NOTE}note:{NOTE:#} {}", harmless(&message.to_string()));
}
