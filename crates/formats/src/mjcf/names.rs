//! Names of elements: unique within their kind.

use std::collections::BTreeMap;

use crate::LoadError;
use crate::xml::{Element, shortened};

/// The names of every kind of element, with the indices that they stand for.
#[derive(Debug, Default)]
pub(super) struct Names {
    kinds: BTreeMap<&'static str, BTreeMap<String, usize>>,
}

impl Names {
    /// The name of `element` (empty when it has none) with the suffix of its replica, from now on that of `index`.
    pub fn claim(
        &mut self,
        element: Element<'_>,
        kind: &'static str,
        suffix: &str,
        index: usize,
    ) -> Result<String, LoadError> {
        let Some(name) = element.attribute("name").filter(|name| !name.is_empty()) else { return Ok(String::new()) };
        let name = format!("{name}{suffix}");
        if self.kinds.entry(kind).or_default().insert(name.clone(), index).is_some() {
            return Err(element.error(format!("name=\"{name}\": expected a name that no other {kind} has")));
        }
        Ok(name)
    }

    /// Gives `name`, if it is not empty, to `index`; `element` is where it comes from.
    pub fn add(&mut self, element: Element<'_>, kind: &'static str, name: &str, index: usize) -> Result<(), LoadError> {
        if !name.is_empty() && self.kinds.entry(kind).or_default().insert(name.into(), index).is_some() {
            let message = format!("attaches a {kind} {name:?}: expected a prefix by which it differs from the others");
            return Err(element.error(message));
        }
        Ok(())
    }

    /// Gives `name` to `index` without an element that says so.
    pub fn reserve(&mut self, kind: &'static str, name: &str, index: usize) {
        self.kinds.entry(kind).or_default().insert(name.into(), index);
    }

    /// Whether `name` is that of an element of this kind.
    pub fn has(&self, kind: &'static str, name: &str) -> bool {
        self.kinds.get(kind).is_some_and(|names| names.contains_key(name))
    }

    /// The index of what `attribute` of `element` names.
    pub fn find(&self, element: Element<'_>, attribute: &str, kind: &'static str) -> Result<usize, LoadError> {
        let name = element.required(attribute)?;
        self.get(element, attribute, kind, name)
    }

    /// The index of `name`, which came from an attribute of `element`.
    pub fn get(
        &self,
        element: Element<'_>,
        attribute: &str,
        kind: &'static str,
        name: &str,
    ) -> Result<usize, LoadError> {
        let index = self.kinds.get(kind).and_then(|names| names.get(name)).copied();
        index.ok_or_else(|| {
            element.error(format!("{attribute}=\"{}\": expected the name of a {kind} of the model", shortened(name)))
        })
    }
}
