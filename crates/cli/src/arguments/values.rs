//! Values of the command line, read.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Arg, Command, Error};
use motion::Axes;
use sim::{ContactLaw, Scheme};

fn number(text: &str, fits: impl Fn(f64) -> bool, expected: &str) -> Result<f64, String> {
    text.parse().ok().filter(|&x: &f64| x.is_finite() && fits(x)).ok_or_else(|| format!("expected {expected}"))
}

pub fn positive(text: &str) -> Result<f64, String> {
    number(text, |x| x > 0.0, "a finite number above 0")
}

pub fn height(text: &str) -> Result<f64, String> {
    number(text, |_| true, "a finite number of metres")
}

pub fn duration(text: &str) -> Result<f64, String> {
    number(text, |x| x >= 0.0, "a finite number of seconds, 0 or more")
}

/// `KP,KD`: stiffness and damping.
pub fn gains(text: &str) -> Result<[f64; 2], String> {
    let expected = "two finite numbers, 0 or more, with a comma between them: stiffness,damping";
    let (kp, kd) = text.split_once(',').ok_or_else(|| format!("expected {expected}"))?;
    let gain = |text: &str| number(text.trim(), |x| x >= 0.0, expected);
    Ok([gain(kp)?, gain(kd)?])
}

/// `FILE=MODEL`: two names.
pub fn pair(text: &str) -> Result<(String, String), String> {
    let both = text.split_once('=').filter(|(from, to)| !from.is_empty() && !to.is_empty());
    let both = both.map(|(from, to)| (from.to_owned(), to.to_owned()));
    both.ok_or_else(|| "expected a joint of the file and one of the model: FILE=MODEL".into())
}

/// A value by one of these names; clap says which are similar.
pub fn named_values<T: Copy + Send + Sync + 'static>(
    named: &'static [(&'static str, T, &'static str)],
) -> impl TypedValueParser<Value = T> {
    let values = named.iter().map(|(name, _, help)| PossibleValue::new(*name).help(*help));
    PossibleValuesParser::new(values).map(|name| {
        // clap lets no other names through.
        named.iter().find(|(known, ..)| *known == name).map_or(named[0].1, |(_, value, _)| *value)
    })
}

/// Axes by name.
pub fn axes() -> impl TypedValueParser<Value = Axes> {
    PossibleValuesParser::new(Axes::ALL.map(Axes::name))
        .map(|name| Axes::ALL.into_iter().find(|axes| axes.name() == name).unwrap_or_default())
}

/// A number of factorisations; none is unlimited.
#[derive(Clone, Copy, Debug)]
pub struct Budget(pub Option<usize>);

pub fn budget(text: &str) -> Result<Budget, String> {
    match text {
        "unlimited" => Ok(Budget(None)),
        _ => {
            text.parse().map(|n| Budget(Some(n))).map_err(|_| "expected a whole number, 0 or more, or unlimited".into())
        }
    }
}

/// The friction laws, by name.
const CONTACT_LAWS: [(&str, ContactLaw, &str); 3] = [
    ("coulomb", ContactLaw::Coulomb, "Coulomb's law, within the budget of factorisations"),
    ("lagged", ContactLaw::Lagged, "friction bounded by the normal impulses of the step before"),
    ("sap", ContactLaw::Sap, "the convex cone of SAP: sliding opens a small gap"),
];

/// The name of a friction law.
pub fn contact_name(law: ContactLaw) -> &'static str {
    CONTACT_LAWS.iter().find(|(_, known, _)| *known == law).map_or("", |(name, ..)| name)
}

/// Friction laws by name.
pub fn contact_law() -> impl TypedValueParser<Value = ContactLaw> {
    named_values(&CONTACT_LAWS)
}

/// Schemes by name, or as three numbers.
#[derive(Clone, Copy, Debug)]
pub struct SchemeParser;

impl TypedValueParser for SchemeParser {
    type Value = Scheme;

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &std::ffi::OsStr) -> Result<Scheme, Error> {
        (|text: &str| text.parse::<Scheme>()).parse_ref(command, arg, value)
    }

    /// For completions and the help; numbers are read beside these.
    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        const HELP: [&str; 5] = [
            "first order, the simplest: what turns fast gains energy",
            "first order, energy and momentum in flight are kept",
            "second order: keeps the energy of what swings and rolls",
            "first order, takes energy",
            "first order, for comparisons only: unstable where forces are stiff",
        ];
        let values = Scheme::NAMED.into_iter().zip(HELP);
        Some(Box::new(values.map(|((name, _), help)| PossibleValue::new(name).help(help))))
    }
}
