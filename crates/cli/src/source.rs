//! What a model argument names: a file, or a character that comes with the command.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use characters::{Character, UnknownCharacter};

/// `FILE` or `@NAME`. A file whose name begins with @ is `./@…`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    File(PathBuf),
    Character(Character),
}

/// A command-line value as a source; for clap.
pub fn source(text: &str) -> Result<Source, String> {
    match text.strip_prefix('@') {
        Some(_) => character(text).map(Source::Character),
        None => Ok(Source::File(text.into())),
    }
}

/// A command-line value `@NAME` as a character; for clap.
pub fn character(text: &str) -> Result<Character, String> {
    let name = text.strip_prefix('@').ok_or_else(|| format!("expected one of {}", names()))?;
    Character::from_str(name)
        .map_err(|UnknownCharacter { name }| format!("there is no character \"{name}\"; expected one of {}", names()))
}

fn names() -> String {
    Character::ALL.map(|character| format!("@{character}")).join(", ")
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Character(character) => write!(f, "@{character}"),
        }
    }
}
