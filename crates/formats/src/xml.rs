//! XML elements that remember what was read of them.
//!
//! Readers ask an [`Element`] for its attributes and children. What nobody asked for is what the reader does not
//! know: [`Element::unread`] lists it, so that nothing in a file is dropped in silence.

mod kinds;
mod parse;

use std::cell::Cell;

use multibody::Warning;

use crate::LoadError;
use kinds::{Kind, Kinds};

/// The elements of a file and of the files that it includes.
#[derive(Debug, Default)]
pub(crate) struct Document {
    files: Vec<String>,
    elements: Vec<ElementData>,
    kinds: Kinds,
    /// Names of elements that readers know without asking for them.
    pub known: &'static [&'static str],
    /// Attributes of all elements.
    attributes: usize,
    /// The first element that is a macro of xacro.
    pub template: Option<usize>,
    /// What is not well-formed and was read all the same.
    pub faults: Vec<Warning>,
}

#[derive(Clone, Debug, Default)]
struct ElementData {
    /// Its name among the [`Kinds`].
    kind: usize,
    attributes: Vec<Attribute>,
    /// What stands between the tags, but for blanks.
    text: String,
    children: Vec<usize>,
    file: usize,
    line: u32,
    visited: Cell<bool>,
}

#[derive(Clone, Debug, Default)]
struct Attribute {
    name: String,
    value: String,
    read: Cell<bool>,
}

/// An element of a [`Document`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Element<'a> {
    document: &'a Document,
    index: usize,
}

/// Something that no reader asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unread<'a> {
    /// An element that none visited.
    Element {
        /// The element around it.
        parent: Element<'a>,
        /// The element.
        element: Element<'a>,
    },
    /// An attribute of an element that one visited.
    Attribute(Element<'a>, &'a str),
}

impl Document {
    /// The element of this index.
    pub fn element(&self, index: usize) -> Element<'_> {
        Element { document: self, index }
    }

    /// The index of the child of `parent` at `position`.
    pub fn child_at(&self, parent: usize, position: usize) -> Option<usize> {
        self.elements[parent].children.get(position).copied()
    }

    /// The indices of the children.
    pub fn child_indices(&self, parent: usize) -> &[usize] {
        &self.elements[parent].children
    }

    /// Gives an element other children.
    pub fn set_children(&mut self, parent: usize, children: Vec<usize>) {
        self.elements[parent].children = children;
    }

    /// Copies an element and all in it; the index of the copy, which has no parent yet.
    pub fn copy(&mut self, index: usize) -> usize {
        let first = self.elements.len();
        let mut stack = vec![(index, None)];
        while let Some((index, parent)) = stack.pop() {
            let here = self.elements.len();
            let copy = ElementData { children: Vec::new(), ..self.elements[index].clone() };
            stack.extend(self.elements[index].children.iter().rev().map(|&child| (child, Some(here))));
            self.elements.push(copy);
            if let Some(parent) = parent {
                self.elements[parent].children.push(here);
            }
        }
        first
    }

    /// Sets an attribute, whether the element has it or not.
    pub fn set_attribute(&mut self, index: usize, name: &str, value: String) {
        let attributes = &mut self.elements[index].attributes;
        match attributes.iter_mut().find(|a| a.name == name) {
            Some(attribute) => attribute.value = value,
            None => attributes.push(Attribute { name: name.into(), value, read: Cell::default() }),
        }
    }

    /// Puts the children of `with` in the place of the child of `parent` at `position`.
    pub fn splice(&mut self, parent: usize, position: usize, with: usize) {
        let children = std::mem::take(&mut self.elements[with].children);
        self.elements[parent].children.splice(position..=position, children);
    }
}

