//! Options of simulations as Python names them.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::{ContactLaw, Factorization, Options, PdLaw, Scheme, Theta};

use crate::arguments::word;

/// More threads than this are a slip of the pen, and a system that has not so many may abort the process.
const MOST_THREADS: i64 = 1024;

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
    pub line_search: &'a str,
    pub factorization: &'a str,
    pub beta: f64,
    pub sigma: f64,
    pub recovery_speed: f64,
    pub sleep_after: Option<f64>,
    pub sleep_speed: f64,
    pub threads: Option<i64>,
}

impl OptionArguments<'_> {
    /// The options, those that are words or counts checked; `Simulation::new` checks the rest.
    pub fn options(self) -> PyResult<Options> {
        let contact = [("sap", ContactLaw::Sap), ("lagged", ContactLaw::Lagged), ("coulomb", ContactLaw::Coulomb)];
        Ok(Options {
            timestep: self.timestep,
            accuracy: self.accuracy,
            scheme: self.scheme.scheme()?,
            conserve: self.conserve,
            pd_law: word("pd_law", self.pd_law, &PD_LAWS)?,
            contact: word("contact", self.contact, &contact)?,
            tolerance: self.tolerance,
            factorization_budget: self.factorization_budget.map(budget).transpose()?,
            line_search: word("line_search", self.line_search, &LINE_SEARCHES)?,
            factorization: word("factorization", self.factorization, &FACTORIZATIONS)?,
            beta: self.beta,
            sigma: self.sigma,
            recovery_speed: self.recovery_speed,
            sleep_after: self.sleep_after,
            sleep_speed: self.sleep_speed,
            threads: self.threads.map_or(Ok(1), threads)?,
        })
    }
}

/// A number of threads.
pub fn threads(threads: i64) -> PyResult<usize> {
    if (1..=MOST_THREADS).contains(&threads) {
        return Ok(threads as usize);
    }
    Err(PyValueError::new_err(format!("threads is {threads}: expected 1 to {MOST_THREADS}")))
}

/// A number of factorisations.
fn budget(number: i64) -> PyResult<usize> {
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

const PD_LAWS: [(&str, PdLaw); 3] = [("auto", PdLaw::Auto), ("stable", PdLaw::Stable), ("theta", PdLaw::Theta)];

const FACTORIZATIONS: [(&str, Factorization); 2] = [("auto", Factorization::Auto), ("dense", Factorization::Dense)];

/// The line searches, by name.
pub const LINE_SEARCHES: [(&str, sap::LineSearch); 2] =
    [("exact", sap::LineSearch::Exact), ("inexact", sap::LineSearch::Inexact)];
