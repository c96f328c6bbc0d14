//! `sapwood.sap`: problems of matrices.

mod groups;

use std::sync::{Mutex, MutexGuard};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sap::{Factorization, FrictionLaw, Kind, Options, SparseMatrix, Start};

use crate::arguments::{any_vector, per_dof, positive, rows, vector, word};
use crate::errors::solver_error;
use crate::lock::try_lock;
use crate::matrices::{matrix, square, triples};
use crate::options::budget;
use crate::quantities::fixed_vector;
use crate::signals::Watch;
use groups::Group;

const LAWS: [(&str, FrictionLaw); 3] =
    [("sap", FrictionLaw::Sap), ("lagged", FrictionLaw::Lagged), ("coulomb", FrictionLaw::Coulomb)];

pub const FACTORIZATIONS: [(&str, Factorization); 3] =
    [("auto", Factorization::Auto), ("sparse", Factorization::Sparse), ("contact-space", Factorization::ContactSpace)];

/// A contact problem of matrices.
#[stubdoc::documented]
#[pyclass(frozen, module = "sapwood.sap", name = "Problem")]
pub struct SapProblem {
    inner: Mutex<Inner>,
    watch: Watch,
    nv: usize,
}

struct Inner {
    problem: sap::Problem,
    groups: Vec<Group>,
}

impl SapProblem {
    /// The problem, unless another thread is solving it.
    fn lock(&self) -> PyResult<MutexGuard<'_, Inner>> {
        try_lock(
            &self.inner,
            "another thread is solving this Problem: give each thread one of its own, copy.copy(problem)",
            "a solve of this Problem was aborted: make a new Problem",
        )
    }

    /// Appends constraints of one call.
    fn push<'py>(
        &self,
        py: Python<'py>,
        name: &'static str,
        kinds: &[Kind],
        j: &SparseMatrix,
    ) -> PyResult<Bound<'py, PyAny>> {
        check(kinds)?;
        let mut inner = self.lock()?;
        let first_row = inner.problem.rows();
        let first = inner.problem.push(kinds, j).map_err(|error| solver_error(py, &error))?;
        let (index, count) = (inner.groups.len(), kinds.len());
        let rows = first_row..inner.problem.rows();
        inner.groups.push(Group { name, constraints: first..first + count, rows });
        groups::handle(py, index, name, count)
    }
}

/// Whether all numbers are within their domains; names the first that is not.
pub fn check(kinds: &[Kind]) -> PyResult<()> {
    for (k, kind) in kinds.iter().enumerate() {
        if let Err(sap::Error::Value { argument, message }) = kind.check() {
            let place = if kinds.len() > 1 { format!("[{k}]") } else { String::new() };
            return Err(PyValueError::new_err(format!("{argument}{place} {message}")));
        }
    }
    Ok(())
}

/// A number for each of `n`, or one for all; none for near-rigid ones.
fn optional(name: &str, value: Option<&Bound<'_, PyAny>>, n: usize) -> PyResult<Vec<Option<f64>>> {
    match value {
        Some(value) => Ok(per_dof(name, value, n)?.into_iter().map(Some).collect()),
        None => Ok(vec![None; n]),
    }
}

/// A number for each of `n`, or one for all; `default` for all without.
fn with_default(name: &str, value: Option<&Bound<'_, PyAny>>, default: f64, n: usize) -> PyResult<Vec<f64>> {
    value.map_or_else(|| Ok(vec![default; n]), |value| per_dof(name, value, n))
}

#[stubdoc::documented]
#[pymethods]
#[allow(non_snake_case)] // The paper's symbols are the keywords of the calls.
impl SapProblem {
    #[new]
    fn new(py: Python<'_>, A: &Bound<'_, PyAny>, v_star: &Bound<'_, PyAny>) -> PyResult<Self> {
        let v_star = any_vector("v_star", v_star)?;
        let nv = v_star.len();
        let a = square("A", A, nv)?;
        let watch = Watch::new();
        let interrupt = watch.interrupt();
        let made = py.detach(|| sap::Problem::new(a, v_star));
        let mut problem = made.map_err(|error| solver_error(py, &error))?;
        problem.set_interrupt(interrupt);
        Ok(Self { inner: Mutex::new(Inner { problem, groups: Vec::new() }), watch, nv })
    }