impl<'a> Element<'a> {
    fn data(self) -> &'a ElementData {
        &self.document.elements[self.index]
    }

    /// A number that no other element of the document has.
    pub fn index(self) -> usize {
        self.index
    }

    /// The name of the element.
    pub fn name(self) -> &'a str {
        &self.kind().name
    }

    fn kind(self) -> &'a Kind {
        self.document.kinds.get(self.data().kind)
    }

    /// The file; empty for text that came from memory.
    pub fn file(self) -> &'a str {
        &self.document.files[self.data().file]
    }

    /// The line, from 1.
    pub fn line(self) -> u32 {
        self.data().line
    }

    /// The children. The element counts as visited.
    pub fn children(self) -> impl DoubleEndedIterator<Item = Element<'a>> + ExactSizeIterator {
        self.data().visited.set(true);
        self.data().children.iter().map(move |&index| Element { document: self.document, index })
    }

    /// The children of this name.
    pub fn children_named(self, name: &str) -> impl DoubleEndedIterator<Item = Element<'a>> {
        self.kind().children.add(name);
        self.children().filter(move |c| c.name() == name)
    }

    /// The first child of this name.
    pub fn child(self, name: &str) -> Option<Element<'a>> {
        self.children_named(name).next()
    }

    /// The text between its tags, but for blanks. The element counts as visited.
    pub fn text(self) -> &'a str {
        self.data().visited.set(true);
        &self.data().text
    }

    /// The element and all below it, in the order of the file. None counts as visited.
    pub fn descendants(self) -> impl Iterator<Item = Element<'a>> {
        let mut stack = vec![self];
        std::iter::from_fn(move || {
            let next = stack.pop()?;
            stack.extend(next.data().children.iter().rev().map(|&child| self.document.element(child)));
            Some(next)
        })
    }

    /// The value of an attribute, which counts as read.
    pub fn attribute(self, name: &str) -> Option<&'a str> {
        let data = self.data();
        data.visited.set(true);
        self.kind().attributes.add(name);
        let attribute = data.attributes.iter().find(|a| a.name == name)?;
        attribute.read.set(true);
        Some(&attribute.value)
    }

    /// The value of an attribute, without counting it as read.
    pub fn peek(self, name: &str) -> Option<&'a str> {
        self.data().attributes.iter().find(|a| a.name == name).map(|a| &*a.value)
    }

    /// Bytes of its attributes.
    pub fn length(self) -> usize {
        self.data().attributes.iter().map(|a| a.name.len() + a.value.len()).sum()
    }

    /// The indices of the children of this name. The element does not count as visited.
    pub fn children_of(self, name: &str) -> impl Iterator<Item = usize> {
        self.data().children.iter().copied().filter(move |&child| self.document.element(child).name() == name)
    }

    /// The value of an attribute that must be there.
    pub fn required(self, name: &str) -> Result<&'a str, LoadError> {
        self.attribute(name).ok_or_else(|| self.error(format!("no attribute `{name}`: expected one")))
    }

    /// Counts these attributes as read: they have no part in a simulation.
    pub fn skip(self, names: &[&str]) {
        for name in names {
            self.attribute(name);
        }
    }

    /// Counts the element and everything in it as read.
    pub fn skip_all(self) {
        let mut stack = vec![self.index];
        while let Some(index) = stack.pop() {
            let data = &self.document.elements[index];
            data.visited.set(true);
            data.attributes.iter().for_each(|a| a.read.set(true));
            stack.extend(&data.children);
        }
    }

    /// What below this element no reader asked for, in the order of the file.
    pub fn unread(self) -> Vec<Unread<'a>> {
        let mut found = Vec::new();
        let mut stack = vec![(self, self)];
        while let Some((parent, element)) = stack.pop() {
            let data = element.data();
            if data.visited.get() {
                stack.extend(data.children.iter().rev().map(|&child| (element, self.document.element(child))));
                let attributes = data.attributes.iter().filter(|a| !a.read.get());
                found.extend(attributes.map(|a| Unread::Attribute(element, &a.name)));
            } else {
                found.push(Unread::Element { parent, element });
            }
        }
        found
    }

    /// What an attribute that no reader asked for was probably meant to be: "did you mean `axis`?".
    pub fn meant_by_attribute(self, name: &str) -> Option<String> {
        self.kind().attributes.meant(name, &[], |known| self.peek(known).is_none())
    }

    /// The same of the name of a child.
    pub fn meant_by_child(self, name: &str) -> Option<String> {
        self.kind().children.meant(name, self.document.known, |_| true)
    }

    /// An error in what is below this element, with the first thing there that looks misspelt, which may be its cause.
    pub fn with_misspelt(self, error: LoadError) -> LoadError {
        let misspelt = |unread: Unread<'_>| {
            let (at, name, meant) = match unread {
                Unread::Attribute(at, name) => (at, name, at.meant_by_attribute(name)),
                Unread::Element { parent, element } => (element, element.name(), parent.meant_by_child(element.name())),
            };
            let place = if at.line() == error.line() { String::new() } else { format!(" in line {}", at.line()) };
            meant.map(|meant| format!("`{}`{place} is not read, {meant}", shortened(name)))
        };
        let hint = self.unread().into_iter().find_map(misspelt);
        error.with_hint(hint.as_deref())
    }

    /// An error at this element.
    pub fn error(self, message: impl AsRef<str>) -> LoadError {
        LoadError::new(self.file(), self.line(), self.name(), message)
    }

    /// The finite numbers of an attribute, separated by white space.
    pub fn numbers(self, name: &str) -> Result<Option<Vec<f64>>, LoadError> {
        self.attribute(name).map(|value| parse_numbers(self, name, value)).transpose()
    }

    /// The `N` finite numbers of an attribute.
    pub fn array<const N: usize>(self, name: &str) -> Result<Option<[f64; N]>, LoadError> {
        self.attribute(name).map(|value| parse_array(self, name, value)).transpose()
    }

    /// The finite number of an attribute.
    pub fn number(self, name: &str) -> Result<Option<f64>, LoadError> {
        Ok(self.array::<1>(name)?.map(|[x]| x))
    }
}

/// The finite numbers in `value`, the attribute `name` of `element`.
pub(crate) fn parse_numbers(element: Element<'_>, name: &str, value: &str) -> Result<Vec<f64>, LoadError> {
    let number = |word: &str| {
        let finite = word.parse::<f64>().ok().filter(|x| x.is_finite());
        finite.ok_or_else(|| element.error(format!("{name}=\"{}\": expected finite numbers", shortened(value))))
    };
    value.split_ascii_whitespace().map(number).collect()
}

/// The `N` finite numbers in `value`, the attribute `name` of `element`.
pub(crate) fn parse_array<const N: usize>(
    element: Element<'_>,
    name: &str,
    value: &str,
) -> Result<[f64; N], LoadError> {
    let numbers = parse_numbers(element, name, value)?;
    let count = numbers.len();
    let plural = if N == 1 { "" } else { "s" };
    numbers.try_into().map_err(|_| {
        element.error(format!("{name}=\"{}\": {count} numbers: expected {N} number{plural}", shortened(value)))
    })
}

/// The beginning of a value, for messages.
pub(crate) fn shortened(value: &str) -> String {
    const LENGTH: usize = 60;
    match value.char_indices().nth(LENGTH) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.into(),
    }
}
