//! Default classes, and attributes looked up through them.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use crate::LoadError;
use crate::limits::{MAX_DEFAULT_CLASS_DEPTH, MAX_INHERITED_DEFAULTS};
use crate::xml::{Element, parse_array, parse_numbers, shortened};

/// The shortcuts that all set the one actuator default of a class.
pub(super) const ACTUATORS: [&str; 13] = [
    "general",
    "motor",
    "position",
    "velocity",
    "intvelocity",
    "orientation",
    "pid",
    "damper",
    "cylinder",
    "muscle",
    "adhesion",
    "dcmotor",
    "plugin",
];

/// The default classes of a model.
#[derive(Debug, Default)]
pub(super) struct Defaults<'a> {
    classes: Vec<Class<'a>>,
    by_name: BTreeMap<&'a str, usize>,
    asked: RefCell<BTreeMap<String, BTreeSet<&'static str>>>,
    elements: Vec<(String, Element<'a>)>,
    /// Elements that classes have from those around them.
    inherited: usize,
}

/// For every kind of element its default elements, the class's own last, after those that it inherits.
#[derive(Clone, Debug, Default)]
struct Class<'a> {
    chains: BTreeMap<String, Vec<Element<'a>>>,
}

/// The index of a class; the first is the global one.
pub(super) type ClassId = usize;

/// The key under which the defaults of an element are kept.
fn kind_of(name: &str) -> &str {
    match name {
        "freejoint" => "",
        "fixed" | "spatial" => "tendon",
        _ if ACTUATORS.contains(&name) => "actuator",
        _ => name,
    }
}

impl<'a> Defaults<'a> {
    /// Reads all `<default>` sections below the root.
    pub fn read(root: Element<'a>) -> Result<Self, LoadError> {
        let mut defaults = Self { classes: vec![Class::default()], ..Self::default() };
        defaults.by_name.insert("main", 0);
        for section in root.children_named("default") {
            defaults.read_class(section, None, 0)?;
        }
        // Sections can be repeated: what a later one adds to a class reaches the classes below it as well.
        Ok(defaults)
    }

    fn read_class(&mut self, element: Element<'a>, parent: Option<ClassId>, depth: usize) -> Result<(), LoadError> {
        if depth > MAX_DEFAULT_CLASS_DEPTH {
            return Err(
                element.error(format!("expected default classes nested at most {MAX_DEFAULT_CLASS_DEPTH} deep"))
            );
        }
        let name = element.attribute("class");
        let id = match (parent, name) {
            // The outermost class is the global one, whatever its name.
            (None, name) => {
                self.by_name.insert(name.unwrap_or("main"), 0);
                0
            }
            (Some(_), None) => return Err(element.error("no attribute `class`: expected a name for a nested class")),
            (Some(parent), Some(name)) => {
                let id = self.classes.len();
                if self.by_name.insert(name, id).is_some() {
                    return Err(element.error(format!("class=\"{name}\": expected a name that is not in use yet")));
                }
                self.inherit(element, parent)?;
                id
            }
        };
        // The class's own settings first, so that nested classes inherit all of them wherever they stand.
        for child in element.children().filter(|c| c.name() != "default") {
            let kind = kind_of(child.name());
            self.classes[id].chains.entry(kind.into()).or_default().push(child);
            self.elements.push((kind.into(), child));
        }
        for child in element.children_named("default") {
            self.read_class(child, Some(id), depth + 1)?;
        }
        Ok(())
    }

    /// Adds a class with the settings of its parent.
    fn inherit(&mut self, element: Element<'a>, parent: ClassId) -> Result<(), LoadError> {
        let class = self.classes[parent].clone();
        self.inherited += class.chains.values().map(Vec::len).sum::<usize>();
        if self.inherited > MAX_INHERITED_DEFAULTS {
            let expected =
                format!("expected at most {MAX_INHERITED_DEFAULTS}, each counted in every class that inherits it");
            return Err(element.error(format!("too many elements of default classes: {expected}")));
        }
        self.classes.push(class);
        Ok(())
    }

    /// The class that `attribute` of `element` names, or `otherwise`.
    pub fn class(&self, element: Element<'a>, attribute: &str, otherwise: ClassId) -> Result<ClassId, LoadError> {
        match element.attribute(attribute) {
            None => Ok(otherwise),
            Some(name) => self.by_name.get(name).copied().ok_or_else(|| {
                let known: Vec<&str> = self.by_name.keys().copied().collect();
                element.error(format!("{attribute}=\"{name}\": expected a default class ({})", known.join(", ")))
            }),
        }
    }

    /// The attributes of `element`: its own, then those of its class, or of `otherwise` when it names none.
    pub fn attributes<'d>(&'d self, element: Element<'a>, otherwise: ClassId) -> Result<Attributes<'d, 'a>, LoadError> {
        self.attributes_of(element, kind_of(element.name()), otherwise)
    }

    /// As [`Self::attributes`], for an element whose name does not tell the kind of its defaults.
    pub fn attributes_of<'d>(
        &'d self,
        element: Element<'a>,
        kind: &'a str,
        otherwise: ClassId,
    ) -> Result<Attributes<'d, 'a>, LoadError> {
        let class = self.class(element, "class", otherwise)?;
        let chain = self.classes[class].chains.get(kind).map_or(&[][..], Vec::as_slice);
        let mut asked = self.asked.borrow_mut();
        if !asked.contains_key(kind) {
            asked.insert(kind.into(), BTreeSet::new());
        }
        Ok(Attributes { own: element, chain, kind, asked: &self.asked })
    }

    /// Counts as read what any element would have read, and the defaults of kinds of which the model has none.
    pub fn mark_read(&self) {
        let asked = self.asked.borrow();
        for (kind, element) in &self.elements {
            match asked.get(kind) {
                None => element.skip_all(),
                Some(names) => names.iter().for_each(|name| element.skip(&[name])),
            }
        }
    }
}

