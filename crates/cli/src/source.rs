//! What a model argument names: a file, or a character or scene that comes with the command.

use std::fmt;
use std::path::PathBuf;

use characters::Character;
use scenes::{FORMS, Scene, UnknownScene};

/// `FILE` or `@NAME`. A file whose name begins with @ is `./@…`.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    File(PathBuf),
    Named(Named),
}

/// A model that comes with the command.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Named {
    Character(Character),
    Scene(Scene),
}

/// A command-line value as a source; for clap.
pub fn source(text: &str) -> Result<Source, String> {
    match text.strip_prefix('@') {
        Some(_) => named(text).map(Source::Named),
        None => Ok(Source::File(text.into())),
    }
}

/// A command-line value `@NAME` as a character or scene; for clap.
pub fn named(text: &str) -> Result<Named, String> {
    let name = text.strip_prefix('@').ok_or_else(|| format!("expected one of {}", names()))?;
    if let Ok(character) = name.parse() {
        return Ok(Named::Character(character));
    }
    name.parse().map(Named::Scene).map_err(|error| match error {
        UnknownScene::Name { name } => {
            format!("there is no character or scene \"{name}\"; expected one of {}", names())
        }
        UnknownScene::Number { .. } => error.to_string(),
    })
}

fn names() -> String {
    let characters = Character::ALL.iter().map(|character| character.name());
    characters.chain(FORMS).map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ")
}

impl Named {
    /// Its MJCF text; scenes take no options.
    pub fn mjcf(self, options: &characters::Options) -> String {
        match self {
            Self::Character(character) => characters::mjcf(character, options),
            Self::Scene(scene) => scenes::mjcf(scene),
        }
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Named(Named::Character(character)) => write!(f, "@{character}"),
            Self::Named(Named::Scene(scene)) => write!(f, "@{scene}"),
        }
    }
}