    /// Contacts with friction.
    #[pyo3(signature = (J, mu, *, R_t=None, R_n=None, vn_hat=None, vt_hat=None, normal_impulse=None))]
    fn contact<'py>(
        &self,
        py: Python<'py>,
        J: &Bound<'py, PyAny>,
        mu: &Bound<'py, PyAny>,
        R_t: Option<&Bound<'py, PyAny>>,
        R_n: Option<&Bound<'py, PyAny>>,
        vn_hat: Option<&Bound<'py, PyAny>>,
        vt_hat: Option<&Bound<'py, PyAny>>,
        normal_impulse: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let (n, j) = triples("J", J, self.nv)?;
        let (mu, vn_hat) = (per_dof("mu", mu, n)?, with_default("vn_hat", vn_hat, 0.0, n)?);
        let (r_t, r_n) = (optional("R_t", R_t, n)?, optional("R_n", R_n, n)?);
        let vt_hat = vt_hat.map_or_else(|| Ok(vec![0.0; 2 * n]), |value| rows("vt_hat", value, n, 2))?;
        let normal = optional("normal_impulse", normal_impulse, n)?;
        let kinds: Vec<Kind> = (0..n)
            .map(|k| Kind::Contact {
                mu: mu[k],
                r_t: r_t[k],
                r_n: r_n[k],
                v_hat: [vt_hat[2 * k], vt_hat[2 * k + 1], vn_hat[k]],
                normal_impulse: normal[k],
            })
            .collect();
        self.push(py, groups::CONTACT, &kinds, &j)
    }

    /// One-sided constraints.
    #[pyo3(signature = (J, *, R=None, v_hat=None))]
    fn limit<'py>(
        &self,
        py: Python<'py>,
        J: &Bound<'py, PyAny>,
        R: Option<&Bound<'py, PyAny>>,
        v_hat: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let j = matrix("J", J, self.nv)?;
        let n = j.rows();
        let (r, v_hat) = (optional("R", R, n)?, with_default("v_hat", v_hat, 0.0, n)?);
        let kinds: Vec<Kind> = (0..n).map(|k| Kind::Limit { r: r[k], v_hat: v_hat[k] }).collect();
        self.push(py, groups::LIMIT, &kinds, &j)
    }

    /// Equalities.
    #[pyo3(signature = (J, *, R=None, v_hat=None))]
    fn equality<'py>(
        &self,
        py: Python<'py>,
        J: &Bound<'py, PyAny>,
        R: Option<&Bound<'py, PyAny>>,
        v_hat: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let j = matrix("J", J, self.nv)?;
        let n = j.rows();
        let (r, v_hat) = (optional("R", R, n)?, with_default("v_hat", v_hat, 0.0, n)?);
        let kinds: Vec<Kind> = (0..n).map(|k| Kind::Equality { r: r[k], v_hat: v_hat[k] }).collect();
        self.push(py, groups::EQUALITY, &kinds, &j)
    }

    /// Impulses between bounds.
    #[pyo3(signature = (J, lower, upper, *, R=None, v_hat=None))]
    fn bounded<'py>(
        &self,
        py: Python<'py>,
        J: &Bound<'py, PyAny>,
        lower: &Bound<'py, PyAny>,
        upper: &Bound<'py, PyAny>,
        R: Option<&Bound<'py, PyAny>>,
        v_hat: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let j = matrix("J", J, self.nv)?;
        let n = j.rows();
        let (r, v_hat) = (optional("R", R, n)?, with_default("v_hat", v_hat, 0.0, n)?);
        let (lower, upper) = (per_dof("lower", lower, n)?, per_dof("upper", upper, n)?);
        let kind = |k: usize| Kind::Bounded { r: r[k], v_hat: v_hat[k], lower: lower[k], upper: upper[k] };
        self.push(py, groups::BOUNDED, &(0..n).map(kind).collect::<Vec<_>>(), &j)
    }

    /// Rolling and torsional friction.
    #[pyo3(signature = (contacts, J, rolling, torsional=None, *, R=None))]
    fn rolling<'py>(
        &self,
        py: Python<'py>,
        contacts: &Bound<'py, PyAny>,
        J: &Bound<'py, PyAny>,
        rolling: &Bound<'py, PyAny>,
        torsional: Option<&Bound<'py, PyAny>>,
        R: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let of = groups::find_contacts(&self.lock()?.groups, contacts)?;
        let (n, j) = triples("J", J, self.nv)?;
        if n != of.len() {
            let (rows, nv, expected) = (j.rows(), self.nv, 3 * of.len());
            let message =
                format!("J has shape ({rows}, {nv}): expected ({expected}, {nv}), three rows for each contact");
            return Err(PyValueError::new_err(message));
        }
        let (lengths, torsional) = (per_dof("rolling", rolling, n)?, with_default("torsional", torsional, 0.0, n)?);
        let r = optional("R", R, n)?;
        let kinds: Vec<Kind> = (0..n)
            .map(|k| Kind::SpinFriction {
                contact: of.start + k,
                rolling: lengths[k],
                torsional: torsional[k],
                r: r[k],
            })
            .collect();
        self.push(py, groups::ROLLING, &kinds, &j)
    }

    /// Velocities and impulses.
    #[pyo3(
        signature = (
            *, law="sap", factorization="auto", tolerance=1e-6, factorization_budget=100,
            max_iterations=300, initial=None
        ),
        text_signature = "($self, *, law='sap', factorization='auto', tolerance=1e-06, \
            factorization_budget=100, max_iterations=300, initial=None)"
    )]
    fn solve<'py>(
        &self,
        py: Python<'py>,
        law: &str,
        factorization: &str,
        tolerance: f64,
        factorization_budget: Option<i64>,
        max_iterations: usize,
        initial: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let law = word("law", law, &LAWS)?;
        let factorization = word("factorization", factorization, &FACTORIZATIONS)?;
        let options = Options {
            tolerance: positive("tolerance", tolerance)?,
            factorization_budget: factorization_budget.map(budget).transpose()?,
            max_iterations,
            ..Options::default()
        };
        let mut inner = self.lock()?;
        let (v, of_rows) = match initial {
            None => (None, None),
            Some(initial) if groups::is_solution(initial)? => {
                let of_rows = ["impulses", "velocities"].map(|name| groups::flat(&inner.groups, initial, name));
                let [impulses, velocities] = of_rows;
                (Some(vector("initial.v", &initial.getattr("v")?, self.nv)?), Some([impulses?, velocities?]))
            }
            Some(initial) => (Some(vector("initial", initial, self.nv)?), None),
        };
        self.watch.begin();
        let problem = &mut inner.problem;
        let solved = py.detach(|| {
            let rows = of_rows.as_ref().map(|[impulses, velocities]| [&impulses[..], &velocities[..]]);
            let start = v.as_ref().map(|v| Start { v, rows });
            problem.solve(law, factorization, &options, start.as_ref())
        });
        match solved {
            Ok(solution) => groups::solution(py, &inner.groups, solution),
            Err(sap::Error::Interrupted) => Err(self.watch.interrupted()),
            Err(error) => Err(solver_error(py, &error)),
        }
    }

    #[getter]
    fn v_star<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(fixed_vector(py, self.lock()?.problem.v_star()))
    }

    #[setter]
    fn set_v_star(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let v_star = vector("v_star", value, self.nv)?;
        self.lock()?.problem.set_v_star(v_star).map_err(|error| solver_error(value.py(), &error))
    }

    #[getter]
    fn nv(&self) -> usize {
        self.nv
    }

    #[getter]
    fn rows(&self) -> PyResult<usize> {
        Ok(self.lock()?.problem.rows())
    }

    fn __repr__(&self) -> PyResult<String> {
        let inner = self.lock()?;
        let names = inner.groups.iter().map(|group| format!(", {} {}", group.constraints.len(), group.name));
        Ok(format!("<sapwood.sap.Problem, {} velocities{}>", self.nv, names.collect::<String>()))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<groups::Reduced<'py>> {
        let inner = self.lock()?;
        groups::reduce(py, &inner.problem, &inner.groups)
    }
}
