//! `sapwood.inverse_kinematics`.

use multibody::{InverseKinematicsOptions, InverseKinematicsSolution, PoseTarget};
use numpy::{PyArray1, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyString, PyType};
use spatial::{Pose, Quat, Vec3};

use crate::arguments::{Rows, check_scalar, configuration, elements, numbers, positive, vector, whole, with_axis};
use crate::model::{Model, a_model};
use crate::names::{self, Kind};
use crate::results;
use crate::signals::Watch;

/// A target as Python has it: one for all rows, or one for each.
struct TargetRows {
    target: PoseTarget,
    position: Option<Rows>,
    quaternion: Option<Rows>,
}

/// The configurations at which frames of bodies are where they should be.
#[stubdoc::documented]
#[pyfunction]
#[pyo3(signature = (model, targets, q0=None, *, joints=None, reference=None, tolerance=1e-6, max_iterations=100, restarts=10))]
pub fn inverse_kinematics<'py>(
    py: Python<'py>,
    model: &Bound<'py, PyAny>,
    targets: &Bound<'py, PyAny>,
    q0: Option<&Bound<'py, PyAny>>,
    joints: Option<&Bound<'py, PyAny>>,
    reference: Option<&Bound<'py, PyAny>>,
    tolerance: f64,
    #[pyo3(from_py_with = whole)] max_iterations: i64,
    #[pyo3(from_py_with = whole)] restarts: i64,
) -> PyResult<Bound<'py, PyAny>> {
    let model = a_model(model)?;
    let model = model.get();
    let inner = model.inner();
    let targets = all_targets(py, model, targets)?;
    let joint = |joint: &Bound<'py, PyAny>| names::index(model, Kind::Joint, joint);
    let options = InverseKinematicsOptions {
        joints: joints.map(|joints| elements(joints, inner.joints.len(), joint)).transpose()?,
        reference: reference.map(|q| configuration("reference", q, inner)).transpose()?,
        tolerance: positive("tolerance", tolerance)?,
        max_iterations: count_of("max_iterations", max_iterations)?,
        restarts: count_of("restarts", restarts)?,
    };
    let starts = q0.map(|q0| Rows::configurations("q0", q0, inner)).transpose()?;
    let mut count = starts.as_ref().and_then(|rows| rows.count);
    for rows in targets.iter().flat_map(|target| [&target.position, &target.quaternion]).flatten() {
        match (count, rows.count) {
            (Some(a), Some(b)) if a != b => {
                let message = format!("targets and q0 have {a} and {b} rows: expected as many, or none with an axis");
                return Err(PyValueError::new_err(message));
            }
            (a, b) => count = a.or(b),
        }
    }
    let solve = |k: usize| {
        let targets: Vec<_> = targets.iter().map(|target| target.at(k)).collect();
        let default = options.reference.as_ref().unwrap_or(&inner.q0);
        let start = starts.as_ref().map_or(&default[..], |rows| rows.row(k));
        multibody::inverse_kinematics(inner, &targets, start, &options)
    };
    let watch = Watch::new();
    watch.begin();
    let interrupt = watch.interrupt();
    let rows = 0..count.unwrap_or(1);
    let solve_all = || rows.map(solve).take_while(|_| !interrupt.is_raised()).collect::<Result<Vec<_>, _>>();
    let found = py.detach(solve_all).map_err(|error| PyValueError::new_err(error.to_string()))?;
    if found.len() < count.unwrap_or(1) {
        return Err(watch.interrupted());
    }
    results_of(py, found, count, inner.nq())
}

fn count_of(name: &str, value: i64) -> PyResult<usize> {
    usize::try_from(value).map_err(|_| PyValueError::new_err(format!("{name} is {value}: expected 0 or more")))
}

