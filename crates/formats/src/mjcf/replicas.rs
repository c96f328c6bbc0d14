//! References into `<replicate>`: what names an element inside it is copied with it.
//!
//! As in MuJoCo, a pair, tendon, constraint, actuator or sensor that names something in a `<replicate>` by the name without suffix is taken
//! out, and a copy for each replica follows the others of its section: the suffix is appended to its name and to those that it refers to.

use std::collections::{BTreeMap, BTreeSet};

use crate::LoadError;
use crate::limits::{BYTES_OF_COPY, MAX_REPLICATED_ELEMENTS};
use crate::xml::{Document, Element};

/// The sections whose elements refer to bodies and to each other, in the order in which they do.
const SECTIONS: [&str; 5] = ["contact", "tendon", "equality", "actuator", "sensor"];

/// Attributes that name something, and what. `objname` and `refname` are named by another attribute.
const REFERENCES: [(&str, &str); 24] = [
    ("joint", "joint"),
    ("jointinparent", "joint"),
    ("joint1", "joint"),
    ("joint2", "joint"),
    ("body", "body"),
    ("body1", "body"),
    ("body2", "body"),
    ("subtree1", "body"),
    ("subtree2", "body"),
    ("geom", "geom"),
    ("geom1", "geom"),
    ("geom2", "geom"),
    ("site", "site"),
    ("site1", "site"),
    ("site2", "site"),
    ("sidesite", "site"),
    ("refsite", "site"),
    ("cranksite", "site"),
    ("slidersite", "site"),
    ("camera", "camera"),
    ("tendon", "tendon"),
    ("tendon1", "tendon"),
    ("tendon2", "tendon"),
    ("actuator", "actuator"),
];

/// How often a `<replicate>` copies what is in it, and the suffixes of the copies.
#[derive(Clone, Copy, Debug)]
pub(super) struct Replicas<'a> {
    pub count: usize,
    separator: &'a str,
    digits: usize,
}

impl<'a> Replicas<'a> {
    pub fn of(element: Element<'a>) -> Result<Self, LoadError> {
        let count = element.required("count")?.trim().parse::<usize>().ok().filter(|&n| n > 0);
        let count = count.ok_or_else(|| element.error("count: expected an integer above 0"))?;
        let separator = element.attribute("sep").unwrap_or("");
        Ok(Self { count, separator, digits: count.to_string().len() })
    }

    /// The suffix of the copy `index`.
    pub fn suffix(&self, index: usize) -> String {
        format!("{}{index:0digits$}", self.separator, digits = self.digits)
    }
}

