//! Views of actuators and tendons.

use multibody::Transmission;
use numpy::PyArray1;
use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use sim::Parameter;

use super::{ActuatorView, TendonView, brief, title, view};
use crate::arguments::switch;
use crate::names::Kind;

impl ActuatorView {
    fn actuator(&self) -> &multibody::Actuator {
        &self.model().inner().actuators[self.index]
    }

    /// The length of what it acts on and its rate, each times the gear; none along the axes of a joint and at a site without reference.
    fn motion(&self, now: &mut sim::Observation<'_>) -> Option<(f64, f64)> {
        let model = self.model().inner();
        match &self.actuator().transmission {
            Transmission::Joint { joint, gear } => {
                let (state, joint) = (now.state(), &model.joints[*joint]);
                Some((gear * state.q[joint.q], gear * state.v[joint.v]))
            }
            Transmission::Tendon { tendon, gear } => {
                let (length, rate) = now.tendon_motion(*tendon);
                Some((gear * length, gear * rate))
            }
            Transmission::Site { reference: Some(_), .. } | Transmission::SliderCrank { .. } => {
                Some(now.site_motion(self.index))
            }
            _ => None,
        }
    }

    fn has_no(&self, what: &str) -> PyErr {
        let title = title(Kind::Actuator, self.model(), self.index);
        PyAttributeError::new_err(format!(
            "actuator {title} has no {what}: only those of a joint with one degree of freedom, of a tendon or between sites do"
        ))
    }
}

#[stubdoc::documented]
#[pymethods]
impl ActuatorView {
    /// Force in the last step, before the gear, N or N·m.
    #[getter]
    fn force(&self) -> PyResult<f64> {
        Ok(self.simulation().lock()?.step_forces().actuators[self.index])
    }

    /// Whether it gives a force.
    #[getter]
    fn enabled(&self, py: Python<'_>) -> PyResult<bool> {
        let mut enabled = [1.0];
        self.simulation().parameter(py, Parameter::ActuatorsEnabled, self.index, &mut enabled)?;
        Ok(enabled[0] != 0.0)
    }

    #[setter]
    fn set_enabled(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let enabled = f64::from(u8::from(switch("enabled", value)?));
        self.simulation().set_parameter(value.py(), Parameter::ActuatorsEnabled, self.index, &[enabled])
    }

    /// The group that it belongs to.
    #[getter]
    fn group(&self) -> i32 {
        self.actuator().group
    }

    /// The control.
    #[getter]
    fn ctrl(&self, py: Python<'_>) -> PyResult<f64> {
        let mut x = [0.0];
        self.simulation().live().ctrl.read_range(py, self.index..self.index + 1, &mut x)?;
        Ok(x[0])
    }

    #[setter]
    fn set_ctrl(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = crate::arguments::array("ctrl", value, &[])?;
        let _idle = self.simulation().lock()?;
        self.simulation().live().ctrl.write_range(value.py(), self.index..self.index + 1, &values)
    }

    /// The activation; None without a state of its own.
    #[getter]
    fn activation(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        let Some(index) = self.model().inner().activation_index(self.index) else { return Ok(None) };
        let mut x = [0.0];
        self.simulation().live().act.read_range(py, index..index + 1, &mut x)?;
        Ok(Some(x[0]))
    }

    #[setter]
    fn set_activation(&self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let Some(index) = self.model().inner().activation_index(self.index) else {
            let name = &self.actuator().name;
            let message =
                format!("actuator {name:?} has no activation: expected one with a dyntype; set its ctrl instead");
            return Err(pyo3::exceptions::PyValueError::new_err(message));
        };
        let values = crate::arguments::array("activation", value, &[])?;
        let _idle = self.simulation().lock()?;
        self.simulation().live().act.write_range(value.py(), index..index + 1, &values)
    }

    /// Length of what it acts on: gear times the joint's coordinate, or the tendon's length.
    #[getter]
    fn length(&self, py: Python<'_>) -> PyResult<f64> {
        let motion = self.simulation().observe_all(py, |now| self.motion(now))?;
        motion.map(|(length, _)| length).ok_or_else(|| self.has_no("length"))
    }

