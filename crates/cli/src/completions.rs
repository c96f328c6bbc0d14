//! What shells ask at every Tab, and the scripts that make them ask.

use std::env;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context, Result};
use clap::CommandFactory;
use clap_complete::engine::{CompletionCandidate, PathCompleter, ValueCompleter, complete};
use clap_complete::env::{self as shells, EnvCompleter, Shells};

use crate::arguments::{Arguments, ReadArguments, Shell};
use crate::source::{self, Source};
use crate::{BAD_INPUT, console, scene};

/// Set by the scripts: the shell that asks.
const VARIABLE: &str = "SAPWOOD_COMPLETE";
const NAME: &str = "sapwood";
const MODEL_ENDINGS: [&str; 3] = ["xml", "urdf", "mjcf"];
const CLIP_ENDINGS: [&str; 3] = ["bvh", "txt", "json"];
/// Larger models are not read for their keyframes: a Tab may not take long.
const MAX_MODEL_BYTES: u64 = 1 << 20;

const SHELLS: Shells<'static> = Shells(&[&Bash, &shells::Zsh, &shells::Fish, &shells::Powershell, &shells::Elvish]);

/// The words of the command line that is being completed.
static WORDS: OnceLock<Vec<OsString>> = OnceLock::new();

/// Answers a shell, if it is one that asks; returns the exit code.
pub fn answer(words: &[OsString]) -> Option<u8> {
    env::var_os(VARIABLE)?;
    // Those of the line follow `--`.
    let line = words.iter().skip_while(|word| *word != "--").skip(1).cloned().collect();
    WORDS.get_or_init(|| rejoined(line, usize::MAX).words);
    let engine = clap_complete::CompleteEnv::with_factory(Arguments::command).var(VARIABLE).shells(SHELLS);
    match engine.try_complete(words.iter().cloned(), env::current_dir().ok().as_deref()) {
        Ok(true) => {
            // The answer ends without a new line. In Python's process nothing else writes what waits for one.
            console::note_outcome(io::Write::flush(&mut io::stdout()));
            Some(0)
        }
        Ok(false) => None,
        Err(error) => {
            let _ = error.print();
            Some(BAD_INPUT)
        }
    }
}

/// Prints the script of a shell; `program` is what the command was started as.
pub fn print_script(shell: Shell, program: &OsStr) -> Result<()> {
    let name = match shell {
        Shell::Bash => "bash",
        Shell::Zsh => "zsh",
        Shell::Fish => "fish",
        Shell::Powershell => "powershell",
        Shell::Elvish => "elvish",
    };
    let shell = SHELLS.completer(name).with_context(|| format!("{name}: there is no script for this shell"))?;
    let mut script = Vec::new();
    shell.write_registration(VARIABLE, NAME, NAME, &itself(program)?, &mut script)?;
    console::print(&String::from_utf8_lossy(&script));
    Ok(())
}

/// What a script is to start: the command as it was started, so that one that is not in the PATH is found again.
fn itself(program: &OsStr) -> Result<String> {
    let name = PathBuf::from(program);
    let path = if name.components().count() > 1 { env::current_dir()?.join(name) } else { name };
    Ok(path.to_string_lossy().into_owned())
}

/// Model files, folders, and the characters and scenes.
pub fn models(current: &OsStr) -> Vec<CompletionCandidate> {
    if current.to_string_lossy().starts_with('@') {
        return built_in_models(current);
    }
    let mut candidates = files(current, &MODEL_ENDINGS);
    if current.is_empty() {
        candidates.extend(built_in_models(current));
    }
    candidates
}

/// Gaits, motion files and folders.
pub fn clips(current: &OsStr) -> Vec<CompletionCandidate> {
    let typed = current.to_string_lossy();
    let gaits = motion::GAITS.into_iter().filter(|gait| gait.starts_with(&*typed)).map(CompletionCandidate::new);
    gaits.chain(files(current, &CLIP_ENDINGS)).collect()
}

/// Files with one of these endings, and folders.
fn files(current: &OsStr, endings: &'static [&str]) -> Vec<CompletionCandidate> {
    let fits = |path: &Path| {
        path.extension().is_some_and(|found| endings.iter().any(|ending| found.eq_ignore_ascii_case(ending)))
    };
    PathCompleter::any().filter(move |path| path.is_dir() || fits(path)).complete(current)
}

/// The characters and scenes, those with numbers in an example: shells put a space after what they complete.
pub fn built_in_models(current: &OsStr) -> Vec<CompletionCandidate> {
    let current = current.to_string_lossy();
    let names = source::names().map(|form| (example(&form), form));
    let matching = names.filter(|(name, _)| name.starts_with(&*current));
    matching.map(|(name, form)| CompletionCandidate::new(name).help(Some(form.into()))).collect()
}

/// A name of this form, with numbers for the words in capitals.
fn example(form: &str) -> String {
    let number = |word| match word {
        "COUNT" => "27",
        "HEIGHT" => "5",
        "RATIO" => "1000",
        "BLOCKS" => "11",
        "STOREYS" => "3",
        "DEGREES" => "20",
        "FRICTION" => "0.5",
        "SPEED" => "2",
        "LINKS" => "10",
        word => word,
    };
    form.split('-').map(number).collect::<Vec<_>>().join("-")
}

