//! Views of equality constraints.

use multibody::EqualityKind;
use pyo3::prelude::*;

use super::{EqualityView, title};
use crate::names::Kind;

#[stubdoc::documented]
#[pymethods]
impl EqualityView {
    /// Whether it is in force; it can be set, and counts from the next step on.
    #[getter]
    fn active(&self, py: Python<'_>) -> PyResult<bool> {
        let mut x = [0.0];
        self.simulation().live().equality_active.read_range(py, self.index..self.index + 1, &mut x)?;
        Ok(x[0] != 0.0)
    }

    #[setter]
    fn set_active(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        let _idle = self.simulation().lock()?;
        let value = [f64::from(u8::from(value))];
        self.simulation().live().equality_active.write_range(py, self.index..self.index + 1, &value)
    }

    /// What it holds: "connect", "weld", "distance" or "coupling".
    #[getter]
    fn kind(&self) -> &'static str {
        match self.model().inner().equalities[self.index].kind {
            EqualityKind::Connect { .. } => "connect",
            EqualityKind::Weld { .. } => "weld",
            EqualityKind::Distance { .. } => "distance",
            EqualityKind::Coupling { .. } => "coupling",
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let title = title(Kind::Equality, self.model(), self.index);
        let state = if self.active(py)? { "in force" } else { "not in force" };
        Ok(format!("<sapwood equality {title}, a {}, {state}>", self.kind()))
    }
}
