//! `sapwood.sap.solve`.

use numpy::{PyArray1, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sap::{MatrixProblem, Options, solve_matrices};

use crate::arguments::{any_vector, array, contact_rows, positive, vector, whole, word};
use crate::errors::solver_error;
use crate::options::LINE_SEARCHES;
use crate::results;
use crate::signals::in_background;

/// Velocities and rows from which on a solve may take so long that Ctrl-C must end it, and starting a thread is nothing beside it.
const LARGE: usize = 300;

/// Minimise ½‖v − v*‖²_A + Σ ℓ_k(J_k v) over v for frictional contacts.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (
    A, v_star, J, mu, R_t, R_n, vn_hat, *, line_search="exact", tolerance=1e-6, factorization="auto", max_iterations=300
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
    line_search: &str,
    tolerance: f64,
    factorization: &str,
    #[pyo3(from_py_with = whole)] max_iterations: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let v_star = any_vector("v_star", v_star)?;
    let nv = v_star.len();
    let a = array("A", A, &[nv, nv])?;
    let (nc, j) = contact_rows("J", J, nv)?;
    let (mu, vn_hat) = (vector("mu", mu, nc)?, vector("vn_hat", vn_hat, nc)?);
    let (r_t, r_n) = (vector("R_t", R_t, nc)?, vector("R_n", R_n, nc)?);
    let expected = |_| PyValueError::new_err(format!("max_iterations is {max_iterations}: expected 0 or more"));
    let max_iterations = usize::try_from(max_iterations).map_err(expected)?;
    // Matrices without structure have one factorisation.
    word("factorization", factorization, &[("auto", ()), ("dense", ())])?;
    let options = Options {
        tolerance: positive("tolerance", tolerance)?,
        line_search: word("line_search", line_search, &LINE_SEARCHES)?,
        max_iterations,
        ..Options::default()
    };
    let solve = move || {
        let problem = MatrixProblem { a: &a, v_star: &v_star, j: &j, mu: &mu, r_t: &r_t, r_n: &r_n, vn_hat: &vn_hat };
        solve_matrices(&problem, &options)
    };
    let solution = if nv + 3 * nc > LARGE { in_background(py, solve)? } else { py.detach(solve) };
    let solution = solution.map_err(|error| solver_error(py, &error))?;
    let report = solution.report;
    let v = PyArray1::from_vec(py, solution.v);
    let impulses = PyArray1::from_vec(py, solution.impulses).reshape([nc, 3])?;
    results::solution(
        py,
        (v, impulses, report.iterations, report.line_search_evaluations, report.residual, report.cost, true),
    )
}
