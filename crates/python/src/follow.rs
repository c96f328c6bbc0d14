//! Bodies that follow a motion: where a function of time has them.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::arguments::vector;
use crate::live::LiveArray;

/// The motions of bodies that are moved from outside, by their places among these.
#[derive(Default)]
pub struct Followers(Mutex<Vec<(usize, Py<PyAny>)>>);

impl Followers {
    /// Lets a body follow a motion, or none.
    pub fn set(&self, body: usize, motion: Option<Py<PyAny>>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(other, _)| *other != body);
        all.extend(motion.map(|motion| (body, motion)));
    }

    pub fn are_none(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Puts all bodies where they are at a time.
    pub fn place(&self, py: Python<'_>, time: f64, mocap: &LiveArray) -> PyResult<()> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all: Vec<_> = all.iter().map(|(body, motion)| (*body, motion.clone_ref(py))).collect();
        for (body, motion) in all {
            let place = motion.bind(py).call1((time,))?;
            let (position, quaternion) = match place.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>)>() {
                Ok((position, quaternion)) => (position, Some(quaternion)),
                Err(_) => (place, None),
            };
            mocap.write_range(py, 7 * body..7 * body + 3, &vector("position", &position, 3)?)?;
            if let Some(quaternion) = quaternion {
                let quaternion = vector("quaternion", &quaternion, 4)?;
                if quaternion.iter().all(|x| *x == 0.0) {
                    let message = "quaternion: all four numbers are 0: expected a rotation, w x y z";
                    return Err(PyValueError::new_err(message));
                }
                mocap.write_range(py, 7 * body + 3..7 * body + 7, &quaternion)?;
            }
        }
        Ok(())
    }
}
