//! The arrays through which Python sees and changes the state of a simulation.
//!
//! They are numpy's own memory, as old as the simulation, and outlive it as long as someone looks at them. The state of
//! the simulation is copied out of them before every use and q and v back into them after, with the interpreter's lock
//! held: a few hundred numbers. So whatever Python does with a view, at whatever time and in whatever thread, no
//! memory is shared with a step that runs with the lock released.

use multibody::Model;
use numpy::{PyArray, PyArrayDyn, PyArrayMethods, PyUntypedArrayMethods};
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
    pub surface_velocity: LiveArray,
}

impl LiveState {
    pub fn new(py: Python<'_>, model: &Model, geoms: usize) -> PyResult<Self> {
        Ok(Self {
            q: LiveArray::new(py, "q", &[model.nq()])?,
            v: LiveArray::new(py, "v", &[model.nv()])?,
            ctrl: LiveArray::new(py, "ctrl", &[model.nu()])?,
            applied_force: LiveArray::new(py, "applied_force", &[model.nv()])?,
            applied_wrench: LiveArray::new(py, "applied_wrench", &[model.bodies.len(), 6])?,
            surface_velocity: LiveArray::new(py, "surface_velocity", &[geoms, 3])?,
        })
    }

    /// Arrays to state.
    pub fn read(&self, py: Python<'_>, state: &mut State) -> PyResult<()> {
        self.q.read(py, &mut state.q)?;
        self.v.read(py, &mut state.v)?;
        self.ctrl.read(py, &mut state.ctrl)?;
        self.applied_force.read(py, &mut state.applied_force)?;
        self.applied_wrench.read(py, &mut state.applied_wrench)?;
        state.surface_velocity.resize(self.surface_velocity.len(), 0.0);
        self.surface_velocity.read(py, &mut state.surface_velocity)?;
        // Of belts that stand still nothing is kept.
        if state.surface_velocity.iter().all(|&x| x == 0.0) {
            state.surface_velocity.clear();
        }
        Ok(())
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
        self.applied_wrench.write(py, &state.applied_wrench)?;
        if state.surface_velocity.is_empty() {
            self.surface_velocity.write(py, &vec![0.0; self.surface_velocity.len()])
        } else {
            self.surface_velocity.write(py, &state.surface_velocity)
        }
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

    fn len(&self) -> usize {
        self.shape.iter().product()
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
        let data = self.data(py, out.len())?;
        // SAFETY: see `data`; `out` is Rust's own memory.
        unsafe { std::ptr::copy_nonoverlapping(data, out.as_mut_ptr(), out.len()) };
        Ok(())
    }

    /// Slice to array.
    pub fn write(&self, py: Python<'_>, values: &[f64]) -> PyResult<()> {
        let data = self.data(py, values.len())?;
        // SAFETY: see `data`; `values` is Rust's own memory.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), data, values.len()) };
        Ok(())
    }

    /// The numbers of the array: `len` of them, contiguous, for as long as the interpreter's lock is held.
    ///
    /// The array was made here in C order and owns its memory. Only a resize could change that, and it changes the
    /// length. The lock keeps Python from writing meanwhile, and no reference into the memory is kept. (The checked
    /// borrows of the numpy crate take 60 ns each, a sixth of a step of a small model for the seven of a call.)
    fn data(&self, py: Python<'_>, len: usize) -> PyResult<*mut f64> {
        let array = self.array.bind(py);
        if array.len() == len { Ok(array.data()) } else { Err(self.resized()) }
    }

    /// Someone reached for the base of a view and resized it.
    fn resized(&self) -> PyErr {
        let name = self.name;
        PyRuntimeError::new_err(format!("the array behind {name} was resized: make a new Simulation"))
    }
}
