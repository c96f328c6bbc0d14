//! The arrays through which Python sees and changes the state of a simulation.
//!
//! They are numpy's own memory, as old as the simulation, and outlive it as long as someone looks at them. The state of
//! the simulation is copied out of them before every use and q and v back into them after, with the interpreter's lock
//! held: a few hundred numbers. So whatever Python does with a view, at whatever time and in whatever thread, no
//! memory is shared with a step that runs with the lock released.

use multibody::Model;
use numpy::{PyArray, PyArrayDyn, PyArrayMethods};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use sim::State;

/// The vectors of a state, as arrays that never move.
pub struct LiveState {
    pub q: LiveArray,
    pub v: LiveArray,
    pub ctrl: LiveArray,
    pub applied_force: LiveArray,
    pub applied_wrench: LiveArray,
}

impl LiveState {
    pub fn new(py: Python<'_>, model: &Model) -> PyResult<Self> {
        Ok(Self {
            q: LiveArray::new(py, "q", &[model.nq()])?,
            v: LiveArray::new(py, "v", &[model.nv()])?,
            ctrl: LiveArray::new(py, "ctrl", &[model.nu()])?,
            applied_force: LiveArray::new(py, "applied_force", &[model.nv()])?,
            applied_wrench: LiveArray::new(py, "applied_wrench", &[model.bodies.len(), 6])?,
        })
    }

    /// Arrays to state.
    pub fn read(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        self.q.read(py, &mut state.q)?;
        self.v.read(py, &mut state.v)?;
        self.ctrl.read(py, &mut state.ctrl)?;
        self.applied_force.read(py, &mut state.applied_force)?;
        self.applied_wrench.read(py, &mut state.applied_wrench)
    }

    /// What a step changes, to arrays. Inputs that Python changed meanwhile stay.
    pub fn write_motion(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.q.write(py, &state.q)?;
        self.v.write(py, &state.v)
    }

    /// State to arrays.
    pub fn write(&self, py: Python<'_>, state: &State) -> PyResult<()> {
        self.write_motion(py, state)?;
        self.ctrl.write(py, &state.ctrl)?;
        self.applied_force.write(py, &state.applied_force)?;
        self.applied_wrench.write(py, &state.applied_wrench)
    }
}

/// One array. Python gets views of it, so that nothing done to a view's shape or flags reaches the array itself.
pub struct LiveArray {
    name: &'static str,
    shape: Vec<usize>,
    array: Py<PyArrayDyn<f64>>,
}

impl LiveArray {
    fn new(py: Python<'_>, name: &'static str, shape: &[usize]) -> PyResult<Self> {
        let array = PyArray::zeros(py, shape, false).unbind();
        Ok(Self { name, shape: shape.to_vec(), array })
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// A view for Python.
    pub fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.array.bind(py).call_method0("view")
    }

    /// Array to slice.
    fn read(&self, py: Python<'_>, out: &mut [f64]) -> PyResult<()> {
        let array = self.array.bind(py).try_readonly().map_err(|_| self.unusable())?;
        match array.as_slice() {
            Ok(values) if values.len() == out.len() => out.copy_from_slice(values),
            _ => return Err(self.unusable()),
        }
        Ok(())
    }

    /// Slice to array.
    pub fn write(&self, py: Python<'_>, values: &[f64]) -> PyResult<()> {
        let mut array = self.array.bind(py).try_readwrite().map_err(|_| self.unusable())?;
        match array.as_slice_mut() {
            Ok(out) if values.len() == out.len() => out.copy_from_slice(values),
            _ => return Err(self.unusable()),
        }
        Ok(())
    }

    /// Someone reached for the base of a view and resized it or made it read-only.
    fn unusable(&self) -> PyErr {
        let name = self.name;
        PyRuntimeError::new_err(format!("the array behind {name} was resized or made read-only: make a new Simulation"))
    }
}