    /// Rate of the length.
    #[getter]
    fn velocity(&self, py: Python<'_>) -> PyResult<f64> {
        let motion = self.simulation().observe_all(py, |now| self.motion(now))?;
        motion.map(|(_, rate)| rate).ok_or_else(|| self.has_no("velocity"))
    }

    /// What it acts on: a joint, a tendon, a site, or a body that adheres; None of what is not simulated.
    #[getter]
    fn target<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let of = |kind, index| view(self.simulation.bind(py), kind, index).map(Some);
        match self.actuator().transmission {
            Transmission::Joint { joint, .. }
            | Transmission::JointAxes { joint, .. }
            | Transmission::Orientation { joint, .. } => of(Kind::Joint, joint),
            Transmission::Tendon { tendon, .. } => of(Kind::Tendon, tendon),
            Transmission::Site { site, .. } | Transmission::SliderCrank { crank: site, .. } => of(Kind::Site, site),
            Transmission::Adhesion { body } => of(Kind::Body, body),
            _ => Ok(None),
        }
    }

    /// The range that the control is cut to; None without.
    #[getter]
    fn ctrl_range(&self) -> Option<(f64, f64)> {
        self.actuator().ctrl_range
    }

    /// The range that the force is cut to; None without.
    #[getter]
    fn force_range(&self) -> Option<(f64, f64)> {
        self.actuator().force_range
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let (model, inner) = (self.model(), self.model().inner());
        let title = title(Kind::Actuator, model, self.index);
        let target = match self.actuator().transmission {
            Transmission::Joint { joint, .. }
            | Transmission::JointAxes { joint, .. }
            | Transmission::Orientation { joint, .. } => {
                format!("joint {:?}", inner.joints[joint].name)
            }
            Transmission::Tendon { tendon, .. } => format!("tendon {:?}", inner.tendons[tendon].name),
            Transmission::Site { site, .. } | Transmission::SliderCrank { crank: site, .. } => {
                format!("site {:?}", inner.sites[site].name)
            }
            Transmission::Adhesion { body } => format!("body {:?}", inner.bodies[body].name),
            Transmission::Input => "the actuator before it, of which it is a further control".to_owned(),
            _ => "nothing that is simulated".to_owned(),
        };
        Ok(format!("<sapwood actuator {title} on {target}, ctrl = {}>", brief(&[self.ctrl(py)?])))
    }
}

#[stubdoc::documented]
#[pymethods]
impl TendonView {
    /// Length.
    #[getter]
    fn length(&self, py: Python<'_>) -> PyResult<f64> {
        self.simulation().observe_all(py, |now| now.tendon_row(self.index).length)
    }

    /// Rate of the length.
    #[getter]
    fn velocity(&self, py: Python<'_>) -> PyResult<f64> {
        self.simulation().observe_all(py, |now| now.tendon_motion(self.index).1)
    }

    /// Derivative of the rate by the velocities, (nv,): the forces on the degrees of freedom of a pull of −1 N along the tendon.
    #[getter]
    fn jacobian<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let mut row = vec![0.0; self.model().inner().nv()];
        self.simulation().observe_all(py, |now| {
            now.tendon_row(self.index).terms.iter().for_each(|term| row[term.dof] = term.coefficient);
        })?;
        Ok(PyArray1::from_vec(py, row))
    }

    /// Points of a spatial tendon, (n, 3), m, world: ends of its straight pieces, in pairs; arcs around geoms are between them. Of a fixed
    /// tendon none.
    #[getter]
    fn strands<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let points = self.simulation().observe_all(py, |now| now.tendon_strands(self.index))?;
        let flat: Vec<f64> = points.iter().flatten().flat_map(|point| point.to_array()).collect();
        let array = PyArray1::from_vec(py, flat);
        array.call_method1("reshape", (points.len(), 2, 3))
    }

    /// Limits of the length; None without.
    #[getter]
    fn range(&self) -> Option<(f64, f64)> {
        self.model().inner().tendons[self.index].range
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let title = title(Kind::Tendon, self.model(), self.index);
        Ok(format!("<sapwood tendon {title} of length {}>", brief(&[self.length(py)?])))
    }
}
