//! Options of simulations as Python names them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sim::{ContactLaw, Options, PdLaw, Scheme, Theta};

use crate::arguments::word;
use crate::errors::warn;

/// More threads than this are a slip of the pen, and a system that has not so many may abort the process.
const MAX_THREADS: i64 = 1024;

/// Names of the options that `Simulation` and `Batch` have, both of them, beside `threads`.
pub const OPTIONS: [&str; 14] = [
    "timestep",
    "accuracy",
    "scheme",
    "conserve",
    "pd_law",
    "contact",
    "tolerance",
    "factorization_budget",
    "beta",
    "sigma",
    "impratio",
    "recovery_speed",
    "sleep_after",
    "sleep_speed",
];

/// What Python passes.
pub struct OptionArguments<'a> {
    pub timestep: Option<f64>,
    pub accuracy: Option<f64>,
    pub scheme: SchemeArgument,
    pub conserve: bool,
    pub pd_law: &'a str,
    pub contact: &'a str,
    pub tolerance: f64,
    pub factorization_budget: Option<i64>,
    pub beta: f64,
    pub sigma: f64,
    pub impratio: Option<f64>,
    pub recovery_speed: f64,
    pub sleep_after: Option<f64>,
    pub sleep_speed: Option<f64>,
    pub threads: Option<i64>,
}

impl OptionArguments<'_> {
    /// The options, those that are words or counts checked; `Simulation::new` checks the rest.
    pub fn options(self) -> PyResult<Options> {
        Ok(Options {
            timestep: self.timestep,
            accuracy: self.accuracy,
            scheme: self.scheme.scheme()?,
            conserve: self.conserve,
            pd_law: word("pd_law", self.pd_law, &PD_LAWS)?,
            contact: word("contact", self.contact, &CONTACT_LAWS)?,
            tolerance: self.tolerance,
            factorization_budget: self.factorization_budget.map(budget).transpose()?,
            beta: self.beta,
            sigma: self.sigma,
            impratio: self.impratio,
            recovery_speed: self.recovery_speed,
            sleep_after: self.sleep_after,
            sleep_speed: self.sleep_speed,
            threads: self.threads.map_or(Ok(1), threads)?,
        })
    }
}

/// Options as keywords of `Simulation` and `Batch`, but for those that only one of them has.
pub fn keywords<'py>(py: Python<'py>, options: &Options) -> PyResult<Bound<'py, PyDict>> {
    // Destructured, so that a new option cannot be forgotten here.
    let Options {
        timestep,
        accuracy,
        scheme,
        conserve,
        pd_law,
        contact,
        tolerance,
        factorization_budget,
        beta,
        sigma,
        impratio,
        recovery_speed,
        sleep_after,
        sleep_speed,
        threads: _,
    } = options;
    let keywords = PyDict::new(py);
    keywords.set_item("timestep", timestep)?;
    keywords.set_item("accuracy", accuracy)?;
    match scheme {
        Scheme::Theta(Theta { q, v, vq }) => keywords.set_item("scheme", (q, v, vq))?,
        named => keywords.set_item("scheme", named.to_string())?,
    }
    keywords.set_item("conserve", conserve)?;
    keywords.set_item("pd_law", name_of(&PD_LAWS, *pd_law))?;
    keywords.set_item("contact", name_of(&CONTACT_LAWS, *contact))?;
    keywords.set_item("tolerance", tolerance)?;
    keywords.set_item("factorization_budget", factorization_budget)?;
    keywords.set_item("beta", beta)?;
    keywords.set_item("sigma", sigma)?;
    keywords.set_item("impratio", impratio)?;
    keywords.set_item("recovery_speed", recovery_speed)?;
    keywords.set_item("sleep_after", sleep_after)?;
    keywords.set_item("sleep_speed", sleep_speed)?;
    Ok(keywords)
}

/// The word for a value; Python can make no others than those that have one.
pub fn name_of<T: PartialEq>(words: &[(&'static str, T)], value: T) -> &'static str {
    words.iter().find(|(_, named)| *named == value).map_or("auto", |(word, _)| word)
}

/// A number of threads.
pub fn threads(threads: i64) -> PyResult<usize> {
    if (1..=MAX_THREADS).contains(&threads) {
        return Ok(threads as usize);
    }
    Err(PyValueError::new_err(format!("threads is {threads}: expected 1 to {MAX_THREADS}")))
}

/// A number of factorisations.
pub fn budget(number: i64) -> PyResult<usize> {
    let expected = |_| PyValueError::new_err(format!("factorization_budget is {number}: expected 0 or more, or None"));
    usize::try_from(number).map_err(expected)
}

/// A scheme by name or by its θ.
#[derive(FromPyObject)]
pub enum SchemeArgument {
    Name(String),
    Theta(f64, f64, f64),
}

impl Default for SchemeArgument {
    fn default() -> Self {
        Self::Name(Scheme::default().to_string())
    }
}

impl SchemeArgument {
    fn scheme(&self) -> PyResult<Scheme> {
        match self {
            Self::Name(name) => word("scheme", name, &Scheme::NAMED),
            Self::Theta(q, v, vq) => Ok(Scheme::Theta(Theta { q: *q, v: *v, vq: *vq })),
        }
    }
}

const CONTACT_LAWS: [(&str, ContactLaw); 3] =
    [("sap", ContactLaw::Sap), ("lagged", ContactLaw::Lagged), ("coulomb", ContactLaw::Coulomb)];

const PD_LAWS: [(&str, PdLaw); 3] = [("auto", PdLaw::Auto), ("stable", PdLaw::Stable), ("theta", PdLaw::Theta)];

/// Warns of a time step that looks like milliseconds.
pub fn warn_of_milliseconds(py: Python<'_>, timestep: Option<f64>) -> PyResult<()> {
    match timestep {
        Some(dt) if dt >= 1.0 && dt.is_finite() => {
            warn(py, &format!("timestep = {dt} s: {} if these are milliseconds", dt / 1000.0))
        }
        _ => Ok(()),
    }
}
