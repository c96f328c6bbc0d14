//! Properties of bodies and joints by name.

use formats::assembly::AssemblyJoint;
use multibody::{BodySpec, Compliance, JointSpec, Reference};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use spatial::RigidInertia;

use super::{inertia, rotation, vector3};
use crate::arguments::{any_vector, array, check_scalar};
use crate::results;

pub fn number(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    check_scalar(name, value)
}

/// A finite number that is not negative.
pub fn at_least_zero(name: &str, value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let number = number(name, value)?;
    if number >= 0.0 {
        return Ok(number);
    }
    Err(PyValueError::new_err(format!("{name} is {number}: expected 0 or more")))
}

/// The coefficients of a force law: the linear one, of 0 or more, and two of higher order.
#[derive(Clone, Copy, Debug)]
pub struct Coefficients {
    pub linear: f64,
    pub higher: [f64; 2],
}

/// Those that one number says, or up to three.
pub fn coefficients(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Coefficients> {
    let Ok(count) = value.len() else {
        return at_least_zero(name, value).map(|linear| Coefficients { linear, higher: [0.0; 2] });
    };
    if !(1..=3).contains(&count) {
        let message = format!("{name} has {count} numbers: expected one, or up to three of a polynomial");
        return Err(PyValueError::new_err(message));
    }
    let mut all = [0.0; 3];
    all[..count].copy_from_slice(&array(name, value, &[count])?);
    let [linear, first, second] = all;
    if linear >= 0.0 {
        return Ok(Coefficients { linear, higher: [first, second] });
    }
    Err(PyValueError::new_err(format!("{name} is {all:?}: expected the first of 0 or more")))
}

/// They as one number, or three where there is more than a linear part.
fn said<'py>(py: Python<'py>, linear: f64, [first, second]: [f64; 2]) -> PyResult<Bound<'py, PyAny>> {
    match [first, second] == [0.0; 2] {
        true => Ok(linear.into_pyobject(py)?.into_any()),
        false => Ok((linear, first, second).into_pyobject(py)?.into_any()),
    }
}