/// The attributes of an element, completed by its default class.
#[derive(Clone, Copy, Debug)]
pub(super) struct Attributes<'d, 'a> {
    own: Element<'a>,
    chain: &'d [Element<'a>],
    kind: &'a str,
    asked: &'d RefCell<BTreeMap<String, BTreeSet<&'static str>>>,
}

impl<'a> Attributes<'_, 'a> {
    /// The element itself.
    pub fn element(&self) -> Element<'a> {
        self.own
    }

    /// The default elements in the order in which they apply, then the element itself.
    pub fn layers(&self) -> impl Iterator<Item = Element<'a>> {
        self.chain.iter().copied().chain([self.own])
    }

    /// Where the first of `names` that is set comes from: the element, or the nearest of its defaults.
    pub fn find(&self, names: &[&'static str]) -> Option<(Element<'a>, &'static str, &'a str)> {
        self.ask(names);
        let layers = [self.own].into_iter().chain(self.chain.iter().rev().copied());
        let mut found = None;
        for layer in layers {
            for &name in names {
                let value = layer.attribute(name);
                found = found.or_else(|| value.map(|value| (layer, name, value)));
            }
            if found.is_some() {
                break;
            }
        }
        found
    }

    /// The element that sets `name`: this one or one of its defaults.
    pub fn source(&self, name: &'static str) -> Element<'a> {
        self.find(&[name]).map_or(self.own, |(at, _, _)| at)
    }

    /// Whether any of `names` is set.
    pub fn has(&self, names: &[&'static str]) -> bool {
        self.find(names).is_some()
    }

    /// Counts these attributes as read: they have no part in a simulation.
    pub fn skip(&self, names: &[&'static str]) {
        self.ask(names);
        self.own.skip(names);
    }

    /// Counts these attributes as read in every default of this kind, for readers that look at the layers themselves.
    pub fn ask(&self, names: &[&'static str]) {
        if let Some(asked) = self.asked.borrow_mut().get_mut(self.kind) {
            asked.extend(names);
        }
    }

    /// The text of an attribute.
    pub fn text(&self, name: &'static str) -> Option<&'a str> {
        self.find(&[name]).map(|(_, _, value)| value)
    }

    /// The numbers of an attribute.
    pub fn numbers(&self, name: &'static str) -> Result<Option<Vec<f64>>, LoadError> {
        self.find(&[name]).map(|(at, name, value)| parse_numbers(at, name, value)).transpose()
    }

    /// The `N` numbers of an attribute.
    pub fn array<const N: usize>(&self, name: &'static str) -> Result<Option<[f64; N]>, LoadError> {
        self.find(&[name]).map(|(at, name, value)| parse_array(at, name, value)).transpose()
    }

    /// The number of an attribute.
    pub fn number(&self, name: &'static str) -> Result<Option<f64>, LoadError> {
        Ok(self.array::<1>(name)?.map(|[x]| x))
    }

    /// At most `N` numbers of an attribute. Each that is missing has the value of the nearest default that gives as many,
    /// or comes from `otherwise`.
    pub fn leading<const N: usize>(&self, name: &'static str, otherwise: [f64; N]) -> Result<[f64; N], LoadError> {
        self.ask(&[name]);
        let mut result = otherwise;
        for at in self.layers() {
            let Some(value) = at.attribute(name) else { continue };
            let numbers = parse_numbers(at, name, value)?;
            if numbers.len() > N {
                let (count, value) = (numbers.len(), shortened(value));
                return Err(at.error(format!("{name}=\"{value}\": {count} numbers: expected at most {N}")));
            }
            result[..numbers.len()].copy_from_slice(&numbers);
        }
        Ok(result)
    }

    /// An integer.
    pub fn integer(&self, name: &'static str) -> Result<Option<i32>, LoadError> {
        let parse = |(at, name, value): (Element<'a>, &str, &str)| {
            value.trim().parse().map_err(|_| at.error(format!("{name}=\"{}\": expected an integer", shortened(value))))
        };
        self.find(&[name]).map(parse).transpose()
    }

    /// One of the words of a table, as its value.
    pub fn keyword<T: Copy>(&self, name: &'static str, table: &[(&str, T)]) -> Result<Option<T>, LoadError> {
        self.find(&[name]).map(|(at, name, value)| parse_keyword(at, name, value, table)).transpose()
    }

    /// `true` or `false`.
    pub fn flag(&self, name: &'static str) -> Result<Option<bool>, LoadError> {
        self.keyword(name, &[("true", true), ("false", false)])
    }

    /// `true`, `false`, or `auto` (which `None` stands for as well).
    pub fn auto_flag(&self, name: &'static str) -> Result<Option<bool>, LoadError> {
        let table = [("true", Some(true)), ("false", Some(false)), ("auto", None)];
        Ok(self.keyword(name, &table)?.flatten())
    }
}

/// A number that is not negative.
pub(super) fn at_least_zero(element: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    match element.number(name)? {
        Some(value) if value < 0.0 => Err(element.error(format!("{name}=\"{value}\": expected 0 or more"))),
        value => Ok(value),
    }
}

/// The value of a word in a table.
pub(super) fn parse_keyword<T: Copy>(
    at: Element<'_>,
    name: &str,
    value: &str,
    table: &[(&str, T)],
) -> Result<T, LoadError> {
    table.iter().find(|(word, _)| *word == value).map(|&(_, t)| t).ok_or_else(|| {
        let words: Vec<&str> = table.iter().map(|&(word, _)| word).collect();
        at.error(format!("{name}=\"{}\": expected one of {}", shortened(value), words.join(", ")))
    })
}
