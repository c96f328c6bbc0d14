//! Views of joints.

use multibody::JointKind;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PySlice;
use sim::Parameter;

use super::{JointView, brief, title, view};
use crate::names::Kind;
use crate::quantities::fixed_vector;
use crate::results;

impl JointView {
    /// Whether it is held by a lock of its own, not by its range.
    fn is_held_by_lock(&self) -> bool {
        self.joint().kind.rotates_about_point()
    }

    fn joint(&self) -> &multibody::Joint {
        &self.model().inner().joints[self.index]
    }

    /// A live view of a joint's part of a vector, or the number where there is one.
    fn part<'py>(
        &self,
        py: Python<'py>,
        live: &crate::live::LiveArray,
        start: usize,
        len: usize,
    ) -> PyResult<Bound<'py, PyAny>> {
        if len == 1 {
            let mut x = [0.0];
            live.read_range(py, start..start + 1, &mut x)?;
            return Ok(x[0].into_pyobject(py)?.into_any());
        }
        live.view(py)?.get_item(py.get_type::<PySlice>().call1((start, start + len))?)
    }

    fn set_part(
        &self,
        name: &str,
        value: &Bound<'_, PyAny>,
        live: &crate::live::LiveArray,
        (start, len): (usize, usize),
    ) -> PyResult<()> {
        let is_number = len == 1 && value.extract::<f64>().is_ok();
        let values = crate::arguments::array(name, value, if is_number { &[] } else { std::slice::from_ref(&len) })?;
        if name == "q" && len >= 4 {
            // Whatever else is wrong with the configuration is not this joint's.
            let q = &values[len - 4..];
            let norm = q.iter().map(|x| x * x).sum::<f64>();
            if !(1e-12..1e12).contains(&norm) {
                let message = format!("q ends with {q:?}: expected a quaternion (w, x, y, z) of length 1");
                return Err(PyValueError::new_err(message));
            }
        }
        let _idle = self.simulation().lock()?;
        live.write_range(value.py(), start..start + len, &values)
    }
}

#[stubdoc::documented]
#[pymethods]
impl JointView {
    /// Kind: revolute, prismatic, screw, universal, planar, ball, free or weld.
    #[getter]
    fn kind(&self) -> &'static str {
        self.joint().kind.name()
    }

    /// The body that it moves.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        view(self.simulation.bind(py), Kind::Body, self.joint().body)
    }

    /// Position: a number, or a live view of `sim.q` of a joint with several coordinates.
    #[getter]
    fn q<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        self.part(py, &self.simulation().live().q, joint.q, joint.kind.nq())
    }

    #[setter]
    fn set_q(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let joint = self.joint();
        self.set_part("q", value, &self.simulation().live().q, (joint.q, joint.kind.nq()))
    }

    /// Velocity: a number, or a live view of `sim.v` of a joint with several degrees of freedom.
    #[getter]
    fn v<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        self.part(py, &self.simulation().live().v, joint.v, joint.kind.nv())
    }

    #[setter]
    fn set_v(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let joint = self.joint();
        self.set_part("v", value, &self.simulation().live().v, (joint.v, joint.kind.nv()))
    }

    /// Force of its actuators and of PD control in the last step, N or N·m: a number, or (nv,) of its degrees of freedom.
    #[getter]
    fn effort<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let joint = self.joint();
        let dofs = joint.v..joint.v + joint.kind.nv();
        let mut simulation = self.simulation().lock()?;
        let forces = simulation.step_forces();
        let effort: Vec<f64> = dofs.map(|dof| forces.actuation[dof] + forces.pd[dof]).collect();
        match effort[..] {
            [one] => Ok(one.into_pyobject(py)?.into_any()),
            _ => Ok(fixed_vector(py, &effort)),
        }
    }

    /// Limits of the coordinate (rad or m), or of the angle of a ball; None without.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.joint().range
    }

    /// Whether it is held where it was when this was set to True.
    #[getter]
    fn locked(&self, py: Python<'_>) -> PyResult<bool> {
        if self.is_held_by_lock() {
            let mut lock = [0.0; 8];
            self.simulation().parameter(py, Parameter::JointLocks, self.index, &mut lock)?;
            return Ok(lock[0] == 1.0);
        }
        let mut range = [0.0; 2];
        self.simulation().parameter(py, Parameter::JointRanges, self.index, &mut range)?;
        Ok(range[0] == range[1])
    }

    #[setter]
    fn set_locked(&self, py: Python<'_>, value: bool) -> PyResult<()> {
        let joint = self.joint();
        if self.is_held_by_lock() {
            let (mut lock, nq) = ([0.0; 8], joint.kind.nq());
            if value {
                self.simulation().live().q.read_range(py, joint.q..joint.q + nq, &mut lock[1..=nq])?;
                lock[0] = 1.0;
            }
            return self.simulation().set_parameter(py, Parameter::JointLocks, self.index, &lock);
        }
        if joint.kind.nv() != 1 {
            let message = format!(
                "joint {} is a {} joint: expected one with one degree of freedom, a ball or a free joint; a weld holds others",
                title(Kind::Joint, self.model(), self.index),
                joint.kind.name()
            );
            return Err(PyValueError::new_err(message));
        }
        let mut q = [0.0];
        self.simulation().live().q.read_range(py, joint.q..joint.q + 1, &mut q)?;
        let (low, high) = joint.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY));
        let range = if value { [q[0]; 2] } else { [low, high] };
        self.simulation().set_parameter(py, Parameter::JointRanges, self.index, &range)
    }

    /// Greatest force of its drives, N or N·m, or the least and the greatest where they differ; None without limit.
    #[getter]
    fn effort_limit<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        results::effort_limit(py, self.joint().effort_limit)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let joint = self.joint();
        let mut q = vec![0.0; joint.kind.nq()];
        self.simulation().live().q.read_range(py, joint.q..joint.q + q.len(), &mut q)?;
        let (title, kind) = (title(Kind::Joint, self.model(), self.index), joint.kind.name());
        let unit = match joint.kind {
            JointKind::Prismatic { .. } => " m",
            JointKind::Revolute { .. } | JointKind::Screw { .. } => " rad",
            _ => "",
        };
        Ok(format!("<sapwood joint {title}, {kind}, q = {}{unit}>", brief(&q)))
    }
}