/// Two numbers in ascending order, or None.
pub fn interval(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<(f64, f64)>> {
    if value.is_none() {
        return Ok(None);
    }
    let ends = array(name, value, &[2])?;
    if ends[0] > ends[1] {
        return Err(PyValueError::new_err(format!("{name} is ({}, {}): expected (lower, upper)", ends[0], ends[1])));
    }
    Ok(Some((ends[0], ends[1])))
}

/// The greatest force in both directions, the least and the greatest, or None.
fn effort_limit(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<(f64, f64)>> {
    match value.is_none() || value.len().is_ok() {
        true => interval(name, value),
        false => at_least_zero(name, value).map(|limit| Some((-limit, limit))),
    }
}

/// Stiffness and relaxation time in physical units, or None for near-rigid.
pub fn compliance(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Compliance> {
    if value.is_none() {
        return Ok(Compliance::NearRigid);
    }
    let pair = array(name, value, &[2])?;
    if !(pair[0] > 0.0 && pair[1] >= 0.0) {
        let expected = "expected (stiffness in N/m above 0, relaxation time in s of 0 or more), or None for near-rigid";
        return Err(PyValueError::new_err(format!("{name} is ({}, {}): {expected}", pair[0], pair[1])));
    }
    Ok(Compliance::Physical { stiffness: pair[0], relaxation: pair[1] })
}

/// The compliance of an equality or a limit with another `solref` or `solimp`, see [`with_reference`]: no friction cone makes anything of it.
pub fn with_reference_of_row(compliance: Compliance, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Compliance> {
    with_reference(compliance, Reference { pyramid: 0.0, ..Reference::default() }, name, value)
}

/// A compliance with another `solref` or `solimp`, or the first numbers of one: what it does not have is that of `default`.
pub fn with_reference(
    compliance: Compliance,
    default: Reference,
    name: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<Compliance> {
    let mut reference = match compliance {
        Compliance::Reference(reference) => reference,
        Compliance::NearRigid | Compliance::Physical { .. } => default,
    };
    let given = any_vector(name, value)?;
    let (numbers, expected) = match name {
        "solref" | "limit_solref" => (
            &mut reference.solref[..],
            "a time constant (s) and a damping ratio, both above 0, or -stiffness and -damping, neither above 0",
        ),
        _ => (
            &mut reference.solimp[..],
            "up to five numbers: impedance at no violation, at the width, the width, where the middle of its course lies, its power",
        ),
    };
    let count = given.len();
    if (1..=numbers.len()).contains(&count) {
        numbers[..count].copy_from_slice(&given);
    }
    if count > numbers.len() || count == 0 || !reference.is_valid() {
        return Err(PyValueError::new_err(format!("{name} is {value}: expected {expected}")));
    }
    Ok(Compliance::Reference(reference))
}

pub fn set_body(
    spec: &mut BodySpec,
    own: &mut Option<RigidInertia<f64>>,
    field: &str,
    value: &Bound<'_, PyAny>,
) -> PyResult<()> {
    match field {
        "name" => spec.name = value.extract()?,
        "position" => spec.pose.pos = vector3(field, value)?,
        "quaternion" => spec.pose.rot = rotation(field, value)?,
        "gravity_compensation" => spec.gravity_compensation = number(field, value)?,
        "mocap" => spec.is_mocap = value.extract()?,
        // Mass, centre of mass (3), rows of the inertia about it (9), in one array.
        "inertia" if value.is_none() => *own = None,
        "inertia" => {
            let numbers = array("inertia", value, &[13])?;
            *own = Some(inertia(numbers[0], [numbers[1], numbers[2], numbers[3]].into(), &numbers[4..]));
        }
        _ => return Err(unknown("body", field)),
    }
    Ok(())
}

pub fn get_body<'py>(
    py: Python<'py>,
    spec: &BodySpec,
    inertia: &RigidInertia<f64>,
    field: &str,
) -> PyResult<Bound<'py, PyAny>> {
    let [xx, xy, xz, yy, yz, zz] = inertia.inertia.entries();
    Ok(match field {
        "name" => spec.name.clone().into_pyobject(py)?.into_any(),
        "parent" => spec.parent.into_pyobject(py)?.into_any(),
        "position" => spec.pose.pos.to_array().into_pyobject(py)?.into_any(),
        "quaternion" => spec.pose.rot.to_array().into_pyobject(py)?.into_any(),
        "gravity_compensation" => spec.gravity_compensation.into_pyobject(py)?.into_any(),
        "mocap" => spec.is_mocap.into_pyobject(py)?.to_owned().into_any(),
        "mass" => inertia.mass.into_pyobject(py)?.into_any(),
        "com" => inertia.com.to_array().into_pyobject(py)?.into_any(),
        "inertia" => [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].into_pyobject(py)?.into_any(),
        _ => return Err(unknown("body", field)),
    })
}

pub fn set_joint(spec: &mut JointSpec, field: &str, value: &Bound<'_, PyAny>) -> PyResult<()> {
    match field {
        "name" => spec.name = value.extract()?,
        "position" => spec.anchor = vector3(field, value)?,
        "reference" => spec.reference = number(field, value)?,
        "spring_reference" => spec.spring_reference = number(field, value)?,
        "range" => {
            let range = interval(field, value)?;
            if range.is_some() && !spec.kind.can_have_limits() {
                let kind = spec.kind.name();
                let expected = "expected None (limits belong to joints with one coordinate, and to balls)";
                return Err(PyValueError::new_err(format!("range of a {kind} joint: {expected}")));
            }
            spec.range = range;
        }
        "limit_compliance" => spec.limit_compliance = compliance(field, value)?,
        "limit_solref" | "limit_solimp" => {
            spec.limit_compliance = with_reference_of_row(spec.limit_compliance, field, value)?;
        }
        "armature" => spec.armature = at_least_zero(field, value)?,
        "damping" | "stiffness" => {
            let Coefficients { linear, higher } = coefficients(field, value)?;
            if higher != [0.0; 2] && spec.kind.nv() != 1 {
                let kind = spec.kind.name();
                return Err(PyValueError::new_err(format!("{field} of a {kind} joint: expected one number")));
            }
            match field {
                "damping" => (spec.damping, spec.polynomial.damper) = (linear, higher),
                _ => (spec.stiffness, spec.polynomial.spring) = (linear, higher),
            }
        }
        "friction_loss" => spec.friction_loss = at_least_zero(field, value)?,
        "effort_limit" => spec.effort_limit = effort_limit(field, value)?,
        _ => return Err(unknown("joint", field)),
    }
    Ok(())
}

pub fn get_joint<'py>(py: Python<'py>, joint: &AssemblyJoint, field: &str) -> PyResult<Bound<'py, PyAny>> {
    let spec = &joint.spec;
    Ok(match field {
        "name" => spec.name.clone().into_pyobject(py)?.into_any(),
        "kind" => spec.kind.name().into_pyobject(py)?.into_any(),
        "body" => joint.body.into_pyobject(py)?.into_any(),
        "nq" => spec.kind.nq().into_pyobject(py)?.into_any(),
        "nv" => spec.kind.nv().into_pyobject(py)?.into_any(),
        "position" => spec.anchor.to_array().into_pyobject(py)?.into_any(),
        "reference" => spec.reference.into_pyobject(py)?.into_any(),
        "spring_reference" => spec.spring_reference.into_pyobject(py)?.into_any(),
        "range" => spec.range.into_pyobject(py)?.into_any(),
        "armature" => spec.armature.into_pyobject(py)?.into_any(),
        "damping" => said(py, spec.damping, spec.polynomial.damper)?,
        "stiffness" => said(py, spec.stiffness, spec.polynomial.spring)?,
        "friction_loss" => spec.friction_loss.into_pyobject(py)?.into_any(),
        "effort_limit" => results::effort_limit(py, spec.effort_limit)?,
        _ => return Err(unknown("joint", field)),
    })
}

pub fn unknown(kind: &str, field: &str) -> PyErr {
    PyValueError::new_err(format!("{field}: a {kind} has no such property"))
}
