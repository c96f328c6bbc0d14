//! What was read and not simulated, one entry per kind.

use std::collections::BTreeMap;

use multibody::Warning;
use support::brief;

use crate::xml::{Element, Unread};

/// A message with a question at its end.
fn asking(message: &str, question: Option<String>) -> String {
    question.map_or_else(|| message.into(), |question| format!("{message}; {question}"))
}

/// Collects warnings; the same thing at many places of a file becomes one entry with the first place and a count.
#[derive(Debug, Default)]
pub(crate) struct Warnings {
    entries: Vec<(Warning, usize)>,
    index_of: BTreeMap<(String, String), usize>,
}

impl Warnings {
    /// Notes what happens to `element` instead of what it asks for.
    pub fn add(&mut self, element: Element<'_>, message: &str) {
        self.note(element, element.name().into(), message);
    }

    /// Notes what happens to an attribute of `element` instead of what it asks for.
    pub fn add_attribute(&mut self, element: Element<'_>, attribute: &str, message: &str) {
        self.note(element, format!("{} {attribute}", element.name()), message);
    }

    /// Notes everything below `root` that no reader asked for.
    pub fn add_unread(&mut self, root: Element<'_>) {
        for unread in root.unread() {
            match unread {
                Unread::Attribute(element, attribute) => {
                    let meant = element.meant_by_attribute(attribute);
                    self.add_attribute(element, attribute, &asking("not read: ignored", meant));
                }
                Unread::Element { parent, element } => {
                    let path = format!("{}/{}", parent.name(), element.name());
                    let meant = parent.meant_by_child(element.name());
                    self.note(element, path, &asking("not simulated: ignored", meant));
                }
            }
        }
    }

    fn note(&mut self, at: Element<'_>, what: String, message: &str) {
        let slot = *self.index_of.entry((what.clone(), message.into())).or_insert(self.entries.len());
        match self.entries.get_mut(slot) {
            Some((_, count)) => *count += 1,
            None => {
                let (file, line, message) = (at.file().into(), at.line(), message.into());
                self.entries.push((Warning { file, line, element: what, message }, 1));
            }
        }
    }

    /// The warnings, in the order of their first places.
    pub fn finish(self) -> Vec<Warning> {
        let finish = |(mut warning, count): (Warning, usize)| {
            if count > 1 {
                warning.message.push_str(&format!(" ({count} places, this is the first)"));
            }
            // Names of a file, which those who show parts of it should not have to clean.
            warning.element = brief(&warning.element);
            warning.message = brief(&warning.message);
            warning
        };
        self.entries.into_iter().map(finish).collect()
    }
}
