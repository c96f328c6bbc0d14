//! The `sapwood` command: `sapwood run` simulates a model and writes what happened, `sapwood track`
//! lets a character follow a motion, `sapwood view` shows it live, `sapwood info` says what
//! was read, `sapwood write` writes a character as a model file, `sapwood bench` measures.
//!
//! Exit codes: 0; 1 when a simulation failed, 130, 143 and 129 when Ctrl-C, SIGTERM and SIGHUP ended it (what was computed until then is
//! written); 2 for bad input, and for files that cannot be written. What it prints as JSON: `docs/command.md`.

mod arguments;
mod bench;
mod completions;
mod console;
mod energy_plot;
mod failure;
mod info;
mod output;
mod perturb;
mod progress;
mod python;
mod run;
mod scene;
mod signals;
mod source;
mod summary;
mod track;
mod trajectory;
mod view;
mod write;

use std::ffi::{OsStr, OsString};

use clap::Parser;

use arguments::{Arguments, Command};
use failure::Failure;

/// The exit code of a simulation that failed.
pub const FAILED: u8 = 1;
/// The exit code of bad input; clap uses the same for wrong arguments.
pub const BAD_INPUT: u8 = 2;

/// Runs the command with these words, the first of which is its name, and returns its exit code.
pub fn command(words: Vec<OsString>) -> u8 {
    console::look_at_stdout();
    let code = answer(words);
    match console::unwritten() {
        Some(error) => {
            console::error(format!("standard output cannot be written: {error}"));
            BAD_INPUT
        }
        None => code,
    }
}

fn answer(words: Vec<OsString>) -> u8 {
    if let Some(code) = completions::answer(&words) {
        return code;
    }
    if let Err(error) = signals::survive_file_size_limit() {
        console::note(format!("a limit of file sizes would end this command without a word: {error}"));
    }
    let is_json = failure::is_json(&words);
    let arguments = match Arguments::try_parse_from(&words) {
        Ok(arguments) => arguments,
        Err(error) => return failure::of_arguments(error, &words, is_json),
    };
    let result = match arguments.command {
        Command::Run(arguments) => run::run(&arguments),
        Command::Track(arguments) => track::track(&arguments),
        Command::View(arguments) => view::view(&arguments),
        Command::Info(arguments) => info::info(&arguments).map(|()| 0),
        Command::Write(arguments) => write::write(&arguments).map(|()| 0),
        Command::Bench(arguments) => bench::bench(&arguments),
        Command::Completions(arguments) => {
            let program = words.first().map_or(OsStr::new("sapwood"), OsString::as_os_str);
            completions::print_script(arguments.shell, program).map(|()| 0)
        }
    };
    result.unwrap_or_else(|error| {
        Failure::of(&error).report(is_json);
        BAD_INPUT
    })
}
