//! What went wrong, for people and as JSON.

use std::ffi::OsString;
use std::fmt;
use std::io;

use clap::CommandFactory;
use clap::error::{ContextKind, ContextValue};
use formats::LoadError;
use motion::SourceError;
use motion::tracking::Error as TrackingError;
use serde::Serialize;
use sim::SimulationError;
use support::{UnwrittenFile, suggest};

use crate::BAD_INPUT;
use crate::arguments::Arguments;
use crate::console;

/// Why a command did not do all that it was asked for, as `docs/command.md` describes it.
#[derive(Clone, Debug, Serialize)]
pub struct Failure {
    pub kind: Kind,
    pub message: String,
    /// The model file, and the line in it, where there is one.
    pub file: Option<String>,
    pub line: Option<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Options of the command line.
    Arguments,
    /// A model that cannot be read, or not be simulated.
    Model,
    /// A file or folder that cannot be read or written.
    File,
    /// A step that failed.
    Simulation,
    /// Ctrl-C, SIGTERM or SIGHUP.
    Interrupted,
    /// Something else that the command needs and does not have.
    Other,
}

/// An option that does not fit the model.
#[derive(Debug)]
pub struct WrongOption(pub String);

impl fmt::Display for WrongOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongOption {}

/// What is printed of a command that could not begin.
#[derive(Serialize)]
struct Document<'a> {
    error: &'a Failure,
}

impl Failure {
    /// One that is at no file.
    pub fn new(kind: Kind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), file: None, line: None }
    }

    /// From an error of any part of the command.
    pub fn of(error: &anyhow::Error) -> Self {
        let message = format!("{error:#}");
        if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<LoadError>()) {
            let file = Some(error.file()).filter(|file| !file.is_empty()).map(String::from);
            let line = Some(error.line()).filter(|line| *line > 0);
            return Self { kind: Kind::Model, message, file, line };
        }
        if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<SourceError>()) {
            return Self::of_clip(error, message);
        }
        let is_argument = |cause: &(dyn std::error::Error + 'static)| {
            cause.is::<WrongOption>() || cause.downcast_ref::<TrackingError>().is_some_and(TrackingError::is_of_options)
        };
        if error.chain().any(is_argument) {
            return Self::new(Kind::Arguments, message);
        }
        let kind = match error.chain().find_map(|cause| cause.downcast_ref::<SimulationError>()) {
            Some(SimulationError::Option { .. } | SimulationError::Keyframe { .. }) => Kind::Arguments,
            Some(_) => Kind::Model,
            None if error.chain().any(|cause| cause.is::<io::Error>() || cause.is::<UnwrittenFile>()) => Kind::File,
            None => Kind::Other,
        };
        Self::new(kind, message)
    }

    /// From a motion that is not there, is broken, or does not fit the model.
    fn of_clip(error: &SourceError, message: String) -> Self {
        let (file, line) = match error {
            SourceError::Unknown { .. } | SourceError::Gait { .. } => return Self::new(Kind::Arguments, message),
            SourceError::NoRoot { .. } => return Self::new(Kind::Model, message),
            SourceError::Read(error) => (error.file(), error.line()),
            SourceError::Binding { file, .. } | SourceError::Retarget { file, .. } => (file.as_str(), 0),
        };
        Self { kind: Kind::File, message, file: Some(file.into()), line: Some(line).filter(|line| *line > 0) }
    }

    /// Says it on standard error, and as JSON on standard output if that is asked for.
    pub fn report(&self, is_json: bool) {
        if is_json {
            print_json(&Document { error: self });
        }
        console::error(&self.message);
    }
}

/// Reports wrong arguments, or prints the help or version that was asked for; returns the exit code.
pub fn of_arguments(mut error: clap::Error, words: &[OsString], is_json: bool) -> u8 {
    suggest_command(&mut error, words);
    if error.use_stderr() && is_json {
        let text = error.render().to_string();
        let message = text.strip_prefix("error: ").unwrap_or(&text).trim_end();
        print_json(&Document { error: &Failure::new(Kind::Arguments, message) });
    }
    let printed = error.print();
    if !error.use_stderr() {
        console::note_outcome(printed);
    }
    u8::try_from(error.exit_code()).unwrap_or(BAD_INPUT)
}

/// Names the command that was probably meant, where clap does not: it finds nothing for `rnu`.
fn suggest_command(error: &mut clap::Error, words: &[OsString]) {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidSubcommand) else { return };
    if error.get(ContextKind::SuggestedSubcommand).is_some() {
        return;
    }
    // A suite, or a command.
    let command = Arguments::command();
    let command = words.get(1).and_then(|word| command.find_subcommand(word)).unwrap_or(&command);
    let similar = suggest::similar(typed, command.get_subcommands().map(clap::Command::get_name));
    let similar: Vec<String> = similar.into_iter().map(String::from).collect();
    if !similar.is_empty() {
        error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(similar));
    }
}

/// Whether these words ask for JSON on standard output, known before they are known to make sense. `bench --json FILE` writes a file.
pub fn is_json(words: &[OsString]) -> bool {
    let words: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let before_escape = words.split(|word| *word == "--").next().unwrap_or_default();
    let Some(position) = before_escape.iter().position(|word| *word == "--json" || *word == "--json=-") else {
        return false;
    };
    let is_bench = before_escape.get(1) == Some(&"bench");
    let next = before_escape.get(position + 1);
    !is_bench || before_escape[position] != "--json" || next.is_none_or(|next| next.starts_with('-'))
}

/// Prints a value as a document of JSON.
pub fn print_json(value: &impl Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => console::print(&(text + "\n")),
        Err(error) => console::error(format!("JSON: {error}")),
    }
}