fn results_of(
    py: Python<'_>,
    found: Vec<InverseKinematicsSolution>,
    count: Option<usize>,
    nq: usize,
) -> PyResult<Bound<'_, PyAny>> {
    if let ([one], None) = (&found[..], count) {
        let q = PyArray1::from_slice(py, &one.q);
        return results::inverse_kinematics(py, (q, one.error, one.iterations, one.converged));
    }
    let error = PyArray1::from_iter(py, found.iter().map(|one| one.error));
    let iterations = PyArray1::from_iter(py, found.iter().map(|one| one.iterations as i64));
    let converged = PyArray1::from_iter(py, found.iter().map(|one| one.converged));
    let q = with_axis(py, found.into_iter().flat_map(|one| one.q).collect(), count, &[nq])?;
    results::inverse_kinematics(py, (q, error, iterations, converged))
}

impl TargetRows {
    fn at(&self, k: usize) -> PoseTarget {
        PoseTarget {
            position: self.position.as_ref().map(|rows| vec3(rows.row(k))),
            orientation: self.quaternion.as_ref().map(|rows| quat(rows.row(k))),
            ..self.target.clone()
        }
    }
}

/// One target, or several.
fn all_targets(py: Python<'_>, model: &Model, targets: &Bound<'_, PyAny>) -> PyResult<Vec<TargetRows>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "sapwood._inverse_kinematics", "PoseTarget")?;
    let one = |target: &Bound<'_, PyAny>| {
        if target.is_instance(class)? {
            return read(model, target);
        }
        let found = target.get_type().name()?;
        Err(PyTypeError::new_err(format!(
            "targets: expected a sapwood.PoseTarget(body=\"hand\", position=(x, y, z)) or a list of them, not {found}"
        )))
    };
    if targets.is_instance(class)? || targets.is_instance_of::<PyString>() || targets.try_iter().is_err() {
        Ok(vec![one(targets)?])
    } else {
        elements(targets, 1000, one)
    }
}

fn read(model: &Model, target: &Bound<'_, PyAny>) -> PyResult<TargetRows> {
    let given = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
        Ok(Some(target.getattr(name)?).filter(|value| !value.is_none()))
    };
    let (body, placed) = match (given("body")?, given("site")?) {
        (Some(body), None) => (names::index(model, Kind::Body, &body)?, Pose::IDENTITY),
        (None, Some(site)) => {
            let site = &model.inner().sites[names::index(model, Kind::Site, &site)?];
            (site.body, site.pose)
        }
        _ => return Err(PyValueError::new_err("PoseTarget: expected one of body= and site=")),
    };
    let rows = |name: &str, columns: usize| given(name)?.map(|value| Rows::new(name, &value, columns)).transpose();
    let (position, quaternion) = (rows("position", 3)?, rows("quaternion", 4)?);
    let point = given("frame_position")?.map(|value| vector("frame_position", &value, 3)).transpose()?;
    let axes = given("frame_quaternion")?.map(|value| vector("frame_quaternion", &value, 4)).transpose()?;
    let axes = axes.map_or(Some(Quat::IDENTITY), |axes| quat(&axes).normalized());
    let axes = axes.ok_or_else(|| PyValueError::new_err("frame_quaternion: expected a quaternion that is not 0"))?;
    let weights = |name: &str| -> PyResult<Vec3<f64>> {
        let value = target.getattr(name)?;
        if numbers(name, &value)?.ndim() == 0 {
            let weight = check_scalar(name, &value)?;
            return Ok(Vec3::new(weight, weight, weight));
        }
        Ok(vec3(&vector(name, &value, 3)?))
    };
    let target = PoseTarget {
        frame: placed * Pose::new(point.map_or(Vec3::ZERO, |point| vec3(&point)), axes),
        position_weights: weights("position_weight")?,
        orientation_weights: weights("orientation_weight")?,
        ..PoseTarget::new(body, None, None)
    };
    Ok(TargetRows { target, position, quaternion })
}

fn vec3(x: &[f64]) -> Vec3<f64> {
    Vec3::new(x[0], x[1], x[2])
}

fn quat(x: &[f64]) -> Quat<f64> {
    Quat::new(x[0], x[1], x[2], x[3])
}
