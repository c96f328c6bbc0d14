//! Constraints by the calls that added them: handles, solutions, pickles.

use std::ops::Range;

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyType};
use sap::{Criterion, Kind, Problem, ProblemSolution, Strategy};

use crate::arguments::array;

pub const CONTACT: &str = "contact";
pub const LIMIT: &str = "limit";
pub const EQUALITY: &str = "equality";
pub const BOUNDED: &str = "bounded";
pub const ROLLING: &str = "rolling";

/// The constraints of one call.
pub struct Group {
    /// The method.
    pub name: &'static str,
    pub constraints: Range<usize>,
    pub rows: Range<usize>,
}

impl Group {
    /// Three rows for each constraint, or one.
    fn shape(&self) -> Vec<usize> {
        let n = self.constraints.len();
        if matches!(self.name, CONTACT | ROLLING) { vec![n, 3] } else { vec![n] }
    }
}

/// `sapwood._sap.Constraints`.
pub fn handle<'py>(py: Python<'py>, index: usize, name: &str, count: usize) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "sapwood._sap", "Constraints")?.call1((index, name, count))
}

/// The contacts that a handle, or its index, stands for.
pub fn find_contacts(groups: &[Group], contacts: &Bound<'_, PyAny>) -> PyResult<Range<usize>> {
    let Ok(index) = contacts.extract::<usize>() else {
        let kind = contacts.get_type().name()?;
        return Err(PyTypeError::new_err(format!("contacts is of type {kind}: expected what contact() returned")));
    };
    match groups.get(index) {
        Some(group) if group.name == CONTACT => Ok(group.constraints.clone()),
        Some(group) => Err(PyValueError::new_err(format!(
            "contacts was added by {}(): expected what contact() returned, as rolling friction belongs to contacts",
            group.name
        ))),
        None => Err(PyValueError::new_err(format!(
            "contacts has index {index} of {} calls: expected what contact() of this problem returned",
            groups.len()
        ))),
    }
}

fn solution_class(py: Python<'_>) -> PyResult<&Bound<'_, PyType>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    CLASS.import(py, "sapwood._sap", "ProblemSolution")
}

/// Whether this is what a solve returned.
pub fn is_solution(value: &Bound<'_, PyAny>) -> PyResult<bool> {
    value.is_instance(solution_class(value.py())?)
}

/// What an initial solution says of all rows.
pub fn flat(groups: &[Group], initial: &Bound<'_, PyAny>, name: &str) -> PyResult<Vec<f64>> {
    let by_group = initial.getattr(name)?;
    if by_group.len()? != groups.len() {
        let message =
            format!("initial.{name} has {} arrays: expected {}, one for each call", by_group.len()?, groups.len());
        return Err(PyValueError::new_err(message));
    }
    let mut values = Vec::new();
    for (k, group) in groups.iter().enumerate() {
        values.extend(array(&format!("initial.{name}[{k}]"), &by_group.get_item(k)?, &group.shape())?);
    }
    Ok(values)
}

/// `sapwood._sap.ProblemSolution`.
pub fn solution<'py>(py: Python<'py>, groups: &[Group], solution: ProblemSolution) -> PyResult<Bound<'py, PyAny>> {
    let ProblemSolution { v, impulses, velocities, report } = solution;
    let by_group = |values: &[f64]| -> PyResult<Bound<'py, PyList>> {
        let arrays = groups.iter().map(|group| {
            let array = PyArray1::from_slice(py, &values[group.rows.clone()]);
            array.reshape(group.shape()).map(Bound::into_any)
        });
        PyList::new(py, arrays.collect::<PyResult<Vec<_>>>()?)
    };
    let strategy = match report.strategy {
        Strategy::InitialGuess => "initial-guess",
        Strategy::ContactSpace => "contact-space",
        Strategy::Newton => "newton",
        Strategy::SemismoothNewton => "semismooth-newton",
        Strategy::ProximalPoint => "proximal-point",
        _ => "unconstrained",
    };
    solution_class(py)?.call1((
        PyArray1::from_vec(py, v),
        by_group(&impulses)?,
        by_group(&velocities)?,
        report.iterations,
        report.line_search_evaluations,
        report.residual,
        report.friction_residual,
        report.cost,
        strategy,
        report.criterion != Criterion::FrictionBounds,
    ))
}