/// The kind and the name of an element.
type Name = (&'static str, String);

/// An attribute that refers to a named element.
struct Reference {
    element: usize,
    attribute: &'static str,
    name: Name,
}

/// The names in a `<replicate>`; those of attached models by their prefixes.
#[derive(Default)]
struct Prototype {
    names: BTreeSet<Name>,
    prefixes: BTreeSet<String>,
}

/// The elements of the sections: in order those that are left, and who refers to what.
struct Sections {
    root: usize,
    elements: BTreeMap<Place, usize>,
    referring: BTreeMap<Name, BTreeSet<Place>>,
    /// Elements copied so far.
    copied: usize,
}

/// The section of an element, and its place among all in sections of this name.
type Place = (usize, usize);

/// Copies what refers to elements in `<replicate>`.
pub(super) fn expand(document: &mut Document, root: usize) -> Result<(), LoadError> {
    let mut sections = Sections::of(document, root);
    if sections.elements.is_empty() {
        return Ok(());
    }
    let mut open: Vec<Prototype> = Vec::new();
    let mut stack: Vec<(usize, bool)> = Vec::new();
    stack.extend(document.element(root).children_of("worldbody").map(|index| (index, false)));
    stack.reverse();
    while let Some((index, is_left)) = stack.pop() {
        let element = document.element(index);
        let is_replicate = element.name() == "replicate";
        if is_left {
            let Some(prototype) = open.pop() else { continue };
            let suffixes = sections.replicate(document, index, &prototype)?;
            if let Some(outer) = open.last_mut() {
                let copies = |(kind, name): &Name| suffixes.iter().map(|s| (*kind, format!("{name}{s}"))).collect();
                outer.names.extend(prototype.names.iter().flat_map::<Vec<Name>, _>(copies));
                outer.prefixes.extend(prototype.prefixes);
            }
            continue;
        }
        if is_replicate {
            open.push(Prototype::default());
            stack.push((index, true));
        } else if let Some(prototype) = open.last_mut() {
            prototype.add(element);
        }
        stack.extend(document.child_indices(index).iter().rev().map(|&child| (child, false)));
    }
    sections.write(document);
    Ok(())
}

impl Prototype {
    fn add(&mut self, element: Element<'_>) {
        let kind = match element.name() {
            "body" => "body",
            "joint" | "freejoint" => "joint",
            "geom" => "geom",
            "site" => "site",
            "camera" => "camera",
            "attach" => {
                self.prefixes.extend(element.peek("prefix").filter(|prefix| !prefix.is_empty()).map(String::from));
                return;
            }
            _ => return,
        };
        self.names.extend(element.peek("name").filter(|name| !name.is_empty()).map(|name| (kind, name.into())));
    }
}

impl Sections {
    fn of(document: &Document, root: usize) -> Self {
        let mut sections = Self { root, elements: BTreeMap::new(), referring: BTreeMap::new(), copied: 0 };
        for (section, name) in SECTIONS.into_iter().enumerate() {
            for parent in document.element(root).children_of(name) {
                document.child_indices(parent).iter().for_each(|&element| sections.push(document, section, element));
            }
        }
        sections
    }

    /// Appends an element to a section.
    fn push(&mut self, document: &Document, section: usize, element: usize) {
        let last = self.elements.range((section, 0)..(section + 1, 0)).next_back();
        let place = (section, last.map_or(0, |((_, place), _)| place + 1));
        self.elements.insert(place, element);
        for reference in references(document, element) {
            self.referring.entry(reference.name).or_default().insert(place);
        }
    }

    /// Puts copies in the place of all that refers to names of the prototype of a `<replicate>`; its suffixes.
    fn replicate(
        &mut self,
        document: &mut Document,
        index: usize,
        prototype: &Prototype,
    ) -> Result<Vec<String>, LoadError> {
        let replicate = document.element(index);
        let replicas = Replicas::of(replicate)?;
        let is_in_limits = |copied: usize| copied.saturating_mul(replicas.count) <= MAX_REPLICATED_ELEMENTS;
        let too_many = |replicate: Element<'_>| {
            let expected = format!("expected at most {MAX_REPLICATED_ELEMENTS} copied elements in a model");
            replicate.error(format!("count=\"{}\": {expected}", replicas.count))
        };
        let suffix = replicas.suffix(replicas.count - 1).len();
        let size = prototype.names.iter().map(|(_, name)| 1 + (name.len() + suffix) / BYTES_OF_COPY).sum::<usize>();
        if !is_in_limits(size.max(1)) {
            return Err(too_many(replicate));
        }
        let suffixes: Vec<String> = (0..replicas.count).map(|k| replicas.suffix(k)).collect();
        let (mut names, mut places) = (prototype.names.clone(), BTreeSet::new());
        let referring = if prototype.prefixes.is_empty() { None } else { Some(&self.referring) };
        for (name, referring) in referring.into_iter().flatten() {
            let is_attached = prototype.prefixes.iter().any(|prefix| name.1.starts_with(prefix));
            // A name with a suffix means one of the copies.
            if is_attached && !suffixes.iter().any(|suffix| name.1.ends_with(suffix)) && !referring.is_empty() {
                names.insert(name.clone());
            }
        }
        // A tendon that is copied makes copies of its actuators, and those of their sensors.
        let mut new: Vec<Name> = names.iter().cloned().collect();
        while let Some(name) = new.pop() {
            for &place in self.referring.get(&name).into_iter().flatten() {
                let kind = SECTIONS[place.0];
                let element = document.element(self.elements[&place]);
                if places.insert(place)
                    && matches!(kind, "tendon" | "actuator")
                    && let Some(own) = element.peek("name").filter(|own| !own.is_empty())
                    && names.insert((kind, own.into()))
                {
                    new.push((kind, own.into()));
                }
            }
        }
        let originals: Vec<(Place, usize)> =
            places.into_iter().filter_map(|place| Some((place, self.elements.remove(&place)?))).collect();
        for (place, element) in &originals {
            let size = document
                .element(*element)
                .descendants()
                .map(|e| 1 + (e.length() + suffix) / BYTES_OF_COPY)
                .sum::<usize>();
            self.copied = self.copied.saturating_add(size.saturating_mul(replicas.count));
            for reference in references(document, *element) {
                self.referring.entry(reference.name).or_default().remove(place);
            }
        }
        if self.copied > MAX_REPLICATED_ELEMENTS {
            return Err(too_many(document.element(index)));
        }
        for suffix in &suffixes {
            for ((section, _), original) in &originals {
                let copy = document.copy(*original);
                if let Some(name) = document.element(copy).peek("name").filter(|name| !name.is_empty()) {
                    let name = format!("{name}{suffix}");
                    document.set_attribute(copy, "name", name);
                }
                for Reference { element, attribute, name } in references(document, copy) {
                    if names.contains(&name) {
                        document.set_attribute(element, attribute, format!("{}{suffix}", name.1));
                    }
                }
                self.push(document, *section, copy);
            }
        }
        Ok(suffixes)
    }

    /// Writes the sections where anything has been copied: all that is left is in the last of its name.
    fn write(self, document: &mut Document) {
        if self.copied == 0 {
            return;
        }
        for (section, name) in SECTIONS.into_iter().enumerate() {
            let parents: Vec<usize> = document.element(self.root).children_of(name).collect();
            let Some(last) = parents.last() else { continue };
            parents.iter().for_each(|&parent| document.set_children(parent, Vec::new()));
            document
                .set_children(*last, self.elements.range((section, 0)..(section + 1, 0)).map(|(_, e)| *e).collect());
        }
    }
}

/// What an element, and those in it, refer to.
fn references(document: &Document, element: usize) -> Vec<Reference> {
    let mut found = Vec::new();
    for element in document.element(element).descendants() {
        let mut add = |attribute, kind| {
            if let Some(name) = element.peek(attribute) {
                found.push(Reference { element: element.index(), attribute, name: (kind, name.into()) });
            }
        };
        for (attribute, kind) in REFERENCES {
            add(attribute, kind);
        }
        for (attribute, of_type) in [("objname", "objtype"), ("refname", "reftype")] {
            let kinds = ["body", "joint", "geom", "site", "camera", "tendon", "actuator"];
            let kind = element.peek(of_type).map(|kind| if kind == "xbody" { "body" } else { kind });
            if let Some(kind) = kinds.into_iter().find(|known| Some(*known) == kind) {
                add(attribute, kind);
            }
        }
    }
    found
}
