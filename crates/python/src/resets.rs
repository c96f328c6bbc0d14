//! What `reset` of a batch takes, on the processor and on a GPU.

use multibody::{KeyframeKey, Model};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyString;

use crate::arguments::{configurations, rows, selection};
use crate::names::keyframe_key;

/// Which worlds, and where to.
pub struct Reset<'a> {
    /// Of each world, whether it is meant.
    pub which: Vec<bool>,
    /// Where they are taken to.
    pub to: ResetTo<'a>,
}

/// Where worlds are taken to.
pub enum ResetTo<'a> {
    /// A keyframe, or the default configuration.
    Keyframe(KeyframeKey<'a>),
    /// States of their own: rows of these worlds, in their order.
    States { q: Vec<f64>, v: Vec<f64> },
}

impl<'a> Reset<'a> {
    /// The arguments of a batch of so many worlds.
    pub fn new(
        model: &Model,
        worlds: usize,
        mask: Option<&Bound<'_, PyAny>>,
        keyframe: Option<&'a Bound<'_, PyAny>>,
        states: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Self> {
        if let Some(name) = mask.filter(|mask| mask.is_instance_of::<PyString>()) {
            let name = name.repr()?;
            let message = format!("mask is {name}: expected worlds; reset(keyframe={name}) resets all");
            return Err(PyValueError::new_err(message));
        }
        let meant = mask.map_or_else(|| Ok((0..worlds).collect()), |mask| selection("mask", mask, worlds))?;
        let mut which = vec![false; worlds];
        for &world in &meant {
            // Zeros and ones, meant as booleans, end here, too.
            if std::mem::replace(&mut which[world], true) {
                let message = format!("mask has world {world} twice: expected each index once, or booleans");
                return Err(PyValueError::new_err(message));
            }
        }
        let to = match states {
            None => ResetTo::Keyframe(keyframe_key("keyframe", keyframe)?),
            Some(_) if keyframe.is_some() => {
                return Err(PyValueError::new_err("keyframe and states are both given: expected one of them"));
            }
            Some(states) => {
                let expected = "states: expected (q, v), positions and velocities; batch.set_state(i, state) takes a world to a whole state";
                let [q, v]: [Bound<'_, PyAny>; 2] = states.extract().map_err(|_| PyTypeError::new_err(expected))?;
                let (nq, nv) = (model.nq(), model.nv());
                let q = configurations("states[0]", &q, meant.len(), model)?;
                let v = rows("states[1]", &v, meant.len(), nv)?;
                ResetTo::States { q: by_world(&meant, &q, nq), v: by_world(&meant, &v, nv) }
            }
        };
        Ok(Self { which, to })
    }
}

/// Rows of so many numbers, one for each of these worlds, in ascending order of the worlds.
fn by_world(worlds: &[usize], values: &[f64], width: usize) -> Vec<f64> {
    let mut order: Vec<usize> = (0..worlds.len()).collect();
    order.sort_unstable_by_key(|&row| worlds[row]);
    order.into_iter().flat_map(|row| &values[row * width..(row + 1) * width]).copied().collect()
}
