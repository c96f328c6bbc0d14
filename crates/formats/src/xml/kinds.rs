//! Names of elements, and what readers ask of those of a name: what a misspelt attribute or element was probably meant to be.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use support::suggest::{question, similar};

/// Readers ask the same of all elements of a name: so many questions are remembered, and no more time is spent.
const MOST_QUESTIONS: u32 = 2000;

/// Every name of an element in a document.
#[derive(Debug, Default)]
pub(super) struct Kinds {
    all: Vec<Kind>,
    index_of: BTreeMap<String, usize>,
}

#[derive(Debug, Default)]
pub(super) struct Kind {
    pub name: String,
    pub attributes: Asked,
    pub children: Asked,
}

impl Kinds {
    /// The index of a name.
    pub fn index_of(&mut self, name: &str) -> usize {
        if let Some(&index) = self.index_of.get(name) {
            return index;
        }
        self.all.push(Kind { name: name.into(), ..Kind::default() });
        self.index_of.insert(name.into(), self.all.len() - 1);
        self.all.len() - 1
    }

    pub fn get(&self, index: usize) -> &Kind {
        &self.all[index]
    }
}

/// Names that readers asked for.
#[derive(Debug, Default)]
pub(super) struct Asked {
    names: RefCell<Vec<String>>,
    questions: Cell<u32>,
}

impl Asked {
    pub fn add(&self, name: &str) {
        if self.questions.get() >= MOST_QUESTIONS {
            return;
        }
        self.questions.set(self.questions.get() + 1);
        let mut names = self.names.borrow_mut();
        if !names.iter().any(|known| known == name) {
            names.push(name.into());
        }
    }

    /// Which of the names, or of `more`, a name is that is none of them: "did you mean `axis`?".
    pub fn meant(&self, name: &str, more: &[&str], is_free: impl Fn(&str) -> bool) -> Option<String> {
        let names = self.names.borrow();
        let known = || names.iter().map(String::as_str).chain(more.iter().copied());
        if known().any(|known| known == name) {
            return None;
        }
        let nearest = similar(name, known().filter(|known| is_free(known))).into_iter().next();
        question(nearest.map(|name| format!("`{name}`")))
    }
}
