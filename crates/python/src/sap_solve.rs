//! `sapwood.sap.solve`.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sap::{Criterion, FrictionLaw, Kind, Options, Problem};

use crate::arguments::{any_vector, per_dof, positive, whole, word};
use crate::errors::solver_error;
use crate::matrices::{square, triples};
use crate::results;
use crate::sap_problem::{FACTORIZATIONS, check};
use crate::signals::in_background;

/// Velocities and rows from which on a solve may take so long that Ctrl-C must end it, and starting a thread is nothing beside it.
const LARGE: usize = 300;

/// The laws that need no more than these arguments.
const LAWS: [(&str, FrictionLaw); 2] = [("sap", FrictionLaw::Sap), ("coulomb", FrictionLaw::Coulomb)];

/// Minimise ½‖v − v*‖²_A + Σ ℓ_k(J_k v) over v for frictional contacts.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (
    A, v_star, J, mu, R_t, R_n, vn_hat, *, law="sap", tolerance=1e-6, factorization="auto",
    max_iterations=300
))]
#[allow(non_snake_case)] // The paper's symbols are the keywords of the call.
pub fn sap_solve<'py>(
    py: Python<'py>,
    A: &Bound<'py, PyAny>,
    v_star: &Bound<'py, PyAny>,
    J: &Bound<'py, PyAny>,
    mu: &Bound<'py, PyAny>,
    R_t: &Bound<'py, PyAny>,
    R_n: &Bound<'py, PyAny>,
    vn_hat: &Bound<'py, PyAny>,
    law: &str,
    tolerance: f64,
    factorization: &str,
    #[pyo3(from_py_with = whole)] max_iterations: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let v_star = any_vector("v_star", v_star)?;
    let nv = v_star.len();
    let a = square("A", A, nv)?;
    let (nc, j) = triples("J", J, nv)?;
    let (mu, vn_hat) = (per_dof("mu", mu, nc)?, per_dof("vn_hat", vn_hat, nc)?);
    let (r_t, r_n) = (per_dof("R_t", R_t, nc)?, per_dof("R_n", R_n, nc)?);
    let contact = |k: usize| Kind::Contact {
        mu: mu[k],
        r_t: Some(r_t[k]),
        r_n: Some(r_n[k]),
        v_hat: [0.0, 0.0, vn_hat[k]],
        normal_impulse: None,
    };
    let contacts: Vec<Kind> = (0..nc).map(contact).collect();
    check(&contacts)?;
    let expected = |_| PyValueError::new_err(format!("max_iterations is {max_iterations}: expected 0 or more"));
    let max_iterations = usize::try_from(max_iterations).map_err(expected)?;
    let (law, factorization) = (word("law", law, &LAWS)?, word("factorization", factorization, &FACTORIZATIONS)?);
    let options = Options { tolerance: positive("tolerance", tolerance)?, max_iterations, ..Options::default() };
    let solve = move || {
        let mut problem = Problem::new(a, v_star)?;
        problem.push(&contacts, &j)?;
        problem.solve(law, factorization, &options, None)
    };
    let solution = if nv + 3 * nc > LARGE { in_background(py, solve)? } else { py.detach(solve) };
    let solution = solution.map_err(|error| solver_error(py, &error))?;
    let report = solution.report;
    let v = PyArray1::from_vec(py, solution.v);
    let impulses = PyArray1::from_vec(py, solution.impulses).reshape([nc, 3])?;
    let converged = report.criterion != Criterion::FrictionBounds;
    results::solution(
        py,
        (v, impulses, report.iterations, report.line_search_evaluations, report.residual, report.cost, converged),
    )
}