/// A function of `sapwood/_copies.py`, and what it is to be called with.
pub type Reduced<'py> = (Bound<'py, PyAny>, (Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyList>));

/// The problem as the calls that make it.
pub fn reduce<'py>(py: Python<'py>, problem: &Problem, groups: &[Group]) -> PyResult<Reduced<'py>> {
    let restorer = py.import("sapwood._copies")?.getattr("problem")?;
    let nv = problem.v_star().len();
    let a = compressed(py, nv, (0..nv).map(|i| problem.a().row(i)))?;
    let calls = PyList::empty(py);
    for group in groups {
        let kinds: Vec<Kind> = problem.kinds().skip(group.constraints.start).take(group.constraints.len()).collect();
        let rows: Vec<_> = group.rows.clone().map(|row| problem.row(row)).collect();
        let j = compressed(py, nv, rows.iter().map(|(columns, values)| (&columns[..], &values[..])))?;
        let arguments = PyDict::new(py);
        arguments.set_item("J", j)?;
        for (name, values) in keywords(&kinds) {
            arguments.set_item(name, PyArray1::from_vec(py, values))?;
        }
        if group.name == CONTACT {
            let vt_hat = kinds.iter().flat_map(|kind| match kind {
                Kind::Contact { v_hat: [t1, t2, _], .. } => [*t1, *t2],
                _ => [0.0; 2],
            });
            arguments.set_item("vt_hat", PyArray1::from_iter(py, vt_hat).reshape([kinds.len(), 2])?)?;
        }
        if let Some(Kind::SpinFriction { contact, .. }) = kinds.first() {
            let index = groups.iter().position(|group| group.constraints.start == *contact && group.name == CONTACT);
            arguments.set_item("contacts", index)?;
        }
        calls.append((group.name, arguments))?;
    }
    Ok((restorer, (a, PyArray1::from_slice(py, problem.v_star()).into_any(), calls)))
}

/// `sapwood._sap.CompressedRows`.
fn compressed<'py, 'a>(
    py: Python<'py>,
    columns: usize,
    rows: impl Iterator<Item = (&'a [u32], &'a [f64])>,
) -> PyResult<Bound<'py, PyAny>> {
    let (mut starts, mut indices, mut values) = (vec![0_i64], Vec::new(), Vec::new());
    for (own, entries) in rows {
        indices.extend(own.iter().map(|column| i64::from(*column)));
        values.extend_from_slice(entries);
        starts.push(indices.len() as i64);
    }
    let class = py.import("sapwood._sap")?.getattr("CompressedRows")?;
    let array = |values| PyArray1::from_vec(py, values);
    class.call1(((starts.len() - 1, columns), array(starts), array(indices), PyArray1::from_vec(py, values)))
}

/// Numbers of constraints of one call, by the names of its arguments; those that were not given are left out.
fn keywords(kinds: &[Kind]) -> Vec<(&'static str, Vec<f64>)> {
    let mut all: Vec<(&'static str, Vec<f64>)> = Vec::new();
    let mut add = |name: &'static str, value: Option<f64>| {
        let Some(value) = value else { return };
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, values)) => values.push(value),
            None => all.push((name, vec![value])),
        }
    };
    for kind in kinds {
        match *kind {
            Kind::Contact { mu, r_t, r_n, v_hat, normal_impulse } => {
                add("mu", Some(mu));
                add("R_t", r_t);
                add("R_n", r_n);
                add("vn_hat", Some(v_hat[2]));
                add("normal_impulse", normal_impulse);
            }
            Kind::Limit { r, v_hat } | Kind::Equality { r, v_hat } => {
                add("R", r);
                add("v_hat", Some(v_hat));
            }
            Kind::Bounded { r, v_hat, lower, upper } => {
                add("R", r);
                add("v_hat", Some(v_hat));
                add("lower", Some(lower));
                add("upper", Some(upper));
            }
            Kind::SpinFriction { rolling, torsional, r, .. } => {
                add("rolling", Some(rolling));
                add("torsional", Some(torsional));
                add("R", r);
            }
        }
    }
    all
}
