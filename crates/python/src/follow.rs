//! Bodies that follow a motion: where a function of time has them, or an array of poses.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArrayMethods, PyUntypedArrayMethods};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use spatial::Quat;

use crate::arguments::{numbers, rotation, vector};
use crate::live::LiveArray;

/// A motion that a body follows.
#[derive(Clone)]
pub enum Motion {
    /// A function of time, s.
    Function(Arc<Py<PyAny>>),
    /// Poses at ascending times, s: straight between them, and turned about one axis at one rate. The first and the last stay.
    Poses { times: Arc<[f64]>, poses: Arc<[f64]>, columns: usize },
}

const EXPECTED: &str = "expected a function of time, None, or an array (n, 3) of positions or (n, 7) with quaternions w x y z and times=(n,)";

impl Motion {
    /// A motion as it was given.
    pub fn new(motion: &Bound<'_, PyAny>, times: Option<&Bound<'_, PyAny>>) -> PyResult<Self> {
        if motion.is_callable() {
            let Some(_) = times else { return Ok(Self::Function(Arc::new(motion.clone().unbind()))) };
            return Err(PyTypeError::new_err("times: a function needs none: expected follow(motion)"));
        }
        let Some(times) = times else {
            return Err(PyTypeError::new_err(format!("motion is {}: {EXPECTED}", motion.get_type())));
        };
        let poses = numbers("motion", motion)?;
        let [rows, columns @ (3 | 7)] = *poses.shape() else {
            return Err(PyValueError::new_err(format!("motion has shape {:?}: {EXPECTED}", poses.shape())));
        };
        let (times, mut poses) = (vector("times", times, rows)?, poses.to_vec()?);
        if rows == 0 || times.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(PyValueError::new_err("times: expected one or more, each later than the one before"));
        }
        for (row, pose) in poses.chunks_exact_mut(columns).enumerate() {
            if !pose.iter().all(|x| x.is_finite()) {
                return Err(PyValueError::new_err(format!("motion[{row}]: expected finite numbers")));
            }
            if let [_, _, _, w, x, y, z] = pose {
                let turn = Quat { w: *w, x: *x, y: *y, z: *z }.normalized().ok_or_else(|| {
                    PyValueError::new_err(format!("motion[{row}]: a quaternion is zero: expected a rotation, w x y z"))
                })?;
                (*w, *x, *y, *z) = (turn.w, turn.x, turn.y, turn.z);
            }
        }
        Ok(Self::Poses { times: times.into(), poses: poses.into(), columns })
    }

    /// Puts the body at this place among those that are moved from outside where it is at a time.
    fn place(&self, py: Python<'_>, body: usize, time: f64, mocap: &LiveArray) -> PyResult<()> {
        match self {
            Self::Function(motion) => {
                let place = motion.bind(py).call1((time,))?;
                let (position, quaternion) = match place.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
                    Ok((position, quaternion)) => (position, Some(quaternion)),
                    Err(_) => (place, None),
                };
                mocap.write_range(py, 7 * body..7 * body + 3, &vector("position", &position, 3)?)?;
                if let Some(quaternion) = quaternion {
                    let quaternion = rotation("quaternion", &quaternion)?;
                    mocap.write_range(py, 7 * body + 3..7 * body + 7, &quaternion)?;
                }
                Ok(())
            }
            Self::Poses { times, poses, columns } => {
                let pose = pose_at(times, poses, *columns, time);
                mocap.write_range(py, 7 * body..7 * body + columns, &pose[..*columns])
            }
        }
    }
}

/// Where an array of poses is at a time.
fn pose_at(times: &[f64], poses: &[f64], columns: usize, time: f64) -> [f64; 7] {
    let row = |k: usize| &poses[k * columns..][..columns];
    let after = times.partition_point(|t| *t <= time).min(times.len() - 1);
    let before = after.saturating_sub(1);
    let span = times[after] - times[before];
    let share = if span > 0.0 { ((time - times[before]) / span).clamp(0.0, 1.0) } else { 0.0 };
    let mut pose = [0.0; 7];
    for (out, (from, to)) in pose.iter_mut().zip(row(before).iter().zip(row(after))) {
        *out = from + share * (to - from);
    }
    if let (&[_, _, _, w, x, y, z], &[_, _, _, to_w, to_x, to_y, to_z]) = (row(before), row(after)) {
        let (from, to) = (Quat { w, x, y, z }, Quat { w: to_w, x: to_x, y: to_y, z: to_z });
        let turn = from * Quat::from_rotation_vector((from.conjugate() * to).rotation_vector() * share);
        (pose[3], pose[4], pose[5], pose[6]) = (turn.w, turn.x, turn.y, turn.z);
    }
    pose
}

/// The motions of bodies that are moved from outside, by their places among these.
#[derive(Default)]
pub struct Followers(Mutex<Arc<Vec<(usize, Motion)>>>);

impl Followers {
    /// Lets a body follow a motion, or none.
    pub fn set(&self, body: usize, motion: Option<Motion>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = Arc::make_mut(&mut all);
        all.retain(|(other, _)| *other != body);
        all.extend(motion.map(|motion| (body, motion)));
    }

    pub fn are_none(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Puts all bodies where they are at a time.
    pub fn place(&self, py: Python<'_>, time: f64, mocap: &LiveArray) -> PyResult<()> {
        // A function may let bodies follow others: the list of this step stays.
        let all = Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner));
        all.iter().try_for_each(|(body, motion)| motion.place(py, *body, time, mocap))
    }
}
