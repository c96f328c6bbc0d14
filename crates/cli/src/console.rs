//! Text on standard output and standard error.

use std::borrow::Cow;
use std::fmt::Display;
use std::io::{self, Write, stdout};
use std::sync::Mutex;

use clap::builder::styling::{AnsiColor, Style};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Why standard output could not be written, the first time.
static UNWRITTEN: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints.
pub fn print(text: &str) {
    let text = harmless(text);
    note_outcome(stdout().write_all(text.as_bytes()).and_then(|()| stdout().flush()));
}

/// Notes what became of something that was printed: the command says so at its end.
pub fn note_outcome(outcome: io::Result<()>) {
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

/// Text in which names of a file cannot command the terminal: control characters, and those that turn the direction of writing, as Rust
/// writes them; but for ends of lines and tabs.
fn harmless(text: &str) -> Cow<'_, str> {
    let turns = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let commands = |c: char| turns(c) || c.is_control() && !matches!(c, '\n' | '\t');
    if !text.contains(commands) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if commands(c) { shown.extend(c.escape_default()) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}