/// The keyframes of the model on the line.
pub fn keyframes(current: &OsStr) -> Vec<CompletionCandidate> {
    let words = WORDS.get().map(Vec::as_slice).unwrap_or_default();
    let models = words.iter().skip(2).filter_map(|word| source::source(word.to_str()?).ok());
    let is_small = |source: &Source| match source {
        Source::File(path) => path.metadata().is_ok_and(|file| file.is_file() && file.len() <= MAX_MODEL_BYTES),
        Source::Named(_) => true,
    };
    let Some(model) = models.into_iter().find(is_small) else { return Vec::new() };
    let read = ReadArguments { package_path: Vec::new(), floating_base: false };
    let names = scene::load(Some(&model), None, &read).map(|loaded| loaded.model.keyframes).unwrap_or_default();
    let current = current.to_string_lossy();
    let matching = names.into_iter().map(|key| key.name).filter(|name| !name.is_empty() && name.starts_with(&*current));
    matching.map(CompletionCandidate::new).collect()
}

/// Bash takes words apart at `@` and `=`, and replaces the part under the cursor alone: this puts them together again.
struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        shells::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        shells::Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        command: &str,
        completer: &str,
        out: &mut dyn io::Write,
    ) -> Result<(), io::Error> {
        shells::Bash.write_registration(variable, name, command, completer, out)
    }

    fn write_complete(
        &self,
        command: &mut clap::Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        out: &mut dyn io::Write,
    ) -> Result<(), io::Error> {
        // What clap's script for bash sets.
        let index = env::var("_CLAP_COMPLETE_INDEX").ok().and_then(|index| index.parse().ok()).unwrap_or_default();
        let separator = env::var("_CLAP_IFS").unwrap_or_else(|_| "\n".into());
        let Rejoined { words, index, kept } = rejoined(words, index);
        let candidates = complete(command, words, index, folder)?;
        let texts: Vec<String> = candidates
            .iter()
            .map(|candidate| candidate.get_value().to_string_lossy())
            .map(|text| text.strip_prefix(&kept).unwrap_or(&text).to_owned())
            .collect();
        write!(out, "{}", texts.join(&separator))
    }
}

/// A line in whole words.
#[derive(Debug, PartialEq)]
struct Rejoined {
    words: Vec<OsString>,
    /// The word under the cursor.
    index: usize,
    /// What of it bash does not replace.
    kept: String,
}

/// `index` is that of the part under the cursor.
fn rejoined(parts: Vec<OsString>, index: usize) -> Rejoined {
    let mut line = Rejoined { words: Vec::new(), index, kept: String::new() };
    for (i, part) in parts.iter().enumerate() {
        let text = part.to_string_lossy();
        let before = |k: usize| i.checked_sub(k).and_then(|i| parts.get(i)).map(|part| part.to_string_lossy());
        let is_option = |word: Option<&OsString>| word.is_some_and(|word| word.to_string_lossy().starts_with("--"));
        let after_at = before(1).is_some_and(|word| word == "@") && !text.starts_with('-');
        let at_sign = text == "=" && is_option(line.words.last());
        let after_sign = before(1).is_some_and(|word| word == "=") && is_option(line.words.last());
        let joins = after_at || at_sign || after_sign;
        if i == index {
            let kept = if joins && after_sign { line.words.last() } else { None };
            line.kept = kept.map(|word| word.to_string_lossy().into_owned()).unwrap_or_default();
        }
        match line.words.last_mut() {
            // The part under the cursor has its @ already.
            Some(word) if after_at && text.starts_with('@') => *word = part.clone(),
            Some(word) if joins => word.push(part),
            _ => line.words.push(part.clone()),
        }
        if i == index {
            line.index = line.words.len() - 1;
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(parts: &[&str], index: usize) -> (Vec<String>, usize, String) {
        let line = rejoined(parts.iter().map(Into::into).collect(), index);
        (line.words.into_iter().map(|word| word.into_string().unwrap()).collect(), line.index, line.kept)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn examples_are_names_that_there_are() {
        for form in source::names() {
            let example = example(&form);
            assert_eq!(source::named(&example).map(|_| ()), Ok(()), "{form}: {example}");
        }
    }

    /// The parts are those of bash 5.2.
    #[test]
    fn what_bash_takes_apart_is_put_together() {
        let whole = words(&["sapwood", "run", "@hum"]);
        assert_eq!(join(&["sapwood", "run", "@", "@hum"], 3), (whole, 2, String::new()));
        assert_eq!(join(&["sapwood", "run", "@"], 2), (words(&["sapwood", "run", "@"]), 2, String::new()));
        let whole = words(&["sapwood", "run", "@dog", "--dt"]);
        assert_eq!(join(&["sapwood", "run", "@", "dog", "--dt"], 4), (whole, 3, String::new()));
        let whole = words(&["sapwood", "run", "--scheme=mid"]);
        assert_eq!(join(&["sapwood", "run", "--scheme", "=", "mid"], 4), (whole, 2, "--scheme=".into()));
    }
}
