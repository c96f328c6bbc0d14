//! What a model argument names: a file, or a character or scene that comes with the command.

use std::fmt;
use std::path::{Path, PathBuf};

use models::characters::{self, Character};
use models::scenes::{self, FORMS, Scene, UnknownScene};
use support::suggest;

/// So many names are suggested.
const MAX_SUGGESTIONS: usize = 3;

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
    let Some(name) = text.strip_prefix('@') else {
        return Err(suggestion(text).map_or_else(|| format!("expected one of {}", listed()), with_list));
    };
    if let Ok(character) = name.parse() {
        return Ok(Named::Character(character));
    }
    name.parse().map(Named::Scene).map_err(|error| match error {
        UnknownScene::Name { name } => {
            let unknown = support::brief(&format!("there is no character or scene \"{name}\""));
            match suggestion(&name) {
                Some(hint) => format!("{unknown}: {}", with_list(hint)),
                None => format!("{unknown}; expected one of {}", listed()),
            }
        }
        UnknownScene::Number { .. } => error.to_string(),
    })
}

/// The names of all characters and the forms of those of all scenes, with their @.
pub fn names() -> impl Iterator<Item = String> {
    let characters = Character::ALL.iter().map(|character| character.name());
    characters.chain(FORMS).map(|name| format!("@{name}"))
}

fn listed() -> String {
    names().collect::<Vec<_>>().join(", ")
}

/// A suggestion, and how to see all.
fn with_list(suggestion: String) -> String {
    format!("{suggestion} (@ alone lists all)")
}

/// `did you mean @dog?` where a character or scene has a name like this one.
fn suggestion(name: &str) -> Option<String> {
    let characters = characters::similar(name).into_iter().map(String::from);
    suggest::question(characters.chain(scenes::similar(name)).take(MAX_SUGGESTIONS).map(|name| format!("@{name}")))
}

/// The same for a file that is not there, if its name has no ending: files have one.
pub fn instead_of(file: &Path) -> Option<String> {
    let is_name = file.extension().is_none() && file.components().count() == 1 && !file.exists();
    suggestion(file.to_str().filter(|_| is_name)?)
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
