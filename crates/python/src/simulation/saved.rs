//! `Simulation`: its state, saved and taken back.

use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use sim::State;

use super::Simulation;
use crate::arguments::{check_quaternions, vector};
use crate::parameters;

impl Simulation {
    fn restore_bytes(&self, py: Python<'_>, state: &[u8]) -> PyResult<()> {
        let (state, own) = parameters::split_state(state)?;
        let model = self.model.get();
        let mut simulation = self.lock()?;
        let mut next = simulation.state().clone();
        let name = &model.inner().name;
        next.restore(state).map_err(|error| PyValueError::new_err(format!("state of {name:?}: {error}")))?;
        if own != self.own_parameters(py)? {
            // All or nothing.
            own.check(model.inner(), model.scene()).map_err(|error| parameters::wrong(&error))?;
            self.live_parameters(py)?.write(py, &own)?;
        }
        self.bring_parameters(py, &mut simulation)?;
        // What sleeps in it sleeps with these parameters.
        simulation.state_mut().copy_from(&next);
        self.live.write(py, simulation.state())
    }

    /// Goes to the numbers of `state(as_array=True)`.
    fn restore_numbers(&self, state: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = state.py();
        let mut simulation = self.lock_current(py)?;
        let len = 1 + numbers_of(simulation.state()).iter().map(|of| of.len()).sum::<usize>();
        let values = vector("state", state, len)?;
        let mut next = simulation.state().clone();
        next.forget_past();
        next.time = values[0];
        let mut rest = &values[1..];
        let State { q, v, act, ctrl, mocap, equality_active, .. } = &mut next;
        for of in [q, v, act, ctrl, mocap, equality_active] {
            let (own, others) = rest.split_at(of.len());
            of.copy_from_slice(own);
            rest = others;
        }
        check_quaternions("state's q", &next.q, &self.model.get().inner().tree)?;
        simulation.state_mut().copy_from(&next);
        self.live.write(py, simulation.state())
    }
}

#[stubdoc::documented]
#[pymethods]
impl Simulation {
    /// The complete state as bytes, or its positions, velocities and inputs as an array.
    #[pyo3(name = "state", signature = (*, as_array=false))]
    fn state_of<'py>(&self, py: Python<'py>, as_array: bool) -> PyResult<Bound<'py, PyAny>> {
        if !as_array {
            return Ok(self.state(py)?.into_any());
        }
        let simulation = self.lock_current(py)?;
        let mut values = vec![simulation.state().time];
        numbers_of(simulation.state()).iter().for_each(|of| values.extend_from_slice(of));
        Ok(PyArray1::from_vec(py, values).into_any())
    }

    /// Go back to a state.
    fn restore(&self, py: Python<'_>, state: &Bound<'_, PyAny>) -> PyResult<()> {
        match state.extract::<&[u8]>() {
            Ok(bytes) => self.restore_bytes(py, bytes),
            Err(_) => self.restore_numbers(state),
        }
    }
}

/// What `state(as_array=True)` has behind the time.
fn numbers_of(state: &State) -> [&[f64]; 6] {
    let State { q, v, act, ctrl, mocap, equality_active, .. } = state;
    [q, v, act, ctrl, mocap, equality_active]
}
