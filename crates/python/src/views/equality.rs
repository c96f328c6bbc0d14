//! Views of equality constraints.

use multibody::EqualityKind;
use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use sim::{Frame, Parameter};
use spatial::Vec3;

use super::{EqualityView, title};
use crate::arguments::switch;
use crate::names::Kind;
use crate::quantities::{fixed_matrix, fixed_vector};

impl EqualityView {
    fn switch(&self, py: Python<'_>, is_active: bool) -> PyResult<()> {
        let _idle = self.simulation().lock()?;
        let value = [f64::from(u8::from(is_active))];
        self.simulation().live().equality_active.write_range(py, self.index..self.index + 1, &value)
    }

    fn check_anchors(&self) -> PyResult<()> {
        if self.kind() != "coupling" {
            return Ok(());
        }
        let title = title(Kind::Equality, self.model(), self.index);
        let message = format!("equality {title} is a coupling of joints or tendons: it has no anchors");
        Err(PyAttributeError::new_err(message))
    }
}

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
    fn set_active(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.switch(value.py(), switch("active", value)?)
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

    /// Hold the two bodies as they are now, from the next step on: a weld their relative pose, a connect one point.
    fn attach(&self, py: Python<'_>) -> PyResult<()> {
        let (simulation, kind) = (self.simulation(), self.kind());
        let bodies = match self.model().inner().equalities[self.index].kind {
            EqualityKind::Connect { bodies, .. } | EqualityKind::Weld { bodies, .. } => bodies,
            EqualityKind::Distance { .. } | EqualityKind::Coupling { .. } => {
                let title = title(Kind::Equality, self.model(), self.index);
                let message = format!("equality {title} is a {kind}: expected a weld or a connect to attach");
                return Err(PyValueError::new_err(message));
            }
        };
        let [first, second] = simulation.observe_all(py, |now| bodies.map(|body| now.pose(Frame::Body(body))))?;
        let relative = first.inverse() * second;
        let mut anchors = [0.0; 6];
        simulation.parameter(py, Parameter::EqualityAnchors, self.index, &mut anchors)?;
        let own = relative.transform_point(Vec3::new(anchors[3], anchors[4], anchors[5]));
        anchors[..3].copy_from_slice(&own.to_array());
        simulation.set_parameter(py, Parameter::EqualityAnchors, self.index, &anchors)?;
        if kind == "weld" {
            simulation.set_parameter(py, Parameter::EqualityQuaternions, self.index, &relative.rot.to_array())?;
        }
        self.switch(py, true)
    }

    /// Force on its second body in the last step, world, (3,), N; of a coupling along its first coordinate, (1,), N or N·m.
    #[getter]
    fn force<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let mut simulation = self.simulation().lock()?;
        if self.kind() == "coupling" {
            return Ok(fixed_vector(py, &[simulation.coupling_force(self.index)]));
        }
        Ok(fixed_vector(py, &simulation.equality_wrench(self.index).lin.to_array()))
    }

    /// Torque of a weld on its second body in the last step, world, (3,), N·m.
    #[getter]
    fn torque<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        Ok(fixed_vector(py, &self.simulation().lock()?.equality_wrench(self.index).ang.to_array()))
    }

    /// The point of each of the bodies that it holds, in their frames, (2, 3), m.
    #[getter]
    fn anchors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.check_anchors()?;
        let mut anchors = vec![0.0; 6];
        self.simulation().parameter(py, Parameter::EqualityAnchors, self.index, &mut anchors)?;
        fixed_matrix(py, anchors, [2, 3])
    }

    #[setter]
    fn set_anchors(&self, py: Python<'_>, value: &Bound<'_, PyAny>) -> PyResult<()> {
        self.check_anchors()?;
        let anchors = crate::arguments::array("anchors", value, &[2, 3])?;
        self.simulation().set_parameter(py, Parameter::EqualityAnchors, self.index, &anchors)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let title = title(Kind::Equality, self.model(), self.index);
        let state = if self.active(py)? { "in force" } else { "not in force" };
        Ok(format!("<sapwood equality {title}, a {}, {state}>", self.kind()))
    }
}
